// Functions over elements: property, id, label, key, value, degree, maps of properties.
// All reads are batched: one call of the view per function, sort of element and batch.
#include "engine/expr/element_functions.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "core/value_compare.h"
#include "engine/effect/member_set.h"
#include "engine/expr/call_size.h"
#include "engine/expr/each_row.h"
#include "engine/result/element_resolver.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;

// Spreads `values` (entry i belongs to row rows[i], ascending) over all rows, with presence marks.
void Scatter(Column values, const std::vector<uint32_t>& rows, size_t num_rows, Operand* out) {
  if (rows.empty()) {
    out->is_constant = true;
    out->all_absent = true;
    return;
  }
  if (rows.size() == num_rows) {
    out->Own(std::move(values));
    return;
  }
  // Absent rows repeat a neighbouring entry: any will do, and the column keeps its kind.
  out->present.assign(num_rows, 0);
  std::vector<uint32_t> picked(num_rows, 0);
  size_t next = 0;
  for (size_t row = 0; row < num_rows; ++row) {
    if (next < rows.size() && rows[next] == row) {
      out->present[row] = 1;
      picked[row] = static_cast<uint32_t>(next++);
    }
  }
  out->Own(values.Gather(picked));
}

// Entries of several sorts of elements, put back into row order.
class RowValues {
 public:
  explicit RowValues(size_t num_rows) : values_(num_rows), found_(num_rows, 0) {}
  void Put(uint32_t row, Value value) {
    values_[row] = std::move(value);
    found_[row] = 1;
  }
  size_t ByteSize() const {
    size_t bytes = values_.capacity() * sizeof(Value) + found_.capacity();
    for (const Value& value : values_) bytes += value.ByteSize() - sizeof(Value);
    return bytes;
  }
  void Finish(Operand* out) {
    Column column;
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < values_.size(); ++row) {
      if (found_[row] == 0) continue;
      column.Append(values_[row]);
      rows.push_back(row);
    }
    Scatter(std::move(column), rows, values_.size(), out);
  }

 private:
  std::vector<Value> values_;
  std::vector<uint8_t> found_;
};

// Entries of maps, which may be long: what a call did of them.
struct MapReads : FunctionProgress {
  explicit MapReads(RowValues read) : values(std::move(read)), read_bytes(values.ByteSize()) {}
  // What maps have is theirs.
  size_t HeldBytes() const override { return read_bytes; }

  RowValues values;  // with those of elements, which were read
  size_t read_bytes;
  size_t next = 0;   // of the rows that are no elements
  size_t entry = 0;  // of its map, to look at
};

// True: of all rows.
bool ReadMaps(const std::vector<uint32_t>& rows, const Args& args, MapReads* reads) {
  for (size_t work = kWorkOfCall; reads->next < rows.size(); ++reads->next) {
    const uint32_t row = rows[reads->next];
    const Value value = args[0]->Get(row);
    if (value.kind() != ValueKind::kMap) continue;
    const ValueMap& map = value.AsMap();
    size_t& at = reads->entry;
    for (; at < map.size() && !Equals(map[at].first, args[1]->constant); ++at) {
      if (work-- == 0) return false;
    }
    // It has null under all other keys.
    reads->values.Put(row, at < map.size() ? map[at].second : Value());
    at = 0;
  }
  return true;
}

Status GoOnWithMaps(const EvalContext& context, const std::vector<uint32_t>& rows, const Args& args,
                    Operand* out) {
  auto& reads = static_cast<MapReads&>(**context.progress);
  if (!ReadMaps(rows, args, &reads)) return OkStatus();
  reads.values.Finish(out);
  context.progress->reset();
  return OkStatus();
}

// Batched reads of one property of the operand's elements; kOfMaps: or entry of its maps.
template <bool kOfMaps>
Status PropertyFunction(const EvalContext& context, const Args& args, Operand* out) {
  const std::string& name = args[1]->constant.AsString();
  const KeyId key = context.view->schema().keys.Find(name);
  if (key == kNoName && !kOfMaps) {
    out->is_constant = out->all_absent = true;
    return OkStatus();
  }
  ElementRows elements = ElementRows::Of(*args[0], context.rows);
  if (kOfMaps && *context.progress != nullptr) {
    return GoOnWithMaps(context, elements.other_rows, args, out);
  }
  if (key == kNoName) elements.vertices = {}, elements.edges = {};
  storage::PropertyRows found;
  if (elements.vertices.size() == context.rows && context.rows > 0) {
    RETURN_IF_ERROR(
        context.view->ReadVertexProperties(elements.vertices, {&key, 1}, context.reads, &found));
    Scatter(std::move(found.values), found.rows, context.rows, out);
    return OkStatus();
  }
  if (elements.edges.size() == context.rows) {
    RETURN_IF_ERROR(
        context.view->ReadEdgeProperties(elements.edges, {&key, 1}, context.reads, &found));
    Scatter(std::move(found.values), found.rows, context.rows, out);
    return OkStatus();
  }
  RowValues values(context.rows);
  RETURN_IF_ERROR(
      context.view->ReadVertexProperties(elements.vertices, {&key, 1}, context.reads, &found));
  for (size_t i = 0; i < found.rows.size(); ++i) {
    values.Put(elements.vertex_rows[found.rows[i]], found.values.Get(i));
  }
  found = {};
  RETURN_IF_ERROR(
      context.view->ReadEdgeProperties(elements.edges, {&key, 1}, context.reads, &found));
  for (size_t i = 0; i < found.rows.size(); ++i) {
    values.Put(elements.edge_rows[found.rows[i]], found.values.Get(i));
  }
  if (!kOfMaps || elements.other_rows.empty()) {
    values.Finish(out);
    return OkStatus();
  }
  *context.progress = std::make_unique<MapReads>(std::move(values));
  return GoOnWithMaps(context, elements.other_rows, args, out);
}

// Several properties of the same elements: they are found once.
template <bool kOfMaps>
Status PropertiesTogether(const EvalContext& context, const std::vector<Args>& calls,
                          const std::vector<Operand*>& outs) {
  const ElementRows elements = ElementRows::Of(*calls[0][0], context.rows);
  const bool vertices = elements.vertices.size() == context.rows;
  if (context.rows == 0 || (!vertices && elements.edges.size() != context.rows)) {
    for (size_t i = 0; i < calls.size(); ++i) {
      EvalContext of_call = context;
      std::unique_ptr<FunctionProgress> progress;
      of_call.progress = &progress;
      do {
        RETURN_IF_ERROR(PropertyFunction<kOfMaps>(of_call, calls[i], outs[i]));
      } while (progress != nullptr);
    }
    return OkStatus();
  }
  std::vector<KeyId> keys, of_call;
  for (const Args& args : calls) {
    of_call.push_back(context.view->schema().keys.Find(args[1]->constant.AsString()));
    const bool known = std::find(keys.begin(), keys.end(), of_call.back()) != keys.end();
    if (of_call.back() != kNoName && !known) keys.push_back(of_call.back());
  }
  std::vector<storage::PropertyColumn> found;
  if (vertices) {
    RETURN_IF_ERROR(
        context.view->ReadVertexColumns(elements.vertices, keys, context.reads, &found));
  } else {
    RETURN_IF_ERROR(context.view->ReadEdgeColumns(elements.edges, keys, context.reads, &found));
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto key = std::find(keys.begin(), keys.end(), of_call[i]);
    if (key == keys.end()) {
      outs[i]->is_constant = outs[i]->all_absent = true;
      continue;
    }
    const storage::PropertyColumn& column = found[static_cast<size_t>(key - keys.begin())];
    Scatter(column.values, column.rows, context.rows, outs[i]);
  }
  return OkStatus();
}

Status IdFunction(const EvalContext& context, const Args& args, Operand* out) {
  const ElementRows elements = ElementRows::Of(*args[0], context.rows);
  Column ids;
  if (elements.vertices.size() == context.rows) {
    RETURN_IF_ERROR(context.view->VertexIds(elements.vertices, &ids));
    out->Own(std::move(ids));
    return OkStatus();
  }
  RowValues values(context.rows);
  RETURN_IF_ERROR(context.view->VertexIds(elements.vertices, &ids));
  for (size_t i = 0; i < ids.size(); ++i) values.Put(elements.vertex_rows[i], ids.Get(i));
  ids.Clear();
  RETURN_IF_ERROR(context.view->EdgeIds(elements.edges, &ids));
  for (size_t i = 0; i < ids.size(); ++i) values.Put(elements.edge_rows[i], ids.Get(i));
  for (uint32_t row : elements.other_rows) {
    const Value value = args[0]->Get(row);
    if (value.kind() != ValueKind::kVertexProperty) continue;
    values.Put(row,
               Value::Long(VertexPropertyId(context.view->schema(), value.AsVertexProperty())));
  }
  values.Finish(out);
  return OkStatus();
}

// with_id(x): a vertex or an edge as its id, by which it is compared; other values as they are.
Status WithIdFunction(const EvalContext& context, const Args& args, Operand* out) {
  const ElementRows elements = ElementRows::Of(*args[0], context.rows);
  if (elements.vertices.empty() && elements.edges.empty()) {
    out->is_constant = args[0]->is_constant;
    out->constant = args[0]->constant;
    if (args[0]->column != nullptr) out->Own(*args[0]->column);  // shares its values
    return OkStatus();
  }
  Operand ids;
  RETURN_IF_ERROR(IdFunction(context, args, &ids));
  RowValues values(context.rows);
  for (uint32_t row = 0; row < context.rows; ++row) {
    if (!out->Present(row)) continue;
    const Value value = args[0]->Get(row);
    if (value.kind() != ValueKind::kVertex && value.kind() != ValueKind::kEdge) {
      values.Put(row, value);
      continue;
    }
    ElementData element;
    element.type =
        value.kind() == ValueKind::kVertex ? ElementData::Type::kVertex : ElementData::Type::kEdge;
    element.id = ids.Get(row);
    ASSIGN_OR_RETURN(Value with_id, Value::Of(std::move(element)));
    values.Put(row, std::move(with_id));
  }
  values.Finish(out);
  return OkStatus();
}

const std::string* PropertyKey(const Value& value) {
  if (value.kind() == ValueKind::kVertexProperty) return &value.AsVertexProperty().key;
  if (value.kind() == ValueKind::kProperty) return &value.AsProperty().key;
  return nullptr;
}

Status LabelFunction(const EvalContext& context, const Args& args, Operand* out) {
  const ElementRows elements = ElementRows::Of(*args[0], context.rows);
  const NameTable& names = context.view->schema().labels;
  std::vector<LabelId> labels;
  RETURN_IF_ERROR(context.view->VertexLabels(elements.vertices, &labels));
  RowValues values(context.rows);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == kNoName) continue;
    values.Put(elements.vertex_rows[i], Value::String(names.Name(labels[i])));
  }
  for (size_t i = 0; i < elements.edges.size(); ++i) {
    values.Put(elements.edge_rows[i], Value::String(names.Name(elements.edges[i].label)));
  }
  for (uint32_t row : elements.other_rows) {
    const Value value = args[0]->Get(row);
    if (const std::string* key = PropertyKey(value)) values.Put(row, Value::String(*key));
  }
  values.Finish(out);
  return OkStatus();
}

Status LabelInFunction(const EvalContext& context, const Args& args, Operand* out) {
  const ElementRows elements = ElementRows::Of(*args[0], context.rows);
  std::vector<LabelId> wanted;
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i]->constant.kind() != ValueKind::kString) continue;
    const LabelId label = context.view->schema().labels.Find(args[i]->constant.AsString());
    if (label != kNoName) wanted.push_back(label);
  }
  const auto is_wanted = [&wanted](LabelId label) {
    return std::find(wanted.begin(), wanted.end(), label) != wanted.end();
  };
  std::vector<LabelId> labels;
  RETURN_IF_ERROR(context.view->VertexLabels(elements.vertices, &labels));
  std::vector<uint8_t> result(context.rows, 0);
  for (size_t i = 0; i < labels.size(); ++i) {
    result[elements.vertex_rows[i]] = is_wanted(labels[i]) ? 1 : 0;
  }
  for (size_t i = 0; i < elements.edges.size(); ++i) {
    result[elements.edge_rows[i]] = is_wanted(elements.edges[i].label) ? 1 : 0;
  }
  for (uint32_t row : elements.other_rows) {
    const Value value = args[0]->Get(row);
    const std::string* key = PropertyKey(value);
    for (size_t i = 1; key != nullptr && i < args.size(); ++i) {
      if (Equals(args[i]->constant, Value::String(*key))) result[row] = 1;
    }
  }
  out->Own(Column::OfBools(std::move(result)));
  return OkStatus();
}

template <bool kKey>
Status PropertyPartFunction(const EvalContext& context, const Args& args, Operand* out) {
  RowValues values(context.rows);
  for (uint32_t row = 0; row < context.rows; ++row) {
    if (!out->Present(row)) continue;
    const Value value = args[0]->Get(row);
    if (const std::string* key = PropertyKey(value)) {
      if (kKey) {
        values.Put(row, Value::String(*key));
      } else {
        values.Put(row, value.kind() == ValueKind::kProperty ? value.AsProperty().value
                                                             : value.AsVertexProperty().value);
      }
    }
  }
  values.Finish(out);
  return OkStatus();
}

// Whether looking up `id` finds the element in this row.
StatusOr<bool> Finds(const EvalContext& context, const Value& element, const Value& id) {
  std::vector<uint32_t> rows;
  if (element.kind() == ValueKind::kVertex) {
    std::vector<VertexRef> found;
    RETURN_IF_ERROR(context.view->LookupVertices({&id, 1}, &rows, &found));
    return found.size() == 1 && found[0] == element.AsVertex();
  }
  if (element.kind() != ValueKind::kEdge) return false;
  std::vector<EdgeRef> found;
  RETURN_IF_ERROR(context.view->LookupEdges({&id, 1}, &rows, &found));
  return found.size() == 1 && found[0].id == element.AsEdge().id;
}

// Ids, and whether a string is among them, which might be a decimal.
struct WantedIds {
  MemberSet ids;
  bool has_strings = false;
};

StatusOr<Prepared> PrepareIds(const Value& ids) {
  auto wanted = std::make_shared<WantedIds>();
  for (const Value& id : ids.AsList()) {
    wanted->ids.Add(id);
    wanted->has_strings = wanted->has_strings || id.kind() == ValueKind::kString;
  }
  return Prepared{wanted, wanted->ids.ByteSize()};
}

// has_id(element, [ids]): whether the element has one of these ids. A string that is a canonical
// decimal finds the integer id when no such string id exists, as V("1") does.
template <bool kExact>
Status HasIdFunction(const EvalContext& context, const Args& args, Operand* out) {
  Operand ids;
  RETURN_IF_ERROR(IdFunction(context, {args[0]}, &ids));
  const auto& wanted = *static_cast<const WantedIds*>(context.prepared);
  Column column(Column::Kind::kBool);
  for (size_t row = 0; row < context.rows; ++row) {
    bool has = false;
    if (ids.Present(row)) {
      const Value id = ids.Get(row);
      has = wanted.ids.Contains(id);
      if (!kExact && !has && wanted.has_strings && id.is_integer()) {
        const Value decimal = Value::String(std::to_string(id.AsInteger()));
        if (wanted.ids.Contains(decimal)) {
          ASSIGN_OR_RETURN(has, Finds(context, args[0]->Get(row), decimal));
        }
      }
    }
    column.AppendBool(has);
  }
  out->present = ids.present;
  out->all_absent = ids.all_absent;
  out->Own(std::move(column));
  return OkStatus();
}

Status DegreeFunction(const EvalContext& context, const Args& args, Operand* out) {
  struct Counting : FunctionProgress {
    ElementRows elements;
    std::vector<LabelId> labels;
    CallSize size = CountedInACall();
    storage::DegreeCursor cursor;
    std::vector<int64_t> degrees;
    size_t HeldBytes() const override { return degrees.capacity() * sizeof(int64_t); }
  };
  if (*context.progress == nullptr) {
    auto fresh = std::make_unique<Counting>();
    fresh->elements = ElementRows::Of(*args[0], context.rows);
    for (size_t i = 2; i < args.size(); ++i) {
      const LabelId label = context.view->schema().labels.Find(args[i]->constant.AsString());
      if (label != kNoName) fresh->labels.push_back(label);
    }
    *context.progress = std::move(fresh);
  }
  auto& counting = *static_cast<Counting*>(context.progress->get());
  const auto direction = static_cast<Direction>(args[1]->constant.AsInteger());
  if (args.size() > 2 && counting.labels.empty()) {
    counting.degrees.resize(counting.elements.vertices.size(), 0);
  } else {
    const Clock& clock = context.clock != nullptr ? *context.clock : *SteadyClock::Get();
    RETURN_IF_ERROR(CountOn(*context.view, clock, counting.elements.vertices, direction,
                            counting.labels, &counting.size, &counting.cursor, &counting.degrees));
    if (!counting.cursor.done) return OkStatus();
  }
  Scatter(Column::Of(std::move(counting.degrees)), counting.elements.vertex_rows, context.rows,
          out);
  context.progress->reset();
  return OkStatus();
}

// map_of(k1, v1, k2, v2, ...): pairs whose value is absent are left out.
Status MapOfFunction(const EvalContext& context, const Args& args, Operand* out) {
  Column column(Column::Kind::kValue);
  for (size_t row = 0; row < context.rows; ++row) {
    ValueMap map;
    for (size_t i = 0; i + 1 < args.size(); i += 2) {
      if (!args[i + 1]->Present(row)) continue;
      map.emplace_back(args[i]->Get(row), args[i + 1]->Get(row));
    }
    ASSIGN_OR_RETURN(const Value value, Value::Map(std::move(map)));
    column.Append(value);
  }
  out->Own(std::move(column));
  return OkStatus();
}

// require(value, kinds, reader): true, or an error when a value is none of the kinds, a set of
// letters: v vertex, e edge, p property of a vertex, q property of an edge, m map, n map of
// which no unfold() made an entry (a map of one is refused), o path.
Status RequireFunction(const EvalContext& context, const Args& args, Operand* out) {
  const std::string& kinds = args[1]->constant.AsString();
  const ElementRows elements = ElementRows::Of(*args[0], context.rows);
  const auto takes = [&kinds](char kind) { return kinds.find(kind) != std::string::npos; };
  const auto fail = [&](std::string_view kind) {
    static constexpr std::pair<char, const char*> kWords[] = {{'v', "a vertex"},   {'e', "an edge"},
                                                              {'p', "a property"}, {'m', "a map"},
                                                              {'n', "a map"},      {'o', "a path"}};
    std::string wanted;
    for (const auto& [letter, word] : kWords) {
      if (takes(letter)) wanted += (wanted.empty() ? "" : " or ") + std::string(word);
    }
    return InvalidArgument(args[2]->constant.AsString() + " needs " + wanted + ", and a " +
                           std::string(kind) + " comes here.");
  };
  if (!elements.vertices.empty() && !takes('v')) return fail("Vertex");
  if (!elements.edges.empty() && !takes('e')) return fail("Edge");
  for (uint32_t row : elements.other_rows) {
    const Value value = args[0]->Get(row);
    const char kind = value.kind() == ValueKind::kVertexProperty ? 'p'
                      : value.kind() == ValueKind::kProperty     ? 'q'
                      : value.kind() == ValueKind::kMap          ? 'm'
                      : value.kind() == ValueKind::kPath         ? 'o'
                                                                 : ' ';
    if (kind == 'm' && takes('n')) {
      if (value.AsMap().size() != 1) continue;
      ErrorDetail detail;
      detail.reason = "NOT_THERE_YET";
      detail.hint = "unfold() it where its map is made, as in groupCount().unfold().";
      return Unimplemented(
          args[2]->constant.AsString() + " can't tell an entry from a map of one here.", detail);
    }
    if (kind == ' ' || !takes(kind)) return fail(KindName(value.kind()));
  }
  out->is_constant = true;
  out->constant = Value::Bool(true);
  return OkStatus();
}

// fail(row, message): an error of the first row that comes.
Status FailFunction(const EvalContext& context, const Args& args, Operand* out) {
  if (context.rows > 0) {
    const std::string& message = args[1]->constant.AsString();
    return FailedPrecondition(message.empty() ? "fail() was reached."
                                              : "fail() was reached: " + message);
  }
  out->is_constant = true;
  out->constant = Value::Bool(false);
  return OkStatus();
}

// must(condition, message): true, or an error when it does not hold for a row.
Status MustFunction(const EvalContext& context, const Args& args, Operand* out) {
  for (size_t row = 0; row < context.rows; ++row) {
    const Value holds = args[0]->Present(row) ? args[0]->Get(row) : Value();
    if (holds.kind() == ValueKind::kBool && holds.AsBool()) continue;
    return InvalidArgument(args[1]->constant.AsString());
  }
  out->is_constant = true;
  out->constant = Value::Bool(true);
  return OkStatus();
}

// element(property): whose it is.
Status ElementFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    const Value value = args[0]->Get(row);
    if (value.kind() == ValueKind::kVertexProperty) {
      return Value::Of(value.AsVertexProperty().owner);
    }
    if (value.kind() == ValueKind::kProperty) return Value::Of(value.AsProperty().owner);
    return std::nullopt;
  });
}

// require_label(value, label): true, or an error when a row has no value.
Status RequireLabelFunction(const EvalContext& context, const Args& args, Operand* out) {
  for (size_t row = 0; row < context.rows; ++row) {
    if (!args[0]->Present(row)) {
      return InvalidArgument("A traverser comes here that has nothing labelled \"" +
                             args[1]->constant.AsString() +
                             "\", and no map with such a key; filter(select(\"" +
                             args[1]->constant.AsString() + "\")) before it leaves it out.");
    }
  }
  out->is_constant = true;
  out->constant = Value::Bool(true);
  return OkStatus();
}

// loops(n): the innermost loop counter plus n.
Status LoopsFunction(const EvalContext& context, const Args& args, Operand* out) {
  const auto constant = [&args](size_t i) {
    return i < args.size() && args[i]->constant.is_integer() ? args[i]->constant.AsInteger() : 0;
  };
  const int64_t plus = constant(0);
  const auto up = static_cast<size_t>(constant(1));  // 0: the innermost loop
  Column column(Column::Kind::kInt);
  for (const Run& run : context.batch->runs) {
    const int64_t done = run.loops.size() > up ? run.loops[run.loops.size() - 1 - up] : 0;
    const int64_t loops = done + plus;
    for (uint32_t i = 0; i < run.count; ++i) column.AppendInt(static_cast<int32_t>(loops));
  }
  out->Own(std::move(column));
  return OkStatus();
}

}  // namespace

ElementRows ElementRows::Of(const Operand& operand, size_t rows) {
  ElementRows elements;
  if (operand.all_absent) return elements;
  if (!operand.is_constant && operand.present.empty()) {
    if (operand.column->kind() == Column::Kind::kVertex) {
      elements.shared_ = *operand.column;
      elements.vertices = elements.shared_.vertices();
      elements.vertex_rows.resize(rows);
      for (uint32_t row = 0; row < rows; ++row) elements.vertex_rows[row] = row;
      return elements;
    }
    if (operand.column->kind() == Column::Kind::kEdge) {
      elements.shared_ = *operand.column;
      elements.edges = elements.shared_.edges();
      elements.edge_rows.resize(rows);
      for (uint32_t row = 0; row < rows; ++row) elements.edge_rows[row] = row;
      return elements;
    }
  }
  for (uint32_t row = 0; row < rows; ++row) {
    if (!operand.Present(row)) continue;
    const Value value = operand.Get(row);
    if (value.kind() == ValueKind::kVertex) {
      elements.own_vertices_.push_back(value.AsVertex());
      elements.vertex_rows.push_back(row);
    } else if (value.kind() == ValueKind::kEdge) {
      elements.own_edges_.push_back(value.AsEdge());
      elements.edge_rows.push_back(row);
    } else {
      elements.other_rows.push_back(row);
    }
  }
  elements.vertices = elements.own_vertices_;
  elements.edges = elements.own_edges_;
  return elements;
}

const std::vector<ScalarKernel>& ElementFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"property", PropertyFunction<false>, nullptr, PropertiesTogether<false>},
      {"by_key", PropertyFunction<true>, nullptr, PropertiesTogether<true>},
      {"id", IdFunction},
      {"with_id", WithIdFunction},
      {"has_id", HasIdFunction<false>, PrepareIds},
      {"has_exact_id", HasIdFunction<true>, PrepareIds},
      {"label", LabelFunction},
      {"label_in", LabelInFunction},
      {"key", PropertyPartFunction<true>},
      {"value", PropertyPartFunction<false>},
      {"degree", DegreeFunction},
      {"require", RequireFunction},
      {"require_label", RequireLabelFunction},
      {"fail", FailFunction},
      {"must", MustFunction},
      {"element", ElementFunction},
      {"loops", LoopsFunction},
      {"map_of", MapOfFunction},
  };
  return kFunctions;
}

}  // namespace koios::engine
