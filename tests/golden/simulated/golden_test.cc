// The golden files under the simulation: each query planned once, then run by 1 to 5 workers under
// several schedules of frames that are serialised and overtake each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>

#include "core/random.h"
#include "core/testing/rounds.h"
#include "engine/result/element_resolver.h"
#include "engine/sim/simulation.h"
#include "parser/parser.h"
#include "planner/planner.h"
#include "storage/numbers.h"
#include "storage/transaction/transaction.h"
#include "tests/golden/simulated/golden_file.h"
#include "tests/golden/simulated/golden_graphs.h"
#include "tests/golden/simulated/golden_text.h"
#include "tests/golden/simulated/made_up_statistics.h"

namespace koios::golden {
namespace {

constexpr uint32_t kMaxWorkers = 5;
constexpr uint64_t kMemoryLimit = uint64_t{512} << 20;  // the engine's own
constexpr uint64_t kMaxTurns = 2'000'000;
// A sanitizer takes each case one of three ways, with one of the five numbers of workers;
// and each sixth case where memory or disk is refused.
constexpr uint32_t kWorkersStep = TestRounds(1, kMaxWorkers);
constexpr uint64_t kRefusedStep = TestRounds(1, 6);

// Cases that a simulation cannot run, by their query, with the reason.
struct Exception {
  const char* query;
  const char* reason;
};
const std::vector<Exception>& Exceptions() {
  static const std::vector<Exception> kExceptions = {
      {"nosuchgraph.V()", "which graphs there are is the server's to know"},
      {"g.inject(1).repeat(fold()).times(31)", "how deep results may be is the server's to know"},
      {"g.V().group().by(label).by(bothE().values('weight').mean()).select('software')",
       "a sum of doubles depends on the order in which shares come home"},
  };
  return kExceptions;
}

std::string ErrorText(const Status& status) {
  std::string text = "error: " + std::string(absl::StatusCodeToString(status.code())) + " ";
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail());
  if (detail.span.line != 0) {
    text += std::to_string(detail.span.line) + ":" + std::to_string(detail.span.column) + " ";
  }
  return text + MessageOf(status) + " " + detail.hint;
}

// One request after the other, as the server runs them: a view or a transaction, plan, run.
class Session {
 public:
  // `makes_up`: plans with statistics that say anything.
  Session(const std::shared_ptr<const storage::MemoryGraph>& graph, uint32_t workers, uint64_t seed,
          bool makes_up)
      : view_(graph), numbers_(graph->NewNumbers()), makes_up_(makes_up) {
    options_.seed = seed;
    options_.num_workers = workers;
    options_.shared_view = seed % 4 == 0;
    options_.isolated = seed % 2 == 1;
    for_owners_ = options_.isolated || seed % 8 == 4;
    options_.deliver_percent = static_cast<uint32_t>(5 + seed * 37 % 90);
    options_.sink_window = static_cast<uint32_t>(1 + seed % 4);
    options_.memory_limit_bytes = kMemoryLimit;
    options_.max_turns = kMaxTurns;
    options_.first_turn_slices = seed / 2 % 4;
    options_.spills = seed / 3 % 2 == 1;
    if (seed / 5 % 2 == 1) {
      options_.bounds.credit_bytes = size_t{300} << (seed % 8);
      options_.bounds.depth_slots = 1 + seed % 3;
    }
  }

  // All that can goes to disk, which is full from this write on.
  void FillDiskFrom(uint64_t write) {
    options_.spills = true;
    options_.fail_from_spill = write;
  }
  // Likewise it is damaged from this read on.
  void DamageDiskFrom(uint64_t read) {
    options_.spills = true;
    options_.damage_from_read = read;
  }
  // So many charges of each request are refused, from this one on; 0: all.
  void Refuse(uint64_t charge, uint64_t charges) {
    options_.refuse_from_charge = charge;
    options_.refused_charges = charges;
  }
  // Of its requests, the one that has asked for memory most often.
  uint64_t charges() const { return charges_; }

  StatusOr<std::vector<Value>> Submit(const std::string& text,
                                      const std::map<std::string, Value>& parameters) {
    ASSIGN_OR_RETURN(const parser::Query query, parser::Parse(text));
    planner::PlanContext context;
    context.schema = &view_->schema();
    Schema counts;
    GraphStatistics statistics;
    if (makes_up_) {
      counts = MadeUpCounts(view_->schema(), options_.seed);
      statistics = MadeUpStatistics(counts, options_.seed);
      context.schema = &counts;
      context.statistics = &statistics;
    }
    context.parameters = parameters;
    context.isolated = for_owners_;
    ASSIGN_OR_RETURN(planner::PlannedQuery planned, planner::PlanQuery(query, context));
    planner::PutValues(planned.holes, parameters, &planned.plan);
    options_.transaction = nullptr;
    std::shared_ptr<const storage::GraphView> view = view_;
    if (planned.changes_graph) {
      options_.transaction = std::make_shared<storage::Transaction>(view_, numbers_);
      view = options_.transaction;
    }
    engine::SimulationResult result = engine::Simulate(planned.plan, view, options_);
    charges_ = std::max(charges_, result.charges);
    RETURN_IF_ERROR(result.status);
    engine::ElementResolver resolver(*view, /*materialize=*/false);
    for (const Value& row : result.rows) resolver.Collect(row);
    RETURN_IF_ERROR(resolver.Load());
    for (Value& row : result.rows) {
      ASSIGN_OR_RETURN(row, resolver.Resolve(row));
    }
    view_ = view;  // committed, so to speak
    return std::move(result.rows);
  }

 private:
  std::shared_ptr<const storage::GraphView> view_;
  const std::shared_ptr<storage::Numbers> numbers_;
  const bool makes_up_;
  engine::SimulationOptions options_;
  uint64_t charges_ = 0;
  bool for_owners_ = false;  // the plan, also where workers could read everything
};

std::vector<std::string> Ask(const File& file, const Case& golden, Session* session) {
  StatusOr<std::vector<Value>> rows = std::vector<Value>();
  for (size_t i = 0; i < file.setup.size() && rows.ok(); ++i) {
    rows = session->Submit(file.setup[i], {});
  }
  for (size_t i = 0; i < golden.statements.size() && rows.ok(); ++i) {
    rows = session->Submit(golden.statements[i], golden.parameters);
  }
  if (!rows.ok()) return {ErrorText(rows.status())};
  const TextOptions options{golden.HasFlag("lists"), !golden.HasFlag("ordered")};
  std::vector<std::string> texts;
  for (const Value& row : *rows) texts.push_back(ToText(row, options));
  return texts;
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (size_t i = 0; i < lines.size() && i < 20; ++i) text += "\n    " + lines[i];
  return text;
}

// The first schedule under which the answer is another one; empty when there is none.
std::string CheckCase(const File& file, const Case& golden,
                      const std::shared_ptr<const storage::MemoryGraph>& graph, uint64_t seeds,
                      bool makes_up = false) {
  const uint32_t first = 1 + static_cast<uint32_t>(golden.line) % kWorkersStep;
  for (uint32_t workers = first; workers <= kMaxWorkers; workers += kWorkersStep) {
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      Session session(graph, workers, seed * kMaxWorkers + workers, makes_up);
      const std::vector<std::string> found = Ask(file, golden, &session);
      if (Agrees(golden, found)) continue;
      return std::to_string(workers) + " workers, schedule " + std::to_string(seed) + "\n  " +
             golden.query + "\n  expected" + Lines(golden.expected) + "\n  found" + Lines(found);
    }
  }
  return "";
}

// use(file, its path, its graph, a case), but for plans and exceptions. Returns how many of these
// were met.
template <typename Use>
size_t ForEachCase(const std::string& folder, const Use& use) {
  size_t num_exceptions = 0, num_cases = 0, num_plans = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden/" + folder)) {
    if (entry.path().extension() != ".test") continue;
    const StatusOr<File> file = ReadFile(entry.path().string());
    EXPECT_TRUE(file.ok()) << file.status();
    if (!file.ok()) continue;
    const auto graph = MakeGraph(file->graph, "tests/data");
    EXPECT_TRUE(graph.ok()) << graph.status();
    if (!graph.ok()) continue;
    for (const Case& golden : file->cases) {
      const auto known = std::find_if(Exceptions().begin(), Exceptions().end(),
                                      [&](const auto& e) { return golden.query == e.query; });
      // explain() runs nothing: its text is the planner's.
      num_plans += golden.WantsPlan() ? 1 : 0;
      if (golden.WantsPlan()) continue;
      if (known != Exceptions().end()) {
        ++num_exceptions;
        std::printf("left out: %s: %s\n", known->query, known->reason);
        continue;
      }
      ++num_cases;
      const std::string problem = use(*file, *graph, golden);
      if (!problem.empty()) {
        ADD_FAILURE() << entry.path().string() << ":" << golden.line << ", " << problem;
      }
    }
  }
  EXPECT_GT(num_cases, 0u);
  std::printf("%s: %zu cases; %zu that ask for the text of a plan are left out\n", folder.c_str(),
              num_cases, num_plans);
  return num_exceptions;
}

using Graph = std::shared_ptr<storage::MemoryGraph>;

// Returns how many of the exceptions were met.
size_t CheckFolder(const std::string& folder, uint64_t seeds) {
  std::map<std::string, Graph> indexed_ones;
  return ForEachCase(folder, [&](const File& file, const Graph& graph, const Case& golden) {
    Graph& indexed = indexed_ones[file.graph];
    if (indexed == nullptr) {
      indexed = MakeGraph(file.graph, "tests/data").value();
      IndexAll(indexed.get());
    }
    const uint64_t drawn = Rng(static_cast<uint64_t>(golden.line)).Uniform(3);
    const auto is_taken = [drawn](uint64_t way) { return !kSanitized || drawn == way; };
    std::string problem;
    if (is_taken(0)) problem = CheckCase(file, golden, graph, seeds);
    // Once more with indexes, and with statistics, which change no answer.
    if (problem.empty() && is_taken(1)) problem = CheckCase(file, golden, indexed, /*seeds=*/1);
    if (problem.empty() && is_taken(2)) {
      problem = CheckCase(file, golden, indexed, kSanitized ? 1 : 2, true);
    }
    return problem;
  });
}

TEST(GoldenTest, EveryCaseOnOneToFiveWorkers) {
  const size_t met = CheckFolder("modern", TestRounds(3, 1)) + CheckFolder("money", 2) +
                     CheckFolder("writes", TestRounds(3, 1));
  EXPECT_EQ(met, Exceptions().size()) << "an exception names no case any more";
}

// More rows in branches than one call makes: `union()` goes on where it stopped.
TEST(GoldenTest, AUnionOfThousandsOfBranchesTakesCalls) {
  constexpr int kBranches = 600, kRows = 32;
  std::string branches = "count()";
  for (int i = 1; i < kBranches; ++i) branches += ",count()";
  std::string rows = "g.inject(0";
  for (int i = 1; i < kRows; ++i) rows += "," + std::to_string(i);
  rows += ")";
  const auto graph = std::make_shared<storage::MemoryGraph>(4);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Session session(graph, static_cast<uint32_t>(seed), seed, /*makes_up=*/false);
    StatusOr<std::vector<Value>> sum = session.Submit(rows + ".union(" + branches + ").sum()", {});
    ASSERT_TRUE(sum.ok()) << sum.status();
    ASSERT_EQ(sum->size(), 1u);
    EXPECT_EQ(sum->at(0).AsInteger(), kRows * kBranches);
    sum = session.Submit(rows + ".local(union(" + branches + ").sum())", {});
    ASSERT_TRUE(sum.ok()) << sum.status();
    ASSERT_EQ(sum->size(), size_t{kRows});
    for (const Value& one : *sum) EXPECT_EQ(one.AsInteger(), kBranches);
  }
}

// Asks each case once as it is, which may have asked for memory `charges` times, then on the same
// schedule for each of points(charges, number of the case), once `refuse`(session, point) has been
// called: it gives its answer, or `error`, and nothing stays charged or on disk (the simulation
// sees to it). At least a `one_of_refused`th is refused.
template <typename Points, typename Refuse>
void ExpectAnswersOr(const std::string& error, uint64_t one_of_refused, const Points& points,
                     const Refuse& refuse) {
  uint64_t number = 0, refused = 0, asked = 0;
  for (const std::string folder : {"modern", "writes"}) {
    ForEachCase(folder, [&](const File& file, const Graph& graph, const Case& golden) {
      ++number;
      if (number % kRefusedStep != 0) return std::string();
      const uint32_t workers = 1 + static_cast<uint32_t>(number % kMaxWorkers);
      Session session(graph, workers, number, /*makes_up=*/false);
      Ask(file, golden, &session);
      for (const uint64_t point : points(session.charges(), number)) {
        Session again(graph, workers, number, /*makes_up=*/false);
        refuse(&again, point);
        const std::vector<std::string> found = Ask(file, golden, &again);
        const bool is_refused = found.size() == 1 && found[0].starts_with("error: " + error);
        ++asked;
        refused += is_refused ? 1 : 0;
        if (is_refused || Agrees(golden, found)) continue;
        return "refused at " + std::to_string(point) + ", " + std::to_string(workers) +
               " workers\n  " + golden.query + "\n  expected" + Lines(golden.expected) +
               "\n  found" + Lines(found);
      }
      return std::string();
    });
  }
  std::printf("%lu of %lu were refused something\n", refused, asked);
  EXPECT_GT(refused, asked / one_of_refused);
}

const char kRefused[] = "RESOURCE_EXHAUSTED";

// KOIOS_REFUSALS=N: each of the first N charges, writes and reads, instead of a few.
uint64_t RefusalsWanted() {
  const char* wanted = std::getenv("KOIOS_REFUSALS");
  return wanted == nullptr ? 0 : std::strtoull(wanted, nullptr, 10);
}

std::vector<uint64_t> UpTo(uint64_t last) {
  std::vector<uint64_t> points(last);
  std::iota(points.begin(), points.end(), 1);
  return points;
}

std::vector<uint64_t> SomeCharges(uint64_t charges, uint64_t number) {
  const uint64_t wanted = RefusalsWanted();
  if (charges <= 2 || wanted > 0) return UpTo(wanted == 0 ? charges : std::min(charges, wanted));
  Rng random(number);
  const auto one = [&] { return 1 + random.Uniform(charges); };
  return {one(), one()};
}

TEST(GoldenTest, ARefusedChargeEndsTheQueryAndNothingElse) {
  ExpectAnswersOr(kRefused, 2, SomeCharges,
                  [](Session* session, uint64_t charge) { session->Refuse(charge, 0); });
}

// Who goes on as if it had been granted has the memory then.
TEST(GoldenTest, OneRefusedChargeEndsTheQueryAndNothingElse) {
  ExpectAnswersOr(kRefused, 2, SomeCharges,
                  [](Session* session, uint64_t charge) { session->Refuse(charge, 1); });
}

// Who asks again for less is refused again.
TEST(GoldenTest, AFewRefusedChargesEndTheQueryAndNothingElse) {
  ExpectAnswersOr(kRefused, 2, SomeCharges, [](Session* session, uint64_t charge) {
    session->Refuse(charge, 2 + charge % 3);
  });
}

// The first writes or reads of all.
std::vector<uint64_t> EarlyOnes(uint64_t, uint64_t number) {
  const uint64_t wanted = RefusalsWanted();
  return wanted == 0 ? std::vector<uint64_t>{1 + number / kRefusedStep % 3} : UpTo(wanted);
}

TEST(GoldenTest, AFullDiskEndsTheQueryAndNothingElse) {
  ExpectAnswersOr(kRefused, 50, EarlyOnes,
                  [](Session* session, uint64_t write) { session->FillDiskFrom(write); });
}

TEST(GoldenTest, ADamagedDiskEndsTheQueryAndNothingElse) {
  ExpectAnswersOr("DATA_LOSS", 100, EarlyOnes,
                  [](Session* session, uint64_t read) { session->DamageDiskFrom(read); });
}

}  // namespace
}  // namespace koios::golden
