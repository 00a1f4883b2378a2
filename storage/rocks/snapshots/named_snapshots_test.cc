#include "storage/rocks/snapshots/named_snapshots.h"

#include <gtest/gtest.h>

#include "storage/snapshot/testing/snapshot_model.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

// Files may have what views do not read: it is told, not left out.
TEST(NamedSnapshotFilesTest, SeveralLabelsAreOfANewerVersion) {
  TempFolder folder;
  ModelShape shape;
  shape.num_partitions = 1;
  SnapshotModel model = MakeModel(3, shape);
  SnapshotBuildOptions options;
  options.folder = folder.path();
  options.num_partitions = 1;
  for (const bool one_label : {false, true}) {
    if (one_label) {
      for (auto& [ref, vertex] : model.vertices) vertex.labels.resize(1);
    }
    options.number = one_label ? 2 : 1;
    const auto built = BuildModel(model, options);
    ASSERT_TRUE(built.ok()) << built.status();
    const NamedSnapshots named = {{0, {built->file.number, {built->file}}}};
    const auto opened = OpenSnapshotSet(folder.path(), 1, named, nullptr);
    if (one_label) {
      EXPECT_TRUE(opened.ok()) << opened.status();
    } else {
      EXPECT_EQ(opened.status().code(), StatusCode::kFailedPrecondition);
    }
  }
}

}  // namespace
}  // namespace koios::storage
