// Mutated queries: whatever comes in, the parser answers with a tree whose text parses to the same
// text, or with an error that has a reason and a place inside the query.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "parser/error_format.h"
#include "parser/parser.h"
#include "parser/printer.h"

namespace koios::parser {
namespace {

constexpr std::string_view kSeeds[] = {
    "g.V().has('person', 'age', gt(30).and(lt(40)).or(eq(-1L))).out('knows').values('name')",
    "g.V(1, 'a', x).repeat(__.out().simplePath()).until(hasId(within([1, 2, {3}]))).path()"
    ".by(T.id)",
    "g.mergeV([T.id: 1, (T.label): 'p', name: \"m\\u00e9\", 'a b': [1.5f, null]])"
    ".option(Merge.onCreate, [age: Cardinality.set(33), (OUT): Merge.outV])",
    "g.withStrategies(new SubgraphStrategy(vertices: hasLabel('a')), ReadOnlyStrategy).V()"
    ".next(5);",
    "g.inject(datetime('2023-08-02T00:00:00Z'), UUID(), NaN, -Infinity, 1e10, 0x1F, 10n, 1.0m)",
    "g.V(1..5, 'a'..\"c\").has('x', within(3..-6)).inject([1..46, {'x1'..'x3'}])",
    "g.V() /* all */ .order().by('x', desc) // end\n.limit(Scope.local, 1).profile()",
};

constexpr std::string_view kPieces[] = {
    "(",         ")",
    "[",         "]",
    "{",         "}",
    ".",         ",",
    ":",         ";",
    "'",         "\"",
    "\\",        "\\u00",
    "__",        "__.",
    "g",         "P.",
    "not(",      "gt(1)",
    "1",         "-",
    "1e",        "0x",
    "new ",      "it",
    "->",        "/*",
    "*/",        "//",
    "\n",        "\xC3",
    "\xC3\xA9",  "\xF0\x9F\x98\x80",
    "T.id",      "Order.",
    "null",      "out()",
    "Strategy",  "[:]",
    "UUID(",     ".and(",
    ".negate()", "as",
    "=",         "\xEF\xBB\xBF",
    "..",        "..9",
};

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  std::string Next() {
    std::string text(kSeeds[Below(std::size(kSeeds))]);
    for (size_t i = 0, count = 1 + Below(6); i < count; ++i) Mutate(&text);
    return text;
  }

 private:
  size_t Below(size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random_);
  }

  void Mutate(std::string* text) {
    const size_t at = Below(text->size() + 1);
    const size_t length = std::min(text->size() - at, 1 + Below(8));
    switch (Below(5)) {
      case 0:
        text->insert(at, kPieces[Below(std::size(kPieces))]);
        break;
      case 1:
        text->erase(at, length);
        break;
      case 2:
        text->insert(Below(text->size() + 1), text->substr(at, length * 4));
        break;
      case 3:
        if (at < text->size()) (*text)[at] = static_cast<char>(Below(256));
        break;
      default: {
        const std::string_view other = kSeeds[Below(std::size(kSeeds))];
        text->insert(at, other.substr(Below(other.size()), 1 + Below(30)));
        break;
      }
    }
  }

  std::mt19937 random_;
};

void ExpectSound(const std::string& text) {
  IsComplete(text);
  const StatusOr<Query> query = Parse(text);
  if (!query.ok()) {
    const ErrorDetail detail = DetailOf(query.status()).value_or(ErrorDetail{});
    const size_t num_lines = 1 + static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    EXPECT_FALSE(detail.reason.empty()) << MessageOf(query.status());
    EXPECT_NE(query.status().code(), StatusCode::kInternal) << MessageOf(query.status());
    EXPECT_GE(detail.span.line, 1u);
    EXPECT_LE(detail.span.line, num_lines);
    EXPECT_GE(detail.span.column, 1u);
    EXPECT_LE(detail.span.column, text.size() + 1);
    EXPECT_GE(detail.span.length, 1u);
    EXPECT_FALSE(FormatError(query.status(), text).empty());
    return;
  }
  const std::string canonical = ToText(query->root);
  if (query->root.calls.empty()) return;  // only a terminal method was there
  const StatusOr<Query> again = Parse(canonical);
  ASSERT_TRUE(again.ok()) << canonical << "\n" << FormatError(again.status(), canonical);
  EXPECT_EQ(ToText(again->root), canonical);
  EXPECT_EQ(again->parameters.size(), query->parameters.size()) << canonical;
}

TEST(ParserFuzzTest, SeedsParse) {
  for (std::string_view seed : kSeeds) {
    EXPECT_TRUE(Parse(seed).ok()) << FormatError(Parse(seed).status(), seed);
  }
}

TEST(ParserFuzzTest, MutatedQueriesAreAnswered) {
  for (uint32_t seed = 0; seed < 20'000; ++seed) {
    const std::string text = Mutator(seed).Next();
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    ExpectSound(text);
    if (HasFailure()) return;
  }
}

TEST(ParserFuzzTest, RandomPiecesAreAnswered) {
  for (uint32_t seed = 0; seed < 20'000; ++seed) {
    std::mt19937 random(seed);
    std::string text = "g.V(";
    const size_t count = random() % 20;
    for (size_t i = 0; i < count; ++i) text += kPieces[random() % std::size(kPieces)];
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    ExpectSound(text);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace koios::parser
