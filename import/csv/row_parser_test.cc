#include "import/csv/row_parser.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/random.h"
#include "import/csv/memory_source.h"

namespace koios::import {
namespace {

struct ReadResult {
  std::vector<std::vector<std::string>> rows;
  std::vector<uint64_t> lines;
  std::vector<uint64_t> offsets;
  std::vector<RowError> errors;
  std::vector<std::string> raws;
  bool operator==(const ReadResult&) const = default;
};

ReadResult ReadRows(const std::string& text, const CsvOptions& options, size_t chunk_bytes,
                    size_t step = 1 << 20) {
  ReadResult result;
  ChunkReader reader(std::make_unique<MemorySource>(text, step), options, chunk_bytes);
  Chunk chunk;
  while (true) {
    auto more = reader.Next(&chunk);
    EXPECT_TRUE(more.ok());
    if (!more.ok() || !*more) return result;
    RowParser parser(chunk, options, 100);
    Row row;
    while (parser.Next(&row)) {
      std::vector<std::string> fields;
      for (const Field& field : row.fields) fields.emplace_back(field.text);
      result.rows.push_back(fields);
      result.lines.push_back(row.line);
      result.offsets.push_back(row.offset);
      result.errors.push_back(row.error);
      result.raws.emplace_back(row.raw);
    }
  }
}

const char kTrickyRows[] =
    "a,b\n\"x\ny\",\"say \"\"hi\"\"\"\r\n\n5\" pipe,\"\"\r\n\"\",\"a,\n\"\"\n\"\n,,\nlast,\"q\"";

TEST(RowParserTest, QuotesLineBreaksAndBothLineEnds) {
  ReadResult result = ReadRows(kTrickyRows, CsvOptions{}, 1 << 20);
  std::vector<std::vector<std::string>> expected = {{"a", "b"},       {"x\ny", "say \"hi\""},
                                                    {"5\" pipe", ""}, {"", "a,\n\"\n"},
                                                    {"", "", ""},     {"last", "q"}};
  EXPECT_EQ(result.rows, expected);
  EXPECT_EQ(result.lines, (std::vector<uint64_t>{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(result.raws[2], "5\" pipe,\"\"");
  for (RowError error : result.errors) EXPECT_EQ(error, RowError::kNone);
  EXPECT_EQ(std::string(kTrickyRows).substr(result.offsets[5], 4), "last");
}

TEST(RowParserTest, ChunksOfAnySizeGiveTheSameRows) {
  const ReadResult whole = ReadRows(kTrickyRows, CsvOptions{}, 1 << 20);
  for (size_t chunk = 1; chunk <= sizeof(kTrickyRows); ++chunk) {
    for (size_t step : {1, 2, 3, 7, 1000}) {
      EXPECT_EQ(ReadRows(kTrickyRows, CsvOptions{}, chunk, step), whole) << chunk << " " << step;
    }
  }
}

// Whatever the text is: rows are cut where the parser of the whole ends them.
TEST(RowParserTest, RandomTextGivesTheSameRowsInChunksOfAnySize) {
  Rng rng(11);
  for (int round = 0; round < 400; ++round) {
    std::string text;
    for (uint64_t i = rng.Uniform(120); i > 0; --i) text.push_back("ab,,\"\"\n\r|"[rng.Uniform(9)]);
    if (rng.Uniform(3) == 0) text += "\r\r\n" + std::string(rng.Uniform(100), 'x');
    CsvOptions options;
    if (rng.Uniform(4) == 0) options.quote = std::nullopt;
    const ReadResult whole = ReadRows(text, options, 1 << 20);
    for (size_t chunk = 1; chunk <= 64; chunk += 1 + chunk / 8) {
      const size_t step = 1 + rng.Uniform(9);
      ASSERT_EQ(ReadRows(text, options, chunk, step), whole) << chunk << " " << step << "\n"
                                                             << text;
    }
  }
}

TEST(RowParserTest, OddLineEnds) {
  const ReadResult result = ReadRows("a,b\r\r\nc,d\n\r\n\r\re,f\rg", CsvOptions{}, 1 << 20);
  EXPECT_EQ(result.rows,
            (std::vector<std::vector<std::string>>{{"a", "b\r"}, {"c", "d"}, {"\r\re", "f\rg"}}));
  EXPECT_EQ(result.lines, (std::vector<uint64_t>{1, 2, 4}));
}

TEST(RowParserTest, ByteOrderMarkIsNoData) {
  ReadResult result = ReadRows(
      "\xEF\xBB\xBF"
      "a,b\n1,2\n",
      CsvOptions{}, 1, 1);
  EXPECT_EQ(result.rows[0][0], "a");
  EXPECT_EQ(result.offsets[1], 7u);
}

TEST(RowParserTest, WithoutQuotingAQuoteIsACharacter) {
  CsvOptions options;
  options.quote = std::nullopt;
  options.delimiter = '|';
  ReadResult result = ReadRows("\"a|b\\\n\"\"|c\"\n", options, 3);
  EXPECT_EQ(result.rows, (std::vector<std::vector<std::string>>{{"\"a", "b\\"}, {"\"\"", "c\""}}));
}

TEST(RowParserTest, TextBehindAClosingQuoteSpoilsItsRowOnly) {
  ReadResult result = ReadRows("1,\"a\"b,3\n4,5,6\n", CsvOptions{}, 1 << 20);
  EXPECT_EQ(result.errors, (std::vector<RowError>{RowError::kBadQuote, RowError::kNone}));
  EXPECT_EQ(result.rows[1], (std::vector<std::string>{"4", "5", "6"}));
}

TEST(RowParserTest, AnOpenQuoteIsReportedWhereItsRowStarts) {
  ReadResult result = ReadRows("1,2\n3,\"never\nclosed", CsvOptions{}, 1 << 20);
  ASSERT_EQ(result.errors.size(), 2u);
  EXPECT_EQ(result.errors[1], RowError::kOpenQuote);
  EXPECT_EQ(result.lines[1], 2u);
}

TEST(RowParserTest, ARowBeyondTheLimitIsSkippedAndReadingGoesOn) {
  CsvOptions options;
  options.max_row_bytes = 64;
  const std::string text = "a,b\n" + std::string(5000, 'x') + ",1\nc,d\n";
  for (size_t chunk : {1, 16, 100, 100000}) {
    ReadResult result = ReadRows(text, options, chunk, 10);
    ASSERT_EQ(result.errors.size(), 3u) << chunk;
    EXPECT_EQ(result.errors[1], RowError::kTooLong);
    EXPECT_EQ(result.lines, (std::vector<uint64_t>{1, 2, 3}));
    EXPECT_EQ(result.rows[2], (std::vector<std::string>{"c", "d"}));
  }
}

TEST(RowParserTest, ARowOfDelimitersCostsNoFields) {
  ReadResult result = ReadRows(std::string(5000, ',') + "\n1,2\n", CsvOptions{}, 1 << 20);
  EXPECT_EQ(result.errors[0], RowError::kTooManyFields);
  EXPECT_EQ(result.rows[0].size(), 100u);
  EXPECT_EQ(result.rows[1].size(), 2u);
}

TEST(RowParserTest, AFieldBeyondTheLimitIsTooLong) {
  CsvOptions options;
  options.max_field_bytes = 3;
  ReadResult result = ReadRows("a,abcd\nabc,d\n", options, 1 << 20);
  EXPECT_EQ(result.errors, (std::vector<RowError>{RowError::kTooLong, RowError::kNone}));
}

TEST(ChunkReaderTest, TheHeaderComesAloneAndTheRestFollows) {
  ChunkReader reader(std::make_unique<MemorySource>("h,\"i\nj\"\n1,2\n3,4\n", 4), CsvOptions{}, 5);
  Chunk chunk;
  ASSERT_TRUE(*reader.NextRow(&chunk));
  EXPECT_EQ(chunk.bytes, "h,\"i\nj\"\n");
  std::string rest;
  while (*reader.Next(&chunk)) {
    if (rest.empty()) {
      EXPECT_EQ(chunk.line, 3u);
    }
    rest += chunk.bytes;
  }
  EXPECT_EQ(rest, "1,2\n3,4\n");
}

TEST(ChunkReaderTest, RefusesUtf16) {
  ChunkReader reader(std::make_unique<MemorySource>(std::string("\xFF\xFE"
                                                                "a\0",
                                                                4),
                                                    10),
                     CsvOptions{}, 5);
  Chunk chunk;
  EXPECT_EQ(reader.Next(&chunk).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace koios::import
