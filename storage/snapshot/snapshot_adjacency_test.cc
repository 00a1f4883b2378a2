// Where in-edges are in the adjacency of their out vertices: searched, and stored.
#include "storage/snapshot/snapshot_adjacency.h"

#include <gtest/gtest.h>

#include <numeric>

#include "storage/snapshot/adjacency_writer.h"
#include "storage/snapshot/testing/model_comparison.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

class OutPositionsTest : public ::testing::Test {
 protected:
  // Each in-adjacency once more, with the positions that a search finds, in files that take over
  // the rest. `peer`: which files' positions they say they are.
  Snapshots WithPositions(const Snapshots& before, uint64_t number, uint64_t peer) {
    std::vector<const PartitionSnapshot*> all;
    for (const auto& snapshot : before) all.push_back(snapshot.get());
    Snapshots out;
    for (uint32_t p = 0; p < model_.num_partitions; ++p) {
      SnapshotHeader header = before[p]->header();
      header.number = number;
      header.num_older = 1;
      header.older[0] = names_[p];
      auto writer = SnapshotWriter::Create(SnapshotDisk::Real(), folder_.path(), header, 0).value();
      for (const auto& [name, section] : before[p]->sections()) {
        if (name.index != SectionIndex::kIn) writer->Keep(section->entry(), 1);
      }
      for (const auto& [name, lists] : before[p]->adjacencies()) {
        if (name.index == SectionIndex::kIn) Rewrite(*lists, p, all, writer.get());
      }
      const std::vector<uint64_t> peers(model_.num_partitions, peer);
      EXPECT_TRUE(writer
                      ->Write({SectionKind::kPeers, SectionIndex::kPartition, 0, 0, 0}, 8,
                              {reinterpret_cast<const char*>(peers.data()), peers.size() * 8},
                              peers.size())
                      .ok());
      const auto name = writer->Finish(header);
      EXPECT_TRUE(name.ok()) << name.status();
      auto opened = PartitionSnapshot::Open(folder_.path(), p, *name);
      EXPECT_TRUE(opened.ok()) << opened.status();
      out.push_back(*std::move(opened));
    }
    return out;
  }

  void Rewrite(const SnapshotAdjacency& lists, uint32_t partition,
               const std::vector<const PartitionSnapshot*>& all, SnapshotWriter* writer) {
    SpillSpace space(folder_.path(), 1 << 20);
    const StageContext context{&space, NarrowRefs(model_.num_partitions)};
    AdjacencyWriter again(lists.name(), context);
    for (const auto& [ref, vertex] : model_.vertices) {
      if (ref.partition() != partition) continue;
      const uint64_t local = ref.local();
      VertexPlace place;
      ASSERT_TRUE(all[partition]->Locate({&local, 1}, &place).ok());
      if (place.set != lists.name().set) continue;
      ListSlice list;
      ASSERT_TRUE(lists.Lists({&place.row, 1}, &list).ok());
      for (uint64_t i = 0; i < list.count; ++i) {
        const InEdge edge{list, list.begin + i};
        OutPlace found;
        ASSERT_TRUE(FindOutPlaces(lists, {&ref, 1}, {&edge, 1}, all, &found).ok());
        again.Add(place.row, lists.NeighbourAt(edge.position), 0, found.position);
      }
    }
    ASSERT_TRUE(again.Write(lists.facts().rows, writer).ok());
  }

  TempFolder folder_;
  SnapshotModel model_;
  std::vector<SnapshotFileName> names_;
};

TEST_F(OutPositionsTest, StoredAndSearchedAreTheSame) {
  ModelShape shape;
  shape.label_by_label = true;
  shape.gone = 0;
  model_ = MakeModel(6, shape);
  SnapshotBuildOptions options;
  options.folder = folder_.path();
  options.num_partitions = model_.num_partitions;
  Snapshots built;
  for (options.partition = 0; options.partition < model_.num_partitions; ++options.partition) {
    names_.push_back(BuildModel(model_, options)->file);
    built.push_back(
        PartitionSnapshot::Open(folder_.path(), options.partition, names_.back()).value());
  }
  // Positions of these files are used, those of others are not.
  for (const uint64_t number : {2, 3}) {
    const Snapshots snapshots = WithPositions(built, number, 2);
    const SnapshotAdjacency* const in = snapshots[0]->FindAdjacency(0, Direction::kIn, 12);
    ASSERT_NE(in, nullptr);
    EXPECT_EQ(in->HasOutPositions(1, snapshots[1]->header().number), number == 2);
    ModelComparison comparison(model_, snapshots);
    ASSERT_TRUE(comparison.Run().ok());
    EXPECT_EQ(comparison.difference(), "");
  }
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
