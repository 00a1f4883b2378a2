// Numbers: the counters from which a graph's new elements get their references and ids. Taken when
// a request adds an element, not when it commits, so that the request can speak of what it adds;
// numbers of requests that never commit stay unused. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include "storage/meta_state.h"

namespace koios::storage {

class Numbers {
 public:
  explicit Numbers(uint32_t num_partitions)
      : num_partitions_(num_partitions),
        vertex_locals_(new std::atomic<uint64_t>[num_partitions]),
        edge_locals_(new std::atomic<uint64_t>[num_partitions]) {
    for (uint32_t p = 0; p < num_partitions; ++p) {
      vertex_locals_[p] = kFirstVertexLocal;
      edge_locals_[p] = kFirstEdgeLocal;
    }
  }

  // None of the numbers that `meta` has given is given again.
  void SkipTo(const MetaState& meta) {
    for (uint32_t p = 0; p < num_partitions_; ++p) {
      RaiseTo(meta.next_vertex_local(p), &vertex_locals_[p]);
      RaiseTo(meta.next_edge_local(p), &edge_locals_[p]);
    }
    RaiseTo(meta.next_vertex_id(), &vertex_id_);
  }
  uint64_t TakeVertexLocal(uint32_t partition) { return vertex_locals_[partition].fetch_add(1); }
  uint64_t TakeEdgeLocal(uint32_t partition) { return edge_locals_[partition].fetch_add(1); }
  int64_t TakeVertexId() { return TakeVertexIds(1); }
  // The first of so many that follow each other.
  int64_t TakeVertexIds(int64_t count) { return vertex_id_.fetch_add(count); }
  // A user gave this id: it will not be assigned. As in MetaState, large ones are left aside, so
  // far below its bound that the ids assigned from here on stay below it, too.
  void NoteVertexId(int64_t id) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2 - (int64_t{1} << 48);
    if (id < kMost) RaiseTo(id + 1, &vertex_id_);
  }
  uint64_t next_vertex_local(uint32_t partition) const { return vertex_locals_[partition]; }
  uint64_t next_edge_local(uint32_t partition) const { return edge_locals_[partition]; }
  int64_t next_vertex_id() const { return vertex_id_; }

 private:
  template <typename T>
  static void RaiseTo(T least, std::atomic<T>* counter) {
    T seen = counter->load();
    while (seen < least && !counter->compare_exchange_weak(seen, least)) {
    }
  }

  const uint32_t num_partitions_;
  const std::unique_ptr<std::atomic<uint64_t>[]> vertex_locals_, edge_locals_;
  std::atomic<int64_t> vertex_id_{0};
};

}  // namespace koios::storage
