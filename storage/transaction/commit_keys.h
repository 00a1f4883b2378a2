// How a batch becomes a CommitRecord: its numbers, what it drops, and what it writes, guards and
// sets (conflict/conflict_window.h). The commit is decided by these keys alone: whatever has to be
// looked up in the graph is looked up here, from what the request read, and guarded by a key, so
// that nobody who commits waits for it.
#pragma once

#include "core/status.h"
#include "storage/commit_record.h"
#include "storage/graph_view.h"
#include "storage/numbers.h"
#include "storage/write_batch.h"

namespace koios::storage {

// Gives the batch's elements the ids, references and numbers that they do not have yet: none that
// the graph or the batch has. INVALID_ARGUMENT: a bad id, an end that is not there.
Status AssignNumbers(const GraphView& view, Numbers* numbers, WriteBatch* batch);

// Makes the record of a batch whose elements have their numbers: all but who asks. `view`: of the
// version that the batch read, or a newer one. What was dropped by then is left out. NOT_FOUND: an
// element whose property is set, or an end of an added edge. ALREADY_EXISTS: an id of an added
// element; ABORTED: one that was assigned. The record then has the keys that were found until then.
// `max_bytes`: of what is dropped; RESOURCE_EXHAUSTED past it. `watch` is asked now and then.
Status MakeRecord(const GraphView& view, size_t max_bytes, const CommitWatch& watch,
                  WriteBatch batch, CommitRecord* record);

}  // namespace koios::storage
