// Snapshots of graphs that were committed and dropped from at random say what the view says; which
// files are named, whatever happens between.
#include "storage/snapshot_build.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/random.h"
#include "core/testing/random_value.h"
#include "core/testing/rounds.h"
#include "core/value_codec.h"
#include "storage/check.h"
#include "storage/codec/element_id.h"
#include "storage/contract_graph.h"
#include "storage/data_folder.h"
#include "storage/repair.h"
#include "storage/rocks/store_state.h"
#include "storage/snapshot/partition_snapshot.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"
#include "storage/view/snapshot_view.h"

namespace koios::storage {
namespace {

namespace fs = std::filesystem;

using Snapshots = std::vector<std::shared_ptr<const PartitionSnapshot>>;

Snapshots OpenNamed(const GraphStore& store) {
  const auto& state = StoreAccess::Of(store);
  Snapshots out;
  for (const auto& [partition, named] : state.Snapshots()) {
    auto opened = PartitionSnapshot::Open(state.snapshot_folder(), partition, named.files[0]);
    CHECK(opened.ok());
    out.push_back(*std::move(opened));
  }
  return out;
}

// Everything of a graph in words, one line each.
using Lines = std::multiset<std::string>;

std::string Words(const Value& value) {
  std::string out;
  for (const char c : EncodeValue(value)) out += std::to_string(static_cast<uint8_t>(c)) + ",";
  return out;
}
std::string Words(VertexRef ref) { return std::to_string(ref.bits); }

void AddProperties(const std::string& element, const PropertyRows& rows, Lines* out) {
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    out->insert(element + " " + std::to_string(rows.keys[i]) + " " + Words(rows.values.Get(i)));
  }
}

Lines LinesOf(const GraphView& view) {
  Lines out;
  for (uint32_t p = 0; p < view.num_partitions(); ++p) {
    std::vector<VertexRef> vertices;
    for (ScanCursor cursor; !cursor.done;) {
      CHECK(view.ScanVertices(p, {}, &cursor, 100, &vertices).ok());
    }
    for (const VertexRef vertex : vertices) {
      std::vector<LabelId> labels;
      Column id;
      PropertyRows properties;
      CHECK(view.VertexLabels({&vertex, 1}, &labels).ok());
      CHECK(view.VertexIds({&vertex, 1}, &id).ok());
      CHECK(view.VertexProperties({&vertex, 1}, {}, &properties).ok());
      const std::string name = "v " + Words(vertex);
      out.insert(name + " " + std::to_string(labels[0]) + " " + Words(id.Get(0)));
      AddProperties(name, properties, &out);
      for (const Direction direction : {Direction::kOut, Direction::kIn}) {
        ExpandCursor cursor;
        Expansion ends;
        CHECK(view.Expand({&vertex, 1}, direction, {}, true, &cursor, 1'000'000, &ends).ok());
        for (const EdgeRef& edge : ends.edges) {
          Column edge_id;
          PropertyRows edge_properties;
          CHECK(view.EdgeIds({&edge, 1}, &edge_id).ok());
          CHECK(view.EdgeProperties({&edge, 1}, {}, &edge_properties).ok());
          const std::string edge_name = (direction == Direction::kOut ? "out " : "in ") +
                                        std::to_string(edge.id) + " " + Words(edge.out) + " " +
                                        Words(edge.in) + " " + std::to_string(edge.label);
          out.insert(edge_name + " " + Words(edge_id.Get(0)));
          AddProperties(edge_name, edge_properties, &out);
        }
      }
    }
  }
  return out;
}

class SnapshotLines {
 public:
  explicit SnapshotLines(const Snapshots& snapshots) : snapshots_(snapshots) {
    for (const auto& snapshot : snapshots_) all_.push_back(snapshot.get());
  }
  Lines Get() {
    ForEachVertex([this](const PartitionSnapshot& snapshot, uint64_t local) {
      VertexPlace place;
      CHECK(snapshot.Locate({&local, 1}, &place).ok());
      for (const auto& [name, lists] : snapshot.adjacencies()) {
        if (name.set != place.set || name.index != SectionIndex::kOut) continue;
        AddOutPlaces(VertexRef::Make(snapshot.partition(), local), place.row, *lists);
      }
    });
    ForEachVertex(
        [this](const PartitionSnapshot& snapshot, uint64_t local) { AddVertex(snapshot, local); });
    return out_;
  }

 private:
  // Edges from one vertex to another by one label, by their ids.
  using OutPlaces = std::vector<std::pair<const SnapshotAdjacency*, uint64_t>>;

  template <typename F>
  void ForEachVertex(const F& f) {
    for (const PartitionSnapshot* snapshot : all_) {
      std::vector<uint64_t> locals;
      for (uint64_t next = 0; next < snapshot->header().end_local;) {
        CHECK(snapshot->ScanVertices(kNoSet, &next, 7, &locals).ok());
      }
      for (const uint64_t local : locals) f(*snapshot, local);
    }
  }
  static std::optional<Value> Read(const SnapshotColumn& column, uint64_t row) {
    std::vector<std::optional<Value>> values;
    CHECK(column.Values({&row, 1}, &values).ok());
    return values[0];
  }

  void AddVertex(const PartitionSnapshot& snapshot, uint64_t local) {
    const VertexRef ref = VertexRef::Make(snapshot.partition(), local);
    VertexPlace place;
    CHECK(snapshot.Locate({&local, 1}, &place).ok());
    const std::string name = "v " + Words(ref);
    const LabelId label = snapshot.label_sets()[place.set].labels[0];
    const Value id = *Read(*snapshot.FindVertexColumn(place.set, kNoName), place.row);
    out_.insert(name + " " + std::to_string(label) + " " + Words(id));
    const std::string id_bytes = IdBytes(id);
    const std::string_view ids[] = {id_bytes};
    uint64_t found = 0;
    CHECK(snapshot.FindIds(ids, &found).ok());
    CHECK(found == local);
    for (const auto& [column_name, column] : snapshot.columns()) {
      const bool mine = column_name.index == SectionIndex::kVertex &&
                        column_name.set == place.set && column_name.key != kNoName;
      const auto value = mine ? Read(*column, place.row) : std::nullopt;
      if (value) out_.insert(name + " " + std::to_string(column_name.key) + " " + Words(*value));
    }
    for (const auto& [lists_name, lists] : snapshot.adjacencies()) {
      if (lists_name.set == place.set) AddList(ref, place.row, *lists);
    }
  }

  void AddList(VertexRef ref, uint64_t row, const SnapshotAdjacency& lists) {
    ListSlice list;
    CHECK(lists.Lists({&row, 1}, &list).ok());
    for (uint64_t i = 0; i < list.count; ++i) {
      const uint64_t position = list.begin + i;
      const VertexRef neighbour = lists.NeighbourAt(position);
      if (lists.name().index == SectionIndex::kOut) {
        AddEdge("out ", ref, neighbour, lists, *all_[ref.partition()], position);
        continue;
      }
      const OutPlaces& between = out_places_[{neighbour, ref, lists.name().parent}];
      const uint64_t nth = lists.NthOf(list, position);
      CHECK(nth < between.size());
      const auto& [out, out_position] = between[nth];
      AddEdge("in ", neighbour, ref, *out, *all_[neighbour.partition()], out_position);
      if (!lists.has_edge_ids()) continue;
      uint64_t number = 0, out_number = 0;
      CHECK(lists.EdgeIds({&position, 1}, &number).ok());
      CHECK(out->EdgeIds({&out_position, 1}, &out_number).ok());
      CHECK(number == out_number);
    }
  }

  void AddOutPlaces(VertexRef ref, uint64_t row, const SnapshotAdjacency& lists) {
    ListSlice list;
    CHECK(lists.Lists({&row, 1}, &list).ok());
    for (uint64_t position = list.begin; position < list.begin + list.count; ++position) {
      out_places_[{ref, lists.NeighbourAt(position), lists.name().parent}].emplace_back(&lists,
                                                                                        position);
    }
  }

  void AddEdge(const std::string& side, VertexRef out, VertexRef in, const SnapshotAdjacency& lists,
               const PartitionSnapshot& snapshot, uint64_t position) {
    uint64_t number = 0;
    CHECK(lists.EdgeIds({&position, 1}, &number).ok());
    const LabelId label = lists.name().parent;
    const std::string name = side + std::to_string(number) + " " + Words(out) + " " + Words(in) +
                             " " + std::to_string(label);
    std::optional<Value> id;
    for (const auto& [column_name, column] : snapshot.columns()) {
      if (column_name.index != SectionIndex::kOut || column_name.set != lists.name().set ||
          column_name.parent != label) {
        continue;
      }
      const auto value = Read(*column, position);
      if (column_name.key == kNoName) {
        id = value;
      } else if (value) {
        out_.insert(name + " " + std::to_string(column_name.key) + " " + Words(*value));
      }
    }
    out_.insert(name + " " + Words(id ? *id : Value::Long(static_cast<int64_t>(number))));
  }

  const Snapshots snapshots_;
  std::vector<const PartitionSnapshot*> all_;
  std::map<std::tuple<VertexRef, VertexRef, LabelId>, OutPlaces> out_places_;
  Lines out_;
};

void ExpectSnapshotsSayWhatTheViewSays(const GraphStore& store) {
  const Lines expected = LinesOf(*StoreAccess::Of(store).NewestView());
  const Lines found = SnapshotLines(OpenNamed(store)).Get();
  ASSERT_NE(dynamic_cast<const SnapshotView*>(store.View().get()), nullptr);
  EXPECT_TRUE(LinesOf(*store.View()) == expected);
  EXPECT_EQ(found.size(), expected.size());
  for (const std::string& line : expected) ASSERT_TRUE(found.contains(line)) << line;
  EXPECT_TRUE(found == expected);
}

TEST(SnapshotBuildTest, TheContractsGraph) {
  for (const uint32_t partitions : {1, 3, 16}) {
    TempFolder folder;
    auto store = GraphStore::Open(folder / "g", TestOptions(partitions)).value();
    ASSERT_TRUE(store->Commit(ContractBatch()).ok());
    const auto report = BuildSnapshots(store.get(), {});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->version, 1);
    EXPECT_EQ(report->files, partitions);
    EXPECT_EQ(report->vertices, 8);
    EXPECT_EQ(report->edges, 39);
    ExpectSnapshotsSayWhatTheViewSays(*store);
    EXPECT_TRUE(Check(*store)->ok());
  }
}

// Vertices and edges of several labels come, change and go.
void CommitAtRandom(koios::testing::RandomValues* values, GraphStore* store) {
  Rng& rng = values->rng();
  std::vector<VertexRef> vertices;
  std::vector<EdgeRef> edges;
  const auto view = store->View();
  for (uint32_t p = 0; p < view->num_partitions(); ++p) {
    for (ScanCursor cursor; !cursor.done;) {
      ASSERT_TRUE(view->ScanVertices(p, {}, &cursor, 1000, &vertices).ok());
    }
    for (ExpandCursor cursor; !cursor.done;) {
      ASSERT_TRUE(view->ScanEdges(p, {}, &cursor, 1000, &edges).ok());
    }
  }
  const auto property = [&] {
    return std::pair("k" + std::to_string(rng.Uniform(4)),
                     rng.Chance(0.5) ? Value::Int(static_cast<int32_t>(rng.Uniform(9)))
                                     : Value::String(values->Text()));
  };
  WriteBatch batch;
  batch.read_version = view->version();
  for (uint64_t i = rng.Uniform(12); i > 0; --i) {
    AddedVertex vertex;
    if (rng.Chance(0.5)) vertex.id = Value::String("id" + std::to_string(rng.Next()));
    vertex.label = rng.Chance(0.5) ? "a" : "b";
    vertex.properties = {property()};
    batch.vertices.push_back(std::move(vertex));
  }
  for (uint64_t i = vertices.empty() ? 0 : rng.Uniform(20); i > 0; --i) {
    AddedEdge edge;
    edge.label = "e" + std::to_string(rng.Uniform(3));
    edge.out = Existing(vertices[rng.Uniform(vertices.size())]);
    edge.in = Existing(vertices[rng.Uniform(std::min<size_t>(vertices.size(), 8))]);
    if (edge.label == "e1") edge.properties = {property()};
    if (rng.Chance(0.1)) edge.id = Value::Long(static_cast<int64_t>(rng.Uniform(1u << 30)));
    batch.edges.push_back(edge);
    if (rng.Chance(0.3) && !edge.id) batch.edges.push_back(edge);
  }
  if (vertices.size() > 20 && rng.Chance(0.6)) {
    batch.dropped_vertices.push_back(vertices[rng.Uniform(vertices.size())]);
  }
  if (edges.size() > 20) batch.dropped_edges.push_back(edges[rng.Uniform(edges.size())]);
  if (!vertices.empty()) {
    const auto [key, value] = property();
    batch.vertex_properties.push_back({vertices[rng.Uniform(vertices.size())], key, value});
  }
  const auto result = store->Commit(batch);
  ASSERT_TRUE(result.ok() || result.status().code() == StatusCode::kAlreadyExists)
      << result.status();
}

TEST(SnapshotBuildTest, RandomCommitsAndDrops) {
  for (uint64_t seed = 1; seed <= TestRounds(3, 1); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    koios::testing::RandomValues values(seed);
    TempFolder folder;
    auto store = GraphStore::Open(folder / "g", TestOptions(3)).value();
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 20; ++i) CommitAtRandom(&values, store.get());
      SnapshotOptions options;
      if (round == 1) options.memory_bytes = 4096;
      const auto report = BuildSnapshots(store.get(), options);
      ASSERT_TRUE(report.ok()) << report.status();
      ExpectSnapshotsSayWhatTheViewSays(*store);
      if (round == 1) store = nullptr;
      if (round == 1) store = GraphStore::Open(folder / "g", TestOptions(3)).value();
      ExpectSnapshotsSayWhatTheViewSays(*store);
    }
    EXPECT_TRUE(Check(*store)->ok());
  }
}

class NamedSnapshotsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = DataFolder::Open(path_, Options(true)).value();
    store_ = folder_->CreateGraph("g").value();
    ASSERT_TRUE(store_->Commit(ContractBatch()).ok());
  }
  static DataFolderOptions Options(bool create) {
    DataFolderOptions options;
    options.create = create;
    options.store = TestOptions(2);
    return options;
  }
  void Reopen(SnapshotDisk* disk = SnapshotDisk::Real()) {
    store_ = nullptr;
    folder_ = nullptr;
    DataFolderOptions options = Options(false);
    options.store.disk = std::make_shared<const StoreDisk>(StoreDisk{.files = disk});
    folder_ = DataFolder::Open(path_, options).value();
    store_ = folder_->OpenGraph("g").value();
  }
  std::string snapshots() const { return path_ + "/graphs/g/data-1/snapshots"; }
  std::vector<std::string> Files() const { return ListFolder(snapshots()).value(); }

  TempFolder temp_;
  const std::string path_ = temp_ / "data";
  std::unique_ptr<DataFolder> folder_;
  std::shared_ptr<GraphStore> store_;
};

TEST_F(NamedSnapshotsTest, NewOnesTakeThePlaceOfOld) {
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  EXPECT_EQ(Files(), (std::vector<std::string>{"p0000-1.snap", "p0001-1.snap"}));
  const uint64_t version = store_->View()->version();
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  EXPECT_EQ(Files(), (std::vector<std::string>{"p0000-2.snap", "p0001-2.snap"}));
  EXPECT_EQ(store_->View()->version(), version);
  Reopen();
  ExpectSnapshotsSayWhatTheViewSays(*store_);
  EXPECT_EQ(Files().size(), 2);
}

TEST_F(NamedSnapshotsTest, WhatNothingNamesGoesAtOpen) {
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  for (const char* left : {"p0000-7.snap", "p0001-3.snap.tmp", "spill-abcdef"}) {
    std::ofstream(snapshots() + "/" + left) << "x";
  }
  Reopen();
  EXPECT_EQ(Files().size(), 2);
  ExpectSnapshotsSayWhatTheViewSays(*store_);
}

TEST_F(NamedSnapshotsTest, AWatchEndsABuild) {
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  const auto stop = [](const SnapshotProgress&) { return Cancelled("stop"); };
  EXPECT_EQ(BuildSnapshots(store_.get(), {}, stop).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(Files(), (std::vector<std::string>{"p0000-1.snap", "p0001-1.snap"}));
}

TEST_F(NamedSnapshotsTest, OneBuildAtATime) {
  Status second;
  const auto again = [&](const SnapshotProgress&) {
    second = BuildSnapshots(store_.get(), {}).status();
    return OkStatus();
  };
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}, again).ok());
  EXPECT_EQ(second.code(), StatusCode::kFailedPrecondition);
}

// Commits go on while it is built; it is of the version at its beginning.
TEST_F(NamedSnapshotsTest, CommitsGoOn) {
  int64_t next = 1000;
  const auto commit = [&](const SnapshotProgress&) {
    return store_->Commit(AddVertexBatch(store_->View()->version(), Value::Long(next++))).status();
  };
  const auto report = BuildSnapshots(store_.get(), {}, commit);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->version, 1);
  EXPECT_EQ(report->vertices, 8);
  EXPECT_GT(store_->View()->version(), 1);
  EXPECT_TRUE(Check(*store_)->ok());
  Reopen();
  EXPECT_EQ(StoreAccess::Of(*store_).Snapshots().size(), 2);
}

// Stops the disk at each call: what is named is the old or the new, whole.
class StoppingDisk final : public SnapshotDisk {
 public:
  explicit StoppingDisk(int renames) : renames_(renames) {}
  StatusOr<std::unique_ptr<SnapshotOutput>> Create(const std::string& path) override {
    return Real()->Create(path);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    if (renames_-- <= 0) return Unavailable("stopped");
    return Real()->Rename(from, to);
  }
  Status Remove(const std::string&) override { return Unavailable("stopped"); }

 private:
  int renames_;
};

TEST_F(NamedSnapshotsTest, AStopLeavesTheOldOrTheNew) {
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  ASSERT_TRUE(store_->Commit(AddVertexBatch(1, Value::Long(77))).ok());
  for (int renames = 0; renames <= 2; ++renames) {
    StoppingDisk disk(renames);
    Reopen(&disk);
    EXPECT_EQ(BuildSnapshots(store_.get(), {}).ok(), renames == 2);
    Reopen();
    for (const auto& [partition, named] : StoreAccess::Of(*store_).Snapshots()) {
      EXPECT_EQ(named.version, renames == 2 ? 2 : 1);
    }
    EXPECT_EQ(OpenNamed(*store_).size(), 2);
    EXPECT_EQ(Files().size(), 2);
    EXPECT_TRUE(Check(*store_)->ok());
  }
  ExpectSnapshotsSayWhatTheViewSays(*store_);
}

// A damaged one is a problem that a repair mends by letting go of it.
TEST_F(NamedSnapshotsTest, DamageIsFoundAndMended) {
  for (const bool gone : {false, true}) {
    ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
    const std::string file = Files()[0];
    if (gone) {
      fs::remove(snapshots() + "/" + file);
    } else {
      std::fstream(snapshots() + "/" + file, std::ios::in | std::ios::out | std::ios::binary)
              .seekp(4100)
          << "!!!!";
    }
    Reopen();
    const auto report = Check(*store_);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->problems_found, 1);
    EXPECT_EQ(report->problems[0].find(path_), std::string::npos);
    store_ = nullptr;
    folder_ = nullptr;
    const auto repaired = Repair(path_, "g", TestOptions(2));
    ASSERT_TRUE(repaired.ok()) << repaired.status();
    EXPECT_TRUE(repaired->check.ok());
    Reopen();
    EXPECT_EQ(Files().size(), 0);
    EXPECT_EQ(StoreAccess::Of(*store_).Snapshots().size(), 0);
  }
  ASSERT_TRUE(BuildSnapshots(store_.get(), {}).ok());
  ExpectSnapshotsSayWhatTheViewSays(*store_);
}

TEST_F(NamedSnapshotsTest, ReadOnlyBuildsNone) {
  store_ = nullptr;
  folder_ = nullptr;
  DataFolderOptions options = Options(false);
  options.read_only = true;
  folder_ = DataFolder::Open(path_, options).value();
  store_ = folder_->OpenGraph("g").value();
  EXPECT_EQ(BuildSnapshots(store_.get(), {}).status().code(), StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace koios::storage
