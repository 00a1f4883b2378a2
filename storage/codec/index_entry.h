// What a vertex has in the indexes of property values: one entry in each index of its label whose
// first key it has. An entry's key ends in the places of its values (value_place.h), one for each
// key of the index, and the vertex. So all vertices with equal values for the first keys stand
// together, ordered by the next.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/schema.h"
#include "core/status.h"
#include "core/types.h"
#include "storage/codec/records.h"

namespace koios::storage {

// Of an index; and of a graph, as each commit has to look at all.
inline constexpr size_t kMaxIndexKeys = 8;
inline constexpr size_t kMaxIndexes = 256;

// The places of an entry; empty when the first key is missing. `properties`: keys ascending.
std::string PlacesOfEntry(std::span<const KeyId> keys,
                          std::span<const std::pair<KeyId, Value>> properties);

// Appends the keys in vertex_index that a vertex with these properties has.
void AppendIndexKeys(const VertexIndexes& indexes, VertexRef vertex, LabelId label,
                     std::span<const std::pair<KeyId, Value>> properties,
                     std::vector<std::string>* out);

// Those of a record's properties that some index of the label needs.
StatusOr<KeyedProperties> IndexedProperties(const VertexIndexes& indexes, LabelId label,
                                            std::string_view properties);

}  // namespace koios::storage
