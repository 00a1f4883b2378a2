// What making and opening indexes share: changes of a graph made in turn with its commits.
#pragma once

#include <cstdint>
#include <functional>

#include "core/status.h"
#include "storage/index_build.h"
#include "storage/rocks/store_state.h"
#include "storage/snapshot/distinct_count.h"

namespace koios::storage {

// Runs the work when its turn comes. Waits while a load is appended, and asks `stop` (null: never)
// whether to wait on.
Status TakeTurn(StoreState* state, const TurnWork& work, const std::function<Status()>& stop);

// Gives all vertices of its label their entries. The index is not ready yet.
class IndexBuild {
 public:
  IndexBuild(StoreState* state, IndexId index, const IndexWatch& watch)
      : state_(state), index_(index), watch_(watch) {}
  Status Run();
  uint64_t vertices() const { return vertices_; }
  uint64_t entries() const { return entries_; }
  uint64_t distinct() const { return distinct_.Estimate(); }

 private:
  Status WriteSome(rocksdb::WriteBatch* effects);
  Status Watch() const { return watch_ ? watch_(vertices_) : OkStatus(); }

  StoreState* const state_;
  const IndexId index_;
  const IndexWatch& watch_;
  uint32_t partition_ = 0;
  ScanCursor cursor_;
  uint64_t vertices_ = 0;
  uint64_t entries_ = 0;
  DistinctCount distinct_;
};

// The definition of a new index; then, when it has all entries; and its end, with what it has.
StatusOr<IndexId> DefineIndex(StoreState* state, const IndexSpec& spec,
                              const std::function<Status()>& stop);
Status RemoveIndex(StoreState* state, IndexId index);

// When a graph is opened for writing: what was not built to its end goes, and indexes of an older
// format are built anew. What fails is told to the log: without an index all is found by scans.
void FinishIndexes(StoreState* state);

}  // namespace koios::storage
