#include "core/text/name_distance.h"

#include <gtest/gtest.h>

#include <vector>

namespace koios {
namespace {

std::optional<std::string> Nearest(std::string_view name) {
  static const std::vector<std::string> kSteps = {"out", "order", "outE", "values",  "valueMap",
                                                  "V",   "E",     "in",   "hasLabel"};
  return NearestName(name, kSteps);
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

TEST(NameDistanceTest, OfEqualsTheOneThatBeginsAlike) {
  const std::vector<std::string_view> names = {"asc", "desc"};
  EXPECT_EQ(NearestName("dsc", names), "desc");
  EXPECT_EQ(NearestName("bsc", names), "asc");
}

TEST(NameDistanceTest, AnAbbreviationIsNear) {
  const std::vector<std::string_view> names = {"select", "label", "sideEffect"};
  EXPECT_EQ(NearestName("sel", names), "select");
  EXPECT_EQ(NearestName("lbl", names), "label");
  EXPECT_EQ(NearestName("se", names), std::nullopt);   // two letters may be anything
  EXPECT_EQ(NearestName("abl", names), std::nullopt);  // another beginning
  EXPECT_EQ(NearestName("sef", names), std::nullopt);  // less than half
}

TEST(NameDistanceTest, TheSameBeginningBearsOneEditMore) {
  const std::vector<std::string_view> names = {"startingWith"};
  EXPECT_EQ(NearestName("startsWit", names), "startingWith");
  EXPECT_EQ(NearestName("sartngWih", names), "startingWith");  // an abbreviation
  EXPECT_EQ(NearestName("tarsWith", names), std::nullopt);
}

}  // namespace
}  // namespace koios
