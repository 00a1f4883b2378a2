#include "storage/delta/partition_delta.h"

#include <algorithm>

#include "storage/snapshot/format.h"

namespace koios::storage {

bool PartitionDelta::HasEnds(Direction direction, std::span<const LabelId> labels) const {
  const LabelFilter& filter = labels_[IndexOf(direction)];
  if (labels.empty()) {
    return std::any_of(filter.begin(), filter.end(), [](const std::atomic<uint64_t>& word) {
      return word.load(std::memory_order_relaxed) != 0;
    });
  }
  return std::any_of(labels.begin(), labels.end(), [&](LabelId label) {
    const uint32_t bit = label % kLabelBits;
    return (filter[bit / 64].load(std::memory_order_relaxed) >> (bit % 64) & 1) != 0;
  });
}

template <typename Node>
const PartitionDelta::Version* PartitionDelta::VersionOf(const Node* node, uint64_t version) {
  if (node == nullptr) return nullptr;
  const Version* one = node->newest.load(std::memory_order_acquire);
  while (one != nullptr && one->version > version) one = one->older;
  return one;
}

DeltaState PartitionDelta::FindVertex(uint64_t local, uint64_t version,
                                      std::string_view* record) const {
  const Version* const found = VersionOf(records_.Find(HashOfNumber(local), local), version);
  if (found == nullptr) return DeltaState::kAsInBase;
  *record = found->record;
  return found->gone ? DeltaState::kGone : DeltaState::kChanged;
}

DeltaState PartitionDelta::FindEdge(const EdgeRef& edge, uint64_t version,
                                    std::string_view* record) const {
  const ChangeKey key{edge.label, edge.in.bits, edge.id};
  SortedChanges::Reader ends = Ends(edge.out.local(), Direction::kOut, version);
  ends.Seek(key);
  const int difference = ends.Valid() && ends.change().key == key ? ends.change().difference : 0;
  if (difference < 0) return DeltaState::kGone;
  const Version* const found = VersionOf(edges_.Find(HashOfNumber(edge.id), edge.id), version);
  if (found != nullptr && found->gone) return DeltaState::kGone;
  *record = found == nullptr ? std::string_view() : found->record;
  return difference > 0 || found != nullptr ? DeltaState::kChanged : DeltaState::kAsInBase;
}

DeltaState PartitionDelta::FindId(std::string_view id_bytes, uint64_t version,
                                  uint64_t* local) const {
  if (ids_.empty()) return DeltaState::kAsInBase;
  const Version* const found = VersionOf(ids_.Find(SnapshotCheck(id_bytes), id_bytes), version);
  if (found == nullptr) return DeltaState::kAsInBase;
  *local = found->local;
  return found->gone ? DeltaState::kGone : DeltaState::kChanged;
}

SortedChanges::Reader PartitionDelta::Ends(uint64_t local, Direction direction,
                                           uint64_t version) const {
  const EndsNode* const node = ends_[IndexOf(direction)].Find(HashOfNumber(local), local);
  return {node == nullptr ? nullptr : &node->changes, version};
}

void PartitionDelta::Push(std::atomic<const Version*>* newest, const Version& next,
                          DeltaArena* arena) {
  auto* const pushed = arena->Make<Version>(next);
  pushed->record = arena->Copy(next.record);
  pushed->older = newest->load(std::memory_order_relaxed);
  newest->store(pushed, std::memory_order_release);
}

void PartitionDelta::PushTo(NodeTable<NumberedNode>* table, uint64_t number, const Version& next,
                            DeltaArena* arena) {
  const uint64_t hash = HashOfNumber(number);
  NumberedNode* node = table->Find(hash, number);
  if (node == nullptr) {
    node = arena->Make<NumberedNode>();
    node->hash = hash;
    node->number = number;
    table->Add(node, arena);
  }
  Push(&node->newest, next, arena);
}

void PartitionDelta::PushId(std::string_view id_bytes, const Version& next, DeltaArena* arena) {
  const uint64_t hash = SnapshotCheck(id_bytes);
  IdNode* node = ids_.Find(hash, id_bytes);
  if (node == nullptr) {
    node = arena->Make<IdNode>();
    node->hash = hash;
    node->id_bytes = arena->Copy(id_bytes);
    ids_.Add(node, arena);
  }
  Push(&node->newest, next, arena);
}

void PartitionDelta::Touch(uint64_t local, uint8_t bits, DeltaArena* arena) {
  touched_.Set(local, bits, arena);
  changed_.store(true, std::memory_order_relaxed);
}

void PartitionDelta::AddVertex(uint64_t local, LabelId label, std::string_view id_bytes,
                               std::string_view record, uint64_t version, DeltaArena* arena) {
  PushTo(&records_, local, {version, nullptr, record}, arena);
  PushId(id_bytes, {version, nullptr, {}, local}, arena);
  vertices_.Add({kNoName, local, label}, /*added=*/true, version, arena);
  Touch(local, TouchedBits::kRecord, arena);
}

void PartitionDelta::SetVertex(uint64_t local, std::string_view record, uint64_t version,
                               DeltaArena* arena) {
  PushTo(&records_, local, {version, nullptr, record}, arena);
  Touch(local, TouchedBits::kRecord, arena);
}

void PartitionDelta::DropVertex(uint64_t local, LabelId label, std::string_view id_bytes,
                                uint64_t version, DeltaArena* arena) {
  PushTo(&records_, local, {version, nullptr, {}, 0, /*gone=*/true}, arena);
  PushId(id_bytes, {version, nullptr, {}, 0, /*gone=*/true}, arena);
  vertices_.Add({kNoName, local, label}, /*added=*/false, version, arena);
  Touch(local, TouchedBits::kRecord, arena);
}

void PartitionDelta::ChangeEnd(uint64_t local, Direction direction, const ChangeKey& key,
                               bool added, uint64_t version, DeltaArena* arena) {
  NodeTable<EndsNode>& table = ends_[IndexOf(direction)];
  const uint64_t hash = HashOfNumber(local);
  EndsNode* node = table.Find(hash, local);
  if (node == nullptr) {
    node = arena->Make<EndsNode>();
    node->hash = hash;
    node->local = local;
    table.Add(node, arena);
  }
  node->changes.Add(key, added, version, arena);
  const uint32_t bit = key.label % kLabelBits;
  std::atomic<uint64_t>& word = labels_[IndexOf(direction)][bit / 64];
  word.store(word.load(std::memory_order_relaxed) | uint64_t{1} << (bit % 64),
             std::memory_order_relaxed);
  const bool out = direction == Direction::kOut;
  Touch(local, out ? TouchedBits::kOutEnds | TouchedBits::kOutEdges : TouchedBits::kInEnds, arena);
}

// An empty record: the edge is dropped, which its ends tell of one of the base.
void PartitionDelta::SetEdge(uint64_t edge_id, uint64_t out_local, std::string_view record,
                             uint64_t version, DeltaArena* arena) {
  const bool dropped = record.empty();
  if (dropped && edges_.Find(HashOfNumber(edge_id), edge_id) == nullptr) return;
  PushTo(&edges_, edge_id, {version, nullptr, record, 0, dropped}, arena);
  Touch(out_local, TouchedBits::kOutEdges, arena);
}

}  // namespace koios::storage
