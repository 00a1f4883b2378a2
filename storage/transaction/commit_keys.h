// What a batch writes, guards and sets (conflict/conflict_window.h): the commit is decided by these
// keys alone. They are made where the batch is, from what the request read, so that nobody who
// commits waits for it.
#pragma once

#include "core/status.h"
#include "storage/graph_view.h"
#include "storage/write_batch.h"

namespace koios::storage {

// Fills batch->keys, with those found until then where it fails, and batch->gone_edges. `view`: of
// the version that the batch read, or a newer one. What was dropped by then is left out. NOT_FOUND:
// an element whose property is set, or an end of an added edge. ALREADY_EXISTS: an id of an added
// element. `max_bytes`: of what is dropped; RESOURCE_EXHAUSTED past it. `watch` is asked now and
// then.
Status CollectKeys(const GraphView& view, size_t max_bytes, const CommitWatch& watch,
                   WriteBatch* batch);

}  // namespace koios::storage
