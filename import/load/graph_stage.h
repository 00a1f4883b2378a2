// The last stage of an import: the vertices, their labels, both ends of each edge and the index are
// written partition by partition, and beside them, from the same sorted records, the snapshot.
#pragma once

#include <cstdint>
#include <memory>

#include "core/status.h"
#include "import/load/edge_stage.h"
#include "import/load/load_context.h"
#include "import/load/vertex_stage.h"

namespace koios::import {

struct WrittenGraph {
  bool has_snapshot = false;
  Status snapshot_failed;  // the graph is whole all the same
};

StatusOr<WrittenGraph> WriteGraph(LoadContext* context, LoadedVertices vertices, LoadedEdges edges);

}  // namespace koios::import
