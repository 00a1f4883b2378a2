#include "tests/simulation/check.h"

#include <algorithm>
#include <cstdio>

#include "core/value_compare.h"

namespace koios::simulation {
namespace {

constexpr uint64_t kSeedsPerPath = 4;
constexpr uint64_t kSeedsPerEffect = 8;

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

}  // namespace

Case MakeCase(uint64_t seed) {
  Rng rng(seed);
  Case drawn;
  drawn.graph = MakeGraphData(&rng);
  drawn.query = MakeQuery(&rng, seed % kSeedsPerPath == 0);
  if (seed % kSeedsPerEffect == 1) AddEffects(&rng, &drawn.query);
  drawn.options = RandomOptions(seed, &rng);
  drawn.plan = ToPlan(drawn.query, drawn.options.isolated);
  return drawn;
}

std::string Check(const Case& drawn, bool verbose, std::shared_ptr<const storage::GraphView> view) {
  const RandomQuery& query = drawn.query;
  const engine::SimulationOptions& options = drawn.options;
  const auto graph = BuildGraph(drawn.graph);
  if (view == nullptr) view = graph;
  if (verbose) std::fprintf(stderr, "%s\n", ToText(query).c_str());
  std::optional<Answer> answer = Evaluate(query, *graph);
  if (!answer.has_value()) return "";
  std::vector<Value>* expected = &answer->rows;
  engine::SimulationResult result = engine::Simulate(drawn.plan, view, options);
  const std::string where =
      "\n  traversal: " + ToText(query) + "\n  workers:   " + std::to_string(options.num_workers);
  const bool cancelled =
      options.cancel_after_turns != 0 && result.status.code() == StatusCode::kCancelled;
  if (!result.status.ok() && !cancelled) return MessageOf(result.status) + where;
  if (cancelled) return "";
  SortRows(&result.rows);
  if (query.limit.has_value() && !LeftFirst(*answer, result.rows)) {
    return "limit did not take what leaves the loop first" + where;
  }
  SortRows(expected);
  if (verbose) {
    std::fprintf(stderr, "expected %zu rows, got %zu; %llu turns, %llu frames\n", expected->size(),
                 result.rows.size(), static_cast<unsigned long long>(result.turns),
                 static_cast<unsigned long long>(result.frames));
  }
  if (query.limit.has_value()) {
    const size_t wanted = std::min(expected->size(), static_cast<size_t>(*query.limit));
    if (result.rows.size() != wanted) {
      return "limit gave " + std::to_string(result.rows.size()) + " rows instead of " +
             std::to_string(wanted) + where;
    }
    return IsPartOf(result.rows, *expected) ? "" : "limit gave rows that do not exist" + where;
  }
  if (SameRows(*expected, result.rows)) return "";
  return "the answer differs: " + std::to_string(result.rows.size()) + " rows instead of " +
         std::to_string(expected->size()) + where;
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
