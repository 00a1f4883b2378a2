#include "core/convert/type_name.h"

#include <gtest/gtest.h>

namespace koios {
namespace {

TEST(TypeNameTest, NamesInAnyCase) {
  for (std::string_view name : {"INT", "int", "Integer"}) {
    ASSERT_TRUE(KindsOfType(name).has_value()) << name;
    EXPECT_EQ(KindsOfType(name)->size(), 1u);
    EXPECT_EQ(NumberKindOfType(name), ValueKind::kInt);
  }
  EXPECT_EQ(KindsOfType("NUMBER")->size(), 8u);
  EXPECT_TRUE(KindsOfType("GRAPH")->empty());
  for (std::string_view name : {"", "INTS", "java.lang.Integer"}) {
    EXPECT_FALSE(KindsOfType(name).has_value()) << name;
  }
}

TEST(TypeNameTest, KindsOfNumbers) {
  for (std::string_view name :
       {"BYTE", "SHORT", "INT", "LONG", "BIGINT", "FLOAT", "DOUBLE", "BIGDECIMAL"}) {
    EXPECT_TRUE(NumberKindOfType(name).has_value()) << name;
  }
  for (std::string_view name : {"NUMBER", "STRING", "VERTEX", "GRAPH", "NULL", "none"}) {
    EXPECT_FALSE(NumberKindOfType(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace koios
