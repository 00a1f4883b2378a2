// The contract of GraphView as a test suite, whose tests are in graph_view_contract_test.cc. A
// backend is a ContractBackend. Run the contract on it with
//   INSTANTIATE_TEST_SUITE_P(Name, GraphViewContract, testing::Values(&MakeBackend<Backend>, ...));
// Expected answers are worked out from the batch, naively.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/testing/make_value.h"
#include "core/value_compare.h"
#include "storage/contract_graph.h"
#include "storage/graph_view.h"
#include "storage/rocks/rocks_view.h"
#include "storage/write_batch.h"

namespace koios::storage {

class GraphViewContract : public ::testing::TestWithParam<BackendMaker> {
 protected:
  void SetUp() override {
    batch_ = ContractBatch();
    graph_ = backend_->Build(batch_);
    ASSERT_EQ(graph_.vertices.size(), batch_.vertices.size());
    ASSERT_EQ(graph_.edges.size(), batch_.edges.size());
  }

  const GraphView& view() const { return *graph_.view; }
  LabelId Label(const std::string& name) const { return view().schema().labels.Find(name); }
  KeyId Key(const std::string& name) const { return view().schema().keys.Find(name); }
  VertexRef Missing() const { return VertexRef::Make(0, 1'000'000); }
  std::vector<std::vector<LabelId>> LabelChoices() const {
    return {{},
            {Label("knows")},
            {Label("in"), Label("created")},
            {Label("knows"), Label("in"), Label("created")},
            {Label("person")},
            {kNoName}};
  }

  struct End {
    Direction direction;
    LabelId label;
    VertexRef neighbour;
    uint64_t edge;
    auto Order() const { return std::tuple(direction, label, neighbour, edge); }
  };
  std::vector<End> EndsOf(VertexRef vertex, Direction direction,
                          const std::vector<LabelId>& labels) const {
    std::vector<End> ends;
    for (size_t i = 0; i < batch_.edges.size(); ++i) {
      const LabelId label = Label(batch_.edges[i].label);
      if (!labels.empty() && std::count(labels.begin(), labels.end(), label) == 0) continue;
      const VertexRef out = graph_.vertices[*batch_.edges[i].out.added];
      const VertexRef in = graph_.vertices[*batch_.edges[i].in.added];
      const uint64_t id = graph_.edges[i].id;
      if (out == vertex && direction != Direction::kIn) {
        ends.push_back({Direction::kOut, label, in, id});
      }
      if (in == vertex && direction != Direction::kOut) {
        ends.push_back({Direction::kIn, label, out, id});
      }
    }
    std::sort(ends.begin(), ends.end(),
              [](const End& a, const End& b) { return a.Order() < b.Order(); });
    return ends;
  }

  const std::unique_ptr<ContractBackend> backend_ = GetParam()();
  WriteBatch batch_;
  BuiltGraph graph_;
};

// Look-ups by id, whole, and step by step in one place each (index/lookup_contract_test.cc).
class LookupContract : public GraphViewContract {};

}  // namespace koios::storage
