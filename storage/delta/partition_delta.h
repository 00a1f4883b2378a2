// PartitionDelta: what was committed to one partition since its snapshot. One thread at a time
// adds, in order of versions; any number of threads read at the same time, each at a version that
// was published to it, without locks. What is clean is told by a few bits, without a version read.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/types.h"
#include "storage/delta/delta_arena.h"
#include "storage/delta/node_table.h"
#include "storage/delta/sorted_changes.h"
#include "storage/delta/touched_bits.h"

namespace koios::storage {

// What a version has of an element: as the base below says, nothing, or a record.
enum class DeltaState : uint8_t { kAsInBase, kGone, kChanged };

class PartitionDelta {
 public:
  // Reading.

  bool empty() const { return !changed_.load(std::memory_order_relaxed); }
  // Bits of TouchedBits: those that are not set say that the base has it all.
  uint8_t Touched(uint64_t local) const { return touched_.Of(local); }
  // Whether an edge of one of the labels (empty: any) may have come or gone. Direction: out or in.
  bool HasEnds(Direction direction, std::span<const LabelId> labels) const;
  // `record`: set when kChanged.
  DeltaState FindVertex(uint64_t local, uint64_t version, std::string_view* record) const;
  // Of an edge from here. `record` is empty of an edge that was added without id and properties.
  DeltaState FindEdge(const EdgeRef& edge, uint64_t version, std::string_view* record) const;
  // The vertex of the id; `local` is set when kChanged.
  DeltaState FindId(std::string_view id_bytes, uint64_t version, uint64_t* local) const;
  // Keys: label, neighbour, edge. Direction: out or in.
  SortedChanges::Reader Ends(uint64_t local, Direction direction, uint64_t version) const;
  // Vertices that came and went. Keys: 0, local, label.
  SortedChanges::Reader Vertices(uint64_t version) const { return {&vertices_, version}; }

  // Adding.

  void AddVertex(uint64_t local, LabelId label, std::string_view id_bytes, std::string_view record,
                 uint64_t version, DeltaArena* arena);
  void SetVertex(uint64_t local, std::string_view record, uint64_t version, DeltaArena* arena);
  void DropVertex(uint64_t local, LabelId label, std::string_view id_bytes, uint64_t version,
                  DeltaArena* arena);
  // The end of an edge that comes or goes, at the vertex here.
  void ChangeEnd(uint64_t local, Direction direction, const ChangeKey& key, bool added,
                 uint64_t version, DeltaArena* arena);
  // Of an edge from the vertex here.
  void SetEdge(uint64_t edge_id, uint64_t out_local, std::string_view record, uint64_t version,
               DeltaArena* arena);

 private:
  // What an element was from a version on; the newest first.
  struct Version {
    uint64_t version = 0;
    const Version* older = nullptr;
    std::string_view record;
    uint64_t local = 0;  // of an id
    bool gone = false;
  };
  struct NumberedNode {
    uint64_t hash = 0;
    uint64_t number = 0;
    std::atomic<const Version*> newest{nullptr};
    bool Is(uint64_t other) const { return number == other; }
  };
  struct IdNode {
    uint64_t hash = 0;
    std::string_view id_bytes;
    std::atomic<const Version*> newest{nullptr};
    bool Is(std::string_view other) const { return id_bytes == other; }
  };
  struct EndsNode {
    uint64_t hash = 0;
    uint64_t local = 0;
    SortedChanges changes;
    bool Is(uint64_t other) const { return local == other; }
  };
  // Labels whose number is the same modulo this are taken for one.
  static constexpr uint32_t kLabelBits = 1024;
  using LabelFilter = std::array<std::atomic<uint64_t>, kLabelBits / 64>;

  static size_t IndexOf(Direction direction) { return direction == Direction::kIn ? 1 : 0; }
  template <typename Node>
  static const Version* VersionOf(const Node* node, uint64_t version);
  static void Push(std::atomic<const Version*>* newest, const Version& next, DeltaArena* arena);
  static void PushTo(NodeTable<NumberedNode>* table, uint64_t number, const Version& next,
                     DeltaArena* arena);
  void PushId(std::string_view id_bytes, const Version& next, DeltaArena* arena);
  void Touch(uint64_t local, uint8_t bits, DeltaArena* arena);

  std::atomic<bool> changed_{false};
  TouchedBits touched_;
  std::array<LabelFilter, 2> labels_{};  // by direction
  NodeTable<NumberedNode> records_;      // by local
  NodeTable<NumberedNode> edges_;        // by edge: those with a record worth keeping
  NodeTable<IdNode> ids_;
  std::array<NodeTable<EndsNode>, 2> ends_;  // by direction
  SortedChanges vertices_;
};

}  // namespace koios::storage
