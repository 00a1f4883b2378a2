// What a commit does and refuses, rule by rule, each with its breaking case.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/testing/make_value.h"
#include "core/value_compare.h"
#include "core/value_proto.h"
#include "storage/check.h"
#include "storage/conflict/conflict_window.h"
#include "storage/rocks/graph_store.h"
#include "storage/rocks/store_state.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

class CommitTest : public testing::Test {
 protected:
  void SetUp() override {
    Open(TestOptions());
    WriteBatch batch;
    for (int i = 1; i <= 3; ++i) {
      batch.vertices.push_back(
          {Value::Long(i), "person", {{"name", Value::String("p" + std::to_string(i))}}});
    }
    batch.edges.push_back({Value::String("e12"), "knows", Added(0), Added(1), {}});
    const CommitResult result = Commit(batch).value();
    v1_ = result.vertices[0];
    v2_ = result.vertices[1];
    v3_ = result.vertices[2];
    e12_ = result.edges[0];
    base_ = result.version;
  }
  void TearDown() override { ExpectWhole(); }

  void Open(const StoreOptions& options) {
    store_ = nullptr;
    store_ = GraphStore::Open(folder_ / "graph", options).value();
  }
  StatusOr<CommitResult> Commit(const WriteBatch& batch) { return store_->Commit(batch); }
  StatusCode CodeOf(const WriteBatch& batch) { return Commit(batch).status().code(); }
  void ExpectWhole() {
    const CheckReport report = Check(*store_).value();
    EXPECT_TRUE(report.ok()) << (report.problems.empty() ? "" : report.problems[0]);
  }
  WriteBatch Batch() const {
    WriteBatch batch;
    batch.read_version = base_;
    return batch;
  }
  WriteBatch DropVertex(VertexRef vertex) const {
    WriteBatch batch = Batch();
    batch.dropped_vertices = {vertex};
    return batch;
  }
  WriteBatch DropEdge(const EdgeRef& edge) const {
    WriteBatch batch = Batch();
    batch.dropped_edges = {edge};
    return batch;
  }
  WriteBatch SetProperty(VertexRef vertex, const std::string& key, std::optional<Value> v) const {
    WriteBatch batch = Batch();
    batch.vertex_properties = {{vertex, key, std::move(v)}};
    return batch;
  }
  WriteBatch SetProperty(const EdgeRef& edge, const std::string& key) const {
    WriteBatch batch = Batch();
    batch.edge_properties = {{edge, key, Value::Int(1)}};
    return batch;
  }
  // An insert that was decided on finding no such value.
  WriteBatch Upsert(const std::string& name) const {
    WriteBatch batch = AddVertexBatch(base_, std::nullopt, {{"name", Value::String(name)}});
    batch.lookup_guards = {{"person", "name", Value::String(name)}};
    return batch;
  }

  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
  VertexRef v1_, v2_, v3_;
  EdgeRef e12_;
  uint64_t base_ = 0;
};

TEST_F(CommitTest, VersionsCountCommits) {
  EXPECT_EQ(base_, 1u);
  EXPECT_EQ(store_->View()->version(), 1u);
  EXPECT_EQ(Commit(AddVertexBatch(base_, std::nullopt))->version, 2u);
  EXPECT_EQ(Commit(WriteBatch())->version, 2u);  // nothing to commit
  EXPECT_EQ(CodeOf(AddVertexBatch(99, std::nullopt)), StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->View()->version(), 2u);
}

TEST_F(CommitTest, AViewDoesNotChange) {
  const auto before = store_->View();
  ASSERT_TRUE(Commit(AddEdgeBatch(base_, v1_, v3_)).ok());
  ASSERT_TRUE(Commit(SetProperty(v1_, "age", Value::Int(5))).ok());
  const auto after = store_->View();
  EXPECT_EQ(Neighbours(*before, v1_, Direction::kOut), std::vector{v2_});
  EXPECT_EQ(Neighbours(*after, v1_, Direction::kOut).size(), 2u);
  EXPECT_EQ(PropertyOf(*before, v1_, "age"), std::nullopt);
  EXPECT_TRUE(Equivalent(*PropertyOf(*after, v1_, "age"), Value::Int(5)));
  EXPECT_EQ(before->schema().keys.Find("age"), kNoName);
  ASSERT_TRUE(Commit(DropVertex(v2_)).ok());
  EXPECT_TRUE(FindVertex(*after, Value::Int(2)).has_value());
  EXPECT_EQ(Neighbours(*after, v1_, Direction::kOut).size(), 2u);
  EXPECT_EQ(Neighbours(*store_->View(), v1_, Direction::kOut), std::vector{v3_});
}

TEST_F(CommitTest, PropertiesAreSetAndRemoved) {
  ASSERT_TRUE(Commit(SetProperty(v1_, "age", Value::Int(5))).ok());
  ASSERT_TRUE(Commit(SetProperty(v1_, "name", std::nullopt)).ok());
  ASSERT_TRUE(Commit(SetProperty(v2_, "name", Value::Null())).ok());
  ASSERT_TRUE(Commit(SetProperty(e12_, "weight")).ok());
  const auto view = store_->View();
  EXPECT_EQ(PropertyOf(*view, v1_, "name"), std::nullopt);
  EXPECT_EQ(PropertyOf(*view, v2_, "name"), std::nullopt);
  EXPECT_TRUE(Equivalent(*PropertyOf(*view, v1_, "age"), Value::Int(5)));
  PropertyRows weights;
  ASSERT_TRUE(view->EdgeProperties({&e12_, 1}, {}, &weights).ok());
  ASSERT_EQ(weights.rows.size(), 1u);
  EXPECT_TRUE(FindEdge(*view, Value::String("e12")).has_value());  // keeps its id
}

TEST_F(CommitTest, DropTakesAllEdgesAndBothOfTheirEnds) {
  ASSERT_TRUE(Commit(AddEdgeBatch(base_, v3_, v1_)).ok());
  ASSERT_TRUE(Commit(AddEdgeBatch(base_, v1_, v1_)).ok());
  WriteBatch drop = DropVertex(v1_);
  drop.read_version = store_->View()->version();
  ASSERT_TRUE(Commit(drop).ok());
  const auto view = store_->View();
  EXPECT_EQ(FindVertex(*view, Value::Long(1)), std::nullopt);
  EXPECT_FALSE(FindEdge(*view, Value::String("e12")).has_value());
  EXPECT_TRUE(Neighbours(*view, v2_, Direction::kBoth).empty());
  EXPECT_TRUE(Neighbours(*view, v3_, Direction::kBoth).empty());
  EXPECT_TRUE(view->schema().edge_counts.empty());
  EXPECT_EQ(view->schema().vertex_counts.begin()->second, 2u);
  drop.read_version = view->version();
  EXPECT_TRUE(Commit(drop).ok());  // once more is no error
  // The ids are free again.
  EXPECT_TRUE(Commit(AddVertexBatch(view->version() + 1, Value::Long(1))).ok());
  EXPECT_NE(FindVertex(*store_->View(), Value::Long(1)), v1_);
}

TEST_F(CommitTest, ABatchMayReplaceWhatItDrops) {
  WriteBatch batch = DropVertex(v1_);
  batch.vertices.push_back({Value::Int(1), "robot", {}});
  batch.edges.push_back({Value::String("e12"), "likes", Added(0), Existing(v2_), {}});
  batch.edges.push_back({std::nullopt, "likes", Existing(v1_), Existing(v2_), {}});
  batch.vertex_properties = {{v1_, "name", Value::Int(1)}};
  const CommitResult result = Commit(batch).value();
  EXPECT_EQ(result.edges.size(), 2u);
  EXPECT_TRUE(result.edge_ids[1].is_null());  // went with the vertex
  const auto view = store_->View();
  EXPECT_EQ(Neighbours(*view, v2_, Direction::kBoth), std::vector{result.vertices[0]});
  EXPECT_TRUE(Neighbours(*view, v1_, Direction::kBoth).empty());
  EXPECT_EQ(FindEdge(*view, Value::String("e12"))->id, result.edges[0].id);
}

TEST_F(CommitTest, IdsAreUnique) {
  EXPECT_EQ(CodeOf(AddVertexBatch(base_, Value::Byte(1))), StatusCode::kAlreadyExists);
  EXPECT_TRUE(Commit(AddVertexBatch(base_, Value::String("1"))).ok());  // another id
  WriteBatch twice = AddVertexBatch(base_, Value::Int(50));
  twice.vertices.push_back({Value::Long(50), "person", {}});
  EXPECT_EQ(CodeOf(twice), StatusCode::kAlreadyExists);
  EXPECT_EQ(CodeOf(AddEdgeBatch(base_, v1_, v2_, Value::String("e12"))),
            StatusCode::kAlreadyExists);
  const CommitResult assigned = Commit(AddEdgeBatch(base_, v1_, v2_)).value();
  EXPECT_EQ(CodeOf(AddEdgeBatch(assigned.version, v2_, v3_, assigned.edge_ids[0])),
            StatusCode::kAlreadyExists);
  EXPECT_EQ(VertexRef{assigned.edges[0].id}.partition(), v1_.partition());
}

TEST_F(CommitTest, AssignedIdsStepOverGivenOnes) {
  // The next three edge numbers of v1's partition are given to edges elsewhere.
  const uint64_t next = Commit(AddEdgeBatch(base_, v1_, v2_))->edges[0].id + 1;
  for (uint64_t id = next; id < next + 3; ++id) {
    const Value given = Value::Long(static_cast<int64_t>(id));
    ASSERT_TRUE(Commit(AddEdgeBatch(store_->View()->version(), v2_, v3_, given)).ok());
  }
  WriteBatch batch = AddEdgeBatch(store_->View()->version(), v1_, v2_);
  batch.edges.push_back(
      {Value::Long(static_cast<int64_t>(next + 3)), "knows", Existing(v1_), Existing(v2_), {}});
  const CommitResult result = Commit(batch).value();
  EXPECT_GT(result.edges[0].id, next + 3);
  // Vertices: 1, 2, 3 are given, and 4 in the same batch.
  WriteBatch vertices = AddVertexBatch(base_, std::nullopt);
  vertices.vertices.push_back({Value::Long(4), "person", {}});
  vertices.vertices.push_back({std::nullopt, "person", {}});
  const CommitResult added = Commit(vertices).value();
  EXPECT_TRUE(Equivalent(added.vertex_ids[0], Value::Long(5)));
  EXPECT_TRUE(Equivalent(added.vertex_ids[2], Value::Long(6)));
}

// The record as it would come twice, from a sender who has not heard.
TEST_F(CommitTest, ARecordThatComesAgainIsNotAppliedAgain) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  const VertexRef v = transaction->AddVertex("person", std::nullopt, {}).value();
  const EdgeRef edge = transaction->AddEdge(v1_, v, "likes", std::nullopt, {}).value();
  const CommitRecord record = transaction->TakeCommit(nullptr).value();
  const CommitResult first = store_->Commit(record).value();
  ASSERT_TRUE(Commit(AddVertexBatch(base_, std::nullopt)).ok());
  const CommitResult second = store_->Commit(record).value();
  EXPECT_EQ(second.version, first.version);
  EXPECT_EQ(second.vertices, std::vector<VertexRef>{v});
  EXPECT_EQ(second.edges, std::vector<EdgeRef>{edge});
  EXPECT_EQ(second.edges[0].label, first.edges[0].label);
  EXPECT_TRUE(Equivalent(second.vertex_ids[0], first.vertex_ids[0]));
  EXPECT_TRUE(Equivalent(second.edge_ids[0], first.edge_ids[0]));
  EXPECT_EQ(store_->View()->version(), first.version + 1);
  EXPECT_EQ(Neighbours(*store_->View(), v1_, Direction::kOut).size(), 2u);
  // Another attempt of it is not the same.
  CommitRecord other = record;
  ++other.attempt;
  EXPECT_EQ(store_->Commit(other).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(CommitTest, ARecordThatComesAgainNeedsNoRoomOnTheDisk) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  ASSERT_TRUE(transaction->AddVertex("person", std::nullopt, {}).ok());
  const CommitRecord record = transaction->TakeCommit(nullptr).value();
  const CommitResult first = store_->Commit(record).value();
  StoreAccess::Of(store_.get()).options.disk_reserve_bytes = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(CodeOf(AddVertexBatch(base_, std::nullopt)), StatusCode::kResourceExhausted);
  EXPECT_EQ(store_->Commit(record)->version, first.version);
}

TEST_F(CommitTest, GuardsCountAgainstWhatACommitMayHold) {
  StoreOptions options = TestOptions();
  options.max_commit_bytes = 1000;
  Open(options);
  std::unique_ptr<Transaction> transaction = store_->Begin();
  ASSERT_TRUE(transaction->AddVertex("person", std::nullopt, {}).ok());
  CommitRecord record = transaction->TakeCommit(nullptr).value();
  for (uint64_t key = 0; key < 125; ++key) record.keys.guards.push_back(key);
  EXPECT_EQ(store_->Commit(record).status().code(), StatusCode::kResourceExhausted);
  record.keys.guards.resize(50);
  EXPECT_TRUE(store_->Commit(record).ok());
}

// Keys are of blocks of numbers: as many as there are edges would fill the window of conflicts.
TEST_F(CommitTest, EdgesAmongNewVerticesTakeFewKeys) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  const VertexRef v = transaction->AddVertex("person", std::nullopt, {}).value();
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(transaction->AddEdge(v, v, "likes", std::nullopt, {}).ok());
  }
  const CommitRecord record = transaction->TakeCommit(nullptr).value();
  EXPECT_LT(record.keys.size(), 20u);
  EXPECT_TRUE(store_->Commit(record).ok());
}

TEST_F(CommitTest, GivenEdgeIdsOfOneBlockDoNotConflict) {
  const int64_t number = int64_t{1} << 41;
  const uint64_t read = store_->View()->version();
  EXPECT_TRUE(Commit(AddEdgeBatch(read, v1_, v2_, Value::Long(number))).ok());
  EXPECT_TRUE(Commit(AddEdgeBatch(read, v1_, v2_, Value::Long(number + 1))).ok());
}

// An id that is given may be the number of another request's edge: whoever commits last has lost,
// although neither found the other one when it looked.
TEST_F(CommitTest, AGivenEdgeIdConflictsWithANumberThatIsAssignedMeanwhile) {
  for (const bool number_first : {true, false}) {
    std::unique_ptr<Transaction> assigns = store_->Begin(), gives = store_->Begin();
    const EdgeRef edge = assigns->AddEdge(v1_, v2_, "knows", std::nullopt, {}).value();
    const Value id = Value::Long(static_cast<int64_t>(edge.id));
    ASSERT_TRUE(gives->AddEdge(v2_, v3_, "knows", id, {}).ok());
    const CommitRecord a = assigns->TakeCommit(nullptr).value();
    const CommitRecord b = gives->TakeCommit(nullptr).value();
    EXPECT_TRUE(store_->Commit(number_first ? a : b).ok());
    EXPECT_EQ(store_->Commit(number_first ? b : a).status().code(), StatusCode::kAborted);
    // What it can see, a request says before it commits.
    std::unique_ptr<Transaction> late = store_->Begin();
    EXPECT_EQ(late->AddEdge(v1_, v3_, "knows", id, {}).status().code(), StatusCode::kAlreadyExists);
    EXPECT_EQ(CodeOf(AddEdgeBatch(store_->View()->version(), v1_, v3_, id)),
              StatusCode::kAlreadyExists);
  }
}

TEST_F(CommitTest, ANumberIsFreeForWhoDropsItsEdge) {
  const CommitResult added = Commit(AddEdgeBatch(base_, v1_, v2_)).value();
  WriteBatch batch = AddEdgeBatch(added.version, v2_, v3_, added.edge_ids[0]);
  batch.dropped_edges = {added.edges[0]};
  EXPECT_TRUE(Commit(batch).ok());
  const std::optional<EdgeRef> found = FindEdge(*store_->View(), added.edge_ids[0]);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->out, v2_);
}

TEST_F(CommitTest, ARecordThatCannotBeOfTheGraphIsRefused) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  const VertexRef v = transaction->AddVertex("person", std::nullopt, {}).value();
  ASSERT_TRUE(transaction->AddEdge(v, v1_, "likes", std::nullopt, {}).ok());
  const CommitRecord record = transaction->TakeCommit(nullptr).value();
  const auto code_of = [this](const CommitRecord& other) {
    return store_->Commit(other).status().code();
  };
  CommitRecord wrong = record;
  wrong.vertices[0].ref = VertexRef::Make((v.partition() + 1) % 4, 77);
  EXPECT_EQ(code_of(wrong), StatusCode::kInvalidArgument);
  wrong = record;
  wrong.vertices[0].id.reset();
  EXPECT_EQ(code_of(wrong), StatusCode::kInvalidArgument);
  wrong = record;
  wrong.edges[0].in.existing = VertexRef::Make(4, 1);
  EXPECT_EQ(code_of(wrong), StatusCode::kInvalidArgument);
  wrong = record;
  wrong.edges[0].out.added = 1;
  EXPECT_EQ(code_of(wrong), StatusCode::kInvalidArgument);
  wrong = record;
  wrong.edges[0].number = 0;
  EXPECT_EQ(code_of(wrong), StatusCode::kInvalidArgument);
  wrong = record;
  wrong.dropped_edges = {2, 1};
  EXPECT_EQ(code_of(wrong), StatusCode::kInvalidArgument);
  wrong = record;
  wrong.request = {};
  EXPECT_NE(code_of(wrong), StatusCode::kOk);
  wrong = record;
  wrong.edges[0].id = Value::String(std::string(kMaxIdBytes + 1, 'x'));
  EXPECT_EQ(code_of(wrong), StatusCode::kInvalidArgument);
  wrong.edges[0].id = Value::Int(7);  // not as ids are stored
  EXPECT_EQ(code_of(wrong), StatusCode::kInvalidArgument);
  wrong = record;
  wrong.vertices.push_back(record.vertices[0]);
  EXPECT_EQ(code_of(wrong), StatusCode::kInvalidArgument);
  wrong = record;
  wrong.edges.push_back(record.edges[0]);
  EXPECT_EQ(code_of(wrong), StatusCode::kInvalidArgument);
  wrong.edges[1].number += 1;
  wrong.edges[0].id = wrong.edges[1].id = Value::String("e");
  EXPECT_EQ(code_of(wrong), StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->View()->version(), base_);
  EXPECT_TRUE(store_->Commit(record).ok());
}

// A dropped vertex that was not there is no end either.
TEST_F(CommitTest, AnEdgeToAVertexThatWasNeverThereIsNotStored) {
  WriteBatch batch = DropVertex(VertexRef::Make(0, 999));
  batch.edges.push_back(
      {std::nullopt, "knows", Existing(v1_), Existing(VertexRef::Make(0, 999)), {}});
  EXPECT_TRUE(Commit(batch)->edge_ids[0].is_null());
}

TEST_F(CommitTest, AnEdgeNeedsBothVertices) {
  EXPECT_EQ(CodeOf(AddEdgeBatch(base_, v1_, VertexRef::Make(0, 999))), StatusCode::kNotFound);
  EXPECT_EQ(CodeOf(AddEdgeBatch(base_, VertexRef::Make(3, 999), v1_)), StatusCode::kNotFound);
  WriteBatch wrong = Batch();
  wrong.edges.push_back({std::nullopt, "knows", Added(0), Existing(v1_), {}});
  EXPECT_EQ(CodeOf(wrong), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(SetProperty(VertexRef::Make(0, 999), "k", Value::Int(1))),
            StatusCode::kNotFound);
  EXPECT_EQ(CodeOf(SetProperty(EdgeRef{999, {}, {}, 1}, "k")), StatusCode::kNotFound);
  EXPECT_EQ(store_->View()->version(), base_);
}

// T1 adds an edge to b, T2 drops b: whoever is second loses.
TEST_F(CommitTest, NoDanglingEdges) {
  ASSERT_TRUE(Commit(AddEdgeBatch(base_, v1_, v3_)).ok());
  EXPECT_EQ(CodeOf(DropVertex(v3_)), StatusCode::kAborted);
  ASSERT_TRUE(Commit(DropVertex(v2_)).ok());
  EXPECT_EQ(CodeOf(AddEdgeBatch(base_, v1_, v2_)), StatusCode::kAborted);
}

TEST_F(CommitTest, EdgesOfOneVertexDoNotConflict) {
  EXPECT_TRUE(Commit(AddEdgeBatch(base_, v1_, v3_)).ok());
  EXPECT_TRUE(Commit(AddEdgeBatch(base_, v1_, v3_)).ok());
  EXPECT_TRUE(Commit(SetProperty(v1_, "age", Value::Int(1))).ok());
  EXPECT_TRUE(Commit(AddEdgeBatch(base_, v2_, v1_)).ok());
}

// An edge that was added because there was none: whoever adds, or drops, such an edge meanwhile
// conflicts with it (engine rule 40).
TEST_F(CommitTest, ALookAtEdgesThatAnInsertRestsOnIsGuarded) {
  const std::vector<uint64_t> looks = {
      ConflictKeyOfAdjacency(v1_, Direction::kOut, "knows"),
      ConflictKeyOfAdjacency(v1_, Direction::kOut, ""),
      ConflictKeyOfAdjacency(v3_, Direction::kIn, "knows"),
      ConflictKeyOfAdjacency(v3_, Direction::kIn, ""),
      ConflictKeyOfEdgesBetween(v1_, v3_, "knows"),
      ConflictKeyOfEdgesBetween(v1_, v3_, ""),
      ConflictKeyOfEdgeScan("knows"),
      ConflictKeyOfEdgeScan(""),
  };
  for (const uint64_t look : looks) {
    WriteBatch upsert = AddEdgeBatch(store_->View()->version(), v1_, v3_);
    upsert.guard_keys = {look};
    const CommitResult first = Commit(upsert).value();
    EXPECT_EQ(CodeOf(upsert), StatusCode::kAborted);
    upsert.read_version = first.version;
    ASSERT_TRUE(Commit(DropEdge(first.edges[0])).ok());
    EXPECT_EQ(CodeOf(upsert), StatusCode::kAborted);
  }
}

TEST_F(CommitTest, LooksAtOtherEdgesAreInNobodysWay) {
  const std::vector<uint64_t> looks = {
      ConflictKeyOfAdjacency(v1_, Direction::kIn, "knows"),
      ConflictKeyOfAdjacency(v3_, Direction::kOut, "knows"),
      ConflictKeyOfAdjacency(v1_, Direction::kOut, "likes"),
      ConflictKeyOfEdgesBetween(v1_, v2_, "knows"),
      ConflictKeyOfEdgesBetween(v3_, v1_, "knows"),
      ConflictKeyOfEdgesBetween(v1_, v3_, "likes"),
      ConflictKeyOfEdgeScan("likes"),
      ConflictKeyOfVertexScan("person"),
  };
  const uint64_t version = store_->View()->version();
  ASSERT_TRUE(Commit(AddEdgeBatch(version, v1_, v3_)).ok());
  WriteBatch upsert = AddEdgeBatch(version, v2_, v3_);
  upsert.guard_keys = looks;
  EXPECT_TRUE(Commit(upsert).ok());
}

// All want an edge of one vertex to another neighbour each: only looks at the same one conflict.
TEST_F(CommitTest, UpsertsOfEdgesToOtherNeighboursDoNotConflict) {
  WriteBatch one = AddEdgeBatch(base_, v1_, v3_), other = AddEdgeBatch(base_, v2_, v3_);
  one.guard_keys = {ConflictKeyOfEdgesBetween(v1_, v3_, "knows")};
  other.guard_keys = {ConflictKeyOfEdgesBetween(v2_, v3_, "knows")};
  EXPECT_TRUE(Commit(one).ok());
  EXPECT_TRUE(Commit(other).ok());
  EXPECT_EQ(CodeOf(other), StatusCode::kAborted);
}

TEST_F(CommitTest, AScanThatAnInsertRestsOnIsGuarded) {
  for (const char* label : {"person", ""}) {
    WriteBatch first = AddVertexBatch(store_->View()->version(), std::nullopt);
    first.guard_keys = {ConflictKeyOfVertexScan(label)};
    const CommitResult added = Commit(first).value();
    EXPECT_EQ(CodeOf(first), StatusCode::kAborted);
    first.read_version = added.version;
    WriteBatch drop = DropVertex(added.vertices[0]);
    drop.read_version = added.version;
    ASSERT_TRUE(Commit(drop).ok());
    EXPECT_EQ(CodeOf(first), StatusCode::kAborted);
  }
}

// A drop of a vertex takes edges from those who looked at the other end.
TEST_F(CommitTest, DroppingAVertexIsSeenByLooksAtItsNeighbours) {
  ASSERT_TRUE(Commit(DropVertex(v1_)).ok());
  WriteBatch rests = AddVertexBatch(base_, std::nullopt);
  rests.guard_keys = {ConflictKeyOfAdjacency(v2_, Direction::kIn, "knows")};
  EXPECT_EQ(CodeOf(rests), StatusCode::kAborted);
}

// Whoever was refused and took its turn is through when it comes back, however many others write
// the same meanwhile: they are refused until it has left.
TEST_F(CommitTest, WhoTookItsTurnIsNotOvertaken) {
  ASSERT_TRUE(Commit(SetProperty(v1_, "age", Value::Int(1))).ok());
  CommitTurn turn;
  EXPECT_EQ(store_->Commit(SetProperty(v1_, "age", Value::Int(2)), nullptr, &turn).status().code(),
            StatusCode::kAborted);
  turn.ticket = turn.turns->Take();
  ASSERT_TRUE(turn.turns->Enter(turn.ticket, turn.conflicts, nullptr));
  WriteBatch again = SetProperty(v1_, "age", Value::Int(2));
  again.read_version = store_->View()->version();
  WriteBatch fresh = SetProperty(v1_, "age", Value::Int(3));
  fresh.read_version = again.read_version;
  CommitTurn other;
  EXPECT_EQ(store_->Commit(fresh, nullptr, &other).status().code(), StatusCode::kAborted);
  EXPECT_FALSE(other.conflicts.empty());
  EXPECT_TRUE(Commit(AddEdgeBatch(again.read_version, v1_, v3_)).ok());  // in nobody's way
  EXPECT_TRUE(store_->Commit(again, nullptr, &turn).ok());
  turn.turns->Leave(turn.ticket);
  fresh.read_version = store_->View()->version();
  EXPECT_TRUE(store_->Commit(fresh, nullptr, &other).ok());
}

TEST_F(CommitTest, ThePropertyOfAnElementIsAUnit) {
  ASSERT_TRUE(Commit(SetProperty(v1_, "age", Value::Int(1))).ok());
  EXPECT_EQ(CodeOf(SetProperty(v1_, "age", Value::Int(2))), StatusCode::kAborted);
  EXPECT_TRUE(Commit(SetProperty(v1_, "city", Value::Int(2))).ok());
  EXPECT_TRUE(Commit(SetProperty(v2_, "age", Value::Int(2))).ok());
  ASSERT_TRUE(Commit(SetProperty(e12_, "weight")).ok());
  EXPECT_EQ(CodeOf(SetProperty(e12_, "weight")), StatusCode::kAborted);
}

TEST_F(CommitTest, SettingAndDroppingConflict) {
  ASSERT_TRUE(Commit(SetProperty(v1_, "age", Value::Int(1))).ok());
  EXPECT_EQ(CodeOf(DropVertex(v1_)), StatusCode::kAborted);
  ASSERT_TRUE(Commit(DropVertex(v3_)).ok());
  EXPECT_EQ(CodeOf(SetProperty(v3_, "age", Value::Int(1))), StatusCode::kAborted);
  EXPECT_EQ(CodeOf(DropVertex(v3_)), StatusCode::kAborted);
}

// Dropping a vertex drops its edges: it conflicts with what happened to them.
TEST_F(CommitTest, DroppingAVertexConflictsWithChangesOfItsEdges) {
  ASSERT_TRUE(Commit(SetProperty(e12_, "weight")).ok());
  EXPECT_EQ(CodeOf(DropVertex(v1_)), StatusCode::kAborted);
  WriteBatch drop = DropVertex(v1_);
  drop.read_version = store_->View()->version();
  ASSERT_TRUE(Commit(drop).ok());
  EXPECT_EQ(CodeOf(SetProperty(e12_, "since")), StatusCode::kAborted);
  EXPECT_EQ(CodeOf(DropEdge(e12_)), StatusCode::kAborted);
}

TEST_F(CommitTest, TwoInsertsOfOneIdConflict) {
  ASSERT_TRUE(Commit(AddVertexBatch(base_, Value::Long(77))).ok());
  EXPECT_EQ(CodeOf(AddVertexBatch(base_, Value::Int(77))), StatusCode::kAborted);
  EXPECT_EQ(CodeOf(AddVertexBatch(base_ + 1, Value::Int(77))), StatusCode::kAlreadyExists);
  ASSERT_TRUE(Commit(AddEdgeBatch(base_, v1_, v2_, Value::Long(5))).ok());
  EXPECT_EQ(CodeOf(AddEdgeBatch(base_, v2_, v3_, Value::Long(5))), StatusCode::kAborted);
  WriteBatch guarded = AddVertexBatch(base_, std::nullopt);
  guarded.id_guards = {Value::Short(77)};
  EXPECT_EQ(CodeOf(guarded), StatusCode::kAborted);
  guarded.id_guards = {Value::String("77")};
  EXPECT_EQ(CodeOf(guarded), StatusCode::kAborted);
}

// Two mergeV([name:'x']) both miss.
TEST_F(CommitTest, NoDuplicateUpserts) {
  ASSERT_TRUE(Commit(Upsert("x")).ok());
  EXPECT_EQ(CodeOf(Upsert("x")), StatusCode::kAborted);
  EXPECT_TRUE(Commit(Upsert("y")).ok());
}

TEST_F(CommitTest, WhoeverSetsOrRemovesAValueInvalidatesItsLookups) {
  ASSERT_TRUE(Commit(AddVertexBatch(base_, std::nullopt, {{"name", Value::String("a")}})).ok());
  EXPECT_EQ(CodeOf(Upsert("a")), StatusCode::kAborted);
  ASSERT_TRUE(Commit(SetProperty(v1_, "name", Value::String("b"))).ok());
  EXPECT_EQ(CodeOf(Upsert("b")), StatusCode::kAborted);
  EXPECT_EQ(CodeOf(Upsert("p1")), StatusCode::kAborted);  // removed from v1
  ASSERT_TRUE(Commit(DropVertex(v3_)).ok());
  EXPECT_EQ(CodeOf(Upsert("p3")), StatusCode::kAborted);
  WriteBatch any_label = Upsert("z");
  any_label.lookup_guards = {{std::nullopt, "name", Value::String("b")}};
  EXPECT_EQ(CodeOf(any_label), StatusCode::kAborted);
  WriteBatch other_label = Upsert("z");
  other_label.lookup_guards = {{"software", "name", Value::String("b")}};
  EXPECT_TRUE(Commit(other_label).ok());
}

// Two people of one name may be added at once when nobody asked whether there is one.
TEST_F(CommitTest, EqualValuesAreNoConflict) {
  const PropertyList name = {{"name", Value::String("same")}};
  EXPECT_TRUE(Commit(AddVertexBatch(base_, std::nullopt, name)).ok());
  EXPECT_TRUE(Commit(AddVertexBatch(base_, std::nullopt, name)).ok());
}

TEST_F(CommitTest, AReadVersionOlderThanTheWindowIsAConflict) {
  StoreOptions options = TestOptions();
  options.conflict_window_keys = 8;
  Open(options);
  for (int i = 0; i < 10; ++i) {
    WriteBatch batch = SetProperty(v1_, "k" + std::to_string(i), Value::Int(i));
    batch.read_version = store_->View()->version();
    ASSERT_TRUE(Commit(batch).ok());
  }
  EXPECT_EQ(CodeOf(AddVertexBatch(base_, std::nullopt)), StatusCode::kAborted);
  EXPECT_TRUE(Commit(AddVertexBatch(store_->View()->version(), std::nullopt)).ok());
}

TEST_F(CommitTest, RefusesWhatCantBeStored) {
  const std::vector<Value> bad = {
      Value::Of(v1_), Value::Of(Token::kId), ListOf({Value::Of(e12_)}),
      MapOf({{Value::String("k"), SetOf({Value::Of(Direction::kOut)})}})};
  for (const Value& value : bad) {
    EXPECT_EQ(CodeOf(SetProperty(v1_, "k", value)), StatusCode::kInvalidArgument);
    EXPECT_EQ(CodeOf(AddVertexBatch(base_, std::nullopt, {{"k", value}})),
              StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(CodeOf(SetProperty(v1_, "", Value::Int(1))), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(AddVertexBatch(base_, std::nullopt, {}, "")), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(AddVertexBatch(base_, Value::Double(1))), StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->View()->version(), base_);
}

TEST_F(CommitTest, LimitsAreNamed) {
  StoreOptions options = TestOptions();
  options.max_value_bytes = 1000;
  options.max_commit_bytes = 3000;
  options.max_names = 5;
  Open(options);
  auto detail = [this](const WriteBatch& batch) {
    const Status status = Commit(batch).status();
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
    const ErrorDetail said = DetailOf(status).value_or(ErrorDetail{});
    return said.setting.empty() ? said.limit : said.setting;
  };
  EXPECT_EQ(detail(SetProperty(v1_, "k", Value::String(std::string(1001, 'x')))), "value-mb");
  WriteBatch large = Batch();
  for (int i = 0; i < 40; ++i) {
    large.vertices.push_back(
        {std::nullopt, "person", {{"k", Value::String(std::string(90, 'x'))}}});
  }
  EXPECT_EQ(detail(large), "3000 bytes");
  WriteBatch names = Batch();
  for (int i = 0; i < 5; ++i) names.vertices.push_back({std::nullopt, "l" + std::to_string(i), {}});
  EXPECT_EQ(detail(names), "storage.max_names");
  EXPECT_EQ(store_->View()->schema().labels.Find("l0"), kNoName);  // left no trace
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(Commit(AddEdgeBatch(store_->View()->version(), v1_, v3_)).ok());
  }
  WriteBatch drop = DropVertex(v1_);
  drop.read_version = store_->View()->version();
  EXPECT_EQ(detail(drop), "3000 bytes");
}

TEST_F(CommitTest, ACommitThatIsRefusedLeavesNothing) {
  WriteBatch batch = AddVertexBatch(base_, Value::Long(100), {{"fresh", Value::Int(1)}}, "fresh");
  batch.vertices.push_back({Value::Long(1), "person", {}});
  EXPECT_EQ(CodeOf(batch), StatusCode::kAlreadyExists);
  const auto view = store_->View();
  EXPECT_EQ(view->version(), base_);
  EXPECT_FALSE(FindVertex(*view, Value::Long(100)).has_value());
  EXPECT_EQ(view->schema().labels.Find("fresh"), kNoName);
  ASSERT_TRUE(Commit(AddVertexBatch(base_, std::nullopt)).ok());
  EXPECT_EQ(store_->View()->schema().labels.Find("fresh"), kNoName);
}

TEST_F(CommitTest, AWatchEndsACommitThatIsNotAppliedYet) {
  WriteBatch many;
  many.read_version = base_;
  for (int i = 0; i < 1000; ++i)
    many.edges.push_back({std::nullopt, "e", Existing(v1_), Existing(v2_), {}});
  ASSERT_TRUE(Commit(many).ok());
  WriteBatch drop = DropVertex(v1_);
  drop.read_version = store_->View()->version();
  int asked = 0;
  const auto stopped =
      store_->Commit(drop, [&asked] { return ++asked > 3 ? Cancelled("stopped") : OkStatus(); });
  EXPECT_EQ(stopped.status().code(), StatusCode::kCancelled);  // in the middle
  EXPECT_EQ(asked, 4);
  EXPECT_TRUE(FindVertex(*store_->View(), Value::Long(1)).has_value());
  int last = 0;
  ASSERT_TRUE(store_->Commit(drop, [&last] { return ++last, OkStatus(); }).ok());
  EXPECT_GE(last, 5);
  EXPECT_FALSE(FindVertex(*store_->View(), Value::Long(1)).has_value());
}

TEST_F(CommitTest, ValuesThatNestTooDeepToBeSentAreNotStored) {
  Value deep = Value::Int(1);
  while (deep.depth() < kMaxSentDepth) deep = ListOf({deep});
  ASSERT_TRUE(Commit(SetProperty(v1_, "deep", deep)).ok());
  EXPECT_EQ(CodeOf(SetProperty(v1_, "deep", ListOf({deep}))), StatusCode::kResourceExhausted);
}

TEST_F(CommitTest, EverythingIsThereAfterReopening) {
  ASSERT_TRUE(Commit(SetProperty(v1_, "age", Value::Int(5))).ok());
  ASSERT_TRUE(Commit(DropVertex(v3_)).ok());
  const uint64_t version = store_->View()->version();
  StoreOptions options = TestOptions(9);  // a graph keeps its own number of partitions
  options.create = false;
  Open(options);
  const auto view = store_->View();
  EXPECT_EQ(view->version(), version);
  EXPECT_EQ(view->num_partitions(), 4u);
  EXPECT_EQ(FindVertex(*view, Value::Long(1)), v1_);
  EXPECT_TRUE(Equivalent(*PropertyOf(*view, v1_, "age"), Value::Int(5)));
  EXPECT_EQ(Neighbours(*view, v2_, Direction::kIn), std::vector{v1_});
  EXPECT_EQ(view->schema().vertex_counts.begin()->second, 2u);
  const CommitResult next = Commit(AddVertexBatch(version, std::nullopt)).value();
  EXPECT_EQ(next.version, version + 1);
  EXPECT_TRUE(Equivalent(next.vertex_ids[0], Value::Long(4)));
}

}  // namespace
}  // namespace koios::storage
