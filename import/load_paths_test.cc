// The ways through an import that lead to the same graph: the table of ids or the joins, memory or
// disk, few bins or many, one thread or several; and what the numbers and the snapshot are like.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/print/value_print.h"
#include "core/random.h"
#include "import/graph_import.h"
#include "storage/check.h"
#include "storage/temp_folder.h"

namespace koios::import {
namespace {

using storage::GraphView;

struct Imported {
  std::string dump;  // of all that is in the graph, in the order of its numbers
  std::multiset<std::string> report;
  ImportSummary summary;
};

class LoadPathsTest : public testing::Test {
 protected:
  LoadPathsTest() {
    storage::DataFolderOptions options;
    options.create = true;
    options.store.num_partitions = 7;
    folder_ = storage::DataFolder::Open(temp_ / "data", options).value();
    options_.report = temp_ / "report.jsonl";
    options_.bad_tolerance = -1;
  }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(temp_ / name, std::ios::binary) << text;
    return temp_ / name;
  }

  // A snapshot is there when the load is done, and nothing is wrong with the graph.
  Imported Import() {
    Imported out;
    auto summary = ImportGraph(folder_.get(), "g", WhenGraphExists::kReplace, options_);
    EXPECT_TRUE(summary.ok()) << summary.status();
    if (!summary.ok()) return out;
    out.summary = *summary;
    EXPECT_EQ(summary->snapshot_files, options_.snapshot ? 7u : 0u);
    auto store = folder_->OpenGraph("g").value();
    const auto check = storage::Check(*store);
    EXPECT_TRUE(check.ok() && check->ok()) << check.status();
    out.dump = Dump(*store->View());
    std::ifstream file(options_.report);
    for (std::string line; std::getline(file, line);) out.report.insert(line);
    return out;
  }

  static std::string PropertiesOf(const GraphView& view, const storage::PropertyRows& rows) {
    std::string out;
    for (size_t i = 0; i < rows.keys.size(); ++i) {
      out += " " + std::to_string(rows.rows[i]) + "." + view.schema().keys.Name(rows.keys[i]) +
             "=" + PrintValue(rows.values.Get(i));
    }
    return out;
  }

  static std::string Dump(const GraphView& view) {
    std::string out;
    for (uint32_t p = 0; p < view.num_partitions(); ++p) {
      storage::ScanCursor scan;
      std::vector<VertexRef> vertices;
      EXPECT_TRUE(view.ScanVertices(p, {}, &scan, 1'000'000, &vertices).ok());
      Column ids;
      std::vector<LabelId> labels;
      storage::PropertyRows properties;
      EXPECT_TRUE(view.VertexIds(vertices, &ids).ok());
      EXPECT_TRUE(view.VertexLabels(vertices, &labels).ok());
      EXPECT_TRUE(view.VertexProperties(vertices, {}, &properties).ok());
      for (size_t i = 0; i < vertices.size(); ++i) {
        out += std::to_string(vertices[i].bits) + " " + PrintValue(ids.Get(i)).substr(0, 20) + " " +
               view.schema().labels.Name(labels[i]) + "\n";
      }
      out += PropertiesOf(view, properties) + "\n";
      for (const Direction direction : {Direction::kOut, Direction::kIn}) {
        storage::ExpandCursor cursor;
        storage::Expansion edges;
        EXPECT_TRUE(view.Expand(vertices, direction, {}, true, &cursor, 1'000'000, &edges).ok());
        EXPECT_TRUE(view.EdgeIds(edges.edges, &ids).ok());
        EXPECT_TRUE(view.EdgeProperties(edges.edges, {}, &properties).ok());
        for (size_t i = 0; i < edges.edges.size(); ++i) {
          const EdgeRef& edge = edges.edges[i];
          out += std::to_string(edge.id) + "=" + PrintValue(ids.Get(i)) + " " +
                 std::to_string(edge.out.bits) + "-" + view.schema().labels.Name(edge.label) + ">" +
                 std::to_string(edge.in.bits) + "\n";
        }
        out += PropertiesOf(view, properties) + "\n";
      }
    }
    return out;
  }

  // Everything that an import has to tell apart, with bad rows among it. `filler` makes ids long.
  void WriteOddGraph(const std::string& filler) {
    Rng rng(17);
    std::string people = "id:ID(Person)|name|:LABEL|n:int\n", cities = ":ID(City)|name\n",
                plain = ":ID|:LABEL|t\n",
                knows = ":START_ID(Person)|:END_ID(Person)|:TYPE|w:double\n",
                lives = ":START_ID(Person)|:END_ID(City)\n",
                given = "~id|~from|~to|~label|note:string\n";
    for (int i = 0; i < 800; ++i) {
      const std::string id = std::to_string(i * 37 % 1000) + (i % 3 == 0 ? filler : "");
      people += id + "|p" + std::to_string(i) + "|L" + std::to_string(i % 4) + "|" +
                (i % 50 == 0 ? "x" : std::to_string(i)) + "\n";
      cities += std::to_string(i % 300) + filler + "|c\n";
      plain += std::to_string(i) + (i % 2 == 0 ? filler : "") + "|P;Q|\"a\nb\"\n";
    }
    for (int i = 0; i < 1200; ++i) {
      const auto person = [&] {
        const uint64_t k = rng.Uniform(810);
        return std::to_string(k * 37 % 1000) + (k % 3 == 0 ? filler : "");
      };
      knows += person() + "|" + person() + "|k" + std::to_string(rng.Uniform(3)) + "|" +
               (i % 3 == 0 ? "0.5" : "") + "\n";
      lives += person() + "|" + std::to_string(rng.Uniform(305)) + filler + "\n";
      const auto any = [&] {
        const uint64_t k = rng.Uniform(802);
        return std::to_string(k) + (k % 2 == 0 ? filler : "");
      };
      given += (i % 5 == 0 ? "" : std::to_string(rng.Uniform(1100)) + (i % 2 == 0 ? filler : "")) +
               "|" + any() + "|" + any() + "|g|\"n;" + std::to_string(i % 7) + "\"\n";
    }
    options_.nodes = {Write("p.csv", people), "City=" + Write("c.csv", cities),
                      Write("v.csv", plain)};
    options_.edges = {Write("k.csv", knows), "lives=" + Write("l.csv", lives)};
    given_ = Write("g.csv", given);
    options_.delimiter = "|";
  }

  storage::TempFolder temp_;
  std::unique_ptr<storage::DataFolder> folder_;
  ImportOptions options_;
  std::string given_;
};

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Long ids need more room than the table has in the least memory: they are joined there.
TEST_F(LoadPathsTest, TheSameGraphInAnyMemoryAndByAnyNumberOfThreads) {
  for (const size_t id_bytes : {0, 3000}) {
    WriteOddGraph(std::string(id_bytes, 'x'));
    options_.edges.push_back(given_);
    options_.threads = 1;
    options_.memory_bytes = 256 * kMiB;
    const Imported first = Import();
    EXPECT_EQ(first.summary.spilled_bytes, 0u);
    EXPECT_GT(first.report.size(), 500u) << "duplicates, missing ends, bad types";
    for (const uint64_t memory : {kMinMemoryBytes, 256 * kMiB}) {
      options_.memory_bytes = memory;
      options_.threads = 4;
      const Imported again = Import();
      EXPECT_EQ(again.dump, first.dump) << memory;
      EXPECT_EQ(again.summary.skipped, first.summary.skipped);
      EXPECT_EQ(again.report, first.report);
      if (id_bytes > 0 && memory == kMinMemoryBytes) {
        EXPECT_GT(again.summary.spilled_bytes, 0u);
      }
    }
  }
}

TEST_F(LoadPathsTest, TheSnapshotAndTheTruthSayTheSame) {
  WriteOddGraph("");
  options_.edges.push_back(given_);
  const Imported with = Import();
  options_.snapshot = false;
  EXPECT_EQ(Import().dump, with.dump);
}

// Rows of all labels come mixed; each label is one run of numbers, and so are an edge label's
// edges.
TEST_F(LoadPathsTest, LabelsAndEdgesAreRunsOfNumbers) {
  std::string vertices = "~id,~label\n", edges = "~from,~to,~label\n";
  Rng rng(3);
  for (int i = 0; i < 3000; ++i) {
    vertices += std::to_string(i) + ",L" + std::to_string(i % 5) + "\n";
    edges += std::to_string(rng.Uniform(3000)) + "," + std::to_string(rng.Uniform(3000)) + ",E" +
             std::to_string(rng.Uniform(4)) + "\n";
  }
  options_.nodes = {Write("v.csv", vertices)};
  options_.edges = {Write("e.csv", edges)};
  Import();
  const auto view = folder_->OpenGraph("g").value()->View();
  for (uint32_t p = 0; p < view->num_partitions(); ++p) {
    storage::ScanCursor scan;
    std::vector<VertexRef> found;
    std::vector<LabelId> labels;
    ASSERT_TRUE(view->ScanVertices(p, {}, &scan, 1'000'000, &found).ok());
    ASSERT_TRUE(view->VertexLabels(found, &labels).ok());
    EXPECT_EQ(found.back().local() - found.front().local() + 1, found.size());
    EXPECT_TRUE(std::is_sorted(labels.begin(), labels.end())) << "5 runs";
    storage::ExpandCursor cursor;
    std::vector<EdgeRef> all;
    ASSERT_TRUE(view->ScanEdges(p, {}, &cursor, 1'000'000, &all).ok());
    std::sort(all.begin(), all.end(),
              [](const EdgeRef& a, const EdgeRef& b) { return a.id < b.id; });
    EXPECT_EQ(all.back().id - all.front().id + 1, all.size());
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const EdgeRef& a, const EdgeRef& b) {
      return std::tuple(a.label, a.out, a.in) < std::tuple(b.label, b.out, b.in);
    }));
  }
}

TEST_F(LoadPathsTest, AnImportOfNothingButAHeader) {
  options_.nodes = {Write("v.csv", "~id,~label\n")};
  options_.edges = {Write("e.csv", "~from,~to\n")};
  const Imported empty = Import();
  EXPECT_EQ(empty.summary.rows_read, 0u);
}

TEST_F(LoadPathsTest, WhatWasSortedOnDiskIsTold) {
  WriteOddGraph(std::string(4000, 'x'));
  options_.memory_bytes = kMinMemoryBytes;
  EXPECT_THAT(FormatSummary(Import().summary), testing::HasSubstr("sorted on disk"));
}

}  // namespace
}  // namespace koios::import
