// Schema: the interned names of one graph (labels, property keys) and what is known of their types.
// Schema-free: names appear when first used. Immutable once published in a view; any thread.
#pragma once

#include <array>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/shared_map.h"
#include "core/types.h"
#include "core/value.h"

namespace koios {

// Names to dense ids from 1. One table for vertex and edge labels, one for property keys.
class NameTable {
 public:
  // kNoName when absent.
  uint32_t Find(std::string_view name) const;
  uint32_t Intern(std::string_view name);
  // Stays as long as the table does, whatever is added. REQUIRES: 1 <= id <= size().
  const std::string& Name(uint32_t id) const;
  uint32_t size() const { return static_cast<uint32_t>(names_.size()); }

 private:
  SharedMap<uint32_t, std::shared_ptr<const std::string>> names_;
  SharedMap<std::string_view, uint32_t> ids_;  // of these strings
};

// An index of the vertices of a label that have the first of some properties: by their values, in
// the order of the keys.
struct VertexIndex {
  LabelId label = kNoName;
  std::vector<KeyId> keys;  // at least one, distinct
  // Only then it has all these vertices, and may be asked.
  bool ready = false;
  uint64_t distinct = 0;  // about so many values it had when it was built; 0: not known
  bool operator==(const VertexIndex&) const = default;
};
using IndexId = uint32_t;
using VertexIndexes = std::map<IndexId, VertexIndex>;

// How many elements have each label; a label that none has is not there. A copy shares its pages
// until one of the two changes, so that a commit costs the same however many labels there are.
class LabelCounts {
  static constexpr size_t kPage = 512;
  using Page = std::array<uint64_t, kPage>;

 public:
  using value_type = std::pair<LabelId, uint64_t>;
  // In order of the labels. Gives pairs, not references.
  class Iterator {
   public:
    struct Arrow {
      value_type value;
      const value_type* operator->() const { return &value; }
    };
    Iterator(const LabelCounts* counts, size_t at) : counts_(counts), at_(at) { Skip(); }
    value_type operator*() const { return {static_cast<LabelId>(at_), counts_->Get(at_)}; }
    Arrow operator->() const { return {**this}; }
    Iterator& operator++() {
      ++at_;
      Skip();
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    void Skip();
    const LabelCounts* counts_;
    size_t at_;
  };

  LabelCounts() = default;
  LabelCounts(std::initializer_list<value_type> counts) {
    for (const auto& [label, count] : counts) (*this)[label] = count;
  }
  // To be set or added to at once; 0: it goes.
  uint64_t& operator[](LabelId label);
  uint64_t Count(LabelId label) const { return Get(label); }
  bool contains(LabelId label) const { return Get(label) != 0; }
  Iterator begin() const { return Iterator(this, 0); }
  Iterator end() const { return Iterator(this, capacity()); }
  bool empty() const { return begin() == end(); }
  size_t size() const;
  // Adds what `now` has more, or fewer, than `before`, of which it is a copy that was changed:
  // looks at those pages only that the two do not share.
  void AddGrowth(const LabelCounts& now, const LabelCounts& before);
  bool operator==(const LabelCounts& other) const;

 private:
  size_t capacity() const { return pages_.size() * kPage; }
  uint64_t Get(size_t label) const {
    return label < capacity() && pages_[label / kPage] != nullptr
               ? (*pages_[label / kPage])[label % kPage]
               : 0;
  }

  std::vector<std::shared_ptr<Page>> pages_;  // null: all are 0
};

// (label, key) -> the one kind its values had so far; absent: never used; kNull: mixed.
class PropertyKinds {
 public:
  using Name = std::pair<LabelId, KeyId>;
  using Map = SharedMap<Name, ValueKind>;
  // A value of this kind was stored. Whether that was news.
  bool Note(LabelId label, KeyId key, ValueKind kind);
  void Set(LabelId label, KeyId key, ValueKind kind) { map_.Set({label, key}, kind); }
  bool contains(const Name& name) const { return !(find(name) == end()); }
  // REQUIRES: contains(name).
  ValueKind at(const Name& name) const { return find(name)->second; }
  Map::Iterator find(const Name& name) const { return map_.find(name); }
  Map::Iterator lower_bound(const Name& name) const { return map_.lower_bound(name); }
  Map::Iterator begin() const { return map_.begin(); }
  Map::Iterator end() const { return map_.end(); }
  size_t size() const { return map_.size(); }
  // As SharedMap's.
  template <typename Visit>
  void ForEachNew(const PropertyKinds& before, const Visit& visit) const {
    map_.ForEachNew(before.map_, visit);
  }
  bool operator==(const PropertyKinds& other) const { return map_ == other.map_; }

 private:
  Map map_;
};

// A copy costs little, whatever the number of names; so does a new name.
struct Schema {
  NameTable labels;
  NameTable keys;
  PropertyKinds property_kinds;
  VertexIndexes vertex_indexes;
  // Labels in use by vertices and by edges, with counts as of the view.
  LabelCounts vertex_counts;
  LabelCounts edge_counts;

  // The index of just these keys, ready or not; nullopt: there is none.
  std::optional<IndexId> FindIndex(LabelId label, std::span<const KeyId> index_keys) const;
  // The indexes of just these keys that together have all vertices of the labels that have the
  // first key; empty `of_labels`: of all labels. nullopt: not all of them are there and ready.
  std::optional<std::vector<IndexId>> ReadyIndexes(std::span<const LabelId> of_labels,
                                                   std::span<const KeyId> index_keys) const;
};

// "person(name, age)"
std::string IndexName(std::string_view label, std::span<const std::string> keys);

}  // namespace koios
