#include "import/csv/row_splitter.h"

#include <cstring>

namespace koios::import {
namespace {

size_t FindByte(std::string_view bytes, char byte) {
  const void* at = bytes.empty() ? nullptr : std::memchr(bytes.data(), byte, bytes.size());
  return at == nullptr ? std::string_view::npos
                       : static_cast<size_t>(static_cast<const char*>(at) - bytes.data());
}

}  // namespace

// Bytes up to the first quote (or all). Sets *end to just past a row end in them, 0 if none, and
// returns how many bytes were taken in.
size_t RowSplitter::FeedUnquotedRun(std::string_view bytes, Stop stop, size_t* end) {
  size_t length = bytes.size();
  if (quote_.has_value()) {
    size_t at = FindByte(bytes, *quote_);
    if (at != std::string_view::npos) length = at;
  }
  std::string_view run = bytes.substr(0, length);
  *end = 0;
  size_t newline = stop == Stop::kFirstRow ? FindByte(run, '\n') : run.rfind('\n');
  if (newline != std::string_view::npos) {
    *end = newline + 1;
    if (stop == Stop::kFirstRow) {
      state_ = State::kFieldStart;
      return *end;
    }
  }
  if (!run.empty()) {
    bool starts = run.back() == '\n' || run.back() == delimiter_;
    state_ = starts ? State::kFieldStart : State::kUnquoted;
  }
  return length;
}

size_t RowSplitter::Feed(std::string_view bytes, Stop stop) {
  size_t last_end = 0;
  size_t at = 0;
  while (at < bytes.size()) {
    switch (state_) {
      case State::kFieldStart:
      case State::kUnquoted: {
        if (quote_.has_value() && bytes[at] == *quote_) {
          state_ = state_ == State::kFieldStart ? State::kQuoted : State::kUnquoted;
          ++at;
          break;
        }
        size_t end = 0;
        size_t taken = FeedUnquotedRun(bytes.substr(at), stop, &end);
        if (end != 0) {
          last_end = at + end;
          if (stop == Stop::kFirstRow) return last_end;
        }
        at += taken;
        break;
      }
      case State::kQuoted: {
        size_t found = FindByte(bytes.substr(at), *quote_);
        if (found == std::string_view::npos) return last_end;
        at += found + 1;
        state_ = State::kQuoteSeen;
        break;
      }
      case State::kQuoteSeen:
        if (bytes[at] == *quote_) {
          state_ = State::kQuoted;
          ++at;
        } else {
          state_ = State::kUnquoted;  // the run decides again at its last byte
        }
        break;
    }
  }
  return last_end;
}

}  // namespace koios::import
