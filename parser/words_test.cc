#include "parser/words.h"

#include <gtest/gtest.h>

namespace koios::parser {
namespace {

TEST(WordsTest, BareWordsFindTheirType) {
  ASSERT_NE(FindEnumWord("", "desc"), nullptr);
  EXPECT_EQ(FindEnumWord("", "desc")->type, "Order");
  EXPECT_EQ(FindEnumWord("", "value")->type, "T");
  EXPECT_EQ(FindEnumWord("", "list")->type, "Cardinality");
  EXPECT_EQ(FindEnumWord("", "tokens"), nullptr);
  EXPECT_EQ(FindEnumWord("WithOptions", "list")->type, "WithOptions");
  EXPECT_EQ(FindEnumWord("Order", "id"), nullptr);
}

TEST(WordsTest, FromAndToAreDirections) {
  EXPECT_EQ(FindEnumWord("", "from")->canonical, "OUT");
  EXPECT_EQ(FindEnumWord("Direction", "to")->canonical, "IN");
}

// A bare word must mean one thing: types with equal words would make the table's order decide.
TEST(WordsTest, BareWordsAreUnambiguous) {
  for (std::string_view type : EnumTypes()) {
    for (std::string_view word : EnumWordsOf(type)) {
      const EnumWord* bare = FindEnumWord("", word);
      if (FindEnumWord(type, word)->bare) {
        EXPECT_EQ(bare->type, type) << word;
      }
    }
  }
}

TEST(WordsTest, StrategyNames) {
  EXPECT_TRUE(IsStrategyName("ReadOnlyStrategy"));
  EXPECT_FALSE(IsStrategyName("myStrategy"));
  EXPECT_FALSE(IsStrategyName("Strategies"));
}

TEST(WordsTest, TerminalsRoundTrip) {
  for (std::string_view name : {"next", "toList", "toSet", "toBulkSet", "iterate", "hasNext",
                                "tryNext", "explain", "profile"}) {
    ASSERT_TRUE(FindTerminal(name).has_value()) << name;
    EXPECT_EQ(TerminalName(*FindTerminal(name)), name);
  }
  EXPECT_FALSE(FindTerminal("out").has_value());
}

}  // namespace
}  // namespace koios::parser
