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

TEST_F(CompleterTest, TheWordsOfATypeBehindItsName) {
  EXPECT_EQ(Words("g.V().order().by(Order."), (List{"asc", "desc", "shuffle"}));
  EXPECT_EQ(Words("g.V().order().by(Order.d"), (List{"desc"}));
  EXPECT_EQ(Words("g.V().is(P.wi"), (List{"within", "without"}));
  EXPECT_EQ(Words("g.V().is(TextP.e"), (List{"endingWith"}));
  EXPECT_EQ(Words("g.V().order(Scope."), (List{"global", "local"}));
  EXPECT_EQ(Words("g.V().by(T."), (List{"id", "key", "label", "value"}));
  EXPECT_EQ(Words("g.V().where(__.ou"), (List{"out", "outE"}));
}

TEST_F(CompleterTest, WhatACommandTakes) {
  EXPECT_EQ(Words(":use "), List{});
  completer_.SetArguments(":use", [] { return List{"shop", "g"}; });
  EXPECT_EQ(Words(":use "), (List{"g", "shop"}));
  EXPECT_EQ(Words(":use s"), (List{"shop"}));
  EXPECT_EQ(completer_.Complete(":use s").replaced, 1u);
}

TEST_F(CompleterTest, NothingWhereAnythingMayCome) {
  EXPECT_EQ(Words(""), List{});
  EXPECT_EQ(Words("g.V("), List{});
}

}  // namespace
}  // namespace koios::client
