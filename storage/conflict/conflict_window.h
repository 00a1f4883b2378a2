// ConflictWindow: decides whether a commit conflicts with those since the version it read. A table
// of hashed keys: the version of the last writer and of the last guard of each, over a bounded
// number of keys, and the requests of those commits; a read version older than the table reaches
// back is a conflict. Two keys of one hash can make a false conflict, never a missed one. Not
// thread-safe: the committer's.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/status.h"
#include "core/types.h"
#include "core/value.h"
#include "storage/conflict/conflict_turns.h"
#include "storage/conflict/request_id.h"

namespace koios::storage {

// Hashes of the units that conflict.
uint64_t ConflictKeyOfVertex(VertexRef vertex);  // its existence
uint64_t ConflictKeyOfEdge(uint64_t edge_id);    // its existence
uint64_t ConflictKeyOfVertexProperty(VertexRef vertex, std::string_view key);
uint64_t ConflictKeyOfEdgeProperty(uint64_t edge_id, std::string_view key);
uint64_t ConflictKeyOfVertexId(std::string_view id_bytes);
uint64_t ConflictKeyOfEdgeId(std::string_view id_bytes);
// Numbers that edges were assigned, and given ids that are such numbers, by blocks of numbers. Who
// adds one kind sets its key and guards the other's: neither conflicts with its own kind.
inline constexpr int kEdgeBlockBits = 10;
uint64_t ConflictKeyOfAssignedEdges(uint64_t block);
uint64_t ConflictKeyOfGivenEdges(uint64_t block);
// Appends those of (label, key, value) that a look-up asked for; an empty label means every label.
// Values that are equal have one in common: 1, 1L and 1.0, but also 0.1m and 0.1f. One, but for
// floats.
void AppendConflictKeysOfLookup(std::string_view label, std::string_view key, const Value& value,
                                std::vector<uint64_t>* out);
// What a look at edges asked for; an empty label means every label. `end`: kOut or kIn.
uint64_t ConflictKeyOfAdjacency(VertexRef vertex, Direction end, std::string_view label);
uint64_t ConflictKeyOfEdgesBetween(VertexRef out, VertexRef in, std::string_view label);
// A scan of all vertices or edges of a label, likewise.
uint64_t ConflictKeyOfVertexScan(std::string_view label);
uint64_t ConflictKeyOfEdgeScan(std::string_view label);

// What one commit writes and guards (DESIGN 7): ascending and distinct where it decides.
struct ConflictKeys {
  std::vector<uint64_t> writes;  // conflict with later writes and guards
  std::vector<uint64_t> guards;  // conflict with later writes and sets
  // Values set or removed, adjacency that grew or shrank: they invalidate guards, but are no
  // conflict among themselves (two people of one name, two edges of a hub may be added at once).
  std::vector<uint64_t> sets;

  size_t size() const { return writes.size() + guards.size() + sets.size(); }
  void MakeDistinct();
  bool operator==(const ConflictKeys&) const = default;
};

// The attempt of a request that was committed, and as which version.
struct CommittedRequest {
  uint32_t attempt = 0;
  uint64_t version = 0;
};

class ConflictWindow {
 public:
  // `version`: the graph's at open; nothing is known of commits up to it, and nobody can have read
  // an older one.
  ConflictWindow(uint64_t version, size_t max_keys) : floor_(version), max_keys_(max_keys) {}

  // ABORTED when `keys` conflict with what was recorded after `read_version`, or with what requests
  // before this one in `turns` claim; `turn` gets some of the keys that do. Null: it is nobody's.
  Status Validate(const ConflictKeys& keys, uint64_t read_version,
                  const ConflictTurns* turns = nullptr, CommitTurn* turn = nullptr) const;
  // A commit became `version`. REQUIRES: ascending versions. Its request, unless null, is
  // remembered as long as its keys would be.
  void Record(ConflictKeys keys, uint64_t version, const RequestId& request = {},
              uint32_t attempt = 0);
  std::optional<CommittedRequest> Find(const RequestId& request) const;
  // What was recorded behind `version` never was. What came before can't be decided any more, but
  // its requests are known.
  void GoBackTo(uint64_t version);

  // The oldest read version that can still be decided.
  uint64_t floor() const { return floor_; }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint64_t written = 0;
    uint64_t guarded = 0;
  };
  struct Commit {
    uint64_t version = 0;
    ConflictKeys keys;
    RequestId request;
    size_t cost() const { return keys.size() + (request.is_null() ? 0 : kKeysPerRequest); }
  };
  static constexpr size_t kKeysPerRequest = 2;  // that take as much memory
  void Forget();
  void ForgetKeys();

  uint64_t floor_;
  size_t max_keys_;
  size_t used_ = 0;  // of max_keys_
  absl::flat_hash_map<uint64_t, Entry> entries_;
  std::deque<Commit> commits_;
  absl::flat_hash_map<RequestId, CommittedRequest> requests_;  // of those commits
};

}  // namespace koios::storage
