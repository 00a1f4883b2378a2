#include "engine/op/mutate_ops.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/expr/each_row.h"
#include "engine/op/state/row_input.h"

namespace koios::engine {
namespace {

// The key and value of each row.
struct PropertyInput {
  RowInput key;
  RowInput value;

  static StatusOr<PropertyInput> Bind(const plan::PropertyExpr& property, uint32_t num_slots,
                                      OperatorHost* host) {
    PropertyInput input;
    ASSIGN_OR_RETURN(input.key, RowInput::Bind(property.key(), num_slots, host));
    ASSIGN_OR_RETURN(input.value, RowInput::Bind(property.value(), num_slots, host));
    return input;
  }
  Status Evaluate(const Batch& batch, const EvalSources& sources) {
    RETURN_IF_ERROR(key.Evaluate(batch, sources));
    return value.Evaluate(batch, sources);
  }
  StatusOr<std::pair<std::string, Value>> At(size_t row) const {
    if (!key.Present(row) || key.Get(row).kind() != ValueKind::kString) {
      return InvalidArgument("The key of a property must be a string.");
    }
    std::string name = key.Get(row).AsString();
    if (!value.Present(row)) {
      return InvalidArgument("The traversal for the property \"" + name + "\" gives no value.");
    }
    return std::pair(std::move(name), value.Get(row));
  }
};

std::string WhatIs(const RowInput& input, size_t row) {
  if (!input.Present(row)) return "nothing";
  const Value value = input.Get(row);
  return value.is_null() ? "null" : "a " + std::string(KindName(value.kind()));
}

// Adds an element for each traverser: a row of bulk n becomes n rows.
class AddOp : public StreamOperator {
 public:
  explicit AddOp(OperatorHost* host) : host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    if (row_ == portion_.end()) {
      const auto evaluate = [this](const Batch& rows, const EvalSources& sources) {
        return EvaluateAll(rows, sources);
      };
      RETURN_IF_ERROR(portion_.Next(input, host_->sources(), evaluate));
    }
    output->slot = 0;
    output->has_bulk = true;
    RowsOfCall call(&host_->clock());
    while (row_ < portion_.end() && output->origin.size() < output->limit && !call.IsOver()) {
      RETURN_IF_ERROR(AddFor(row_ - portion_.begin(), &output->column));
      output->origin.push_back(static_cast<uint32_t>(row_));
      output->bulk.push_back(1);
      if (++copy_ < input.BulkAt(row_)) continue;
      copy_ = 0;
      ++row_;
    }
    *done = row_ == input.rows;
    if (*done) {
      row_ = 0;
      portion_.Restart();
    }
    return OkStatus();
  }

 protected:
  // For AddFor and Add below, whose rows are those of the portion.
  virtual Status EvaluateEnds(const Batch&, const EvalSources&) { return OkStatus(); }
  virtual Status Add(size_t row, const std::string& label, const std::optional<Value>& id,
                     const storage::PropertyList& properties, Column* column) = 0;

  template <typename Op>
  Status BindAll(const Op& op, uint32_t num_slots) {
    ASSIGN_OR_RETURN(label_, RowInput::Bind(op.label(), num_slots, host_));
    has_id_ = op.id().nodes_size() > 0;
    if (has_id_) {
      ASSIGN_OR_RETURN(id_, RowInput::Bind(op.id(), num_slots, host_));
    }
    for (const plan::PropertyExpr& property : op.properties()) {
      ASSIGN_OR_RETURN(PropertyInput bound, PropertyInput::Bind(property, num_slots, host_));
      properties_.push_back(std::move(bound));
    }
    return OkStatus();
  }

  OperatorHost* const host_;

 private:
  Status EvaluateAll(const Batch& rows, const EvalSources& sources) {
    RETURN_IF_ERROR(label_.Evaluate(rows, sources));
    if (has_id_) RETURN_IF_ERROR(id_.Evaluate(rows, sources));
    for (PropertyInput& property : properties_) RETURN_IF_ERROR(property.Evaluate(rows, sources));
    return EvaluateEnds(rows, sources);
  }
  Status AddFor(size_t row, Column* column) {
    if (!label_.Present(row) || label_.Get(row).kind() != ValueKind::kString) {
      return InvalidArgument("A label must be a string, not " + WhatIs(label_, row) + ".");
    }
    std::optional<Value> id;
    if (has_id_) {
      if (!id_.Present(row)) return InvalidArgument("The traversal for the id gives no value.");
      id = id_.Get(row);
    }
    storage::PropertyList properties;
    for (const PropertyInput& property : properties_) {
      ASSIGN_OR_RETURN(auto at, property.At(row));
      properties.push_back(std::move(at));
    }
    return Add(row, label_.Get(row).AsString(), id, properties, column);
  }

  RowInput label_;
  bool has_id_ = false;
  RowInput id_;
  std::vector<PropertyInput> properties_;
  Portion portion_;
  size_t row_ = 0;    // of the input
  int64_t copy_ = 0;  // how many of the row's bulk are done
};

class AddVertexOp : public AddOp {
 public:
  using AddOp::AddOp;
  Status Open(const plan::AddVertex& op, uint32_t num_slots) { return BindAll(op, num_slots); }

 protected:
  Status Add(size_t, const std::string& label, const std::optional<Value>& id,
             const storage::PropertyList& properties, Column* column) override {
    ASSIGN_OR_RETURN(const VertexRef vertex,
                     host_->transaction()->AddVertex(label, id, properties));
    column->AppendVertex(vertex);
    return OkStatus();
  }
};

class AddEdgeOp : public AddOp {
 public:
  using AddOp::AddOp;
  Status Open(const plan::AddEdge& op, uint32_t num_slots) {
    whole_ = op.part() == plan::AddEdge::WHOLE;
    RETURN_IF_ERROR(BindAll(op, num_slots));
    ASSIGN_OR_RETURN(out_, RowInput::Bind(op.out_vertex(), num_slots, host_));
    ASSIGN_OR_RETURN(in_, RowInput::Bind(op.in_vertex(), num_slots, host_));
    return OkStatus();
  }

 protected:
  Status EvaluateEnds(const Batch& batch, const EvalSources& sources) override {
    RETURN_IF_ERROR(out_.Evaluate(batch, sources));
    return in_.Evaluate(batch, sources);
  }
  Status Add(size_t row, const std::string& label, const std::optional<Value>& id,
             const storage::PropertyList& properties, Column* column) override {
    ASSIGN_OR_RETURN(const VertexRef out, EndAt(out_, row, label, "from"));
    ASSIGN_OR_RETURN(const VertexRef in, EndAt(in_, row, label, "to"));
    storage::Transaction* const to = host_->transaction();
    ASSIGN_OR_RETURN(const EdgeRef edge, whole_ ? to->AddEdge(out, in, label, id, properties)
                                                : to->AddEdgeAtOut(out, in, label, id, properties));
    column->AppendEdge(edge);
    return OkStatus();
  }

 private:
  static StatusOr<VertexRef> EndAt(const RowInput& input, size_t row, const std::string& label,
                                   const std::string& which) {
    if (input.Present(row) && input.Get(row).kind() == ValueKind::kVertex) {
      return input.Get(row).AsVertex();
    }
    return InvalidArgument("The value given to addE(" + label + ")." + which +
                           "() must resolve to a Vertex but " + WhatIs(input, row) +
                           " was specified instead.");
  }

  bool whole_ = true;
  RowInput out_, in_;
};

// What is left to do of an added edge, at its in vertex and where its id is.
class EdgePartOp : public StreamOperator {
 public:
  EdgePartOp(bool at_in, RowInput id, OperatorHost* host)
      : at_in_(at_in), id_(std::move(id)), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    const auto evaluate = [this](const Batch& rows, const EvalSources& sources) {
      return at_in_ ? OkStatus() : id_.Evaluate(rows, sources);
    };
    const auto change = [&](size_t row, size_t place) -> Status {
      const Value edge = input.slots[0].Get(row);
      if (edge.kind() != ValueKind::kEdge) return Internal("A part of an edge has no edge.");
      return at_in_ ? host_->transaction()->AddEdgeAtIn(edge.AsEdge())
                    : host_->transaction()->NoteEdgeId(edge.AsEdge(), id_.Get(place));
    };
    ASSIGN_OR_RETURN(*done, changes_.Go(input, host_, evaluate, change));
    output->identity = *done;
    return OkStatus();
  }

 private:
  const bool at_in_;
  RowInput id_;
  OperatorHost* const host_;
  ChangesOfBatch changes_;
};

class SetPropertyOp : public StreamOperator {
 public:
  SetPropertyOp(PropertyInput property, OperatorHost* host)
      : property_(std::move(property)), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    const auto evaluate = [this](const Batch& rows, const EvalSources& sources) {
      return property_.Evaluate(rows, sources);
    };
    const auto change = [&](size_t row, size_t place) -> Status {
      ASSIGN_OR_RETURN(const auto property, property_.At(place));
      return Set(input.slots[0].Get(row), property.first, property.second);
    };
    ASSIGN_OR_RETURN(*done, changes_.Go(input, host_, evaluate, change));
    output->identity = *done;
    return OkStatus();
  }

 private:
  Status Set(const Value& element, const std::string& key, const Value& value) {
    storage::Transaction* const to = host_->transaction();
    if (element.kind() == ValueKind::kVertex) {
      return to->SetProperty(element.AsVertex(), key, value);
    }
    if (element.kind() == ValueKind::kEdge) return to->SetProperty(element.AsEdge(), key, value);
    if (element.kind() == ValueKind::kVertexProperty) {
      ErrorDetail detail;
      detail.reason = "STEP_NOT_THERE_YET";
      return Unimplemented("Properties of properties are not there yet.", detail);
    }
    return InvalidArgument("Only vertices and edges have properties; this is a " +
                           std::string(KindName(element.kind())) + ".");
  }

  PropertyInput property_;
  OperatorHost* const host_;
  ChangesOfBatch changes_;
};

// An edge or a property.
Status DropOne(const Value& value, storage::Transaction* transaction) {
  Status status;
  switch (value.kind()) {
    case ValueKind::kEdge:
      return transaction->DropEdge(value.AsEdge());
    case ValueKind::kVertexProperty:
      status = transaction->SetProperty(value.AsVertexProperty().owner,
                                        value.AsVertexProperty().key, Value::Null());
      break;
    case ValueKind::kProperty:
      status = transaction->SetProperty(value.AsProperty().owner, value.AsProperty().key, Value());
      break;
    default:
      return InvalidArgument("drop() removes vertices, edges and properties, not a " +
                             std::string(KindName(value.kind())) + ".");
  }
  // A property of what is dropped already is dropped.
  return status.code() == StatusCode::kFailedPrecondition ? OkStatus() : status;
}

// A vertex with many edges takes many calls.
class DropOp : public StreamOperator {
 public:
  explicit DropOp(OperatorHost* host) : host_(host) {}

  Status Process(const Batch& input, OpOutput*, bool* done) override {
    storage::Transaction* transaction = host_->transaction();
    RowsOfCall call(&host_->clock(), /*rows_per_look=*/1);
    int pieces = 0;
    for (bool is_over = false; row_ < input.rows && !is_over;
         is_over = pieces == kPiecesPerCall || call.IsOver()) {
      const Value value = input.slots[0].Get(row_);
      if (value.kind() == ValueKind::kVertex) {
        ++pieces;
        RETURN_IF_ERROR(transaction->DropVertex(value.AsVertex(), &vertex_));
        if (!vertex_.done) continue;
        vertex_ = {};
      } else {
        RETURN_IF_ERROR(DropOne(value, transaction));
      }
      ++row_;
    }
    *done = row_ == input.rows;
    if (*done) row_ = 0;
    return OkStatus();
  }

 private:
  static constexpr int kPiecesPerCall = 16;  // vertices, or parts of those with many edges

  OperatorHost* const host_;
  size_t row_ = 0;                           // of the input
  storage::Transaction::DropCursor vertex_;  // of that row, when it is a vertex
};

// At the element's owner: gives the edges that are removed, which is an edge itself, or all of a
// vertex, some per call.
class DropHereOp : public StreamOperator {
 public:
  explicit DropHereOp(OperatorHost* host) : host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    storage::Transaction* transaction = host_->transaction();
    output->slot = 0;
    for (int pieces = 0; row_ < input.rows && output->origin.size() < output->limit;) {
      const Value value = input.slots[0].Get(row_);
      if (value.kind() == ValueKind::kVertex) {
        Give(output);
        if (next_ < edges_.size() || pieces++ == kPiecesPerCall) break;
        if (!vertex_.done) {
          edges_.clear();
          next_ = 0;
          RETURN_IF_ERROR(transaction->DropVertexHere(value.AsVertex(), &vertex_, &edges_));
          continue;
        }
        vertex_ = {};
      } else if (value.kind() == ValueKind::kEdge) {
        output->origin.push_back(static_cast<uint32_t>(row_));
        output->column.Append(value);
      } else {
        RETURN_IF_ERROR(DropOne(value, transaction));
      }
      ++row_;
    }
    *done = row_ == input.rows;
    if (*done) row_ = 0;
    return OkStatus();
  }

 private:
  static constexpr int kPiecesPerCall = 16;

  void Give(OpOutput* output) {
    for (; next_ < edges_.size() && output->origin.size() < output->limit; ++next_) {
      output->origin.push_back(static_cast<uint32_t>(row_));
      output->column.AppendEdge(edges_[next_]);
    }
  }

  OperatorHost* const host_;
  size_t row_ = 0;                           // of the input
  storage::Transaction::DropCursor vertex_;  // of that row, when it is a vertex
  std::vector<EdgeRef> edges_;               // of it
  size_t next_ = 0;                          // of edges_
};

// At an edge's ends. Only at its out vertex it is removed, unless that goes with a vertex.
class DropEndOp : public StreamOperator {
 public:
  DropEndOp(const plan::Drop& op, OperatorHost* host)
      : at_out_(op.part() == plan::Drop::AT_OUT), of_slot_(op.of_slot()), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    const auto evaluate = [](const Batch&, const EvalSources&) { return OkStatus(); };
    const auto change = [&](size_t row, size_t) -> Status {
      const Value edge = input.slots[0].Get(row);
      if (edge.kind() != ValueKind::kEdge) return Internal("A part of a drop has no edge.");
      const bool itself = at_out_ && input.slots[of_slot_].Get(row).kind() == ValueKind::kEdge;
      storage::Transaction* const transaction = host_->transaction();
      return itself ? transaction->DropEdge(edge.AsEdge()) : transaction->HideEdge(edge.AsEdge());
    };
    ASSIGN_OR_RETURN(*done, changes_.Go(input, host_, evaluate, change));
    output->identity = *done && at_out_;
    return OkStatus();
  }

 private:
  const bool at_out_;
  const uint32_t of_slot_;
  OperatorHost* const host_;
  ChangesOfBatch changes_;
};

class GuardOp : public StreamOperator {
 public:
  GuardOp(const plan::Guard& op, RowInput value, OperatorHost* host)
      : label_(op.label()), key_(op.key()), value_(std::move(value)), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    const auto evaluate = [this](const Batch& rows, const EvalSources& sources) {
      return value_.Evaluate(rows, sources);
    };
    ASSIGN_OR_RETURN(*done, changes_.Go(input, host_, evaluate, [this](size_t, size_t at) {
      return value_.is_constant() && at > 0 ? OkStatus() : Guard(at);  // the same guard once
    }));
    output->identity = *done;
    return OkStatus();
  }

 private:
  Status Guard(size_t row) {
    if (!value_.Present(row)) return OkStatus();
    storage::LookupGuard guard;
    if (!label_.empty()) guard.label = label_;
    guard.key = key_;
    guard.value = value_.Get(row);
    return host_->transaction()->GuardLookup(std::move(guard));
  }

  const std::string label_, key_;
  RowInput value_;
  ChangesOfBatch changes_;
  OperatorHost* const host_;
};

// Looks at edges, vertex by vertex.
class GuardAdjacencyOp : public StreamOperator {
 public:
  GuardAdjacencyOp(const plan::Guard& op, OperatorHost* host)
      : direction_(static_cast<Direction>(op.direction())),
        labels_(op.labels().begin(), op.labels().end()),
        has_neighbour_(op.neighbour().nodes_size() > 0),
        host_(host) {}

  Status Open(const plan::Guard& op, uint32_t num_slots) {
    ASSIGN_OR_RETURN(vertex_, RowInput::Bind(op.vertex(), num_slots, host_));
    if (!has_neighbour_) return OkStatus();
    ASSIGN_OR_RETURN(neighbour_, RowInput::Bind(op.neighbour(), num_slots, host_));
    return OkStatus();
  }

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    if (!goes_on_) {
      RETURN_IF_ERROR(vertex_.Evaluate(input, host_->sources()));
      if (has_neighbour_) RETURN_IF_ERROR(neighbour_.Evaluate(input, host_->sources()));
      goes_on_ = true;
      row_ = 0;
    }
    const size_t rows = vertex_.is_constant() && !has_neighbour_ ? 1 : input.rows;
    RowsOfCall call(&host_->clock());
    while (row_ < rows && !call.IsOver()) {
      ASSIGN_OR_RETURN(const bool guarded, GuardRow(row_, &call));
      if (guarded) ++row_;
    }
    *done = row_ == rows;
    goes_on_ = !*done;
    if (*done) of_list_ = {};
    output->identity = *done;
    return OkStatus();
  }
  size_t HeldBytes() const override { return of_list_.found.capacity() * sizeof(VertexRef); }

 private:
  // A list of neighbours: vertices, or ids to look up.
  struct OfList {
    Value list;
    size_t next = 0;  // of the list, to look up
    std::vector<VertexRef> found;
    size_t num_guarded = 0;  // of these
  };

  // True: all of the row.
  StatusOr<bool> GuardRow(size_t row, RowsOfCall* call) {
    if (!vertex_.Present(row) || vertex_.Get(row).kind() != ValueKind::kVertex) return true;
    const VertexRef vertex = vertex_.Get(row).AsVertex();
    if (has_neighbour_ && !neighbour_.Present(row)) return true;
    const Value neighbour = has_neighbour_ ? neighbour_.Get(row) : Value();
    if (neighbour.is_collection()) return GuardList(vertex, neighbour, call);
    std::optional<VertexRef> one;
    if (neighbour.kind() == ValueKind::kVertex) one = neighbour.AsVertex();
    RETURN_IF_ERROR(Guard(vertex, one));
    return true;
  }

  // A list that the next row has as well is looked up once.
  StatusOr<bool> GuardList(VertexRef vertex, const Value& list, RowsOfCall* call) {
    if (!of_list_.list.SharesWith(list)) {
      of_list_ = {};
      of_list_.list = list;
    }
    while (of_list_.next < list.AsList().size()) {
      RETURN_IF_ERROR(FindSome());
      if (call->IsOver()) return false;
    }
    while (of_list_.num_guarded < of_list_.found.size()) {
      RETURN_IF_ERROR(Guard(vertex, of_list_.found[of_list_.num_guarded++]));
      if (call->IsOver()) return false;
    }
    of_list_.num_guarded = 0;
    return true;
  }

  Status FindSome() {
    constexpr size_t kFew = 64;
    std::vector<Value> ids;
    const ValueList& list = of_list_.list.AsList();
    const size_t end = std::min(list.size(), of_list_.next + kFew);
    for (size_t& i = of_list_.next; i < end; ++i) {
      if (list[i].kind() == ValueKind::kVertex) {
        of_list_.found.push_back(list[i].AsVertex());
      } else {
        ids.push_back(list[i]);
      }
    }
    if (ids.empty()) return OkStatus();
    std::vector<uint32_t> rows;
    return host_->transaction()->LookupVertices(ids, &rows, &of_list_.found);
  }

  Status Guard(VertexRef vertex, std::optional<VertexRef> neighbour) {
    return host_->transaction()->GuardAdjacency(vertex, direction_, labels_, neighbour);
  }

  const Direction direction_;
  const std::vector<std::string> labels_;
  const bool has_neighbour_;
  RowInput vertex_, neighbour_;
  bool goes_on_ = false;  // with the same batch, whose rows are evaluated
  size_t row_ = 0;
  OfList of_list_;
  OperatorHost* const host_;
};

// Each batch, so that what nobody comes to is not guarded.
class GuardScanOp : public StreamOperator {
 public:
  GuardScanOp(const plan::Guard& op, OperatorHost* host)
      : edges_(op.look() == plan::Guard::EDGE_SCAN),
        labels_(op.labels().begin(), op.labels().end()),
        host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    *done = true;
    output->identity = true;
    if (input.rows == 0) return OkStatus();
    storage::Transaction* transaction = host_->transaction();
    return edges_ ? transaction->GuardEdgeScan(labels_) : transaction->GuardVertexScan(labels_);
  }

  bool keeps_cursor() const override { return false; }

 private:
  const bool edges_;
  const std::vector<std::string> labels_;
  OperatorHost* const host_;
};

Status CheckHost(OperatorHost* host) {
  return host->transaction() != nullptr ? OkStatus()
                                        : Internal("A query that changes nothing has a change.");
}

OperatorBundle StreamOf(std::unique_ptr<StreamOperator> op) {
  OperatorBundle bundle;
  bundle.stream = std::move(op);
  return bundle;
}

template <typename Add, typename Message>
StatusOr<OperatorBundle> MakeAdd(const Message& op, uint32_t num_slots, OperatorHost* host) {
  RETURN_IF_ERROR(CheckHost(host));
  auto add = std::make_unique<Add>(host);
  RETURN_IF_ERROR(add->Open(op, num_slots));
  return StreamOf(std::move(add));
}

}  // namespace

StatusOr<OperatorBundle> MakeAddVertex(const plan::AddVertex& op, uint32_t num_slots,
                                       OperatorHost* host) {
  return MakeAdd<AddVertexOp>(op, num_slots, host);
}

StatusOr<OperatorBundle> MakeAddEdge(const plan::AddEdge& op, uint32_t num_slots,
                                     OperatorHost* host) {
  if (op.part() == plan::AddEdge::AT_IN || op.part() == plan::AddEdge::AT_ID) {
    RETURN_IF_ERROR(CheckHost(host));
    const bool at_in = op.part() == plan::AddEdge::AT_IN;
    RowInput id;
    if (!at_in) {
      ASSIGN_OR_RETURN(id, RowInput::Bind(op.id(), num_slots, host));
    }
    return StreamOf(std::make_unique<EdgePartOp>(at_in, std::move(id), host));
  }
  return MakeAdd<AddEdgeOp>(op, num_slots, host);
}

StatusOr<OperatorBundle> MakeSetProperty(const plan::SetProperty& op, uint32_t num_slots,
                                         OperatorHost* host) {
  RETURN_IF_ERROR(CheckHost(host));
  ASSIGN_OR_RETURN(PropertyInput property, PropertyInput::Bind(op.property(), num_slots, host));
  return StreamOf(std::make_unique<SetPropertyOp>(std::move(property), host));
}

StatusOr<OperatorBundle> MakeDrop(const plan::Drop& op, OperatorHost* host) {
  RETURN_IF_ERROR(CheckHost(host));
  if (op.part() == plan::Drop::AT_ELEMENT) return StreamOf(std::make_unique<DropHereOp>(host));
  if (op.part() != plan::Drop::WHOLE) return StreamOf(std::make_unique<DropEndOp>(op, host));
  return StreamOf(std::make_unique<DropOp>(host));
}

StatusOr<OperatorBundle> MakeGuard(const plan::Guard& op, uint32_t num_slots, OperatorHost* host) {
  RETURN_IF_ERROR(CheckHost(host));
  switch (op.look()) {
    case plan::Guard::VALUE:
      break;
    case plan::Guard::ADJACENCY: {
      auto guard = std::make_unique<GuardAdjacencyOp>(op, host);
      RETURN_IF_ERROR(guard->Open(op, num_slots));
      return StreamOf(std::move(guard));
    }
    case plan::Guard::VERTEX_SCAN:
    case plan::Guard::EDGE_SCAN:
      return StreamOf(std::make_unique<GuardScanOp>(op, host));
    default:
      return Internal("The plan has a guard of an unknown look.");
  }
  ASSIGN_OR_RETURN(RowInput value, RowInput::Bind(op.value(), num_slots, host));
  return StreamOf(std::make_unique<GuardOp>(op, std::move(value), host));
}

}  // namespace koios::engine
