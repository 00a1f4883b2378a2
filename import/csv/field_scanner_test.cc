// All levels against a search byte by byte. A level that this processor lacks is left to the
// others.
#include "import/csv/field_scanner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"

namespace koios::import {
namespace {

std::vector<ScanLevel> Levels() {
  std::vector<ScanLevel> levels = {ScanLevel::kPlain};
  if (BestScanLevel() >= ScanLevel::kSse2) levels.push_back(ScanLevel::kSse2);
  if (BestScanLevel() >= ScanLevel::kAvx2) levels.push_back(ScanLevel::kAvx2);
  return levels;
}

void Check(const std::string& text, char delimiter, std::optional<char> quote) {
  for (const ScanLevel level : Levels()) {
    for (const bool backwards : {false, true}) {
      FieldScanner scanner(text, delimiter, quote, level);
      for (size_t i = 0; i <= text.size(); ++i) {
        const size_t at = backwards ? text.size() - i : i;
        const char ends[] = {delimiter, '\n'};
        const size_t end = text.find_first_of(std::string_view(ends, 2), at);
        ASSERT_EQ(scanner.NextEnd(at), std::min(end, text.size())) << at;
        if (!quote) continue;
        ASSERT_EQ(scanner.NextQuote(at), std::min(text.find(*quote, at), text.size())) << at;
      }
    }
  }
}

TEST(FieldScannerTest, AllLevelsFindTheSame) {
  Rng rng(5);
  for (int round = 0; round < 100; ++round) {
    std::string text(rng.Uniform(300), 'x');
    const uint64_t alphabet = 2 + rng.Uniform(200);
    for (char& c : text) {
      const uint64_t drawn = rng.Uniform(alphabet);
      c = drawn < 4 ? "|\n\"\0"[drawn] : static_cast<char>(drawn);
    }
    Check(text, '|', '"');
    Check(text, '\0', std::nullopt);
    Check(text, '\xFF', '|');
  }
}

TEST(FieldScannerTest, LengthsAroundABlock) {
  for (const size_t size : {0, 1, 63, 64, 65, 127, 128, 129}) {
    std::string text(size, 'x');
    Check(text, ',', '"');
    if (size > 0) text.back() = ',';
    Check(text, ',', '"');
    if (size > 0) text.front() = '"';
    Check(text, ',', '"');
  }
}

}  // namespace
}  // namespace koios::import
