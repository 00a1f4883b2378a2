// RowSplitter: finds where rows end in a stream of bytes that arrives in arbitrary pieces, so that
// whole rows can be parsed in parallel. It keeps the same quoting rules as RowParser: a quote opens
// only at the start of a field, "" is a quote, and a line break inside quotes ends no row.
// Mostly memchr: a file without quotes is scanned at the speed of memory.
#pragma once

#include <cstddef>
#include <string_view>

#include "import/csv/csv_options.h"

namespace koios::import {

class RowSplitter {
 public:
  enum class Stop { kFirstRow, kLastRow };

  explicit RowSplitter(const CsvOptions& options)
      : delimiter_(options.delimiter), quote_(options.quote) {}

  // Takes in the next piece. Returns the offset just past the last row end in it (kLastRow), or
  // past the first one, taking in nothing behind it (kFirstRow); 0 when no row ends in it.
  size_t Feed(std::string_view bytes, Stop stop);

  bool in_quotes() const { return state_ == State::kQuoted; }

 private:
  // kQuoteSeen: a quote inside quotes; the next byte tells whether it was the closing one.
  enum class State { kFieldStart, kUnquoted, kQuoted, kQuoteSeen };

  size_t FeedUnquotedRun(std::string_view bytes, Stop stop, size_t* end);

  char delimiter_;
  std::optional<char> quote_;
  State state_ = State::kFieldStart;
};

}  // namespace koios::import
