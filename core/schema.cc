#include "core/schema.h"

#include <algorithm>

namespace koios {

uint32_t NameTable::Find(std::string_view name) const {
  const auto it = ids_.find(name);
  return it == ids_.end() ? kNoName : it->second;
}

uint32_t NameTable::Intern(std::string_view name) {
  const uint32_t known = Find(name);
  if (known != kNoName) return known;
  auto kept = std::make_shared<const std::string>(name);
  const uint32_t id = size() + 1;
  ids_.Set(*kept, id);
  names_.Set(id, std::move(kept));
  return id;
}

const std::string& NameTable::Name(uint32_t id) const {
  const auto it = names_.find(id);
  CHECK(!(it == names_.end()));
  return *it->second;
}

void LabelCounts::Iterator::Skip() {
  while (at_ < counts_->capacity() && counts_->Get(at_) == 0) {
    at_ += counts_->pages_[at_ / kPage] == nullptr ? kPage - at_ % kPage : 1;
  }
}

uint64_t& LabelCounts::operator[](LabelId label) {
  if (label >= capacity()) pages_.resize(label / kPage + 1);
  std::shared_ptr<Page>& page = pages_[label / kPage];
  if (page == nullptr) {
    page = std::make_shared<Page>();
  } else if (page.use_count() > 1) {
    page = std::make_shared<Page>(*page);
  }
  return (*page)[label % kPage];
}

size_t LabelCounts::size() const {
  size_t size = 0;
  for (auto it = begin(); !(it == end()); ++it) ++size;
  return size;
}

void LabelCounts::AddGrowth(const LabelCounts& now, const LabelCounts& before) {
  for (size_t p = 0; p < now.pages_.size(); ++p) {
    if (p < before.pages_.size() && now.pages_[p] == before.pages_[p]) continue;
    for (size_t label = p * kPage; label < (p + 1) * kPage; ++label) {
      const uint64_t growth = now.Get(label) - before.Get(label);
      if (growth != 0) (*this)[static_cast<LabelId>(label)] += growth;
    }
  }
}

bool LabelCounts::operator==(const LabelCounts& other) const {
  const size_t pages = std::max(pages_.size(), other.pages_.size());
  for (size_t p = 0; p < pages; ++p) {
    const Page* mine = p < pages_.size() ? pages_[p].get() : nullptr;
    const Page* theirs = p < other.pages_.size() ? other.pages_[p].get() : nullptr;
    if (mine == theirs) continue;
    for (size_t label = p * kPage; label < (p + 1) * kPage; ++label) {
      if (Get(label) != other.Get(label)) return false;
    }
  }
  return true;
}

bool PropertyKinds::Note(LabelId label, KeyId key, ValueKind kind) {
  const auto known = map_.find({label, key});
  if (known == map_.end()) {
    Set(label, key, kind);
    return true;
  }
  if (known->second == kind || known->second == ValueKind::kNull) return false;
  Set(label, key, ValueKind::kNull);
  return true;
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
