#include "engine/effect/member_set.h"

#include <algorithm>

#include "core/path/path.h"
#include "core/value_compare.h"
#include "storage/codec/equality_hash.h"

namespace koios::engine {
namespace {

constexpr size_t kMostLookedAt = 8;
// Integers that are rounded to one float hash alike: 129 of each kind of numbers.
constexpr size_t kMostNumbers = 512;
constexpr uint64_t kFactor = 0x9E3779B97F4A7C15u;

template <typename List>
uint64_t HashOfAll(const List& members) {
  uint64_t hash = members.size();
  for (const Value& member : members) hash = hash * kFactor + MemberHash(member);
  return hash;
}

template <typename Table, typename... Args>
auto& Insert(uint64_t key, size_t* moved, Counted* room, Table* table, Args&&... args) {
  const StatusOr<size_t> made = table->MakeRoom(key, room);
  CHECK(made.ok());
  *moved += *made;
  return table->Emplace(key, std::forward<Args>(args)...);
}

bool IsKept(const ValueList& members, const Value& value) {
  return std::any_of(members.begin(), members.end(),
                     [&value](const Value& member) { return Equivalent(value, member); });
}

bool IsAmong(const ValueList& members, const Value& value) {
  return std::any_of(members.begin(), members.end(),
                     [&value](const Value& member) { return Equals(value, member); });
}

}  // namespace

// Recursion is bounded by the depth of values.
uint64_t MemberHash(const Value& value) {
  uint64_t sum = 1;
  switch (value.kind()) {
    case ValueKind::kVertex:
    case ValueKind::kEdge:
      return EquivalenceHash(value);
    case ValueKind::kList:
      return HashOfAll(value.AsList());
    case ValueKind::kPath:
      return HashOfAll(PathObjects(value.AsPath()));
    case ValueKind::kSet:
      for (const Value& member : value.AsList()) sum += MemberHash(member) * kFactor;
      return sum;
    case ValueKind::kMap:
      for (const auto& [key, member] : value.AsMap()) {
        sum += (MemberHash(key) * kFactor + MemberHash(member)) * kFactor;
      }
      return sum;
    default:
      return storage::EqualityHash(value);
  }
}

bool MemberSet::Add(const Value& value) {
  if (value.is_number() && !Equals(value, value)) return false;  // NaN equals nothing
  if (value.kind() == ValueKind::kVertex) {
    const uint64_t bits = value.AsVertex().bits;
    if (vertices_.Contains(bits)) return false;
    Insert(bits, &moved_, &room_, &vertices_);
    return true;
  }
  const uint64_t hash = MemberHash(value);
  auto* const found = others_.Find(hash);
  auto& entry = found != nullptr ? *found : Insert(hash, &moved_, &room_, &others_, ValueList());
  ValueList& alike = entry.second;
  // Where many hash alike it is cheaper to keep one twice than to look. Equal ones that differ are
  // both kept: 2^53 + 1 equals the double 2^53, and not the long.
  const size_t most = value.is_number() ? kMostNumbers : kMostLookedAt;
  const bool is_new = alike.size() >= most || !IsKept(alike, value);
  if (!is_new) return false;
  room_.Return(RoomOf(alike));
  alike.push_back(value);
  (void)room_.Take(RoomOf(alike));
  return true;
}

bool MemberSet::Contains(const Value& value) const {
  if (value.kind() == ValueKind::kVertex) return vertices_.Contains(value.AsVertex().bits);
  const auto* found = others_.Find(MemberHash(value));
  return found != nullptr && IsAmong(found->second, value);
}

}  // namespace koios::engine
