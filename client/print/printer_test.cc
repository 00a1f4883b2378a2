#include "client/print/printer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "client/print/text_width.h"
#include "core/testing/make_value.h"

namespace koios::client {
namespace {

Value Text(const std::string& text) { return Value::String(text); }

Value Person(const std::string& name, int age) {
  return MapOf({{Text("name"), Text(name)}, {Text("age"), Value::Int(age)}});
}

std::string Print(Format format, const std::vector<Value>& rows, PrinterOptions options = {}) {
  std::ostringstream out;
  auto printer = MakePrinter(format, out, options);
  for (const Value& row : rows) printer->Row(row);
  printer->Finish();
  return out.str();
}

TEST(PrinterTest, GremlinPrintsAnArrowPerResult) {
  EXPECT_EQ(Print(Format::kGremlin, {Text("marko"), Value::Long(3), Value::Null()}),
            "==>marko\n==>3\n==>null\n");
  EXPECT_EQ(Print(Format::kGremlin, {Person("marko", 29)}), "==>[name:marko,age:29]\n");
  EXPECT_EQ(Print(Format::kGremlin, {}), "");
}

TEST(PrinterTest, ATerminalIsNotObeyingStrings) {
  PrinterOptions options;
  options.escape_controls = true;
  EXPECT_EQ(Print(Format::kGremlin, {Text("a\033[2Jb\nc")}, options), "==>a\\u001b[2Jb\\nc\n");
}

TEST(PrinterTest, JsonIsOneArrayAlsoWhenEmpty) {
  EXPECT_EQ(nlohmann::json::parse(Print(Format::kJson, {})), nlohmann::json::array());
  const auto json =
      nlohmann::json::parse(Print(Format::kJson, {Person("marko", 29), Value::Double(0.5)}));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["name"], "marko");
  EXPECT_EQ(json[1], 0.5);
}

TEST(PrinterTest, JsonLinesAreOneTextEach) {
  EXPECT_EQ(Print(Format::kJsonl, {Text("a\nb"), Value::Long(1)}), "\"a\\nb\"\n1\n");
}

TEST(PrinterTest, TableHasAColumnPerKeyAndNumbersToTheRight) {
  EXPECT_EQ(Print(Format::kTable, {Person("marko", 29), Person("jo", 7)}),
            "name  | age\n"
            "------+----\n"
            "marko |  29\n"
            "jo    |   7\n");
}

TEST(PrinterTest, TablePutsOtherResultsIntoOneColumn) {
  EXPECT_EQ(Print(Format::kTable, {Text("a|b"), MapOf({{Text("k"), Text("v")}})}),
            "result | k\n"
            "-------+--\n"
            "a|b    |\n"
            "       | v\n");
  EXPECT_EQ(Print(Format::kTable, {}), "");
}

TEST(PrinterTest, TableWidthsCountWhatATerminalShows) {
  EXPECT_EQ(Print(Format::kTable, {Text("\u00e9t\u00e9"), Text("x\ty")}),
            "result\n"
            "------\n"
            "\u00e9t\u00e9\n"
            "x\\ty\n");
}

TEST(PrinterTest, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(Print(Format::kCsv, {MapOf({{Text("a,b"), Text("say \"x\"")},
                                        {Text("n"), Value::Null()},
                                        {Text("e"), Text("")},
                                        {Text("l"), ListOf({Value::Int(1)})}})}),
            "\"a,b\",n,e,l\n"
            "\"say \"\"x\"\"\",,\"\",[1]\n");
}

TEST(PrinterTest, ColumnsAreFixedAfterTheSample) {
  std::ostringstream out;
  auto printer = MakePrinter(Format::kCsv, out);
  for (size_t i = 0; i < kSampledRows; ++i) printer->Row(Person("x", 1));
  // The sample is out before the end: results stream.
  EXPECT_FALSE(out.str().empty());
  printer->Row(MapOf({{Text("name"), Text("late")}, {Text("new"), Value::Int(1)}}));
  printer->Finish();
  EXPECT_EQ(printer->num_left_out(), 1u);
  const std::string text = out.str();
  EXPECT_EQ(text.substr(text.size() - 6), "late,\n");
}

TEST(PrinterTest, FormatNamesRoundTrip) {
  for (const char* name : {"gremlin", "table", "json", "jsonl", "csv"}) {
    const auto format = ParseFormat(name);
    ASSERT_TRUE(format.ok());
    EXPECT_EQ(FormatName(*format), name);
  }
  EXPECT_EQ(ParseFormat("xml").status().code(), StatusCode::kInvalidArgument);
}

TEST(TextWidthTest, BrokenUtf8IsCountedAndKept) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("\xff\xfe"), 2u);
  EXPECT_EQ(EscapedControls(std::string("a\0b", 3)), "a\\u0000b");
  EXPECT_EQ(EscapedControls("\xc3"), "\xc3");
}

}  // namespace
}  // namespace koios::client
