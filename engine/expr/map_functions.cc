// value_map, element_map, parts of maps, and the test of a value's type.
#include "engine/expr/map_functions.h"

#include <algorithm>
#include <span>

#include "core/convert/type_name.h"
#include "core/path/path.h"
#include "core/value_compare.h"
#include "engine/expr/each_row.h"
#include "engine/expr/element_functions.h"
#include "engine/expr/made_value.h"
#include "engine/result/element_resolver.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;
using Maybe = StatusOr<std::optional<Value>>;

// One map per element, filled sort by sort with batched reads, then put back into row order.
class ElementMaps {
 public:
  ElementMaps(const EvalContext& context, const Operand& operand)
      : view_(*context.view),
        reads_(context.reads),
        rows_(context.rows),
        elements_(ElementRows::Of(operand, context.rows)),
        maps_(context.rows) {
    for (const uint32_t row : elements_.other_rows) {
      const Value value = operand.Get(row);
      if (value.kind() == ValueKind::kVertexProperty) {
        properties_.emplace_back(row, value);
      } else {
        others_.push_back(row);
      }
    }
  }

  struct Tokens {
    bool ids = true, labels = true, keys = true, values = true;
  };

  Status AddTokens(const Tokens& wanted) {
    for (const auto& [row, value] : properties_) {
      const VertexPropertyData& property = value.AsVertexProperty();
      const int64_t id = VertexPropertyId(view_.schema(), property);
      if (wanted.ids) maps_[row].emplace_back(Value::Of(Token::kId), Value::Long(id));
      if (wanted.keys) maps_[row].emplace_back(Value::Of(Token::kKey), Value::String(property.key));
      if (wanted.values) maps_[row].emplace_back(Value::Of(Token::kValue), property.value);
    }
    const bool want_ids = wanted.ids, want_labels = wanted.labels;
    if (!want_ids && !want_labels) return OkStatus();
    Column ids;
    RETURN_IF_ERROR(view_.VertexIds(elements_.vertices, &ids));
    std::vector<LabelId> labels;
    RETURN_IF_ERROR(view_.VertexLabels(elements_.vertices, &labels));
    for (size_t i = 0; i < elements_.vertices.size(); ++i) {
      AddIdAndLabel(elements_.vertex_rows[i], ids.Get(i), labels[i], want_ids, want_labels);
    }
    ids.Clear();
    RETURN_IF_ERROR(view_.EdgeIds(elements_.edges, &ids));
    for (size_t i = 0; i < elements_.edges.size(); ++i) {
      AddIdAndLabel(elements_.edge_rows[i], ids.Get(i), elements_.edges[i].label, want_ids,
                    want_labels);
    }
    return OkStatus();
  }

  // The ends of edges, as elementMap() tells them: IN, then OUT. `seen`: the edges as they were
  // read where their ends are.
  Status AddEndsOf(const Operand& seen) {
    for (const uint32_t row : elements_.edge_rows) {
      const Value value = seen.Get(row);
      if (value.kind() != ValueKind::kElement) return Internal("An edge must be as it was seen.");
      const ElementData& edge = value.AsElement();
      RETURN_IF_ERROR(AddEnd(row, Direction::kIn, edge.in_id, Value::String(edge.in_label)));
      RETURN_IF_ERROR(AddEnd(row, Direction::kOut, edge.out_id, Value::String(edge.out_label)));
    }
    return OkStatus();
  }
  Status AddEnds() {
    for (const Direction direction : {Direction::kIn, Direction::kOut}) {
      std::vector<VertexRef> ends;
      for (const EdgeRef& edge : elements_.edges) {
        ends.push_back(direction == Direction::kIn ? edge.in : edge.out);
      }
      Column ids;
      RETURN_IF_ERROR(view_.VertexIds(ends, &ids));
      std::vector<LabelId> labels;
      RETURN_IF_ERROR(view_.VertexLabels(ends, &labels));
      for (size_t i = 0; i < ends.size(); ++i) {
        RETURN_IF_ERROR(
            AddEnd(elements_.edge_rows[i], direction, ids.Get(i), LabelName(labels[i])));
      }
    }
    return OkStatus();
  }

  // Properties; `listed`: those of vertices as one-element lists.
  Status AddProperties(const std::vector<KeyId>& keys, bool none, bool listed) {
    if (none) return OkStatus();
    storage::PropertyRows found;
    RETURN_IF_ERROR(view_.ReadVertexProperties(elements_.vertices, keys, reads_, &found));
    for (size_t i = 0; i < found.rows.size(); ++i) {
      Value value = found.values.Get(i);
      if (listed) {
        ASSIGN_OR_RETURN(value, Value::List({value}));
      }
      Put(elements_.vertex_rows[found.rows[i]], found.keys[i], std::move(value));
    }
    found = {};
    RETURN_IF_ERROR(view_.ReadEdgeProperties(elements_.edges, keys, reads_, &found));
    for (size_t i = 0; i < found.rows.size(); ++i) {
      Put(elements_.edge_rows[found.rows[i]], found.keys[i], found.values.Get(i));
    }
    return OkStatus();
  }

  // Property objects: those of vertices as one-element lists.
  Status AddPropertyObjects(const std::vector<KeyId>& keys, bool none) {
    if (none) return OkStatus();
    const NameTable& names = view_.schema().keys;
    storage::PropertyRows found;
    RETURN_IF_ERROR(view_.ReadVertexProperties(elements_.vertices, keys, reads_, &found));
    for (size_t i = 0; i < found.rows.size(); ++i) {
      ASSIGN_OR_RETURN(const Value property, Value::Of(VertexPropertyData{
                                                 elements_.vertices[found.rows[i]],
                                                 names.Name(found.keys[i]), found.values.Get(i)}));
      ASSIGN_OR_RETURN(Value listed, Value::List({property}));
      Put(elements_.vertex_rows[found.rows[i]], found.keys[i], std::move(listed));
    }
    found = {};
    RETURN_IF_ERROR(view_.ReadEdgeProperties(elements_.edges, keys, reads_, &found));
    for (size_t i = 0; i < found.rows.size(); ++i) {
      ASSIGN_OR_RETURN(Value property,
                       Value::Of(PropertyData{elements_.edges[found.rows[i]],
                                              names.Name(found.keys[i]), found.values.Get(i)}));
      Put(elements_.edge_rows[found.rows[i]], found.keys[i], std::move(property));
    }
    return OkStatus();
  }

  // Absent where other values than elements come.
  Status Finish(Operand* out) {
    Column column(Column::Kind::kValue);
    for (size_t row = 0; row < rows_; ++row) {
      ASSIGN_OR_RETURN(const Value map, Value::Map(std::move(maps_[row])));
      column.Append(map);
    }
    out->Own(std::move(column));
    if (!others_.empty() && out->present.empty()) out->present.assign(rows_, 1);
    for (const uint32_t row : others_) out->present[row] = 0;
    return OkStatus();
  }

 private:
  Status AddEnd(uint32_t row, Direction direction, Value id, Value label) {
    ValueMap end;
    end.emplace_back(Value::Of(Token::kId), std::move(id));
    end.emplace_back(Value::Of(Token::kLabel), std::move(label));
    ASSIGN_OR_RETURN(Value map, Value::Map(std::move(end)));
    maps_[row].emplace_back(Value::Of(direction), std::move(map));
    return OkStatus();
  }
  Value LabelName(LabelId label) const {
    return label == kNoName ? Value::Null() : Value::String(view_.schema().labels.Name(label));
  }
  void AddIdAndLabel(uint32_t row, Value id, LabelId label, bool want_ids, bool want_labels) {
    if (want_ids) maps_[row].emplace_back(Value::Of(Token::kId), std::move(id));
    if (want_labels) maps_[row].emplace_back(Value::Of(Token::kLabel), LabelName(label));
  }
  void Put(uint32_t row, KeyId key, Value value) {
    if (key >= key_names_.size()) key_names_.resize(key + 1);
    Value& name = key_names_[key];
    if (name.is_null()) name = Value::SharedString(view_.schema().keys.Name(key));
    maps_[row].emplace_back(name, std::move(value));
  }

  const storage::GraphView& view_;
  storage::ReadBudget* const reads_;
  const size_t rows_;
  const ElementRows elements_;
  std::vector<std::pair<uint32_t, Value>> properties_;  // of vertices, by row; they have none
  std::vector<uint32_t> others_;  // rows of other values: properties of edges are no elements
  std::vector<Value> key_names_;  // by key; null: not met yet
  std::vector<ValueMap> maps_;
};

// Interned ids of the key arguments from `first` on. `none`: keys were given, but none exists.
std::vector<KeyId> KeyArguments(const EvalContext& context, const Args& args, size_t first,
                                bool* none) {
  std::vector<KeyId> keys;
  for (size_t i = first; i < args.size(); ++i) {
    if (args[i]->constant.kind() != ValueKind::kString) continue;
    const KeyId key = context.view->schema().keys.Find(args[i]->constant.AsString());
    if (key != kNoName) keys.push_back(key);
  }
  *none = keys.empty() && args.size() > first;
  return keys;
}

bool HasOption(const Value& options, std::string_view name) {
  if (!options.is_collection()) return false;
  return std::any_of(options.AsList().begin(), options.AsList().end(), [&](const Value& option) {
    return option.kind() == ValueKind::kString && option.AsString() == name;
  });
}

Status ValueMapFunction(const EvalContext& context, const Args& args, Operand* out) {
  ElementMaps maps(context, *args[0]);
  const Value& options = args[1]->constant;
  const bool all = HasOption(options, "tokens");
  const auto wants = [&](std::string_view token) { return all || HasOption(options, token); };
  RETURN_IF_ERROR(maps.AddTokens({wants("ids"), wants("labels"), wants("keys"), wants("values")}));
  bool none = false;
  const std::vector<KeyId> keys = KeyArguments(context, args, 2, &none);
  RETURN_IF_ERROR(maps.AddProperties(keys, none, !HasOption(options, "unfold")));
  return maps.Finish(out);
}

Status PropertyMapFunction(const EvalContext& context, const Args& args, Operand* out) {
  ElementMaps maps(context, *args[0]);
  bool none = false;
  const std::vector<KeyId> keys = KeyArguments(context, args, 1, &none);
  RETURN_IF_ERROR(maps.AddPropertyObjects(keys, none));
  return maps.Finish(out);
}

// element_map(element, keys...), element_map_seen(element, as_seen(element), keys...).
template <bool kSeen>
Status ElementMapFunction(const EvalContext& context, const Args& args, Operand* out) {
  ElementMaps maps(context, *args[0]);
  RETURN_IF_ERROR(maps.AddTokens({}));
  RETURN_IF_ERROR(kSeen ? maps.AddEndsOf(*args[1]) : maps.AddEnds());
  bool none = false;
  const std::vector<KeyId> keys = KeyArguments(context, args, kSeen ? 2 : 1, &none);
  RETURN_IF_ERROR(maps.AddProperties(keys, none, /*listed=*/false));
  return maps.Finish(out);
}

// first_of(a, b): a where it is present, else b.
Status FirstOfFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Operand& from = args[0]->Present(row) ? *args[0] : *args[1];
    if (!from.Present(row)) return std::nullopt;
    return from.Get(row);
  });
}

// What a map has for a key.
class MapEntry {
 public:
  MapEntry(Value map, Value key) : map_(std::move(map)), key_(std::move(key)) {}

  StatusOr<bool> Step(size_t* work) {
    const ValueMap& entries = map_.AsMap();
    for (; next_ < entries.size() && !Equivalent(entries[next_].first, key_); ++next_) {
      if (*work == 0) return false;
      *work -= 1;
    }
    return true;
  }
  static size_t HeldBytes() { return 0; }
  StatusOr<std::optional<Value>> Result() {
    if (next_ == map_.AsMap().size()) return std::nullopt;
    return map_.AsMap()[next_].second;
  }

 private:
  Value map_, key_;
  size_t next_ = 0;
};

Status MapGetFunction(const EvalContext& context, const Args& args, Operand* out) {
  using Part = MapEntry;
  return EachRowInParts<Part>(context, out, [&](size_t row, std::optional<Part>* part) -> Status {
    Value map = args[0]->Get(row);
    if (map.kind() != ValueKind::kMap) return OkStatus();
    return BeginPart(part, std::move(map), args[1]->Get(row));
  });
}

StatusOr<Value> LabelSet(const PathObjects& path, size_t i) {
  ValueList labels;
  for (const std::string& label : path.LabelsOf(i)) labels.push_back(Value::String(label));
  return Value::Set(std::move(labels));
}

// The keys of a map as a set, or its values as a list; of a path the sets of its labels, or its
// objects.
template <bool kKeys>
class PartsOfMap {
 public:
  explicit PartsOfMap(Value map) : map_(std::move(map)) {}

  StatusOr<bool> Step(size_t* work) {
    if (map_.kind() == ValueKind::kPath) return AddPath(work);
    const ValueMap& entries = map_.AsMap();
    for (; parts_.size() < entries.size();) {
      if (*work == 0) return false;
      *work -= std::min<size_t>(*work, 2);
      const auto& [key, value] = entries[parts_.size()];
      parts_.Add(kKeys ? key : value);
    }
    return parts_.Gather(work);
  }
  size_t HeldBytes() const { return parts_.HeldBytes(); }
  StatusOr<Value> Result() {
    const bool is_set = kKeys && map_.kind() == ValueKind::kMap;
    return parts_.Take(is_set ? ValueKind::kSet : ValueKind::kList);
  }

 private:
  StatusOr<bool> AddPath(size_t* work) {
    const PathObjects path(map_.AsPath());
    for (; parts_.size() < path.size();) {
      if (*work == 0) return false;
      *work -= std::min<size_t>(*work, 2);
      Value part;
      if constexpr (kKeys) {
        ASSIGN_OR_RETURN(part, LabelSet(path, parts_.size()));
      } else {
        part = path[parts_.size()];
      }
      parts_.Add(std::move(part));
    }
    return parts_.Gather(work);
  }

  Value map_;
  MadeList parts_;
};

template <bool kKeys>
Status MapPartsFunction(const EvalContext& context, const Args& args, Operand* out) {
  using Part = PartsOfMap<kKeys>;
  return EachRowInParts<Part>(context, out, [&](size_t row, std::optional<Part>* part) -> Status {
    Value map = args[0]->Get(row);
    if (map.kind() != ValueKind::kMap && map.kind() != ValueKind::kPath) return OkStatus();
    return BeginPart(part, std::move(map));
  });
}

// An entry is what unfold() makes of a map: a map of one.
template <bool kKey>
Status EntryPartFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Value entry = args[0]->Get(row);
    if (entry.kind() != ValueKind::kMap || entry.AsMap().size() != 1) return std::nullopt;
    return kKey ? entry.AsMap()[0].first : entry.AsMap()[0].second;
  });
}

// The kinds that a type's name stands for.
struct TypeKinds {
  std::span<const ValueKind> kinds;
};

StatusOr<Prepared> PrepareType(const Value& type) {
  const std::string name = type.kind() == ValueKind::kString ? type.AsString() : std::string();
  const auto kinds = KindsOfType(name);
  if (kinds.has_value()) return Prepared{std::make_shared<const TypeKinds>(TypeKinds{*kinds})};
  return InvalidArgument("typeOf() does not know the type " + name +
                         ": use a GType, as in typeOf(GType.INT).");
}

Status TypeOfFunction(const EvalContext& context, const Args& args, Operand* out) {
  const auto kinds = static_cast<const TypeKinds*>(context.prepared)->kinds;
  Column column(Column::Kind::kBool);
  for (size_t row = 0; row < context.rows; ++row) {
    const bool fits = out->Present(row) && std::find(kinds.begin(), kinds.end(),
                                                     args[0]->Get(row).kind()) != kinds.end();
    column.AppendBool(fits);
  }
  out->Own(std::move(column));
  return OkStatus();
}

}  // namespace

const std::vector<ScalarKernel>& MapFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"value_map", ValueMapFunction},
      {"element_map", ElementMapFunction<false>},
      {"element_map_seen", ElementMapFunction<true>},
      {"property_map", PropertyMapFunction},
      {"map_get", MapGetFunction},
      {"first_of", FirstOfFunction},
      {"sack_or", FirstOfFunction},
      {"map_keys", MapPartsFunction<true>},
      {"map_values", MapPartsFunction<false>},
      {"entry_key", EntryPartFunction<true>},
      {"entry_value", EntryPartFunction<false>},
      {"typeOf", TypeOfFunction, PrepareType},
  };
  return kFunctions;
}

}  // namespace koios::engine
