// PartedTable: a hash table of absl's that grows in pieces. Doubling a table of a million entries
// keeps a worker for tens of milliseconds, and takes the memory of both; so a table that has become
// large is taken apart by the hashes of its keys, and each part grows by itself, and is taken apart
// when it has become large. No growth moves more than kMostPlaces entries. (A trie of hash tables,
// as burst tries are of lists; Heinz, Zobel and Williams, 2002.)
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/memory/charged_growth.h"

namespace koios {

template <typename Table>
class PartedTable {
 public:
  // Of one part: with more it is taken apart.
  static constexpr size_t kMostPlaces = (size_t{1} << 12) - 1;

  // nullptr: it is not there.
  template <typename Key>
  const typename Table::value_type* Find(const Key& key) const {
    return FindIn(&root_, key);
  }
  template <typename Key>
  typename Table::value_type* Find(const Key& key) {
    return FindIn(&root_, key);
  }
  template <typename Key>
  bool Contains(const Key& key) const {
    return Find(key) != nullptr;
  }
  bool empty() const { return root_.table.empty() && root_.parts.empty(); }
  size_t size() const { return size_; }
  // What it has allocated, not what its entries have themselves.
  int64_t Room() const { return RoomOfNode(root_); }
  // Asks for the memory in which the key is looked for, ahead of that. A small table is near
  // anyway.
  template <typename Key>
  void Prefetch(const Key& key) const {
    if (!root_.parts.empty()) LeafOf(&root_, Mixed(HashOf(key))).node->table.prefetch(key);
  }

  // For one more entry, of this key: how many were moved for it. What entries hold outside the
  // table is the caller's to charge. RESOURCE_EXHAUSTED, and it is as it was.
  template <typename Key, typename Charge>
  StatusOr<size_t> MakeRoom(const Key& key, Charge* charge) {
    const uint64_t mixed = Mixed(HashOf(key));
    Leaf<Node> leaf = LeafOf(&root_, mixed);
    size_t moved = 0;
    while (leaf.depth < kMostDepth && leaf.node->table.capacity() >= kMostPlaces &&
           IsFull(leaf.node->table)) {
      moved += leaf.node->table.size();
      RETURN_IF_ERROR(TakeApart(leaf, charge));
      leaf = LeafOf(&root_, mixed);
    }
    Table& part = leaf.node->table;
    const size_t places = part.capacity();
    RETURN_IF_ERROR(koios::MakeRoom(&part, charge));
    return part.capacity() == places ? moved : moved + part.size();
  }
  // The new entry. REQUIRES: MakeRoom(key), and it is not there.
  template <typename Key, typename... Args>
  auto& Emplace(Key&& key, Args&&... args) {
    Table& part = LeafOf(&root_, Mixed(HashOf(key))).node->table;
    ++size_;
    return *part.emplace(std::forward<Key>(key), std::forward<Args>(args)...).first;
  }

  // Of a map: removes the entry, and gives what it had. Its part keeps its places. REQUIRES: it is
  // there.
  template <typename Key>
  auto Take(const Key& key) {
    const size_t hash = HashOf(key);
    Table& part = LeafOf(&root_, Mixed(hash)).node->table;
    const auto found = part.find(key, hash);
    auto value = std::move(found->second);
    part.erase(found);
    --size_;
    return value;
  }

  // Frees some entries; nothing but this is called any more. Adds the bytes that this frees, with
  // outside(entry) of each. True: none is left.
  template <typename Outside>
  bool FreeSome(int64_t* freed, const Outside& outside) {
    Node* node = &root_;
    Node* parent = nullptr;
    while (!node->parts.empty()) {
      parent = node;
      node = &node->parts.back();
    }
    Table& table = node->table;
    auto it = table.begin();
    size_t bytes = 0;
    for (size_t i = 0; i < kFreed && bytes < kFreedBytes && it != table.end(); ++i) {
      bytes += static_cast<size_t>(outside(*it));
      table.erase(it++);
      --size_;
    }
    *freed += static_cast<int64_t>(bytes);
    if (it != table.end()) return false;
    *freed += RoomOf(table);
    table = Table();
    if (parent == nullptr) return true;
    parent->parts.pop_back();
    if (parent->parts.empty()) *freed += kParts * sizeof(Node);
    return false;
  }

  bool FreeSome(int64_t* freed) {
    return FreeSome(freed, [](const auto&) { return 0; });
  }

  // Gives all entries away, part by part: use(entry) may take what an entry has.
  template <typename Use>
  void Drain(const Use& use) {
    DrainNode(&root_, use);
    size_ = 0;
  }

  // Where somebody is who looks at all entries.
  class Walk {
   private:
    friend class PartedTable;
    uint64_t from_ = 0;  // the first mixed hash of the part
    bool begun_ = false;
    bool ended_ = false;
    typename Table::const_iterator at_;
  };
  // Calls use(entry) for the next ones, `most` at most. False: there is none left. REQUIRES:
  // nothing changes in between.
  template <typename Use>
  bool WalkSome(Walk* walk, size_t most, const Use& use) const {
    size_t left = most;
    while (!walk->ended_ && left > 0) {
      const auto leaf = LeafOf(&root_, walk->from_);
      const Table& part = leaf.node->table;
      if (!walk->begun_) walk->at_ = part.begin();
      walk->begun_ = true;
      for (; left > 0 && walk->at_ != part.end(); --left) use(*walk->at_++);
      if (walk->at_ != part.end()) break;
      walk->begun_ = false;
      if (leaf.depth > 0) walk->from_ += uint64_t{1} << (64 - kBits * leaf.depth);
      walk->ended_ = walk->from_ == 0;
    }
    return left < most;
  }

 private:
  // In one call: entries, and bytes that these have outside, of which many small ones are freed.
  static constexpr size_t kFreed = 1024, kFreedBytes = 128 * 1024;
  static constexpr int kBits = 6;  // of a hash, that tell which part of a part
  static constexpr size_t kParts = size_t{1} << kBits;
  // Keys that still are together share too much of their hashes: their part doubles.
  static constexpr int kMostDepth = 6;

  struct Node {
    Table table;
    std::vector<Node> parts;  // not empty: the table is
  };
  template <typename N>
  struct Leaf {
    N* node;
    int depth;
  };

  // No deeper than kMostDepth.
  static int64_t RoomOfNode(const Node& node) {
    int64_t bytes = RoomOf(node.table) + RoomOf(node.parts);
    for (const Node& part : node.parts) bytes += RoomOfNode(part);
    return bytes;
  }
  template <typename Use>
  static void DrainNode(Node* node, const Use& use) {
    for (auto& entry : node->table) use(entry);
    node->table = Table();
    for (Node& part : node->parts) DrainNode(&part, use);
    node->parts = std::vector<Node>();
  }
  static bool IsFull(const Table& table) {
    return table.size() >= table.capacity() - table.capacity() / 8;
  }
  template <typename Key>
  size_t HashOf(const Key& key) const {
    return root_.table.hash_function()(key);
  }
  // absl looks for places by the lowest bits: parts are told by the highest.
  static uint64_t Mixed(size_t hash) {
    constexpr uint64_t kMix = 0x9E3779B97F4A7C15;
    return uint64_t{hash} * kMix;
  }
  static size_t NumberOf(uint64_t mixed) { return static_cast<size_t>(mixed >> (64 - kBits)); }
  template <typename N>
  static Leaf<N> LeafOf(N* root, uint64_t mixed) {
    Leaf<N> leaf{root, 0};
    for (; !leaf.node->parts.empty(); mixed <<= kBits, ++leaf.depth) {
      leaf.node = &leaf.node->parts[NumberOf(mixed)];
    }
    return leaf;
  }
  template <typename N, typename Key>
  static auto FindIn(N* root, const Key& key) -> decltype(&*root->table.begin()) {
    const size_t hash = root->table.hash_function()(key);
    auto& part = LeafOf(root, Mixed(hash)).node->table;
    const auto found = part.find(key, hash);
    return found == part.end() ? nullptr : &*found;
  }
  static const auto& KeyOf(const typename Table::value_type& entry) {
    if constexpr (requires { typename Table::mapped_type; }) {
      return entry.first;
    } else {
      return entry;
    }
  }

  template <typename Charge>
  Status TakeApart(const Leaf<Node>& leaf, Charge* charge) {
    Node* const node = leaf.node;
    const auto number_of = [&](const typename Table::value_type& entry) {
      return NumberOf(Mixed(HashOf(KeyOf(entry))) << (kBits * leaf.depth));
    };
    std::array<size_t, kParts> sizes{};
    for (const auto& entry : node->table) ++sizes[number_of(entry)];
    int64_t wanted = kParts * sizeof(Node);
    for (const size_t size : sizes) wanted += TableBytes<Table>(PlacesFor(size + 1));
    RETURN_IF_ERROR(charge->Take(wanted));
    int64_t has = kParts * sizeof(Node);
    std::vector<Node> parts(kParts);
    for (size_t i = 0; i < kParts; ++i) {
      parts[i].table.reserve(sizes[i] + 1);
      has += RoomOf(parts[i].table);
    }
    charge->Return(wanted - has);
    for (auto it = node->table.begin(); it != node->table.end();) {
      Table& part = parts[number_of(*it)].table;
      part.insert(node->table.extract(it++));
    }
    charge->Return(RoomOf(node->table));
    node->table = Table();
    node->parts = std::move(parts);
    return OkStatus();
  }

  Node root_;
  size_t size_ = 0;
};

}  // namespace koios
