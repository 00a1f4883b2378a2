#include "storage/codec/index_entry.h"

#include <algorithm>

#include "storage/codec/value_place.h"

namespace koios::storage {
namespace {

const Value* Find(std::span<const std::pair<KeyId, Value>> properties, KeyId key) {
  const auto found = std::lower_bound(properties.begin(), properties.end(), key,
                                      [](const std::pair<KeyId, Value>& property, KeyId wanted) {
                                        return property.first < wanted;
                                      });
  return found != properties.end() && found->first == key ? &found->second : nullptr;
}

bool Needs(const VertexIndexes& indexes, LabelId label, KeyId key) {
  return std::any_of(indexes.begin(), indexes.end(), [&](const auto& index) {
    return index.second.label == label &&
           std::find(index.second.keys.begin(), index.second.keys.end(), key) !=
               index.second.keys.end();
  });
}

bool HasAny(const VertexIndexes& indexes, LabelId label) {
  return std::any_of(indexes.begin(), indexes.end(),
                     [label](const auto& index) { return index.second.label == label; });
}

}  // namespace

std::string PlacesOfEntry(std::span<const KeyId> keys,
                          std::span<const std::pair<KeyId, Value>> properties) {
  std::string places;
  if (Find(properties, keys[0]) == nullptr) return places;
  for (const KeyId key : keys) {
    if (const Value* value = Find(properties, key)) {
      AppendPlace(*value, &places);
    } else {
      AppendNoPlace(&places);
    }
  }
  return places;
}

void AppendIndexKeys(const VertexIndexes& indexes, VertexRef vertex, LabelId label,
                     std::span<const std::pair<KeyId, Value>> properties,
                     std::vector<std::string>* out) {
  for (const auto& [id, index] : indexes) {
    if (index.label != label) continue;
    const std::string places = PlacesOfEntry(index.keys, properties);
    if (!places.empty()) out->push_back(VertexIndexKey(vertex, id, places));
  }
}

StatusOr<KeyedProperties> IndexedProperties(const VertexIndexes& indexes, LabelId label,
                                            std::string_view properties) {
  KeyedProperties out;
  if (!HasAny(indexes, label)) return out;
  PropertyReader reader(properties);
  while (reader.Next()) {
    if (!Needs(indexes, label, reader.key())) continue;
    ASSIGN_OR_RETURN(Value value, reader.value());
    out.emplace_back(reader.key(), std::move(value));
  }
  RETURN_IF_ERROR(reader.status());
  return out;
}

}  // namespace koios::storage
