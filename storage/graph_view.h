// GraphView: how everybody reads a graph. Batched, at one version, immutable, reference-counted;
// any thread may read any partition that the view holds. Implementations: the RocksDB store's view
// (storage/rocks/) and MemoryGraph's (storage/memory_graph.h); both pass graph_view_contract.h.
// Rules: no per-row calls; every call takes a column of rows and appends columns. A call does a
// bounded share of the work and its cursor says where to go on: it gives at most what `limit` says
// and passes over about kMostPassedOver elements at most; it may give nothing and not be done.
// Elements that do not exist (any more) yield no rows. Errors: DATA_LOSS for damaged data,
// UNAVAILABLE for a read that failed.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/column.h"
#include "core/schema.h"
#include "core/status.h"
#include "core/types.h"
#include "storage/index/vertex_seek.h"
#include "storage/snapshot/format.h"

namespace koios::storage {

// Elements that a scan or an expansion looks at in one call and does not give: other labels, those
// that were dropped.
inline constexpr size_t kMostPassedOver = 16 * 1024;

// Where a scan of one partition stands. Opaque; starts empty.
struct ScanCursor {
  uint64_t next_local = 0;
  bool done = false;
  uint64_t next_own = 0;  // a transaction's: 1 + the number of its own that it has given
};

// Where an expansion of a column of vertices stands: the row, and the last edge end it gave.
// Opaque but for `row`: all rows before it are finished.
struct ExpandCursor {
  size_t row = 0;
  std::string resume_key;
  bool done = false;
  uint64_t next_own = 0;  // as ScanCursor's
};

// Where a count of edge ends stands. Opaque but for `done`.
struct DegreeCursor {
  size_t row = 0;
  std::string resume_key;
  int64_t counted = 0;  // of `row`
  bool done = false;
  ExpandCursor ends;  // a transaction's, which looks at each
};

// Pairs of vertices, row by row: as many of the one as of the other.
struct VertexPairs {
  std::span<const VertexRef> vertices;
  std::span<const VertexRef> neighbours;
};

// Where a count of the edges between pairs stands. All rows before `row` are counted; the rest is
// opaque but for `done`.
struct BetweenCursor {
  size_t row = 0;
  int64_t counted = 0;  // of `row`
  bool done = false;
  std::string resume_key;
  bool looks_at_ends = false;  // of `row`, each by itself
  ExpandCursor ends;
};

// Where a seek stands. Opaque.
struct SeekCursor {
  uint64_t next = 0;       // range of an index, or vertex
  std::string resume_key;  // the last entry it gave of that range
  bool done = false;
  uint64_t next_own = 0;  // as ScanCursor's
};

// One output row per edge end: rows[i] is the input row it belongs to.
struct Expansion {
  std::vector<uint32_t> rows;
  std::vector<VertexRef> neighbours;
  std::vector<EdgeRef> edges;  // filled when want_edges
};

// Who looks at neighbours where they stand. Rows ascend from call to call, and the neighbours of
// one call ascend; a row's may come in several.
class EndVisitor {
 public:
  virtual ~EndVisitor() = default;
  virtual void Visit(uint32_t row, std::span<const VertexRef> neighbours) = 0;
  // As narrow references, which order as the wide ones do.
  virtual void VisitNarrow(uint32_t row, std::span<const uint32_t> neighbours,
                           const NarrowRefs& refs) = 0;
};

// The size at which an output that had `size` rows has got `limit` more.
inline size_t FullSize(size_t size, size_t limit) {
  return size + std::min(limit, std::numeric_limits<size_t>::max() - size);
}

// How many bytes of values a read of several elements may bring, about. More is not brought: the
// read ends with an error, and who asked asks for fewer. Of one element comes all that it has, as
// nobody gives a budget for it. Belongs to one caller.
class ReadBudget {
 public:
  static constexpr size_t kBytes = 8 << 20;
  // Of who asks for fewer next: so many elements instead of `num`.
  static size_t Fewer(size_t num) { return std::max<size_t>(num / 8, 1); }

  explicit ReadBudget(size_t bytes = kBytes) : left_(bytes) {}
  // INTERNAL when that is more than is left: it ends the read, and whose budget it is knows why.
  Status Take(size_t bytes);
  bool exceeded() const { return exceeded_; }

 private:
  size_t left_;
  bool exceeded_ = false;
};
// null: there is no bound.
inline Status TakeFrom(ReadBudget* budget, size_t bytes) {
  return budget == nullptr ? OkStatus() : budget->Take(bytes);
}

// Properties found: one output row per property, rows ascending, and for one row in key order.
struct PropertyRows {
  std::vector<uint32_t> rows;
  std::vector<KeyId> keys;
  Column values;
};

// One property of many elements: the rows of those that have it, ascending, and what they have.
struct PropertyColumn {
  std::vector<uint32_t> rows;
  Column values;
};

// Values of a property, and how many vertices have each; equal ones may come several times.
struct CountedValues {
  Column values;
  std::vector<int64_t> counts;
};

// Where a scan of values stands. Opaque but for `done`.
struct ValueCursor {
  ScanCursor scanned;
  bool done = false;
  bool begun = false;
  bool counts = false;  // column by column, below
  uint32_t set = 0;     // the column's,
  uint64_t row = 0;     // and where in it
};

class GraphView {
 public:
  virtual ~GraphView() = default;

  virtual uint64_t version() const = 0;
  virtual uint32_t num_partitions() const = 0;
  virtual const Schema& schema() const = 0;
  // The partition of a user's id (DESIGN 11); every integer width is the same id.
  virtual uint32_t PartitionOfId(const Value& id) const = 0;

  // Vertices of one partition, at most `limit` more of them. Empty `labels`: all.
  virtual Status ScanVertices(uint32_t partition, std::span<const LabelId> labels,
                              ScanCursor* cursor, size_t limit,
                              std::vector<VertexRef>* out) const = 0;
  // Edges of one partition (by their out vertex), likewise.
  virtual Status ScanEdges(uint32_t partition, std::span<const LabelId> labels,
                           ExpandCursor* cursor, size_t limit, std::vector<EdgeRef>* out) const = 0;

  // Vertices of one partition that may be what is sought: all that are, and perhaps some more, as
  // an index is coarser than a comparison (codec/value_place.h). Each once, at most `limit` more of
  // them, in no particular order.
  // REQUIRES: `seek` was made by MakeSeek of this view's schema.
  virtual Status SeekVertices(uint32_t partition, const VertexSeek& seek, SeekCursor* cursor,
                              size_t limit, std::vector<VertexRef>* out) const = 0;

  // User ids to references; rows[i] is the input row found. A string that is a canonical decimal
  // finds the integer id when no such string id exists. Made of the following steps, each of which
  // reads one place.
  Status LookupVertices(std::span<const Value> ids, std::vector<uint32_t>* rows,
                        std::vector<VertexRef>* out) const;
  Status LookupEdges(std::span<const Value> ids, std::vector<uint32_t>* rows,
                     std::vector<EdgeRef>* out) const;
  // In the partition of the id: vertices whose id it is, where a string is no integer; the numbers
  // (EdgeRef::id) of edges to which it was given.
  virtual Status LookupExactVertices(std::span<const Value> ids, std::vector<uint32_t>* rows,
                                     std::vector<VertexRef>* out) const = 0;
  virtual Status LookupEdgeNumbers(std::span<const Value> ids, std::vector<uint32_t>* rows,
                                   std::vector<uint64_t>* numbers) const = 0;
  // In that of the number: the edges. `given` (null: nobody asks): whether it has another id than
  // its number, by which it is not found.
  virtual Status EdgesOfNumbers(std::span<const uint64_t> numbers, std::vector<uint32_t>* rows,
                                std::vector<EdgeRef>* out, std::vector<bool>* given) const = 0;

  // Edge ends of a column of vertices, at most `limit` more of them, in order of row, direction
  // (out before in), label, neighbour, edge id. A self-loop appears twice for kBoth, as in
  // TinkerPop. Empty `labels`: all. `cursor` resumes; cursor->done when nothing is left. A call may
  // give fewer, or none, where many vertices have few.
  virtual Status Expand(std::span<const VertexRef> vertices, Direction direction,
                        std::span<const LabelId> labels, bool want_edges, ExpandCursor* cursor,
                        size_t limit, Expansion* out) const = 0;
  // Of the neighbours that Expand gives those that have one of these labels, without edges.
  virtual Status ExpandTo(std::span<const VertexRef> vertices, Direction direction,
                          std::span<const LabelId> labels,
                          std::span<const LabelId> neighbour_labels, ExpandCursor* cursor,
                          size_t limit, Expansion* out) const;
  // Numbers of edge ends: appends those of further vertices until about `limit` ends have been
  // read, a vertex counting as one or a few. `cursor` resumes, also within a vertex.
  virtual Status CountEnds(std::span<const VertexRef> vertices, Direction direction,
                           std::span<const LabelId> labels, DegreeCursor* cursor, size_t limit,
                           std::vector<int64_t>* out) const = 0;
  // The neighbours of Expand, without copies: what `visitor` has seen counts when the status is OK.
  // About `limit` of them.
  virtual Status VisitEnds(std::span<const VertexRef> vertices, Direction direction,
                           std::span<const LabelId> labels, ExpandCursor* cursor, size_t limit,
                           EndVisitor* visitor) const;
  // How many edge ends all vertices of a partition have together; empty `vertex_labels`: those of
  // all labels. Nothing where only counting tells.
  virtual std::optional<int64_t> TotalEnds(uint32_t partition,
                                           std::span<const LabelId> vertex_labels,
                                           Direction direction,
                                           std::span<const LabelId> labels) const {
    (void)partition, (void)vertex_labels, (void)direction, (void)labels;
    return std::nullopt;
  }
  // What the vertices of a partition have of a property; empty `labels`: those of all labels. At
  // most `limit` more values, or as many as a column has different ones.
  virtual Status ScanValues(uint32_t partition, std::span<const LabelId> labels, KeyId key,
                            ValueCursor* cursor, size_t limit, CountedValues* out) const;
  // Of all the vertices, whatever it takes.
  Status Degrees(std::span<const VertexRef> vertices, Direction direction,
                 std::span<const LabelId> labels, std::vector<int64_t>* out) const {
    DegreeCursor cursor;
    while (!cursor.done) {
      RETURN_IF_ERROR(
          CountEnds(vertices, direction, labels, &cursor, std::numeric_limits<size_t>::max(), out));
    }
    return OkStatus();
  }

  // Whether edges lead from vertices[i] to neighbours[i], and how many: the number of ends that
  // Expand gives of vertices[i] with that neighbour (so a self-loop counts twice for kBoth), or
  // `enough` when there are more. 1 asks whether there is any. Appends those of further pairs until
  // about `limit` steps have been taken: a pair is one, and each end that must be looked at by
  // itself. `cursor` resumes, also within a pair. Lists are not read through: a pair costs a
  // search. REQUIRES: enough > 0.
  virtual Status CountBetween(const VertexPairs& pairs, Direction direction,
                              std::span<const LabelId> labels, int64_t enough,
                              BetweenCursor* cursor, size_t limit,
                              std::vector<int64_t>* out) const = 0;

  // Label per row; kNoName for a vertex that does not exist.
  virtual Status VertexLabels(std::span<const VertexRef> vertices,
                              std::vector<LabelId>* out) const = 0;
  // The user's ids (kLong or kString); null for an element that does not exist.
  virtual Status VertexIds(std::span<const VertexRef> vertices, Column* out) const = 0;
  virtual Status EdgeIds(std::span<const EdgeRef> edges, Column* out) const = 0;

  // Properties by key; empty `keys`: all of them. `budget`: null where what comes has no bound.
  virtual Status ReadVertexProperties(std::span<const VertexRef> vertices,
                                      std::span<const KeyId> keys, ReadBudget* budget,
                                      PropertyRows* out) const = 0;
  virtual Status ReadEdgeProperties(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                                    ReadBudget* budget, PropertyRows* out) const = 0;
  // The same, key by key: (*out)[i] is what keys[i] gives. Elements are found once for all keys.
  // REQUIRES: each key once.
  virtual Status ReadVertexColumns(std::span<const VertexRef> vertices, std::span<const KeyId> keys,
                                   ReadBudget* budget, std::vector<PropertyColumn>* out) const;
  virtual Status ReadEdgeColumns(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                                 ReadBudget* budget, std::vector<PropertyColumn>* out) const;

  // Whatever comes.
  Status VertexProperties(std::span<const VertexRef> vertices, std::span<const KeyId> keys,
                          PropertyRows* out) const {
    return ReadVertexProperties(vertices, keys, /*budget=*/nullptr, out);
  }
  Status EdgeProperties(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                        PropertyRows* out) const {
    return ReadEdgeProperties(edges, keys, /*budget=*/nullptr, out);
  }
  Status VertexColumns(std::span<const VertexRef> vertices, std::span<const KeyId> keys,
                       std::vector<PropertyColumn>* out) const {
    return ReadVertexColumns(vertices, keys, /*budget=*/nullptr, out);
  }
  Status EdgeColumns(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                     std::vector<PropertyColumn>* out) const {
    return ReadEdgeColumns(edges, keys, /*budget=*/nullptr, out);
  }
};

}  // namespace koios::storage
