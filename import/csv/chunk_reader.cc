#include "import/csv/chunk_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace koios::import {
namespace {

constexpr size_t kPieceBytes = size_t{256} << 10;
constexpr size_t kOversizedSample = 256;
constexpr std::string_view kUtf8Mark("\xEF\xBB\xBF", 3);

uint64_t CountLines(std::string_view bytes) {
  return static_cast<uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
}

}  // namespace

ChunkReader::ChunkReader(std::unique_ptr<ByteSource> source, const CsvOptions& options,
                         size_t chunk_bytes)
    : source_(std::move(source)),
      options_(options),
      chunk_bytes_(std::max<size_t>(chunk_bytes, 1)),
      splitter_(options) {}

StatusOr<bool> ChunkReader::Next(Chunk* chunk) {
  return NextUntil(RowSplitter::Stop::kLastRow, chunk);
}

StatusOr<bool> ChunkReader::NextRow(Chunk* chunk) {
  return NextUntil(RowSplitter::Stop::kFirstRow, chunk);
}

Status ChunkReader::Fill() {
  const size_t size = std::clamp<size_t>(chunk_bytes_, 1, kPieceBytes);
  const size_t old = buffer_.size();
  buffer_.resize(old + size);
  auto got = source_->Read(buffer_.data() + old, size);
  if (!got.ok()) return got.status();
  buffer_.resize(old + *got);
  if (*got == 0) at_end_ = true;
  return OkStatus();
}

void ChunkReader::Take(size_t size, Chunk* chunk) {
  std::string rest = buffer_.substr(size);
  buffer_.resize(size);
  chunk->bytes = std::move(buffer_);
  chunk->offset = offset_;
  chunk->line = line_;
  chunk->oversized = false;
  buffer_ = std::move(rest);
  scanned_ = scanned_ > size ? scanned_ - size : 0;
  offset_ += size;
  line_ += CountLines(chunk->bytes);
}

// The row that starts at buffer_[0] has passed the limit: drops it piece by piece.
Status ChunkReader::SkipRow() {
  while (true) {
    offset_ += buffer_.size();
    line_ += CountLines(buffer_);
    buffer_.clear();
    scanned_ = 0;
    RETURN_IF_ERROR(Fill());
    if (at_end_) return OkStatus();
    size_t end = splitter_.Feed(buffer_, RowSplitter::Stop::kFirstRow);
    if (end == 0) continue;
    Chunk dropped;
    Take(end, &dropped);
    return OkStatus();
  }
}

StatusOr<bool> ChunkReader::NextUntil(RowSplitter::Stop stop, Chunk* chunk) {
  if (!started_) {
    while (buffer_.size() < kUtf8Mark.size() && !at_end_) RETURN_IF_ERROR(Fill());
    if (std::string_view(buffer_).starts_with(kUtf8Mark)) {
      buffer_.erase(0, kUtf8Mark.size());
      offset_ = kUtf8Mark.size();
    }
    if (buffer_.starts_with("\xFF\xFE") || buffer_.starts_with("\xFE\xFF")) {
      return InvalidArgument("The file is UTF-16; Koios reads UTF-8.");
    }
    started_ = true;
  }
  size_t row_end = 0;  // just past the last row end seen in buffer_
  while (true) {
    if (scanned_ < buffer_.size()) {
      size_t end = splitter_.Feed(std::string_view(buffer_).substr(scanned_), stop);
      if (end != 0) row_end = scanned_ + end;
      scanned_ = (end != 0 && stop == RowSplitter::Stop::kFirstRow) ? row_end : buffer_.size();
    }
    const bool enough = stop == RowSplitter::Stop::kFirstRow || buffer_.size() >= chunk_bytes_;
    if (row_end != 0 && (enough || at_end_)) {
      // Rows are complete up to row_end; at the very end the rest is a last row without its break.
      if (at_end_ && stop == RowSplitter::Stop::kLastRow) row_end = buffer_.size();
      Take(row_end, chunk);
      return true;
    }
    if (at_end_) {
      if (buffer_.empty()) return false;
      Take(buffer_.size(), chunk);
      return true;
    }
    if (row_end == 0 && buffer_.size() > options_.max_row_bytes) {
      chunk->bytes = buffer_.substr(0, std::min(kOversizedSample, buffer_.size()));
      chunk->offset = offset_;
      chunk->line = line_;
      chunk->oversized = true;
      RETURN_IF_ERROR(SkipRow());
      return true;
    }
    RETURN_IF_ERROR(Fill());
  }
}

}  // namespace koios::import
