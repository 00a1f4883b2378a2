#include "engine/op/walk/search_side.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/memory/charged_growth.h"
#include "engine/account/free_room.h"
#include "engine/account/leftover.h"

namespace koios::engine {
namespace {

// A node with its place in the table, which may have twice the room.
constexpr int64_t kNodeBytes = 96;

}  // namespace

class SearchSide::Left final : public Leftover {
 public:
  Left(PagedList<Node> nodes, Index index) : nodes_(std::move(nodes)), index_(std::move(index)) {}
  bool FreeSome(int64_t* freed) override {
    if (!index_is_free_) {
      index_is_free_ = index_.FreeSome(freed);
      return false;
    }
    if (nodes_.num_pages() > 0) *freed += RoomOf(nodes_.TakeLastPage());
    return nodes_.num_pages() == 0;
  }

 private:
  PagedList<Node> nodes_;
  Index index_;
  bool index_is_free_ = false;
};

void SearchSide::Clear() {
  if (bytes_ < Leftover::kLeastBytes) {
    (void)host_->ChargeState(-bytes_);
  } else {
    host_->Leave(std::make_unique<Left>(std::move(nodes_), std::move(index_)), bytes_);
  }
  bytes_ = 0;
  nodes_ = {};
  index_ = {};
  FreeRoom(&vertices_);
  cursor_ = {};
  level_begin_ = level_end_ = at_ = 0;
}

StatusOr<std::optional<uint32_t>> SearchSide::Add(VertexRef vertex, std::optional<uint32_t> parent,
                                                  bool hidden) {
  if (index_.Contains(vertex)) return std::optional<uint32_t>();
  RETURN_IF_ERROR(host_->ChargeState(kNodeBytes));
  bytes_ += kNodeBytes;
  const auto index = static_cast<uint32_t>(nodes_.size());
  Uncharged charged;  // by what a node takes in all
  RETURN_IF_ERROR(nodes_.MakeRoom(&charged));
  nodes_.EmplaceBack(Node{vertex, parent.value_or(index)});
  if (hidden) return std::optional<uint32_t>(index);
  RETURN_IF_ERROR(index_.MakeRoom(vertex, &charged).status());
  index_.Emplace(vertex, index);
  return std::optional<uint32_t>(index);
}

void SearchSide::BeginLevel() {
  level_begin_ = at_ = level_end_;
  level_end_ = nodes_.size();
  vertices_.clear();
  cursor_ = {};
}

StatusOr<int64_t> SearchSide::Cost() const {
  if (hop_->none) return 0;
  const auto at = [this](size_t i) { return nodes_[level_begin_ + i].vertex; };
  return EstimateEnds(host_->view(), host_->clock(), level_end_ - level_begin_, at, direction_,
                      hop_->labels);
}

Status SearchSide::Expand(size_t limit, std::vector<uint32_t>* parents,
                          std::vector<VertexRef>* neighbours) {
  if (hop_->none) at_ = level_end_;
  if (at_ == level_end_) return OkStatus();
  if (vertices_.empty()) {
    const size_t end = std::min(level_end_, at_ + kBatchRows);
    for (size_t i = at_; i < end; ++i) vertices_.push_back(nodes_[i].vertex);
  }
  storage::Expansion expansion;
  RETURN_IF_ERROR(host_->view().Expand(vertices_, direction_, hop_->labels, /*want_edges=*/false,
                                       &cursor_, limit, &expansion));
  *parents = std::move(expansion.rows);
  for (uint32_t& row : *parents) row += static_cast<uint32_t>(at_);
  *neighbours = std::move(expansion.neighbours);
  if (!cursor_.done) return OkStatus();
  at_ += vertices_.size();
  vertices_.clear();
  cursor_ = {};
  return OkStatus();
}

std::optional<uint32_t> SearchSide::Find(VertexRef vertex) const {
  const auto* const found = index_.Find(vertex);
  return found == nullptr ? std::nullopt : std::optional(found->second);
}

}  // namespace koios::engine
