// Changes made part by part, each where it belongs, are those made at once.
#include <gtest/gtest.h>

#include <map>

#include "core/random.h"
#include "storage/index/vertex_seek.h"
#include "storage/memory_graph.h"
#include "storage/store_test_support.h"
#include "storage/transaction/transaction.h"
#include "storage/view/owned_view.h"
#include "storage/view/testing/same_views.h"

namespace koios::storage {
namespace {

constexpr uint32_t kPartitions = 5;
constexpr uint32_t kWorkers = 3;

std::shared_ptr<MemoryGraph> Graph(std::vector<VertexRef>* vertices, std::vector<EdgeRef>* edges) {
  auto graph = std::make_shared<MemoryGraph>(kPartitions);
  for (int64_t id = 0; id < 12; ++id) {
    vertices->push_back(
        graph->AddVertex(Value::Long(id), "v", {{"n", Value::Long(id % 3)}}).value());
  }
  for (size_t i = 0; i < 20; ++i) {
    edges->push_back(
        graph->AddEdge((*vertices)[i % 12], (*vertices)[i * 7 % 12], "e", {{"w", Value::Int(1)}})
            .value());
  }
  return graph;
}

// The same request in one piece and in parts.
class PartsTest : public ::testing::TestWithParam<uint64_t> {
 public:
  static void TearDownTestSuite() {
    EXPECT_GE(compared_ * 2, ran_) << "most requests fail before they can be compared";
  }

 protected:
  PartsTest()
      : graph_(Graph(&vertices_, &edges_)),
        numbers_(std::make_shared<Numbers>(kPartitions)),
        whole_(graph_, std::make_shared<Numbers>(kPartitions)),
        split_(graph_, numbers_),
        living_(vertices_) {
    std::vector<std::shared_ptr<const GraphView>> bases;
    for (uint32_t i = 0; i < kWorkers; ++i) {
      bases.push_back(std::make_shared<OwnedView>(graph_, i, kWorkers));
    }
    parts_ = split_.Split(bases);
  }

  Transaction* PartOf(uint32_t partition) { return parts_[partition % kWorkers].get(); }

  void AddVertex(const Value& id, const std::string& label) {
    const PropertyList properties = {{"n", Value::Int(7)}, {label + "-key", Value::Bool(true)}};
    const StatusOr<VertexRef> once = whole_.AddVertex(label, id, properties);
    const StatusOr<VertexRef> there =
        PartOf(graph_->PartitionOfId(id))->AddVertex(label, id, properties);
    ASSERT_EQ(once.status().code(), there.status().code()) << once.status() << there.status();
    if (!once.ok()) return;
    ASSERT_EQ(*once, *there);
    vertices_.push_back(*once);
    living_.push_back(*once);
  }

  void AddEdge(VertexRef out, VertexRef in, const std::string& label,
               const std::optional<Value>& id) {
    const StatusOr<EdgeRef> once = whole_.AddEdge(out, in, label, id, {{"w", Value::Int(2)}});
    StatusOr<EdgeRef> there =
        PartOf(out.partition())->AddEdgeAtOut(out, in, label, id, {{"w", Value::Int(2)}});
    Status status = there.status();
    if (status.ok()) status = PartOf(in.partition())->AddEdgeAtIn(*there);
    if (status.ok() && id) status = PartOf(graph_->PartitionOfId(*id))->NoteEdgeId(*there, *id);
    ASSERT_EQ(once.status().code(), status.code()) << once.status() << status;
    failed_ = !status.ok();
    if (!failed_) edges_.push_back(*once);
  }

  void DropVertex(VertexRef vertex) {
    std::erase(living_, vertex);
    ASSERT_TRUE(storage::DropVertex(&whole_, vertex).ok());
    Transaction::DropCursor here;
    while (!here.done) {
      std::vector<EdgeRef> edges;
      ASSERT_TRUE(PartOf(vertex.partition())->DropVertexHere(vertex, &here, &edges).ok());
      for (const EdgeRef& edge : edges) {
        ASSERT_TRUE(PartOf(edge.out.partition())->HideEdge(edge).ok());
        ASSERT_TRUE(PartOf(edge.in.partition())->HideEdge(edge).ok());
      }
    }
  }

  void DropEdge(const EdgeRef& edge) {
    ASSERT_TRUE(whole_.DropEdge(edge).ok());
    ASSERT_TRUE(PartOf(edge.out.partition())->DropEdge(edge).ok());
    ASSERT_TRUE(PartOf(edge.in.partition())->HideEdge(edge).ok());
  }

  void SetProperty(Rng* rng) {
    const std::string key = rng->Uniform(2) == 0 ? "n" : "new";
    const Value value = rng->Uniform(3) == 0 ? Value::Null() : Value::Int(9);
    if (rng->Uniform(2) == 0) {
      const VertexRef vertex = AnyVertex(rng);
      EXPECT_EQ(whole_.SetProperty(vertex, key, value),
                PartOf(vertex.partition())->SetProperty(vertex, key, value));
    } else {
      const EdgeRef edge = edges_[rng->Uniform(edges_.size())];
      EXPECT_EQ(whole_.SetProperty(edge, key, value),
                PartOf(edge.out.partition())->SetProperty(edge, key, value));
    }
  }

  // Now and then one that may be dropped.
  VertexRef AnyVertex(Rng* rng) const {
    const std::vector<VertexRef>& from = rng->Uniform(40) == 0 ? vertices_ : living_;
    return from[rng->Uniform(from.size())];
  }

  void Change(int i, Rng* rng) {
    const VertexRef vertex = AnyVertex(rng);
    const Value id = Value::Long(static_cast<int64_t>(100 + rng->Uniform(40)));
    const std::string label = "l" + std::to_string(rng->Uniform(6));
    switch (rng->Uniform(6)) {
      case 0:
        AddVertex(id, label);
        break;
      case 1:
      case 2:
        AddEdge(vertex, AnyVertex(rng), label,
                rng->Uniform(3) == 0 ? std::optional(Value::String("e" + std::to_string(i)))
                                     : std::nullopt);
        break;
      case 3:
        if (rng->Uniform(3) == 0) DropVertex(vertex);
        break;
      case 4:
        DropEdge(edges_[rng->Uniform(edges_.size())]);
        break;
      default:
        SetProperty(rng);
    }
  }

  // The edges at the ends of all vertices.
  std::multiset<std::pair<uint32_t, uint64_t>> Ends(const GraphView& view,
                                                    Direction direction) const {
    std::multiset<std::pair<uint32_t, uint64_t>> all;
    const Expansion expansion =
        testing::WholeExpansion(view, vertices_, direction, {}, /*want_edges=*/true, 5);
    for (size_t i = 0; i < expansion.rows.size(); ++i) {
      all.emplace(expansion.rows[i], expansion.edges[i].id);
    }
    return all;
  }

  std::vector<VertexRef> vertices_;
  std::vector<EdgeRef> edges_;
  const std::shared_ptr<MemoryGraph> graph_;
  const std::shared_ptr<Numbers> numbers_;
  Transaction whole_, split_;
  std::vector<std::shared_ptr<Transaction>> parts_;
  std::vector<VertexRef> living_;
  bool failed_ = false;                       // a request ends there
  static inline int ran_ = 0, compared_ = 0;  // requests; those that went to their end
};

// What is added, by its number: names have their numbers in another order in each.
std::map<uint64_t, std::pair<std::string, PropertyList>> AddedOf(const WriteBatch& batch) {
  std::map<uint64_t, std::pair<std::string, PropertyList>> all;
  for (const AddedVertex& one : batch.vertices) all[one.ref->bits] = {one.label, one.properties};
  for (const AddedEdge& one : batch.edges) all[~one.number] = {one.label, one.properties};
  return all;
}

template <typename T>
std::vector<T> Sorted(std::vector<T> all) {
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<uint64_t> NumbersOf(const std::vector<EdgeRef>& edges) {
  std::vector<uint64_t> out;
  for (const EdgeRef& edge : edges) out.push_back(edge.id);
  return out;
}

void ExpectSameBatches(const WriteBatch& a, const WriteBatch& b) {
  const auto ours = AddedOf(a), theirs = AddedOf(b);
  EXPECT_EQ(ours.size(), theirs.size());
  for (const auto& [number, added] : ours) {
    const auto there = theirs.find(number);
    ASSERT_NE(there, theirs.end());
    EXPECT_EQ(added.first, there->second.first);
    EXPECT_EQ(added.second.size(), there->second.second.size());
  }
  EXPECT_EQ(Sorted(a.dropped_vertices), Sorted(b.dropped_vertices));
  EXPECT_EQ(Sorted(NumbersOf(a.dropped_edges)), Sorted(NumbersOf(b.dropped_edges)));
  EXPECT_EQ(a.vertex_properties.size(), b.vertex_properties.size());
  EXPECT_EQ(a.edge_properties.size(), b.edge_properties.size());
}

std::map<std::string, uint64_t> Counts(const Schema& schema) {
  std::map<std::string, uint64_t> all;
  for (const auto& [label, count] : schema.vertex_counts) all[schema.labels.Name(label)] = count;
  for (const auto& [label, count] : schema.edge_counts) {
    all["edges " + schema.labels.Name(label)] = count;
  }
  return all;
}

TEST_P(PartsTest, AreTheSameAsTheWhole) {
  ++ran_;
  Rng rng(GetParam());
  for (int i = 0; i < 60 && !failed_ && !HasFatalFailure(); ++i) Change(i, &rng);
  split_.Absorb(parts_);
  const WriteBatch a = whole_.TakeBatch(), b = split_.TakeBatch();
  if (failed_) return;
  ++compared_;
  ExpectSameBatches(a, b);
  EXPECT_EQ(whole_.schema().labels.size(), split_.schema().labels.size());
  EXPECT_EQ(Counts(whole_.schema()), Counts(split_.schema()));
  EXPECT_EQ(testing::AllVertices(whole_, {}, 3), testing::AllVertices(split_, {}, 3));
  EXPECT_EQ(testing::AllEdges(whole_, {}, 3), testing::AllEdges(split_, {}, 3));
  for (const Direction direction : {Direction::kOut, Direction::kIn}) {
    EXPECT_EQ(Ends(whole_, direction), Ends(split_, direction));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PartsTest, ::testing::Range<uint64_t>(1, 61));

// Ids that are assigned belong to whoever assigns them, and none is assigned twice.
TEST(TransactionPartsTest, AssignedIdsAreTheOwners) {
  const auto graph = std::make_shared<MemoryGraph>(kPartitions);
  Transaction split(graph, std::make_shared<Numbers>(kPartitions));
  std::vector<std::shared_ptr<const GraphView>> bases;
  for (uint32_t i = 0; i < kWorkers; ++i) {
    bases.push_back(std::make_shared<OwnedView>(graph, i, kWorkers));
  }
  const auto parts = split.Split(bases);
  std::set<VertexRef> all;
  for (int i = 0; i < 300; ++i) {
    const uint32_t worker = static_cast<uint32_t>(i) % kWorkers;
    const VertexRef vertex = parts[worker]->AddVertex("v", std::nullopt, {}).value();
    EXPECT_EQ(vertex.partition() % kWorkers, worker);
    EXPECT_TRUE(all.insert(vertex).second);
  }
  split.Absorb(parts);
  EXPECT_EQ(split.TakeBatch().vertices.size(), 300u);
}

// Of a whole that has nothing yet: what the part has charged is what it has room for.
TEST(TransactionPartsTest, RoomsAreCountedAsTheyWereCharged) {
  const auto graph = std::make_shared<MemoryGraph>(kPartitions);
  Transaction whole(graph, std::make_shared<Numbers>(kPartitions));
  const std::shared_ptr<const GraphView> base = graph;
  const auto parts = whole.Split(std::span(&base, 1));
  Transaction* const part = parts[0].get();
  for (int i = 0; i < 9000; ++i) {
    const auto vertex = part->AddVertex("v", std::nullopt, {});
    ASSERT_TRUE(vertex.ok());
    const auto edge = part->AddEdge(*vertex, *vertex, "e", Value::Long(i), {});
    ASSERT_TRUE(edge.ok());
    ASSERT_TRUE(part->SetProperty(*edge, "k", Value::Int(i)).ok());
    if (i % 2 > 0) continue;
    ASSERT_TRUE(DropVertex(part, *vertex).ok());
  }
  const size_t bytes = part->ByteSize();
  whole.Absorb(parts);
  EXPECT_EQ(whole.ByteSize(), bytes);
  EXPECT_EQ(part->ByteSize(), 0u);
}

std::vector<VertexRef> SoughtByX(const Transaction& transaction, int at_least) {
  const LabelId label = transaction.schema().labels.Find("p");
  const KeyId key = transaction.schema().keys.Find("x");
  SoughtKey sought;
  sought.bounds.push_back({KeyBound::Op::kAtLeast, Value::Int(at_least)});
  const auto seek = MakeSeek(transaction.schema(), {&label, 1}, {&key, 1}, {&sought, 1});
  CHECK(seek.has_value());
  std::vector<VertexRef> found;
  for (uint32_t partition = 0; partition < transaction.num_partitions(); ++partition) {
    SeekCursor cursor;
    while (!cursor.done) {
      CHECK(transaction.SeekVertices(partition, *seek, &cursor, 10, &found).ok());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Entries of indexes go over as they are: nothing is charged or given back twice when the whole is
// sought in, whether its parts were sought in before or not.
TEST(TransactionPartsTest, EntriesOfIndexesAreAbsorbed) {
  constexpr int kVertices = 60;
  const auto graph = std::make_shared<MemoryGraph>(kPartitions);
  std::vector<VertexRef> vertices;
  for (int i = 0; i < kVertices; ++i) {
    vertices.push_back(*graph->AddVertex(std::nullopt, "p", {{"x", Value::Int(0)}}));
  }
  std::sort(vertices.begin(), vertices.end());
  graph->IndexVertices("p", {"x"});
  Transaction once(graph, std::make_shared<Numbers>(kPartitions));
  Transaction split(graph, std::make_shared<Numbers>(kPartitions));
  const std::vector<std::shared_ptr<const GraphView>> bases(kWorkers, graph);
  const auto parts = split.Split(bases);
  for (const VertexRef vertex : vertices) {
    ASSERT_TRUE(once.SetProperty(vertex, "x", Value::Int(1)).ok());
    Transaction* const part = parts[vertex.partition() % kWorkers].get();
    ASSERT_TRUE(part->SetProperty(vertex, "x", Value::Int(1)).ok());
  }
  EXPECT_FALSE(SoughtByX(*parts[0], 1).empty());
  split.Absorb(parts);
  EXPECT_EQ(SoughtByX(split, 1), vertices);
  EXPECT_EQ(SoughtByX(once, 1), vertices);
  // But for a table's room, nothing depends on where it was changed, and when it was sought.
  EXPECT_EQ(split.ByteSize(), once.ByteSize());
}

// What parts had is charged once, to the whole, and with it goes.
TEST(TransactionPartsTest, WhatIsAbsorbedIsChargedOnce) {
  constexpr int kVertices = 12'000;  // so that tables are in parts
  const auto graph = std::make_shared<MemoryGraph>(kPartitions);
  const auto account = std::make_shared<MemoryAccount>("query");
  Transaction once(graph, std::make_shared<Numbers>(kPartitions));
  auto split = std::make_unique<Transaction>(graph, std::make_shared<Numbers>(kPartitions));
  split->ChargeTo(account);
  std::vector<std::shared_ptr<const GraphView>> bases;
  for (uint32_t i = 0; i < kWorkers; ++i) {
    bases.push_back(std::make_shared<OwnedView>(graph, i, kWorkers));
  }
  const auto parts = split->Split(bases);
  for (const auto& part : parts) part->ChargeTo(account);
  for (int i = 0; i < kVertices; ++i) {
    Transaction* const part = parts[i % kWorkers].get();
    const auto in_whole = once.AddVertex("v", std::nullopt, {{"n", Value::Int(i)}});
    const auto in_part = part->AddVertex("v", std::nullopt, {{"n", Value::Int(i)}});
    ASSERT_TRUE(in_whole.ok() && in_part.ok());
    ASSERT_TRUE(once.AddEdge(*in_whole, *in_whole, "e", std::nullopt, {}).ok());
    ASSERT_TRUE(part->AddEdge(*in_part, *in_part, "e", std::nullopt, {}).ok());
    if (i % 3 > 0) continue;
    ASSERT_TRUE(DropVertex(&once, *in_whole).ok());
    ASSERT_TRUE(DropVertex(part, *in_part).ok());
  }
  split->Absorb(parts);
  EXPECT_EQ(account->used(), static_cast<int64_t>(split->ByteSize()));
  for (const auto& part : parts) EXPECT_EQ(part->ByteSize(), 0u);
  EXPECT_LE(split->ByteSize(), once.ByteSize() * 5 / 4);
  EXPECT_GE(split->ByteSize(), once.ByteSize() * 4 / 5);
  const WriteBatch batch = split->TakeBatch();
  EXPECT_EQ(batch.vertices.size(), once.TakeBatch().vertices.size());
  EXPECT_EQ(batch.edges.size(), batch.vertices.size());
  split.reset();
  EXPECT_EQ(account->used(), 0);
}

}  // namespace
}  // namespace koios::storage
