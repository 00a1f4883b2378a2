#include "engine/op/element_ops.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/expr/call_size.h"
#include "engine/expr/element_functions.h"
#include "engine/op/source_ops.h"
#include "engine/op/walk/count_others_op.h"

namespace koios::engine {
namespace {

Operand CurrentOf(const Batch& input) {
  Operand operand;
  operand.column = &input.slots[0];
  return operand;
}

class ExpandOp : public StreamOperator {
 public:
  ExpandOp(const plan::Expand& op, OperatorHost* host)
      : host_(host),
        direction_(static_cast<Direction>(op.direction())),
        to_(op.to()),
        most_(op.most()),
        labels_(FindLabels(host, op.labels(), &none_)),
        neighbour_labels_(FindLabels(host, op.neighbour_labels(), &no_neighbour_)) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    if (!open_) RETURN_IF_ERROR(Open(input));
    if (counts()) return Degrees(input, output, done);
    if (none_ || no_neighbour_ || cursor_.done || elements_.vertices.empty()) {
      Close(done);
      return OkStatus();
    }
    storage::Expansion expansion;
    RETURN_IF_ERROR(most_ends_.Measure(
        host_->clock(),
        [&] {
          const size_t limit = std::min(output->limit, most_ends_.size());
          return most_ == 0 ? Read(limit, &expansion) : ReadFirst(limit, &expansion);
        },
        [&] { return !cursor_.done; }));
    output->origin = std::move(expansion.rows);
    output->column = wants_edges() ? Column::Of(std::move(expansion.edges))
                                   : Column::Of(std::move(expansion.neighbours));
    if (elements_.vertices.size() != input.rows) {
      for (uint32_t& row : output->origin) row = elements_.vertex_rows[row];
    }
    *done = false;
    if (cursor_.done) Close(done);
    return OkStatus();
  }

  bool SkipTo(size_t row, StreamCursor*) override {
    if (row > first_ + (counts() ? degrees_.row : cursor_.row)) Begin(row);
    return true;
  }

 private:
  // Ends that are read at once where of each vertex only the first are wanted: a hub gives no more
  // for nothing, and few neighbours are not asked for one by one.
  static constexpr size_t kLooks = 64;
  static constexpr int kReads = 256;  // in one call
  // Where each may pass over many of other labels.
  static constexpr int kReadsByLabel = 8;

  bool counts() const { return to_ == plan::Expand::DEGREE || to_ == plan::Expand::ARRIVALS; }
  bool wants_edges() const { return to_ == plan::Expand::INCIDENT; }
  std::span<const VertexRef> Vertices() const {
    return std::span<const VertexRef>(elements_.vertices).subspan(first_);
  }

  void Begin(size_t row) {
    first_ = row;
    cursor_ = {};
    degrees_ = {};
  }

  // At most `limit` ends more, by row of the input's vertices.
  Status Read(size_t limit, storage::Expansion* out) {
    const size_t before = out->rows.size();
    if (neighbour_labels_.empty()) {
      RETURN_IF_ERROR(host_->view().Expand(Vertices(), direction_, labels_, wants_edges(), &cursor_,
                                           limit, out));
    } else {
      RETURN_IF_ERROR(host_->view().ExpandTo(Vertices(), direction_, labels_, neighbour_labels_,
                                             &cursor_, limit, out));
    }
    for (size_t i = before; first_ > 0 && i < out->rows.size(); ++i) {
      out->rows[i] += static_cast<uint32_t>(first_);
    }
    return OkStatus();
  }

  // Of the ends from `begin` on those that are not among the first of their vertex.
  void DropFurther(size_t begin, storage::Expansion* out) {
    size_t kept = begin;
    for (size_t i = begin; i < out->rows.size(); ++i) {
      if (std::exchange(given_row_, out->rows[i]) != out->rows[i]) given_ = 0;
      if (given_ == most_) continue;
      ++given_;
      out->rows[kept] = out->rows[i];
      out->neighbours[kept] = out->neighbours[i];
      if (wants_edges()) out->edges[kept] = out->edges[i];
      ++kept;
    }
    out->rows.resize(kept);
    out->neighbours.resize(kept);
    if (wants_edges()) out->edges.resize(kept);
  }

  // Of each vertex the first `most_`; the rest of its ends is passed over.
  Status ReadFirst(size_t limit, storage::Expansion* out) {
    const int most_reads = neighbour_labels_.empty() ? kReads : kReadsByLabel;
    out->rows.reserve(limit);
    out->neighbours.reserve(limit);
    if (wants_edges()) out->edges.reserve(limit);
    for (int reads = 0; reads < most_reads && !cursor_.done && out->rows.size() < limit; ++reads) {
      const size_t before = out->rows.size();
      RETURN_IF_ERROR(Read(std::min(kLooks, limit - before), out));
      DropFurther(before, out);
      const size_t next = first_ + cursor_.row;
      if (cursor_.done || next != given_row_ || given_ < most_) continue;
      Begin(next + 1);
      cursor_.done = next + 1 == elements_.vertices.size();
    }
    return OkStatus();
  }

  Status Open(const Batch& input) {
    elements_ = ElementRows::Of(CurrentOf(input), input.rows);
    if (elements_.vertices.size() != input.rows) {
      return InvalidArgument(
          "Only vertices have edges: the traversal comes here with other values.");
    }
    open_ = true;
    Begin(0);
    given_ = 0;
    return OkStatus();
  }

  void Close(bool* done) {
    open_ = false;
    *done = true;
  }

  // Counting at a hub takes several calls: those of the vertices that are done come out.
  Status Degrees(const Batch& input, OpOutput* output, bool* done) {
    const size_t begin = first_ + degrees_.row;
    std::vector<int64_t> degrees;
    if (none_) {
      degrees.resize(Vertices().size(), 0);
      degrees_.done = true;
    } else {
      RETURN_IF_ERROR(CountOn(host_->view(), host_->clock(), Vertices(), direction_, labels_,
                              &most_counted_, &degrees_, &degrees));
    }
    *done = false;
    if (degrees_.done) Close(done);
    if (to_ == plan::Expand::ARRIVALS) return Arrivals(input, begin, degrees, output);
    output->identity = degrees.size() == elements_.vertices.size();
    if (!output->identity) {
      output->origin.resize(degrees.size());
      std::iota(output->origin.begin(), output->origin.end(), static_cast<uint32_t>(begin));
    }
    output->column = Column::Of(std::move(degrees));
    return OkStatus();
  }

  // Rows from `begin` on stay, each as many times more as it has ends.
  static Status Arrivals(const Batch& input, size_t begin, std::span<const int64_t> degrees,
                         OpOutput* output) {
    output->slot = -1;
    output->has_bulk = true;
    for (size_t i = 0; i < degrees.size(); ++i) {
      if (degrees[i] == 0) continue;
      int64_t bulk = 0;
      if (__builtin_mul_overflow(degrees[i], input.BulkAt(begin + i), &bulk)) {
        return InvalidArgument("More traversers are equal than a long can count.");
      }
      output->origin.push_back(static_cast<uint32_t>(begin + i));
      output->bulk.push_back(bulk);
    }
    return OkStatus();
  }

  OperatorHost* const host_;
  const Direction direction_;
  const plan::Expand::To to_;
  const uint64_t most_;  // of each vertex; 0: all
  bool none_ = false, no_neighbour_ = false;
  const std::vector<LabelId> labels_, neighbour_labels_;
  bool open_ = false;
  ElementRows elements_;
  size_t first_ = 0;  // of them: where the cursors begin
  storage::ExpandCursor cursor_;
  storage::DegreeCursor degrees_;
  CallSize most_ends_ = ExpandedInACall();
  CallSize most_counted_ = CountedInACall();
  size_t given_row_ = 0;  // the last that ends were read of
  uint64_t given_ = 0;    // of them
};

class EdgeEndOp : public StreamOperator {
 public:
  explicit EdgeEndOp(const plan::EdgeEnd& op) : end_(op.end()), from_slot_(op.from_slot()) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    if (row_ == 0) elements_ = ElementRows::Of(CurrentOf(input), input.rows);
    if (elements_.edges.size() != input.rows) {
      return InvalidArgument(
          "Only edges have end vertices: the traversal comes here with other "
          "values.");
    }
    output->identity = end_ != plan::EdgeEnd::BOTH_VERTICES;
    if (end_ == plan::EdgeEnd::IN_VERTEX || end_ == plan::EdgeEnd::OUT_VERTEX) {
      std::vector<VertexRef> ends;
      ends.reserve(input.rows);
      const bool in = end_ == plan::EdgeEnd::IN_VERTEX;
      for (const EdgeRef& edge : elements_.edges) ends.push_back(in ? edge.in : edge.out);
      output->column = Column::Of(std::move(ends));
      *done = true;
      return OkStatus();
    }
    output->column = Column(Column::Kind::kVertex);
    for (; row_ < input.rows && output->origin.size() < output->limit; ++row_) {
      const uint32_t row = row_;
      const EdgeRef& edge = elements_.edges[row];
      switch (end_) {
        case plan::EdgeEnd::BOTH_VERTICES:
          output->origin.push_back(row);
          output->origin.push_back(row);
          output->column.AppendVertex(edge.out);
          output->column.AppendVertex(edge.in);
          break;
        case plan::EdgeEnd::OTHER: {
          const Value from = input.Has(from_slot_) ? input.slots[from_slot_].Get(row) : Value();
          const bool from_out = from.kind() == ValueKind::kVertex && from.AsVertex() == edge.out;
          output->column.AppendVertex(from_out ? edge.in : edge.out);
          break;
        }
        default:
          break;
      }
    }
    *done = row_ == input.rows;
    if (*done) row_ = 0;
    return OkStatus();
  }

  bool SkipTo(size_t row, StreamCursor*) override {
    row_ = std::max(row_, static_cast<uint32_t>(row));
    return true;
  }

 private:
  const plan::EdgeEnd::End end_;
  const uint32_t from_slot_;
  ElementRows elements_;  // of the input
  uint32_t row_ = 0;
};

class FetchOp : public StreamOperator {
 public:
  FetchOp(const plan::Fetch& op, OperatorHost* host)
      : host_(host), as_properties_(op.as_properties()) {
    for (const std::string& name : op.keys()) {
      const KeyId key = host->transaction() != nullptr ? host->transaction()->KnowKey(name)
                                                       : host->view().schema().keys.Find(name);
      if (key != kNoName) keys_.push_back(key);
    }
    none_ = keys_.empty() && op.keys_size() > 0;
  }
  FetchOp(const FetchOp&) = delete;
  FetchOp& operator=(const FetchOp&) = delete;
  ~FetchOp() override { GiveBack(); }

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    if (next_ == 0) RETURN_IF_ERROR(ReadOn(input));
    const size_t found = found_.origin.size();
    const size_t limit = std::min(output->limit, row_limit_);
    const bool given = next_ + limit >= found;
    *done = given && row_ == input.rows;
    if (next_ == 0 && given) {
      output->origin = std::move(found_.origin);
      output->column = std::move(found_.column);
      Forget(*done);
      return OkStatus();
    }
    if (next_ == 0) {  // stays for more calls
      const auto bytes =
          static_cast<int64_t>(found_.column.ByteSize() + found * sizeof(found_.origin[0]));
      RETURN_IF_ERROR(host_->ChargeState(bytes));
      charged_ = bytes;
    }
    const size_t count = std::min(limit, found - next_);
    const auto begin = found_.origin.begin() + static_cast<std::ptrdiff_t>(next_);
    output->origin.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    output->column = found_.column.Slice(next_, count);
    next_ += count;
    if (given) Forget(*done);
    return OkStatus();
  }

  bool SkipTo(size_t row, StreamCursor*) override {
    const auto begin = found_.origin.begin();
    const auto next =
        std::lower_bound(begin + static_cast<std::ptrdiff_t>(next_), found_.origin.end(), row);
    next_ = static_cast<size_t>(next - begin);
    if (next == found_.origin.end()) Forget(/*with_input=*/false);
    row_ = std::max(row_, static_cast<uint32_t>(row));
    return true;
  }

 private:
  static constexpr uint32_t kFirstRows = 1;

  void GiveBack() {
    if (charged_ != 0) (void)host_->ChargeState(-std::exchange(charged_, 0));
  }

  // What was found is given out.
  void Forget(bool with_input) {
    found_ = {};
    next_ = 0;
    GiveBack();
    if (!with_input) return;
    elements_ = {};
    row_ = 0;
  }

  // Reads the properties of the next elements that have any.
  Status ReadOn(const Batch& input) {
    if (row_ == 0) {
      elements_ = ElementRows::Of(CurrentOf(input), input.rows);
      for (const uint32_t row : elements_.other_rows) {
        if (input.slots[0].Get(row).kind() == ValueKind::kVertexProperty) continue;  // has none
        return InvalidArgument(
            "Only vertices and edges have properties: the traversal comes here "
            "with other values.");
      }
    }
    if (none_) row_ = input.rows;
    while (row_ < input.rows && found_.origin.empty()) {
      const auto end = static_cast<uint32_t>(std::min<size_t>(input.rows, row_ + num_rows_));
      storage::ReadBudget budget;
      const Status read = Read(row_, end, end - row_ > 1 ? &budget : nullptr);
      if (budget.exceeded()) {
        num_rows_ = static_cast<uint32_t>(storage::ReadBudget::Fewer(end - row_));
        continue;
      }
      RETURN_IF_ERROR(read);
      row_ = end;
      // As many elements at a time as fill a batch.
      const size_t bytes = found_.column.ByteSize();
      if (bytes > kBatchBytes) num_rows_ = std::max(num_rows_ / 2, 1u);
      if (bytes < kBatchBytes / 2) num_rows_ = std::min(num_rows_ * 2, uint32_t{kBatchRows});
    }
    row_limit_ = RowLimit(found_.column.ByteSize(), found_.origin.size());
    return OkStatus();
  }

  // All properties of the elements in rows [begin, end).
  Status Read(uint32_t begin, uint32_t end, storage::ReadBudget* budget) {
    storage::PropertyRows of_vertices, of_edges;
    const auto read = [&](const auto& elements, const std::vector<uint32_t>& rows, auto properties,
                          storage::PropertyRows* found) -> Status {
      const auto first = std::lower_bound(rows.begin(), rows.end(), begin);
      const auto count = static_cast<size_t>(std::lower_bound(first, rows.end(), end) - first);
      if (count == 0) return OkStatus();
      const auto skipped = static_cast<uint32_t>(first - rows.begin());
      RETURN_IF_ERROR((host_->view().*properties)(std::span(elements).subspan(skipped, count),
                                                  keys_, budget, found));
      for (uint32_t& element : found->rows) element += skipped;
      return OkStatus();
    };
    RETURN_IF_ERROR(read(elements_.vertices, elements_.vertex_rows,
                         &storage::GraphView::ReadVertexProperties, &of_vertices));
    RETURN_IF_ERROR(read(elements_.edges, elements_.edge_rows,
                         &storage::GraphView::ReadEdgeProperties, &of_edges));
    if (elements_.edges.empty() || elements_.vertices.empty()) {
      storage::PropertyRows& only = elements_.edges.empty() ? of_vertices : of_edges;
      RETURN_IF_ERROR(Objects(elements_, elements_.edges.empty(), &only));
      const std::vector<uint32_t>& rows =
          elements_.edges.empty() ? elements_.vertex_rows : elements_.edge_rows;
      for (uint32_t& element : only.rows) element = rows[element];
      found_.origin = std::move(only.rows);
      found_.column = std::move(only.values);
      return OkStatus();
    }
    return Merge(elements_, &of_vertices, &of_edges, &found_);
  }

  // Turns values into property objects when those are wanted.
  Status Objects(const ElementRows& elements, bool vertices, storage::PropertyRows* found) const {
    if (!as_properties_) return OkStatus();
    Column objects(Column::Kind::kValue);
    const NameTable& names = host_->view().schema().keys;
    for (size_t i = 0; i < found->rows.size(); ++i) {
      const uint32_t element = found->rows[i];
      if (vertices) {
        ASSIGN_OR_RETURN(
            const Value object,
            Value::Of(VertexPropertyData{elements.vertices[element], names.Name(found->keys[i]),
                                         found->values.Get(i)}));
        objects.Append(object);
      } else {
        ASSIGN_OR_RETURN(const Value object,
                         Value::Of(PropertyData{elements.edges[element], names.Name(found->keys[i]),
                                                found->values.Get(i)}));
        objects.Append(object);
      }
    }
    found->values = std::move(objects);
    return OkStatus();
  }

  Status Merge(const ElementRows& elements, storage::PropertyRows* of_vertices,
               storage::PropertyRows* of_edges, OpOutput* output) const {
    RETURN_IF_ERROR(Objects(elements, true, of_vertices));
    RETURN_IF_ERROR(Objects(elements, false, of_edges));
    size_t v = 0, e = 0;
    while (v < of_vertices->rows.size() || e < of_edges->rows.size()) {
      const uint32_t vertex_row =
          v < of_vertices->rows.size() ? elements.vertex_rows[of_vertices->rows[v]] : UINT32_MAX;
      const uint32_t edge_row =
          e < of_edges->rows.size() ? elements.edge_rows[of_edges->rows[e]] : UINT32_MAX;
      if (vertex_row < edge_row) {
        output->origin.push_back(vertex_row);
        output->column.AppendFrom(of_vertices->values, v++);
      } else {
        output->origin.push_back(edge_row);
        output->column.AppendFrom(of_edges->values, e++);
      }
    }
    return OkStatus();
  }

  OperatorHost* const host_;
  const bool as_properties_;
  bool none_ = false;
  std::vector<KeyId> keys_;
  ElementRows elements_;            // of the input
  uint32_t row_ = 0;                // of which so many rows have been read,
  uint32_t num_rows_ = kFirstRows;  // and next so many
  OpOutput found_;                  // the properties read that have not all come out,
  size_t next_ = 0;                 // and how many have
  size_t row_limit_ = 0;            // of them, in a batch
  int64_t charged_ = 0;
};

}  // namespace

OperatorBundle MakeExpand(const plan::Expand& op, OperatorHost* host) {
  if (op.other_than_slot() != 0) return MakeCountOthers(op, host);
  OperatorBundle bundle;
  bundle.stream = std::make_unique<ExpandOp>(op, host);
  return bundle;
}

OperatorBundle MakeEdgeEnd(const plan::EdgeEnd& op) {
  OperatorBundle bundle;
  bundle.stream = std::make_unique<EdgeEndOp>(op);
  return bundle;
}

OperatorBundle MakeFetch(const plan::Fetch& op, OperatorHost* host) {
  OperatorBundle bundle;
  bundle.stream = std::make_unique<FetchOp>(op, host);
  return bundle;
}

}  // namespace koios::engine
