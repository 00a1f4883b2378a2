// Every refusal of the parser with its reason, place and words.

#include <gtest/gtest.h>

#include <string>

#include "parser/error_format.h"
#include "parser/parser.h"

namespace koios::parser {
namespace {

struct BadQuery {
  std::string text;
  std::string reason;
  SourceSpan span;
  std::string message;
};

void ExpectRefused(const BadQuery& bad) {
  const Status status = Parse(bad.text).status();
  ASSERT_FALSE(status.ok()) << bad.text;
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << bad.text;
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail{});
  EXPECT_EQ(detail.reason, bad.reason) << bad.text;
  EXPECT_EQ(detail.span, bad.span) << bad.text << ": is at " << detail.span.line << ":"
                                   << detail.span.column << "+" << detail.span.length;
  EXPECT_EQ(MessageOf(status), bad.message) << bad.text;
}

TEST(ParserErrorTest, Syntax) {
  const BadQuery cases[] = {
      {"", "EMPTY_QUERY", {1, 1, 1}, "The query is empty."},
      {" // nothing\n ;", "EMPTY_QUERY", {1, 1, 1}, "The query is empty."},
      {"g.V().",
       "SYNTAX",
       {1, 7, 1},
       "Expected the name of a step after \".\" but found the end of the query."},
      {"g..V()", "SYNTAX", {1, 3, 1}, "Expected the name of a step after \".\" but found \".\"."},
      {"g.V() out()",
       "SYNTAX",
       {1, 7, 3},
       "Expected \".\" and a step, or the end of the query, but found \"out\"."},
      {"g.V(); g.E()",
       "SYNTAX",
       {1, 8, 1},
       "Expected the end of the query after \";\" but found \"g\"."},
      {"1", "SYNTAX", {1, 1, 1}, "Expected a traversal source, as in g.V(), but found \"1\"."},
      {"g.V('a' 'b')", "SYNTAX", {1, 9, 3}, "Expected \",\" or \")\" but found a string."},
      {"g.V('a',)", "SYNTAX", {1, 9, 1}, "Expected a value after \",\" but found \")\"."},
      {"g.V(,)", "SYNTAX", {1, 5, 1}, "Expected an argument or \")\" but found \",\"."},
      {"g.V([1 2])", "SYNTAX", {1, 8, 1}, "Expected \",\" or \"]\" but found \"2\"."},
      {"g.V([,])", "SYNTAX", {1, 6, 1}, "Expected a value, \":\" or \"]\" but found \",\"."},
      {"g.V({1 2})", "SYNTAX", {1, 8, 1}, "Expected \",\" or \"}\" but found \"2\"."},
      {"g.V([a:])", "SYNTAX", {1, 8, 1}, "Expected a value after \":\" but found \"]\"."},
      {"g.V([(a b): 1])", "SYNTAX", {1, 9, 1}, "Expected \")\" but found \"b\"."},
      {"g.V(new)",
       "SYNTAX",
       {1, 8, 1},
       "Expected the name of a strategy after \"new\" but found \")\"."},
      {"g.V()\n.out(a b)", "SYNTAX", {2, 8, 1}, "Expected \",\" or \")\" but found \"b\"."},
      {"g", "MISSING_STEP", {1, 1, 1}, "Expected \".\" and a step after \"g\"."},
      {"g.V", "SYNTAX", {1, 3, 1}, "Expected \"(\" after \"V\"."},
      {"g.V().where(out().name)", "SYNTAX", {1, 19, 4}, "Expected \"(\" after \"name\"."},
      {"g.V().where(__)", "MISSING_STEP", {1, 13, 2}, "Expected \".\" and a step after \"__\"."},
      {"V().out()",
       "MISSING_SOURCE",
       {1, 1, 1},
       "A query starts with the traversal source, not with \"V\"."},
      {"__.V()",
       "MISSING_SOURCE",
       {1, 1, 2},
       "A query starts with the traversal source, not with \"__\"."},
      {"g.V().where(g.V())",
       "NESTED_SOURCE",
       {1, 13, 1},
       "A nested traversal can't start from \"g\"."},
      {"g.V().has(name: 'x')",
       "SYNTAX",
       {1, 11, 9},
       "Only strategies and maps take \"name: value\"."},
      {"g.V([a: 1, 2])", "BAD_MAP", {1, 12, 1}, "This entry of the map has no \": value\"."},
      {"g.V([(out()): 1])", "BAD_MAP", {1, 7, 5}, "A map's key can't be a traversal."},
      {"g.V(SeedStrategy(9))",
       "SYNTAX",
       {1, 18, 1},
       "A strategy takes its options as \"name: value\"."},
  };
  for (const BadQuery& bad : cases) ExpectRefused(bad);
}

TEST(ParserErrorTest, Words) {
  const BadQuery cases[] = {
      {"g.V().by(Ordre.desc)", "UNKNOWN_WORD", {1, 10, 5}, "There is no type \"Ordre\"."},
      {"g.V().by(Order.dsec)", "UNKNOWN_WORD", {1, 16, 4}, "Order has no word \"dsec\"."},
      {"g.V().by(T.id())", "SYNTAX", {1, 12, 2}, "T.id is written without parentheses."},
      {"g.V().is(P.gtt(1))", "UNKNOWN_PREDICATE", {1, 12, 3}, "There is no predicate \"gtt\"."},
      {"g.V().is(P.gt)", "SYNTAX", {1, 12, 2}, "Expected \"(\" after \"gt\"."},
      {"g.V().is(gt(1).out())",
       "UNKNOWN_PREDICATE",
       {1, 16, 3},
       "\"out\" can't follow a predicate."},
      {"g.V().is(gt(1).and(2))",
       "ARGUMENTS",
       {1, 16, 3},
       "and() after a predicate takes one predicate."},
      {"g.V().is(gt(1).negate(2))",
       "ARGUMENTS",
       {1, 16, 6},
       "negate() after a predicate takes no argument."},
      {"g.V().is(gt())", "ARGUMENTS", {1, 10, 2}, "P.gt() takes one argument, not 0."},
      {"g.V().is(between(1))", "ARGUMENTS", {1, 10, 7}, "P.between() takes two arguments, not 1."},
      {"g.V().is(P.not(1))", "ARGUMENTS", {1, 12, 3}, "P.not() takes a predicate."},
      {"g.V().x(single(1, 2))", "ARGUMENTS", {1, 9, 6}, "Cardinality.single() takes one value."},
  };
  for (const BadQuery& bad : cases) ExpectRefused(bad);
  EXPECT_EQ(DetailOf(Parse("g.V().by(Ordre.desc)").status())->hint, "did you mean Order?");
  EXPECT_EQ(DetailOf(Parse("g.V().by(Order.dsec)").status())->hint, "did you mean Order.desc?");
  EXPECT_EQ(DetailOf(Parse("g.V().is(P.gtt(1))").status())->hint, "did you mean gt?");
  EXPECT_EQ(DetailOf(Parse("g.V().is(TextP.startsWit('a'))").status())->hint,
            "did you mean startingWith?");
  EXPECT_EQ(DetailOf(Parse("g.V().by(T.lbl)").status())->hint, "did you mean T.label?");
}

TEST(ParserErrorTest, Literals) {
  const BadQuery cases[] = {
      {"g.V(1x)", "BAD_NUMBER", {1, 5, 2}, "\"1x\" is not a number."},
      {"g.V(1..)",
       "SYNTAX",
       {1, 8, 1},
       "Expected a range, as in 1..5 or 'a'..'e', but found \")\"."},
      {"g.V(1.)",
       "SYNTAX",
       {1, 7, 1},
       "Expected a range, as in 1..5 or 'a'..'e', but found \")\"."},
      {"g.V(1..'a')",
       "SYNTAX",
       {1, 8, 3},
       "Expected a range, as in 1..5 or 'a'..'e', but found a string."},
      {"g.V(1..2..3)", "SYNTAX", {1, 9, 1}, "Expected \",\" or \")\" but found \".\"."},
      {"g.V(1..5L)", "BAD_RANGE", {1, 5, 5}, "A range can't go from Integer to Long."},
      {"g.V(1.0..2.0)", "BAD_RANGE", {1, 5, 8}, "A range can't go from Double to Double."},
      {"g.V('a'..'bc')",
       "BAD_RANGE",
       {1, 5, 9},
       "The ends of a range of strings may differ in their last character only."},
      {"g.V('a'..'')",
       "BAD_RANGE",
       {1, 5, 7},
       "The ends of a range of strings need the same number of characters."},
      {"g.V(300b)", "NUMBER_RANGE", {1, 5, 4}, "\"300b\" does not fit the type Byte."},
      {"g.V('\xC3\xA9 \\d')", "BAD_ESCAPE", {1, 8, 2}, "This string has an unknown escape."},
      {"g.V('a\nb\\d')", "BAD_ESCAPE", {2, 2, 2}, "This string has an unknown escape."},
      {"g.V(datetime('x'))", "BAD_DATETIME", {1, 14, 3}, "\"x\" is not a date."},
      {"g.V(UUID('x'))", "BAD_UUID", {1, 10, 3}, "\"x\" is not a UUID."},
      {"g.V(Duration('x'))", "BAD_DURATION", {1, 14, 3}, "\"x\" is not a duration."},
      {"g.V(Duration())", "ARGUMENTS", {1, 5, 8}, "Duration() takes one string."},
  };
  for (const BadQuery& bad : cases) ExpectRefused(bad);
}

TEST(ParserErrorTest, Terminals) {
  const BadQuery cases[] = {
      {"g.V().toList().size()",
       "TERMINAL_NOT_LAST",
       {1, 16, 4},
       "Nothing may follow toList(): it ends the query."},
      {"g.V().next('a')", "ARGUMENTS", {1, 12, 3}, "next() takes a number of results."},
      {"g.V().next(-1)", "ARGUMENTS", {1, 12, 2}, "next() takes a number of results."},
      {"g.V().next(1, 2)", "ARGUMENTS", {1, 15, 1}, "next() takes at most one argument."},
      {"g.V().toList(1)", "ARGUMENTS", {1, 14, 1}, "toList() takes no argument."},
  };
  for (const BadQuery& bad : cases) ExpectRefused(bad);
}

TEST(ParserErrorTest, GroovyAndJavaAreRefusedByName) {
  const std::pair<std::string, SourceSpan> cases[] = {
      {"g.V().map{ it.get() }", {1, 10, 1}},
      {"g.V().filter { it.get() > 1 }", {1, 14, 1}},
      {"g.V().filter({it -> true})", {1, 14, 1}},
      {"g.V().filter(x -> x)", {1, 16, 2}},
      {"g.V().map(Lambda.function('x'))", {1, 11, 6}},
      {"g.V().map(it.get())", {1, 11, 2}},
      {"g.V(java.lang.Math)", {1, 5, 4}},
      {"java.lang.System.exit(1)", {1, 18, 4}},
      {"System.exit(1)", {1, 1, 6}},
      {"g.V(new ArrayList())", {1, 9, 9}},
      {"new Foo().bar()", {1, 5, 3}},
      {"g.V('x'.length())", {1, 8, 1}},
      {"g.V([1,2].size())", {1, 10, 1}},
      {"g.V(x as String)", {1, 7, 2}},
      {"g.V() as List", {1, 7, 2}},
      {"def x", {1, 1, 3}},
      {"def x = 1", {1, 7, 1}},
      {"x = g.V()", {1, 3, 1}},
      {"g.V(1 + 2)", {1, 7, 1}},
      {"g.withStrategies(SubgraphStrategy.build().create())", {1, 18, 16}},
      {"g.V(datetime('2023-08-02').getTime())", {1, 28, 7}},
      {"g.V(T.id.foo())", {1, 10, 3}},
  };
  for (const auto& [text, span] : cases) {
    const Status status = Parse(text).status();
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail{});
    EXPECT_EQ(detail.span, span) << text << ": is at " << detail.span.line << ":"
                                 << detail.span.column << "+" << detail.span.length;
    if (text == "java.lang.System.exit(1)") continue;  // too many words come first
    EXPECT_EQ(detail.reason, "CLOSURE") << text;
  }
}

TEST(ParserErrorTest, AlternatingPredicatesAreBounded) {
  std::string text = "g.V().is(gt(1)";
  for (int i = 0; i < 200; ++i) text += ".and(lt(2)).or(gt(3))";
  const Status status = Parse(text + ")").status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(status)->reason, "LIMIT");
  EXPECT_EQ(DetailOf(status)->span.line, 1u);
}

TEST(ErrorFormatTest, ShowsLineAndCaret) {
  const std::string text = "g.V()\n  .has('\xC3\xA9' x)\n  .out()";
  EXPECT_EQ(FormatError(Parse(text).status(), text),
            "Expected \",\" or \")\" but found \"x\".\n"
            "  line 2, column 12\n"
            "  |   .has('\xC3\xA9' x)\n"
            "  |            ^");
}

TEST(ErrorFormatTest, ShowsHintAndUnderlinesTheWord) {
  const std::string text = "g.V().by(Order.dsec)";
  EXPECT_EQ(FormatError(Parse(text).status(), text),
            "Order has no word \"dsec\".\n"
            "  line 1, column 16\n"
            "  | g.V().by(Order.dsec)\n"
            "  |                ^^^^\n"
            "  hint: did you mean Order.desc?");
}

TEST(ErrorFormatTest, CutsLongLinesAroundTheCaret) {
  const std::string text =
      "g.V('" + std::string(500, 'a') + "', 'b' x, '" + std::string(500, 'c') + "')";
  EXPECT_EQ(FormatError(Parse(text).status(), text),
            "Expected \",\" or \")\" but found \"x\".\n"
            "  line 1, column 513\n"
            "  | ..." +
                std::string(43, 'a') + "', 'b' x, '" + std::string(46, 'c') +
                "...\n"
                "  | " +
                std::string(53, ' ') + "^");
}

TEST(ErrorFormatTest, TheEndOfTheTextHasAPlaceToo) {
  const std::string text = "g.V().";
  EXPECT_EQ(FormatError(Parse(text).status(), text),
            "Expected the name of a step after \".\" but found the end of the query.\n"
            "  line 1, column 7\n"
            "  | g.V().\n"
            "  |       ^");
}

TEST(ErrorFormatTest, WithoutAPlaceItIsTheMessage) {
  EXPECT_EQ(FormatError(NotFound("No such graph."), "g.V()"), "No such graph.");
}

TEST(ErrorFormatTest, NamesTheLimitAndItsSetting) {
  ErrorDetail detail;
  detail.limit = "512 bytes";
  detail.used = "700 bytes";
  detail.setting = "query-memory-mb";
  detail.hint = "Ask for less.";
  EXPECT_EQ(FormatError(ResourceExhausted("No.", detail), "g.V()"),
            "No.\n  limit: 512 bytes\n  used: 700 bytes\n  setting: query-memory-mb\n"
            "  hint: Ask for less.");
}

TEST(ErrorFormatTest, SurvivesAPlaceOutsideTheText) {
  ErrorDetail detail;
  detail.span = {9, 9, 1000};
  EXPECT_EQ(FormatError(InvalidArgument("No.", detail), "g.V()"), "No.\n  line 9, column 9");
  detail.span = {1, 99, 1000};
  EXPECT_EQ(FormatError(InvalidArgument("No.", detail), "g\tV\xFF"),
            "No.\n  line 1, column 99\n  | g V \n  |     ^");
}

}  // namespace
}  // namespace koios::parser
