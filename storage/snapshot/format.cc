#include "storage/snapshot/format.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>

namespace koios::storage {
namespace {

constexpr uint64_t kLargeSection = 64 * 1024;

Status DamagedSnapshot(std::string_view what) {
  return DataLoss("A snapshot file is damaged: its " + std::string(what) + ".");
}

// Widths that the entries of a kind may have; -1: any that is not 0.
bool IsWidthOf(SectionKind kind, int width) {
  switch (kind) {
    case SectionKind::kLabelSet:
      return width == 4;
    case SectionKind::kLabelRuns:
      return width == sizeof(LabelRun);
    case SectionKind::kSetOfLocal:
    case SectionKind::kCodes:
      return width == 1 || width == 2 || width == 4;
    case SectionKind::kRowOfLocal:
    case SectionKind::kListOffsets:
    case SectionKind::kNeighbours:
    case SectionKind::kDictionary:
    case SectionKind::kHeapEnds:
    case SectionKind::kItemEnds:
      return width == 4 || width == 8;
    case SectionKind::kAlive:
    case SectionKind::kValidity:
      return width == 0;
    case SectionKind::kIdTable:
      return width == sizeof(IdBucketOf<uint32_t>) || width == sizeof(IdBucketOf<uint64_t>);
    case SectionKind::kPresence:
      return width == sizeof(PresenceWord);
    case SectionKind::kAdjacency:
    case SectionKind::kColumn:
    case SectionKind::kDictionaryHeap:
    case SectionKind::kHeap:
      return width == 1;
    case SectionKind::kEdgeIds:
      return width == 2 || width == 3 || width == 4 || width == 8 || width == sizeof(EdgeIdRun);
    case SectionKind::kValueIds:
      return width == 8;
    case SectionKind::kValues:
      return width == 0 || width == 1 || width == 2 || width == 4 || width == 8 || width == 16;
  }
  return false;
}

}  // namespace

uint64_t SnapshotCheck(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

uint64_t BlockCount(uint64_t bytes) {
  return bytes / kSnapshotBlockBytes + (bytes % kSnapshotBlockBytes != 0 ? 1 : 0);
}

uint64_t BlockChecksOffset(const SectionEntry& entry) {
  return AlignUp(entry.offset + entry.bytes, 4);
}

uint64_t SectionEnd(const SectionEntry& entry) {
  return BlockChecksOffset(entry) + 4 * BlockCount(entry.bytes);
}

uint64_t SectionAlignment(uint64_t bytes) { return bytes >= kLargeSection ? 4096 : 64; }

std::string EncodeSnapshotHeader(const SnapshotHeader& header, uint64_t* check) {
  std::string page(kSnapshotHeaderBytes, '\0');
  std::memcpy(page.data(), &header, sizeof(header));
  std::memcpy(page.data(), kSnapshotMagic, sizeof(kSnapshotMagic));
  *check = SnapshotCheck(std::string_view(page).substr(0, kSnapshotHeaderBytes - 8));
  std::memcpy(page.data() + kSnapshotHeaderBytes - 8, check, 8);
  return page;
}

Status DecodeSnapshotHeader(std::string_view page, SnapshotHeader* header, uint64_t* check) {
  if (page.size() != kSnapshotHeaderBytes) return DamagedSnapshot("header is cut off");
  std::memcpy(header, page.data(), sizeof(*header));
  std::memcpy(check, page.data() + kSnapshotHeaderBytes - 8, 8);
  if (std::memcmp(header->magic, kSnapshotMagic, sizeof(kSnapshotMagic)) != 0 ||
      *check != SnapshotCheck(page.substr(0, kSnapshotHeaderBytes - 8))) {
    return DamagedSnapshot("header's check is wrong");
  }
  if (header->format > kSnapshotFormat) {
    return FailedPrecondition("A snapshot file was written by a newer Koios (format " +
                              std::to_string(header->format) + "; this one reads up to " +
                              std::to_string(kSnapshotFormat) + ").");
  }
  if (header->format == 0 || header->block_bytes != kSnapshotBlockBytes ||
      header->num_older > kMostOlderFiles || header->num_partitions == 0 ||
      header->partition >= header->num_partitions || header->end_local > kLocalMask + 1 ||
      header->directory_offset > header->bytes ||
      header->num_sections > (header->bytes - header->directory_offset) / sizeof(SectionEntry)) {
    return DamagedSnapshot("header contradicts itself");
  }
  return OkStatus();
}

Status CheckSectionEntry(const SectionEntry& entry, uint64_t file_bytes) {
  const SectionKind kind = entry.name().kind;
  if (entry.kind == 0 || entry.kind > static_cast<uint8_t>(SectionKind::kValueIds) ||
      entry.index > static_cast<uint8_t>(SectionIndex::kValue) || !IsWidthOf(kind, entry.width)) {
    return DamagedSnapshot("directory has a section of a wrong kind");
  }
  if (entry.offset < kSnapshotHeaderBytes || entry.offset > file_bytes ||
      entry.bytes > file_bytes - entry.offset || SectionEnd(entry) > file_bytes ||
      entry.offset % SectionAlignment(entry.bytes) != 0) {
    return DamagedSnapshot("directory has a section in a wrong place");
  }
  // A label set's rows are those of its vertices, a head's are none.
  if (kind == SectionKind::kLabelSet) return OkStatus();
  const uint64_t expected = entry.width == 0 ? WordsOfBits(entry.rows) * 8 : entry.bytes;
  const bool whole = entry.width == 0 ||
                     (entry.bytes % entry.width == 0 && entry.rows == entry.bytes / entry.width);
  if (!whole || entry.bytes != expected)
    return DamagedSnapshot("directory has a section of a wrong size");
  return OkStatus();
}

std::string SnapshotPathIn(const std::string& folder, uint32_t partition, uint64_t number) {
  char name[64];
  std::snprintf(name, sizeof(name), "/p%04u-%llu.snap", partition,
                static_cast<unsigned long long>(number));
  return folder + name;
}

bool ParseSnapshotFileName(std::string_view name, uint32_t* partition, uint64_t* number) {
  if (name.size() < 2 || name[0] != 'p') return false;
  const char* const end = name.data() + name.size();
  auto [after, error] = std::from_chars(name.data() + 1, end, *partition);
  if (error != std::errc() || after == end || *after != '-') return false;
  auto [last, number_error] = std::from_chars(after + 1, end, *number);
  return number_error == std::errc() &&
         std::string_view(last, static_cast<size_t>(end - last)) == ".snap";
}

NarrowRefs::NarrowRefs(uint32_t num_partitions, uint64_t most_local)
    : local_bits_(32 - std::bit_width(num_partitions - 1)),
      most_local_(std::min(most_local, (uint64_t{1} << local_bits_) - 1)) {}

}  // namespace koios::storage
