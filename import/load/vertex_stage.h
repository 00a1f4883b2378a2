// The vertices of an import: read, sorted by id, told from duplicates, given references. The first
// vertex of an id in the input stays; later ones are reported. Numbers go by label, then by id, so
// that the vertices of a label are one run of each partition.
#pragma once

#include <memory>

#include "core/status.h"
#include "import/load/id_table.h"
#include "import/load/load_context.h"
#include "import/load/vertex_map.h"
#include "import/sort/bin_sorter.h"

namespace koios::import {

struct LoadedVertices {
  std::unique_ptr<BinSorter> records;  // vertex key -> vertex record
  // How the ends of edges are found: in memory, or where the ids do not fit (or the graph has
  // vertices already) by joins.
  std::unique_ptr<IdTable> table;
  uint64_t table_bytes = 0;  // held of the sorters' room
  VertexMap map;
};

StatusOr<LoadedVertices> LoadVertices(LoadContext* context);

}  // namespace koios::import
