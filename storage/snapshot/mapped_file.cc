#include "storage/snapshot/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "storage/disk/files.h"

namespace koios::storage {
namespace {

constexpr uint64_t kPageBytes = 4096;

}  // namespace

Status MappedFile::Damaged() const {
  return DataLoss("The snapshot file " + label_ + " is damaged.");
}

StatusOr<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& folder,
                                                             uint32_t partition,
                                                             const SnapshotFileName& name) {
  const std::string path = SnapshotPathIn(folder, partition, name.number);
  const std::string label = path.substr(folder.size() + 1);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    if (errno == ENOENT) return DataLoss("The snapshot file " + label + " is gone.");
    return FileError("Can't open", label, errno);
  }
  struct stat facts = {};
  const int stat_error = fstat(file, &facts) == 0 ? 0 : errno;
  const auto bytes = static_cast<uint64_t>(facts.st_size);
  void* data = MAP_FAILED;
  if (stat_error == 0 && bytes == name.bytes && bytes >= kSnapshotHeaderBytes) {
    data = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  }
  const int map_error = errno;
  close(file);
  if (stat_error != 0) return FileError("Can't look at", label, stat_error);
  if (bytes != name.bytes || bytes < kSnapshotHeaderBytes) {
    return DataLoss("The snapshot file " + label + " has " + std::to_string(bytes) +
                    " bytes, not " + std::to_string(name.bytes) + ".");
  }
  if (data == MAP_FAILED) return FileError("Can't map", label, map_error);
  (void)madvise(data, bytes, MADV_RANDOM);  // else it is slow, not wrong
  std::shared_ptr<MappedFile> mapped(new MappedFile(label, static_cast<const char*>(data), bytes));
  RETURN_IF_ERROR(mapped->ReadDirectory(partition, name));
  return std::shared_ptr<const MappedFile>(std::move(mapped));
}

MappedFile::~MappedFile() {
  guard_.reset();
  munmap(const_cast<char*>(data_), bytes_);
}

void MappedFile::Fetch(uint64_t offset, uint64_t bytes) const {
  const uint64_t begin = offset / kPageBytes * kPageBytes;
  (void)madvise(const_cast<char*>(data_) + begin, offset + bytes - begin, MADV_WILLNEED);
}

Status MappedFile::ReadDirectory(uint32_t partition, const SnapshotFileName& name) {
  uint64_t check = 0;
  Status header = DecodeSnapshotHeader({data_, kSnapshotHeaderBytes}, &header_, &check);
  if (header.code() == StatusCode::kFailedPrecondition) return header;
  if (!header.ok() || check != name.check || header_.number != name.number ||
      header_.bytes != bytes_ || header_.partition != partition) {
    return NoteDamage();
  }
  const std::string_view entries(data_ + header_.directory_offset,
                                 header_.num_sections * sizeof(SectionEntry));
  // Copied, then checked: what is believed can't change any more.
  directory_.resize(header_.num_sections);
  if (!entries.empty()) std::memcpy(directory_.data(), entries.data(), entries.size());
  const std::string_view copied(reinterpret_cast<const char*>(directory_.data()), entries.size());
  if (SnapshotCheck(copied) != header_.directory_check) return NoteDamage();
  for (const SectionEntry& entry : directory_) {
    const bool known = entry.file <= header_.num_older;
    const uint64_t in_bytes =
        entry.file == 0 || !known ? header_.directory_offset : header_.older[entry.file - 1].bytes;
    if (!known || !CheckSectionEntry(entry, in_bytes).ok()) return NoteDamage();
  }
  return Damage();
}

MappedSection::MappedSection(std::shared_ptr<const MappedFile> file, const SectionEntry& entry)
    : file_(std::move(file)),
      entry_(entry),
      num_blocks_(BlockCount(entry.bytes)),
      unchecked_(num_blocks_),
      good_(new std::atomic<uint64_t>[WordsOfBits(num_blocks_)]()) {}

uint64_t MappedSection::FetchUnchecked(ByteRange range, uint64_t last_block) const {
  range.end = std::min(range.end, entry_.bytes);  // what lies behind is found damaged later
  if (range.begin >= range.end) return last_block;
  const uint64_t last = (range.end - 1) / kSnapshotBlockBytes;
  for (uint64_t block = range.begin / kSnapshotBlockBytes; block <= last; ++block) {
    if (block == last_block || IsGood(block)) continue;
    const uint64_t begin = block * kSnapshotBlockBytes;
    const uint64_t end = std::min((last + 1) * kSnapshotBlockBytes, entry_.bytes);
    file_->Fetch(entry_.offset + begin, end - begin);
    break;
  }
  return last;
}

Status MappedSection::TouchBytes(uint64_t begin, uint64_t end) const {
  if (end > entry_.bytes || begin > end) return file_->NoteDamage();
  FetchUnchecked({begin, end}, ~uint64_t{0});
  for (uint64_t block = begin / kSnapshotBlockBytes; block * kSnapshotBlockBytes < end; ++block) {
    if (!IsGood(block)) RETURN_IF_ERROR(CheckBlock(block));
  }
  return OkStatus();
}

Status MappedSection::CheckBlock(uint64_t block) const {
  const std::string_view checks(file_->data() + BlockChecksOffset(entry_), 4 * num_blocks_);
  if (!has_checks_.load(std::memory_order_acquire)) {
    if (SnapshotCheck(checks) != entry_.block_checks_check) return file_->NoteDamage();
    has_checks_.store(true, std::memory_order_release);
  }
  uint32_t expected = 0;
  std::memcpy(&expected, checks.data() + 4 * block, 4);
  if (SnapshotBlockCheck(bytes().substr(block * kSnapshotBlockBytes, kSnapshotBlockBytes)) !=
      expected) {
    return file_->NoteDamage();
  }
  const uint64_t bit = uint64_t{1} << (block % 64);
  const uint64_t before = good_[block / 64].fetch_or(bit, std::memory_order_acq_rel);
  // Of several threads one counts it.
  if ((before & bit) == 0) unchecked_.fetch_sub(1, std::memory_order_acq_rel);
  return OkStatus();
}

}  // namespace koios::storage
