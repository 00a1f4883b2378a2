// SnapshotWriter: one snapshot file, written from front to back: begun, its sections one after the
// other, finished. Until Finish has returned there is only a file PATH.tmp, which nobody reads;
// then the file is whole and durable under its name, and nobody's until RocksDB names it.
// Belongs to one thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status.h"
#include "storage/snapshot/format.h"
#include "storage/snapshot/snapshot_disk.h"

namespace koios::storage {

// Bytes by what they are of.
using SectionBytes = std::map<std::pair<SectionIndex, SectionKind>, uint64_t>;

class SnapshotWriter {
 public:
  // `header` says what the file is of: number, version, partition, num_partitions, older files.
  static StatusOr<std::unique_ptr<SnapshotWriter>> Create(SnapshotDisk* disk,
                                                          const std::string& folder,
                                                          const SnapshotHeader& header,
                                                          uint64_t bytes_estimate);
  // Removes what is not finished.
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // A section of `bytes`, which Append brings in pieces. Errors are kept for End.
  static constexpr uint64_t kAsAppended = ~uint64_t{0};  // not known before
  void Begin(const SectionName& name, uint8_t width, uint64_t bytes);
  void Append(std::string_view bytes);
  template <typename T>
  void AppendNumber(T number) {
    Append(std::string_view(reinterpret_cast<const char*>(&number), sizeof(number)));
  }
  // The lowest `width` bytes.
  void AppendWide(uint64_t number, uint8_t width) {
    Append(std::string_view(reinterpret_cast<const char*>(&number), width));
  }
  // REQUIRES: as many bytes came as Begin was told.
  Status End(uint64_t rows);
  // A section that is at hand. Heads of sections are gathered and stand together behind the others.
  Status Write(const SectionName& name, uint8_t width, std::string_view bytes, uint64_t rows);
  void WriteHead(const SectionName& name, uint8_t width, std::string_view bytes, uint64_t rows);
  template <typename Facts>
  void WriteFacts(const SectionName& name, const Facts& facts) {
    const std::string_view bytes(reinterpret_cast<const char*>(&facts), sizeof(facts));
    WriteHead(name, 1, bytes, sizeof(facts));
  }
  // A section of an older file of the chain (`file` from 1), taken over as it is.
  void Keep(SectionEntry entry, uint8_t file);

  // Bytes written so far, by kind, block checks and padding apart.
  const SectionBytes& bytes_by_kind() const { return bytes_by_kind_; }

  // `counts`: end_local and the numbers of elements; the rest of it doesn't count.
  StatusOr<SnapshotFileName> Finish(const SnapshotHeader& counts);

 private:
  struct Head {
    SectionName name;
    uint8_t width;
    std::string bytes;
    uint64_t rows;
  };
  SnapshotWriter(SnapshotDisk* disk, std::string path, const SnapshotHeader& header,
                 std::unique_ptr<SnapshotOutput> output)
      : disk_(disk), path_(std::move(path)), header_(header), output_(std::move(output)) {}
  void Put(std::string_view bytes);
  void PadTo(uint64_t offset);
  void EndBlock();
  void Flush();

  SnapshotDisk* const disk_;
  const std::string path_;
  SnapshotHeader header_;
  std::unique_ptr<SnapshotOutput> output_;
  bool finished_ = false;
  Status failed_;
  std::string buffer_;  // what stands at buffer_offset_
  uint64_t buffer_offset_ = kSnapshotHeaderBytes;
  SectionEntry current_;
  uint64_t announced_ = 0;
  std::string block_;
  std::vector<uint32_t> block_checks_;
  std::vector<Head> heads_;
  std::vector<SectionEntry> directory_;
  SectionBytes bytes_by_kind_;
};

}  // namespace koios::storage
