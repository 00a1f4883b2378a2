#include "storage/snapshot/snapshot_writer.h"

#include <algorithm>
#include <utility>

namespace koios::storage {
namespace {

constexpr size_t kWriterBytes = size_t{256} << 10;

template <typename T>
std::string_view ItemBytes(const std::vector<T>& items) {
  return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)};
}

std::string TemporaryPath(const std::string& path) { return path + ".tmp"; }

}  // namespace

StatusOr<std::unique_ptr<SnapshotWriter>> SnapshotWriter::Create(SnapshotDisk* disk,
                                                                 const std::string& folder,
                                                                 const SnapshotHeader& header,
                                                                 uint64_t bytes_estimate) {
  const std::string path = SnapshotPathIn(folder, header.partition, header.number);
  ASSIGN_OR_RETURN(auto output, disk->Create(TemporaryPath(path)));
  std::unique_ptr<SnapshotWriter> writer(new SnapshotWriter(disk, path, header, std::move(output)));
  RETURN_IF_ERROR(writer->output_->Reserve(bytes_estimate));
  return writer;
}

SnapshotWriter::~SnapshotWriter() {
  output_ = nullptr;
  // What can't be removed now goes when the graph is opened.
  if (!finished_) disk_->Remove(TemporaryPath(path_)).IgnoreError();
}

void SnapshotWriter::Flush() {
  if (failed_.ok()) failed_ = output_->Write(buffer_offset_, buffer_);
  buffer_offset_ += buffer_.size();
  buffer_.clear();
}

void SnapshotWriter::Put(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= kWriterBytes) Flush();
}

void SnapshotWriter::PadTo(uint64_t offset) {
  buffer_.append(offset - buffer_offset_ - buffer_.size(), '\0');
}

void SnapshotWriter::Begin(const SectionName& name, uint8_t width, uint64_t bytes) {
  const uint64_t offset = AlignUp(buffer_offset_ + buffer_.size(), SectionAlignment(bytes));
  PadTo(offset);
  current_ = {};
  current_.kind = static_cast<uint8_t>(name.kind);
  current_.index = static_cast<uint8_t>(name.index);
  current_.width = width;
  current_.set = name.set;
  current_.parent = name.parent;
  current_.key = name.key;
  current_.offset = offset;
  announced_ = bytes;
}

void SnapshotWriter::EndBlock() {
  block_checks_.push_back(SnapshotBlockCheck(block_));
  Put(block_);
  block_.clear();
}

void SnapshotWriter::Append(std::string_view bytes) {
  current_.bytes += bytes.size();
  while (!bytes.empty()) {
    const size_t taken = std::min(bytes.size(), kSnapshotBlockBytes - block_.size());
    block_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (block_.size() == kSnapshotBlockBytes) EndBlock();
  }
}

Status SnapshotWriter::End(uint64_t rows) {
  if (!block_.empty()) EndBlock();
  if (announced_ != kAsAppended && announced_ != current_.bytes)
    return Internal("A section's size was announced wrong.");
  current_.rows = rows;
  current_.block_checks_check = SnapshotCheck(ItemBytes(block_checks_));
  PadTo(BlockChecksOffset(current_));
  Put(ItemBytes(block_checks_));
  block_checks_.clear();
  directory_.push_back(current_);
  bytes_by_kind_[{current_.name().index, current_.name().kind}] += current_.bytes;
  return failed_;
}

Status SnapshotWriter::Write(const SectionName& name, uint8_t width, std::string_view bytes,
                             uint64_t rows) {
  Begin(name, width, bytes.size());
  Append(bytes);
  return End(rows);
}

void SnapshotWriter::WriteHead(const SectionName& name, uint8_t width, std::string_view bytes,
                               uint64_t rows) {
  heads_.push_back({name, width, std::string(bytes), rows});
}

void SnapshotWriter::Keep(SectionEntry entry, uint8_t file) {
  entry.file = file;
  directory_.push_back(entry);
}

StatusOr<SnapshotFileName> SnapshotWriter::Finish(const SnapshotHeader& counts) {
  for (const Head& head : heads_) {
    RETURN_IF_ERROR(Write(head.name, head.width, head.bytes, head.rows));
  }
  PadTo(AlignUp(buffer_offset_ + buffer_.size(), 64));
  std::sort(directory_.begin(), directory_.end(),
            [](const SectionEntry& a, const SectionEntry& b) { return a.name() < b.name(); });
  header_.directory_offset = buffer_offset_ + buffer_.size();
  header_.directory_check = SnapshotCheck(ItemBytes(directory_));
  header_.num_sections = static_cast<uint32_t>(directory_.size());
  header_.end_local = counts.end_local;
  header_.num_vertices = counts.num_vertices;
  header_.num_out_edges = counts.num_out_edges;
  header_.num_in_edges = counts.num_in_edges;
  Put(ItemBytes(directory_));
  Flush();
  header_.bytes = buffer_offset_;
  SnapshotFileName name{header_.number, header_.bytes, 0};
  const std::string page = EncodeSnapshotHeader(header_, &name.check);
  if (failed_.ok()) failed_ = output_->Write(0, page);
  RETURN_IF_ERROR(failed_);
  RETURN_IF_ERROR(output_->Finish(header_.bytes));
  output_ = nullptr;
  RETURN_IF_ERROR(disk_->Rename(TemporaryPath(path_), path_));
  finished_ = true;
  return name;
}

}  // namespace koios::storage
