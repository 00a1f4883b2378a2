#include "import/load/source_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "storage/temp_folder.h"

namespace koios::import {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SourceTableTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = temp_ / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::string Error() { return MessageOf(PlanSources(options_).status()); }

  storage::TempFolder temp_;
  ImportOptions options_;
};

TEST_F(SourceTableTest, LabelsPatternsAndGroups) {
  Write("a1.csv", "~id\n1\n");
  Write("a2.csv", "~id\n2\n");
  const std::string header = Write("h.csv", ":ID(P)|n:int\n");
  const std::string part1 = Write("p1.csv", "1|5\n");
  const std::string part2 = Write("p2.csv", "2|6\n");
  options_.delimiter = "|";
  options_.nodes = {"A:B=" + (temp_ / "a*.csv"), "P=" + header + "," + part1 + "," + part2};
  auto sources = PlanSources(options_);
  ASSERT_TRUE(sources.ok()) << MessageOf(sources.status());
  ASSERT_EQ(sources->nodes.size(), 5u);
  EXPECT_EQ(sources->nodes[0].path, temp_ / "a1.csv");
  EXPECT_EQ(sources->nodes[1].plan.label, "A::B");
  EXPECT_TRUE(sources->nodes[2].skip_first_row);
  EXPECT_FALSE(sources->nodes[3].skip_first_row);
  EXPECT_EQ(sources->nodes[4].plan.columns[0].space, "P");
}

TEST_F(SourceTableTest, AFolderGivesTheFilesThatTheMappingKnows) {
  Write("d/x/person_1.csv", "id\n1\n");
  Write("d/person_0.csv", "id\n1\n");
  Write("d/other.csv", "id\n1\n");
  Write("d/knows_0.csv", "a,b\n1,1\n");
  options_.mapping = Write("m.yaml",
                           "nodes:\n  - files: person_*.csv\n    columns: {id: ID}\n"
                           "edges:\n  - files: knows_*.csv\n    label: k\n"
                           "    columns: {a: START_ID, b: END_ID}\n");
  options_.nodes = options_.edges = {temp_ / "d"};
  auto sources = PlanSources(options_);
  ASSERT_TRUE(sources.ok()) << MessageOf(sources.status());
  std::vector<std::string> names;
  for (const auto& table : sources->nodes) names.push_back(table.path);
  EXPECT_THAT(names, ElementsAre(temp_ / "d/person_0.csv", temp_ / "d/x/person_1.csv"));
  EXPECT_EQ(sources->edges.size(), 1u);
}

TEST_F(SourceTableTest, FlagsWinOverTheMapping) {
  options_.mapping = Write("m.yaml", "delimiter: '|'\nquote: none\nid-type: string\n");
  options_.nodes = {Write("a.csv", "~id;x\n")};
  options_.delimiter = ";";
  auto sources = PlanSources(options_);
  ASSERT_TRUE(sources.ok()) << MessageOf(sources.status());
  EXPECT_EQ(sources->csv.delimiter, ';');
  EXPECT_FALSE(sources->csv.quote.has_value());
  EXPECT_EQ(sources->id_type, IdType::kString);
}

TEST_F(SourceTableTest, MistakesNameTheFile) {
  EXPECT_THAT(Error(), HasSubstr("nothing to import"));
  options_.nodes = {temp_ / "none*.csv"};
  EXPECT_THAT(Error(), HasSubstr("No file matches"));
  options_.nodes = {temp_.path()};
  EXPECT_THAT(Error(), HasSubstr("is a folder"));
  options_.nodes = {"/dev/null"};
  EXPECT_THAT(Error(), HasSubstr("no regular file"));
  options_.nodes = {Write("empty.csv", "")};
  EXPECT_THAT(Error(), HasSubstr("empty.csv: The file is empty"));
  options_.nodes = {Write("plain.csv", "a,b\n1,2\n")};
  EXPECT_THAT(Error(), HasSubstr("plain.csv: The header is neither"));
  options_.nodes = {Write("bytes.csv", "~id,\xFF\n")};
  EXPECT_THAT(Error(), HasSubstr("no UTF-8"));
  options_.nodes = {Write("wide.csv", "~id" + std::string(40'000, ',') + "\n")};
  EXPECT_THAT(Error(), HasSubstr("too many columns"));
  options_.nodes = {Write("ok.csv", "~id\n")};
  options_.delimiter = "ab";
  EXPECT_THAT(Error(), HasSubstr("--delimiter"));
  options_.delimiter = "\"";
  EXPECT_THAT(Error(), HasSubstr("same character"));
  options_.delimiter = "tab";
  options_.id_type = "uuid";
  EXPECT_THAT(Error(), HasSubstr("--id-type"));
}

}  // namespace
}  // namespace koios::import
