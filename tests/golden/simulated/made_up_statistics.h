// Schema and statistics that say anything: what is planned with them is another plan, perhaps, and
// the same answer.
#pragma once

#include <cstdint>

#include "core/schema.h"
#include "core/statistics/graph_statistics.h"

namespace koios::golden {

// The same names and indexes, with counts that are drawn.
Schema MadeUpCounts(Schema schema, uint64_t seed);
GraphStatistics MadeUpStatistics(const Schema& schema, uint64_t seed);

}  // namespace koios::golden
