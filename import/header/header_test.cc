#include "import/header/header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace koios::import {
namespace {

using testing::HasSubstr;

std::string Error(const std::vector<std::string>& fields, TableKind kind,
                  Dialect dialect = Dialect::kAuto) {
  auto plan = ParseHeader(fields, dialect, kind, "");
  return plan.ok() ? "" : MessageOf(plan.status());
}

TEST(HeaderTest, NeptuneVertices) {
  auto plan = ParseHeader(
      {"~id", "~label", "name:String", "age:Int", "tags:string[]", "a\\:b", "x:double(single)"},
      Dialect::kAuto, TableKind::kNodes, "");
  ASSERT_TRUE(plan.ok()) << MessageOf(plan.status());
  EXPECT_EQ(plan->label, "vertex");
  EXPECT_EQ(plan->columns[0].role, ColumnRole::kId);
  EXPECT_EQ(plan->columns[1].role, ColumnRole::kLabel);
  EXPECT_EQ(plan->columns[3].type, (ColumnType{ScalarType::kInt, false}));
  EXPECT_EQ(plan->columns[4].type, (ColumnType{ScalarType::kString, true}));
  EXPECT_EQ(plan->columns[5].name, "a:b");
  EXPECT_EQ(plan->columns[6].type.scalar, ScalarType::kDouble);
}

TEST(HeaderTest, SpacesAroundNamesAreNotOfThem) {
  auto plan =
      ParseHeader({" ~id", "~label ", " name", "age:int "}, Dialect::kAuto, TableKind::kNodes, "");
  ASSERT_TRUE(plan.ok()) << MessageOf(plan.status());
  EXPECT_EQ(plan->columns[1].role, ColumnRole::kLabel);
  EXPECT_EQ(plan->columns[2].name, "name");
  EXPECT_EQ(plan->columns[3].type.scalar, ScalarType::kInt);
}

TEST(HeaderTest, NeptuneEdges) {
  auto plan = ParseHeader({"~id", "~from", "~to", "~label", "weight:double"}, Dialect::kAuto,
                          TableKind::kEdges, "");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->label, "edge");
  EXPECT_EQ(plan->Find(ColumnRole::kStart), 1u);
  EXPECT_EQ(plan->Find(ColumnRole::kEnd), 2u);
  EXPECT_EQ(ParseHeader({"~from", "~to"}, Dialect::kAuto, TableKind::kEdges, "knows")->label,
            "knows");
}

TEST(HeaderTest, Neo4jNodes) {
  auto plan =
      ParseHeader({"personId:ID(Person){id-type:long}", "name", ":LABEL", "x:IGNORE", "n:long[]"},
                  Dialect::kAuto, TableKind::kNodes, "");
  ASSERT_TRUE(plan.ok()) << MessageOf(plan.status());
  EXPECT_EQ(plan->columns[0].name, "personId");
  EXPECT_EQ(plan->columns[0].space, "Person");
  EXPECT_EQ(plan->columns[0].id_type, IdType::kInt);
  EXPECT_EQ(plan->columns[1].type, ColumnType{});
  EXPECT_EQ(plan->columns[2].role, ColumnRole::kLabel);
  EXPECT_EQ(plan->columns[3].role, ColumnRole::kIgnore);
  EXPECT_EQ(plan->columns[4].type, (ColumnType{ScalarType::kLong, true}));
}

TEST(HeaderTest, Neo4jEdges) {
  auto plan = ParseHeader({":START_ID(A)", ":end_id(B)", ":TYPE", "since:int"}, Dialect::kAuto,
                          TableKind::kEdges, "");
  ASSERT_TRUE(plan.ok()) << MessageOf(plan.status());
  EXPECT_EQ(plan->columns[0].space, "A");
  EXPECT_EQ(plan->columns[1].role, ColumnRole::kEnd);
  EXPECT_EQ(plan->columns[2].role, ColumnRole::kLabel);
}

TEST(HeaderTest, MistakesNameTheColumnAndTheWayOut) {
  EXPECT_THAT(Error({"id", "name"}, TableKind::kNodes), HasSubstr("--mapping"));
  EXPECT_THAT(Error({"~id", ":ID"}, TableKind::kNodes), HasSubstr("mixes"));
  EXPECT_THAT(Error({"~id", "age:number"}, TableKind::kNodes), HasSubstr("Column 2"));
  EXPECT_THAT(Error({"~id", "~kind"}, TableKind::kNodes), HasSubstr("~kind"));
  EXPECT_THAT(Error({"~id", "~from", "~to"}, TableKind::kNodes), HasSubstr("--edges"));
  EXPECT_THAT(Error({"~id", "~label"}, TableKind::kEdges), HasSubstr("each end"));
  EXPECT_THAT(Error({":START_ID", ":END_ID"}, TableKind::kEdges), HasSubstr("no label"));
  EXPECT_THAT(Error({":ID", "a", "a:int"}, TableKind::kNodes), HasSubstr("two columns"));
  EXPECT_THAT(Error({":ID(A)", ":ID(B)"}, TableKind::kNodes), HasSubstr("two columns"));
  EXPECT_THAT(Error({":ID(A"}, TableKind::kNodes), HasSubstr("parenthesis"));
  EXPECT_THAT(Error({":ID{id-type:uuid}"}, TableKind::kNodes), HasSubstr("id-type"));
  EXPECT_THAT(Error({":ID", ""}, TableKind::kNodes), HasSubstr("no name"));
  EXPECT_THAT(Error({"~label"}, TableKind::kNodes), HasSubstr("~id"));
  EXPECT_THAT(Error({"id:ID;name;:LABEL"}, TableKind::kNodes), HasSubstr("delimiter"));
}

TEST(HeaderTest, ADialectThatIsNamedIsNotGuessed) {
  const std::vector<std::string> fields = {":ID", "~odd:IGNORE"};
  EXPECT_EQ(Error(fields, TableKind::kNodes, Dialect::kNeo4j), "");
  EXPECT_NE(Error(fields, TableKind::kNodes, Dialect::kNeptune), "");
  EXPECT_THAT(Error({":ID", "~odd"}, TableKind::kNodes, Dialect::kNeo4j), HasSubstr("'~odd'"));
}

}  // namespace
}  // namespace koios::import
