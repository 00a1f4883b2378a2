#include "storage/conflict/conflict_window.h"

#include <xxhash.h>

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "storage/codec/equality_hash.h"

namespace koios::storage {
namespace {

enum class Unit : uint64_t {
  kVertex = 1,
  kEdge = 2,
  kVertexProperty = 3,
  kEdgeProperty = 4,
  kVertexId = 5,
  kEdgeId = 6,
  kLookup = 7,
  kOutEdges = 8,
  kInEdges = 9,
  kEdgesBetween = 10,
  kVertexScan = 11,
  kEdgeScan = 12,
  kAssignedBlock = 13,
  kGivenBlock = 14,
};

uint64_t HashUnit(Unit unit, uint64_t number, std::string_view text) {
  const uint64_t seed = number * 0x9E3779B97F4A7C15ull + static_cast<uint64_t>(unit);
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

Status Conflict() {
  return Aborted("The request conflicts with a commit since it read the graph; try it again.");
}

}  // namespace

uint64_t ConflictKeyOfVertex(VertexRef vertex) { return HashUnit(Unit::kVertex, vertex.bits, ""); }
uint64_t ConflictKeyOfEdge(uint64_t edge_id) { return HashUnit(Unit::kEdge, edge_id, ""); }
uint64_t ConflictKeyOfVertexProperty(VertexRef vertex, std::string_view key) {
  return HashUnit(Unit::kVertexProperty, vertex.bits, key);
}
uint64_t ConflictKeyOfEdgeProperty(uint64_t edge_id, std::string_view key) {
  return HashUnit(Unit::kEdgeProperty, edge_id, key);
}
uint64_t ConflictKeyOfVertexId(std::string_view id_bytes) {
  return HashUnit(Unit::kVertexId, 0, id_bytes);
}
uint64_t ConflictKeyOfEdgeId(std::string_view id_bytes) {
  return HashUnit(Unit::kEdgeId, 0, id_bytes);
}
uint64_t ConflictKeyOfAssignedEdges(uint64_t block) {
  return HashUnit(Unit::kAssignedBlock, block, "");
}
uint64_t ConflictKeyOfGivenEdges(uint64_t block) { return HashUnit(Unit::kGivenBlock, block, ""); }
void AppendConflictKeysOfLookup(std::string_view label, std::string_view key, const Value& value,
                                std::vector<uint64_t>* out) {
  const size_t before = out->size();
  AppendEqualityHashes(value, out);
  for (size_t i = before; i < out->size(); ++i) {
    (*out)[i] = HashUnit(Unit::kLookup, HashUnit(Unit::kLookup, (*out)[i], label), key);
  }
}
uint64_t ConflictKeyOfAdjacency(VertexRef vertex, Direction end, std::string_view label) {
  return HashUnit(end == Direction::kOut ? Unit::kOutEdges : Unit::kInEdges, vertex.bits, label);
}
uint64_t ConflictKeyOfEdgesBetween(VertexRef out, VertexRef in, std::string_view label) {
  return HashUnit(Unit::kEdgesBetween, HashUnit(Unit::kEdgesBetween, out.bits, "") ^ in.bits,
                  label);
}
uint64_t ConflictKeyOfVertexScan(std::string_view label) {
  return HashUnit(Unit::kVertexScan, 0, label);
}
uint64_t ConflictKeyOfEdgeScan(std::string_view label) {
  return HashUnit(Unit::kEdgeScan, 0, label);
}

Status ConflictWindow::Validate(const ConflictKeys& keys, uint64_t read_version,
                                const ConflictTurns* turns, CommitTurn* turn) const {
  if (read_version < floor_) {
    return Aborted("The request read version " + std::to_string(read_version) +
                   ", which is too old to be decided (the oldest is " + std::to_string(floor_) +
                   "); try it again.");
  }
  const ConflictTurns::Ticket ticket = turn == nullptr ? 0 : turn->ticket;
  const bool claims = turns != nullptr && turns->HasClaims();
  std::vector<ClaimedKey> conflicts;
  const auto check = [&](const std::vector<uint64_t>& all, Claim claim) {
    for (const uint64_t key : all) {
      if (conflicts.size() == kMaxConflictsTold) return;
      bool conflict = claims && turns->IsClaimedBefore(ticket, key, claim);
      auto found = claim == Claim::kSet ? entries_.end() : entries_.find(key);
      if (found != entries_.end()) {
        conflict = conflict || found->second.written > read_version ||
                   (claim == Claim::kWrite && found->second.guarded > read_version);
      }
      if (conflict) conflicts.push_back({key, claim});
    }
  };
  check(keys.writes, Claim::kWrite);
  check(keys.guards, Claim::kGuard);
  if (claims) check(keys.sets, Claim::kSet);
  if (conflicts.empty()) return OkStatus();
  if (turn == nullptr) return Conflict();
  // What is guarded and set in one is a look that decided an insert: one such after the other.
  std::unordered_set<uint64_t> guarded;
  for (const ClaimedKey& conflict : conflicts) guarded.insert(conflict.key);
  for (const uint64_t key : keys.sets) {
    if (guarded.contains(key)) conflicts.push_back({key, Claim::kSet});
    guarded.erase(key);
  }
  turn->conflicts = std::move(conflicts);
  return Conflict();
}

void ConflictKeys::MakeDistinct() {
  for (std::vector<uint64_t>* keys : {&writes, &guards, &sets}) {
    // Mostly they are made so long before.
    if (std::adjacent_find(keys->begin(), keys->end(), std::greater_equal<>()) == keys->end()) {
      continue;
    }
    std::sort(keys->begin(), keys->end());
    keys->erase(std::unique(keys->begin(), keys->end()), keys->end());
  }
}

void ConflictWindow::Record(ConflictKeys keys, uint64_t version, const RequestId& request,
                            uint32_t attempt) {
  keys.MakeDistinct();
  if (keys.size() > max_keys_) {  // what is older can't be decided any more
    ForgetKeys();
    floor_ = version;
    keys = {};
  }
  for (const uint64_t key : keys.writes) entries_[key].written = version;
  for (const uint64_t key : keys.sets) entries_[key].written = version;
  for (const uint64_t key : keys.guards) entries_[key].guarded = version;
  if (!request.is_null()) requests_[request] = {attempt, version};
  commits_.push_back({version, std::move(keys), request});
  used_ += commits_.back().cost();
  while (used_ > max_keys_ && !commits_.empty()) Forget();
}

std::optional<CommittedRequest> ConflictWindow::Find(const RequestId& request) const {
  const auto found = requests_.find(request);
  return found == requests_.end() ? std::nullopt : std::optional(found->second);
}

void ConflictWindow::GoBackTo(uint64_t version) {
  while (!commits_.empty() && commits_.back().version > version) {
    requests_.erase(commits_.back().request);
    commits_.pop_back();
  }
  ForgetKeys();
  floor_ = version;
}

void ConflictWindow::ForgetKeys() {
  entries_.clear();
  std::erase_if(commits_, [](const Commit& commit) { return commit.request.is_null(); });
  used_ = 0;
  for (Commit& commit : commits_) {
    commit.keys = {};
    used_ += commit.cost();
  }
}

void ConflictWindow::Forget() {
  const Commit& oldest = commits_.front();
  for (const auto* keys : {&oldest.keys.writes, &oldest.keys.guards, &oldest.keys.sets}) {
    for (const uint64_t key : *keys) {
      auto found = entries_.find(key);
      if (found == entries_.end()) continue;
      if (std::max(found->second.written, found->second.guarded) <= oldest.version) {
        entries_.erase(found);
      }
    }
  }
  requests_.erase(oldest.request);
  used_ -= oldest.cost();
  floor_ = std::max(floor_, oldest.version);
  commits_.pop_front();
}

}  // namespace koios::storage
