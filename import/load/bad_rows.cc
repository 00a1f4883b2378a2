#include "import/load/bad_rows.h"

#include <cerrno>
#include <nlohmann/json.hpp>

#include "core/text/text.h"
#include "import/io_error.h"
#include "import/load/import_options.h"

namespace koios::import {
namespace {

constexpr size_t kMaxMessageBytes = 1000;

std::string Printable(std::string_view text, size_t max_bytes) {
  return ToValidUtf8(TruncateUtf8(text, max_bytes));
}

}  // namespace

std::string_view RowCodeName(RowCode code) {
  switch (code) {
    case RowCode::kBadType:
      return "BAD_TYPE";
    case RowCode::kBadUtf8:
      return "BAD_UTF8";
    case RowCode::kBadQuote:
      return "BAD_QUOTE";
    case RowCode::kBadId:
      return "BAD_ID";
    case RowCode::kRaggedRow:
      return "RAGGED_ROW";
    case RowCode::kTooLong:
      return "TOO_LONG";
    case RowCode::kDuplicateId:
      return "DUPLICATE_ID";
    case RowCode::kMissingEndpoint:
      return "MISSING_ENDPOINT";
  }
  return "";
}

uint64_t ImportSummary::num_skipped() const {
  uint64_t sum = 0;
  for (const auto& [code, rows] : skipped) sum += rows;
  return sum;
}

StatusOr<std::unique_ptr<BadRows>> BadRows::Create(const BadRowOptions& options,
                                                   std::vector<std::string> files) {
  std::unique_ptr<BadRows> rows(new BadRows(options, std::move(files)));
  if (!options.report_path.empty()) {
    errno = 0;
    rows->report_.open(options.report_path, std::ios::binary | std::ios::trunc);
    if (!rows->report_) return IoError("write the report", options.report_path, errno);
  }
  return rows;
}

std::string BadRows::Describe(const BadRow& row) const {
  std::string where = files_[row.file] + ":" + std::to_string(row.line);
  if (row.column > 0) where += ", column " + std::to_string(row.column);
  return where + ": " + std::string(RowCodeName(row.code)) + ": " + row.message;
}

Status BadRows::Add(const BadRow& row) {
  ++by_code_[std::string(RowCodeName(row.code))];
  ++by_file_[row.file];
  if (report_.is_open()) {
    nlohmann::ordered_json line;
    line["file"] = Printable(files_[row.file], kMaxMessageBytes);
    line["line"] = row.line;
    line["column"] = row.column;
    line["code"] = std::string(RowCodeName(row.code));
    line["message"] = Printable(row.message, kMaxMessageBytes);
    line["raw"] = Printable(row.raw, kMaxRawBytes);
    report_ << line.dump() << '\n';
  }
  if (row.code == RowCode::kMissingEndpoint && options_.skip_missing_endpoints) return OkStatus();
  if (num_counted_++ == 0) first_ = Describe(row);
  if (options_.tolerance < 0 || num_counted_ <= options_.tolerance) return OkStatus();
  ErrorDetail detail;
  detail.reason = "BAD_ROWS";
  detail.limit = std::to_string(options_.tolerance) + " bad rows";
  detail.setting = "--bad-tolerance";
  detail.hint = row.code == RowCode::kMissingEndpoint
                    ? "--skip-missing-endpoints leaves out edges whose ends do not exist"
                    : "--bad-tolerance N skips up to N such rows, --report FILE lists them";
  std::string message = "The import was given up at a bad row; nothing was loaded. ";
  if (num_counted_ > 1) message += std::to_string(num_counted_) + " rows are bad, the first is ";
  return InvalidArgument(message + first_ + ".", detail);
}

Status BadRows::Finish() {
  if (!report_.is_open()) return OkStatus();
  errno = 0;
  report_.close();
  if (!report_) return IoError("write the report", options_.report_path, errno);
  return OkStatus();
}

}  // namespace koios::import
