// OwnIndex: the entries that the vertices which a transaction added or changed would have in the
// indexes, so that its seeks find them. Entries are made when they are asked for: a vertex that
// changes again and again costs once. Belongs to its transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/schema.h"
#include "core/status.h"
#include "storage/graph_view.h"

namespace koios::storage {

class OwnIndex {
 public:
  // Of a vertex that is touched, which who touches it charges, at the load that such a table is
  // kept at.
  static constexpr size_t kTouchedBytes = 24;

  // Of the keys of all that are ready; of vertices of every label.
  explicit OwnIndex(const VertexIndexes& indexes);

  // Whether some index has the key.
  bool Has(KeyId key) const { return keys_.contains(key); }
  // The vertex was added, or a property that some index has was set or removed.
  void Touch(VertexRef vertex) { touched_.insert(vertex.bits); }
  bool IsTouched(VertexRef vertex) const { return touched_.contains(vertex.bits); }
  // Makes the entries of what was touched, with the properties that `view`, the transaction, has.
  // `charge` is asked before they are kept; negative: what is gone.
  using Charge = std::function<Status(int64_t bytes)>;
  Status Refresh(const GraphView& view, const Charge& charge);
  // Takes what `part` has, of other vertices and by the same indexes. Charges go with it.
  void Absorb(OwnIndex* part);
  // As GraphView::SeekVertices, of these vertices alone. REQUIRES: nothing was touched since the
  // last Refresh.
  void Seek(uint32_t partition, const VertexSeek& seek, SeekCursor* cursor, size_t limit,
            std::vector<VertexRef>* out) const;

 private:
  struct Entries {
    LabelId label = kNoName;
    std::vector<std::string> keys;
  };
  Status RefreshSome(const GraphView& view, std::span<const VertexRef> vertices,
                     const Charge& charge);

  std::vector<std::vector<KeyId>> shapes_;  // the different lists of keys; numbered in `entries_`
  std::set<KeyId> keys_;
  absl::flat_hash_set<uint64_t> touched_;
  std::set<std::string> entries_;  // VertexIndexKey, with the number of the shape
  absl::flat_hash_map<uint64_t, Entries> entries_of_;
};

}  // namespace koios::storage
