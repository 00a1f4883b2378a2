#include "parser/literal_range.h"

#include <string>
#include <string_view>
#include <utility>

#include "core/text/text.h"

namespace koios::parser {
namespace {

constexpr int64_t kFirstSurrogate = 0xD800;
constexpr int64_t kLastSurrogate = 0xDFFF;

Status BadEnds(std::string_view message) {
  ErrorDetail detail;
  detail.reason = "BAD_RANGE";
  detail.hint = "a range is 1..5, between two Ints, or 'a1'..'a5', between two strings";
  return InvalidArgument(message, detail);
}

Status TooLong(std::string_view what, uint64_t limit, uint64_t used, std::string_view setting) {
  ErrorDetail detail;
  detail.reason = "LIMIT";
  detail.limit = std::string(what) + " " + std::to_string(limit);
  detail.used = std::to_string(used);
  detail.setting = std::string(setting);
  return ResourceExhausted("The ranges of the query are too long: " + std::string(what) + " " +
                               std::to_string(used) + ", and the limit is " +
                               std::to_string(limit) + ".",
                           detail);
}

// Takes the room of as many members, each a string of so many bytes (0: no strings).
Status Take(uint64_t members, uint64_t bytes_each, RangeRoom* room) {
  const uint64_t all = room->members + members;
  if (all > room->max_members) {
    return TooLong("number of list members", room->max_members, all, "query-max-list");
  }
  const uint64_t bytes = room->bytes + members * bytes_each;  // both factors are bounded
  if (bytes > room->max_bytes) {
    return TooLong("length in bytes", room->max_bytes, bytes, "query-max-text");
  }
  room->members = all;
  room->bytes = bytes;
  return OkStatus();
}

uint64_t Distance(int64_t a, int64_t b) { return static_cast<uint64_t>(a < b ? b - a : a - b); }

StatusOr<Value> IntsBetween(int64_t first, int64_t last, RangeRoom* room) {
  const uint64_t members = Distance(first, last) + 1;
  RETURN_IF_ERROR(Take(members, 0, room));
  const int64_t step = first <= last ? 1 : -1;
  ValueList list;
  list.reserve(members);
  for (uint64_t i = 0; i < members; ++i) {
    list.push_back(Value::Int(static_cast<int32_t>(first + step * static_cast<int64_t>(i))));
  }
  return Value::List(std::move(list));
}

// Of one character of well-formed UTF-8.
int64_t CodePointOf(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  int64_t c = character.size() == 1 ? lead : lead & (0x7F >> character.size());
  for (const char next : character.substr(1)) c = c << 6 | (next & 0x3F);
  return c;
}

// The text without its last character, and that character.
std::pair<std::string_view, int64_t> Split(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return {text.substr(0, at), CodePointOf(text.substr(at))};
}

StatusOr<Value> StringsBetween(const std::string& first, const std::string& last, RangeRoom* room) {
  if (first.empty() && last.empty()) return Value::EmptyList();
  if (first.empty() || last.empty()) {
    return BadEnds("The ends of a range of strings need the same number of characters.");
  }
  const auto [prefix, from] = Split(first);
  const auto [other, to] = Split(last);
  if (prefix != other) {
    return BadEnds("The ends of a range of strings may differ in their last character only.");
  }
  constexpr uint64_t kLongestCharacter = 4;
  RETURN_IF_ERROR(Take(Distance(from, to) + 1, prefix.size() + kLongestCharacter, room));
  const int64_t step = from <= to ? 1 : -1;
  ValueList list;
  for (int64_t c = from; c != to + step; c += step) {
    if (c >= kFirstSurrogate && c <= kLastSurrogate) continue;  // no character
    std::string member(prefix);
    AppendUtf8(static_cast<char32_t>(c), &member);
    list.push_back(Value::String(std::move(member)));
  }
  return Value::List(std::move(list));
}

}  // namespace

StatusOr<Value> RangeOf(const Value& first, const Value& last, RangeRoom* room) {
  if (first.kind() == ValueKind::kInt && last.kind() == ValueKind::kInt) {
    return IntsBetween(first.AsInteger(), last.AsInteger(), room);
  }
  if (first.kind() == ValueKind::kString && last.kind() == ValueKind::kString) {
    return StringsBetween(first.AsString(), last.AsString(), room);
  }
  return BadEnds("A range can't go from " + std::string(KindName(first.kind())) + " to " +
                 std::string(KindName(last.kind())) + ".");
}

}  // namespace koios::parser
