#include "core/name_distance.h"

#include <gtest/gtest.h>

#include <vector>

namespace koios {
namespace {

std::optional<std::string> Nearest(std::string_view name) {
  static const std::vector<std::string> steps = {"out", "order", "outE", "values",  "valueMap",
                                                 "V",   "E",     "in",   "hasLabel"};
  return NearestName(name, steps);
}

TEST(NameDistanceTest, CountsEdits) {
  EXPECT_EQ(NameDistance("order", "order"), 0);
  EXPECT_EQ(NameDistance("ordr", "order"), 1);
  EXPECT_EQ(NameDistance("oredr", "order"), 1);  // one swap
  EXPECT_EQ(NameDistance("HASLABEL", "hasLabel"), 0);
  EXPECT_EQ(NameDistance("", "abc"), 3);
  EXPECT_EQ(NameDistance("kitten", "sitting"), 3);
}

TEST(NameDistanceTest, FindsTheNearest) {
  EXPECT_EQ(Nearest("ordr"), "order");
  EXPECT_EQ(Nearest("haslabel"), "hasLabel");
  EXPECT_EQ(Nearest("outt"), "out");
  EXPECT_EQ(Nearest("valeus"), "values");
  EXPECT_EQ(Nearest("ni"), "in");
  EXPECT_EQ(Nearest("v"), "V");
  EXPECT_EQ(Nearest("xyzzy"), std::nullopt);
  EXPECT_EQ(Nearest("x"), std::nullopt);  // one edit would replace all of it
  EXPECT_EQ(Nearest(""), std::nullopt);
  EXPECT_EQ(Nearest(std::string(1'000'000, 'o')), std::nullopt);
  const std::vector<std::string_view> long_names = {"short", std::string_view("x")};
  EXPECT_EQ(NearestName("shor", long_names), "short");
}

}  // namespace
}  // namespace koios
