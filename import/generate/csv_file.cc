#include "import/generate/csv_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>

#include "import/io_error.h"

namespace koios::import {
namespace {

constexpr size_t kBufferBytes = size_t{256} << 10;
constexpr int64_t kSecondsPerDay = 86'400;

}  // namespace

CsvFile::CsvFile(const std::string& path, std::string_view header) : path_(path) {
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) status_ = IoError("create", path_, errno);
  buffer_ = std::string(header) + "\n";
}

CsvFile::~CsvFile() {
  if (fd_ >= 0) ::close(fd_);
}

void CsvFile::Separate() {
  if (row_started_) buffer_.push_back(',');
  row_started_ = true;
}

CsvFile& CsvFile::Number(uint64_t value) {
  Separate();
  buffer_ += std::to_string(value);
  return *this;
}

CsvFile& CsvFile::Text(std::string_view text) {
  Separate();
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    buffer_ += text;
    return *this;
  }
  buffer_.push_back('"');
  for (char c : text) {
    if (c == '"') buffer_.push_back('"');
    buffer_.push_back(c);
  }
  buffer_.push_back('"');
  return *this;
}

CsvFile& CsvFile::Cents(uint64_t cents) {
  Separate();
  char text[32];
  std::snprintf(text, sizeof(text), "%llu.%02llu", static_cast<unsigned long long>(cents / 100),
                static_cast<unsigned long long>(cents % 100));
  buffer_ += text;
  return *this;
}

CsvFile& CsvFile::Date(int64_t seconds) {
  Separate();
  const std::chrono::sys_days day{std::chrono::days(seconds / kSecondsPerDay)};
  const std::chrono::year_month_day date(day);
  char text[32];
  std::snprintf(text, sizeof(text), "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  buffer_ += text;
  return *this;
}

CsvFile& CsvFile::Instant(int64_t seconds) {
  Date(seconds);
  const int of_day = static_cast<int>(seconds % kSecondsPerDay);
  char text[32];
  std::snprintf(text, sizeof(text), "T%02d:%02d:%02dZ", of_day / 3600, of_day / 60 % 60,
                of_day % 60);
  buffer_ += text;
  return *this;
}

void CsvFile::EndRow() {
  buffer_.push_back('\n');
  row_started_ = false;
  ++num_rows_;
  if (buffer_.size() >= kBufferBytes) Flush();
}

void CsvFile::Flush() {
  std::string_view rest = buffer_;
  while (status_.ok() && !rest.empty()) {
    ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      status_ = IoError("write", path_, errno);
    }
  }
  buffer_.clear();
}

Status CsvFile::Close() {
  Flush();
  if (fd_ >= 0 && ::close(fd_) != 0 && status_.ok()) status_ = IoError("write", path_, errno);
  fd_ = -1;
  return status_;
}

}  // namespace koios::import
