// The statistics of a graph out of what the heads of its snapshots say: no list or value is read.
#pragma once

#include <cstdint>
#include <span>

#include "core/statistics/graph_statistics.h"
#include "storage/graph_view.h"
#include "storage/snapshot/partition_snapshot.h"

namespace koios::storage {

// Those of the partitions' snapshots together, which are what the graph was at `version`.
GraphStatistics StatisticsOf(uint64_t version, std::span<const PartitionSnapshot* const> snapshots);

// Those that come with a view, as long as it lives; null: it reads no snapshots, or they have
// nothing.
const GraphStatistics* StatisticsOf(const GraphView& view);

// How many different values there are in all parts together, when `parts` of them that share
// `values` values at random have `in_parts` of different ones, added up, and at most `most` in one:
// as many as would, were all of them equally frequent. Exact when all are different, and when all
// are in each part.
double DistinctOfParts(double values, double in_parts, double most, double parts);

}  // namespace koios::storage
