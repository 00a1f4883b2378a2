#include "import/load/load_context.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace koios::import {
namespace {

// The line at an offset of a plain file; empty for a compressed one, whose offsets can't be sought.
std::string RawLine(const std::string& path, uint64_t offset) {
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  file.read(magic, sizeof(magic));
  const std::string_view seen(magic, static_cast<size_t>(file.gcount()));
  if (seen.starts_with("\x1f\x8b") || seen.starts_with("\x28\xb5\x2f\xfd")) return "";
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  std::string line(kMaxRawBytes, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  line.resize(std::min(line.find_first_of("\r\n"), line.size()));
  return line;
}

constexpr size_t kMaxThreads = 256;
// Families whose files are written at the same time.
constexpr size_t kFilesAtOnce = 4;
constexpr size_t kMaxChunkBytes = size_t{256} << 10;

}  // namespace

size_t LoadContext::num_threads() const {
  const size_t asked = options->threads > 0 ? static_cast<size_t>(options->threads)
                                            : std::thread::hardware_concurrency();
  return std::clamp<size_t>(asked, 1, kMaxThreads);
}

size_t LoadContext::ChunkBytes() const {
  return std::min<size_t>(kMaxChunkBytes, Eighths(1) / num_threads() / target.bins.size() / 4);
}

RollingStream LoadContext::OpenStream(storage::Family family) const {
  return RollingStream(writer, family, Eighths(1) / num_threads() / kFilesAtOnce);
}

Status ReportRow(LoadContext* context, const RecordSource& source, RowCode code, uint32_t column,
                 std::string message) {
  BadRow bad;
  bad.file = source.file;
  bad.line = source.line;
  bad.column = column;
  bad.code = code;
  bad.message = std::move(message);
  if (!context->options->report.empty()) {
    bad.raw = RawLine(context->Table(source.file).path, source.offset);
  }
  return context->bad_rows->Add(bad);
}

}  // namespace koios::import
