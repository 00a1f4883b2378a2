#include "planner/graph_look.h"

#include <algorithm>
#include <tuple>

namespace koios::planner {
namespace {

// More facts than this are not compared for a request.
constexpr size_t kMaxFacts = 4000;

size_t NumFacts(const Schema* schema, const GraphStatistics* statistics) {
  size_t facts = 0;
  if (schema != nullptr) {
    facts += size_t{schema->labels.size()} + schema->keys.size() + schema->property_kinds.size() +
             schema->vertex_indexes.size() + schema->vertex_counts.size() +
             schema->edge_counts.size();
  }
  if (statistics != nullptr) {
    facts += statistics->vertices.size() + statistics->edges.size() + statistics->degrees.size() +
             statistics->vertex_properties.size() + statistics->edge_properties.size();
  }
  return facts;
}

bool Same(const NameTable& a, const NameTable& b) {
  if (a.size() != b.size()) return false;
  for (uint32_t id = 1; id <= a.size(); ++id) {
    if (a.Name(id) != b.Name(id)) return false;
  }
  return true;
}

// A member that came and is not compared below would be overlooked: these say so.
static_assert(sizeof(Schema) == 2 * sizeof(NameTable) + 2 * sizeof(LabelCounts) +
                                    sizeof(PropertyKinds) + sizeof(VertexIndexes));
static_assert(sizeof(DegreeStatistics) == (5 + kNumDegreeClasses) * 8);
static_assert(sizeof(PropertyStatistics) == 6 * 8);
static_assert(sizeof(GraphStatistics) == 8 + 5 * sizeof(std::map<LabelId, uint64_t>));

bool Same(const Schema& a, const Schema& b) {
  return a.vertex_counts == b.vertex_counts && a.edge_counts == b.edge_counts &&
         a.vertex_indexes == b.vertex_indexes && a.property_kinds == b.property_kinds &&
         Same(a.labels, b.labels) && Same(a.keys, b.keys);
}

bool Same(const DegreeStatistics& a, const DegreeStatistics& b) {
  return std::tie(a.vertices, a.with_any, a.edges, a.largest, a.sum_of_squares, a.classes) ==
         std::tie(b.vertices, b.with_any, b.edges, b.largest, b.sum_of_squares, b.classes);
}

bool Same(const PropertyStatistics& a, const PropertyStatistics& b) {
  return std::tie(a.elements, a.values, a.distinct, a.has_range, a.least, a.largest) ==
         std::tie(b.elements, b.values, b.distinct, b.has_range, b.least, b.largest);
}

template <typename Map>
bool SameEntries(const Map& a, const Map& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const auto& one, const auto& other) {
           return one.first == other.first && Same(one.second, other.second);
         });
}

bool Same(const GraphStatistics& a, const GraphStatistics& b) {
  return a.version == b.version && a.vertices == b.vertices && a.edges == b.edges &&
         SameEntries(a.vertex_properties, b.vertex_properties) &&
         SameEntries(a.edge_properties, b.edge_properties) && SameEntries(a.degrees, b.degrees);
}

bool HasSoMany(const GraphStatistics* statistics, uint64_t elements) {
  if (statistics == nullptr) return false;
  uint64_t sum = 0;
  for (const auto* counts : {&statistics->vertices, &statistics->edges}) {
    for (const auto& [label, count] : *counts) {
      if ((sum += count) >= elements) return true;
    }
  }
  return false;
}

bool IsName(const NameTable& names, uint32_t id, const std::string& name) {
  return id <= names.size() && names.Name(id) == name;
}

}  // namespace

bool GraphFacts::AreOf(const Schema* of, const GraphStatistics* with) const {
  return has_schema == (of != nullptr) && has_statistics == (with != nullptr) &&
         (of == nullptr || Same(schema, *of)) && (with == nullptr || Same(statistics, *with));
}

size_t GraphFacts::ByteSize() const {
  constexpr size_t kPerFact = 128;  // with the nodes of the maps around it
  return sizeof(GraphFacts) + NumFacts(&schema, &statistics) * kPerFact +
         statistics.degrees.size() * sizeof(DegreeStatistics);
}

std::shared_ptr<GraphFacts> FactsOf(const Schema* schema, const GraphStatistics* statistics) {
  if (NumFacts(schema, statistics) > kMaxFacts) return nullptr;
  auto facts = std::make_shared<GraphFacts>();
  facts->has_schema = schema != nullptr;
  facts->has_statistics = statistics != nullptr;
  if (schema != nullptr) facts->schema = *schema;
  if (statistics != nullptr) facts->statistics = *statistics;
  return facts;
}

bool GraphSeen::Holds(const Schema* schema, const GraphStatistics* statistics) const {
  if (has_schema_ != (schema != nullptr) || has_statistics_ != (statistics != nullptr)) {
    return false;
  }
  if (looked_at_all_) return facts_->AreOf(schema, statistics);
  if (asked_elements_ != 0 && HasSoMany(statistics, asked_elements_) != has_elements_) return false;
  if (!looked_at_indexes_) return true;
  return schema->vertex_indexes == indexes_ &&
         std::all_of(labels_.begin(), labels_.end(),
                     [schema](const auto& label) {
                       return schema->labels.Find(label.first) == label.second;
                     }) &&
         std::all_of(keys_.begin(), keys_.end(), [schema](const auto& key) {
           return IsName(schema->keys, key.first, key.second);
         });
}

size_t GraphSeen::ByteSize() const {
  constexpr size_t kPerName = 128;
  return (indexes_.size() + labels_.size() + keys_.size()) * kPerName;
}

GraphLook::GraphLook(const Schema* schema, const GraphStatistics* statistics, GraphSeen* seen)
    : schema_(schema), statistics_(statistics), seen_(seen) {
  if (seen_ == nullptr) return;
  seen_->has_schema_ = schema_ != nullptr;
  seen_->has_statistics_ = statistics_ != nullptr;
}

bool GraphLook::HasAtLeast(uint64_t elements) const {
  const bool has = HasSoMany(statistics_, elements);
  if (seen_ != nullptr) {
    seen_->asked_elements_ = elements;
    seen_->has_elements_ = has;
  }
  return has;
}

const Schema* GraphLook::Indexes(const std::vector<std::string>& labels) const {
  if (schema_ == nullptr) return nullptr;
  if (seen_ != nullptr && !seen_->looked_at_all_) {
    seen_->looked_at_indexes_ = true;
    seen_->indexes_ = schema_->vertex_indexes;
    for (const std::string& label : labels) seen_->labels_[label] = schema_->labels.Find(label);
    for (const auto& [id, index] : schema_->vertex_indexes) {
      for (const KeyId key : index.keys) seen_->keys_[key] = schema_->keys.Name(key);
    }
  }
  return schema_->vertex_indexes.empty() ? nullptr : schema_;
}

}  // namespace koios::planner
