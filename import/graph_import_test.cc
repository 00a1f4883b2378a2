#include "import/graph_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/print/value_print.h"
#include "storage/temp_folder.h"

namespace koios::import {
namespace {

using storage::GraphView;
using testing::HasSubstr;

class GraphImportTest : public testing::Test {
 protected:
  GraphImportTest() {
    storage::DataFolderOptions options;
    options.create = true;
    options.store.num_partitions = 4;
    auto folder = storage::DataFolder::Open(temp_ / "data", options);
    CHECK(folder.ok());
    folder_ = *std::move(folder);
    options_.threads = 2;
    options_.memory_bytes = uint64_t{32} << 20;
  }

  std::string Write(const std::string& name, const std::string& text) {
    std::string path = temp_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  StatusOr<ImportSummary> Import(WhenGraphExists when = WhenGraphExists::kRefuse) {
    return ImportGraph(folder_.get(), "g", when, options_);
  }

  std::shared_ptr<const GraphView> View() {
    auto store = folder_->OpenGraph("g");
    CHECK(store.ok());
    return (*store)->View();
  }

  // Reference of a vertex that must exist.
  VertexRef Find(const GraphView& view, const Value& id) {
    std::vector<uint32_t> rows;
    std::vector<VertexRef> found;
    const std::vector<Value> ids = {id};
    EXPECT_TRUE(view.LookupVertices(ids, &rows, &found).ok());
    EXPECT_EQ(found.size(), 1u) << PrintValue(id);
    return found.empty() ? VertexRef{} : found[0];
  }

  std::map<std::string, std::string> Properties(const GraphView& view, const Value& id) {
    storage::PropertyRows rows;
    const std::vector<VertexRef> vertices = {Find(view, id)};
    EXPECT_TRUE(view.VertexProperties(vertices, {}, &rows).ok());
    std::map<std::string, std::string> out;
    for (size_t i = 0; i < rows.keys.size(); ++i) {
      out[view.schema().keys.Name(rows.keys[i])] = PrintValue(rows.values.Get(i));
    }
    return out;
  }

  // (edge id, label, in vertex's id) of the out edges, in the view's order.
  std::vector<std::tuple<std::string, std::string, std::string>> OutEdges(const GraphView& view,
                                                                          const Value& id) {
    const std::vector<VertexRef> vertices = {Find(view, id)};
    storage::ExpandCursor cursor;
    storage::Expansion edges;
    EXPECT_TRUE(view.Expand(vertices, Direction::kOut, {}, true, &cursor, 1000, &edges).ok());
    Column ids, ends;
    EXPECT_TRUE(view.EdgeIds(edges.edges, &ids).ok());
    EXPECT_TRUE(view.VertexIds(edges.neighbours, &ends).ok());
    std::vector<std::tuple<std::string, std::string, std::string>> out;
    for (size_t i = 0; i < edges.edges.size(); ++i) {
      out.emplace_back(PrintValue(ids.Get(i)), view.schema().labels.Name(edges.edges[i].label),
                       PrintValue(ends.Get(i)));
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  std::vector<nlohmann::json> Report() {
    std::vector<nlohmann::json> lines;
    std::ifstream file(options_.report);
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  storage::TempFolder temp_;
  std::unique_ptr<storage::DataFolder> folder_;
  ImportOptions options_;
};

TEST_F(GraphImportTest, Modern) {
  options_.nodes = {"tests/data/modern-vertices.csv"};
  options_.edges = {"tests/data/modern-edges.csv"};
  auto summary = Import();
  ASSERT_TRUE(summary.ok()) << MessageOf(summary.status());
  EXPECT_EQ(summary->vertices, (std::map<std::string, uint64_t>{{"person", 4}, {"software", 2}}));
  EXPECT_EQ(summary->edges, (std::map<std::string, uint64_t>{{"created", 4}, {"knows", 2}}));
  EXPECT_EQ(summary->num_skipped(), 0u);
  auto view = View();
  EXPECT_EQ(Properties(*view, Value::Long(1)),
            (std::map<std::string, std::string>{{"name", "marko"}, {"age", "29"}}));
  EXPECT_EQ(Properties(*view, Value::Long(5)),
            (std::map<std::string, std::string>{{"name", "ripple"}, {"lang", "java"}}));
  using Edges = std::vector<std::tuple<std::string, std::string, std::string>>;
  EXPECT_EQ(OutEdges(*view, Value::Long(1)),
            (Edges{{"7", "knows", "2"}, {"8", "knows", "4"}, {"9", "created", "3"}}));
  EXPECT_EQ(OutEdges(*view, Value::Long(4)),
            (Edges{{"10", "created", "5"}, {"11", "created", "3"}}));
}

TEST_F(GraphImportTest, AnExistingGraphNeedsAppendOrReplace) {
  options_.nodes = {Write("v.csv", "~id,~label\n1,a\n")};
  ASSERT_TRUE(Import().ok());
  EXPECT_EQ(Import().status().code(), StatusCode::kFailedPrecondition);
  options_.nodes = {Write("v2.csv", "~id,~label\n2,b\n")};
  auto appended = Import(WhenGraphExists::kAppend);
  ASSERT_TRUE(appended.ok()) << MessageOf(appended.status());
  EXPECT_EQ(View()->schema().vertex_counts.size(), 2u);
  ASSERT_TRUE(Import(WhenGraphExists::kReplace).ok());
  EXPECT_EQ(View()->schema().vertex_counts.size(), 1u);
  Find(*View(), Value::Long(2));
}

TEST_F(GraphImportTest, AppendFindsEndsAndIdsOfTheGraph) {
  options_.nodes = {"tests/data/modern-vertices.csv"};
  options_.edges = {"tests/data/modern-edges.csv"};
  ASSERT_TRUE(Import().ok());
  options_.nodes = {Write("v.csv", "~id,~label\n1,person\n20,person\n")};
  options_.edges = {
      Write("e.csv", "~id,~from,~to,~label\n7,1,20,knows\n30,1,20,knows\n31,20,2,knows\n")};
  options_.bad_tolerance = -1;
  options_.report = temp_ / "report.jsonl";
  auto summary = Import(WhenGraphExists::kAppend);
  ASSERT_TRUE(summary.ok()) << MessageOf(summary.status());
  EXPECT_EQ(summary->skipped, (std::map<std::string, uint64_t>{{"DUPLICATE_ID", 2}}));
  auto lines = Report();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["raw"], "1,person");
  EXPECT_THAT(lines[1]["message"].get<std::string>(), HasSubstr("in the graph already"));
  auto view = View();
  EXPECT_EQ(OutEdges(*view, Value::Long(1)).size(), 4u);
  EXPECT_EQ(OutEdges(*view, Value::Long(20)).size(), 1u);
}

TEST_F(GraphImportTest, BadRowsAreReportedWithTheirPlace) {
  options_.nodes = {Write("v.csv",
                          "~id,~label,name:string,age:int\n"
                          "1,p,a,7\n"
                          "2,p,b,seven\n"
                          "3,p,c\n"
                          "1,p,d,8\n"
                          "5,p,\xFF,9\n"
                          ",p,e,9\n"
                          "6,p,\"x\"y,9\n"
                          "7,p,f,9\n")};
  options_.edges = {Write("e.csv", "~from,~to,~label\n1,7,knows\n1,99,knows\n98,7,knows\n")};
  options_.bad_tolerance = 8;
  options_.report = temp_ / "report.jsonl";
  auto summary = Import();
  ASSERT_TRUE(summary.ok()) << MessageOf(summary.status());
  EXPECT_EQ(summary->vertices.at("p"), 2u);
  EXPECT_EQ(summary->edges.at("knows"), 1u);
  EXPECT_EQ(summary->num_skipped(), 8u);
  std::vector<std::tuple<int, int, std::string>> seen;
  for (const auto& line : Report()) {
    seen.emplace_back(line["line"], line["column"], line["code"]);
    EXPECT_FALSE(line["message"].get<std::string>().empty());
    EXPECT_FALSE(line["raw"].get<std::string>().empty());
  }
  using Seen = std::vector<std::tuple<int, int, std::string>>;
  EXPECT_EQ(seen, (Seen{{3, 4, "BAD_TYPE"},
                        {4, 4, "RAGGED_ROW"},
                        {6, 3, "BAD_UTF8"},
                        {7, 1, "BAD_ID"},
                        {8, 3, "BAD_QUOTE"},
                        {5, 1, "DUPLICATE_ID"},
                        {3, 2, "MISSING_ENDPOINT"},
                        {4, 1, "MISSING_ENDPOINT"}}));
  options_.bad_tolerance = 7;
  auto refused = Import(WhenGraphExists::kReplace);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr("v.csv:3, column 4: BAD_TYPE"));
  EXPECT_EQ(View()->schema().vertex_counts.size(), 1u) << "the old graph is still there";
}

TEST_F(GraphImportTest, MissingEndpointsCanBeSkippedAlone) {
  options_.nodes = {Write("v.csv", "~id\n1\n2\n")};
  options_.edges = {Write("e.csv", "~from,~to\n1,2\n1,3\n")};
  EXPECT_EQ(Import().status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(folder_->HasGraph("g"));
  options_.skip_missing_endpoints = true;
  auto summary = Import();
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->edges.at("edge"), 1u);
  EXPECT_EQ(summary->skipped.at("MISSING_ENDPOINT"), 1u);
  EXPECT_TRUE(summary->warnings.empty());
}

TEST_F(GraphImportTest, WarnsWhenHardlyAnythingOfAnEdgeFileWasLoaded) {
  options_.nodes = {Write("v.csv", "~id\n1\n")};
  options_.edges = {Write("e.csv", "~from,~to\na,b\nc,d\n")};
  options_.skip_missing_endpoints = true;
  auto summary = Import();
  ASSERT_TRUE(summary.ok());
  ASSERT_EQ(summary->warnings.size(), 1u);
  EXPECT_THAT(summary->warnings[0], HasSubstr("2 of the 2 rows"));
  EXPECT_THAT(FormatSummary(*summary), HasSubstr("WARNING"));
}

TEST_F(GraphImportTest, Neo4jHeadersWithSpacesTypesAndArrays) {
  options_.nodes = {Write("p.csv",
                          "personId:ID(Person)|name|:LABEL|born:date|tags:string[]|junk:IGNORE\n"
                          "1|Ann|Person;Admin|1990-02-03|x;y\\;z;|?\n"
                          "2|Bob||||\n"),
                    "City=" + Write("c.csv", ":ID(City)|name\n1|Rome\n")};
  options_.edges = {
      "livesIn=" + Write("e.csv", ":START_ID(Person)|:END_ID(City)|since:int\n1|1|5\n"),
      Write("k.csv", ":START_ID(Person)|:END_ID(Person)|:TYPE\n1|2|knows\n")};
  options_.delimiter = "|";
  auto summary = Import();
  ASSERT_TRUE(summary.ok()) << MessageOf(summary.status());
  EXPECT_EQ(summary->vertices,
            (std::map<std::string, uint64_t>{{"Person::Admin", 1}, {"vertex", 1}, {"City", 1}}));
  auto view = View();
  auto ann = Properties(*view, Value::String("Person:1"));
  EXPECT_EQ(ann["id"], "1");
  EXPECT_EQ(ann["personId"], "1");
  EXPECT_EQ(ann["tags"], "[x,y;z,]");
  EXPECT_EQ(ann.count("junk"), 0u);
  using Edges = std::vector<std::tuple<std::string, std::string, std::string>>;
  Edges edges = OutEdges(*view, Value::String("Person:1"));
  ASSERT_EQ(edges.size(), 2u);
  EXPECT_EQ(std::get<2>(edges[0]), "City:1");
}

TEST_F(GraphImportTest, VerticesInASpaceAreIndexedByTheirId) {
  options_.nodes = {"City=" + Write("c.csv", ":ID(City),name\n1,Rome\n2,Oslo\n"),
                    "Town=" + Write("t.csv", ":ID,id:int\n1,1\n")};
  options_.edges = {};
  ASSERT_TRUE(Import().ok());
  auto view = View();
  const Schema& schema = view->schema();
  const LabelId city = schema.labels.Find("City");
  const KeyId id = schema.keys.Find("id");
  EXPECT_EQ(schema.vertex_indexes.size(), 1u);
  const storage::SoughtKey two{{Value::Int(2)}, {}};
  const auto seek = storage::MakeSeek(schema, {&city, 1}, {&id, 1}, {&two, 1});
  ASSERT_TRUE(seek.has_value());
  std::vector<VertexRef> found;
  for (uint32_t partition = 0; partition < view->num_partitions(); ++partition) {
    storage::SeekCursor cursor;
    ASSERT_TRUE(view->SeekVertices(partition, *seek, &cursor, 10, &found).ok());
    EXPECT_TRUE(cursor.done);
  }
  Column ids;
  ASSERT_TRUE(view->VertexIds(found, &ids).ok());
  ASSERT_EQ(ids.size(), 1u);
  EXPECT_EQ(ids.Get(0).AsString(), "City:2");
}

TEST_F(GraphImportTest, OddButGoodFilesLoadAndPoisonIsReported) {
  using std::string_literals::operator""s;
  options_.nodes = {
      Write("a.csv", "\xEF\xBB\xBF:ID(A),t,n:int\r\n1,x\0y,1\r\n2,\"two\nlines\",2\n\n3,,\r\n"s),
      Write("b.csv", ":ID(B),n:byte\n1,300\n2,7\n3,\"8\n")};
  options_.bad_tolerance = -1;
  options_.report = temp_ / "report.jsonl";
  auto summary = Import();
  ASSERT_TRUE(summary.ok()) << MessageOf(summary.status());
  EXPECT_EQ(summary->vertices.at("vertex"), 4u) << "1 and 2 are in both spaces";
  auto view = View();
  EXPECT_EQ(Properties(*view, Value::String("A:1"))["t"], "x\0y"s);
  EXPECT_EQ(Properties(*view, Value::String("A:2"))["t"], "two\nlines");
  EXPECT_EQ(Properties(*view, Value::String("A:3")).size(), 1u) << "the id alone";
  auto lines = Report();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["code"], "BAD_TYPE");
  EXPECT_EQ(lines[1]["code"], "BAD_QUOTE");
  EXPECT_EQ(lines[1]["line"], 4);
}

// A row that does not fit its share of the memory is one bad row, not the end of the process.
TEST_F(GraphImportTest, AFieldWithoutEndIsTooLong) {
  options_.memory_bytes = kMinMemoryBytes;
  options_.nodes = {Write("v.csv", "~id,t\n1,\"" + std::string(20 << 20, 'x') + "\"\n2,b\n")};
  options_.bad_tolerance = 1;
  auto summary = Import();
  ASSERT_TRUE(summary.ok()) << MessageOf(summary.status());
  EXPECT_EQ(summary->skipped, (std::map<std::string, uint64_t>{{"TOO_LONG", 1}}));
  Find(*View(), Value::Long(2));
}

TEST_F(GraphImportTest, ALabelThatMayNotBeIsABadRow) {
  options_.nodes = {
      Write("v.csv", "~id,~label\n1,person\n2," + std::string(5000, 'x') + "\n3,~hidden\n4,;~x\n")};
  options_.bad_tolerance = 3;
  const auto summary = Import();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->skipped, (std::map<std::string, uint64_t>{{"BAD_TYPE", 3}}));
}

TEST_F(GraphImportTest, APropertyNameThatMayNotBeIsAnErrorWithItsFile) {
  for (const std::string& name : {std::string(5000, 'x'), std::string("~hidden")}) {
    options_.nodes = {Write("v.csv", ":ID," + name + ":string\n1,a\n")};
    const Status status = Import(WhenGraphExists::kReplace).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status;
    EXPECT_NE(MessageOf(status).find("v.csv"), std::string::npos) << MessageOf(status);
  }
}

TEST_F(GraphImportTest, VerticesWithoutIdsGetIntegersAboveAllOthers) {
  options_.nodes = {Write("a.csv", "name:string,:LABEL\nx,A\ny,A\n"),
                    Write("b.csv", ":ID,name\n41,z\n")};
  auto summary = Import();
  ASSERT_TRUE(summary.ok()) << MessageOf(summary.status());
  EXPECT_EQ(Properties(*View(), Value::Long(42))["name"], "x");
  EXPECT_EQ(Properties(*View(), Value::Long(43))["name"], "y");
}

TEST_F(GraphImportTest, IdTypes) {
  options_.nodes = {Write("v.csv", "~id\n1\n01\nx\n")};
  ASSERT_TRUE(Import().ok());
  Find(*View(), Value::Long(1));
  Find(*View(), Value::String("01"));
  options_.id_type = "string";
  ASSERT_TRUE(Import(WhenGraphExists::kReplace).ok());
  Find(*View(), Value::String("1"));
  options_.id_type = "int";
  EXPECT_THAT(MessageOf(Import(WhenGraphExists::kReplace).status()), HasSubstr("BAD_ID"));
}

TEST_F(GraphImportTest, ImportingTwiceGivesTheSameGraph) {
  std::string vertices = "~id,~label\n", edges = "~from,~to,~label\n";
  for (int i = 0; i < 3000; ++i) {
    vertices += std::to_string(i) + ",L" + std::to_string(i * 7 % 13) + "\n";
    edges += std::to_string(i * 31 % 3000) + "," + std::to_string(i * 17 % 3000) + ",E" +
             std::to_string(i * 5 % 11) + "\n";
  }
  options_.nodes = {Write("v.csv", vertices)};
  options_.edges = {Write("e.csv", edges)};
  const auto dump = [&] {
    std::string text;
    auto view = View();
    for (uint32_t p = 0; p < view->num_partitions(); ++p) {
      storage::ExpandCursor cursor;
      std::vector<EdgeRef> all;
      EXPECT_TRUE(view->ScanEdges(p, {}, &cursor, 100'000, &all).ok());
      for (const EdgeRef& e : all) {
        text += std::to_string(e.id) + " " + std::to_string(e.out.bits) + " " +
                std::to_string(e.in.bits) + " " + view->schema().labels.Name(e.label) + "\n";
      }
    }
    for (uint32_t i = 1; i <= view->schema().labels.size(); ++i) {
      text += view->schema().labels.Name(i) + "\n";
    }
    return text;
  };
  options_.threads = 1;
  ASSERT_TRUE(Import().ok());
  const std::string first = dump();
  options_.threads = 4;
  options_.memory_bytes = kMinMemoryBytes;
  ASSERT_TRUE(Import(WhenGraphExists::kReplace).ok());
  EXPECT_EQ(dump(), first);
}

// The input and what is sorted are several times the memory that may be used.
TEST_F(GraphImportTest, SpillsWhenTheInputIsLargerThanItsMemory) {
  options_.memory_bytes = kMinMemoryBytes;
  constexpr int kManyVertices = 60'000, kManyEdges = 200'000;
  std::string vertices = "~id,~label,text:string\n", edges = "~from,~to,~label,w:double\n";
  for (int i = 0; i < kManyVertices; ++i) {
    vertices += std::to_string(i) + ",p,some text that takes up room in row " + std::to_string(i) +
                std::string(180, 'x') + "\n";
  }
  for (int64_t i = 0; i < kManyEdges; ++i) {
    edges += std::to_string(i * 7919 % kManyVertices) + "," +
             std::to_string(i * 104729 % kManyVertices) + ",to,0.5\n";
  }
  ASSERT_GT(vertices.size() + edges.size(), 2 * options_.memory_bytes);
  options_.nodes = {Write("v.csv", vertices)};
  options_.edges = {Write("e.csv", edges)};
  auto summary = Import();
  ASSERT_TRUE(summary.ok()) << MessageOf(summary.status());
  EXPECT_EQ(summary->vertices.at("p"), uint64_t{kManyVertices});
  EXPECT_EQ(summary->edges.at("to"), uint64_t{kManyEdges});
  EXPECT_GT(summary->spilled_bytes, 2 * options_.memory_bytes);
  auto view = View();
  std::vector<int64_t> degrees;
  const std::vector<VertexRef> vertex = {Find(*view, Value::Long(7919))};
  ASSERT_TRUE(view->Degrees(vertex, Direction::kBoth, {}, &degrees).ok());
  int64_t expected = 0;
  for (int64_t i = 0; i < kManyEdges; ++i) {
    expected += i * 7919 % kManyVertices == 7919;
    expected += i * 104729 % kManyVertices == 7919;
  }
  EXPECT_EQ(degrees[0], expected);
}

// LDBC's own counts, from the data set's README; the data lies beside the project where it is.
TEST_F(GraphImportTest, SnbTinyHasTheCountsOfItsReadme) {
  const std::string snb = "../shared/data/snb-tiny";
  if (!std::filesystem::exists(snb)) GTEST_SKIP() << "no " << snb << ": 1 import not tested";
  options_.mapping = "import/mappings/ldbc-snb.yaml";
  options_.nodes = {snb};
  options_.edges = {snb};
  auto summary = Import();
  ASSERT_TRUE(summary.ok()) << MessageOf(summary.status());
  EXPECT_EQ(summary->vertices, (std::map<std::string, uint64_t>{{"Place", 196},
                                                                {"Organisation", 193},
                                                                {"Tag", 1289},
                                                                {"TagClass", 50},
                                                                {"Person", 72},
                                                                {"Forum", 273},
                                                                {"Post", 1985},
                                                                {"Comment", 528}}));
  EXPECT_EQ(summary->edges, (std::map<std::string, uint64_t>{{"isPartOf", 190},
                                                             {"isLocatedIn", 193 + 72 + 1985 + 528},
                                                             {"hasType", 1289},
                                                             {"isSubclassOf", 49},
                                                             {"hasInterest", 1567},
                                                             {"studyAt", 56},
                                                             {"workAt", 149},
                                                             {"knows", 280},
                                                             {"hasModerator", 273},
                                                             {"hasMember", 1129},
                                                             {"hasTag", 1768 + 408 + 632},
                                                             {"containerOf", 1985},
                                                             {"hasCreator", 1985 + 528},
                                                             {"replyOf", 336 + 192},
                                                             {"likes", 220 + 95}}));
  EXPECT_EQ(summary->rows_read, 20495u);
  auto jose = Properties(*View(), Value::String("Person:8796093022220"));
  EXPECT_EQ(jose["id"], "8796093022220");
  EXPECT_EQ(jose["birthday"], "558921600000");
  EXPECT_EQ(jose["language"], "[es,en]");
}

}  // namespace
}  // namespace koios::import
