#include "engine/expr/detached_functions.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "core/memory/parted_table.h"
#include "engine/account/call_work.h"
#include "engine/expr/each_row.h"
#include "engine/expr/element_functions.h"
#include "engine/expr/made_value.h"
#include "engine/expr/members_in.h"
#include "engine/result/element_ids.h"
#include "engine/result/element_resolver.h"
#include "engine/result/seen_elements.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;
using Maybe = StatusOr<std::optional<Value>>;

// A value is gone along by itself where it is large, else it is one look.
bool IsLarge(const Value& value) {
  constexpr size_t kLargeBytes = 4 << 10;
  return (value.is_collection() || value.kind() == ValueKind::kMap) &&
         value.FlatBytes() > kLargeBytes;
}

// The vertices and edges in a value, the ends of its edges, and the owners of its properties, each
// once.
class ElementsIn {
 public:
  ElementsIn(Value value, const storage::GraphView* view) : value_(std::move(value)), view_(view) {}

  StatusOr<bool> Step(size_t* work) {
    if (!is_begun_) RETURN_IF_ERROR(Look(value_, work));
    is_begun_ = true;
    while (!open_.empty()) {
      if (*work == 0) return false;
      At& at = open_.back();
      if (at.next < NumIn(*at.value)) {
        RETURN_IF_ERROR(Look(MemberIn(*at.value, at.next++), work));
      } else {
        open_.pop_back();
      }
    }
    if (!found_.Gather(work)) return false;
    if (room_.bytes < kFew) return true;
    return (vertices_.empty() || Free(&vertices_, work)) && (edges_.empty() || Free(&edges_, work));
  }
  size_t HeldBytes() const { return found_.HeldBytes() + static_cast<size_t>(room_.bytes); }
  StatusOr<Value> Result() { return found_.Take(ValueKind::kList); }

 private:
  struct At {
    const Value* value;
    size_t next;
  };
  using Known = PartedTable<absl::flat_hash_set<uint64_t>>;
  static constexpr int64_t kFew = 1 << 20;  // bytes, which are freed at once

  Status Look(const Value& value, size_t* work) {
    if (IsLarge(value)) {
      open_.push_back({&value, 0});
      return OkStatus();
    }
    Spend(value, work);
    switch (value.kind()) {
      case ValueKind::kVertex:
        return Add(value.AsVertex(), work);
      case ValueKind::kEdge:
        return Add(value.AsEdge(), work);
      case ValueKind::kVertexProperty:
      case ValueKind::kPath:
      case ValueKind::kList:
      case ValueKind::kSet:
      case ValueKind::kMap:
        break;
      default:
        return OkStatus();  // without references
    }
    ElementResolver seen(*view_, /*materialize=*/false);
    ElementIds ordered(*view_);
    seen.Collect(value);
    ordered.Collect(value);
    for (const auto& some : {seen.vertices(), ordered.vertices()}) {
      for (const VertexRef vertex : some) RETURN_IF_ERROR(Add(vertex, work));
    }
    for (const auto& some : {seen.edges(), ordered.edges()}) {
      for (const EdgeRef& edge : some) RETURN_IF_ERROR(Add(edge, work));
    }
    return OkStatus();
  }
  Status Add(VertexRef vertex, size_t* work) {
    return AddNew(vertex.bits, Value::Of(vertex), &vertices_, work);
  }
  Status Add(const EdgeRef& edge, size_t* work) {
    RETURN_IF_ERROR(Add(edge.out, work));
    RETURN_IF_ERROR(Add(edge.in, work));
    return AddNew(edge.id, Value::Of(edge), &edges_, work);
  }
  Status AddNew(uint64_t key, Value value, Known* known, size_t* work) {
    constexpr size_t kWorkOfLook = 3, kWorkOfNew = 4;
    *work -= std::min(*work, kWorkOfLook);
    if (known->Contains(key)) return OkStatus();
    *work -= std::min(*work, kWorkOfNew);
    ASSIGN_OR_RETURN(const size_t moved, known->MakeRoom(key, &room_));
    SpendMoved(moved, work);
    known->Emplace(key);
    found_.Add(std::move(value));
    return OkStatus();
  }
  static bool Free(Known* known, size_t* work) {
    constexpr size_t kWorkOfShare = 1 << 8;
    for (int64_t freed = 0; *work > 0;) {
      *work -= std::min(*work, kWorkOfShare);
      if (known->FreeSome(&freed)) return true;
    }
    return false;
  }

  const Value value_;
  const storage::GraphView* view_;
  bool is_begun_ = false;
  std::vector<At> open_;  // as deep as values are
  Known vertices_, edges_;
  MadeList found_;
  Counted room_;
};

// elements_in(value): as a list.
Status ElementsInFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachValueInParts<ElementsIn>(context, args, out, context.view);
}

// Properties of the elements in some rows, put into `found` of these.
void PutProperties(const Schema& schema, const storage::PropertyRows& properties,
                   std::span<const uint32_t> rows, std::vector<ElementData>* found) {
  for (size_t i = 0; i < properties.rows.size(); ++i) {
    (*found)[rows[properties.rows[i]]].properties.emplace_back(
        Value::String(schema.keys.Name(properties.keys[i])), properties.values.Get(i));
  }
}

// detached(element, whole): the reference, and the element with its id and label; whole: with its
// properties.
Status DetachedFunction(const EvalContext& context, const Args& args, Operand* out) {
  const ElementRows elements = ElementRows::Of(*args[0], context.rows);
  const Schema& schema = context.view->schema();
  Column vertex_ids, edge_ids;
  std::vector<LabelId> labels;
  RETURN_IF_ERROR(context.view->VertexIds(elements.vertices, &vertex_ids));
  RETURN_IF_ERROR(context.view->VertexLabels(elements.vertices, &labels));
  RETURN_IF_ERROR(context.view->EdgeIds(elements.edges, &edge_ids));
  std::vector<ElementData> found(context.rows);
  for (size_t i = 0; i < elements.vertices.size(); ++i) {
    ElementData& element = found[elements.vertex_rows[i]];
    element.id = vertex_ids.Get(i);
    if (labels[i] != kNoName) element.label = schema.labels.Name(labels[i]);
  }
  for (size_t i = 0; i < elements.edges.size(); ++i) {
    ElementData& element = found[elements.edge_rows[i]];
    element.type = ElementData::Type::kEdge;
    element.id = edge_ids.Get(i);
    element.label = schema.labels.Name(elements.edges[i].label);
  }
  if (args[1]->constant.AsBool()) {
    storage::PropertyRows of_vertices, of_edges;
    RETURN_IF_ERROR(
        context.view->ReadVertexProperties(elements.vertices, {}, context.reads, &of_vertices));
    RETURN_IF_ERROR(context.view->ReadEdgeProperties(elements.edges, {}, context.reads, &of_edges));
    PutProperties(schema, of_vertices, elements.vertex_rows, &found);
    PutProperties(schema, of_edges, elements.edge_rows, &found);
  }
  Column pairs;  // of what was read: the budget of reads is their bound
  for (size_t row = 0; row < context.rows; ++row) {
    ASSIGN_OR_RETURN(Value element, Value::Of(std::move(found[row])));
    ASSIGN_OR_RETURN(const Value pair, Value::List({args[0]->Get(row), std::move(element)}));
    pairs.Append(pair);
  }
  out->Own(std::move(pairs));
  return OkStatus();
}

// The value with these in place of its references, as results show them.
class ValueAsSeen {
 public:
  ValueAsSeen(Value value, Value detached, const Schema* schema)
      : value_(std::move(value)), detached_(std::move(detached)), schema_(schema) {}

  StatusOr<bool> Step(size_t* work) {
    if (!detached_.is_collection()) return Internal("What stands for elements must be a list.");
    const ValueList& all = detached_.AsList();
    for (; num_loaded_ < all.size(); ++num_loaded_) {
      if (*work == 0) return false;
      *work -= std::min(*work, kWorkOfElement);
      RETURN_IF_ERROR(elements_.Add(all[num_loaded_], work));
    }
    if (!is_begun_) {
      is_begun_ = true;
      // Without elements it is as it was, whatever its size.
      if (all.empty()) {
        result_ = value_;
      } else {
        RETURN_IF_ERROR(Put(value_));
      }
    }
    while (!open_.empty()) {
      if (*work == 0) return false;
      RETURN_IF_ERROR(Proceed(work));
    }
    return elements_.Free(work);
  }
  size_t HeldBytes() const {
    size_t bytes = elements_.HeldBytes() + made_bytes_;
    for (const Open& open : open_) bytes += open.members.HeldBytes() + open.entries.HeldBytes();
    return bytes;
  }
  StatusOr<Value> Result() { return std::move(result_); }

 private:
  static constexpr size_t kWorkOfElement = 9;  // a look at it, and at its place in a table

  // A large value in the making.
  struct Open {
    const Value* value;
    size_t next = 0;
    MadeList members;
    MadeMap entries;
    std::optional<Value> key;  // of the next entry
  };

  Status Put(const Value& value) {
    if (IsLarge(value)) {
      open_.push_back({&value, 0, {}, {}, {}});
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Value seen, WithElements(value, *schema_, &elements_));
    made_bytes_ += seen.ByteSize() - sizeof(Value);
    Deliver(std::move(seen));
    return OkStatus();
  }
  void Deliver(Value seen) {
    if (open_.empty()) {
      result_ = std::move(seen);
      return;
    }
    Open& open = open_.back();
    if (open.value->is_collection()) {
      open.members.Add(std::move(seen));
    } else if (!open.key.has_value()) {
      open.key = std::move(seen);
    } else {
      open.entries.Add({*std::move(open.key), std::move(seen)});
      open.key.reset();
    }
  }
  // With the innermost one.
  Status Proceed(size_t* work) {
    Open& open = open_.back();
    const size_t depth = open_.size();
    while (open.next < NumIn(*open.value)) {
      if (*work == 0) return OkStatus();
      *work -= std::min(*work, kWorkOfElement);
      const Value& member = MemberIn(*open.value, open.next++);
      if (!IsLarge(member)) Spend(member, work);
      RETURN_IF_ERROR(Put(member));
      if (open_.size() != depth) return OkStatus();
    }
    const bool is_map = !open.value->is_collection();
    if (!(is_map ? open.entries.Gather(work) : open.members.Gather(work))) return OkStatus();
    ASSIGN_OR_RETURN(Value seen, is_map ? open.entries.Take(ValueKind::kMap)
                                        : open.members.Take(open.value->kind()));
    open_.pop_back();
    Deliver(std::move(seen));
    return OkStatus();
  }

  const Value value_, detached_;
  const Schema* schema_;
  size_t num_loaded_ = 0;
  bool is_begun_ = false;
  SeenElements elements_;
  std::vector<Open> open_;  // as deep as values are
  size_t made_bytes_ = 0;
  Value result_;
};

// as_seen(value, detached)
Status AsSeenFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRowInParts<ValueAsSeen>(
      context, out, [&](size_t row, std::optional<ValueAsSeen>* part) -> Status {
        return BeginPart(part, args[0]->Get(row), args[1]->Get(row), &context.view->schema());
      });
}

// as_ordered(value, detached): the value with the ids of these in place of its references, as
// values are put in order.
Status AsOrderedFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Value value = args[0]->Get(row);
    const Value detached = args[1]->Get(row);
    if (!detached.is_collection()) return Internal("What stands for elements must be a list.");
    ElementIds ids(*context.view);
    RETURN_IF_ERROR(ids.LoadFrom(detached.AsList()));
    ASSIGN_OR_RETURN(Value replaced, ids.Resolve(value));
    return replaced;
  });
}

}  // namespace

const std::vector<ScalarKernel>& DetachedFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"elements_in", ElementsInFunction},
      {"detached", DetachedFunction},
      {"as_seen", AsSeenFunction},
      {"as_ordered", AsOrderedFunction},
  };
  return kFunctions;
}

}  // namespace koios::engine
