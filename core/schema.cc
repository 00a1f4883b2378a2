#include "core/schema.h"

namespace koios {

uint32_t NameTable::Find(std::string_view name) const {
  const auto it = ids_.find(name);
  return it == ids_.end() ? kNoName : it->second;
}

uint32_t NameTable::Intern(std::string_view name) {
  const uint32_t known = Find(name);
  if (known != kNoName) return known;
  names_.emplace_back(name);
  const uint32_t id = size();
  ids_.emplace(names_.back(), id);
  return id;
}

const std::string& NameTable::Name(uint32_t id) const {
  CHECK(id != kNoName && id <= names_.size());
  return names_[id - 1];
}

}  // namespace koios
