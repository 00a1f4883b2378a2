// The paths of a frame: a table of the nodes that lead to them, each once, what leads to a node
// before it; and in the columns a number for each path. What rows share they share again when they
// have been read. Paths inside other values are with those (core/value_codec.h).
//   table   varint count of label lists, each: varint count, the labels
//           varint count of nodes; of each how many places before it its parent stands, 0 for a
//           first object, and the number of its label list, 0 for none, as varints
//           the objects as a column
//   column  per row a varint: 0 for what is no path, 1 for the path without objects, 2 + its node
//           the rows that are no paths, as a column
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/column.h"
#include "core/path/path.h"

namespace koios::engine {

class PathTableWriter {
 public:
  static bool HasPaths(const Column& column);
  void AddColumn(const Column& column, std::string* out);

  bool empty() const { return parents_.empty(); }
  // After all columns.
  void EncodeTo(std::string* out) const;

 private:
  uint64_t Add(const Value& path);

  absl::flat_hash_map<const PathNode*, uint64_t> places_;
  std::vector<uint64_t> parents_;  // how far before
  std::vector<uint64_t> lists_;
  std::map<PathLabels, uint64_t> list_numbers_;
  absl::flat_hash_map<const PathLabels*, uint64_t> known_lists_;
  Column objects_;
};

// The nodes are `ledger`'s. DATA_LOSS for bytes that are no such table, or no such column.
class PathTableReader {
 public:
  Status Decode(std::string_view bytes, PathLedger* ledger);
  StatusOr<Column> ReadColumn(std::string_view bytes, size_t rows) const;

 private:
  std::vector<Value> paths_;  // that end at each node
};

}  // namespace koios::engine
