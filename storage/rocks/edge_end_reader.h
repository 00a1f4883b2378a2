// EdgeEndReader: walks the stored edge ends of vertices in key order through one iterator that is
// made when first needed and moved from vertex to vertex. Belongs to one call of a view.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "core/status.h"
#include "core/types.h"
#include "storage/rocks/database.h"

namespace koios::storage {

// The ends of one vertex in one direction (out or in), of one label or (kNoName) all, and of one
// label to one neighbour or (none) all.
struct EndsKey {
  VertexRef vertex;
  Direction direction = Direction::kOut;
  LabelId label = kNoName;
  std::optional<VertexRef> neighbour;
};

class EdgeEndReader {
 public:
  explicit EdgeEndReader(const Snapshot& snapshot) : snapshot_(snapshot) {}

  // Positions at the first end that the key is of and that is after the key `after` (empty: at the
  // first). REQUIRES: a key with a neighbour has a label.
  void Seek(const EndsKey& key, std::string_view after);
  bool Valid() const { return iterator_->Valid(); }
  // After !Valid(): whether the end was reached in good order.
  Status status() const { return FromRocks(iterator_->status(), "Reading edges"); }
  void Next() { iterator_->Next(); }
  // REQUIRES: Valid().
  Status Read(EdgeEnd* end) const { return DecodeEdgeEndKey(AsView(iterator_->key()), end); }

 private:
  const Snapshot& snapshot_;
  std::array<char, 21> upper_bytes_{};
  rocksdb::Slice upper_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

}  // namespace koios::storage
