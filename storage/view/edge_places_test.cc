// Hints of edges: given by expansions, right as long as the snapshot is the same, and never
// trusted.
#include "storage/view/edge_places.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "storage/contract_graph.h"
#include "storage/snapshot_build.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"
#include "storage/view/snapshot_view.h"

namespace koios::storage {
namespace {

class EdgePlacesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = GraphStore::Open(folder_.path() + "/graph", TestOptions(4)).value();
    batch_ = ContractBatch();
    added_ = store_->Commit(batch_).value();
    ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  }

  const SnapshotView& Newest() {
    views_.push_back(store_->View());
    return dynamic_cast<const SnapshotView&>(*views_.back());
  }
  std::vector<EdgeRef> EdgesOf(const GraphView& view, Direction direction) const {
    Expansion found;
    ExpandCursor cursor;
    EXPECT_TRUE(view.Expand(added_.vertices, direction, {}, true, &cursor, 1'000, &found).ok());
    return found.edges;
  }
  static std::vector<std::pair<uint32_t, uint64_t>> Found(const EdgePlaces& places) {
    std::vector<std::pair<uint32_t, uint64_t>> found;
    for (const EdgePlaces::Group& group : places.groups()) {
      for (size_t i = 0; i < group.size(); ++i) {
        found.emplace_back(places.Inputs(group)[i], places.Positions(group)[i]);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
  WriteBatch batch_;
  CommitResult added_;
  std::vector<std::shared_ptr<const GraphView>> views_;
};

TEST_F(EdgePlacesTest, WhatAnExpansionGaveIsNotSearchedFor) {
  const SnapshotView& view = Newest();
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    std::vector<EdgeRef> edges = EdgesOf(view, direction);
    ASSERT_EQ(edges.size(), batch_.edges.size() * (direction == Direction::kBoth ? 2 : 1));
    EdgePlaces hinted, searched;
    ASSERT_TRUE(hinted.FindById(view.snapshots(), edges).ok());
    if (direction == Direction::kOut) {
      EXPECT_EQ(hinted.num_searched(), 0);
    }
    for (EdgeRef& edge : edges) edge.place_hint = 0;
    ASSERT_TRUE(searched.FindById(view.snapshots(), edges).ok());
    EXPECT_EQ(searched.num_searched(), edges.size());
    EXPECT_EQ(Found(hinted).size(), edges.size());
    EXPECT_EQ(Found(hinted), Found(searched));
  }
}

// Of another edge of the same list, of another list, beyond the last one.
TEST_F(EdgePlacesTest, WrongHintsAreSearchedFor) {
  const SnapshotView& view = Newest();
  std::vector<EdgeRef> edges = EdgesOf(view, Direction::kOut);
  EdgePlaces right;
  ASSERT_TRUE(right.FindById(view.snapshots(), edges).ok());
  for (const uint32_t hint : {1u, 2u, 7u, 1'000'000u, ~0u}) {
    std::vector<EdgeRef> wrong = edges;
    for (EdgeRef& edge : wrong) {
      edge.place_hint = edge.place_hint == hint ? hint + 1 : hint;
    }
    EdgePlaces places;
    ASSERT_TRUE(places.FindById(view.snapshots(), wrong).ok());
    EXPECT_EQ(places.num_searched(), edges.size());
    EXPECT_EQ(Found(places), Found(right));
  }
  // An edge that is nowhere is not where its hint says.
  EdgeRef gone = edges[0];
  gone.id += 1'000'000;
  EdgePlaces places;
  ASSERT_TRUE(places.FindById(view.snapshots(), {&gone, 1}).ok());
  EXPECT_TRUE(places.groups().empty());
}

// Numbered as they stand, but for some that came later: in-edges bring their ids, which tell where
// they are.
TEST_F(EdgePlacesTest, WhereEdgesStandAsTheyAreNumberedIdsTellIt) {
  constexpr uint32_t kVertices = 60;
  store_ = GraphStore::Open(folder_.path() + "/dense", TestOptions(1)).value();
  batch_ = {};
  for (uint32_t i = 0; i < kVertices; ++i) batch_.vertices.push_back({std::nullopt, "v", {}});
  for (uint32_t i = 0; i < kVertices; ++i) {
    for (uint32_t k = 0; k < kVertices; ++k) {
      const auto weight = int64_t{i} * kVertices + k;
      batch_.edges.push_back(
          {std::nullopt, "to", Added(i), Added(k), {{"weight", Value::Long(weight)}}});
    }
  }
  added_ = store_->Commit(batch_).value();
  for (const bool changed : {false, true}) {
    if (changed) {
      WriteBatch change;
      change.read_version = store_->View()->version();
      for (size_t i = 5; i < added_.edges.size(); i += 500) {
        change.dropped_edges.push_back(added_.edges[i]);
        change.edges.push_back({std::nullopt,
                                "to",
                                Existing(added_.vertices[i % 7]),
                                Existing(added_.vertices[3]),
                                {{"weight", Value::Long(-1)}}});
      }
      ASSERT_TRUE(store_->Commit(change).ok());
    }
    ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
    const SnapshotView& view = Newest();
    ExpandCursor cursor;
    Expansion found;
    ASSERT_TRUE(
        view.Expand(added_.vertices, Direction::kIn, {}, true, &cursor, 10'000, &found).ok());
    ASSERT_EQ(found.edges.size(), kVertices * kVertices);
    EdgePlaces places;
    ASSERT_TRUE(places.FindById(view.snapshots(), found.edges).ok());
    EXPECT_EQ(places.num_searched(), 0);
    EXPECT_EQ(Found(places).size(), found.edges.size());
    const KeyId weight = view.schema().keys.Find("weight");
    PropertyRows of_view, of_truth;
    ASSERT_TRUE(view.EdgeProperties(found.edges, {&weight, 1}, &of_view).ok());
    ASSERT_TRUE(view.truth().EdgeProperties(found.edges, {&weight, 1}, &of_truth).ok());
    ASSERT_EQ(of_view.rows, of_truth.rows);
    for (size_t i = 0; i < of_view.rows.size(); ++i) {
      EXPECT_EQ(of_view.values.Get(i).AsInteger(), of_truth.values.Get(i).AsInteger());
    }
  }
}

// Edges of an old view read in one of newer snapshots, in which their neighbours have moved.
TEST_F(EdgePlacesTest, AFoldMovesWhatHintsSay) {
  const std::vector<EdgeRef> edges = EdgesOf(Newest(), Direction::kIn);
  std::vector<KeyId> weight = {Newest().schema().keys.Find("weight")};
  PropertyRows before;
  ASSERT_TRUE(Newest().EdgeProperties(edges, weight, &before).ok());
  WriteBatch change;
  change.read_version = store_->View()->version();
  for (size_t i = 1; i < added_.edges.size(); i += 3) {
    change.dropped_edges.push_back(added_.edges[i]);
  }
  const std::vector<EdgeRef>& dropped = change.dropped_edges;
  ASSERT_TRUE(store_->Commit(change).ok());
  for (const bool folded : {false, true}) {
    if (folded) {
      ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
    }
    PropertyRows after;
    ASSERT_TRUE(Newest().EdgeProperties(edges, weight, &after).ok());
    size_t next = 0;
    for (size_t i = 0; i < before.rows.size(); ++i) {
      if (std::count(dropped.begin(), dropped.end(), edges[before.rows[i]]) > 0) continue;
      ASSERT_LT(next, after.rows.size());
      EXPECT_EQ(after.rows[next], before.rows[i]);
      EXPECT_EQ(after.values.Get(next).AsDouble(), before.values.Get(i).AsDouble());
      ++next;
    }
    EXPECT_EQ(next, after.rows.size());
    EXPECT_LT(next, before.rows.size());
  }
}

}  // namespace
}  // namespace koios::storage
