// The statistics that come with snapshots against a count of everything.
#include "storage/view/snapshot_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "core/random.h"
#include "core/testing/rounds.h"
#include "storage/rocks/store_state.h"
#include "storage/snapshot_build.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"
#include "storage/view/testing/counted_statistics.h"

namespace koios::storage {
namespace {

constexpr uint64_t kMembers = TestRounds(2000, 600), kRooms = 40;

// Members with keys of many and few values, in rooms of which some are much liked.
WriteBatch RandomBatch(uint64_t seed) {
  Rng random(seed);
  WriteBatch batch;
  const auto skewed = [&](uint64_t below) { return random.Uniform(random.Uniform(below) + 1); };
  for (uint64_t i = 0; i < kMembers; ++i) {
    AddedVertex vertex{std::nullopt, "member", {}};
    const int64_t number = static_cast<int64_t>(i);
    vertex.properties.emplace_back("number", Value::Long(number * 7 - 3000));
    vertex.properties.emplace_back("name", Value::String("n" + std::to_string(skewed(500))));
    vertex.properties.emplace_back("odd", Value::Bool(i % 2 == 1));
    if (random.Chance(0.3)) vertex.properties.emplace_back("share", Value::Double(random.Double()));
    batch.vertices.push_back(std::move(vertex));
  }
  for (uint64_t i = 0; i < kRooms; ++i) {
    batch.vertices.push_back({std::nullopt, "room", {{"name", Value::String("r")}}});
  }
  const auto edge = [&](std::string label, uint64_t out, uint64_t in) {
    AddedEdge& added = batch.edges.emplace_back();
    added.label = std::move(label);
    added.out = Added(static_cast<uint32_t>(out));
    added.in = Added(static_cast<uint32_t>(in));
    return &added;
  };
  for (uint64_t i = 0; i < 3 * kMembers; ++i) {
    edge("in", skewed(kMembers), kMembers + skewed(kRooms));
    edge("knows", skewed(kMembers), random.Uniform(kMembers))
        ->properties.emplace_back("since", Value::Int(1990 + static_cast<int32_t>(i % 30)));
  }
  edge("next", kMembers, kMembers + 1);
  return batch;
}

void ExpectSameFigures(const DegreeStatistics& found, const DegreeStatistics& expected) {
  EXPECT_EQ(found.vertices, expected.vertices);
  EXPECT_EQ(found.with_any, expected.with_any);
  EXPECT_EQ(found.edges, expected.edges);
  EXPECT_EQ(found.largest, expected.largest);
  EXPECT_DOUBLE_EQ(found.sum_of_squares, expected.sum_of_squares);
  EXPECT_EQ(found.classes, expected.classes);
}

void ExpectSameFigures(const GraphStatistics::Properties& found,
                       const GraphStatistics::Properties& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, counted] : expected) {
    SCOPED_TRACE("label " + std::to_string(name.first) + " key " + std::to_string(name.second));
    ASSERT_TRUE(found.contains(name));
    const PropertyStatistics& property = found.at(name);
    EXPECT_EQ(property.elements, counted.elements);
    EXPECT_EQ(property.values, counted.values);
    // Values of different frequency are taken for fewer.
    EXPECT_GE(property.distinct, 0.5 * counted.distinct);
    EXPECT_LE(property.distinct, 1.1 * counted.distinct);
    if (!counted.has_range) continue;
    EXPECT_TRUE(property.has_range);
    EXPECT_EQ(property.least, counted.least);
    EXPECT_EQ(property.largest, counted.largest);
  }
}

void ExpectSameFigures(const GraphStatistics& found, const GraphStatistics& expected) {
  EXPECT_EQ(found.version, expected.version);
  EXPECT_EQ(found.vertices, expected.vertices);
  EXPECT_EQ(found.edges, expected.edges);
  ASSERT_EQ(found.degrees.size(), expected.degrees.size());
  for (const auto& [of, degrees] : expected.degrees) {
    ASSERT_TRUE(found.degrees.contains(of));
    ExpectSameFigures(found.degrees.at(of), degrees);
  }
  ExpectSameFigures(found.vertex_properties, expected.vertex_properties);
  ExpectSameFigures(found.edge_properties, expected.edge_properties);
}

// Of the newest view, which the store keeps.
const GraphStatistics* Known(const GraphStore& store) { return StatisticsOf(*store.View()); }

TEST(SnapshotStatisticsTest, SayWhatThereIs) {
  for (const uint32_t partitions : {1, 3, 16}) {
    SCOPED_TRACE(std::to_string(partitions) + " partitions");
    TempFolder folder;
    auto store = GraphStore::Open(folder / "g", TestOptions(partitions)).value();
    EXPECT_EQ(Known(*store), nullptr) << "of nothing";
    ASSERT_TRUE(store->Commit(RandomBatch(partitions)).ok());
    ASSERT_TRUE(BuildSnapshots(store.get(), {}).ok());
    const GraphStatistics counted = testing::CountStatistics(*store->View());
    ASSERT_NE(Known(*store), nullptr);
    ExpectSameFigures(*Known(*store), counted);
    // What comes later is not in them, nor is it lost with them.
    ASSERT_TRUE(store->Commit(AddVertexBatch(store->View()->version(), std::nullopt)).ok());
    store = nullptr;
    store = GraphStore::Open(folder / "g", TestOptions(partitions)).value();
    ASSERT_NE(Known(*store), nullptr);
    ExpectSameFigures(*Known(*store), counted);
    ASSERT_TRUE(BuildSnapshots(store.get(), {}).ok());
    ExpectSameFigures(*Known(*store), testing::CountStatistics(*store->View()));
  }
}

TEST(SnapshotStatisticsTest, AreAbsentWithTheSnapshots) {
  TempFolder folder;
  auto store = GraphStore::Open(folder / "g", TestOptions(2)).value();
  ASSERT_TRUE(store->Commit(RandomBatch(1)).ok());
  ASSERT_TRUE(BuildSnapshots(store.get(), {}).ok());
  const std::string snapshots = StoreAccess::Of(*store).snapshot_folder();
  store = nullptr;
  size_t removed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(snapshots)) {
    removed += std::filesystem::remove(entry.path()) ? 1 : 0;
    break;
  }
  ASSERT_EQ(removed, 1u);
  store = GraphStore::Open(folder / "g", TestOptions(2)).value();
  const auto view = store->View();
  EXPECT_EQ(StatisticsOf(*view), nullptr);
  EXPECT_EQ(testing::CountStatistics(*view).vertices.size(), 2u) << "queries go on";
}

// Values that are drawn from so many fall into parts; what is expected to be seen in each tells how
// many there are.
TEST(SnapshotStatisticsTest, DistinctOfParts) {
  EXPECT_EQ(DistinctOfParts(1000, 1000, 70, 16), 1000) << "all different";
  EXPECT_EQ(DistinctOfParts(1000, 32, 2, 16), 2) << "all in each";
  EXPECT_EQ(DistinctOfParts(1000, 500, 500, 1), 500) << "one part";
  EXPECT_EQ(DistinctOfParts(0, 0, 0, 16), 0);
  Rng random(7);
  for (const uint64_t distinct : {10, 100, 1000, 10'000}) {
    constexpr uint64_t kValues = 20'000, kParts = 16;
    std::set<uint64_t> all, in[kParts];
    for (uint64_t i = 0; i < kValues; ++i) {
      const uint64_t value = random.Uniform(distinct);
      all.insert(value);
      in[random.Uniform(kParts)].insert(value);
    }
    double in_parts = 0, most = 0;
    for (const auto& part : in) {
      in_parts += static_cast<double>(part.size());
      most = std::max(most, static_cast<double>(part.size()));
    }
    const double expected = static_cast<double>(all.size());
    const double estimate = DistinctOfParts(kValues, in_parts, most, kParts);
    EXPECT_GE(estimate, 0.7 * expected);
    EXPECT_LE(estimate, 1.05 * expected);
  }
}

}  // namespace
}  // namespace koios::storage
