#include "engine/effect/member_set.h"

#include <algorithm>

#include "core/value_compare.h"
#include "storage/codec/equality_hash.h"

namespace koios::engine {
namespace {

constexpr size_t kMostLookedAt = 8;

uint64_t HashOf(const Value& value) {
  const bool is_element = value.kind() == ValueKind::kVertex || value.kind() == ValueKind::kEdge;
  return is_element ? EquivalenceHash(value) : storage::EqualityHash(value);
}

bool IsAmong(const ValueList& members, const Value& value) {
  return std::any_of(members.begin(), members.end(),
                     [&value](const Value& member) { return Equals(value, member); });
}

}  // namespace

void MemberSet::Add(const Value& value) {
  ValueList& alike = members_[HashOf(value)];
  // Where many hash alike (collections, NaN) it is cheaper to keep one twice than to look.
  if (alike.size() >= kMostLookedAt || !IsAmong(alike, value)) alike.push_back(value);
}

bool MemberSet::Contains(const Value& value) const {
  const auto found = members_.find(HashOf(value));
  return found != members_.end() && IsAmong(found->second, value);
}

}  // namespace koios::engine
