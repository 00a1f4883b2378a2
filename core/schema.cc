#include "core/schema.h"

#include <algorithm>

namespace koios {

uint32_t NameTable::Find(std::string_view name) const {
  const auto it = names_->ids.find(name);
  return it == names_->ids.end() ? kNoName : it->second;
}

uint32_t NameTable::Intern(std::string_view name) {
  const uint32_t known = Find(name);
  if (known != kNoName) return known;
  Names* const names = names_.Mutable();
  names->names.push_back(std::make_shared<const std::string>(name));
  const uint32_t id = size();
  names->ids.emplace(*names->names.back(), id);
  return id;
}

const std::string& NameTable::Name(uint32_t id) const {
  CHECK(id != kNoName && id <= size());
  return *names_->names[id - 1];
}

std::optional<IndexId> Schema::FindIndex(LabelId label, std::span<const KeyId> index_keys) const {
  for (const auto& [id, index] : vertex_indexes) {
    if (index.label == label && std::ranges::equal(index.keys, index_keys)) return id;
  }
  return std::nullopt;
}

std::optional<std::vector<IndexId>> Schema::ReadyIndexes(std::span<const LabelId> of_labels,
                                                         std::span<const KeyId> index_keys) const {
  std::vector<LabelId> wanted(of_labels.begin(), of_labels.end());
  if (wanted.empty()) {
    for (const auto& [label, count] : vertex_counts) {
      if (property_kinds.contains({label, index_keys[0]})) wanted.push_back(label);
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::vector<IndexId> found;
  for (const LabelId label : wanted) {
    const std::optional<IndexId> index = FindIndex(label, index_keys);
    if (!index || !vertex_indexes.at(*index).ready) return std::nullopt;
    found.push_back(*index);
  }
  if (found.empty()) return std::nullopt;
  return found;
}

std::string IndexName(std::string_view label, std::span<const std::string> keys) {
  std::string name = std::string(label) + "(";
  for (size_t i = 0; i < keys.size(); ++i) name += (i == 0 ? "" : ", ") + keys[i];
  return name + ")";
}

}  // namespace koios
