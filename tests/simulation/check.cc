#include "tests/simulation/check.h"

#include <algorithm>
#include <cstdio>

#include "core/value_compare.h"
#include "storage/transaction/transaction.h"

namespace koios::simulation {
namespace {

constexpr uint64_t kSeedsPerPath = 4;
constexpr uint64_t kSeedsPerEffect = 8;
constexpr uint64_t kSeedsPerChange = 4;
// Of a hard case: past them, some ten times what any has taken, the query counts as never ending.
constexpr uint64_t kMostTurns = 500'000;

void SortRows(std::vector<Value>* rows) {
  std::sort(rows->begin(), rows->end(), [](const Value& a, const Value& b) {
    return TotalOrder(a, b) == std::strong_ordering::less;
  });
}

// Numbers may come in another width: the evaluator adds in 64 bits.
bool SameRows(const std::vector<Value>& a, const std::vector<Value>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const Value& x, const Value& y) { return Equals(x, y); });
}

// `part` holds rows of `all` only, none more often. Both sorted.
bool IsPartOf(const std::vector<Value>& part, const std::vector<Value>& all) {
  size_t next = 0;
  for (const Value& row : part) {
    while (next < all.size() && !Equals(all[next], row)) ++next;
    if (next++ == all.size()) return false;
  }
  return true;
}

// Whether `rows`, sorted, hold all of the iterations that were through before there were as many,
// and of the next one only what is left.
bool LeftFirst(const Answer& answer, const std::vector<Value>& rows) {
  size_t through = 0;
  size_t begun = answer.rows.size();
  for (const size_t end : answer.iterations) {
    if (end >= rows.size()) {
      begun = end;
      break;
    }
    through = end;
  }
  const auto begin = answer.rows.begin();
  std::vector<Value> before(begin, begin + static_cast<std::ptrdiff_t>(through));
  std::vector<Value> all(begin, begin + static_cast<std::ptrdiff_t>(begun));
  SortRows(&before);
  SortRows(&all);
  return IsPartOf(before, rows) && IsPartOf(rows, all);
}

engine::SimulationOptions RandomOptions(uint64_t seed, Rng* rng) {
  engine::SimulationOptions options;
  options.seed = seed;
  options.num_workers = static_cast<uint32_t>(1 + rng->Uniform(5));
  options.serialize = rng->Uniform(4) != 0;
  options.shared_view = rng->Uniform(2) == 0;
  options.spread_after_rows = rng->Uniform(3) == 0 ? rng->Uniform(100) : 0;
  options.deliver_percent = static_cast<uint32_t>(5 + rng->Uniform(90));
  options.sink_window = static_cast<uint32_t>(1 + rng->Uniform(4));
  options.profile = rng->Uniform(4) == 0;
  if (rng->Uniform(20) == 0) options.cancel_after_turns = 1 + rng->Uniform(200);
  if (rng->Uniform(4) != 0) {
    options.bounds.batch_rows = 1 + rng->Uniform(8);
    options.bounds.queue_batches = 1 + rng->Uniform(4);
    options.bounds.open_instances = 1 + rng->Uniform(8);
  }
  if (rng->Uniform(2) == 0) options.first_turn_slices = 1 + rng->Uniform(20);
  options.isolated = !options.shared_view && rng->Uniform(2) == 0;
  options.spills = rng->Uniform(2) == 0;
  if (rng->Uniform(4) != 0) {
    options.bounds.credit_bytes = 200 << rng->Uniform(10);
    options.bounds.depth_slots = 1 + rng->Uniform(4);
  }
  if (rng->Uniform(4) == 0) options.num_workers = static_cast<uint32_t>(1 + rng->Uniform(16));
  return options;
}

// What a hard case has besides: much of it at once, and each of it in some.
void MakeHard(Rng* rng, engine::SimulationOptions* options) {
  const auto chance_of_one_in = [rng](uint64_t n) { return rng->Uniform(n) == 0; };
  options->isolated = !chance_of_one_in(3);
  if (options->isolated) options->shared_view = false;
  options->bounds.batch_rows = 1 + rng->Uniform(6);
  options->bounds.queue_batches = 1 + rng->Uniform(2);
  options->bounds.open_instances = 1 + rng->Uniform(4);
  options->bounds.credit_bytes = size_t{1} << rng->Uniform(12);
  options->bounds.depth_slots = 1 + rng->Uniform(2);
  if (!chance_of_one_in(3)) options->memory_limit_bytes = uint64_t{8192} << rng->Uniform(8);
  if (chance_of_one_in(9)) {
    options->refuse_from_charge = 1 + rng->Uniform(300);
    options->refused_charges = chance_of_one_in(2) ? 1 + rng->Uniform(4) : 0;
  }
  options->spills = !chance_of_one_in(4);
  if (options->spills && chance_of_one_in(4)) options->fail_from_spill = 1 + rng->Uniform(30);
  if (chance_of_one_in(2)) options->slow_workers = 1 + rng->Uniform(options->num_workers);
  if (chance_of_one_in(2)) options->turn_ns = 20'000'000;
  options->cancel_after_turns = chance_of_one_in(8) ? 1 + rng->Uniform(500) : 0;
  if (chance_of_one_in(8)) options->deadline_ns = options->turn_ns * (1 + rng->Uniform(2000));
  if (chance_of_one_in(8)) options->lease_ns = options->turn_ns * (20 + rng->Uniform(500));
  if (options->spills && chance_of_one_in(9)) options->damage_from_read = 1 + rng->Uniform(30);
  if (!chance_of_one_in(3)) return;
  options->stall_after_batches = 1 + rng->Uniform(4);
  options->stall_turns = 1 + rng->Uniform(1000);
  const bool ends = options->cancel_after_turns != 0 || options->deadline_ns != 0;
  if (ends && chance_of_one_in(2)) options->stall_turns = 0;
}

// Vertices as what they are alike, as what was added has other references in each run.
void NameVertices(const std::map<VertexRef, int64_t>& likenesses, const GraphState& before,
                  std::vector<Value>* rows) {
  for (Value& row : *rows) {
    if (row.kind() != ValueKind::kVertex) continue;
    const VertexRef vertex = row.AsVertex();
    const auto found = likenesses.find(vertex);
    // One that has been dropped is the same if it was there before.
    const bool was_there = before.vertices().contains(vertex);
    row = Value::Long(found != likenesses.end() ? found->second
                      : was_there               ? static_cast<int64_t>(~vertex.bits)
                                                : 0);
  }
}

bool HasEqualIds(const storage::GraphView& view, const GraphState& graph) {
  std::vector<VertexRef> vertices;
  for (const auto& [vertex, is] : graph.vertices()) vertices.push_back(vertex);
  Column ids;
  CHECK(view.VertexIds(vertices, &ids).ok());
  std::vector<Value> sorted;
  for (size_t i = 0; i < ids.size(); ++i) sorted.push_back(ids.Get(i));
  SortRows(&sorted);
  return ids.size() != vertices.size() ||
         std::adjacent_find(sorted.begin(), sorted.end(), [](const Value& a, const Value& b) {
           return Equals(a, b);
         }) != sorted.end();
}

// The graph that the query has left. Then both answers name vertices by what they are alike.
std::string CheckChanges(const storage::GraphView& before_view, const storage::Transaction& changes,
                         Answer* answer, std::vector<Value>* rows) {
  const GraphState before = GraphState::Read(before_view);
  const GraphState found = GraphState::Read(changes);
  if (HasEqualIds(changes, found)) return "two vertices have the same id";
  const auto expected_likenesses = answer->graph.Likenesses(before);
  const auto likenesses = found.Likenesses(before);
  const std::string difference = Difference(expected_likenesses, likenesses);
  if (!difference.empty()) return "the graph differs: " + difference;
  NameVertices(expected_likenesses, before, &answer->rows);
  NameVertices(likenesses, before, rows);
  return "";
}

bool MayEndAs(StatusCode code, const engine::SimulationOptions& options) {
  switch (code) {
    case StatusCode::kCancelled:
      return options.cancel_after_turns != 0;
    case StatusCode::kDeadlineExceeded:
      return options.deadline_ns != 0;
    case StatusCode::kResourceExhausted:
      return options.memory_limit_bytes != 0 || options.fail_from_spill != 0 ||
             options.refuse_from_charge != 0;
    case StatusCode::kDataLoss:
      return options.damage_from_read != 0;
    case StatusCode::kUnavailable:
      return options.lease_ns != 0;
    default:
      return false;
  }
}

// Whether the limit let so many through, of what there was, and what comes first.
std::string CheckLimited(const Answer& answer, int64_t limit, const std::vector<Value>& rows) {
  if (!LeftFirst(answer, rows)) return "limit did not take what leaves the loop first";
  std::vector<Value> all = answer.rows;
  SortRows(&all);
  const size_t wanted = std::min(all.size(), static_cast<size_t>(limit));
  if (rows.size() != wanted) {
    return "limit gave " + std::to_string(rows.size()) + " rows instead of " +
           std::to_string(wanted);
  }
  return IsPartOf(rows, all) ? "" : "limit gave rows that do not exist";
}

// No worker has more than the query may, but for the one that makes one commit of all parts.
std::string CheckPeaks(const engine::SimulationOptions& options,
                       const engine::SimulationResult& result) {
  if (options.memory_limit_bytes == 0) return "";
  const uint64_t parts = options.transaction == nullptr ? 1 : 1 + options.num_workers;
  for (const uint64_t peak : result.peaks) {
    if (peak <= parts * options.memory_limit_bytes) continue;
    return std::to_string(peak) + " bytes were charged at a worker, of " +
           std::to_string(options.memory_limit_bytes);
  }
  return "";
}

std::string CheckRows(const RandomQuery& query, Answer answer, std::vector<Value> rows) {
  SortRows(&rows);
  if (query.limit.has_value()) return CheckLimited(answer, *query.limit, rows);
  SortRows(&answer.rows);
  if (SameRows(answer.rows, rows)) return "";
  return "the answer differs: " + std::to_string(rows.size()) + " rows instead of " +
         std::to_string(answer.rows.size());
}

}  // namespace

Case MakeCase(uint64_t seed) {
  Rng rng(seed);
  Case drawn;
  drawn.graph = MakeGraphData(&rng);
  drawn.query = MakeQuery(&rng, seed % kSeedsPerPath == 0);
  const bool effects = seed % kSeedsPerEffect == 1 || seed % kSeedsPerEffect == 7;
  if (seed % kSeedsPerChange == 3) AddChanges(&rng, &drawn.query);
  if (effects) AddEffects(&rng, &drawn.query);
  drawn.options = RandomOptions(seed, &rng);
  drawn.plan = ToPlan(drawn.query, drawn.options.isolated);
  return drawn;
}

Case MakeHardCase(uint64_t seed) {
  Rng rng(seed);
  Case drawn;
  drawn.graph = MakeGraphData(&rng);
  const bool paths = rng.Uniform(6) == 0;
  drawn.query = MakeQuery(&rng, paths);
  if (!paths && rng.Uniform(2) == 0) AddChanges(&rng, &drawn.query);
  if (!paths && rng.Uniform(2) == 0) AddEffects(&rng, &drawn.query);
  drawn.options = RandomOptions(seed, &rng);
  MakeHard(&rng, &drawn.options);
  drawn.options.max_turns = kMostTurns;
  drawn.plan = ToPlan(drawn.query, drawn.options.isolated);
  return drawn;
}

Checked CheckCase(const Case& drawn, bool verbose, std::shared_ptr<const storage::GraphView> view) {
  const RandomQuery& query = drawn.query;
  engine::SimulationOptions options = drawn.options;
  const auto graph = BuildGraph(drawn.graph);
  if (view == nullptr) view = graph;
  if (verbose) std::fprintf(stderr, "%s\n", ToText(query).c_str());
  std::optional<Answer> answer = Evaluate(query, *graph);
  if (!answer.has_value()) return {};
  if (drawn.plan.mutates()) {
    options.transaction = std::make_shared<storage::Transaction>(graph, graph->NewNumbers());
    view = options.transaction;
  }
  engine::SimulationResult result = engine::Simulate(drawn.plan, view, options);
  Checked checked;
  checked.ended = result.status.code();
  checked.turns = result.turns;
  checked.problem = CheckPeaks(options, result);
  if (verbose) {
    std::fprintf(stderr, "expected %zu rows, got %zu; %llu turns, %llu frames; %s\n",
                 answer->rows.size(), result.rows.size(),
                 static_cast<unsigned long long>(result.turns),
                 static_cast<unsigned long long>(result.frames),
                 result.status.ok() ? "complete" : MessageOf(result.status).c_str());
  }
  if (!checked.problem.empty()) {
    // Whatever it gave.
  } else if (!result.status.ok()) {
    if (!MayEndAs(checked.ended, options)) checked.problem = MessageOf(result.status);
  } else {
    if (options.transaction != nullptr) {
      checked.problem = CheckChanges(*graph, *options.transaction, &*answer, &result.rows);
    }
    if (checked.problem.empty()) {
      checked.problem = CheckRows(query, *std::move(answer), std::move(result.rows));
    }
  }
  if (checked.problem.empty()) return checked;
  checked.problem +=
      "\n  traversal: " + ToText(query) + "\n  workers:   " + std::to_string(options.num_workers);
  return checked;
}

std::string Check(const Case& drawn, bool verbose, std::shared_ptr<const storage::GraphView> view) {
  return CheckCase(drawn, verbose, std::move(view)).problem;
}

std::string CheckSeed(uint64_t seed, bool verbose, engine::NetworkFault fault) {
  Case drawn = MakeCase(seed);
  drawn.options.fault = fault;
  drawn.options.fault_at = 1 + seed % 4;
  const std::string problem = Check(drawn, verbose);
  if (problem.empty()) return "";
  return problem + "\n  again:     koios_sim --seed " + std::to_string(seed);
}

}  // namespace koios::simulation
