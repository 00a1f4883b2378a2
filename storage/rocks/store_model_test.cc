// Random commits against a model in plain maps: the newest view and old ones, and across reopening.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "core/value_compare.h"
#include "storage/check.h"
#include "storage/rocks/graph_store.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

struct ModelEdge {
  int64_t out = 0, in = 0;
  std::string label;
};

struct Model {
  std::map<int64_t, std::map<std::string, int64_t>> vertices;  // by id: properties
  std::map<uint64_t, ModelEdge> edges;                         // by number
};

class StoreModelTest : public testing::TestWithParam<unsigned> {
 protected:
  void Open() {
    StoreOptions options = TestOptions(3);
    store_ = nullptr;
    store_ = GraphStore::Open(folder_ / "g", options).value();
  }
  size_t Random(size_t bound) { return random_() % bound; }
  int64_t RandomVertex() {
    auto vertex = model_.vertices.begin();
    std::advance(vertex, Random(model_.vertices.size()));
    return vertex->first;
  }
  VertexRef Ref(int64_t id) { return FindVertex(*store_->View(), Value::Long(id)).value(); }

  void CommitSomething();
  void DropSomething(WriteBatch* batch, Model* next);
  void ExpectEqual(const GraphView& view, const Model& model);
  void ExpectEnds(const GraphView& view, const Model& model, Direction direction,
                  const std::string& label);

  std::mt19937 random_{GetParam()};
  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
  Model model_;
};

void StoreModelTest::DropSomething(WriteBatch* batch, Model* next) {
  if (model_.edges.size() > 3 && Random(2) == 0) {
    auto edge = model_.edges.begin();
    std::advance(edge, Random(model_.edges.size()));
    batch->dropped_edges.push_back(EdgeRef{edge->first, {}, {}, 1});
    next->edges.erase(edge->first);
  }
  if (model_.vertices.size() > 12 && Random(3) == 0) {
    const int64_t id = RandomVertex();
    batch->dropped_vertices.push_back(Ref(id));
    next->vertices.erase(id);
    std::erase_if(next->edges,
                  [id](const auto& edge) { return edge.second.out == id || edge.second.in == id; });
  }
}

void StoreModelTest::CommitSomething() {
  WriteBatch batch;
  batch.read_version = store_->View()->version();
  Model next = model_;
  std::vector<ModelEdge> added;
  for (size_t i = Random(3); i > 0; --i) {
    const auto id = static_cast<int64_t>(Random(1000));
    if (next.vertices.contains(id)) continue;
    batch.vertices.push_back({Value::Long(id), id % 2 == 0 ? "even" : "odd", {}});
    next.vertices[id];
  }
  for (size_t i = Random(4); i > 0 && !model_.vertices.empty(); --i) {
    // Some vertices have many edges.
    ModelEdge edge{Random(3) == 0 ? model_.vertices.begin()->first : RandomVertex(), RandomVertex(),
                   Random(2) == 0 ? "a" : "b"};
    batch.edges.push_back(
        {std::nullopt, edge.label, Existing(Ref(edge.out)), Existing(Ref(edge.in)), {}});
    added.push_back(edge);
  }
  if (!model_.vertices.empty() && Random(2) == 0) {
    const int64_t id = RandomVertex();
    const std::string key = "k" + std::to_string(Random(4));
    const auto value = static_cast<int64_t>(Random(100));
    const bool remove = Random(4) == 0;
    batch.vertex_properties.push_back(
        {Ref(id), key, remove ? std::nullopt : std::optional(Value::Long(value))});
    next.vertices[id][key] = value;
    if (remove) next.vertices[id].erase(key);
  }
  DropSomething(&batch, &next);
  const StatusOr<CommitResult> result = store_->Commit(batch);
  ASSERT_TRUE(result.ok()) << MessageOf(result.status());
  for (size_t i = 0; i < added.size(); ++i) {
    const bool stored = !result->edge_ids[i].is_null();
    ASSERT_EQ(stored, next.vertices.contains(added[i].out) && next.vertices.contains(added[i].in));
    if (stored) next.edges[result->edges[i].id] = added[i];
  }
  model_ = std::move(next);
}

void StoreModelTest::ExpectEnds(const GraphView& view, const Model& model, Direction direction,
                                const std::string& label) {
  std::vector<VertexRef> refs;
  std::multiset<std::pair<int64_t, uint64_t>> expected, found;  // row's vertex, edge
  std::vector<int64_t> ids;
  for (const auto& [id, properties] : model.vertices) {
    ids.push_back(id);
    refs.push_back(FindVertex(view, Value::Long(id)).value());
  }
  for (const auto& [number, edge] : model.edges) {
    if (!label.empty() && edge.label != label) continue;
    if (direction != Direction::kIn) expected.emplace(edge.out, number);
    if (direction != Direction::kOut) expected.emplace(edge.in, number);
  }
  std::vector<LabelId> labels;
  if (!label.empty()) labels.push_back(view.schema().labels.Find(label));
  ExpandCursor cursor;
  const size_t limit = 1 + Random(20);
  while (!cursor.done) {
    Expansion out;
    ASSERT_TRUE(view.Expand(refs, direction, labels, true, &cursor, limit, &out).ok());
    for (size_t i = 0; i < out.rows.size(); ++i) found.emplace(ids[out.rows[i]], out.edges[i].id);
  }
  ASSERT_EQ(found, expected);
  std::vector<int64_t> degrees;
  ASSERT_TRUE(view.Degrees(refs, direction, labels, &degrees).ok());
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto from = expected.lower_bound({ids[i], 0});
    const auto to = expected.lower_bound({ids[i] + 1, 0});
    ASSERT_EQ(degrees[i], std::distance(from, to));
  }
}

void StoreModelTest::ExpectEqual(const GraphView& view, const Model& model) {
  ASSERT_EQ(CountVertices(view), model.vertices.size());
  for (const auto& [id, properties] : model.vertices) {
    const auto ref = FindVertex(view, Value::Long(id));
    ASSERT_TRUE(ref.has_value());
    PropertyRows rows;
    ASSERT_TRUE(view.VertexProperties({&*ref, 1}, {}, &rows).ok());
    ASSERT_EQ(rows.rows.size(), properties.size());
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      const int64_t value = properties.at(view.schema().keys.Name(rows.keys[i]));
      ASSERT_TRUE(Equivalent(rows.values.Get(i), Value::Long(value)));
    }
  }
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const char* label : {"", "a", "b"}) {
      ExpectEnds(view, model, direction, label);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(StoreModelTest, ViewsAreWhatTheModelWas) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  Open();
  std::vector<std::pair<std::shared_ptr<const GraphView>, Model>> kept;
  for (int step = 0; step < 80; ++step) {
    CommitSomething();
    if (HasFatalFailure()) return;
    if (step % 4 == 0) kept.emplace_back(store_->View(), model_);
    if (step % 8 == 7) {
      ExpectEqual(*store_->View(), model_);
      const auto& [view, model] = kept[Random(kept.size())];
      ExpectEqual(*view, model);
    }
    if (HasFatalFailure()) return;
    if (step % 40 == 39) {
      kept.clear();
      Open();
      ExpectEqual(*store_->View(), model_);
    }
  }
  const CheckReport report = Check(*store_).value();
  EXPECT_TRUE(report.ok()) << report.problems[0];
  EXPECT_EQ(report.edges, model_.edges.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, StoreModelTest, testing::Range(1u, 6u));

}  // namespace
}  // namespace koios::storage
