#include "parser/error_format.h"

#include <algorithm>
#include <vector>

namespace koios::parser {
namespace {

constexpr size_t kLongestLine = 100;  // code points shown of a line
constexpr std::string_view kEllipsis = "...";

// The line's code points, as views; control characters and malformed bytes show as one blank each.
std::vector<std::string_view> CodePoints(std::string_view line) {
  std::vector<std::string_view> points;
  size_t at = 0;
  while (at < line.size()) {
    size_t end = at + 1;
    const auto byte = static_cast<unsigned char>(line[at]);
    const size_t longest = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    while (end < line.size() && end - at < longest &&
           (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) {
      ++end;
    }
    const bool printable =
        byte >= 0x20 && byte != 0x7F && end - at == longest && !(longest == 1 && byte >= 0x80);
    points.push_back(printable ? line.substr(at, end - at) : std::string_view(" "));
    at = end;
  }
  return points;
}

// The source line and below it the caret, both behind the same margin.
std::string Excerpt(std::string_view text, const SourceSpan& span) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (uint32_t line = 1; line < span.line; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return "";
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);

  const std::vector<std::string_view> points = CodePoints(text);
  const size_t caret = std::min<size_t>(span.column - 1, points.size());
  size_t first = 0;
  size_t last = points.size();
  if (points.size() > kLongestLine) {
    first = caret > kLongestLine / 2 ? caret - kLongestLine / 2 : 0;
    last = std::min(points.size(), first + kLongestLine);
  }
  std::string source = first > 0 ? std::string(kEllipsis) : "";
  std::string marks(source.size() + caret - first, ' ');
  for (size_t i = first; i < last; ++i) source += points[i];
  if (last < points.size()) source += kEllipsis;
  const size_t room = std::max<size_t>(1, last - caret);
  marks.append(std::clamp<size_t>(span.length, 1, room), '^');
  return "\n  | " + source + "\n  | " + marks;
}

}  // namespace

std::string FormatError(const Status& status, std::string_view text) {
  std::string result = MessageOf(status);
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail{});
  if (detail.span.line > 0 && detail.span.column > 0) {
    result += "\n  line " + std::to_string(detail.span.line) + ", column " +
              std::to_string(detail.span.column);
    result += Excerpt(text, detail.span);
  }
  const auto add = [&result](std::string_view name, const std::string& value) {
    if (!value.empty()) result += "\n  " + std::string(name) + ": " + value;
  };
  add("limit", detail.limit);
  add("used", detail.used);
  add("setting", detail.setting);
  add("hint", detail.hint);
  return result;
}

}  // namespace koios::parser
