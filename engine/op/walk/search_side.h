// SearchSide: one side of a breadth-first search: the vertices met, each once, with who led there.
// Grows with its operator's charge; what is refused is the query's error.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "engine/account/charge_ahead.h"
#include "core/memory/paged_list.h"
#include "core/memory/parted_table.h"
#include "engine/op/walk/walk.h"

namespace koios::engine {

class SearchSide {
 public:
  struct Node {
    VertexRef vertex;
    uint32_t parent = 0;  // a root is its own
  };

  SearchSide(const BoundHop* hop, Direction direction, OperatorHost* host)
      : hop_(hop), direction_(direction), host_(host) {}
  ~SearchSide() { Clear(); }
  SearchSide(const SearchSide&) = delete;
  SearchSide& operator=(const SearchSide&) = delete;

  void Clear();
  // A node, unless it is there; then nullopt. `hidden`: it can be met again.
  StatusOr<std::optional<uint32_t>> Add(VertexRef vertex, std::optional<uint32_t> parent,
                                        bool hidden = false);
  // All nodes so far are the level to be expanded next.
  void BeginLevel();
  bool LevelIsEmpty() const { return level_begin_ == level_end_; }
  bool LevelIsDone() const { return at_ == level_end_; }
  // Edges that the level has, about.
  StatusOr<int64_t> Cost() const;
  // Further neighbours of the level's nodes, about `limit`, with who leads there.
  Status Expand(size_t limit, std::vector<uint32_t>* parents, std::vector<VertexRef>* neighbours);

  std::optional<uint32_t> Find(VertexRef vertex) const;
  const Node& node(uint32_t index) const { return nodes_[index]; }

 private:
  class Left;
  using Index = PartedTable<absl::flat_hash_map<VertexRef, uint32_t, std::hash<VertexRef>>>;

  const BoundHop* const hop_;
  const Direction direction_;
  OperatorHost* const host_;
  PagedList<Node> nodes_;
  Index index_;
  size_t level_begin_ = 0, level_end_ = 0;
  size_t at_ = 0;                    // of the level: whose edges come next
  std::vector<VertexRef> vertices_;  // nodes [at_, ...) of the level, being expanded
  storage::ExpandCursor cursor_;
  int64_t bytes_ = 0;
};

}  // namespace koios::engine
