// Random traversals for the simulation: a small tree of steps that is turned into a plan for the
// engine (step_plan), and evaluated row at a time by a plain recursive evaluator (evaluator), the
// independent answer. Neither uses the parser or the planner.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/value.h"
#include "proto/plan.pb.h"
#include "storage/memory_graph.h"
#include "tests/simulation/graph_state.h"

namespace koios::simulation {

// How the iterations of a loop come one after the other: not at all, by a barrier, by one that
// keeps one row of those that are equal.
enum class LockStep { kNone, kBarrier, kMerging };

struct Step {
  enum class Kind {
    kOut,
    kIn,
    kBoth,
    kHasOver,  // has('n', gt(number))
    kDedup,
    kMerge,   // equal rows become one, as far as `number` + 1 are remembered
    kValues,  // values('n')
    kOver,    // is(gt(number))
    kCount,
    kSum,
    kMin,
    kMax,
    kLimitCount,  // limit(number).count()
    kUnion,
    kWhere,
    kNot,
    kOptional,
    kLocal,
    kCoalesce,
    kRepeat,      // repeat(child).times(number)
    kRepeatEmit,  // repeat(child).emit().times(number)
    kSimplePath,
    kAggregate,  // aggregate('x' + number), of the whole traversal
    kWithout,    // where(without('x' + number))
    kCapUnfold,  // cap('x' + number).unfold()
    // Changes, of the whole traversal or of a repeat() in it. Behind what reads the graph, and
    // before what reads it again, all rows have come (barrier()).
    kSetNumber,    // property('n', number); 0: takes the property away
    kAddVertex,    // addV('v').property('n', number), and an edge to it where number is odd;
                   // kRowItself: property('n', the row), which is a number
    kAddVertexTo,  // sideEffect(addV('v').property('n', number))
    kAddEdge,      // as('a').out().addE('e').from('a').inV(); or in(), or from itself, by number
    kDrop,         // drop(); or outE().drop(), bothE().drop(), by number
    kCountScan,    // count().V(): all that there is now
    kGroup,        // group().by().by(count(), sum() or max(), by number).unfold().select(values)
  };
  Kind kind = Kind::kOut;
  int64_t number = 0;
  std::vector<std::vector<Step>> children;
  LockStep lock_step = LockStep::kNone;  // kRepeat, kRepeatEmit
};

using Traversal = std::vector<Step>;

inline constexpr int64_t kRowItself = -1;  // number of kAddVertex

inline constexpr char kPathLabel[] = "a";  // of all that a path has

// V() followed by random steps; `limit`: the whole is cut by limit(limit). `paths`: by path(), and
// all steps keep the path of each row.
struct RandomQuery {
  Traversal steps;
  std::optional<int64_t> limit;
  bool paths = false;
};
RandomQuery MakeQuery(Rng* rng, bool paths);
// Puts steps into it that add to side-effects and ask them, and takes its limits out.
void AddEffects(Rng* rng, RandomQuery* query);
// Likewise steps that change the graph, and read what is there then. REQUIRES: no paths.
void AddChanges(Rng* rng, RandomQuery* query);
bool ChangesGraph(const Step& step);
bool ReadsGraph(const Step& step);
bool ChangesGraph(const RandomQuery& query);
std::string ToText(const RandomQuery& query);
// `isolated`: no worker reads a partition of another one.
plan::Plan ToPlan(const RandomQuery& query, bool isolated = false);

// A graph of vertices 'v', some with a number 'n', and edges 'e' between them.
struct GraphData {
  struct Edge {
    uint32_t from = 0;
    uint32_t to = 0;
  };
  uint32_t partitions = 1;
  std::vector<std::optional<int64_t>> vertices;  // their numbers
  std::vector<Edge> edges;                       // by the vertices' places
};
std::shared_ptr<const storage::MemoryGraph> BuildGraph(const GraphData& data);
// Random edges, self-loops and hubs included.
GraphData MakeGraphData(Rng* rng);
std::shared_ptr<const storage::MemoryGraph> MakeGraph(Rng* rng);

struct Answer {
  std::vector<Value> rows;
  // Where the last step is repeat().emit() in lock-step: how many rows have left when an iteration
  // is through, one number each. A limit takes what leaves first.
  std::vector<size_t> iterations;
  GraphState graph;  // afterwards; new vertices have references that no graph gives
};

// Without the limit. nullopt when the result is too large to be worth comparing.
std::optional<Answer> Evaluate(const RandomQuery& query, const storage::GraphView& graph);

}  // namespace koios::simulation
