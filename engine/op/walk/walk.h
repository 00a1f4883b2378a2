// Walk: the hops of a plan bound to a graph, and the ends that they lead to. The vertices of a walk
// of k hops have positions: 0 is the row's, k the end.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/expr/call_size.h"
#include "engine/op/operator.h"
#include "engine/op/state/row_slices.h"
#include "storage/index/vertex_seek.h"

namespace koios::engine {

// A predicate of the vertex in slot 0. Belongs to one operator.
class VertexFilter {
 public:
  // Null for an expression without nodes: all pass.
  static StatusOr<std::unique_ptr<VertexFilter>> Bind(const plan::Expr& expr, uint32_t num_slots,
                                                      OperatorHost* host);
  // Positions of those that pass, ascending.
  Status Select(std::span<const VertexRef> vertices, std::vector<uint32_t>* passing);
  // Drops those that do not pass.
  Status Keep(std::vector<VertexRef>* vertices);
  // How many one call may ask about: the fewer the larger what it reads of them is.
  size_t rows_at_once() const { return predicate_.rows_at_once(); }

 private:
  VertexFilter(Expression predicate, uint32_t num_slots, OperatorHost* host)
      : predicate_(std::move(predicate)), num_slots_(num_slots), host_(host) {}

  RowSlices predicate_;
  const uint32_t num_slots_;
  OperatorHost* const host_;
};

// Vertices that may be looked at together where a filter (null: none) is asked about them.
inline size_t RowsAtOnce(const VertexFilter* filter) {
  return filter == nullptr ? kBatchRows : filter->rows_at_once();
}
// What it counts as when so many were looked at, of which a call may look at `at_once`.
inline size_t WorkOf(size_t rows, size_t at_once) { return (rows + 1) * (kBatchRows / at_once); }

struct BoundHop {
  static StatusOr<BoundHop> Bind(const plan::Hop& hop, uint32_t num_slots, OperatorHost* host);
  Direction Back() const;

  Direction direction = Direction::kOut;
  std::vector<LabelId> labels;
  bool none = false;  // the graph has none of its labels
  bool repeats = false;
  std::unique_ptr<VertexFilter> filter;  // of the vertex behind it
};

// Numbers of edges on a hop from each vertex of a batch, a call's share at a time. Where each edge
// is read so many steps are taken, about: the vertices that are left then have many.
class HopDegrees {
 public:
  void Clear() {
    degrees_.clear();
    cursor_ = {};
    steps_ = 0;
    all_ = false;
  }
  // Whether these are all; nothing is done any more when they are.
  StatusOr<bool> Read(const BoundHop& hop, std::span<const VertexRef> vertices, OperatorHost* host);
  // Of rows [begin, end). REQUIRES: all are there.
  int64_t Sum(size_t begin, size_t end) const;

 private:
  std::vector<int64_t> degrees_;
  storage::DegreeCursor cursor_;
  CallSize size_ = CountedInACall();
  size_t steps_ = 0;
  bool all_ = false;
};

// The ends, and how to find all of them.
class BoundEnds {
 public:
  static StatusOr<BoundEnds> Bind(const plan::WalkEnds& ends, uint32_t num_slots,
                                  OperatorHost* host);

  bool at_slot() const { return slot_.has_value(); }
  uint32_t slot() const { return *slot_; }
  // Nothing but the filter says which: it needs all that the filter asks for.
  bool is_scan() const { return !slot_ && !ids_; }
  // Whether Find may be asked: not of a scan where the request has changes of its own, as what
  // it adds may have properties that the schema does not know of.
  bool can_find() const { return can_find_; }
  VertexFilter* filter() const { return filter_.get(); }

  // Leaves out labels of which no vertex is at the end of such hops, where that is known without
  // counting.
  void LeaveOutUnreached(std::span<const BoundHop> hops);

  // From the first one again.
  void Restart() {
    partition_ = 0;
    scan_cursor_ = {};
    seek_cursor_ = {};
  }
  // Further ends among a call's share of the vertices, which it adds to `work`. REQUIRES: can_find.
  Status Find(std::vector<VertexRef>* ends, size_t* work, bool* done);

 private:
  Status BindScan(const plan::WalkEnds& ends);
  Status FindSome(std::vector<VertexRef>* ends, size_t* work, bool* done);

  OperatorHost* host_ = nullptr;
  std::optional<uint32_t> slot_;
  std::optional<std::vector<Value>> ids_;
  bool can_find_ = false;
  bool none_ = false;
  std::vector<LabelId> labels_;
  std::optional<storage::VertexSeek> seek_;
  std::unique_ptr<VertexFilter> filter_;
  uint32_t partition_ = 0;
  CallSize looked_at_ = ExpandedInACall();
  storage::ScanCursor scan_cursor_;
  storage::SeekCursor seek_cursor_;
};

struct Walk {
  static StatusOr<Walk> Bind(const plan::Reach& reach, uint32_t num_slots, OperatorHost* host);

  std::vector<BoundHop> hops;
  BoundEnds ends;
};

// The error of a traversal that comes to edges with something else.
Status OnlyVerticesHaveEdges();

}  // namespace koios::engine
