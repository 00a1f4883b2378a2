// VertexMap: which reference each vertex id of the load got, as runs on disk sorted by the id's
// key, one per bin, and the resolver that walks one beside the sorted ends of that bin. This is a
// sort-merge join: memory does not depend on the number of vertices.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "core/types.h"
#include "import/load/record_batch.h"
#include "import/sort/temp_file.h"
#include "storage/graph_view.h"

namespace koios::import {

struct VertexMap {
  struct OfBin {
    std::unique_ptr<TempFile> file;  // null: the bin has no vertices of the load
    Run run;                         // id key -> VertexKey
  };
  std::vector<OfBin> bins;
};

// The key of an id family in words: 'abc' or 42.
std::string DescribeIdKey(std::string_view key);
// Of the bytes of an id.
std::string DescribeId(std::string_view id_bytes);

// Vertices of the records' keys in a graph: result[i] for records[i]; nullopt where there is none.
// Keys that are equal are looked up once. With `exactly`, a string that only spells an integer id
// is not found.
Status LookUpVertices(const storage::GraphView& view,
                      const std::vector<RecordBatch::Record>& records, bool exactly,
                      std::vector<std::optional<VertexRef>>* result);
// Whether edges of those ids exist.
Status LookUpEdges(const storage::GraphView& view, const std::vector<RecordBatch::Record>& records,
                   std::vector<bool>* result);

class EndpointResolver {
 public:
  // `existing` may be null.
  EndpointResolver(const VertexMap::OfBin& map, const storage::GraphView* existing,
                   size_t buffer_bytes);

  // REQUIRES: keys ascend within a batch and from batch to batch.
  Status Resolve(const RecordBatch& batch, std::vector<std::optional<VertexRef>>* result);

 private:
  StatusOr<std::optional<VertexRef>> FindInMap(std::string_view key);

  std::unique_ptr<RunReader> reader_;  // null: no more
  bool started_ = false;
  const storage::GraphView* existing_;
};

}  // namespace koios::import
