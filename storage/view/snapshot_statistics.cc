#include "storage/view/snapshot_statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "storage/view/snapshot_view.h"

namespace koios::storage {
namespace {

static_assert(kDegreeClasses == kNumDegreeClasses);

// Columns of one property, each of a partition and a label set.
struct Gathered {
  PropertyStatistics sum;
  double distinct_in_parts = 0;
  double most_distinct = 0;
  double parts = 0;
  bool all_have_range = true;
  bool is_exact = true;
};
// What is counted about, and is nearly as much as there is, is thought to be all of it.
constexpr double kNearlyAll = 0.95;

using GatheredProperties = std::map<std::pair<LabelId, KeyId>, Gathered>;

double RangeEnd(uint64_t bits, bool is_real) {
  return is_real ? std::bit_cast<double>(bits) : static_cast<double>(static_cast<int64_t>(bits));
}

void Add(const SnapshotColumn& column, Gathered* to) {
  const ColumnFacts& facts = column.facts();
  if (facts.values == 0) return;
  PropertyStatistics& sum = to->sum;
  const bool first = sum.elements == 0;
  sum.elements += facts.rows_present;
  sum.values += facts.values;
  to->distinct_in_parts += static_cast<double>(facts.distinct);
  to->most_distinct = std::max(to->most_distinct, static_cast<double>(facts.distinct));
  to->parts += 1;
  to->is_exact = to->is_exact && facts.exact_distinct != 0;
  to->all_have_range = to->all_have_range && facts.has_range != 0;
  if (facts.has_range == 0) return;
  const ValueKind kind = column.value_kind();
  const bool is_real = kind == ValueKind::kFloat || kind == ValueKind::kDouble;
  const double least = RangeEnd(facts.least_bits, is_real);
  const double largest = RangeEnd(facts.largest_bits, is_real);
  sum.least = first ? least : std::min(sum.least, least);
  sum.largest = first ? largest : std::max(sum.largest, largest);
}

void Finish(const GatheredProperties& gathered, GraphStatistics::Properties* out) {
  for (const auto& [name, one] : gathered) {
    if (one.parts == 0) continue;
    PropertyStatistics& property = (*out)[name];
    property = one.sum;
    property.has_range = one.all_have_range;
    const double values = static_cast<double>(one.sum.values);
    const bool all_differ = !one.is_exact && one.distinct_in_parts >= kNearlyAll * values;
    property.distinct =
        all_differ ? values
                   : DistinctOfParts(values, one.distinct_in_parts, one.most_distinct, one.parts);
  }
}

void AddVertices(const PartitionSnapshot& snapshot, GraphStatistics* out) {
  for (const LabelSet& set : snapshot.label_sets()) {
    for (const LabelId label : set.labels) out->vertices[label] += set.rows;
  }
}

void AddDegrees(const PartitionSnapshot& snapshot, GraphStatistics* out) {
  for (const auto& [name, adjacency] : snapshot.adjacencies()) {
    const AdjacencyFacts& facts = adjacency->facts();
    const Direction direction = name.index == SectionIndex::kIn ? Direction::kIn : Direction::kOut;
    if (direction == Direction::kOut) out->edges[name.parent] += facts.edges;
    for (const LabelId label : snapshot.label_sets()[name.set].labels) {
      DegreeStatistics& degrees = out->degrees[{name.parent, direction, label}];
      degrees.with_any += facts.rows_with_any;
      degrees.edges += facts.edges;
      degrees.largest = std::max(degrees.largest, facts.largest_degree);
      degrees.sum_of_squares += facts.sum_of_squares;
      for (size_t i = 1; i < kNumDegreeClasses; ++i) degrees.classes[i] += facts.degree_classes[i];
    }
  }
}

// A partition none of whose vertices has such an edge says nothing of it.
void CountThoseWithout(GraphStatistics* out) {
  for (auto& [of, degrees] : out->degrees) {
    degrees.vertices = std::max(out->vertices[of.vertex_label], degrees.with_any);
    degrees.classes[0] = degrees.vertices - degrees.with_any;
  }
}

}  // namespace

const GraphStatistics* StatisticsOf(const GraphView& view) {
  const auto* reads = dynamic_cast<const SnapshotView*>(&view);
  return reads == nullptr || reads->statistics().vertices.empty() ? nullptr : &reads->statistics();
}

double DistinctOfParts(double values, double in_parts, double most, double parts) {
  double low = most, high = std::max(most, std::min(in_parts, values));
  if (parts <= 1 || low >= high) return low;
  // A value that is there `values / distinct` times is absent in a part by chance.
  const double elsewhere = std::log1p(-1 / parts);
  constexpr int kSteps = 24;  // of halving: closer than what is halved is known
  for (int i = 0; i < kSteps; ++i) {
    const double distinct = (low + high) / 2;
    const double seen = -std::expm1(elsewhere * values / distinct);
    (parts * distinct * seen < in_parts ? low : high) = distinct;
  }
  return std::round(high);
}

GraphStatistics StatisticsOf(uint64_t version,
                             std::span<const PartitionSnapshot* const> snapshots) {
  GraphStatistics out;
  out.version = version;
  GatheredProperties of_vertices, of_edges;
  for (const PartitionSnapshot* snapshot : snapshots) {
    AddVertices(*snapshot, &out);
    AddDegrees(*snapshot, &out);
    for (const auto& [name, column] : snapshot->columns()) {
      if (name.key == kNoName) continue;
      if (name.index == SectionIndex::kOut) Add(*column, &of_edges[{name.parent, name.key}]);
      if (name.index != SectionIndex::kVertex) continue;
      for (const LabelId label : snapshot->label_sets()[name.set].labels) {
        Add(*column, &of_vertices[{label, name.key}]);
      }
    }
  }
  CountThoseWithout(&out);
  Finish(of_vertices, &out.vertex_properties);
  Finish(of_edges, &out.edge_properties);
  return out;
}

}  // namespace koios::storage
