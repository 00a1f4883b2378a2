#include "engine/result/element_resolver.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "core/path/path.h"
#include "engine/result/with_elements.h"

namespace koios::engine {
namespace {

// Elements whose properties are read at once: nobody knows how large they are until they are there.
constexpr size_t kFewElements = 16;
constexpr size_t kFewBytes = 1 << 20;

// Adds the found properties to their elements. `targets[i]` is the element of input row i.
void AddProperties(const Schema& schema, const storage::PropertyRows& found,
                   std::span<ElementData* const> targets) {
  for (size_t i = 0; i < found.rows.size(); ++i) {
    targets[found.rows[i]]->properties.emplace_back(Value::String(schema.keys.Name(found.keys[i])),
                                                    found.values.Get(i));
  }
}

}  // namespace

int64_t VertexPropertyId(const Schema& schema, const VertexPropertyData& property) {
  const uint64_t key = schema.keys.Find(property.key);
  return static_cast<int64_t>(
      (property.owner.bits * 0x9E3779B97F4A7C15ull ^ (key * 0xC2B2AE3D27D4EB4Full)) >> 1);
}

void ElementResolver::Collect(VertexRef vertex) {
  const auto [it, added] =
      vertex_rows_.try_emplace(vertex.bits, static_cast<uint32_t>(vertices_.size()));
  if (added) {
    vertices_.push_back(vertex);
    vertex_is_end_only_.push_back(false);
  }
  vertex_is_end_only_[it->second] = false;
}

void ElementResolver::Collect(const EdgeRef& edge) {
  const auto [it, added] = edge_rows_.try_emplace(edge.id, static_cast<uint32_t>(edges_.size()));
  if (!added) return;
  edges_.push_back(edge);
  for (const VertexRef end : {edge.out, edge.in}) {
    const auto [end_it, end_added] =
        vertex_rows_.try_emplace(end.bits, static_cast<uint32_t>(vertices_.size()));
    if (end_added) {
      vertices_.push_back(end);
      vertex_is_end_only_.push_back(true);
    }
  }
}

void ElementResolver::Collect(const Value& value) {
  static const Read kUnasked = [](size_t) { return OkStatus(); };
  CHECK(Collect(value, kUnasked).ok());
}

// Recursion is bounded by kMaxValueDepth.
Status ElementResolver::Collect(const Value& value, const Read& read) {
  constexpr size_t kFewReferences = 4096;
  switch (value.kind()) {
    case ValueKind::kVertex:
      Collect(value.AsVertex());
      break;
    case ValueKind::kEdge:
      Collect(value.AsEdge());
      break;
    case ValueKind::kVertexProperty:
      return Collect(value.AsVertexProperty().value, read);
    case ValueKind::kProperty:
      return Collect(value.AsProperty().value, read);
    case ValueKind::kPath:
      for (const Value& object : PathObjects(value.AsPath())) {
        RETURN_IF_ERROR(Collect(object, read));
      }
      return OkStatus();
    case ValueKind::kList:
    case ValueKind::kSet:
      for (const Value& item : value.AsList()) RETURN_IF_ERROR(Collect(item, read));
      return OkStatus();
    case ValueKind::kMap:
      for (const auto& [key, item] : value.AsMap()) {
        RETURN_IF_ERROR(Collect(key, read));
        RETURN_IF_ERROR(Collect(item, read));
      }
      return OkStatus();
    default:
      return OkStatus();  // scalars and detached elements hold no references
  }
  const size_t num = vertices_.size() + edges_.size();
  if (num - num_asked_ < kFewReferences) return OkStatus();
  num_asked_ = num;
  return read(ElementBytes());
}

std::string ElementResolver::LabelName(LabelId label) const {
  if (label == kNoName || label > view_.schema().labels.size()) return "";
  return view_.schema().labels.Name(label);
}

template <typename Ref, typename Properties>
Status ElementResolver::LoadProperties(const std::vector<Ref>& refs,
                                       const std::vector<ElementData*>& targets,
                                       const Properties& properties_of, const Read& read) {
  const std::span<const Ref> all(refs);
  size_t few = kFewElements;
  for (size_t begin = 0, count = 0; begin < all.size(); begin += count) {
    count = std::min(few, all.size() - begin);
    storage::PropertyRows found;
    storage::ReadBudget budget(kFewBytes);
    const Status got =
        properties_of(all.subspan(begin, count), count > 1 ? &budget : nullptr, &found);
    if (budget.exceeded()) {
      few = storage::ReadBudget::Fewer(count);
      count = 0;
      continue;
    }
    RETURN_IF_ERROR(got);
    AddProperties(view_.schema(), found, std::span(targets).subspan(begin, count));
    const size_t bytes = found.values.FlatByteSize();
    if (bytes < kFewBytes / 2) few = std::min(2 * few, kFewElements);
    read_bytes_ += bytes;
    RETURN_IF_ERROR(read(read_bytes_));
  }
  return OkStatus();
}

Status ElementResolver::LoadVertices(const Read& read) {
  if (vertices_.empty()) return OkStatus();
  Column ids;
  std::vector<LabelId> labels;
  RETURN_IF_ERROR(view_.VertexIds(vertices_, &ids));
  RETURN_IF_ERROR(view_.VertexLabels(vertices_, &labels));
  if (ids.size() != vertices_.size() || labels.size() != vertices_.size()) {
    return Internal("A view gave another number of vertex ids or labels than was asked for.");
  }
  vertex_elements_.resize(vertices_.size());
  for (size_t i = 0; i < vertices_.size(); ++i) {
    vertex_elements_[i].type = ElementData::Type::kVertex;
    vertex_elements_[i].id = ids.Get(i);
    vertex_elements_[i].label = LabelName(labels[i]);
  }
  if (!materialize_) return OkStatus();
  std::vector<VertexRef> wanted;
  std::vector<ElementData*> targets;
  for (size_t i = 0; i < vertices_.size(); ++i) {
    if (vertex_is_end_only_[i]) continue;
    wanted.push_back(vertices_[i]);
    targets.push_back(&vertex_elements_[i]);
  }
  const auto properties_of = [this](std::span<const VertexRef> some, storage::ReadBudget* budget,
                                    storage::PropertyRows* out) {
    return view_.ReadVertexProperties(some, {}, budget, out);
  };
  return LoadProperties(wanted, targets, properties_of, read);
}

Status ElementResolver::LoadEdges(const Read& read) {
  if (edges_.empty()) return OkStatus();
  Column ids;
  RETURN_IF_ERROR(view_.EdgeIds(edges_, &ids));
  if (ids.size() != edges_.size()) {
    return Internal("A view gave another number of edge ids than was asked for.");
  }
  edge_elements_.resize(edges_.size());
  std::vector<ElementData*> targets;
  for (size_t i = 0; i < edges_.size(); ++i) {
    ElementData& element = edge_elements_[i];
    element.type = ElementData::Type::kEdge;
    element.id = ids.Get(i);
    element.label = LabelName(edges_[i].label);
    targets.push_back(&element);
  }
  PutEnds();
  if (!materialize_) return OkStatus();
  const auto properties_of = [this](std::span<const EdgeRef> some, storage::ReadBudget* budget,
                                    storage::PropertyRows* out) {
    return view_.ReadEdgeProperties(some, {}, budget, out);
  };
  return LoadProperties(edges_, targets, properties_of, read);
}

size_t ElementResolver::ElementBytes() const {
  constexpr size_t kTableBytes = 64;  // of a reference, in the tables here
  return (vertices_.size() + edges_.size()) * (sizeof(ElementData) + kTableBytes);
}

void ElementResolver::PutEnds() {
  for (size_t i = 0; i < edges_.size(); ++i) {
    const ElementData& out = vertex_elements_[vertex_rows_.at(edges_[i].out.bits)];
    const ElementData& in = vertex_elements_[vertex_rows_.at(edges_[i].in.bits)];
    edge_elements_[i].out_id = out.id;
    edge_elements_[i].out_label = out.label;
    edge_elements_[i].in_id = in.id;
    edge_elements_[i].in_label = in.label;
  }
}

StatusOr<DetachedElement> DetachedElement::Of(const Value& pair) {
  const bool two = pair.kind() == ValueKind::kList && pair.AsList().size() == 2;
  DetachedElement one;
  if (two) one.reference = pair.AsList()[0];
  const bool refers =
      one.reference.kind() == ValueKind::kVertex || one.reference.kind() == ValueKind::kEdge;
  if (!refers || pair.AsList()[1].kind() != ValueKind::kElement) {
    return Internal("What stands for an element must be its reference and the element.");
  }
  one.element = &pair.AsList()[1].AsElement();
  return one;
}

Status ElementResolver::Load(const Read& read) {
  RETURN_IF_ERROR(LoadVertices(read));
  RETURN_IF_ERROR(LoadEdges(read));
  return Finish();
}

Status ElementResolver::Finish() {
  const auto finish = [](std::vector<ElementData>* elements, ValueList* values) -> Status {
    values->reserve(elements->size());
    for (ElementData& element : *elements) {
      ASSIGN_OR_RETURN(Value value, Value::Of(std::move(element)));
      values->push_back(std::move(value));
    }
    elements->clear();
    return OkStatus();
  };
  RETURN_IF_ERROR(finish(&vertex_elements_, &vertex_values_));
  return finish(&edge_elements_, &edge_values_);
}

const ElementData& ElementResolver::Resolve(VertexRef vertex) const {
  return vertex_values_[vertex_rows_.at(vertex.bits)].AsElement();
}

const ElementData& ElementResolver::Resolve(const EdgeRef& edge) const {
  return edge_values_[edge_rows_.at(edge.id)].AsElement();
}

StatusOr<Value> ElementResolver::Of(VertexRef vertex) const {
  return vertex_values_[vertex_rows_.at(vertex.bits)];
}

StatusOr<Value> ElementResolver::Of(const EdgeRef& edge) const {
  return edge_values_[edge_rows_.at(edge.id)];
}

StatusOr<Value> ElementResolver::Resolve(const Value& value) const {
  return WithElements(value, view_.schema(), this);
}

}  // namespace koios::engine
