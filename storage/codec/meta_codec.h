// The meta family: what a graph knows of itself, one small key per fact, so that a commit writes
// only the facts it changes. The first byte of a key tells the kind:
//   'F'                     format varint, partitions varint; the first key of all
//   'V'                     version varint
//   'I'                     next vertex id to assign, signed varint
//   'L' label 4             label's name            'K' key 4    property key's name
//   'k' label 4 | key 4     ValueKind byte          (kNull: mixed)
//   'X' index 4             an index of vertices (varints): 1 when it is ready, else 0; distinct
//                           values; label; keys. Empty: there is none any more
//   'x' label 4 | key 4     up to format 4: vertex_index has hashes of this property (empty)
//   'v' label 4             vertices of the label   'e' label 4  its edges (varint; 0: none)
//   'n' partition 2         next vertex local, next edge local (varints)
//   's' partition 2         its snapshot (varints): version; number, bytes and check of its file
//                           and of the older ones it reads from; empty: none
//   'l'                     log start varint: all commits after this version are in the log, and
//                           snapshots say what the graph was at it
//   'c' label 4 key 4, 'P'  kept for what properties with several values need: their cardinality,
//                           the next value id; refused as a newer version's (FAILED_PRECONDITION)
//   '~' version 8           the log of commits: delta/delta_record.h, of the commits up to it;
//                           behind all facts
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "core/types.h"
#include "core/value.h"

namespace koios::storage {

enum class MetaKind : char {
  kFormat = 'F',
  kVersion = 'V',
  kNextVertexId = 'I',
  kLabelName = 'L',
  kKeyName = 'K',
  kPropertyKind = 'k',
  kVertexIndex = 'X',
  kHashedIndex = 'x',
  kVertexCount = 'v',
  kEdgeCount = 'e',
  kNextLocals = 'n',
  kSnapshot = 's',
  kLogStart = 'l',
};

// A meta key in parts; those that the kind lacks are 0.
struct MetaKey {
  MetaKind kind = MetaKind::kFormat;
  uint32_t first = 0;   // label, property key of kKeyName, index or partition
  uint32_t second = 0;  // property key of kPropertyKind and kHashedIndex
};

std::string EncodeMetaKey(const MetaKey& key);
StatusOr<MetaKey> DecodeMetaKey(std::string_view bytes);  // DATA_LOSS

// Of the record that ends at the version. Its first byte tells it from facts.
inline constexpr char kLogPrefix = '~';
std::string LogKey(uint64_t version);
StatusOr<uint64_t> DecodeLogKey(std::string_view bytes);  // DATA_LOSS

std::string EncodeMetaNumber(uint64_t number);
StatusOr<uint64_t> DecodeMetaNumber(std::string_view bytes);
std::string EncodeMetaSigned(int64_t number);
StatusOr<int64_t> DecodeMetaSigned(std::string_view bytes);
std::string EncodeMetaPair(uint64_t first, uint64_t second);
Status DecodeMetaPair(std::string_view bytes, uint64_t* first, uint64_t* second);
std::string EncodeMetaNumbers(std::span<const uint64_t> numbers);
StatusOr<std::vector<uint64_t>> DecodeMetaNumbers(std::string_view bytes);

}  // namespace koios::storage
