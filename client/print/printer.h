// ResultPrinter: results to text as they arrive, in one of the output formats. Memory is bounded:
// only table and csv hold rows back, the first kSampledRows, to know their columns and widths.
// One thread; the stream outlives the printer.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "core/value.h"

namespace koios::client {

enum class Format {
  kGremlin,  // ==> lines, as the Gremlin Console
  kTable,    // maps as rows with a column per key; other results in one column
  kJson,     // one array
  kJsonl,    // one JSON text per line
  kCsv,      // RFC 4180 with a header line; lines end in \n
};
inline constexpr std::string_view kFormatNames = "gremlin, table, json, jsonl, csv";
inline constexpr size_t kSampledRows = 1000;

StatusOr<Format> ParseFormat(std::string_view name);
std::string_view FormatName(Format format);
std::vector<std::string> FormatNames();

struct PrinterOptions {
  // Control characters of strings are printed escaped: for terminals, which would obey them.
  bool escape_controls = false;
};

class ResultPrinter {
 public:
  virtual ~ResultPrinter() = default;
  virtual void Row(const Value& value) = 0;
  // Once, after the last row, also after an error: writes what was held back.
  virtual void Finish() = 0;
  // Values that had no column, because their key first appeared after kSampledRows rows.
  virtual uint64_t num_left_out() const { return 0; }
};

std::unique_ptr<ResultPrinter> MakePrinter(Format format, std::ostream& out,
                                           const PrinterOptions& options = {});

}  // namespace koios::client
