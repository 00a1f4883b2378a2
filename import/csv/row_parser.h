// RowParser: the rows of one chunk, field by field, by RFC 4180: quoted fields, "" inside them,
// line breaks inside them, LF or CRLF. A quote inside an unquoted field is an ordinary character,
// as most writers mean it; text behind a closing quote is an error of that row. Blank lines are
// skipped. Rule: an error is a property of its row; the next row always starts at the right place.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "import/csv/chunk_reader.h"
#include "import/csv/csv_options.h"
#include "import/csv/field_scanner.h"

namespace koios::import {

enum class RowError : uint8_t { kNone, kBadQuote, kOpenQuote, kTooLong, kTooManyFields };

struct Field {
  std::string_view text;  // unescaped; valid until the next Next()
  bool quoted = false;
};

struct Row {
  uint64_t line = 0;
  uint64_t offset = 0;
  std::vector<Field> fields;
  std::string_view raw;  // without its line break
  RowError error = RowError::kNone;
  uint32_t error_field = 0;  // from 0
};

class RowParser {
 public:
  // Rows with more than `max_fields` fields are kTooManyFields, so that a row of delimiters costs
  // no memory. `chunk` must outlive the parser.
  RowParser(const Chunk& chunk, const CsvOptions& options, size_t max_fields);

  // False when the chunk is done.
  bool Next(Row* row);

 private:
  void ParseField(Row* row);
  std::string_view QuotedText(size_t begin, Row* row);
  void AddField(std::string_view text, bool quoted, Row* row);
  void Fail(RowError error, Row* row);

  std::string_view bytes_;
  FieldScanner scanner_;
  CsvOptions options_;
  size_t max_fields_;
  size_t at_ = 0;
  uint64_t line_;
  uint64_t offset_;
  bool oversized_;
  bool row_done_ = false;
  size_t row_end_ = 0;  // of the current row, without its line break
  size_t num_fields_ = 0;
  std::deque<std::string> unescaped_;  // fields of this row that held ""
};

}  // namespace koios::import
