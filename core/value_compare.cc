#include "core/value_compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/arithmetic.h"
#include "core/big_number.h"
#include "core/compare/in_order.h"
#include "core/path/path.h"
#include "core/value_salt.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace koios {
namespace {

using Order = std::strong_ordering;
using Partial = std::optional<std::partial_ordering>;

// The order of types in order(). On no wire: may be renumbered.
enum class Rank : uint8_t {
  kNull,
  kBool,
  kNumber,
  kDateTime,
  kString,
  kUuid,
  kVertex,
  kEdge,
  kVertexProperty,
  kProperty,
  kPath,
  kSet,
  kList,
  kMap,
  kChar,
  kDuration,
  kBinary,
  kToken,
  kDirection,
};

Rank ElementRank(ElementData::Type type) {
  switch (type) {
    case ElementData::Type::kVertex:
      return Rank::kVertex;
    case ElementData::Type::kEdge:
      return Rank::kEdge;
    case ElementData::Type::kVertexProperty:
      return Rank::kVertexProperty;
    case ElementData::Type::kProperty:
      return Rank::kProperty;
  }
  return Rank::kVertex;
}

Rank RankOf(const Value& v) {
  switch (v.kind()) {
    case ValueKind::kNull:
      return Rank::kNull;
    case ValueKind::kBool:
      return Rank::kBool;
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kInt:
    case ValueKind::kLong:
    case ValueKind::kBigInt:
    case ValueKind::kFloat:
    case ValueKind::kDouble:
    case ValueKind::kBigDecimal:
      return Rank::kNumber;
    case ValueKind::kString:
      return Rank::kString;
    case ValueKind::kChar:
      return Rank::kChar;
    case ValueKind::kDateTime:
      return Rank::kDateTime;
    case ValueKind::kDuration:
      return Rank::kDuration;
    case ValueKind::kUuid:
      return Rank::kUuid;
    case ValueKind::kBinary:
      return Rank::kBinary;
    case ValueKind::kList:
      return Rank::kList;
    case ValueKind::kSet:
      return Rank::kSet;
    case ValueKind::kMap:
      return Rank::kMap;
    case ValueKind::kVertex:
      return Rank::kVertex;
    case ValueKind::kEdge:
      return Rank::kEdge;
    case ValueKind::kVertexProperty:
      return Rank::kVertexProperty;
    case ValueKind::kProperty:
      return Rank::kProperty;
    case ValueKind::kPath:
      return Rank::kPath;
    case ValueKind::kElement:
      return ElementRank(v.AsElement().type);
    case ValueKind::kToken:
      return Rank::kToken;
    case ValueKind::kDirection:
      return Rank::kDirection;
  }
  return Rank::kNull;
}

Order Sign(int v) { return v <=> 0; }

// REQUIRES: neither is NaN. 0.0 and -0.0 are one value.
Order OrderReals(double a, double b) {
  return a < b ? Order::less : a > b ? Order::greater : Order::equal;
}

// By exact value: a double beyond 2^53 may lie between two integers. REQUIRES: b is not NaN.
Order OrderIntegerReal(int64_t a, double b) {
  if (b >= 0x1p63) return Order::less;
  if (b < -0x1p63) return Order::greater;
  const double whole = std::trunc(b);
  const auto integer = static_cast<int64_t>(whole);
  if (a != integer) return a <=> integer;
  return OrderReals(whole, b);
}

// `exact`: doubles by their binary value; else by the decimal they print as, as TinkerPop does.
// REQUIRES: v is a finite number.
BigNumber ToBig(const Value& v, bool exact) {
  if (IsBig(v)) return v.AsBigNumber();
  if (!IsReal(v)) return BigNumber::FromInteger(v.AsInteger());
  if (exact) return *BigNumber::FromDoubleExactly(v.AsDouble());
  if (v.kind() == ValueKind::kDouble) return *BigNumber::FromDouble(v.AsDouble());
  return *BigNumber::FromFloat(static_cast<float>(v.AsDouble()));
}

Order OrderBig(const Value& a, const Value& b, bool exact) {
  if (IsReal(a) && std::isinf(a.AsDouble())) return OrderReals(a.AsDouble(), 0);
  if (IsReal(b) && std::isinf(b.AsDouble())) return OrderReals(0, b.AsDouble());
  return Sign(CompareNumbers(ToBig(a, exact), ToBig(b, exact)));
}

// Exact values. REQUIRES: neither is NaN.
Order OrderExactly(const Value& a, const Value& b) {
  if (IsBig(a) || IsBig(b)) return OrderBig(a, b, true);
  if (IsReal(a)) {
    if (IsReal(b)) return OrderReals(a.AsDouble(), b.AsDouble());
    return 0 <=> OrderIntegerReal(b.AsInteger(), a.AsDouble());
  }
  if (IsReal(b)) return OrderIntegerReal(a.AsInteger(), b.AsDouble());
  return a.AsInteger() <=> b.AsInteger();
}

bool IsNegativeZero(const Value& v) {
  return IsReal(v) && v.AsDouble() == 0 && std::signbit(v.AsDouble());
}

// The total order of numbers: exact values, -0.0 before all other zeros, NaN last.
Order OrderNumbers(const Value& a, const Value& b) {
  if (IsNaN(a) || IsNaN(b)) return IsNaN(a) <=> IsNaN(b);
  const Order exact = OrderExactly(a, b);
  return exact != 0 ? exact : IsNegativeZero(b) <=> IsNegativeZero(a);
}

// As P.lt and friends see two numbers: both promoted to the wider class, which for an integer of
// at most 32 bits and a float is float, for other fixed widths double. REQUIRES: no NaN.
Order PromotedOrder(const Value& a, const Value& b) {
  if (IsBig(a) || IsBig(b)) return OrderBig(a, b, false);
  if (!IsReal(a) && !IsReal(b)) return a.AsInteger() <=> b.AsInteger();
  const auto wide = [](const Value& v) {
    return v.kind() == ValueKind::kLong || v.kind() == ValueKind::kDouble;
  };
  const bool narrow = !wide(a) && !wide(b);
  const auto promote = [narrow](const Value& v) {
    if (IsReal(v)) return v.AsDouble();
    if (narrow) return static_cast<double>(static_cast<float>(v.AsInteger()));
    return static_cast<double>(v.AsInteger());
  };
  return OrderReals(promote(a), promote(b));
}

// Bytes compare as unsigned.
Order OrderStrings(const std::string& a, const std::string& b) { return Sign(a.compare(b)); }

Order OrderDateTimes(const DateTime& a, const DateTime& b) {
  if (a.seconds != b.seconds) return a.seconds <=> b.seconds;
  if (a.nanos != b.nanos) return a.nanos <=> b.nanos;
  return a.offset_seconds <=> b.offset_seconds;
}

Order OrderDurations(const Duration& a, const Duration& b) {
  return a.seconds != b.seconds ? a.seconds <=> b.seconds : a.nanos <=> b.nanos;
}

// Halves as signed numbers: java.util.UUID does so.
Order OrderUuids(const Uuid& a, const Uuid& b) {
  const auto half = [](uint64_t v) { return static_cast<int64_t>(v); };
  return a.high != b.high ? half(a.high) <=> half(b.high) : half(a.low) <=> half(b.low);
}

// The key and value of a property, in either form: a reference or detached.
struct Property {
  const std::string& key;
  const Value& value;
};
Property PropertyOf(const Value& v) {
  if (v.kind() == ValueKind::kElement) return {v.AsElement().label, v.AsElement().value};
  if (v.kind() == ValueKind::kProperty) return {v.AsProperty().key, v.AsProperty().value};
  return {v.AsVertexProperty().key, v.AsVertexProperty().value};
}

bool SameLabels(const PathNode& a, const PathNode& b) {
  return a.label_list() == b.label_list() || std::ranges::equal(a.labels(), b.labels());
}

// Two paths side by side from their ends. `same(a, b)` of the last ones, then of those before them.
// `kKnown`: what they share is the same, and not looked at.
template <bool kKnown, typename Same>
bool SamePaths(const PathNode& a, const PathNode& b, Same same) {
  if (a.length() != b.length()) return false;
  const PathNode* p = &a;
  const PathNode* q = &b;
  for (; p != nullptr && !(kKnown && p == q); p = p->parent(), q = q->parent()) {
    if (!SameLabels(*p, *q) || !same(p->object(), q->object())) return false;
  }
  return true;
}

// Everything that needs no members to be compared. REQUIRES: the same rank, both scalar or
// references.
Order OrderScalars(Rank rank, const Value& a, const Value& b) {
  switch (rank) {
    case Rank::kNull:
      return Order::equal;
    case Rank::kBool:
      return a.AsBool() <=> b.AsBool();
    case Rank::kNumber:
      return OrderNumbers(a, b);
    case Rank::kDateTime:
      return OrderDateTimes(a.AsDateTime(), b.AsDateTime());
    case Rank::kString:
    case Rank::kBinary:
      return OrderStrings(a.AsString(), b.AsString());
    case Rank::kUuid:
      return OrderUuids(a.AsUuid(), b.AsUuid());
    case Rank::kChar:
      return a.AsChar() <=> b.AsChar();
    case Rank::kDuration:
      return OrderDurations(a.AsDuration(), b.AsDuration());
    case Rank::kToken:
      return a.AsToken() <=> b.AsToken();
    case Rank::kDirection:
      return a.AsDirection() <=> b.AsDirection();
    case Rank::kVertex:
      return a.AsVertex().bits <=> b.AsVertex().bits;
    case Rank::kEdge:
      return a.AsEdge().id <=> b.AsEdge().id;
    case Rank::kVertexProperty:
    case Rank::kProperty:
    case Rank::kPath:
    case Rank::kSet:
    case Rank::kList:
    case Rank::kMap:
      break;
  }
  return Order::equal;
}

// `member` (TotalOrder or Compare) decides on the values.
template <typename Member>
auto OrderProperties(const Value& a, const Value& b, Member member) -> decltype(member(a, b)) {
  const Property p = PropertyOf(a), q = PropertyOf(b);
  const Order keys = OrderStrings(p.key, q.key);
  if (keys != 0) return keys;
  return member(p.value, q.value);
}

// Detached elements by id, references by their bits; references before detached ones, which no
// query mixes.
template <typename Member>
auto OrderElements(Rank rank, const Value& a, const Value& b, Member member)
    -> decltype(member(a, b)) {
  const bool detached_a = a.kind() == ValueKind::kElement;
  const bool detached_b = b.kind() == ValueKind::kElement;
  if (detached_a != detached_b) return detached_a ? Order::greater : Order::less;
  if (detached_a) return member(a.AsElement().id, b.AsElement().id);
  if (rank != Rank::kVertexProperty) return OrderScalars(rank, a, b);
  const VertexPropertyData &p = a.AsVertexProperty(), &q = b.AsVertexProperty();
  if (p.owner != q.owner) return p.owner.bits <=> q.owner.bits;
  return OrderProperties(a, b, member);
}

template <typename List>
Order OrderLists(const List& a, const List& b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    const Order order = TotalOrder(a[i], b[i]);
    if (order != 0) return order;
  }
  return a.size() <=> b.size();
}

// What both begin with is not looked at.
Order OrderPaths(const PathNode& a, const PathNode& b) {
  if (a.length() == 0 || b.length() == 0) return a.length() <=> b.length();
  const PathNode* p = &a;
  const PathNode* q = &b;
  while (p->length() > b.length()) p = p->parent();
  while (q->length() > a.length()) q = q->parent();
  while (p != q && p != nullptr) p = p->parent(), q = q->parent();
  return OrderLists(PathObjects(&a, p), PathObjects(&b, p));
}

// Key, value, key, value, ... in the order of the keys.
ValueList SortedEntries(const ValueMap& map) {
  ValueList list;
  list.reserve(map.size() * 2);
  for (auto& [key, value] : Sorted(map)) {
    list.push_back(key);
    list.push_back(value);
  }
  return list;
}

// Pairs that can't be compared make the whole incomparable, wherever they are: as in TinkerPop,
// [1, 'a'] and [2, 3] are incomparable although 1 < 2. The shorter of two that begin alike is less.
// Visits each pair of members once: twice per level would be exponential in the depth.
template <typename List>
Partial CompareLists(const List& a, const List& b) {
  std::partial_ordering result = a.size() <=> b.size();
  bool differ = false;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const Partial order = Compare(a[i], b[i]);
    if (!order.has_value() || *order == std::partial_ordering::unordered) return std::nullopt;
    if (!differ && *order != 0) {
      result = *order;
      differ = true;
    }
  }
  return result;
}

bool EqualLists(const ValueList& a, const ValueList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), Equals);
}

bool EqualSets(const ValueList& a, const ValueList& b) {
  return a.size() == b.size() && EqualLists(Sorted(a), Sorted(b));
}

bool EqualMaps(const ValueMap& a, const ValueMap& b) {
  return a.size() == b.size() && EqualLists(SortedEntries(a), SortedEntries(b));
}

using ValueSet = absl::flat_hash_set<Value, ValueHash, ValueEquivalent>;

bool EquivalentLists(const ValueList& a, const ValueList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), Equivalent);
}

// Sets and maps in the same order need no hashing. A pair of members is compared again only when
// its hashes are equal, so the cost stays linear in size times depth.
bool EquivalentSets(const ValueList& a, const ValueList& b) {
  if (a.size() != b.size()) return false;
  size_t i = 0;
  while (i < a.size() && Equivalent(a[i], b[i])) ++i;
  if (i == a.size()) return true;
  const auto rest = static_cast<std::ptrdiff_t>(i);
  const ValueSet members(a.begin() + rest, a.end());
  return std::all_of(b.begin() + rest, b.end(),
                     [&](const Value& v) { return members.contains(v); });
}

bool EquivalentMaps(const ValueMap& a, const ValueMap& b) {
  if (a.size() != b.size()) return false;
  size_t i = 0;
  for (; i < a.size() && Equivalent(a[i].first, b[i].first); ++i) {
    if (!Equivalent(a[i].second, b[i].second)) return false;
  }
  absl::flat_hash_map<Value, const Value*, ValueHash, ValueEquivalent> entries;
  for (size_t j = i; j < a.size(); ++j) entries.emplace(a[j].first, &a[j].second);
  for (; i < b.size(); ++i) {
    const auto it = entries.find(b[i].first);
    if (it == entries.end() || !Equivalent(*it->second, b[i].second)) return false;
  }
  return true;
}

bool EquivalentElements(const ElementData& a, const ElementData& b) {
  if (a.type != b.type) return false;
  if (a.type != ElementData::Type::kProperty) return Equivalent(a.id, b.id);
  return a.label == b.label && Equivalent(a.value, b.value);
}

uint64_t Mix(uint64_t seed, uint64_t v) { return XXH3_64bits_withSeed(&v, sizeof(v), seed); }

uint64_t HashBytes(uint64_t seed, std::string_view bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

template <typename List>
uint64_t HashList(uint64_t seed, const List& list, uint64_t salt) {
  uint64_t hash = Mix(seed, list.size());
  for (const Value& v : list) hash = Mix(hash, SaltedHash(v, salt));
  return hash;
}

// The order of members does not matter.
uint64_t HashSet(uint64_t seed, const ValueList& list, uint64_t salt) {
  uint64_t sum = 0;
  for (const Value& v : list) sum += SaltedHash(v, salt);
  return Mix(seed, sum);
}

uint64_t HashMap(uint64_t seed, const ValueMap& map, uint64_t salt) {
  uint64_t sum = 0;
  for (const auto& [k, value] : map) sum += Mix(SaltedHash(k, salt), SaltedHash(value, salt));
  return Mix(seed, sum);
}

uint64_t HashPath(uint64_t seed, const PathNode& path, uint64_t salt) {
  const PathObjects objects(path);
  uint64_t hash = HashList(seed, objects, salt);
  size_t labelled = objects.size();  // up to the last one with labels
  while (labelled > 0 && objects.LabelsOf(labelled - 1).empty()) --labelled;
  for (size_t i = 0; i < labelled; ++i) {
    hash = Mix(hash, objects.LabelsOf(i).size());
    for (const std::string& label : objects.LabelsOf(i)) hash = HashBytes(hash, label);
  }
  return hash;
}

uint64_t HashElement(uint64_t seed, const ElementData& e, uint64_t salt) {
  const uint64_t hash = Mix(seed, static_cast<uint64_t>(e.type));
  if (e.type != ElementData::Type::kProperty) return Mix(hash, SaltedHash(e.id, salt));
  return Mix(HashBytes(hash, e.label), SaltedHash(e.value, salt));
}

}  // namespace

bool Equals(const Value& a, const Value& b) {
  if (a.kind() == ValueKind::kString && b.kind() == ValueKind::kString) {
    return a.AsString() == b.AsString();
  }
  if (a.is_number() && b.is_number()) {
    return !IsNaN(a) && !IsNaN(b) && PromotedOrder(a, b) == 0;
  }
  const Rank rank = RankOf(a);
  if (rank != RankOf(b)) return false;
  switch (rank) {
    case Rank::kList:
      return EqualLists(a.AsList(), b.AsList());
    case Rank::kSet:
      return EqualSets(a.AsList(), b.AsList());
    case Rank::kMap:
      return EqualMaps(a.AsMap(), b.AsMap());
    case Rank::kPath:
      return SamePaths<false>(a.AsPath(), b.AsPath(), Equals);  // NaN is not even itself
    case Rank::kNull:
    case Rank::kBool:
    case Rank::kNumber:
    case Rank::kDateTime:
    case Rank::kString:
    case Rank::kUuid:
    case Rank::kVertex:
    case Rank::kEdge:
    case Rank::kVertexProperty:
    case Rank::kProperty:
    case Rank::kChar:
    case Rank::kDuration:
    case Rank::kBinary:
    case Rank::kToken:
    case Rank::kDirection:
      break;
  }
  const Partial order = Compare(a, b);
  return order.has_value() && *order == 0;
}

std::optional<std::partial_ordering> Compare(const Value& a, const Value& b) {
  const Rank rank = RankOf(a);
  if (rank != RankOf(b)) return std::nullopt;
  switch (rank) {
    case Rank::kNumber:
      if (IsNaN(a) || IsNaN(b)) return std::partial_ordering::unordered;
      return PromotedOrder(a, b);
    case Rank::kList:
      return CompareLists(a.AsList(), b.AsList());
    case Rank::kPath:
      return CompareLists(PathObjects(a.AsPath()), PathObjects(b.AsPath()));
    case Rank::kSet:
      return CompareLists(Sorted(a.AsList()), Sorted(b.AsList()));
    case Rank::kMap:
      return CompareLists(SortedEntries(a.AsMap()), SortedEntries(b.AsMap()));
    case Rank::kVertex:
    case Rank::kEdge:
    case Rank::kVertexProperty:
      return OrderElements(rank, a, b, Compare);
    case Rank::kProperty:
      return OrderProperties(a, b, Compare);
    case Rank::kNull:
    case Rank::kBool:
    case Rank::kDateTime:
    case Rank::kString:
    case Rank::kUuid:
    case Rank::kChar:
    case Rank::kDuration:
    case Rank::kBinary:
    case Rank::kToken:
    case Rank::kDirection:
      return OrderScalars(rank, a, b);
  }
  return std::nullopt;
}

std::strong_ordering TotalOrder(const Value& a, const Value& b) {
  const Rank rank = RankOf(a), other = RankOf(b);
  if (rank != other) return rank <=> other;
  switch (rank) {
    case Rank::kVertex:
    case Rank::kEdge:
    case Rank::kVertexProperty:
      return OrderElements(rank, a, b, TotalOrder);
    case Rank::kProperty:
      return OrderProperties(a, b, TotalOrder);
    case Rank::kPath:
      return OrderPaths(a.AsPath(), b.AsPath());
    case Rank::kList:
      return OrderLists(a.AsList(), b.AsList());
    case Rank::kSet:
      return OrderLists(Sorted(a.AsList()), Sorted(b.AsList()));
    case Rank::kMap:
      return OrderLists(SortedEntries(a.AsMap()), SortedEntries(b.AsMap()));
    case Rank::kNull:
    case Rank::kBool:
    case Rank::kNumber:
    case Rank::kDateTime:
    case Rank::kString:
    case Rank::kUuid:
    case Rank::kChar:
    case Rank::kDuration:
    case Rank::kBinary:
    case Rank::kToken:
    case Rank::kDirection:
      return OrderScalars(rank, a, b);
  }
  return Order::equal;
}

uint64_t EquivalenceBits(double v) {
  return std::bit_cast<uint64_t>(std::isnan(v) ? std::numeric_limits<double>::quiet_NaN() : v);
}

bool Equivalent(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case ValueKind::kNull:
      return true;
    case ValueKind::kBool:
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kInt:
    case ValueKind::kLong:
    case ValueKind::kChar:
    case ValueKind::kToken:
    case ValueKind::kDirection:
      return a.AsInteger() == b.AsInteger();
    case ValueKind::kFloat:
    case ValueKind::kDouble:
      return EquivalenceBits(a.AsDouble()) == EquivalenceBits(b.AsDouble());
    case ValueKind::kBigInt:
    case ValueKind::kBigDecimal:
      return a.AsBigNumber() == b.AsBigNumber();
    case ValueKind::kString:
    case ValueKind::kBinary:
      return a.AsString() == b.AsString();
    case ValueKind::kDateTime:
      return a.AsDateTime() == b.AsDateTime();
    case ValueKind::kDuration:
      return a.AsDuration() == b.AsDuration();
    case ValueKind::kUuid:
      return a.AsUuid() == b.AsUuid();
    case ValueKind::kList:
      return EquivalentLists(a.AsList(), b.AsList());
    case ValueKind::kSet:
      return EquivalentSets(a.AsList(), b.AsList());
    case ValueKind::kMap:
      return EquivalentMaps(a.AsMap(), b.AsMap());
    case ValueKind::kVertex:
      return a.AsVertex() == b.AsVertex();
    case ValueKind::kEdge:
      return a.AsEdge() == b.AsEdge();
    case ValueKind::kVertexProperty:
      return a.AsVertexProperty().owner == b.AsVertexProperty().owner &&
             a.AsVertexProperty().key == b.AsVertexProperty().key &&
             Equivalent(a.AsVertexProperty().value, b.AsVertexProperty().value);
    case ValueKind::kProperty:
      // An edge's property has no identity of its own: key and value are all of it.
      return a.AsProperty().key == b.AsProperty().key &&
             Equivalent(a.AsProperty().value, b.AsProperty().value);
    case ValueKind::kPath:
      return SamePaths<true>(a.AsPath(), b.AsPath(), Equivalent);
    case ValueKind::kElement:
      return EquivalentElements(a.AsElement(), b.AsElement());
  }
  return false;
}

uint64_t EquivalenceHash(const Value& v) { return SaltedHash(v, 0); }

uint64_t SaltedHash(const Value& v, uint64_t salt) {
  const auto kind = static_cast<uint64_t>(v.kind());
  const uint64_t seed = salt == 0 ? kind : Mix(salt, kind);
  switch (v.kind()) {
    case ValueKind::kNull:
      return Mix(seed, 0);
    case ValueKind::kBool:
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kInt:
    case ValueKind::kLong:
    case ValueKind::kChar:
    case ValueKind::kToken:
    case ValueKind::kDirection:
      return Mix(seed, static_cast<uint64_t>(v.AsInteger()));
    case ValueKind::kFloat:
    case ValueKind::kDouble:
      return Mix(seed, EquivalenceBits(v.AsDouble()));
    case ValueKind::kBigInt:
    case ValueKind::kBigDecimal:
      return HashBytes(Mix(seed, static_cast<uint64_t>(v.AsBigNumber().scale)),
                       EncodeUnscaled(v.AsBigNumber()));
    case ValueKind::kString:
    case ValueKind::kBinary:
      return HashBytes(seed, v.AsString());
    case ValueKind::kDateTime: {
      const DateTime d = v.AsDateTime();
      return Mix(Mix(Mix(seed, static_cast<uint64_t>(d.seconds)), static_cast<uint64_t>(d.nanos)),
                 static_cast<uint64_t>(d.offset_seconds));
    }
    case ValueKind::kDuration:
      return Mix(Mix(seed, static_cast<uint64_t>(v.AsDuration().seconds)),
                 static_cast<uint64_t>(v.AsDuration().nanos));
    case ValueKind::kUuid:
      return Mix(Mix(seed, v.AsUuid().high), v.AsUuid().low);
    case ValueKind::kList:
      return HashList(seed, v.AsList(), salt);
    case ValueKind::kSet:
      return HashSet(seed, v.AsList(), salt);
    case ValueKind::kMap:
      return HashMap(seed, v.AsMap(), salt);
    case ValueKind::kVertex:
      return Mix(seed, v.AsVertex().bits);
    case ValueKind::kEdge:
      return Mix(seed, v.AsEdge().id);
    case ValueKind::kVertexProperty:
      return HashBytes(Mix(Mix(seed, v.AsVertexProperty().owner.bits),
                           SaltedHash(v.AsVertexProperty().value, salt)),
                       v.AsVertexProperty().key);
    case ValueKind::kProperty:
      return HashBytes(Mix(seed, SaltedHash(v.AsProperty().value, salt)), v.AsProperty().key);
    case ValueKind::kPath:
      return HashPath(seed, v.AsPath(), salt);
    case ValueKind::kElement:
      return HashElement(seed, v.AsElement(), salt);
  }
  return seed;
}

StatusOr<Value> MakeSet(ValueList values) {
  ValueSet seen;
  seen.reserve(values.size());
  ValueList distinct;
  for (Value& v : values) {
    if (seen.insert(v).second) distinct.push_back(std::move(v));
  }
  return Value::Set(std::move(distinct));
}

}  // namespace koios
