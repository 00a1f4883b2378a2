// Where edges are in their lists, by id and by neighbour.
#include "storage/snapshot/snapshot_adjacency.h"

#include <gtest/gtest.h>

#include <numeric>

#include "storage/snapshot/testing/model_comparison.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

// Edges of one label from one vertex to others, with these numbers in the order of the list.
struct OutEdges {
  TempFolder folder;
  std::shared_ptr<const PartitionSnapshot> snapshot;
  const SnapshotAdjacency* out = nullptr;
  const SnapshotAdjacency* in = nullptr;

  explicit OutEdges(const std::vector<uint64_t>& numbers) {
    SnapshotModel model;
    const auto ref = [](uint64_t local) { return VertexRef::Make(0, local); };
    for (uint64_t local = 1; local <= numbers.size() + 1; ++local) {
      model.vertices[ref(local)] = {{1}, Value::Long(static_cast<int64_t>(local)), {}};
    }
    for (size_t i = 0; i < numbers.size(); ++i) {
      model.AddEdge(numbers[i], {ref(1), ref(i + 2), 12, Value::Null(), {}});
    }
    SnapshotBuildOptions options;
    options.folder = folder.path();
    options.labels_with_properties = {12};
    snapshot = PartitionSnapshot::Open(folder.path(), 0, BuildModel(model, options)->file).value();
    out = snapshot->FindAdjacency(0, Direction::kOut, 12);
    in = snapshot->FindAdjacency(0, Direction::kIn, 12);
  }
};

// Two loads, the neighbours of the second before and between those of the first: ids tell where
// edges are, though they do not ascend.
TEST(EdgeIdsTest, TellWhereEdgesAreInRunsOfAnyOrder) {
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < 100; ++i) numbers.push_back(5'000 + i);
  for (uint64_t i = 0; i < 300; ++i) numbers.push_back(1'000 + i);
  for (uint64_t i = 0; i < 200; ++i) numbers.push_back(9'000 + i);
  for (uint64_t i = 300; i < 400; ++i) numbers.push_back(1'000 + i);
  const OutEdges edges(numbers);
  std::vector<uint64_t> found(numbers.size()), in_ids(numbers.size());
  ASSERT_EQ(edges.out->FindByIds(numbers, found.data()).value(), true);
  for (uint64_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(found[i], i);
  ASSERT_TRUE(edges.in->EdgeIdsFrom(0, numbers.size(), in_ids.data()).ok());
  EXPECT_EQ(in_ids, numbers);
  // Before, between and behind them.
  const std::vector<uint64_t> nobodys = {0, 999, 1'400, 4'999, 5'100, 8'999, 9'200, ~uint64_t{0}};
  ASSERT_EQ(edges.out->FindByIds(nobodys, found.data()).value(), true);
  for (size_t i = 0; i < nobodys.size(); ++i) EXPECT_EQ(found[i], kNoPosition) << nobodys[i];
}

TEST(EdgeIdsTest, DoNotTellWhereTheyAreNoRuns) {
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < 200; ++i) numbers.push_back(1'000 - 3 * i);
  const OutEdges edges(numbers);
  std::vector<uint64_t> found(numbers.size());
  EXPECT_EQ(edges.out->FindByIds(numbers, found.data()).value(), false);
  ASSERT_TRUE(edges.in->EdgeIdsFrom(0, numbers.size(), found.data()).ok());
  EXPECT_EQ(found, numbers);
}

// Lists of all lengths, more than are searched at once; neighbours that are there, that are not,
// and one that no narrow reference names. Narrow and wide.
TEST(SearchTest, SideBySideAsOneByOne) {
  const TempFolder folder;
  SnapshotBuildOptions options;
  options.folder = folder.path();
  options.num_partitions = 3;
  for (const uint64_t most_local : {~uint64_t{0}, uint64_t{20}}) {
    ++options.number;
    options.most_narrow_local = most_local;
    ModelShape shape;
    shape.vertices = 40;
    shape.edges = 900;
    const SnapshotModel model = MakeModel(8, shape);
    options.partition = 0;
    const SnapshotFileName name = BuildModel(model, options)->file;
    const auto snapshot = PartitionSnapshot::Open(folder.path(), 0, name).value();
    std::vector<VertexRef> wanted = {{0}, VertexRef::Make(2, kLocalMask), {~uint64_t{0}}};
    for (const auto& [ref, vertex] : model.vertices) wanted.push_back(ref);
    size_t wide = 0;
    for (const auto& [section, table] : snapshot->adjacencies()) {
      wide += table->is_wide() ? 1 : 0;
      std::vector<uint64_t> rows(table->facts().rows);
      std::iota(rows.begin(), rows.end(), 0);
      std::vector<ListSlice> of_rows(rows.size()), lists;
      ASSERT_TRUE(table->Lists(rows, of_rows.data()).ok());
      std::vector<VertexRef> vertices;
      for (const ListSlice& list : of_rows) {
        for (const VertexRef vertex : wanted) {
          lists.push_back(list);
          vertices.push_back(vertex);
        }
      }
      std::vector<uint64_t> found(lists.size());
      table->FirstsNotBefore(lists, vertices, found.data());
      for (size_t i = 0; i < lists.size(); ++i) {
        ASSERT_EQ(found[i], table->FirstNotBefore(lists[i], vertices[i])) << i;
      }
    }
    EXPECT_EQ(wide > 0, most_local == 20);
  }
}

}  // namespace
}  // namespace koios::storage
