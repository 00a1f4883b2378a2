#include "tests/golden/simulated/made_up_statistics.h"

#include "core/random.h"

namespace koios::golden {
namespace {

// Anything from nothing to very much.
uint64_t AnyCount(Rng* random) { return random->Uniform(uint64_t{1} << random->Uniform(24)); }

}  // namespace

Schema MadeUpCounts(Schema schema, uint64_t seed) {
  Rng random(seed);
  for (auto* counts : {&schema.vertex_counts, &schema.edge_counts}) {
    const LabelCounts before = *counts;
    for (const auto& [label, count] : before) (*counts)[label] = AnyCount(&random);
  }
  for (auto& [id, index] : schema.vertex_indexes) index.distinct = AnyCount(&random);
  return schema;
}

GraphStatistics MadeUpStatistics(const Schema& schema, uint64_t seed) {
  Rng random(seed);
  GraphStatistics out;
  out.version = 1;
  for (const auto& [label, count] : schema.vertex_counts) out.vertices[label] = AnyCount(&random);
  for (const auto& [label, count] : schema.edge_counts) out.edges[label] = AnyCount(&random);
  for (const auto& [edge_label, count] : schema.edge_counts) {
    for (const Direction direction : {Direction::kOut, Direction::kIn}) {
      for (const auto& [label, vertices] : schema.vertex_counts) {
        if (random.Chance(0.2)) continue;
        DegreeStatistics& degrees = out.degrees[{edge_label, direction, label}];
        degrees.vertices = AnyCount(&random);
        degrees.with_any = AnyCount(&random);
        degrees.edges = AnyCount(&random);
        degrees.largest = AnyCount(&random);
        degrees.sum_of_squares = static_cast<double>(AnyCount(&random));
      }
    }
  }
  for (const auto& [name, kind] : schema.property_kinds) {
    if (random.Chance(0.1)) continue;
    const bool of_vertices = schema.vertex_counts.contains(name.first);
    auto& properties = of_vertices ? out.vertex_properties : out.edge_properties;
    const uint64_t elements = AnyCount(&random);
    const double least = static_cast<double>(random.Uniform(100)) - 50;
    const double range = static_cast<double>(AnyCount(&random));
    properties[name] = {elements,
                        elements + AnyCount(&random),
                        static_cast<double>(AnyCount(&random)),
                        random.Chance(0.5),
                        least,
                        least + range};
  }
  return out;
}

}  // namespace koios::golden
