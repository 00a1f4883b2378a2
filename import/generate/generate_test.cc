#include "import/generate/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "import/graph_import.h"
#include "storage/temp_folder.h"

namespace koios::import {
namespace {

GenerateOptions Options(const std::string& kind, uint64_t scale, const std::string& out) {
  GenerateOptions options;
  options.kind = kind;
  options.scale = scale;
  options.out = out;
  return options;
}

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string PathOf(const std::string& argument) { return argument.substr(argument.find('=') + 1); }

std::string AllBytes(const GeneratedGraph& graph) {
  std::string bytes;
  for (const auto* arguments : {&graph.nodes, &graph.edges}) {
    for (const std::string& argument : *arguments) bytes += ReadFile(PathOf(argument)) + "\f";
  }
  return bytes;
}

std::vector<std::vector<std::string>> Rows(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream text(ReadFile(path));
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line)) {
    std::vector<std::string> fields;
    std::istringstream fields_of(line);
    for (std::string field; std::getline(fields_of, field, ',');) fields.push_back(field);
    rows.push_back(fields);
  }
  return rows;
}

class GenerateTest : public testing::TestWithParam<std::pair<const char*, uint64_t>> {};

TEST_P(GenerateTest, TheSameSeedGivesTheSameBytesAndAnotherDoesNot) {
  storage::TempFolder temp;
  const auto [kind, scale] = GetParam();
  auto first = Generate(Options(kind, scale, temp / "a"));
  ASSERT_TRUE(first.ok()) << MessageOf(first.status());
  auto second = Generate(Options(kind, scale, temp / "b"));
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(AllBytes(*first) == AllBytes(*second));
  GenerateOptions other = Options(kind, scale, temp / "c");
  other.seed = 2;
  auto third = Generate(other);
  ASSERT_TRUE(third.ok());
  EXPECT_FALSE(AllBytes(*first) == AllBytes(*third));
}

TEST_P(GenerateTest, WhatItMakesImportsWithoutABadRow) {
  storage::TempFolder temp;
  const auto [kind, scale] = GetParam();
  auto graph = Generate(Options(kind, scale, temp / "out"));
  ASSERT_TRUE(graph.ok());
  storage::DataFolderOptions folder_options;
  folder_options.create = true;
  auto folder = storage::DataFolder::Open(temp / "data", folder_options);
  ASSERT_TRUE(folder.ok());
  ImportOptions options;
  options.nodes = graph->nodes;
  options.edges = graph->edges;
  options.memory_bytes = uint64_t{32} << 20;
  auto summary = ImportGraph(folder->get(), "g", WhenGraphExists::kRefuse, options);
  ASSERT_TRUE(summary.ok()) << MessageOf(summary.status());
  uint64_t vertices = 0, edges = 0;
  for (const auto& [label, count] : summary->vertices) vertices += count;
  for (const auto& [label, count] : summary->edges) edges += count;
  EXPECT_EQ(vertices, graph->num_vertices);
  EXPECT_EQ(edges, graph->num_edges);
  const std::string readme = ReadFile(temp / "out/README.txt");
  EXPECT_NE(readme.find("koios import --data DATA --nodes"), std::string::npos) << readme;
  EXPECT_EQ(readme.find(temp / "out"), std::string::npos) << readme;
}

INSTANTIATE_TEST_SUITE_P(Kinds, GenerateTest,
                         testing::Values(std::pair<const char*, uint64_t>{"money", 2000},
                                         std::pair<const char*, uint64_t>{"social", 1000},
                                         std::pair<const char*, uint64_t>{"rmat", 9}));

// The bytes are part of the promise: benchmarks on other machines must measure the same graph.
TEST(GenerateGoldenTest, FirstRowsStayWhatTheyAre) {
  storage::TempFolder temp;
  ASSERT_TRUE(Generate(Options("money", 16, temp / "m")).ok());
  const std::string accounts = ReadFile(temp / "m/accounts.csv");
  EXPECT_EQ(accounts.substr(0, accounts.find('\n', accounts.find('\n') + 1)),
            "~id,~label,owner:string,country:string,opened:date\n"
            "1,account,Nadia Lopez,FR,2020-11-26");
  const std::string transfers = ReadFile(temp / "m/transfers.csv");
  EXPECT_EQ(transfers.substr(0, transfers.find('\n', transfers.find('\n') + 1)),
            "~from,~to,~label,amount:double,time:datetime\n"
            "1,3,transfer,467.62,2024-06-21T07:28:43Z");
}

TEST(GenerateMoneyTest, RingsAreCirclesOfTransfersOnASharedDevice) {
  storage::TempFolder temp;
  auto graph = Generate(Options("money", 3000, temp / "m"));
  ASSERT_TRUE(graph.ok());
  std::set<std::pair<std::string, std::string>> transfers, uses;
  for (const auto& row : Rows(temp / "m/transfers.csv")) transfers.insert({row[0], row[1]});
  for (const auto& row : Rows(temp / "m/uses.csv")) uses.insert({row[0], row[1]});
  const auto rings = Rows(temp / "m/planted-rings.csv");
  ASSERT_EQ(rings.size(), 3u);
  for (const auto& ring : rings) {
    std::vector<std::string> members;
    std::istringstream list(ring[2]);
    for (std::string member; std::getline(list, member, ';');) members.push_back(member);
    ASSERT_GE(members.size(), 4u);
    EXPECT_EQ(std::set<std::string>(members.begin(), members.end()).size(), members.size());
    for (size_t i = 0; i < members.size(); ++i) {
      EXPECT_TRUE(transfers.count({members[i], members[(i + 1) % members.size()]}));
      EXPECT_TRUE(uses.count({members[i], ring[1]}));
    }
  }
}

TEST(GenerateMoneyTest, DegreesHaveAHeavyTailAndTheMeanThatWasAsked) {
  storage::TempFolder temp;
  auto graph = Generate(Options("money", 5000, temp / "m"));
  ASSERT_TRUE(graph.ok());
  std::map<std::string, int> out, in;
  const auto rows = Rows(temp / "m/transfers.csv");
  for (const auto& row : rows) {
    ++out[row[0]];
    ++in[row[1]];
  }
  const double mean = static_cast<double>(rows.size()) / 5000;
  EXPECT_GT(mean, 6);
  EXPECT_LT(mean, 10);
  const auto largest = [](const std::map<std::string, int>& degrees) {
    int most = 0;
    for (const auto& [id, degree] : degrees) most = std::max(most, degree);
    return most;
  };
  EXPECT_GT(largest(out), 20 * mean);
  EXPECT_GT(largest(in), 10 * mean);
}

TEST(GenerateRmatTest, HasEveryVertexAndNoEdgeTwice) {
  storage::TempFolder temp;
  GenerateOptions options = Options("rmat", 8, temp / "r");
  options.memory_bytes = 16 << 10;
  auto graph = Generate(options);
  ASSERT_TRUE(graph.ok()) << MessageOf(graph.status());
  EXPECT_EQ(graph->num_vertices, 256u);
  std::set<std::vector<std::string>> edges;
  for (const auto& row : Rows(temp / "r/edges.csv")) {
    EXPECT_TRUE(edges.insert(row).second);
    EXPECT_LT(std::stoul(row[0]), 256u);
    EXPECT_LT(std::stoul(row[1]), 256u);
  }
  EXPECT_EQ(edges.size(), graph->num_edges);
  EXPECT_GT(edges.size(), 256u * 8);
}

TEST(GenerateOptionsTest, MistakesAreNamed) {
  EXPECT_EQ(Generate(Options("tree", 10, "x")).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Generate(Options("rmat", 60, "x")).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Generate(Options("money", 1, "x")).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Generate(Options("rmat", 2, "/proc/none/x")).status().ok(), false);
  GeneratedGraph graph;
  graph.nodes = {"it's/a.csv"};
  EXPECT_EQ(ImportCommand(graph, "d"), "koios import --data d --nodes 'it'\\''s/a.csv' --edges");
}

}  // namespace
}  // namespace koios::import
