#include "import/csv/row_parser.h"

#include <algorithm>
#include <cstring>

namespace koios::import {

RowParser::RowParser(const Chunk& chunk, const CsvOptions& options, size_t max_fields)
    : bytes_(chunk.bytes),
      scanner_(bytes_, options.delimiter, options.quote),
      options_(options),
      max_fields_(max_fields),
      line_(chunk.line),
      offset_(chunk.offset),
      oversized_(chunk.oversized) {}

void RowParser::Fail(RowError error, Row* row) {
  if (row->error != RowError::kNone) return;
  row->error = error;
  row->error_field = static_cast<uint32_t>(num_fields_);
}

void RowParser::AddField(std::string_view text, bool quoted, Row* row) {
  if (text.size() > options_.max_field_bytes) Fail(RowError::kTooLong, row);
  if (num_fields_ >= max_fields_) {
    Fail(RowError::kTooManyFields, row);
  } else {
    row->fields.push_back({text, quoted});
  }
  ++num_fields_;
}

// at_ is behind the opening quote at `begin` - 1; leaves it behind the closing one.
std::string_view RowParser::QuotedText(size_t begin, Row* row) {
  const char quote = *options_.quote;
  std::string* copy = nullptr;
  size_t piece = begin;
  while (true) {
    const size_t found = scanner_.NextQuote(at_);
    if (found == bytes_.size()) {
      Fail(RowError::kOpenQuote, row);
      at_ = bytes_.size();
      return bytes_.substr(begin);
    }
    at_ = found + 1;
    const bool doubled = at_ < bytes_.size() && bytes_[at_] == quote;
    if (!doubled) {
      if (copy == nullptr) return bytes_.substr(begin, found - begin);
      copy->append(bytes_.substr(piece, found - piece));
      return *copy;
    }
    if (copy == nullptr) copy = &unescaped_.emplace_back();
    copy->append(bytes_.substr(piece, at_ - piece));  // with one of the two quotes
    piece = ++at_;
  }
}

// One field and the delimiter or line break behind it; sets row_done_ at the row's end.
void RowParser::ParseField(Row* row) {
  const bool quoted =
      options_.quote.has_value() && at_ < bytes_.size() && bytes_[at_] == *options_.quote;
  size_t begin = at_;
  std::string_view text;
  if (quoted) {
    ++at_;
    text = QuotedText(begin + 1, row);
    // The line break that ends a row is counted with the row.
    const std::string_view inside = bytes_.substr(begin, at_ - begin);
    line_ += static_cast<uint64_t>(std::count(inside.begin(), inside.end(), '\n'));
    begin = at_;
  }
  at_ = scanner_.NextEnd(at_);
  row_done_ = at_ >= bytes_.size() || bytes_[at_] == '\n';
  std::string_view bare = bytes_.substr(begin, at_ - begin);
  if (row_done_) {
    if (bare.ends_with('\r')) bare.remove_suffix(1);
    row_end_ = begin + bare.size();
  }
  if (quoted && !bare.empty()) Fail(RowError::kBadQuote, row);
  AddField(quoted ? text : bare, quoted, row);
  if (at_ < bytes_.size()) ++at_;
}

bool RowParser::Next(Row* row) {
  row->fields.clear();
  row->error = RowError::kNone;
  row->error_field = 0;
  if (oversized_ && at_ == 0) {
    row->line = line_;
    row->offset = offset_;
    row->raw = bytes_;
    row->error = RowError::kTooLong;
    at_ = bytes_.size();
    return true;
  }
  while (at_ < bytes_.size()) {
    unescaped_.clear();
    num_fields_ = 0;
    row->fields.clear();
    const size_t begin = at_;
    row->line = line_;
    row->offset = offset_ + begin;
    do {
      ParseField(row);
    } while (!row_done_);
    row->raw = bytes_.substr(begin, row_end_ - begin);
    if (at_ > 0 && bytes_[at_ - 1] == '\n' && at_ > row_end_) ++line_;
    if (row->raw.empty()) continue;
    if (row->raw.size() > options_.max_row_bytes) Fail(RowError::kTooLong, row);
    return true;
  }
  return false;
}

}  // namespace koios::import
