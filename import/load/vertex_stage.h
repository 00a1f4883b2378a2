// The vertices of an import: read, sorted by id, told from duplicates, given references, written.
// The first vertex of an id in the input stays; later ones are reported.
#pragma once

#include "core/status.h"
#include "import/load/load_context.h"
#include "import/load/vertex_map.h"

namespace koios::import {

StatusOr<VertexMap> LoadVertices(LoadContext* context);

}  // namespace koios::import
