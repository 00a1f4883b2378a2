// A crash at any write of a load: of a new graph nothing is left, or all of it, once it is
// published; one that is appended to has the load whole or not at all.
#include <gtest/gtest.h>

#include <filesystem>

#include "storage/bulk_writer.h"
#include "storage/data_folder.h"
#include "storage/rocks/testing/batch_loader.h"
#include "storage/rocks/testing/crash_loop.h"

namespace koios::storage::testing {
namespace {

WriteBatch WhatIsLoaded() {
  WriteBatch batch;
  for (int i = 0; i < 9; ++i) {
    batch.vertices.push_back(
        {Value::String("load" + std::to_string(i)), "loaded", {{"n", Value::Int(i)}}});
  }
  for (uint32_t i = 0; i < 20; ++i) {
    std::optional<Value> id;
    if (i % 2 == 0) id = Value::String("loaded" + std::to_string(i));
    batch.edges.push_back({id, "road", Added(i % 9), Added(i * 5 % 9), {{"w", Value::Int(3)}}});
  }
  return batch;
}

DataFolderOptions FolderOptions(const StoreOptions& store) {
  DataFolderOptions options;
  options.create = true;
  options.store = store;
  return options;
}

// A graph 'g' in the data folder.
Status LoadNew(DataFolder* folder) {
  ASSIGN_OR_RETURN(const std::string staged, folder->StageGraph("g"));
  {
    ASSIGN_OR_RETURN(const auto writer, BulkWriter::Create(staged, folder->options().store));
    BatchLoader loader(writer.get());
    loader.AddVertices(WhatIsLoaded());
    loader.AddEdges(WhatIsLoaded());
    RETURN_IF_ERROR(loader.Write());
    RETURN_IF_ERROR(loader.WriteSnapshots());
    RETURN_IF_ERROR(writer->Finish().status());
  }
  return folder->PublishGraph("g", staged, /*replace=*/false);
}

TEST(CrashLoadTest, InANewGraph) {
  TempFolder folder;
  const std::string path = folder / "data";
  const StoreOptions plain = TestOptions(CrashLoop::kPartitions);
  ASSERT_TRUE(DataFolder::Open(path, FolderOptions(plain)).ok());
  CrashLoop loop(path, RandomChanges(7));
  const auto work = [](CrashRun* run) -> Status {
    ASSIGN_OR_RETURN(const auto data, DataFolder::Open(run->path, FolderOptions(run->options)));
    RETURN_IF_ERROR(LoadNew(data.get()));
    run->done = !run->disk->crashed();
    run->acknowledged = 1;
    ASSIGN_OR_RETURN(run->store, data->OpenGraph("g"));
    run->Note(run->store->View()->version());
    RETURN_IF_ERROR(run->Commit());
    return BuildSnapshots(run->store.get(), {}).status();
  };
  loop.Run(work, [&](const CrashRun& run, const std::string& image) {
    auto data = DataFolder::Open(image, FolderOptions(plain));
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ((*data)->HasGraph("g"), run.done);
    if (!run.done) {
      EXPECT_EQ(ListFolder(image + "/graphs")->size(), 0);
      const Status loaded = LoadNew(data->get());
      ASSERT_TRUE(loaded.ok()) << loaded;
    }
    *data = nullptr;
    ExpectWhole(run, image + "/graphs/g/data-1", loop.texts(), /*reads_snapshots=*/true);
  });
}

TEST(CrashLoadTest, InAGraphWithSnapshots) {
  TempFolder folder;
  const std::string path = folder / "g";
  RandomChanges changes(7);
  {
    const auto store = GraphStore::Open(path, TestOptions(CrashLoop::kPartitions)).value();
    for (int i = 0; i < 9; ++i) ASSERT_TRUE(changes.Commit(store.get()).ok());
    ASSERT_TRUE(BuildSnapshots(store.get(), {}).ok());
    ASSERT_TRUE(changes.Commit(store.get()).ok());
  }
  CrashLoop loop(path, changes);
  const auto work = [](CrashRun* run) -> Status {
    RETURN_IF_ERROR(run->Open());
    RETURN_IF_ERROR(run->Commit());
    {
      ASSIGN_OR_RETURN(const auto writer, BulkWriter::Append(run->store.get()));
      BatchLoader loader(writer.get());
      ASSIGN_OR_RETURN(const BulkSummary loaded, loader.Load(WhatIsLoaded()));
      run->Note(loaded.version);
    }
    RETURN_IF_ERROR(run->Commit());
    RETURN_IF_ERROR(BuildSnapshots(run->store.get(), {}).status());
    return run->Commit();
  };
  loop.Run(work, [&](const CrashRun& run, const std::string& image) {
    ExpectWhole(run, image, loop.texts(), /*reads_snapshots=*/false);
  });
}

}  // namespace
}  // namespace koios::storage::testing
