#include "tests/simulation/graph_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/random.h"
#include "core/status.h"

namespace koios::simulation {
namespace {

constexpr int kHops = 3;
constexpr size_t kAtOnce = 100;

std::vector<VertexRef> EndsOf(const storage::GraphView& view, VertexRef vertex,
                              Direction direction) {
  const LabelId label = view.schema().labels.Find("e");
  std::vector<VertexRef> ends;
  storage::ExpandCursor cursor;
  while (!cursor.done) {
    storage::Expansion found;
    CHECK(view.Expand({&vertex, 1}, direction, {&label, 1}, false, &cursor, kAtOnce, &found).ok());
    ends.insert(ends.end(), found.neighbours.begin(), found.neighbours.end());
  }
  return ends;
}

std::optional<int64_t> NumberOf(const storage::GraphView& view, VertexRef vertex) {
  const KeyId key = view.schema().keys.Find("n");
  storage::PropertyRows found;
  CHECK(view.VertexProperties({&vertex, 1}, {&key, 1}, &found).ok());
  if (found.rows.empty()) return std::nullopt;
  return found.values.Get(0).AsInteger();
}

void TakeOut(VertexRef vertex, std::vector<VertexRef>* ends) {
  const auto found = std::find(ends->begin(), ends->end(), vertex);
  CHECK(found != ends->end());
  ends->erase(found);
}

// Of the ends, in whatever order.
uint64_t HashOf(const std::vector<VertexRef>& ends,
                const std::map<VertexRef, uint64_t>& likenesses) {
  std::vector<uint64_t> all;
  for (const VertexRef end : ends) {
    const auto found = likenesses.find(end);
    all.push_back(found == likenesses.end() ? 0 : found->second);
  }
  std::sort(all.begin(), all.end());
  uint64_t hash = all.size();
  for (const uint64_t one : all) hash = MixSeeds(hash, one);
  return hash;
}

}  // namespace

GraphState GraphState::Read(const storage::GraphView& view) {
  GraphState state;
  const LabelId label = view.schema().labels.Find("v");
  for (uint32_t partition = 0; partition < view.num_partitions(); ++partition) {
    storage::ScanCursor cursor;
    while (!cursor.done) {
      std::vector<VertexRef> found;
      CHECK(view.ScanVertices(partition, {&label, 1}, &cursor, kAtOnce, &found).ok());
      for (const VertexRef vertex : found) {
        state.vertices_[vertex] = {NumberOf(view, vertex), EndsOf(view, vertex, Direction::kOut),
                                   EndsOf(view, vertex, Direction::kIn)};
      }
    }
  }
  return state;
}

VertexRef GraphState::AddVertex(std::optional<int64_t> number) {
  const VertexRef vertex{UINT64_MAX - num_added_++};
  vertices_[vertex].number = number;
  return vertex;
}

void GraphState::AddEdge(VertexRef from, VertexRef to) {
  vertices_.at(from).out.push_back(to);
  vertices_.at(to).in.push_back(from);
}

void GraphState::SetNumber(VertexRef vertex, std::optional<int64_t> number) {
  vertices_.at(vertex).number = number;
}

void GraphState::DropEdges(VertexRef vertex, Direction direction) {
  const auto found = vertices_.find(vertex);
  if (found == vertices_.end()) return;
  if (direction != Direction::kIn) {
    for (const VertexRef to : std::exchange(found->second.out, {})) {
      TakeOut(vertex, &vertices_.at(to).in);
    }
  }
  if (direction != Direction::kOut) {
    for (const VertexRef from : std::exchange(found->second.in, {})) {
      TakeOut(vertex, &vertices_.at(from).out);
    }
  }
}

void GraphState::DropVertex(VertexRef vertex) {
  DropEdges(vertex, Direction::kBoth);
  vertices_.erase(vertex);
}

std::map<VertexRef, int64_t> GraphState::Likenesses(const GraphState& before) const {
  std::map<VertexRef, uint64_t> now;
  for (const auto& [vertex, is] : vertices_) {
    const uint64_t reference = before.vertices_.contains(vertex) ? vertex.bits : UINT64_MAX;
    const uint64_t number = is.number ? static_cast<uint64_t>(*is.number) : UINT64_MAX;
    now[vertex] = MixSeeds(reference, number);
  }
  for (int hop = 0; hop < kHops; ++hop) {
    std::map<VertexRef, uint64_t> next;
    for (const auto& [vertex, is] : vertices_) {
      next[vertex] = MixSeeds(MixSeeds(now.at(vertex), HashOf(is.out, now)), HashOf(is.in, now));
    }
    now = std::move(next);
  }
  std::map<VertexRef, int64_t> likenesses;
  for (const auto& [vertex, hash] : now) likenesses[vertex] = static_cast<int64_t>(hash);
  return likenesses;
}

std::string Difference(const std::map<VertexRef, int64_t>& expected,
                       const std::map<VertexRef, int64_t>& found) {
  const auto sorted = [](const std::map<VertexRef, int64_t>& all) {
    std::vector<int64_t> values;
    for (const auto& [vertex, likeness] : all) values.push_back(likeness);
    std::sort(values.begin(), values.end());
    return values;
  };
  const std::vector<int64_t> a = sorted(expected), b = sorted(found);
  if (a == b) return "";
  std::vector<int64_t> missing;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(missing));
  return std::to_string(b.size()) + " vertices instead of " + std::to_string(a.size()) + ", " +
         std::to_string(missing.size()) + " of them not as they should be";
}

}  // namespace koios::simulation
