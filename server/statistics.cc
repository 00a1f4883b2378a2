#include "server/statistics.h"

#include <cmath>

#include "storage/view/snapshot_statistics.h"

namespace koios::server {
namespace {

void FillKeys(const Schema& schema, const GraphStatistics::Properties& properties, LabelId label,
              v1::LabelStats* out) {
  for (auto it = properties.lower_bound({label, 0});
       it != properties.end() && it->first.first == label; ++it) {
    if (it->first.second > schema.keys.size()) continue;
    v1::KeyStats* key = out->add_keys();
    key->set_key(schema.keys.Name(it->first.second));
    key->set_elements(it->second.elements);
    key->set_distinct(static_cast<uint64_t>(std::llround(it->second.distinct)));
  }
}

void FillDegrees(const Schema& schema, const GraphStatistics& statistics, LabelId label,
                 v1::LabelStats* out) {
  for (const auto& [of, degrees] : statistics.degrees) {
    if (of.vertex_label != label || of.edge_label > schema.labels.size()) continue;
    v1::DegreeStats* one = out->add_degrees();
    one->set_edge_label(schema.labels.Name(of.edge_label));
    one->set_incoming(of.direction == Direction::kIn);
    one->set_edges(degrees.edges);
    one->set_vertices_with_any(degrees.with_any);
    one->set_mean(degrees.Mean());
    one->set_largest(degrees.largest);
  }
}

}  // namespace

void FillStatistics(const storage::GraphView& view, v1::GetStatsResponse* response) {
  const Schema& schema = view.schema();
  const GraphStatistics* statistics = storage::StatisticsOf(view);
  if (statistics != nullptr) response->set_statistics_version(statistics->version);
  for (const auto& [label, count] : schema.vertex_counts) {
    v1::LabelStats* out = response->add_vertex_labels();
    out->set_label(schema.labels.Name(label));
    out->set_count(count);
    if (statistics == nullptr) continue;
    FillKeys(schema, statistics->vertex_properties, label, out);
    FillDegrees(schema, *statistics, label, out);
  }
  for (const auto& [label, count] : schema.edge_counts) {
    v1::LabelStats* out = response->add_edge_labels();
    out->set_label(schema.labels.Name(label));
    out->set_count(count);
    if (statistics != nullptr) FillKeys(schema, statistics->edge_properties, label, out);
  }
}

}  // namespace koios::server
