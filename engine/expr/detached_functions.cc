#include "engine/expr/detached_functions.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "engine/expr/each_row.h"
#include "engine/expr/element_functions.h"
#include "engine/result/element_ids.h"
#include "engine/result/element_resolver.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;
using Maybe = StatusOr<std::optional<Value>>;

// elements_in(value): the vertices and edges in it, the ends of its edges, and the owners of its
// properties, each once.
Status ElementsInFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Value value = args[0]->Get(row);
    ElementResolver seen(*context.view, /*materialize=*/false);
    ElementIds ordered(*context.view);
    seen.Collect(value);
    ordered.Collect(value);
    ValueList elements;
    absl::flat_hash_set<uint64_t> vertices, edges;
    for (const auto& some : {seen.vertices(), ordered.vertices()}) {
      for (const VertexRef vertex : some) {
        if (vertices.insert(vertex.bits).second) elements.push_back(Value::Of(vertex));
      }
    }
    for (const auto& some : {seen.edges(), ordered.edges()}) {
      for (const EdgeRef& edge : some) {
        if (edges.insert(edge.id).second) elements.push_back(Value::Of(edge));
      }
    }
    return Value::List(std::move(elements));
  });
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
  return EachRow(context, out, [&](size_t row) -> Maybe {
    ASSIGN_OR_RETURN(Value element, Value::Of(std::move(found[row])));
    return Value::List({args[0]->Get(row), std::move(element)});
  });
}

// as_seen(value, detached), as_ordered(value, detached): the value with these in place of its
// references; as results show them, or as values are put in order.
template <typename Reader>
Status ReplacedFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Value value = args[0]->Get(row);
    const Value detached = args[1]->Get(row);
    if (!detached.is_collection()) return Internal("What stands for elements must be a list.");
    Reader reader(*context.view);
    reader.Collect(value);
    RETURN_IF_ERROR(reader.LoadFrom(detached.AsList()));
    ASSIGN_OR_RETURN(Value replaced, reader.Resolve(value));
    return replaced;
  });
}

}  // namespace

const std::vector<ScalarKernel>& DetachedFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"elements_in", ElementsInFunction},
      {"detached", DetachedFunction},
      {"as_seen", ReplacedFunction<ElementResolver>},
      {"as_ordered", ReplacedFunction<ElementIds>},
  };
  return kFunctions;
}

}  // namespace koios::engine
