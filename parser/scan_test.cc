#include "parser/scan.h"

#include <gtest/gtest.h>

#include <string>

namespace koios::parser {
namespace {

std::vector<std::string> Texts(std::string_view text) {
  const StatusOr<std::vector<Lexeme>> tokens = Scan(text, {});
  EXPECT_TRUE(tokens.ok()) << MessageOf(tokens.status());
  std::vector<std::string> texts;
  if (!tokens.ok()) return texts;
  for (const Lexeme& token : *tokens) texts.emplace_back(token.In(text));
  return texts;
}

ErrorDetail ErrorOf(std::string_view text, const Limits& limits = {}) {
  const Status status = Scan(text, limits).status();
  EXPECT_FALSE(status.ok()) << text;
  return DetailOf(status).value_or(ErrorDetail{});
}

using Words = std::vector<std::string>;

TEST(ScanTest, SplitsCallsAndPunctuation) {
  EXPECT_EQ(Texts("g.V(1, 'a') ;"), (Words{"g", ".", "V", "(", "1", ",", "'a'", ")", ";", ""}));
}

TEST(ScanTest, NumbersTakeTheirSignSuffixAndExponent) {
  EXPECT_EQ(Texts("-1 +2 1.5f 1e10 1.7E+308d 1e-3 0x1F -Infinity 3.out"),
            (Words{"-1", "+2", "1.5f", "1e10", "1.7E+308d", "1e-3", "0x1F", "-Infinity", "3", ".",
                   "out", ""}));
}

TEST(ScanTest, CommentsAndWhitespaceVanish) {
  EXPECT_EQ(Texts("\xEF\xBB\xBFg // ( \" \n\t/* ' [ */.V()"), (Words{"g", ".", "V", "(", ")", ""}));
}

TEST(ScanTest, BracketsAndCommentsInsideStringsAreText) {
  EXPECT_EQ(Texts(R"("([{ // \" /*" '\'"')"), (Words{R"("([{ // \" /*")", R"('\'"')", ""}));
}

TEST(ScanTest, ColumnsCountCodePointsAndLinesCountNewlines) {
  const std::string_view text = "g.V('\xC3\xA9\xF0\x9F\x98\x80')\r\n .x";
  const StatusOr<std::vector<Lexeme>> tokens = Scan(text, {});
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ((*tokens)[4].span, (SourceSpan{1, 5, 4}));
  EXPECT_EQ((*tokens)[5].span, (SourceSpan{1, 9, 1}));
  EXPECT_EQ((*tokens)[7].span, (SourceSpan{2, 3, 1}));
}

TEST(ScanTest, NamesMayHaveLettersBeyondAscii) {
  EXPECT_EQ(Texts("gr\xC3\xB6\xC3\x9F"
                  "e"),
            (Words{"gr\xC3\xB6\xC3\x9F"
                   "e",
                   ""}));
}

struct BadText {
  std::string text;
  std::string reason;
  SourceSpan span;
};

TEST(ScanTest, RefusesWithReasonAndPlace) {
  const BadText cases[] = {
      {"g.V('abc", "UNTERMINATED_STRING", {1, 5, 1}},
      {"g.V()\n.has(\"a\\\")", "UNTERMINATED_STRING", {2, 6, 1}},
      {"g.V() /* x", "UNTERMINATED_COMMENT", {1, 7, 2}},
      {"g.V(", "UNCLOSED_BRACKET", {1, 4, 1}},
      {"g.V([1, {2}", "UNCLOSED_BRACKET", {1, 5, 1}},
      {"g.V())", "UNEXPECTED_BRACKET", {1, 6, 1}},
      {"g.V([1)", "MISMATCHED_BRACKET", {1, 5, 1}},
      {"g.V()#", "UNEXPECTED_CHARACTER", {1, 6, 1}},
      {"g.V(\xE2\x80\x9C", "UNEXPECTED_CHARACTER", {1, 5, 1}},
      {"g.V(\xC2\xA0)", "UNEXPECTED_CHARACTER", {1, 5, 1}},
      {std::string("g.\0V()", 6), "UNEXPECTED_CHARACTER", {1, 3, 1}},
      {"g.V('\xFF')", "INVALID_UTF8", {1, 6, 1}},
      {"g.V('\xED\xA0\x80')", "INVALID_UTF8", {1, 6, 1}},
      {"g.V() // \xC0\xAF", "INVALID_UTF8", {1, 10, 1}},
      {"g.V().map{ it.get() }", "CLOSURE", {1, 10, 1}},
      {"g.V().filter({it})", "CLOSURE", {1, 14, 1}},
      {"g.V().map(x -> x)", "CLOSURE", {1, 13, 2}},
      {"x = g.V()", "CLOSURE", {1, 3, 1}},
      {"g.V().has('a' == 1)", "CLOSURE", {1, 15, 2}},
      {"g.V('a' + 'b')", "CLOSURE", {1, 9, 1}},
      {"g.V(a.b.c.d)", "SYNTAX", {1, 11, 1}},
  };
  for (const BadText& bad : cases) {
    const ErrorDetail detail = ErrorOf(bad.text);
    EXPECT_EQ(detail.reason, bad.reason) << bad.text;
    EXPECT_EQ(detail.span, bad.span) << bad.text << " at " << detail.span.line << ":"
                                     << detail.span.column << "+" << detail.span.length;
  }
}

TEST(ScanTest, MismatchNamesBothPlaces) {
  const Status status = Scan("g.V([1)", {}).status();
  EXPECT_EQ(MessageOf(status), "This \"[\" needs a \"]\", but line 1, column 7 has a \")\".");
}

TEST(ScanTest, CurlyQuotesGetTheirHint) {
  EXPECT_EQ(ErrorOf("g.V(\xE2\x80\x98").hint, "use the straight quotes ' or \"");
}

TEST(ScanTest, ASetOfParametersIsNoClosure) { EXPECT_EQ(Texts("within({item, 1})").size(), 9u); }

std::string Repeat(std::string_view part, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += part;
  return result;
}

void ExpectLimit(const std::string& text, const Limits& limits, const std::string& setting,
                 const std::string& used, SourceSpan span) {
  const Status status = Scan(text, limits).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << text.substr(0, 60);
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail{});
  EXPECT_EQ(detail.reason, "LIMIT");
  EXPECT_EQ(detail.setting, setting);
  EXPECT_EQ(detail.used, used);
  EXPECT_EQ(detail.span, span) << detail.span.line << ":" << detail.span.column;
  EXPECT_NE(MessageOf(status).find(setting), std::string::npos);
}

TEST(ScanTest, TextLimit) {
  Limits limits;
  limits.max_text_bytes = 10;
  EXPECT_TRUE(Scan("g.V('abc')", limits).ok());
  ExpectLimit("g.V('abcd')", limits, "query-max-text", "11", {1, 1, 1});
  EXPECT_TRUE(Scan("g.V()" + std::string((1 << 20) - 5, ' '), {}).ok());
  EXPECT_FALSE(Scan("g.V()" + std::string((1 << 20) - 4, ' '), {}).ok());
}

TEST(ScanTest, NestingLimit) {
  Limits limits;
  limits.max_nesting = 3;
  EXPECT_TRUE(Scan("g.V([[1],[2]])", limits).ok());
  ExpectLimit("g.V([[{", limits, "query-max-nesting", "4", {1, 7, 1});
  EXPECT_TRUE(Scan("g.V(\"((((\")", limits).ok());
  EXPECT_TRUE(Scan(Repeat("(", 128) + Repeat(")", 128), {}).ok());
  ExpectLimit(Repeat("(", 1 << 19), {}, "query-max-nesting", "129", {1, 129, 1});
}

TEST(ScanTest, NestingIsCappedWhateverTheSetting) {
  Limits limits;
  limits.max_nesting = 1'000'000;
  ExpectLimit(Repeat("[", 1000), limits, "query-max-nesting", std::to_string(kMaxNesting + 1),
              {1, kMaxNesting + 1, 1});
}

TEST(ScanTest, StepLimitCountsCallsThatAreNoPredicates) {
  Limits limits;
  limits.max_steps = 3;
  EXPECT_TRUE(Scan("g.V().has('a', gt(1), P.within(1), UUID()).out()", limits).ok());
  ExpectLimit("g.V().out(in(out()))", limits, "query-max-steps", "4", {1, 14, 3});
}

TEST(ScanTest, MemberLimitCountsAllListsOfTheText) {
  Limits limits;
  limits.max_list = 4;
  EXPECT_TRUE(Scan("g.V([1,2],{3},4,5)", limits).ok());
  ExpectLimit("g.V([1,2,3,4,5])", limits, "query-max-list", "5", {1, 13, 1});
  ExpectLimit("g.V([[1,2],3,4])", limits, "query-max-list", "5", {1, 13, 1});
  ExpectLimit("g.V(1,2,3,4,5)", limits, "query-max-list", "5", {1, 12, 1});
}

TEST(IsCompleteTest, WaitsForWhatIsOpen) {
  for (std::string_view text :
       {"g.V(", "g.V().", "g.V('a", "g.V([1,", "g.V() /* a", "g.V(\n'x',", "g.V(). // more"}) {
    EXPECT_FALSE(IsComplete(text)) << text;
  }
  for (std::string_view text :
       {"", "g.V()", "g.V();", "g.V(')')", "g.V())", "g.V([1)", "g.V(x -> y", "g.V() // (", "#"}) {
    EXPECT_TRUE(IsComplete(text)) << text;
  }
}

}  // namespace
}  // namespace koios::parser
