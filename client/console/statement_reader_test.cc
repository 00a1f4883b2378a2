#include "client/console/statement_reader.h"

#include <gtest/gtest.h>

#include <sstream>

namespace koios::client {
namespace {

std::vector<std::string> Statements(const std::string& script) {
  std::istringstream in(script);
  auto lines = MakeStreamReader(in);
  StatementReader reader(lines.get());
  std::vector<std::string> statements;
  std::string statement;
  while (reader.Read(&statement) == LineReader::Outcome::kLine) statements.push_back(statement);
  return statements;
}

using List = std::vector<std::string>;

TEST(StatementReaderTest, ALineIsAStatementWhenItsBracketsAreClosed) {
  EXPECT_EQ(Statements("g.V()\ng.E()"), (List{"g.V()", "g.E()"}));
  EXPECT_EQ(Statements("g.V(\n1\n)\ng.E()\n"), (List{"g.V(\n1\n)", "g.E()"}));
  EXPECT_EQ(Statements("g.V().\n  out()\n"), (List{"g.V().\n  out()"}));
}

TEST(StatementReaderTest, InAScriptALeadingDotGoesOn) {
  EXPECT_EQ(Statements("g.V()\n  .out()\n  .count()\ng.E()"),
            (List{"g.V()\n  .out()\n  .count()", "g.E()"}));
}

TEST(StatementReaderTest, CommentsAndEmptyLinesDoNotCutAChain) {
  const List one = {"g.V()\n  // only people\n\n  .out()\n/* and\nthen */ .count()", "g.E()"};
  EXPECT_EQ(Statements(one[0] + "\n// the end\n" + one[1]), one);
  EXPECT_EQ(Statements("g.V()\n/* open\n"), (List{"g.V()", "/* open"}));
  EXPECT_EQ(Statements("g.V()\n\n\ng.E()\n/"), (List{"g.V()", "g.E()", "/"}));
}

TEST(StatementReaderTest, TellsWhereAStatementBegins) {
  std::istringstream in("// one\n\ng.V()\n  .out()\ng.E(\n)\n");
  auto lines = MakeStreamReader(in);
  StatementReader reader(lines.get());
  std::string statement;
  ASSERT_EQ(reader.Read(&statement), LineReader::Outcome::kLine);
  EXPECT_EQ(reader.first_line(), 3u);
  ASSERT_EQ(reader.Read(&statement), LineReader::Outcome::kLine);
  EXPECT_EQ(reader.first_line(), 5u);
}

TEST(StatementReaderTest, BracketsInStringsAndCommentsDoNotCount) {
  EXPECT_EQ(Statements("g.inject(')(')\ng.V() // (\ng.E()"),
            (List{"g.inject(')(')", "g.V() // (", "g.E()"}));
}

TEST(StatementReaderTest, BlanksAndCommentsAreNoStatements) {
  EXPECT_EQ(Statements("\n  \n// hello\n/* a\nb */\ng.V()\n// end\n"), (List{"g.V()"}));
  EXPECT_EQ(Statements(""), List{});
}

TEST(StatementReaderTest, ColonLinesAreCommands) {
  EXPECT_EQ(Statements(":format (\ng.V()"), (List{":format (", "g.V()"}));
}

TEST(StatementReaderTest, AnUnfinishedStatementIsGivenAtTheEnd) {
  EXPECT_EQ(Statements("g.V("), (List{"g.V("}));
}

TEST(StatementReaderTest, PromptsKeepTheirWidth) {
  EXPECT_EQ(PromptOf(0), "gremlin> ");
  EXPECT_EQ(PromptOf(1), "......1> ");
  EXPECT_EQ(PromptOf(12), ".....12> ");
  EXPECT_EQ(PromptOf(123456789), "123456789> ");
}

}  // namespace
}  // namespace koios::client
