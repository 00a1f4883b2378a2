#include "import/csv/row_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace koios::import {
namespace {

const char kTricky[] =
    "a,b\n\"x\ny\",\"say \"\"hi\"\"\"\r\n5\" pipe,\"\"\n\"\",\"a,\n\"\"\n\"\n,,\nlast,\"q\"";

// Offsets just past every row end, by feeding byte by byte.
std::vector<size_t> EndsByteByByte(std::string_view text, const CsvOptions& options) {
  RowSplitter splitter(options);
  std::vector<size_t> ends;
  for (size_t i = 0; i < text.size(); ++i) {
    if (splitter.Feed(text.substr(i, 1), RowSplitter::Stop::kLastRow) != 0) ends.push_back(i + 1);
  }
  return ends;
}

TEST(RowSplitterTest, KnowsWhichLineBreaksEndARow) {
  EXPECT_EQ(EndsByteByByte(kTricky, CsvOptions{}), (std::vector<size_t>{4, 24, 35, 47, 50}));
}

TEST(RowSplitterTest, WithoutQuotesEveryLineBreakEndsARow) {
  CsvOptions options;
  options.quote = std::nullopt;
  EXPECT_EQ(EndsByteByByte("\"a\nb\",\n", options), (std::vector<size_t>{3, 7}));
}

TEST(RowSplitterTest, AnySplitOfTheInputFindsTheSameLastRow) {
  const std::string text = kTricky;
  const std::vector<size_t> ends = EndsByteByByte(text, CsvOptions{});
  for (size_t i = 0; i <= text.size(); ++i) {
    for (size_t j = i; j <= text.size(); ++j) {
      RowSplitter splitter{CsvOptions{}};
      size_t last = 0;
      const size_t cuts[] = {0, i, j, text.size()};
      for (int k = 0; k < 3; ++k) {
        std::string_view piece = std::string_view(text).substr(cuts[k], cuts[k + 1] - cuts[k]);
        size_t end = splitter.Feed(piece, RowSplitter::Stop::kLastRow);
        if (end != 0) last = cuts[k] + end;
      }
      ASSERT_EQ(last, ends.back()) << i << " " << j;
    }
  }
}

TEST(RowSplitterTest, FirstRowStopsBehindItWhateverTheSplit) {
  const std::string text = kTricky;
  for (size_t i = 0; i <= 4; ++i) {
    RowSplitter splitter{CsvOptions{}};
    size_t end = splitter.Feed(text.substr(0, i), RowSplitter::Stop::kFirstRow);
    if (end == 0) end = i + splitter.Feed(text.substr(i), RowSplitter::Stop::kFirstRow);
    ASSERT_EQ(end, 4u);
    EXPECT_EQ(splitter.Feed(text.substr(4), RowSplitter::Stop::kFirstRow), 20u);
  }
}

}  // namespace
}  // namespace koios::import
