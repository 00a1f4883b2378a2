#include "storage/index/vertex_seek.h"

#include <algorithm>
#include <utility>

#include "storage/codec/keys.h"
#include "storage/codec/value_place.h"

namespace koios::storage {
namespace {

// The one kind that the property has in all these indexes; kNull: any.
ValueKind StoredKind(const Schema& schema, std::span<const IndexId> indexes, KeyId key) {
  std::optional<ValueKind> common;
  for (const IndexId id : indexes) {
    const auto known = schema.property_kinds.find({schema.vertex_indexes.at(id).label, key});
    if (known == schema.property_kinds.end()) continue;
    if (common && *common != known->second) return ValueKind::kNull;
    common = known->second;
  }
  return common.value_or(ValueKind::kNull);
}

PlaceRange RangeOfPrefix(std::string prefix) {
  std::string end = PrefixEnd(prefix);
  return {std::move(prefix), std::move(end)};
}

// The places of one key that a bound leaves.
PlaceRange RangeOf(const KeyBound& bound, ValueKind stored) {
  if (bound.op == KeyBound::Op::kStartsWith) {
    if (bound.value.kind() != ValueKind::kString) return {};
    return RangeOfPrefix(PrefixOfPlaces(bound.value.AsString()));
  }
  const Places places = PlacesOf(bound.value, stored);
  const bool exact = places.first == places.last && PlaceIsExact(bound.value, stored);
  const std::string tag(PlaceTag(places.first));
  switch (bound.op) {
    case KeyBound::Op::kGreater:
      return {exact ? PrefixEnd(places.first) : places.first, PrefixEnd(tag)};
    case KeyBound::Op::kAtLeast:
      return {places.first, PrefixEnd(tag)};
    case KeyBound::Op::kLess:
      return {tag, exact ? places.first : PrefixEnd(places.last)};
    case KeyBound::Op::kAtMost:
      return {tag, PrefixEnd(places.last)};
    case KeyBound::Op::kStartsWith:
      break;
  }
  return {};
}

// What all bounds leave; nullopt: nothing.
std::optional<PlaceRange> RangeOfAll(std::span<const KeyBound> bounds, ValueKind stored) {
  PlaceRange all = RangeOf(bounds[0], stored);
  for (const KeyBound& bound : bounds.subspan(1)) {
    PlaceRange one = RangeOf(bound, stored);
    all.begin = std::max(all.begin, one.begin);
    all.end = std::min(all.end, one.end);
  }
  return all.begin < all.end ? std::optional(std::move(all)) : std::nullopt;
}

void SortAndMerge(std::vector<PlaceRange>* ranges) {
  std::sort(ranges->begin(), ranges->end(),
            [](const PlaceRange& a, const PlaceRange& b) { return a.begin < b.begin; });
  std::vector<PlaceRange> merged;
  for (PlaceRange& range : *ranges) {
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(std::move(range));
    }
  }
  *ranges = std::move(merged);
}

}  // namespace

bool VertexSeek::Contains(std::string_view places) const {
  const auto behind = std::upper_bound(
      ranges.begin(), ranges.end(), places,
      [](std::string_view wanted, const PlaceRange& range) { return wanted < range.begin; });
  return behind != ranges.begin() && places < std::prev(behind)->end;
}

std::optional<VertexSeek> MakeSeek(const Schema& schema, std::span<const LabelId> labels,
                                   std::span<const KeyId> keys, std::span<const SoughtKey> sought,
                                   bool kinds_may_change) {
  if (keys.empty() || sought.empty() || sought.size() > keys.size()) return std::nullopt;
  std::optional<std::vector<IndexId>> indexes = schema.ReadyIndexes(labels, keys);
  if (!indexes) return std::nullopt;
  VertexSeek seek;
  seek.labels.assign(labels.begin(), labels.end());
  seek.indexes = *std::move(indexes);
  seek.keys.assign(keys.begin(), keys.end());
  std::vector<std::string> prefixes = {""};
  for (size_t i = 0; i < sought.size() && !prefixes.empty(); ++i) {
    const ValueKind stored =
        kinds_may_change ? ValueKind::kNull : StoredKind(schema, seek.indexes, keys[i]);
    const std::vector<std::string> before = std::exchange(prefixes, {});
    if (!sought[i].bounds.empty()) {
      const std::optional<PlaceRange> range = RangeOfAll(sought[i].bounds, stored);
      for (const std::string& prefix : before) {
        if (range) seek.ranges.push_back({prefix + range->begin, prefix + range->end});
      }
      break;
    }
    if (before.size() * sought[i].any_of.size() > kMaxSeekRanges) return std::nullopt;
    for (const Value& value : sought[i].any_of) {
      const Places places = PlacesOf(value, stored);
      for (const std::string& prefix : before) {
        if (places.first == places.last) {
          prefixes.push_back(prefix + places.first);
        } else {  // of several places: whatever the next keys have
          seek.ranges.push_back({prefix + places.first, PrefixEnd(prefix + places.last)});
        }
      }
    }
  }
  for (std::string& prefix : prefixes) seek.ranges.push_back(RangeOfPrefix(std::move(prefix)));
  SortAndMerge(&seek.ranges);
  return seek;
}

}  // namespace koios::storage
