// Indexes of vertices by their properties, made and dropped while the graph is read and written.
// From its definition on, commits keep an index; the vertices that are there already get their
// entries part by part, in turn with commits; the index is asked when it is whole. One that is not
// when the graph is closed is removed when it is opened.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/schema.h"
#include "core/status.h"
#include "storage/rocks/graph_store.h"

namespace koios::storage {

struct IndexSpec {
  std::string label;
  std::vector<std::string> keys;  // in the order of the entries
};

// Told how many vertices it has looked at. An error ends the build, and the index goes.
using IndexWatch = std::function<Status(uint64_t vertices)>;

struct IndexReport {
  uint64_t vertices = 0;  // of the label
  uint64_t entries = 0;   // of those that have the first key
  double seconds = 0;
};

// Returns when the index is ready, or gone again. ALREADY_EXISTS: there is one of these keys, in
// this order; INVALID_ARGUMENT: no keys, one that is twice, names that can't be; ABORTED: somebody
// dropped it meanwhile; RESOURCE_EXHAUSTED: too many indexes or keys, or the disk is full;
// FAILED_PRECONDITION: the graph can't be written. Waits while a load is appended.
StatusOr<IndexReport> CreateIndex(GraphStore* store, const IndexSpec& spec,
                                  const IndexWatch& watch = nullptr);

// One that is ready or being built. NOT_FOUND.
Status DropIndex(GraphStore* store, const IndexSpec& spec);

// About so many bytes of the graph are the index's.
uint64_t IndexBytes(const GraphStore& store, IndexId index);

}  // namespace koios::storage
