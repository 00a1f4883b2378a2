// Where rows are found: told from runs, or by each partition, they are the same places.
#include "storage/view/placed_rows.h"

#include <gtest/gtest.h>

#include "storage/snapshot/testing/snapshot_model.h"
#include "storage/temp_folder.h"
#include "storage/view/touched_rows.h"

namespace koios::storage {
namespace {

class PlacedRowsTest : public ::testing::Test {
 protected:
  SnapshotSet SetOf(const SnapshotModel& model) {
    SnapshotBuildOptions options;
    options.folder = folder_.path();
    options.num_partitions = model.num_partitions;
    options.number = next_number_++;
    SnapshotSet::Snapshots snapshots;
    for (options.partition = 0; options.partition < model.num_partitions; ++options.partition) {
      const SnapshotFileName name = BuildModel(model, options)->file;
      snapshots.push_back(PartitionSnapshot::Open(folder_.path(), options.partition, name).value());
    }
    return SnapshotSet(1, std::move(snapshots));
  }

  // Of each vertex: its partition and place, as groups tell.
  static std::vector<VertexPlace> Found(const SnapshotSet& set, std::span<const VertexRef> vertices,
                                        PlacedRows* placed) {
    EXPECT_TRUE(placed->Locate(set, vertices).ok());
    std::vector<VertexPlace> found(vertices.size());
    std::pair<uint32_t, uint32_t> last;
    for (const PlacedRows::Group& group : placed->groups()) {
      const std::pair<uint32_t, uint32_t> name(group.partition, group.set);
      EXPECT_TRUE(&group == placed->groups().data() || last < name);
      last = name;
      const std::span<const uint32_t> inputs = placed->Inputs(group);
      EXPECT_FALSE(inputs.empty());
      EXPECT_TRUE(std::is_sorted(inputs.begin(), inputs.end()));
      for (size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_EQ(vertices[inputs[i]].partition(), group.partition);
        EXPECT_EQ(found[inputs[i]], VertexPlace());  // in one group only
        found[inputs[i]] = {group.set, placed->Rows(group)[i]};
      }
    }
    return found;
  }

  TempFolder folder_;
  uint64_t next_number_ = 1;
};

TEST_F(PlacedRowsTest, AsEachPartitionTells) {
  for (const bool label_by_label : {true, false}) {
    for (const double gone : {0.0, 0.1}) {
      ModelShape shape;
      shape.vertices = 200;
      shape.label_by_label = label_by_label;
      shape.gone = gone;
      const SnapshotModel model = MakeModel(5, shape);
      const SnapshotSet set = SetOf(model);
      EXPECT_EQ(set.vertex_runs().whole(), label_by_label && gone == 0);
      std::vector<VertexRef> all = {kNobody, VertexRef::Make(shape.num_partitions, 1)};
      for (uint32_t p = 0; p < shape.num_partitions; ++p) {
        const uint64_t end = set.Of(p).header().end_local;
        for (uint64_t local = 0; local < end + 3; ++local) all.push_back(VertexRef::Make(p, local));
      }
      Rng rng(7);
      PlacedRows placed;  // used again
      for (const size_t rows : {size_t{1}, size_t{3}, size_t{50}, size_t{3000}, size_t{2}}) {
        std::vector<VertexRef> asked;
        for (size_t i = 0; i < rows; ++i) asked.push_back(all[rng.Uniform(all.size())]);
        const std::vector<VertexPlace> found = Found(set, asked, &placed);
        for (size_t i = 0; i < rows; ++i) {
          VertexPlace expected;
          const uint64_t local = asked[i].local();
          if (asked[i].partition() < shape.num_partitions) {
            ASSERT_TRUE(set.Of(asked[i].partition()).Locate({&local, 1}, &expected).ok());
          }
          EXPECT_EQ(found[i], expected) << asked[i].partition() << "/" << local;
        }
      }
    }
  }
}

}  // namespace
}  // namespace koios::storage
