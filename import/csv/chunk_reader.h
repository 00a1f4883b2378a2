// ChunkReader: cuts a byte source into chunks of whole rows with the line and offset where each
// starts, so that chunks can be parsed in any order by any thread. A row longer than max_row_bytes
// is never held: it becomes an `oversized` chunk with its first bytes, and reading goes on behind
// it. A byte-order mark at the start is dropped. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/status.h"
#include "import/csv/byte_source.h"
#include "import/csv/csv_options.h"
#include "import/csv/row_splitter.h"

namespace koios::import {

struct Chunk {
  std::string bytes;
  uint64_t offset = 0;  // in the uncompressed file
  uint64_t line = 1;    // of the first byte
  bool oversized = false;
};

class ChunkReader {
 public:
  ChunkReader(std::unique_ptr<ByteSource> source, const CsvOptions& options, size_t chunk_bytes);

  // False at the end. A chunk holds at least one row and rarely much more than chunk_bytes.
  StatusOr<bool> Next(Chunk* chunk);
  // The first row alone (the header); false when the file is empty.
  StatusOr<bool> NextRow(Chunk* chunk);

  const ByteSource& source() const { return *source_; }

 private:
  StatusOr<bool> NextUntil(RowSplitter::Stop stop, Chunk* chunk);
  Status Fill();  // reads one piece into buffer_
  void Take(size_t size, Chunk* chunk);
  Status SkipRow();

  std::unique_ptr<ByteSource> source_;
  CsvOptions options_;
  size_t chunk_bytes_;
  RowSplitter splitter_;
  std::string buffer_;   // read but not given out
  size_t scanned_ = 0;   // bytes of buffer_ that the splitter has seen
  uint64_t offset_ = 0;  // of buffer_[0]
  uint64_t line_ = 1;    // of buffer_[0]
  bool started_ = false;
  bool at_end_ = false;
};

}  // namespace koios::import
