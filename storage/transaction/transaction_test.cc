// A transaction reads as the graph does once it is committed.
#include "storage/transaction/transaction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/random.h"
#include "core/testing/rounds.h"
#include "storage/check.h"
#include "storage/conflict/conflict_window.h"
#include "storage/index/vertex_seek.h"
#include "storage/memory_graph.h"
#include "storage/rocks/graph_store.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

std::string Printed(const Value& value) {
  return value.kind() == ValueKind::kString ? "'" + value.AsString() + "'"
                                            : std::to_string(value.AsInteger());
}

// All that can be read of a view, as sorted lines, by users' ids.
class Reader {
 public:
  Reader(const GraphView& view, size_t limit) : view_(view), limit_(limit) {}

  std::vector<std::string> Lines() {
    ReadVertices();
    ReadEdges();
    for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
      ReadEnds(direction);
    }
    std::sort(lines_.begin(), lines_.end());
    return lines_;
  }

 private:
  std::string Id(VertexRef vertex) {
    Column id;
    CHECK(view_.VertexIds(std::span(&vertex, 1), &id).ok());
    return Printed(id.Get(0));
  }
  std::string Id(const EdgeRef& edge) {
    Column id;
    CHECK(view_.EdgeIds(std::span(&edge, 1), &id).ok());
    return Printed(id.Get(0));
  }
  std::string Label(LabelId label) { return view_.schema().labels.Name(label); }

  void AddProperties(const std::vector<std::string>& names, const PropertyRows& rows) {
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      lines_.push_back(names[rows.rows[i]] + " " + view_.schema().keys.Name(rows.keys[i]) + "=" +
                       Printed(rows.values.Get(i)));
    }
  }

  void ReadVertices() {
    for (uint32_t p = 0; p < view_.num_partitions(); ++p) {
      ScanCursor cursor;
      while (!cursor.done) {
        CHECK(view_.ScanVertices(p, {}, &cursor, limit_, &vertices_).ok());
      }
    }
    std::vector<LabelId> labels;
    CHECK(view_.VertexLabels(vertices_, &labels).ok());
    std::vector<std::string> names;
    Column ids;
    CHECK(view_.VertexIds(vertices_, &ids).ok());
    for (size_t i = 0; i < vertices_.size(); ++i) {
      names.push_back("v " + Printed(ids.Get(i)));
      lines_.push_back(names.back() + " " + Label(labels[i]));
      const Value id = ids.Get(i);
      std::vector<uint32_t> rows;
      std::vector<VertexRef> found;
      CHECK(view_.LookupVertices(std::span(&id, 1), &rows, &found).ok());
      EXPECT_EQ(found, std::vector<VertexRef>{vertices_[i]}) << names.back();
    }
    PropertyRows rows;
    CHECK(view_.VertexProperties(vertices_, {}, &rows).ok());
    AddProperties(names, rows);
  }

  void ReadEdges() {
    std::vector<EdgeRef> edges;
    for (uint32_t p = 0; p < view_.num_partitions(); ++p) {
      ExpandCursor cursor;
      while (!cursor.done) CHECK(view_.ScanEdges(p, {}, &cursor, limit_, &edges).ok());
    }
    std::vector<std::string> names;
    for (const EdgeRef& edge : edges) {
      names.push_back("e " + Id(edge));
      lines_.push_back(names.back() + " " + Label(edge.label) + " " + Id(edge.out) + "->" +
                       Id(edge.in));
      Column column;
      CHECK(view_.EdgeIds(std::span(&edge, 1), &column).ok());
      const Value id = column.Get(0);
      std::vector<uint32_t> rows;
      std::vector<EdgeRef> found;
      CHECK(view_.LookupEdges(std::span(&id, 1), &rows, &found).ok());
      ASSERT_EQ(found.size(), 1u) << names.back();
      EXPECT_EQ(found[0].id, edge.id);
    }
    PropertyRows rows;
    CHECK(view_.EdgeProperties(edges, {}, &rows).ok());
    AddProperties(names, rows);
  }

  void ReadEnds(Direction direction) {
    Expansion ends;
    ExpandCursor cursor;
    while (!cursor.done) {
      const size_t before = ends.rows.size();
      CHECK(view_.Expand(vertices_, direction, {}, true, &cursor, limit_, &ends).ok());
      EXPECT_LE(ends.rows.size(), before + limit_);
    }
    EXPECT_TRUE(std::is_sorted(ends.rows.begin(), ends.rows.end()));
    std::vector<int64_t> degrees, counted(vertices_.size(), 0);
    CHECK(view_.Degrees(vertices_, direction, {}, &degrees).ok());
    for (size_t i = 0; i < ends.rows.size(); ++i) {
      ++counted[ends.rows[i]];
      lines_.push_back("end " + std::to_string(static_cast<int>(direction)) + " " +
                       Id(vertices_[ends.rows[i]]) + " " + Id(ends.neighbours[i]) + " " +
                       Id(ends.edges[i]));
    }
    EXPECT_EQ(degrees, counted);
  }

  const GraphView& view_;
  const size_t limit_;
  std::vector<VertexRef> vertices_;
  std::vector<std::string> lines_;
};

std::vector<VertexRef> AllVertices(const GraphView& view) {
  std::vector<VertexRef> all;
  for (uint32_t p = 0; p < view.num_partitions(); ++p) {
    ScanCursor cursor;
    while (!cursor.done) CHECK(view.ScanVertices(p, {}, &cursor, 100, &all).ok());
  }
  return all;
}

std::vector<EdgeRef> AllEdges(const GraphView& view) {
  std::vector<EdgeRef> all;
  for (uint32_t p = 0; p < view.num_partitions(); ++p) {
    ExpandCursor cursor;
    while (!cursor.done) CHECK(view.ScanEdges(p, {}, &cursor, 100, &all).ok());
  }
  return all;
}

class TransactionTest : public ::testing::Test {
 protected:
  TransactionTest() {
    StoreOptions options;
    options.create = true;
    options.num_partitions = 4;
    store_ = GraphStore::Open(folder_ / "graph", options).value();
  }

  Value IdOf(const GraphView& view, VertexRef vertex) {
    Column id;
    CHECK(view.VertexIds(std::span(&vertex, 1), &id).ok());
    return id.Get(0);
  }

  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
};

void ChangeAtRandom(Rng* rng, Transaction* transaction) {
  const std::vector<VertexRef> vertices = AllVertices(*transaction);
  const std::vector<EdgeRef> edges = AllEdges(*transaction);
  const auto label = [&] { return "L" + std::to_string(rng->Uniform(4)); };
  const auto key = [&] { return "k" + std::to_string(rng->Uniform(4)); };
  const auto value = [&] {
    return rng->Uniform(4) == 0 ? Value::Null() : Value::Int(static_cast<int>(rng->Uniform(100)));
  };
  switch (vertices.empty() ? 0 : rng->Uniform(8)) {
    case 0:
    case 1: {
      std::optional<Value> id;
      if (rng->Uniform(2) == 0) id = Value::String("s" + std::to_string(rng->Uniform(1'000'000)));
      CHECK(transaction->AddVertex(label(), id, {{key(), value()}}).ok());
      return;
    }
    case 2:
    case 3:
    case 4: {
      std::optional<Value> id;
      if (rng->Uniform(3) == 0) id = Value::Long(static_cast<int64_t>(rng->Uniform(1'000'000'000)));
      CHECK(transaction
                ->AddEdge(vertices[rng->Uniform(vertices.size())],
                          vertices[rng->Uniform(vertices.size())], label(), id, {{key(), value()}})
                .ok());
      return;
    }
    case 5:
      CHECK(transaction->SetProperty(vertices[rng->Uniform(vertices.size())], key(), value()).ok());
      return;
    case 6:
      if (edges.empty()) return;
      CHECK(transaction->SetProperty(edges[rng->Uniform(edges.size())], key(), value()).ok());
      return;
    default:
      if (rng->Uniform(3) == 0) {
        CHECK(DropVertex(transaction, vertices[rng->Uniform(vertices.size())]).ok());
      } else if (!edges.empty()) {
        CHECK(transaction->DropEdge(edges[rng->Uniform(edges.size())]).ok());
      }
  }
}

TEST_F(TransactionTest, ReadsAsTheGraphDoesOnceCommitted) {
  Rng rng(7);
  for (uint64_t round = 0; round < TestRounds(60, 20); ++round) {
    std::unique_ptr<Transaction> transaction = store_->Begin();
    const uint64_t changes = rng.Uniform(40);
    for (uint64_t i = 0; i < changes; ++i) ChangeAtRandom(&rng, transaction.get());
    const size_t limit = 1 + rng.Uniform(9);
    const std::vector<std::string> before = Reader(*transaction, limit).Lines();
    StatusOr<CommitResult> result = round % 2 == 0
                                        ? store_->Commit(transaction->TakeBatch())
                                        : store_->Commit(transaction->TakeCommit(nullptr).value());
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(before, Reader(*store_->View(), 1000).Lines()) << "round " << round;
  }
  EXPECT_GT(AllEdges(*store_->View()).size(), 50u);
  StatusOr<CheckReport> report = Check(*store_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->ok());
}

TEST_F(TransactionTest, NothingIsSeenBeforeTheCommit) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  ASSERT_TRUE(transaction->AddVertex("a", std::nullopt, {}).ok());
  EXPECT_EQ(AllVertices(*transaction).size(), 1u);
  EXPECT_TRUE(AllVertices(*store_->View()).empty());
}

TEST_F(TransactionTest, IdsAreAssignedOnceAndStay) {
  std::unique_ptr<Transaction> first = store_->Begin(), second = store_->Begin();
  const VertexRef a = first->AddVertex("a", std::nullopt, {}).value();
  const VertexRef b = second->AddVertex("a", std::nullopt, {}).value();
  const Value id = IdOf(*first, a);
  EXPECT_NE(id.AsInteger(), IdOf(*second, b).AsInteger());
  ASSERT_TRUE(store_->Commit(second->TakeBatch()).ok());
  StatusOr<CommitResult> result = store_->Commit(first->TakeBatch());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->vertices, std::vector<VertexRef>{a});
  EXPECT_EQ(result->vertex_ids[0].AsInteger(), id.AsInteger());
}

TEST_F(TransactionTest, NumbersAreNotGivenTwiceAfterReopening) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  const VertexRef a = transaction->AddVertex("a", std::nullopt, {}).value();
  ASSERT_TRUE(store_->Commit(transaction->TakeBatch()).ok());
  const Value id = IdOf(*store_->View(), a);
  transaction.reset();
  store_.reset();
  store_ = GraphStore::Open(folder_ / "graph", {}).value();
  transaction = store_->Begin();
  const VertexRef b = transaction->AddVertex("a", std::nullopt, {}).value();
  EXPECT_GT(IdOf(*transaction, b).AsInteger(), id.AsInteger());
  EXPECT_NE(a, b);
}

TEST_F(TransactionTest, ATakenIdIsRefusedAtOnce) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  ASSERT_TRUE(transaction->AddVertex("a", Value::Int(17), {}).ok());
  EXPECT_EQ(transaction->AddVertex("a", Value::Long(17), {}).status().code(),
            StatusCode::kAlreadyExists);
  ASSERT_TRUE(transaction->AddVertex("a", Value::String("17"), {}).ok());
  const VertexRef v = transaction->AddVertex("a", std::nullopt, {}).value();
  ASSERT_TRUE(transaction->AddEdge(v, v, "e", Value::String("x"), {}).ok());
  EXPECT_EQ(transaction->AddEdge(v, v, "e", Value::String("x"), {}).status().code(),
            StatusCode::kAlreadyExists);
  EXPECT_TRUE(store_->Commit(transaction->TakeBatch()).ok());
}

TEST_F(TransactionTest, AnAssignedIdThatSomebodyElseGaveMeansAborted) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  const VertexRef v = transaction->AddVertex("a", std::nullopt, {}).value();
  WriteBatch other;
  other.read_version = store_->View()->version();
  other.vertices.push_back({IdOf(*transaction, v), "b", {}});
  ASSERT_TRUE(store_->Commit(other).ok());
  EXPECT_EQ(store_->Commit(transaction->TakeBatch()).status().code(), StatusCode::kAborted);
}

TEST_F(TransactionTest, WhatWasAddedAndDroppedIsNotCommitted) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  const VertexRef a = transaction->AddVertex("a", std::nullopt, {}).value();
  const VertexRef b = transaction->AddVertex("b", std::nullopt, {}).value();
  ASSERT_TRUE(transaction->AddEdge(a, b, "e", std::nullopt, {}).ok());
  ASSERT_TRUE(DropVertex(transaction.get(), a).ok());
  ASSERT_TRUE(DropVertex(transaction.get(), a).ok());
  EXPECT_TRUE(AllEdges(*transaction).empty());
  EXPECT_EQ(transaction->AddEdge(a, b, "e", std::nullopt, {}).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(transaction->SetProperty(a, "k", Value::Int(1)).code(),
            StatusCode::kFailedPrecondition);
  const WriteBatch batch = transaction->TakeBatch();
  EXPECT_EQ(batch.vertices.size(), 1u);
  EXPECT_TRUE(batch.edges.empty());
  EXPECT_TRUE(batch.dropped_vertices.empty());
}

TEST_F(TransactionTest, AnIdOfWhatWasAddedAndDroppedIsFree) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  const Value id = Value::String("x");
  const VertexRef a = transaction->AddVertex("a", id, {}).value();
  const EdgeRef loop = transaction->AddEdge(a, a, "e", id, {}).value();
  ASSERT_TRUE(transaction->DropEdge(loop).ok());
  const EdgeRef again = transaction->AddEdge(a, a, "e", id, {}).value();
  std::vector<uint32_t> rows;
  std::vector<EdgeRef> edges;
  ASSERT_TRUE(transaction->LookupEdges(std::span(&id, 1), &rows, &edges).ok());
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].id, again.id);
  ASSERT_TRUE(DropVertex(transaction.get(), a).ok());
  const VertexRef b = transaction->AddVertex("b", id, {}).value();
  std::vector<VertexRef> vertices;
  rows.clear();
  ASSERT_TRUE(transaction->LookupExactVertices(std::span(&id, 1), &rows, &vertices).ok());
  ASSERT_EQ(vertices.size(), 1u);
  EXPECT_EQ(vertices[0], b);
  const WriteBatch batch = transaction->TakeBatch();
  EXPECT_EQ(batch.vertices.size(), 1u);
  EXPECT_TRUE(batch.edges.empty());
}

TEST_F(TransactionTest, WhatCouldNotBeAddedIsNotCommitted) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  const VertexRef a = transaction->AddVertex("a", std::nullopt, {}).value();
  const PropertyList properties = {{"k", Value::Int(1)}, {"", Value::Int(2)}};
  EXPECT_EQ(transaction->AddEdge(a, a, "e", std::nullopt, properties).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(transaction->AddVertex("a", std::nullopt, properties).status().code(),
            StatusCode::kInvalidArgument);
  const EdgeRef edge = transaction->AddEdge(a, a, "e", std::nullopt, {}).value();
  ASSERT_TRUE(transaction->SetProperty(edge, "k", Value::Int(3)).ok());
  const WriteBatch batch = transaction->TakeBatch();
  ASSERT_EQ(batch.edges.size(), 1u);
  EXPECT_EQ(batch.edges[0].properties.size(), 1u);
  EXPECT_TRUE(batch.edge_properties.empty());
  EXPECT_EQ(batch.vertices.size(), 1u);
  EXPECT_TRUE(batch.vertex_properties.empty());
}

// Two that look up the same id, find nothing and insert: the second must not.
TEST_F(TransactionTest, LookUpsThatAnInsertRestsOnAreGuarded) {
  const Value id = Value::String("x");
  std::unique_ptr<Transaction> first = store_->Begin(), second = store_->Begin();
  for (Transaction* transaction : {first.get(), second.get()}) {
    std::vector<uint32_t> rows;
    std::vector<VertexRef> found;
    ASSERT_TRUE(transaction->LookupVertices(std::span(&id, 1), &rows, &found).ok());
    ASSERT_TRUE(found.empty());
  }
  ASSERT_TRUE(first->AddVertex("a", id, {}).ok());
  ASSERT_TRUE(second->AddVertex("log", std::nullopt, {}).ok());
  ASSERT_TRUE(store_->Commit(first->TakeBatch()).ok());
  EXPECT_EQ(store_->Commit(second->TakeBatch()).status().code(), StatusCode::kAborted);
}

// Two that look for an edge between the same vertices, find none and add it: the second must not.
// A third adds one of the hub's to another neighbour.
TEST_F(TransactionTest, LooksAtEdgesThatAnInsertRestsOnAreGuarded) {
  std::unique_ptr<Transaction> setup = store_->Begin();
  const VertexRef hub = setup->AddVertex("hub", std::nullopt, {}).value();
  const VertexRef near = setup->AddVertex("a", std::nullopt, {}).value();
  const VertexRef far = setup->AddVertex("a", std::nullopt, {}).value();
  ASSERT_TRUE(store_->Commit(setup->TakeBatch()).ok());
  const std::vector<std::string> labels = {"e"};
  std::vector<std::unique_ptr<Transaction>> transactions;
  for (const VertexRef neighbour : {near, near, far}) {
    transactions.push_back(store_->Begin());
    Transaction* transaction = transactions.back().get();
    ASSERT_TRUE(transaction->GuardAdjacency(neighbour, Direction::kIn, labels, hub).ok());
    ASSERT_TRUE(transaction->AddEdge(hub, neighbour, "e", std::nullopt, {}).ok());
  }
  EXPECT_TRUE(store_->Commit(transactions[0]->TakeBatch()).ok());
  EXPECT_EQ(store_->Commit(transactions[1]->TakeBatch()).status().code(), StatusCode::kAborted);
  EXPECT_TRUE(store_->Commit(transactions[2]->TakeBatch()).ok());
}

TEST_F(TransactionTest, GuardsOfEdges) {
  const VertexRef a = VertexRef::Make(0, 1), b = VertexRef::Make(1, 1);
  const auto keys_of = [this](const auto& guard) {
    std::unique_ptr<Transaction> transaction = store_->Begin();
    const VertexRef own = transaction->AddVertex("a", std::nullopt, {}).value();
    EXPECT_TRUE(guard(transaction.get(), own).ok());
    std::vector<uint64_t> keys = transaction->TakeBatch().guard_keys;
    std::sort(keys.begin(), keys.end());
    return keys;
  };
  const auto sorted = [](std::vector<uint64_t> keys) {
    std::sort(keys.begin(), keys.end());
    return keys;
  };
  const std::vector<std::string> none, two = {"e", "f"};
  EXPECT_EQ(keys_of([&](Transaction* t, VertexRef) {
              return t->GuardAdjacency(a, Direction::kBoth, none, std::nullopt);
            }),
            sorted({ConflictKeyOfAdjacency(a, Direction::kOut, ""),
                    ConflictKeyOfAdjacency(a, Direction::kIn, "")}));
  EXPECT_EQ(keys_of([&](Transaction* t, VertexRef) {
              return t->GuardAdjacency(a, Direction::kIn, two, b);
            }),
            sorted({ConflictKeyOfEdgesBetween(b, a, "e"), ConflictKeyOfEdgesBetween(b, a, "f")}));
  // Nobody else sees what the request added.
  EXPECT_TRUE(keys_of([&](Transaction* t, VertexRef own) {
                return t->GuardAdjacency(own, Direction::kOut, none, std::nullopt);
              }).empty());
  EXPECT_TRUE(keys_of([&](Transaction* t, VertexRef own) {
                return t->GuardAdjacency(a, Direction::kOut, none, own);
              }).empty());
}

TEST_F(TransactionTest, GuardsOfEdgesAreBounded) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  ASSERT_TRUE(transaction->AddVertex("a", std::nullopt, {}).ok());
  const std::vector<std::string> labels = {"e"};
  for (uint32_t local = 0; local < 200'000; ++local) {
    const VertexRef vertex = VertexRef::Make(0, local);
    ASSERT_TRUE(transaction->GuardAdjacency(vertex, Direction::kOut, labels, std::nullopt).ok());
  }
  const std::vector<uint64_t> keys = transaction->TakeBatch().guard_keys;
  EXPECT_EQ(keys.size(), (size_t{1} << 16) + 1);
  EXPECT_EQ(std::count(keys.begin(), keys.end(), ConflictKeyOfEdgeScan("e")), 1);
}

TEST_F(TransactionTest, ValuesThatCannotBeStoredAreRefused) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  const VertexRef v = transaction->AddVertex("a", std::nullopt, {}).value();
  EXPECT_EQ(transaction->SetProperty(v, "", Value::Int(1)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(transaction->SetProperty(v, "k", Value::Of(v)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(transaction->AddVertex("", std::nullopt, {}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(transaction->AddVertex("a", Value::Double(1), {}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(TransactionTest, AValueIsBoundedByTheStoresOption) {
  store_.reset();
  StoreOptions options;
  options.max_value_bytes = 1000;
  store_ = GraphStore::Open(folder_ / "graph", options).value();
  std::unique_ptr<Transaction> transaction = store_->Begin();
  const VertexRef v = transaction->AddVertex("a", std::nullopt, {}).value();
  const Status status = transaction->SetProperty(v, "k", Value::String(std::string(2000, 'x')));
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(status)->setting, "value-mb");
}

// Names and lists are copied for it: all of that is charged, and stays so, as the record has it.
TEST_F(TransactionTest, WhatIsCommittedIsChargedAsWell) {
  constexpr size_t kVertices = 100;
  const std::string long_name(100, 'n');
  std::shared_ptr<Transaction> transaction = store_->Begin();
  for (size_t i = 0; i < kVertices; ++i) {
    ASSERT_TRUE(transaction->AddVertex(long_name, std::nullopt, {{long_name, Value::Int(1)}}).ok());
  }
  const size_t before = transaction->ByteSize();
  ASSERT_TRUE(transaction->TakeCommit(nullptr).ok());
  EXPECT_GT(transaction->ByteSize(), before + kVertices * 2 * long_name.size());
}

TEST_F(TransactionTest, ANewLabelIsCharged) {
  const std::string label(1000, 'l');
  std::shared_ptr<Transaction> transaction = store_->Begin();
  const auto bytes_of = [&](const auto& add) {
    const size_t before = transaction->ByteSize();
    EXPECT_TRUE(add());
    return transaction->ByteSize() - before;
  };
  const auto vertex = [&] { return transaction->AddVertex(label, std::nullopt, {}).ok(); };
  EXPECT_GT(bytes_of(vertex), label.size());
  EXPECT_LT(bytes_of(vertex), label.size());  // it is known now
  const VertexRef v = transaction->AddVertex("a", std::nullopt, {}).value();
  const auto edge = [&] { return transaction->AddEdge(v, v, label + "e", std::nullopt, {}).ok(); };
  EXPECT_GT(bytes_of(edge), label.size());
  EXPECT_LT(bytes_of(edge), label.size());
}

// Each kind of change, and what look-ups leave behind: refused when it does not fit, and then not
// kept; given back at the end.
TEST_F(TransactionTest, WhatIsKeptIsChargedBefore) {
  const auto account = std::make_shared<MemoryAccount>("query", 1 << 20);
  std::shared_ptr<Transaction> transaction = store_->Begin();
  const VertexRef v = transaction->AddVertex("a", std::nullopt, {}).value();
  const EdgeRef e = transaction->AddEdge(v, v, "e", std::nullopt, {}).value();
  transaction->ChargeTo(account);
  EXPECT_EQ(account->used(), static_cast<int64_t>(transaction->ByteSize()));
  const int64_t rest = account->limit() - account->used();
  ASSERT_TRUE(account->TryCharge(rest));
  const size_t before = transaction->ByteSize();
  const Value id = Value::String("nobody");
  std::vector<uint32_t> rows;
  std::vector<VertexRef> found;
  for (const Status& refused : {transaction->AddVertex("a", std::nullopt, {}).status(),
                                transaction->AddEdge(v, v, "e", std::nullopt, {}).status(),
                                transaction->SetProperty(v, "k", Value::Int(1)),
                                transaction->SetProperty(e, "k", Value::Int(1)),
                                transaction->DropEdge(e), DropVertex(transaction.get(), v),
                                transaction->GuardLookup({}), transaction->GuardEdgeScan({}),
                                transaction->LookupVertices(std::span(&id, 1), &rows, &found),
                                transaction->TakeCommit(nullptr).status()}) {
    EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted) << refused;
  }
  EXPECT_EQ(transaction->ByteSize(), before);
  EXPECT_EQ(AllVertices(*transaction).size(), 1u);
  EXPECT_EQ(AllEdges(*transaction).size(), 1u);
  account->Release(rest);
  ASSERT_TRUE(DropVertex(transaction.get(), v).ok());
  EXPECT_GT(account->used(), static_cast<int64_t>(before));
  transaction.reset();
  EXPECT_EQ(account->used(), 0);
}

// What was set before is charged no more.
TEST_F(TransactionTest, APropertyThatIsSetAgainIsChargedOnce) {
  std::shared_ptr<Transaction> transaction = store_->Begin();
  const VertexRef v = transaction->AddVertex("a", std::nullopt, {}).value();
  const EdgeRef e = transaction->AddEdge(v, v, "e", std::nullopt, {}).value();
  size_t once = 0;
  for (int i = 0; i < 100; ++i) {
    const Value text = Value::String(std::string(10'000, static_cast<char>('a' + i % 26)));
    ASSERT_TRUE(transaction->SetProperty(v, "k", text).ok());
    ASSERT_TRUE(transaction->SetProperty(e, "k", text).ok());
    if (i == 0) once = transaction->ByteSize();
    EXPECT_EQ(transaction->ByteSize(), once);
  }
  ASSERT_TRUE(transaction->SetProperty(v, "k", Value::Int(1)).ok());
  EXPECT_LT(transaction->ByteSize(), once - 9'000);
}

// Many edges are dropped in pieces, the added and the stored ones.
TEST_F(TransactionTest, AVertexWithManyEdgesIsDroppedInPieces) {
  std::unique_ptr<Transaction> transaction = store_->Begin();
  const VertexRef hub = transaction->AddVertex("hub", std::nullopt, {}).value();
  const VertexRef other = transaction->AddVertex("a", std::nullopt, {}).value();
  const auto add = [&] {
    for (int i = 0; i < 10'000; ++i) {
      ASSERT_TRUE(transaction->AddEdge(hub, other, "e", std::nullopt, {}).ok());
    }
  };
  add();
  ASSERT_TRUE(store_->Commit(transaction->TakeBatch()).ok());
  transaction = store_->Begin();
  add();
  Transaction::DropCursor cursor;
  int pieces = 0;
  for (size_t before = transaction->ByteSize(); !cursor.done; ++pieces) {
    ASSERT_TRUE(transaction->DropVertex(hub, &cursor).ok());
    EXPECT_LT(transaction->ByteSize() - before, 300'000u);
    before = transaction->ByteSize();
  }
  EXPECT_GE(pieces, 6);
  EXPECT_TRUE(AllEdges(*transaction).empty());
}

// A vertex that has changed in one property is found once by an index of another one.
TEST(TransactionSeekTest, ASeekGivesEachChangedVertexOnce) {
  auto graph = std::make_shared<MemoryGraph>();
  const VertexRef ann =
      *graph->AddVertex(std::nullopt, "p", {{"x", Value::Int(1)}, {"y", Value::Int(1)}});
  const VertexRef bob =
      *graph->AddVertex(std::nullopt, "p", {{"x", Value::Int(2)}, {"y", Value::Int(2)}});
  graph->IndexVertices("p", {"x"});
  graph->IndexVertices("p", {"y"});
  Transaction transaction(graph, graph->NewNumbers());
  ASSERT_TRUE(transaction.SetProperty(ann, "y", Value::Int(3)).ok());
  const VertexRef eve =
      *transaction.AddVertex("p", std::nullopt, {{"x", Value::Int(3)}, {"y", Value::Int(3)}});
  ASSERT_TRUE(transaction.SetProperty(eve, "y", Value::Int(4)).ok());
  const auto found_by = [&](const char* key, int at_least) {
    const LabelId label = transaction.schema().labels.Find("p");
    const KeyId key_id = transaction.schema().keys.Find(key);
    SoughtKey sought;
    sought.bounds.push_back({KeyBound::Op::kAtLeast, Value::Int(at_least)});
    const auto seek = MakeSeek(transaction.schema(), {&label, 1}, {&key_id, 1}, {&sought, 1});
    EXPECT_TRUE(seek.has_value());
    std::vector<VertexRef> found;
    for (uint32_t p = 0; p < transaction.num_partitions(); ++p) {
      SeekCursor cursor;
      while (!cursor.done) {
        EXPECT_TRUE(transaction.SeekVertices(p, *seek, &cursor, 10, &found).ok());
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  const auto sorted = [](std::vector<VertexRef> vertices) {
    std::sort(vertices.begin(), vertices.end());
    return vertices;
  };
  EXPECT_EQ(found_by("x", 1), sorted({ann, bob, eve}));
  EXPECT_EQ(found_by("y", 3), sorted({ann, eve}));
  // One that is changed and sought in turns costs once.
  const size_t bytes = transaction.ByteSize();
  for (int y = 3; y < 100; ++y) {
    ASSERT_TRUE(transaction.SetProperty(ann, "y", Value::Int(y)).ok());
    EXPECT_EQ(found_by("y", y).front(), ann);
  }
  EXPECT_EQ(transaction.ByteSize(), bytes);
}

}  // namespace
}  // namespace koios::storage
