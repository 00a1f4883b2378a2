// The bytes of a snapshot file: what one partition of a graph was at one version, ready to be
// mapped. Little-endian; numbers of kinds and fields never change, a newer format is refused.
//   0      header, 4 KiB; its last 8 bytes are the check (XXH3) of those before
//   4096   sections, each at a multiple of 64 bytes (of 4 KiB from 64 KiB on), and behind each, at
//          a multiple of 4, one check of 4 bytes per block of 16 KiB
//   then   the directory: one entry per section, with the check of its block checks
// The header's check covers the directory's, that the block checks', those the sections: who knows
// it knows the content. A file may take sections over from up to three older ones (its chain); its
// directory names them all.
//
// Arrays of bits are words of 8 bytes, the lowest bit first. A narrow reference of a vertex is
// partition << (32 - b) | local, b = bits of (num_partitions - 1); where one does not fit all of
// its array are 8 bytes, as VertexRef. Likewise any array of numbers is 4 bytes wide, or 8.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/status.h"
#include "core/types.h"

namespace koios::storage {

static_assert(std::endian::native == std::endian::little, "sections are mapped as they are");

inline constexpr uint32_t kSnapshotFormat = 1;
inline constexpr char kSnapshotMagic[8] = {'K', 'O', 'I', 'O', 'S', 'N', 'A', 'P'};
inline constexpr size_t kSnapshotHeaderBytes = 4096;
inline constexpr size_t kSnapshotBlockBytes = 16 * 1024;
inline constexpr size_t kMostOlderFiles = 3;
inline constexpr size_t kMostLabelRuns = 16;

// On disk: never renumber. In braces what one entry is; "set" is a label set's number.
enum class SectionKind : uint8_t {
  kLabelSet = 1,     // of a set: its labels {4}; rows: of its table of vertices
  kLabelRuns = 2,    // {LabelRun}, ascending, at most kMostLabelRuns; else the next two
  kSetOfLocal = 3,   // {1, 2 or 4}, all ones: no vertex
  kRowOfLocal = 4,   // {4 or 8}
  kAlive = 5,        // {bit} by local, for runs that go over vertices that are gone
  kIdTable = 6,      // {IdBucket}
  kAdjacency = 7,    // {AdjacencyFacts}: head of the following four
  kPresence = 8,     // {PresenceWord}: lists and offsets are of the rows that have any
  kListOffsets = 9,  // {4 or 8} absent: one neighbour each
  kNeighbours = 10,  // {4 or 8} narrow references, in each list by (neighbour, edge id)
  kEdgeIds = 11,     // by position: {2, 3, 4 or 8}, less `first_edge_id`; width 16: {EdgeIdRun};
                     // of in-edges, which may lack them, without the neighbour's partition
  // 12 and 13 are free.
  kColumn = 14,      // {ColumnFacts}: head of what follows
  kValidity = 15,    // {bit} by row; absent: all have a value
  kValues = 16,      // {1 to 16, width 0: bit}
  kCodes = 17,       // {1, 2 or 4} numbers of the dictionary's strings
  kDictionary = 18,  // {4 or 8} ends of its strings, which ascend
  kDictionaryHeap = 19,
  kHeapEnds = 20,  // {4 or 8} where the value of each row ends in the heap
  kHeap = 21,
  kItemEnds = 22,  // {4 or 8} where the items of each row end: then values are by item
  kValueIds = 23,  // {8} by item, when a row has several values
};

// What a section's rows are.
enum class SectionIndex : uint8_t {
  kPartition = 0,  // nothing or locals
  kVertex = 1,     // rows of (label set)
  kOut = 2,        // rows or positions of (label set, parent = edge label)
  kIn = 3,
  kValue = 4,  // items of the column (label set, parent = its key): meta-properties
};

// To whom a section belongs. Columns of ids have no key.
struct SectionName {
  SectionKind kind = SectionKind::kLabelSet;
  SectionIndex index = SectionIndex::kPartition;
  uint32_t set = 0;
  uint32_t parent = 0;
  uint32_t key = 0;
  auto operator<=>(const SectionName&) const = default;
  SectionName Of(SectionKind other) const { return {other, index, set, parent, key}; }
};

struct SectionEntry {
  uint8_t kind = 0;
  uint8_t index = 0;
  uint8_t width = 0;  // bytes of an entry; 0: bits
  uint8_t file = 0;   // in the chain: 0 is this one
  uint32_t set = 0;
  uint32_t parent = 0;
  uint32_t key = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t rows = 0;
  uint64_t block_checks_check = 0;

  SectionName name() const {
    return {static_cast<SectionKind>(kind), static_cast<SectionIndex>(index), set, parent, key};
  }
};
static_assert(sizeof(SectionEntry) == 48 && std::is_trivially_copyable_v<SectionEntry>);

// A file as others name it.
struct SnapshotFileName {
  uint64_t number = 0;  // files of a graph are counted up: a name is never used again
  uint64_t bytes = 0;
  uint64_t check = 0;  // its header's
  bool operator==(const SnapshotFileName&) const = default;
};

struct SnapshotHeader {
  char magic[8] = {};
  uint32_t format = kSnapshotFormat;
  uint32_t block_bytes = kSnapshotBlockBytes;
  uint64_t number = 0;
  uint64_t version = 0;  // of the graph
  uint32_t partition = 0;
  uint32_t num_partitions = 0;
  uint64_t bytes = 0;  // of the file
  uint64_t directory_offset = 0;
  uint64_t directory_check = 0;
  uint32_t num_sections = 0;
  uint32_t num_older = 0;
  SnapshotFileName older[kMostOlderFiles];
  uint64_t end_local = 0;  // locals of all vertices are below
  uint64_t num_vertices = 0;
  uint64_t num_out_edges = 0;
  uint64_t num_in_edges = 0;
};
static_assert(sizeof(SnapshotHeader) == 176 && std::is_trivially_copyable_v<SnapshotHeader>);
static_assert(sizeof(SnapshotHeader) + 8 <= kSnapshotHeaderBytes);

// Vertices [first_local, first_local + count) are the rows [first_row, ...) of a set.
struct LabelRun {
  uint64_t first_local = 0;
  uint64_t first_row = 0;
  uint64_t count = 0;
  uint32_t set = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(LabelRun) == 32);

inline constexpr size_t kIdsPerBucket = 12;
// A tag is never 0 in a slot that is taken. `passed`: ids that belong here and are in a bucket
// behind, because this one was full.
template <typename Local>
struct IdBucketOf {
  uint8_t tags[kIdsPerBucket] = {};
  uint32_t passed = 0;
  Local locals[kIdsPerBucket] = {};
};
static_assert(sizeof(IdBucketOf<uint32_t>) == 64 && sizeof(IdBucketOf<uint64_t>) == 112);

// Of 64 rows: which have any neighbours, and how many rows before them have.
struct PresenceWord {
  uint64_t bits = 0;
  uint64_t before = 0;
};
static_assert(sizeof(PresenceWord) == 16);

// Positions from `first_position` on have ids that count up from `first_id`.
struct EdgeIdRun {
  uint64_t first_position = 0;
  uint64_t first_id = 0;
};
static_assert(sizeof(EdgeIdRun) == 16);

inline constexpr size_t kDegreeClasses = 34;
// Of the vertices of one label set, in one direction, by one edge label.
struct AdjacencyFacts {
  uint64_t rows = 0;
  uint64_t rows_with_any = 0;
  uint64_t edges = 0;
  uint64_t largest_degree = 0;
  double sum_of_squares = 0;
  uint64_t first_edge_id = 0;
  // Rows with 2^(i-1) <= degree < 2^i; [0]: none; the last one takes all larger ones.
  uint64_t degree_classes[kDegreeClasses] = {};
};
static_assert(sizeof(AdjacencyFacts) == 320);

// On disk: never renumber.
enum class ColumnForm : uint8_t {
  kFixed = 1,       // values
  kDictionary = 2,  // codes and dictionary: strings
  kHeap = 3,        // the bytes of a string or binary
  kEncoded = 4,     // any value, by core/value_codec.h
};
enum class Cardinality : uint8_t {
  kSingle = 1,
  kList = 2,  // several values per key, TinkerPop's list
  kSet = 3,
};
struct ColumnFacts {
  uint8_t value_kind = 0;  // ValueKind of all values (of items, when they are lists); kNull: mixed
  uint8_t form = 0;
  uint8_t cardinality = 0;
  uint8_t holds_lists = 0;     // each value is a list; its items are the values
  uint8_t exact_distinct = 0;  // else an estimate
  uint8_t has_range = 0;
  uint16_t reserved = 0;
  int32_t offset_seconds = 0;  // of date-times in milliseconds (width 8)
  uint32_t reserved2 = 0;
  uint64_t rows = 0;
  uint64_t rows_present = 0;
  uint64_t values = 0;    // present rows, or items
  uint64_t distinct = 0;  // values
  // Of numbers and date-times (milliseconds, rounded down): int64, or double for floats.
  uint64_t least_bits = 0;
  uint64_t largest_bits = 0;
};
static_assert(sizeof(ColumnFacts) == 64);

// XXH3.
uint64_t SnapshotCheck(std::string_view bytes);
inline uint32_t SnapshotBlockCheck(std::string_view bytes) {
  return static_cast<uint32_t>(SnapshotCheck(bytes));
}
uint64_t BlockCount(uint64_t bytes);
uint64_t BlockChecksOffset(const SectionEntry& entry);
// The end of a section with its block checks.
uint64_t SectionEnd(const SectionEntry& entry);
uint64_t SectionAlignment(uint64_t bytes);
inline uint64_t AlignUp(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}
inline uint64_t WordsOfBits(uint64_t bits) { return bits / 64 + (bits % 64 != 0 ? 1 : 0); }

// The 4 KiB, and what is in them. DATA_LOSS; FAILED_PRECONDITION: written by a newer Koios.
std::string EncodeSnapshotHeader(const SnapshotHeader& header, uint64_t* check);
Status DecodeSnapshotHeader(std::string_view page, SnapshotHeader* header, uint64_t* check);
// A directory's entry makes sense by itself, in files of these lengths.
Status CheckSectionEntry(const SectionEntry& entry, uint64_t file_bytes);

// p0007-12.snap
std::string SnapshotPathIn(const std::string& folder, uint32_t partition, uint64_t number);
// False: the name of something else.
bool ParseSnapshotFileName(std::string_view name, uint32_t* partition, uint64_t* number);

// How vertices are named in 4 bytes.
class NarrowRefs {
 public:
  // `most_local`: larger ones are wide (for tests; else what fits).
  explicit NarrowRefs(uint32_t num_partitions, uint64_t most_local = ~uint64_t{0});
  bool Fits(VertexRef ref) const { return ref.local() <= most_local_; }
  uint32_t Narrow(VertexRef ref) const {
    return static_cast<uint32_t>((uint64_t{ref.partition()} << local_bits_) | ref.local());
  }
  VertexRef Widen(uint32_t narrow) const {
    return VertexRef::Make(static_cast<uint32_t>(uint64_t{narrow} >> local_bits_),
                           narrow & ((uint64_t{1} << local_bits_) - 1));
  }

 private:
  int local_bits_;
  uint64_t most_local_;
};

}  // namespace koios::storage
