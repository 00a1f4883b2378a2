#include "client/console/completer.h"

#include <gtest/gtest.h>

namespace koios::client {
namespace {

using List = std::vector<std::string>;

class CompleterTest : public testing::Test {
 protected:
  CompleterTest() : completer_({"out", "outE", "order", "count", "V"}, {":help", ":history"}) {
    completer_.SetSchemaWords({"name", "person", "name", "neighbour"});
  }
  List Words(std::string_view text) { return completer_.Complete(text).words; }
  Completer completer_;
};

TEST_F(CompleterTest, StepsAfterADot) {
  EXPECT_EQ(Words("g.V().ou"), (List{"out", "outE"}));
  EXPECT_EQ(completer_.Complete("g.V().ou").replaced, 2u);
  EXPECT_EQ(Words("g.V().").size(), 5u);
  EXPECT_EQ(Words("g.V().where(cou"), (List{"count"}));
  EXPECT_EQ(Words("g.V().xyz"), List{});
}

TEST_F(CompleterTest, SchemaWordsInsideStrings) {
  EXPECT_EQ(Words("g.V().has('na"), (List{"name"}));
  EXPECT_EQ(Words("g.V().has(\"n"), (List{"name", "neighbour"}));
  EXPECT_EQ(Words("g.V().has('name').ou"), (List{"out", "outE"}));
  EXPECT_EQ(Words("g.inject('it\\'s').has('p"), (List{"person"}));
}

TEST_F(CompleterTest, CommandsAfterAColon) {
  EXPECT_EQ(Words(":h"), (List{":help", ":history"}));
  EXPECT_EQ(Words(":explain g.V().c"), (List{"count"}));
}

TEST_F(CompleterTest, NothingWhereAnythingMayCome) {
  EXPECT_EQ(Words(""), List{});
  EXPECT_EQ(Words("g.V("), List{});
}

}  // namespace
}  // namespace koios::client
