// A value with elements in place of the references in it, as clients see it.
#pragma once

#include <utility>

#include "core/path/path.h"
#include "core/schema.h"
#include "core/value.h"

namespace koios::engine {

// The id of a single vertex property: not stored, but the same each time, from owner and key.
int64_t VertexPropertyId(const Schema& schema, const VertexPropertyData& property);

// `elements->Of(reference)`, a StatusOr<Value>, gives the element. Recursion is bounded by
// kMaxValueDepth. RESOURCE_EXHAUSTED where an element is deeper than a reference may be.
template <typename Elements>
StatusOr<Value> WithElements(const Value& value, const Schema& schema, Elements* elements) {
  const auto with = [&](const Value& inner) { return WithElements(inner, schema, elements); };
  switch (value.kind()) {
    case ValueKind::kVertex:
      return elements->Of(value.AsVertex());
    case ValueKind::kEdge:
      return elements->Of(value.AsEdge());
    case ValueKind::kVertexProperty: {
      const VertexPropertyData& property = value.AsVertexProperty();
      ElementData element;
      element.type = ElementData::Type::kVertexProperty;
      element.id = Value::Long(VertexPropertyId(schema, property));
      element.label = property.key;
      ASSIGN_OR_RETURN(element.value, with(property.value));
      return Value::Of(std::move(element));
    }
    case ValueKind::kProperty: {
      const PropertyData& property = value.AsProperty();
      ElementData element;
      element.type = ElementData::Type::kProperty;
      element.label = property.key;
      ASSIGN_OR_RETURN(element.value, with(property.value));
      return Value::Of(std::move(element));
    }
    case ValueKind::kPath: {
      PathData path = Flattened(value);
      for (Value& object : path.objects) {
        ASSIGN_OR_RETURN(object, with(object));
      }
      return Value::Of(std::move(path));
    }
    case ValueKind::kList:
    case ValueKind::kSet: {
      ValueList items;
      items.reserve(value.AsList().size());
      for (const Value& item : value.AsList()) {
        ASSIGN_OR_RETURN(Value seen, with(item));
        items.push_back(std::move(seen));
      }
      return value.kind() == ValueKind::kList ? Value::List(std::move(items))
                                              : Value::Set(std::move(items));
    }
    case ValueKind::kMap: {
      ValueMap entries;
      entries.reserve(value.AsMap().size());
      for (const auto& [key, item] : value.AsMap()) {
        ASSIGN_OR_RETURN(Value seen_key, with(key));
        ASSIGN_OR_RETURN(Value seen_item, with(item));
        entries.emplace_back(std::move(seen_key), std::move(seen_item));
      }
      return Value::Map(std::move(entries));
    }
    default:
      return value;
  }
}

}  // namespace koios::engine
