// The edges of an import. Their ends become references by two sort-merge joins with the vertices,
// first the in end, then the out end, so that they arrive in the order in which they are numbered:
//   read -> (sort by edge id: duplicates) -> sort by in id -> join -> sort by out id -> join ->
//   write
// Memory does not depend on the number of vertices or edges.
#pragma once

#include "core/status.h"
#include "import/load/load_context.h"
#include "import/load/vertex_map.h"

namespace koios::import {

Status LoadEdges(LoadContext* context, const VertexMap& vertices);

}  // namespace koios::import
