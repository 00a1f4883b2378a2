// CsvFile: writes one CSV file with a header, field by field, through a buffer. Errors are kept and
// come out of Close, so that generators read as what they make. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status.h"

namespace koios::import {

class CsvFile {
 public:
  CsvFile(const std::string& path, std::string_view header);
  ~CsvFile();
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  CsvFile& Number(uint64_t value);
  // Quoted when it must be.
  CsvFile& Text(std::string_view text);
  // 12345 as 123.45.
  CsvFile& Cents(uint64_t cents);
  // Seconds since 1970 as 2024-05-06 and as 2024-05-06T07:08:09Z.
  CsvFile& Date(int64_t seconds);
  CsvFile& Instant(int64_t seconds);
  void EndRow();

  uint64_t num_rows() const { return num_rows_; }
  // The first error of all.
  Status Close();

 private:
  void Separate();
  void Flush();

  std::string path_;
  int fd_;
  Status status_;
  std::string buffer_;
  bool row_started_ = false;
  uint64_t num_rows_ = 0;
};

}  // namespace koios::import
