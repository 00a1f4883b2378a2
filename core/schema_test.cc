#include "core/schema.h"

#include <gtest/gtest.h>

namespace koios {
namespace {

TEST(NameTableTest, InternsDenselyFromOne) {
  NameTable table;
  EXPECT_EQ(table.Find("person"), kNoName);
  EXPECT_EQ(table.Intern("person"), 1u);
  EXPECT_EQ(table.Intern("knows"), 2u);
  EXPECT_EQ(table.Intern("person"), 1u);
  EXPECT_EQ(table.Find("knows"), 2u);
  EXPECT_EQ(table.Name(2), "knows");
  EXPECT_EQ(table.size(), 2u);
  const NameTable copy = table;
  EXPECT_EQ(copy.Find("person"), 1u);
}

TEST(NameTableDeathTest, UnknownIdsAreBugs) {
  NameTable table;
  EXPECT_DEATH(table.Name(0), "CHECK failed");
  EXPECT_DEATH(table.Name(1), "CHECK failed");
}

}  // namespace
}  // namespace koios
