#include "engine/op/state/vertex_set.h"

#include <algorithm>
#include <map>
#include <utility>

namespace koios::engine {

bool VertexSet::Contains(VertexRef vertex) const {
  if (!is_dense_) return listed_.contains(vertex.bits);
  const uint64_t* word = WordOf(vertex);
  return word != nullptr && (*word & BitOf(vertex)) != 0;
}

StatusOr<bool> VertexSet::Insert(VertexRef vertex, ChargeAhead* charge) {
  if (!is_dense_) return InsertListed(vertex, charge);
  if (WordOf(vertex) == nullptr) RETURN_IF_ERROR(MakePage(vertex, charge));
  uint64_t* word = WordOf(vertex);
  const bool fresh = (*word & BitOf(vertex)) == 0;
  *word |= BitOf(vertex);
  return fresh;
}

Status VertexSet::InsertAll(std::span<const VertexRef> vertices, size_t begin, size_t end,
                            const VertexSet* passed, ChargeAhead* charge,
                            std::vector<uint32_t>* fresh) {
  for (size_t row = begin; row < end; ++row) {
    const VertexRef vertex = vertices[row];
    if (passed != nullptr && passed->Contains(vertex)) continue;
    bool is_new = false;
    if (uint64_t* word = is_dense_ ? WordOf(vertex) : nullptr) {
      is_new = (*word & BitOf(vertex)) == 0;
      *word |= BitOf(vertex);
    } else {
      ASSIGN_OR_RETURN(is_new, Insert(vertex, charge));
    }
    if (is_new) fresh->push_back(static_cast<uint32_t>(row));
  }
  return OkStatus();
}

StatusOr<bool> VertexSet::InsertListed(VertexRef vertex, ChargeAhead* charge) {
  RETURN_IF_ERROR(charge->Take(kListedBytes));
  const bool fresh = listed_.insert(vertex.bits).second;
  if (!fresh) charge->Return(kListedBytes);
  if (listed_.size() >= next_look_) MakeDense(charge);
  return fresh;
}

Status VertexSet::MakePage(VertexRef vertex, ChargeAhead* charge) {
  const size_t known = vertex.partition() < pages_.size() ? pages_[vertex.partition()].size() : 0;
  const size_t at = vertex.local() / kVertices;
  const size_t added = at < known ? 0 : at + 1 - known;
  RETURN_IF_ERROR(charge->Take(static_cast<int64_t>(added * sizeof(pages_[0][0]) + sizeof(Page))));
  if (vertex.partition() >= pages_.size()) pages_.resize(vertex.partition() + 1);
  auto& pages = pages_[vertex.partition()];
  if (at >= pages.size()) pages.resize(at + 1);
  pages[at] = std::make_unique<Page>();
  return OkStatus();
}

int64_t VertexSet::DenseBytes(int64_t most) const {
  absl::flat_hash_set<uint64_t> pages;
  std::map<uint32_t, uint64_t> ends;  // by partition: pages up to the last
  int64_t bytes = 0;
  for (const uint64_t bits : listed_) {
    const VertexRef vertex{bits};
    const uint64_t at = vertex.local() / kVertices;
    if (!pages.insert(VertexRef::Make(vertex.partition(), at).bits).second) continue;
    uint64_t& known = ends[vertex.partition()];
    const uint64_t added = at < known ? 0 : at + 1 - known;
    known += added;
    const auto left = static_cast<uint64_t>(most - bytes);
    if (added > left / sizeof(uint64_t)) return most + 1;
    bytes += static_cast<int64_t>(added * sizeof(pages_[0][0]) + sizeof(Page));
    if (bytes > most) break;
  }
  return bytes;
}

void VertexSet::MakeDense(ChargeAhead* charge) {
  // Of a set that goes on growing the bits are soon the smaller ones.
  constexpr int64_t kTimesAsMany = 4;
  next_look_ = 2 * listed_.size();
  const int64_t now = static_cast<int64_t>(listed_.size()) * kListedBytes;
  const int64_t most = std::max(kTimesAsMany * now, spare_bytes_);
  if (DenseBytes(most) > most) return;
  for (const uint64_t bits : listed_) {
    const VertexRef vertex{bits};
    if (WordOf(vertex) == nullptr && !MakePage(vertex, charge).ok()) return;  // the list stays true
    *WordOf(vertex) |= BitOf(vertex);
  }
  is_dense_ = true;
  listed_ = {};
  charge->Return(now);
}

}  // namespace koios::engine
