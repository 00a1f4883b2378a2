#include "tests/simulation/step_tree.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace koios::simulation {
namespace {

using Kind = Step::Kind;

constexpr int kMaxDepth = 3;

// Whether vertices come out of the step, or of the steps, where such rows come in.
bool GivesVertices(const Traversal& steps, size_t number, bool vertices);
bool GivesVertices(const Step& step, bool vertices) {
  switch (step.kind) {
    case Kind::kValues:
    case Kind::kCount:
    case Kind::kLimitCount:
    case Kind::kGroup:
      return false;
    case Kind::kUnion:
    case Kind::kLocal:
    case Kind::kCoalesce:
      return GivesVertices(step.children[0], step.children[0].size(), vertices);
    case Kind::kAddVertex:
    case Kind::kCountScan:
      return true;
    default:
      return vertices;
  }
}

bool GivesVertices(const Traversal& steps, size_t number, bool vertices) {
  for (size_t i = 0; i < number; ++i) vertices = GivesVertices(steps[i], vertices);
  return vertices;
}

// `vertices`: whether rows are vertices (else numbers); updated to what comes out.
Traversal MakeSteps(Rng* rng, bool paths, int depth, int length, bool* vertices);

Step MakeVertexStep(Rng* rng, bool paths, int depth, bool* vertices) {
  static constexpr Kind kWithPaths[] = {Kind::kOut,     Kind::kIn,    Kind::kBoth,
                                        Kind::kHasOver, Kind::kMerge, Kind::kSimplePath};
  static constexpr Kind kFlat[] = {Kind::kOut,        Kind::kIn,    Kind::kBoth,   Kind::kHasOver,
                                   Kind::kDedup,      Kind::kMerge, Kind::kValues, Kind::kCount,
                                   Kind::kLimitCount, Kind::kGroup};
  static constexpr Kind kNested[] = {Kind::kUnion,    Kind::kWhere,     Kind::kNot,
                                     Kind::kOptional, Kind::kLocal,     Kind::kCoalesce,
                                     Kind::kRepeat,   Kind::kRepeatEmit};
  Step step;
  const bool nested = depth < kMaxDepth && rng->Uniform(3) == 0;
  step.kind = nested  ? kNested[rng->Uniform(std::size(kNested))]
              : paths ? kWithPaths[rng->Uniform(std::size(kWithPaths))]
                      : kFlat[rng->Uniform(std::size(kFlat))];
  step.number = static_cast<int64_t>(rng->Uniform(10));
  if (step.kind == Kind::kGroup) step.number *= 3;  // vertices are counted
  if (!nested && !GivesVertices(step, true)) *vertices = false;
  if (!nested) return step;
  if (step.kind == Kind::kRepeat || step.kind == Kind::kRepeatEmit) {
    step.number = static_cast<int64_t>(1 + rng->Uniform(3));
    step.lock_step = static_cast<LockStep>(rng->Uniform(3));
  }
  const bool filter = step.kind == Kind::kWhere || step.kind == Kind::kNot;
  const size_t children =
      step.kind == Kind::kUnion || step.kind == Kind::kCoalesce ? 2 + rng->Uniform(2) : 1;
  // All branches must give the same sort of rows; an optional gives its input too.
  std::optional<bool> gives;
  while (step.children.size() < children) {
    bool child = true;
    Traversal steps =
        MakeSteps(rng, paths, depth + 1, static_cast<int>(1 + rng->Uniform(3)), &child);
    if (!filter && gives.has_value() && *gives != child) continue;
    const bool again = step.kind == Kind::kRepeat || step.kind == Kind::kRepeatEmit;
    if ((again || step.kind == Kind::kOptional) && !child) continue;
    gives = child;
    step.children.push_back(std::move(steps));
  }
  if (!filter) *vertices = *gives;
  return step;
}

Step MakeNumberStep(Rng* rng) {
  static constexpr Kind kFlat[] = {Kind::kOver,  Kind::kDedup,      Kind::kMerge,
                                   Kind::kCount, Kind::kSum,        Kind::kMin,
                                   Kind::kMax,   Kind::kLimitCount, Kind::kGroup};
  Step step;
  step.kind = kFlat[rng->Uniform(std::size(kFlat))];
  step.number = static_cast<int64_t>(rng->Uniform(10));
  return step;
}

Traversal MakeSteps(Rng* rng, bool paths, int depth, int length, bool* vertices) {
  Traversal steps;
  for (int i = 0; i < length; ++i) {
    steps.push_back(*vertices ? MakeVertexStep(rng, paths, depth, vertices) : MakeNumberStep(rng));
  }
  return steps;
}

// What a limit would have spared may be added, or changed, or not.
void LiftLimits(RandomQuery* query) {
  query->limit.reset();
  const std::function<void(Traversal*)> lift = [&lift](Traversal* steps) {
    for (Step& step : *steps) {
      if (step.kind == Kind::kLimitCount) step.kind = Kind::kCount;
      for (Traversal& child : step.children) lift(&child);
    }
  };
  lift(&query->steps);
}

bool IsLoop(const Step& step) {
  return step.kind == Kind::kRepeat || step.kind == Kind::kRepeatEmit;
}

// One change, or a look at what is there, somewhere in the steps. Where rows are numbers nothing
// becomes of them that the steps behind could not take.
void AddChange(Rng* rng, Traversal* steps) {
  static constexpr Kind kOfVertices[] = {Kind::kSetNumber,   Kind::kSetNumber, Kind::kAddVertex,
                                         Kind::kAddVertexTo, Kind::kAddEdge,   Kind::kAddEdge,
                                         Kind::kCountScan};
  const size_t at = rng->Uniform(steps->size() + 1);
  Step step{kOfVertices[rng->Uniform(std::size(kOfVertices))],
            static_cast<int64_t>(rng->Uniform(12)),
            {}};
  if (!GivesVertices(*steps, at, true)) {
    step.kind = at == steps->size() ? Kind::kAddVertex : Kind::kAddVertexTo;
    if (step.kind == Kind::kAddVertex) step.number = kRowItself;
  }
  steps->insert(steps->begin() + static_cast<std::ptrdiff_t>(at), std::move(step));
}

}  // namespace

bool ChangesGraph(const Step& step) {
  const auto any = [](const Traversal& child) {
    return std::any_of(child.begin(), child.end(), [](const Step& s) { return ChangesGraph(s); });
  };
  return (step.kind >= Kind::kSetNumber && step.kind <= Kind::kDrop) ||
         std::any_of(step.children.begin(), step.children.end(), any);
}

bool ReadsGraph(const Step& step) {
  const auto any = [](const Traversal& child) {
    return std::any_of(child.begin(), child.end(), [](const Step& s) { return ReadsGraph(s); });
  };
  const bool looks = step.kind == Kind::kAddEdge || step.kind == Kind::kDrop;
  return step.kind <= Kind::kHasOver || step.kind == Kind::kValues ||
         step.kind == Kind::kCountScan || (looks && step.number % 3 != 0) ||
         std::any_of(step.children.begin(), step.children.end(), any);
}

bool ChangesGraph(const RandomQuery& query) {
  return std::any_of(query.steps.begin(), query.steps.end(),
                     [](const Step& step) { return ChangesGraph(step); });
}

void AddChanges(Rng* rng, RandomQuery* query) {
  LiftLimits(query);
  const uint64_t changes = 1 + rng->Uniform(3);
  for (uint64_t i = 0; i < changes; ++i) {
    Traversal* steps = &query->steps;
    for (Step& step : query->steps) {
      if (IsLoop(step) && rng->Uniform(2) == 0) steps = &step.children[0];
    }
    AddChange(rng, steps);
  }
  const auto number = static_cast<int64_t>(rng->Uniform(12));
  if (GivesVertices(query->steps, query->steps.size(), true) && rng->Uniform(3) == 0) {
    query->steps.push_back({Kind::kDrop, number, {}});
  }
  if (rng->Uniform(3) == 0) query->steps.push_back({Kind::kCountScan, number, {}});
}

void AddEffects(Rng* rng, RandomQuery* query) {
  LiftLimits(query);
  const int64_t bags = static_cast<int64_t>(1 + rng->Uniform(2));
  const auto put = [&](Traversal* steps, Kind kind, int64_t bag) {
    const auto at = static_cast<std::ptrdiff_t>(rng->Uniform(steps->size() + 1));
    steps->insert(steps->begin() + at, Step{kind, bag, {}});
  };
  for (int64_t bag = 0; bag < bags; ++bag) {
    Traversal* steps = &query->steps;
    bool emits = false;
    for (Step& step : query->steps) {
      if (!IsLoop(step) || rng->Uniform(2) != 0) continue;
      steps = &step.children[0];
      emits = step.kind == Kind::kRepeatEmit;
    }
    put(steps, Kind::kAggregate, bag);
    if (rng->Uniform(3) != 0) put(steps, Kind::kWithout, bag);
    // What is emitted asks before the next iteration adds (golden/modern/effect.test); the
    // evaluator goes on with all iterations' rows at once.
    if (rng->Uniform(3) == 0 && !emits) put(&query->steps, Kind::kWithout, bag);
  }
  if (rng->Uniform(2) == 0) {
    const auto bag = static_cast<int64_t>(rng->Uniform(static_cast<uint64_t>(bags)));
    query->steps.push_back({Kind::kCapUnfold, bag, {}});
  }
}

RandomQuery MakeQuery(Rng* rng, bool paths) {
  RandomQuery query;
  query.paths = paths;
  bool vertices = true;
  query.steps = MakeSteps(rng, paths, 0, static_cast<int>(1 + rng->Uniform(5)), &vertices);
  if (rng->Uniform(4) == 0) query.limit = static_cast<int64_t>(1 + rng->Uniform(20));
  return query;
}

std::shared_ptr<const storage::MemoryGraph> BuildGraph(const GraphData& data) {
  auto graph = std::make_shared<storage::MemoryGraph>(data.partitions);
  std::vector<VertexRef> vertices;
  for (const std::optional<int64_t>& number : data.vertices) {
    storage::PropertyList properties;
    if (number.has_value()) properties.emplace_back("n", Value::Long(*number));
    const Value id = Value::Long(static_cast<int64_t>(vertices.size()));
    auto vertex = graph->AddVertex(id, "v", properties);
    CHECK(vertex.ok());
    vertices.push_back(*vertex);
  }
  for (const GraphData::Edge& edge : data.edges) {
    CHECK(graph->AddEdge(vertices.at(edge.from), vertices.at(edge.to), "e").ok());
  }
  return graph;
}

GraphData MakeGraphData(Rng* rng) {
  GraphData data;
  data.partitions = static_cast<uint32_t>(1 + rng->Uniform(8));
  const uint64_t num_vertices = rng->Uniform(30);
  for (uint64_t i = 0; i < num_vertices; ++i) {
    std::optional<int64_t> number;
    if (rng->Uniform(5) != 0) number = static_cast<int64_t>(rng->Uniform(12));
    data.vertices.push_back(number);
  }
  const uint64_t num_edges = num_vertices == 0 ? 0 : rng->Uniform(num_vertices * 3);
  for (uint64_t i = 0; i < num_edges; ++i) {
    // The smaller of two draws: low numbers become hubs.
    const auto pick = [&] {
      const uint64_t one = rng->Uniform(num_vertices);
      return static_cast<uint32_t>(std::min(one, rng->Uniform(num_vertices)));
    };
    const uint32_t to = pick();
    data.edges.push_back({pick(), to});
  }
  return data;
}

std::shared_ptr<const storage::MemoryGraph> MakeGraph(Rng* rng) {
  return BuildGraph(MakeGraphData(rng));
}

}  // namespace koios::simulation
