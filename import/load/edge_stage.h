// The edges of an import: read, told from duplicates of given ids, numbered by (label, out vertex,
// in vertex), so that what a snapshot has of a label in a partition is one run of numbers, and
// written. Ends become references in the table of ids while they are read, or by two sort-merge
// joins with the vertices. What is left to write are both ends of each edge (graph_stage.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/status.h"
#include "core/types.h"
#include "import/load/load_context.h"
#include "import/load/vertex_stage.h"
#include "import/sort/bin_sorter.h"

namespace koios::import {

struct LoadedEdges {
  std::unique_ptr<BinSorter> by_out;  // edge key (record_block.h) -> payload
  // in vertex 8 | label 4 | out vertex 8 -> edge 8. Edges with equal keys come by their numbers.
  std::unique_ptr<BinSorter> by_in;
  // By partition and label: the number of the first edge in the order of by_out.
  std::vector<std::map<LabelId, uint64_t>> first_numbers;
};

// Frees what is not needed any more of `vertices`: how ids are found.
StatusOr<LoadedEdges> LoadEdges(LoadContext* context, LoadedVertices* vertices);

}  // namespace koios::import
