// Schema: the interned names of one graph (labels, property keys) and what is known of their types.
// Schema-free: names appear when first used. Immutable once published in a view; any thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/types.h"
#include "core/value.h"

namespace koios {

// Names to dense ids from 1. One table for vertex and edge labels, one for property keys.
class NameTable {
 public:
  // kNoName when absent.
  uint32_t Find(std::string_view name) const;
  uint32_t Intern(std::string_view name);
  // REQUIRES: 1 <= id <= size().
  const std::string& Name(uint32_t id) const;
  uint32_t size() const { return static_cast<uint32_t>(names_.size()); }

 private:
  std::vector<std::string> names_;
  std::map<std::string, uint32_t, std::less<>> ids_;
};

struct Schema {
  NameTable labels;
  NameTable keys;
  // (label, key) -> the one kind its values had so far; absent: never used; kNull: mixed.
  std::map<std::pair<LabelId, KeyId>, ValueKind> property_kinds;
  // (vertex label, key) that the store can seek by value.
  std::set<std::pair<LabelId, KeyId>> vertex_indexes;
  // Labels in use by vertices and by edges, with counts as of the view.
  std::map<LabelId, uint64_t> vertex_counts;
  std::map<LabelId, uint64_t> edge_counts;
};

}  // namespace koios
