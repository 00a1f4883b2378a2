#include "server/graphs.h"

#include <gtest/gtest.h>

namespace koios::server {
namespace {

TEST(GraphsTest, TheWordGIsTheRequestedGraph) {
  EXPECT_EQ(GraphOfSource("g", ""), "g");
  EXPECT_EQ(GraphOfSource("g", "money"), "money");
  EXPECT_EQ(GraphOfSource("", "money"), "money");
}

TEST(GraphsTest, AnyOtherWordIsTheGraphOfThatName) {
  EXPECT_EQ(GraphOfSource("social", ""), "social");
  EXPECT_EQ(GraphOfSource("social", "money"), "social");
}

TEST(GraphsTest, AnUnknownGraphIsAnsweredWithThoseThereAre) {
  const Status status = NoSuchGraph("x", {"g", "money"});
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(MessageOf(status), "There is no graph 'x'; the graphs are: g, money.");
  const std::string many = MessageOf(NoSuchGraph("x", std::vector<std::string>(1000, "name")));
  EXPECT_LT(many.size(), 300u);
}

}  // namespace
}  // namespace koios::server
