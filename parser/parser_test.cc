#include "parser/parser.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "parser/printer.h"

namespace koios::parser {
namespace {

Query MustParse(std::string_view text) {
  StatusOr<Query> query = Parse(text);
  EXPECT_TRUE(query.ok()) << text << ": " << MessageOf(query.status());
  return query.ok() ? *std::move(query) : Query{};
}

// The only argument of the only step after g.V().
Argument OnlyArgument(const std::string& text) {
  Query query = MustParse("g.V().x(" + text + ")");
  if (query.root.calls.size() != 2 || query.root.calls[1].arguments.size() != 1) {
    ADD_FAILURE() << text << " is not one argument";
    return Argument();
  }
  return std::move(query.root.calls[1].arguments[0]);
}

using Kind = Argument::Kind;

struct Golden {
  std::string text;
  Kind kind;
  std::string printed;
};

const Golden kArgumentGoldens[] = {
    {"1", Kind::kLiteral, "1"},
    {"'knows'", Kind::kLiteral, "\"knows\""},
    {"null", Kind::kLiteral, "null"},
    {"true", Kind::kLiteral, "true"},
    {"NaN", Kind::kLiteral, "NaN"},
    {"Infinity", Kind::kLiteral, "Infinity"},
    {"+Infinity", Kind::kLiteral, "Infinity"},
    {"-Infinity", Kind::kLiteral, "-Infinity"},
    {"datetime('2023-08-02')", Kind::kLiteral, "datetime(\"2023-08-02T00:00Z\")"},
    {"DateTime(\"2023-08-02T01:00:00+01:00\")", Kind::kLiteral,
     "datetime(\"2023-08-02T01:00+01:00\")"},
    {"UUID('f47af10b-58cc-4372-a567-0f02b2f3d479')", Kind::kLiteral,
     "UUID(\"f47af10b-58cc-4372-a567-0f02b2f3d479\")"},
    {"Duration('PT90S')", Kind::kLiteral, "Duration(\"PT1M30S\")"},
    {"new Vertex(1, 'person')", Kind::kLiteral, "Vertex(1, \"person\")"},
    {"UUID()", Kind::kFunction, "UUID()"},
    {"datetime()", Kind::kFunction, "datetime()"},
    {"datetime(when)", Kind::kFunction, "datetime(when)"},
    {"x", Kind::kParameter, "x"},
    {"desc", Kind::kEnum, "Order.desc"},
    {"Order.desc", Kind::kEnum, "Order.desc"},
    {"T.id", Kind::kEnum, "T.id"},
    {"Direction.from", Kind::kEnum, "Direction.OUT"},
    {"OUT", Kind::kEnum, "Direction.OUT"},
    {"WithOptions.tokens", Kind::kEnum, "WithOptions.tokens"},
    {"Barrier.normSack", Kind::kEnum, "Barrier.normSack"},
    {"VertexProperty.Cardinality.single", Kind::kEnum, "Cardinality.single"},
    {"Cardinality.single(43)", Kind::kEnum, "Cardinality.single(43)"},
    {"list('a')", Kind::kEnum, "Cardinality.list(\"a\")"},
    {"gt(1)", Kind::kPredicate, "P.gt(1)"},
    {"P.within(1, 'a', x)", Kind::kPredicate, "P.within(1, \"a\", x)"},
    {"P.within([1, 2])", Kind::kPredicate, "P.within([1, 2])"},
    {"within()", Kind::kPredicate, "P.within()"},
    {"between(1, 2)", Kind::kPredicate, "P.between(1, 2)"},
    {"startingWith('m')", Kind::kPredicate, "TextP.startingWith(\"m\")"},
    {"P.typeOf(GType.INT)", Kind::kPredicate, "P.typeOf(GType.INT)"},
    {"not(gt(1))", Kind::kPredicate, "P.not(P.gt(1))"},
    {"P.not(P.not(lt(1)))", Kind::kPredicate, "P.not(P.not(P.lt(1)))"},
    {"gt(1).negate()", Kind::kPredicate, "P.not(P.gt(1))"},
    {"gt(1).negate().negate()", Kind::kPredicate, "P.gt(1)"},
    {"gt(1).and(lt(3)).and(neq(2))", Kind::kPredicate, "P.gt(1).and(P.lt(3)).and(P.neq(2))"},
    {"gt(1).and(lt(3)).or(eq(9))", Kind::kPredicate, "P.gt(1).and(P.lt(3)).or(P.eq(9))"},
    {"gt(1).or(lt(0).and(neq(-5)))", Kind::kPredicate, "P.gt(1).or(P.lt(0).and(P.neq(-5)))"},
    {"out('knows').in()", Kind::kTraversal, "__.out(\"knows\").in()"},
    {"__.out().count()", Kind::kTraversal, "__.out().count()"},
    {"not(out())", Kind::kTraversal, "__.not(__.out())"},
    {"not(not(out()))", Kind::kTraversal, "__.not(__.not(__.out()))"},
    {"and(out(), in())", Kind::kTraversal, "__.and(__.out(), __.in())"},
    {"values('age').is(gt(3))", Kind::kTraversal, "__.values(\"age\").is(P.gt(3))"},
    {"1..3", Kind::kLiteral, "[1, 2, 3]"},
    {"3 .. -1", Kind::kLiteral, "[3, 2, 1, 0, -1]"},
    {"5..5", Kind::kLiteral, "[5]"},
    {"1..46", Kind::kLiteral, "1..46"},
    {"[7..7, 46..1]", Kind::kLiteral, "[[7], 46..1]"},
    {"2147483638..2147483647", Kind::kLiteral, "2147483638..2147483647"},
    {"'a'..'c'", Kind::kLiteral, "[\"a\", \"b\", \"c\"]"},
    {"'x2'..'x0'", Kind::kLiteral, "[\"x2\", \"x1\", \"x0\"]"},
    {"'\xC3\xA8'..'\xC3\xA9'", Kind::kLiteral, "[\"\xC3\xA8\", \"\xC3\xA9\"]"},
    {"''..''", Kind::kLiteral, "[]"},
    {"within(3..6)", Kind::kPredicate, "P.within([3, 4, 5, 6])"},
    {"[a: 1..2]", Kind::kLiteral, "[a: [1, 2]]"},
    {"[(1..2): 3]", Kind::kLiteral, "[([1, 2]): 3]"},
    {"{1..2, 3}", Kind::kLiteral, "{[1, 2], 3}"},
    {"[]", Kind::kLiteral, "[]"},
    {"[1, 'a', [2L, null]]", Kind::kLiteral, "[1, \"a\", [2L, null]]"},
    {"[1, x]", Kind::kList, "[1, x]"},
    {"[out()]", Kind::kList, "[__.out()]"},
    {"{}", Kind::kLiteral, "{}"},
    {"{1, 1, 2}", Kind::kLiteral, "{1, 2}"},
    {"{x, 1}", Kind::kSet, "{x, 1}"},
    {"[:]", Kind::kLiteral, "[:]"},
    {"[name: 'marko', (T.label): 'person', T.id: 1, 'a b': 2, 3: 4]", Kind::kLiteral,
     "[name: \"marko\", (T.label): \"person\", (T.id): 1, (\"a b\"): 2, (3): 4]"},
    {"[label: 1, (label): 2]", Kind::kLiteral, "[label: 1, (T.label): 2]"},
    {"[(OUT): 1, (IN): 2]", Kind::kLiteral, "[(Direction.OUT): 1, (Direction.IN): 2]"},
    {"[a: 1, b: 2, a: 3]", Kind::kLiteral, "[a: 3, b: 2]"},
    {"[(OUT): Merge.outV, a: x, (y): 1]", Kind::kMap,
     "[(Direction.OUT): Merge.outV, a: x, (y): 1]"},
    {"[age: Cardinality.set(33)]", Kind::kMap, "[age: Cardinality.set(33)]"},
    {"ReadOnlyStrategy", Kind::kStrategy, "ReadOnlyStrategy"},
    {"new SeedStrategy(seed: 9)", Kind::kStrategy, "new SeedStrategy(seed: 9)"},
    {"SubgraphStrategy(vertices: __.has('a', 1), edges: out())", Kind::kStrategy,
     "new SubgraphStrategy(vertices: __.has(\"a\", 1), edges: __.out())"},
};

TEST(ParserTest, ArgumentsHaveTheirKind) {
  for (const Golden& golden : kArgumentGoldens) {
    const Argument argument = OnlyArgument(golden.text);
    EXPECT_EQ(KindName(argument.kind), KindName(golden.kind)) << golden.text;
    EXPECT_EQ(ToText(argument), golden.printed) << golden.text;
    EXPECT_EQ(ToText(OnlyArgument(golden.printed)), golden.printed) << "canonical text changes";
  }
}

TEST(ParserTest, PredicatesJoinFlat) {
  const Argument argument = OnlyArgument("gt(1).and(lt(3)).and(neq(2)).or(eq(0))");
  EXPECT_EQ(argument.name, "or");
  EXPECT_EQ(argument.qualifier, "P");
  ASSERT_EQ(argument.items.size(), 2u);
  EXPECT_EQ(argument.items[0].name, "and");
  EXPECT_EQ(argument.items[0].items.size(), 3u);
}

TEST(ParserTest, NestedTraversalsKnowHowTheyBegan) {
  const Argument bare = OnlyArgument("out().in()");
  EXPECT_TRUE(bare.traversal->anonymous);
  EXPECT_EQ(bare.traversal->source, "");
  EXPECT_EQ(bare.traversal->calls.size(), 2u);
  EXPECT_EQ(OnlyArgument("__.out()").traversal->source, "__");
}

TEST(ParserTest, RootKeepsSourceAndCalls) {
  const Query query = MustParse("fraud.V( 1 )\n  .out()");
  EXPECT_EQ(query.root.source, "fraud");
  EXPECT_FALSE(query.root.anonymous);
  ASSERT_EQ(query.root.calls.size(), 2u);
  EXPECT_EQ(query.root.calls[0].name, "V");
  EXPECT_EQ(query.root.calls[1].name, "out");
  EXPECT_EQ(query.root.calls[1].span, (SourceSpan{2, 4, 3}));
  EXPECT_EQ(query.terminal, Terminal::kNone);
}

TEST(ParserTest, SpansCountCodePoints) {
  const Query query = MustParse("g.V().where(__.out('\xC3\xA9').in(), gt(1).or(lt(2)), [1,\n2])");
  const std::vector<Argument>& arguments = query.root.calls[1].arguments;
  ASSERT_EQ(arguments.size(), 3u);
  EXPECT_EQ(arguments[0].span, (SourceSpan{1, 13, 16}));
  EXPECT_EQ(arguments[0].traversal->calls[1].span, (SourceSpan{1, 25, 2}));
  EXPECT_EQ(arguments[1].span, (SourceSpan{1, 31, 15}));
  EXPECT_EQ(arguments[2].span, (SourceSpan{1, 48, 6}));
}

struct TerminalCase {
  std::string text;
  Terminal terminal;
  size_t num_calls;
};

TEST(ParserTest, TerminalMethodsAreTakenOff) {
  const TerminalCase cases[] = {
      {"g.V().next()", Terminal::kNext, 1},
      {"g.V().toList();", Terminal::kToList, 1},
      {"g.V().toSet()", Terminal::kToSet, 1},
      {"g.V().toBulkSet()", Terminal::kToBulkSet, 1},
      {"g.V().iterate()", Terminal::kIterate, 1},
      {"g.V().hasNext()", Terminal::kHasNext, 1},
      {"g.V().tryNext()", Terminal::kTryNext, 1},
      {"g.V().explain()", Terminal::kExplain, 1},
      {"g.V().profile()", Terminal::kProfile, 1},
      {"g.V().profile().toList()", Terminal::kProfile, 1},
      {"g.V().profile().next()", Terminal::kProfile, 1},
      {"g.V().profile('p').cap('p')", Terminal::kNone, 3},
      {"g.tx().commit()", Terminal::kNone, 2},
      {"g.V().where(out().profile())", Terminal::kNone, 2},
  };
  for (const TerminalCase& c : cases) {
    const Query query = MustParse(c.text);
    EXPECT_EQ(query.terminal, c.terminal) << c.text;
    EXPECT_EQ(query.root.calls.size(), c.num_calls) << c.text;
    EXPECT_FALSE(query.has_count) << c.text;
  }
}

TEST(ParserTest, NextTakesACount) {
  const Query query = MustParse("g.V().next(5)");
  EXPECT_EQ(query.terminal, Terminal::kNext);
  EXPECT_TRUE(query.has_count);
  EXPECT_EQ(query.count, 5);
  EXPECT_EQ(query.terminal_span, (SourceSpan{1, 7, 4}));
}

TEST(ParserTest, ParametersInOrderOfFirstUse) {
  const Query query = MustParse("g.V(b).has('x', within(a, b)).where(out(c)).by([k: a, (d): 1])");
  EXPECT_EQ(query.parameters, (std::vector<std::string>{"b", "a", "c", "d"}));
}

TEST(ParserTest, CommentsAndLineBreaksAreIgnored) {
  EXPECT_EQ(ToText(MustParse("g /* source */ .V() // all\n  . out ( 'a' /* , 'b' */ ) ;").root),
            "g.V().out(\"a\")");
}

TEST(ParserTest, ALongChainIsNoRecursion) {
  std::string text = "g.V()";
  for (int i = 1; i < 10'000; ++i) text += ".out()";
  EXPECT_EQ(MustParse(text).root.calls.size(), 10'000u);
  EXPECT_EQ(Parse(text + ".out()").status().code(), StatusCode::kResourceExhausted);
}

TEST(ParserTest, ALongListIsOneValue) {
  std::string text = "g.V().has('a', within([0";
  for (int i = 1; i < 100'000; ++i) text += ",1";
  const Query query = MustParse(text + "]))");
  const Argument& list = query.root.calls[1].arguments[1].items[0];
  ASSERT_EQ(list.kind, Kind::kLiteral);
  EXPECT_EQ(list.literal.AsList().size(), 100'000u);
  EXPECT_EQ(Parse(text + ",1]))").status().code(), StatusCode::kResourceExhausted);
}

// All ranges of a text count together: a few characters stand for many members.
TEST(ParserTest, RangesAreBounded) {
  Limits limits;
  limits.max_list = 10;
  limits.max_text_bytes = 1000;
  EXPECT_TRUE(Parse("g.V(1..4, 1..6)", limits).ok());
  const Status many = Parse("g.V(1..4, 1..7)", limits).status();
  EXPECT_EQ(many.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(many)->limit, "number of list members 10");
  EXPECT_EQ(DetailOf(many)->used, "11");
  EXPECT_EQ(DetailOf(many)->setting, "query-max-list");
  EXPECT_EQ(DetailOf(many)->span, (SourceSpan{1, 11, 4}));
  const std::string prefix(200, 'x');
  const Status long_ones = Parse("g.V('" + prefix + "a'..'" + prefix + "e')", limits).status();
  EXPECT_EQ(long_ones.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(long_ones)->setting, "query-max-text");
  EXPECT_EQ(Parse("g.V(-2147483648..2147483647)").status().code(), StatusCode::kResourceExhausted);
}

std::string Nested(std::string_view open, std::string_view inner, std::string_view close,
                   uint32_t depth) {
  std::string text;
  for (uint32_t i = 0; i < depth; ++i) text += open;
  text += inner;
  for (uint32_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(ParserTest, EveryKindNestsToTheCap) {
  Limits limits;
  limits.max_nesting = kMaxNesting;
  const std::string texts[] = {
      "g.V(" + Nested("[", "1", "]", kMaxNesting - 1) + ")",
      "g.V(" + Nested("{", "x", "}", kMaxNesting - 1) + ")",
      "g.V(" + Nested("[a:", "1", "]", kMaxNesting - 1) + ")",
      "g.V(" + Nested("not(", "gt(1)", ")", kMaxNesting - 2) + ")",
      "g.V(" + Nested("lt(2).and(gt(1)).or(", "gt(1)", ")", 60) + ")",
  };
  for (const std::string& text : texts) {
    const StatusOr<Query> query = Parse(text, limits);
    ASSERT_TRUE(query.ok()) << text.substr(0, 40) << MessageOf(query.status());
    EXPECT_EQ(ToText(Clone(query->root)), ToText(query->root));
  }
  std::string where = "g.V()";
  for (uint32_t i = 0; i + 1 < kMaxNesting; ++i) where += ".where(__";
  where += ".out()" + std::string(kMaxNesting - 1, ')');
  EXPECT_TRUE(Parse(where, limits).ok());
}

TEST(ParserTest, ThreadsParseAtOnce) {
  const std::string good = "g.V(1).where(out().has('a', gt(1).and(lt(3)))).by([a: x]).next(2)";
  const std::string bad = "g.V(1).where(out(,))";
  const std::string printed = ToText(MustParse(good).root);
  std::vector<int> num_right(4);
  std::vector<std::thread> threads;
  for (int& count : num_right) {
    threads.emplace_back([&good, &bad, &printed, &count] {
      for (int i = 0; i < 200; ++i) {
        const StatusOr<Query> query = Parse(good);
        if (query.ok() && ToText(query->root) == printed && !Parse(bad).ok()) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_right, std::vector<int>(4, 200));
}

}  // namespace
}  // namespace koios::parser
