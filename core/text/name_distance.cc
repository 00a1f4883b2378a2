#include "core/text/name_distance.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/status.h"

namespace koios {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

size_t CommonPrefix(std::string_view a, std::string_view b) {
  size_t length = 0;
  while (length < std::min(a.size(), b.size()) && Lower(a[length]) == Lower(b[length])) ++length;
  return length;
}

// "lbl" for "label": at least three letters, at least half of them, in order, the first one first.
bool Abbreviates(std::string_view name, std::string_view candidate) {
  if (name.size() < 3 || 2 * name.size() < candidate.size()) return false;
  if (CommonPrefix(name, candidate) == 0) return false;
  size_t at = 0;
  for (const char c : candidate) {
    if (at < name.size() && Lower(name[at]) == Lower(c)) ++at;
  }
  return at == name.size();
}

int AllowedEdits(std::string_view name, std::string_view candidate) {
  constexpr size_t kLongName = 6;
  const int edits = std::max<int>(1, static_cast<int>(name.size() / 3));
  const bool same_half =
      name.size() >= kLongName && 2 * (CommonPrefix(name, candidate) + 1) > name.size();
  return same_half ? edits + 1 : edits;
}

template <typename Name>
std::optional<std::string> Nearest(std::string_view name, std::span<const Name> candidates) {
  if (name.empty() || name.size() > kMaxComparedNameBytes) return std::nullopt;
  int best = std::numeric_limits<int>::max();
  std::optional<std::string> nearest;
  for (const Name& candidate : candidates) {
    if (candidate.empty() || candidate.size() > kMaxComparedNameBytes) continue;
    const int distance = NameDistance(name, candidate);
    // All bytes replaced is another name, however short.
    const bool edited =
        distance <= AllowedEdits(name, candidate) && distance < static_cast<int>(name.size());
    if (!edited && !Abbreviates(name, candidate)) continue;
    const int rank = 2 * distance + (CommonPrefix(name, candidate) == 0 ? 1 : 0);
    if (rank >= best) continue;
    best = rank;
    nearest = std::string(candidate);
  }
  return nearest;
}

}  // namespace

int NameDistance(std::string_view a, std::string_view b) {
  CHECK(a.size() <= kMaxComparedNameBytes && b.size() <= kMaxComparedNameBytes);
  std::array<std::array<int, kMaxComparedNameBytes + 1>, 3> rows;  // two ago, last, this one
  int *before = rows[0].data(), *last = rows[1].data(), *current = rows[2].data();
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    const char c = Lower(a[i - 1]);
    for (size_t j = 1; j <= b.size(); ++j) {
      const char d = Lower(b[j - 1]);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (c == d ? 0 : 1)});
      if (i > 1 && j > 1 && c == Lower(b[j - 2]) && d == Lower(a[i - 2])) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    int* oldest = before;
    before = last;
    last = current;
    current = oldest;
  }
  return last[b.size()];
}

std::optional<std::string> NearestName(std::string_view name,
                                       std::span<const std::string_view> candidates) {
  return Nearest(name, candidates);
}

std::optional<std::string> NearestName(std::string_view name,
                                       std::span<const std::string> candidates) {
  return Nearest(name, candidates);
}

}  // namespace koios
