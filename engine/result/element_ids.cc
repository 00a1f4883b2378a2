#include "engine/result/element_ids.h"

#include "core/path/path.h"
#include "engine/result/element_resolver.h"

namespace koios::engine {

bool ElementIds::Collect(const Value& value) {
  bool found = false;
  switch (value.kind()) {
    case ValueKind::kVertex:
      vertices_.push_back(value.AsVertex());
      return true;
    case ValueKind::kEdge:
      edges_.push_back(value.AsEdge());
      return true;
    case ValueKind::kVertexProperty:
      vertices_.push_back(value.AsVertexProperty().owner);
      return true;
    case ValueKind::kList:
    case ValueKind::kSet:
      for (const Value& member : value.AsList()) found = Collect(member) || found;
      return found;
    case ValueKind::kPath:
      for (const Value& object : PathObjects(value.AsPath())) found = Collect(object) || found;
      return found;
    default:
      return false;
  }
}

Status ElementIds::Load() {
  Column ids;
  RETURN_IF_ERROR(view_.VertexIds(vertices_, &ids));
  for (size_t i = 0; i < vertices_.size(); ++i) vertex_ids_[vertices_[i].bits] = ids.Get(i);
  ids.Clear();
  RETURN_IF_ERROR(view_.EdgeIds(edges_, &ids));
  for (size_t i = 0; i < edges_.size(); ++i) edge_ids_[edges_[i].id] = ids.Get(i);
  return OkStatus();
}

Status ElementIds::LoadFrom(const ValueList& detached) {
  for (const Value& pair : detached) {
    ASSIGN_OR_RETURN(const DetachedElement one, DetachedElement::Of(pair));
    const Value& id = one.element->id;
    if (one.reference.kind() == ValueKind::kVertex) {
      vertex_ids_[one.reference.AsVertex().bits] = id;
    } else {
      edge_ids_[one.reference.AsEdge().id] = id;
    }
  }
  return OkStatus();
}

StatusOr<Value> ElementIds::Detached(ElementData::Type type, Value id) const {
  ElementData element;
  element.type = type;
  element.id = std::move(id);
  return Value::Of(std::move(element));
}

Value ElementIds::IdOf(VertexRef vertex) const {
  const auto found = vertex_ids_.find(vertex.bits);
  return found == vertex_ids_.end() ? Value() : found->second;
}

StatusOr<Value> ElementIds::Resolve(const Value& value) const {
  switch (value.kind()) {
    case ValueKind::kVertex:
      return Detached(ElementData::Type::kVertex, IdOf(value.AsVertex()));
    case ValueKind::kEdge: {
      const auto found = edge_ids_.find(value.AsEdge().id);
      return Detached(ElementData::Type::kEdge, found == edge_ids_.end() ? Value() : found->second);
    }
    case ValueKind::kVertexProperty: {
      const VertexPropertyData& property = value.AsVertexProperty();
      const int64_t key = view_.schema().keys.Find(property.key);
      ASSIGN_OR_RETURN(Value id, Value::List({IdOf(property.owner), Value::Long(key)}));
      return Detached(ElementData::Type::kVertexProperty, std::move(id));
    }
    case ValueKind::kList:
    case ValueKind::kSet: {
      ValueList members;
      members.reserve(value.AsList().size());
      for (const Value& member : value.AsList()) {
        ASSIGN_OR_RETURN(Value replaced, Resolve(member));
        members.push_back(std::move(replaced));
      }
      return value.kind() == ValueKind::kList ? Value::List(std::move(members))
                                              : Value::Set(std::move(members));
    }
    case ValueKind::kPath: {
      PathData path = Flattened(value);
      for (Value& object : path.objects) {
        ASSIGN_OR_RETURN(object, Resolve(object));
      }
      return Value::Of(std::move(path));
    }
    default:
      return value;
  }
}

}  // namespace koios::engine
