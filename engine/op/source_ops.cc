#include "engine/op/source_ops.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/value_codec.h"
#include "engine/expr/call_size.h"
#include "engine/expr/element_functions.h"
#include "storage/codec/element_id.h"

namespace koios::engine {
namespace {

// Each input row becomes one row per value. (In the middle of a traversal the planner puts the
// values beside the input with a Split.)
class InjectOp : public StreamOperator {
 public:
  explicit InjectOp(Column values) : values_(std::move(values)) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    while (row_ < input.rows && output->origin.size() < output->limit) {
      const size_t count = std::min(values_.size() - next_, output->limit - output->origin.size());
      output->column.AppendRange(values_, next_, count);
      output->origin.insert(output->origin.end(), count, static_cast<uint32_t>(row_));
      next_ += count;
      if (next_ == values_.size()) {
        next_ = 0;
        ++row_;
      }
    }
    *done = row_ >= input.rows;
    if (*done) row_ = 0;
    return OkStatus();
  }

  bool SkipTo(size_t row, StreamCursor*) override {
    if (row > row_) next_ = 0;
    row_ = std::max(row_, row);
    return true;
  }

 private:
  const Column values_;
  size_t row_ = 0;
  size_t next_ = 0;
};

class PartitionsOp : public StreamOperator {
 public:
  explicit PartitionsOp(uint32_t num_partitions) : num_partitions_(num_partitions) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    while (row_ < input.rows && output->origin.size() < output->limit) {
      output->column.AppendInt(static_cast<int32_t>(next_));
      output->origin.push_back(static_cast<uint32_t>(row_));
      if (++next_ == num_partitions_) {
        next_ = 0;
        ++row_;
      }
    }
    *done = row_ >= input.rows;
    if (*done) row_ = 0;
    return OkStatus();
  }

  bool SkipTo(size_t row, StreamCursor*) override {
    if (row > row_) next_ = 0;
    row_ = std::max(row_, row);
    return true;
  }

 private:
  const uint32_t num_partitions_;
  size_t row_ = 0;
  uint32_t next_ = 0;
};

class ScanOp : public StreamOperator {
 public:
  ScanOp(const plan::Scan& op, std::span<const storage::SoughtKey> sought, OperatorHost* host)
      : host_(host), element_(op.element()), labels_(FindLabels(host, op.labels(), &none_)) {
    if (none_ || !op.has_seek()) return;
    const Schema& schema = host->view().schema();
    std::vector<KeyId> keys;
    for (const std::string& key : op.seek().keys()) keys.push_back(schema.keys.Find(key));
    seek_ = storage::MakeSeek(schema, labels_, keys, sought,
                              /*kinds_may_change=*/host->transaction() != nullptr);
  }

  // What small partitions have, or what is left of big ones, goes into one batch.
  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    *done = none_;
    if (none_) return OkStatus();
    if (input.slots[0].kind() != Column::Kind::kInt) return Internal("Scan needs partitions.");
    std::vector<VertexRef> vertices;
    std::vector<EdgeRef> edges;
    for (int reads = 0; reads < kReads && output->origin.size() < output->limit; ++reads) {
      ASSIGN_OR_RETURN(const bool end,
                       Read(static_cast<uint32_t>(input.slots[0].ints()[row_]),
                            output->limit - output->origin.size(), &vertices, &edges));
      output->origin.resize(vertices.size() + edges.size(), static_cast<uint32_t>(row_));
      if (end && ++row_ == input.rows) {
        row_ = 0;
        *done = true;
        break;
      }
    }
    output->column =
        element_ == plan::VERTEX ? Column::Of(std::move(vertices)) : Column::Of(std::move(edges));
    return OkStatus();
  }

  bool SkipTo(size_t row, StreamCursor*) override {
    if (row > row_) BeginPartition();
    row_ = std::max(row_, row);
    return true;
  }

 private:
  static constexpr int kReads = 32;  // in one call

  // At most `limit` more elements of the partition. True: it has no more.
  StatusOr<bool> Read(uint32_t partition, size_t limit, std::vector<VertexRef>* vertices,
                      std::vector<EdgeRef>* edges) {
    const storage::GraphView& view = host_->view();
    if (partition >= view.num_partitions()) return DataLoss("There is no such partition.");
    if (element_ == plan::EDGE) {
      RETURN_IF_ERROR(view.ScanEdges(partition, labels_, &edge_cursor_, limit, edges));
    } else if (seek_.has_value()) {
      RETURN_IF_ERROR(view.SeekVertices(partition, *seek_, &seek_cursor_, limit, vertices));
    } else {
      RETURN_IF_ERROR(view.ScanVertices(partition, labels_, &vertex_cursor_, limit, vertices));
    }
    if (!edge_cursor_.done && !seek_cursor_.done && !vertex_cursor_.done) return false;
    BeginPartition();
    return true;
  }

  void BeginPartition() {
    vertex_cursor_ = {};
    seek_cursor_ = {};
    edge_cursor_ = {};
  }

  OperatorHost* const host_;
  const plan::ElementKind element_;
  bool none_ = false;
  const std::vector<LabelId> labels_;
  std::optional<storage::VertexSeek> seek_;
  size_t row_ = 0;
  storage::SeekCursor seek_cursor_;
  storage::ScanCursor vertex_cursor_;
  storage::ExpandCursor edge_cursor_;
};

// Edge ends of whole partitions. What the graph does not know it counts, some vertices after the
// other; the longs that come out add up to all.
class CountScanOp : public StreamOperator {
 public:
  CountScanOp(const plan::Scan& op, OperatorHost* host)
      : host_(host),
        direction_(static_cast<Direction>(op.ends().direction())),
        labels_(FindLabels(host, op.labels(), &none_)),
        edge_labels_(FindLabels(host, op.ends().labels(), &no_edges_)) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    std::vector<int64_t> counts;
    if (none_ || no_edges_) row_ = input.rows;
    if (row_ < input.rows && input.slots[0].kind() != Column::Kind::kInt) {
      return Internal("Scan needs partitions.");
    }
    bool counted = false;
    while (row_ < input.rows && counts.size() < output->limit && !counted) {
      ASSIGN_OR_RETURN(counted, Count(static_cast<uint32_t>(input.slots[0].ints()[row_]), &counts));
      output->origin.resize(counts.size(), static_cast<uint32_t>(row_));
      if (scanned_.done && vertices_.empty()) SkipTo(row_ + 1, nullptr);
    }
    *done = row_ >= input.rows;
    if (*done) row_ = 0;
    output->column = Column::Of(std::move(counts));
    return OkStatus();
  }

  bool SkipTo(size_t row, StreamCursor*) override {
    if (row <= row_) return true;
    row_ = row;
    begun_ = false;
    scanned_ = {};
    degrees_ = {};
    vertices_.clear();
    return true;
  }

 private:
  // A share of the partition. False: that was no work.
  StatusOr<bool> Count(uint32_t partition, std::vector<int64_t>* counts) {
    const storage::GraphView& view = host_->view();
    if (partition >= view.num_partitions()) return DataLoss("There is no such partition.");
    if (vertices_.empty()) {
      if (!std::exchange(begun_, true)) {
        const std::optional<int64_t> total =
            view.TotalEnds(partition, labels_, direction_, edge_labels_);
        if (total.has_value()) {
          counts->push_back(*total);
          scanned_.done = true;
          return false;
        }
      }
      RETURN_IF_ERROR(view.ScanVertices(partition, labels_, &scanned_, kBatchRows, &vertices_));
    }
    std::vector<int64_t> degrees;
    RETURN_IF_ERROR(CountOn(view, host_->clock(), vertices_, direction_, edge_labels_,
                            &most_counted_, &degrees_, &degrees));
    int64_t sum = 0;
    for (const int64_t degree : degrees) sum += degree;
    counts->push_back(sum);
    if (degrees_.done) {
      degrees_ = {};
      vertices_.clear();
    }
    return true;
  }

  OperatorHost* const host_;
  const Direction direction_;
  bool none_ = false;
  bool no_edges_ = false;
  const std::vector<LabelId> labels_;
  const std::vector<LabelId> edge_labels_;
  size_t row_ = 0;
  bool begun_ = false;               // with the partition
  storage::ScanCursor scanned_;      // of it
  std::vector<VertexRef> vertices_;  // whose ends are being counted
  storage::DegreeCursor degrees_;
  CallSize most_counted_ = CountedInACall();
};

// What vertices have of a property, with how many have it where the graph counts them at once.
class ValueScanOp : public StreamOperator {
 public:
  ValueScanOp(const plan::Scan& op, OperatorHost* host)
      : host_(host),
        labels_(FindLabels(host, op.labels(), &none_)),
        key_(host->view().schema().keys.Find(op.value_key())) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    if (none_ || key_ == kNoName) row_ = input.rows;
    if (row_ < input.rows && input.slots[0].kind() != Column::Kind::kInt) {
      return Internal("Scan needs partitions.");
    }
    size_t bytes = 0;
    for (int reads = 0; row_ < input.rows && output->origin.size() < output->limit; ++reads) {
      if (next_ < found_.counts.size()) {
        bytes += found_.values.FlatByteSize();
        Give(input.BulkAt(row_), output);
      } else if (cursor_.done) {
        SkipTo(row_ + 1, nullptr);
      } else if (reads < kReads && bytes < kBatchBytes) {
        RETURN_IF_ERROR(Read(static_cast<uint32_t>(input.slots[0].ints()[row_])));
      } else {
        break;
      }
    }
    *done = row_ >= input.rows;
    if (*done) row_ = 0;
    output->has_bulk = true;
    return OkStatus();
  }

  bool SkipTo(size_t row, StreamCursor*) override {
    if (row <= row_) return true;
    row_ = row;
    cursor_ = {};
    found_ = {};
    next_ = 0;
    return true;
  }

 private:
  static constexpr int kReads = 64;  // in one call

  Status Read(uint32_t partition) {
    const storage::GraphView& view = host_->view();
    if (partition >= view.num_partitions()) return DataLoss("There is no such partition.");
    found_ = {};
    next_ = 0;
    RETURN_IF_ERROR(view.ScanValues(partition, labels_, key_, &cursor_, num_rows_, &found_));
    // As many vertices at a time as fill a batch.
    const size_t bytes = found_.values.FlatByteSize();
    if (bytes > kBatchBytes) num_rows_ = std::max<size_t>(num_rows_ / 2, 1);
    if (bytes < kBatchBytes / 2) num_rows_ = std::min(2 * num_rows_, kBatchRows);
    return OkStatus();
  }

  void Give(int64_t bulk, OpOutput* output) {
    const size_t count =
        std::min(found_.counts.size() - next_, output->limit - output->origin.size());
    output->column.AppendRange(found_.values, next_, count);
    output->origin.insert(output->origin.end(), count, static_cast<uint32_t>(row_));
    for (const size_t end = next_ + count; next_ < end; ++next_) {
      output->bulk.push_back(found_.counts[next_] * bulk);
    }
  }

  OperatorHost* const host_;
  bool none_ = false;
  const std::vector<LabelId> labels_;
  const KeyId key_;
  size_t row_ = 0;
  storage::ValueCursor cursor_;   // of the partition of `row_`
  size_t num_rows_ = kBatchRows;  // that are asked for at once
  storage::CountedValues found_;
  size_t next_ = 0;  // of found_
};

// The rows of a batch that are looked up: as many in a call as there is time for.
class SomeRows {
 public:
  // look(rows), a Status, adds to the output, with origins among these.
  template <typename Look>
  Status Go(const Batch& input, const Clock& clock, OpOutput* output, bool* done,
            const Look& look) {
    const size_t begin = std::exchange(next_, std::min(input.rows, next_ + size_.size()));
    *done = next_ == input.rows;
    const Batch rows = input.Slice(begin, next_);
    RETURN_IF_ERROR(size_.Measure(
        clock, [&] { return look(rows); }, [&] { return !*done; }));
    for (uint32_t& row : output->origin) row += static_cast<uint32_t>(begin);
    if (*done) next_ = 0;
    return OkStatus();
  }

 private:
  CallSize size_{64, 256, kBatchRows};
  size_t next_ = 0;  // of the batch
};

// Ids to elements. Current may also be an element already: a detached one (a parameter) is looked
// up by its id, a reference stays.
class LookupOp : public StreamOperator {
 public:
  LookupOp(const plan::Lookup& op, OperatorHost* host) : host_(host), element_(op.element()) {}

  // Of an element (a parameter) the id.
  static Value IdAt(const Batch& input, size_t row) {
    Value id = input.slots[0].Get(row);
    return id.kind() == ValueKind::kElement ? id.AsElement().id : id;
  }

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    return some_.Go(input, host_->clock(), output, done,
                    [&](const Batch& rows) { return Look(rows, output); });
  }

 private:
  Status Look(const Batch& rows, OpOutput* output) const {
    std::vector<Value> ids;
    for (size_t row = 0; row < rows.rows; ++row) ids.push_back(IdAt(rows, row));
    if (element_ == plan::VERTEX) {
      std::vector<VertexRef> vertices;
      RETURN_IF_ERROR(host_->view().LookupVertices(ids, &output->origin, &vertices));
      for (VertexRef vertex : vertices) output->column.AppendVertex(vertex);
      return OkStatus();
    }
    std::vector<EdgeRef> edges;
    RETURN_IF_ERROR(host_->view().LookupEdges(ids, &output->origin, &edges));
    for (const EdgeRef& edge : edges) output->column.AppendEdge(edge);
    return OkStatus();
  }

  OperatorHost* const host_;
  const plan::ElementKind element_;
  SomeRows some_;
};

// One step of a look-up that reads each place where it is.
class LookupStepOp : public StreamOperator {
 public:
  LookupStepOp(const plan::Lookup& op, OperatorHost* host)
      : host_(host), of_vertices_(op.element() == plan::VERTEX), step_(op.step()) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    return some_.Go(input, host_->clock(), output, done, [&](const Batch& rows) -> Status {
      std::vector<std::optional<Value>> next(rows.rows);
      RETURN_IF_ERROR(step_ == 3 ? Resolve(rows, &next) : Look(rows, &next));
      for (uint32_t row = 0; row < next.size(); ++row) {
        if (!next[row]) continue;
        output->origin.push_back(row);
        output->column.Append(*next[row]);
      }
      return OkStatus();
    });
  }

 private:
  // An edge of which only the number is known yet; `by_id`: it was found by an id that it was
  // given. Nothing, where no edge has the number.
  std::optional<Value> EdgeOfNumber(uint64_t number, bool by_id) const {
    const uint32_t partition = VertexRef{number}.partition();
    if (partition >= host_->view().num_partitions()) return std::nullopt;
    if (host_->view().schema().labels.size() == 0) return std::nullopt;
    constexpr LabelId kAnyLabel = 1;
    return Value::Of(
        EdgeRef{number, VertexRef::Make(partition, 0), {by_id ? uint64_t{1} : 0}, kAnyLabel});
  }

  // What a look-up has still to do, or has done: elements stay.
  Status Look(const Batch& input, std::vector<std::optional<Value>>* next) {
    std::vector<Value> ids;
    std::vector<uint32_t> of;
    for (uint32_t row = 0; row < input.rows; ++row) {
      Value id = LookupOp::IdAt(input, row);
      if (id.kind() == ValueKind::kVertex || id.kind() == ValueKind::kEdge) {
        (*next)[row] = std::move(id);
        continue;
      }
      const std::optional<int64_t> number = storage::IntegerOfId(id);
      if (number && (step_ == 1 || !of_vertices_)) {
        (*next)[row] = step_ == 1 ? std::optional<Value>(Value::Long(*number))
                                  : EdgeOfNumber(static_cast<uint64_t>(*number), false);
      }
      ids.push_back(std::move(id));
      of.push_back(row);
    }
    std::vector<uint32_t> rows;
    if (of_vertices_) {
      std::vector<VertexRef> found;
      RETURN_IF_ERROR(host_->view().LookupExactVertices(ids, &rows, &found));
      for (size_t i = 0; i < rows.size(); ++i) (*next)[of[rows[i]]] = Value::Of(found[i]);
      return OkStatus();
    }
    std::vector<uint64_t> found;
    RETURN_IF_ERROR(host_->view().LookupEdgeNumbers(ids, &rows, &found));
    for (size_t i = 0; i < rows.size(); ++i) (*next)[of[rows[i]]] = EdgeOfNumber(found[i], true);
    return OkStatus();
  }

  Status Resolve(const Batch& input, std::vector<std::optional<Value>>* next) {
    std::vector<uint64_t> numbers;
    std::vector<bool> by_id;
    for (size_t row = 0; row < input.rows; ++row) {
      const Value edge = input.slots[0].Get(row);
      if (edge.kind() != ValueKind::kEdge) return Internal("Lookup has an edge without a number.");
      numbers.push_back(edge.AsEdge().id);
      by_id.push_back(edge.AsEdge().in.bits != 0);
    }
    std::vector<uint32_t> rows;
    std::vector<EdgeRef> found;
    std::vector<bool> given;
    RETURN_IF_ERROR(host_->view().EdgesOfNumbers(numbers, &rows, &found, &given));
    for (size_t i = 0; i < rows.size(); ++i) {
      if (by_id[rows[i]] || !given[i]) (*next)[rows[i]] = Value::Of(found[i]);
    }
    return OkStatus();
  }

  OperatorHost* const host_;
  const bool of_vertices_;
  const uint32_t step_;
  SomeRows some_;
};

StatusOr<storage::KeyBound::Op> BoundOf(plan::KeyBound::Op op) {
  switch (op) {
    case plan::KeyBound::GREATER:
      return storage::KeyBound::Op::kGreater;
    case plan::KeyBound::AT_LEAST:
      return storage::KeyBound::Op::kAtLeast;
    case plan::KeyBound::LESS:
      return storage::KeyBound::Op::kLess;
    case plan::KeyBound::AT_MOST:
      return storage::KeyBound::Op::kAtMost;
    case plan::KeyBound::STARTS_WITH:
      return storage::KeyBound::Op::kStartsWith;
    default:
      return DataLoss("A plan has a bound of an unknown kind.");
  }
}

OperatorBundle Stream(std::unique_ptr<StreamOperator> op) {
  OperatorBundle bundle;
  bundle.stream = std::move(op);
  return bundle;
}

}  // namespace

std::vector<LabelId> FindLabels(OperatorHost* host,
                                const google::protobuf::RepeatedPtrField<std::string>& names,
                                bool* unknown_only) {
  std::vector<LabelId> labels;
  for (const std::string& name : names) {
    // A name that the query itself has yet to add is known from now on.
    const LabelId label = host->transaction() != nullptr ? host->transaction()->KnowLabel(name)
                                                         : host->view().schema().labels.Find(name);
    if (label != kNoName) labels.push_back(label);
  }
  *unknown_only = labels.empty() && !names.empty();
  return labels;
}

StatusOr<OperatorBundle> MakeInject(const plan::Inject& op, OperatorHost*) {
  Column values;
  for (const std::string& bytes : op.values()) {
    ASSIGN_OR_RETURN(Value value, DecodeWholeValue(bytes));
    values.Append(value);
  }
  return Stream(std::make_unique<InjectOp>(std::move(values)));
}

OperatorBundle MakePartitions(OperatorHost* host) {
  return Stream(std::make_unique<PartitionsOp>(host->view().num_partitions()));
}

StatusOr<std::vector<storage::SoughtKey>> DecodeSought(const plan::Seek& seek) {
  std::vector<storage::SoughtKey> sought;
  for (const plan::SoughtKey& key : seek.sought()) {
    storage::SoughtKey& wanted = sought.emplace_back();
    for (const std::string& bytes : key.any_of()) {
      ASSIGN_OR_RETURN(Value value, DecodeWholeValue(bytes));
      wanted.any_of.push_back(std::move(value));
    }
    for (const plan::KeyBound& bound : key.bounds()) {
      ASSIGN_OR_RETURN(const storage::KeyBound::Op kind, BoundOf(bound.op()));
      ASSIGN_OR_RETURN(Value value, DecodeWholeValue(bound.value()));
      wanted.bounds.push_back({kind, std::move(value)});
    }
  }
  return sought;
}

StatusOr<OperatorBundle> MakeScan(const plan::Scan& op, OperatorHost* host) {
  if (op.has_ends()) return Stream(std::make_unique<CountScanOp>(op, host));
  if (!op.value_key().empty()) return Stream(std::make_unique<ValueScanOp>(op, host));
  ASSIGN_OR_RETURN(const std::vector<storage::SoughtKey> sought, DecodeSought(op.seek()));
  return Stream(std::make_unique<ScanOp>(op, sought, host));
}

OperatorBundle MakeLookup(const plan::Lookup& op, OperatorHost* host) {
  if (op.step() > 0) return Stream(std::make_unique<LookupStepOp>(op, host));
  return Stream(std::make_unique<LookupOp>(op, host));
}

}  // namespace koios::engine
