#include "import/header/mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace koios::import {
namespace {

using testing::HasSubstr;

const char kExample[] = R"(
delimiter: '|'
quote: none
nodes:
  - files: 'person_[0-9]*.csv'
    label: Person
    columns: {id: ID(Person), born: long, 4: 'given:string'}
  - files: [a.csv, 'sub/b*.csv']
    label: Other
    header: false
    columns: {1: ID, 3: 'n:int'}
edges:
  - files: 'person_knows_person_*.csv'
    label: knows
    others: ignore
    columns: {1: START_ID(Person), 2: END_ID(Person)}
)";

std::string MappingError(const std::string& text) {
  auto mapping = ParseMapping(text, "m.yaml");
  return mapping.ok() ? "" : MessageOf(mapping.status());
}

TEST(MappingTest, FilesFindTheirEntry) {
  auto mapping = ParseMapping(kExample, "m.yaml");
  ASSERT_TRUE(mapping.ok()) << MessageOf(mapping.status());
  EXPECT_EQ(mapping->delimiter, "|");
  EXPECT_EQ(mapping->quote, "none");
  const auto label = [&](TableKind kind, const char* path) -> std::string {
    const MappedTable* table = mapping->Find(kind, path);
    return table == nullptr ? "none" : table->label;
  };
  EXPECT_EQ(label(TableKind::kNodes, "/d/person_0_0.csv"), "Person");
  EXPECT_EQ(label(TableKind::kNodes, "person_0_0.csv.zst"), "Person");
  EXPECT_EQ(label(TableKind::kNodes, "person_0_0.csv.gz"), "Person");
  EXPECT_EQ(label(TableKind::kNodes, "/d/person_knows_person_0_0.csv"), "none");
  EXPECT_EQ(label(TableKind::kEdges, "/d/person_knows_person_0_0.csv"), "knows");
  EXPECT_EQ(label(TableKind::kEdges, "/d/person_0_0.csv"), "none");
  EXPECT_EQ(label(TableKind::kNodes, "x/a.csv"), "Other");
  EXPECT_EQ(label(TableKind::kNodes, "x/sub/b1.csv"), "Other");
  EXPECT_EQ(label(TableKind::kNodes, "x/b1.csv"), "none");
}

TEST(MappingTest, ColumnsByNameAndByPosition) {
  auto mapping = ParseMapping(kExample, "m.yaml");
  ASSERT_TRUE(mapping.ok());
  auto plan = PlanMappedTable(mapping->tables[0], {"id", "born", "name", "name"}, "");
  EXPECT_EQ(plan.status().code(), StatusCode::kOk) << MessageOf(plan.status());
  EXPECT_EQ(plan->columns[0].role, ColumnRole::kId);
  EXPECT_EQ(plan->columns[0].space, "Person");
  EXPECT_EQ(plan->columns[0].name, "");
  EXPECT_EQ(plan->columns[1].type.scalar, ScalarType::kLong);
  EXPECT_EQ(plan->columns[2].name, "name");
  EXPECT_EQ(plan->columns[3].name, "given");
  auto headless = PlanMappedTable(mapping->tables[1], {"5", "x", "7"}, "Label");
  ASSERT_TRUE(headless.ok());
  EXPECT_EQ(headless->label, "Label");
  EXPECT_EQ(headless->columns[1].role, ColumnRole::kIgnore);
  EXPECT_EQ(headless->columns[2].name, "n");
  auto edges = PlanMappedTable(mapping->tables[2], {"Person.id", "Person.id", "date"}, "");
  ASSERT_TRUE(edges.ok());
  EXPECT_EQ(edges->columns[1].role, ColumnRole::kEnd);
  EXPECT_EQ(edges->columns[2].role, ColumnRole::kIgnore);
}

TEST(MappingTest, ColumnsThatTheFileDoesNotHave) {
  auto mapping = ParseMapping(kExample, "m.yaml");
  ASSERT_TRUE(mapping.ok());
  const auto error = [&](size_t table, const std::vector<std::string>& fields) {
    return MessageOf(PlanMappedTable(mapping->tables[table], fields, "").status());
  };
  EXPECT_THAT(error(0, {"id", "born", "a"}), HasSubstr("column 4"));
  EXPECT_THAT(error(0, {"id", "date", "a", "b"}), HasSubstr("'born'"));
  EXPECT_THAT(error(0, {"id", "id", "born", "b"}), HasSubstr("by position"));
}

TEST(MappingTest, MistakesHaveTheirLine) {
  EXPECT_THAT(MappingError("delimeter: x\n"), HasSubstr("m.yaml:1: unknown word 'delimeter'"));
  EXPECT_THAT(MappingError("nodes:\n  - label: A\n"),
              HasSubstr("m.yaml:2: the entry has no 'files'"));
  EXPECT_THAT(MappingError("nodes:\n  - files: a\n    header: maybe\n"), HasSubstr("m.yaml:3"));
  EXPECT_THAT(MappingError("nodes: 5\n"), HasSubstr("a list of entries"));
  EXPECT_THAT(MappingError("nodes: [\n"), HasSubstr("m.yaml:"));
  EXPECT_THAT(MappingError("just text"), HasSubstr("not a mapping file"));
  EXPECT_THAT(MappingError(std::string(2 << 20, '#')), HasSubstr("too long"));
  EXPECT_NE(MappingError(std::string(100'000, '[')), "");
}

TEST(MappingTest, TheShippedMappingIsWhole) {
  auto mapping = ReadMapping("import/mappings/ldbc-snb.yaml");
  ASSERT_TRUE(mapping.ok()) << MessageOf(mapping.status());
  EXPECT_EQ(mapping->tables.size(), 8u + 18u);
}

}  // namespace
}  // namespace koios::import
