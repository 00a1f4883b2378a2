// koios_planning DATA: opens graph g of a data folder, reads questions from standard input, a JSON
// object a line with "name", "text" and "parameters", and prints one JSON object: how long each
// opening took and, of each question, the first time and the medians of parsing, of planning, and
// of taking its plan from the cache that a server has, in microseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "core/memory.h"
#include "nlohmann/json.hpp"
#include "parser/parser.h"
#include "planner/plan_holes.h"
#include "planner/planner.h"
#include "server/plan_cache.h"
#include "storage/data_folder.h"
#include "storage/view/snapshot_statistics.h"

namespace koios::bench {
namespace {

constexpr int kRuns = 101;
constexpr int kOpenings = 3;  // of the folder; files may not be cached at the first
constexpr int64_t kCacheBytes = int64_t{16} << 20;

using Values = std::map<std::string, Value>;

double MicrosOf(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  run();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double MedianMicros(const std::function<void()>& run) {
  std::vector<double> times(kRuns);
  for (double& time : times) time = MicrosOf(run);
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

// Text and whole numbers are what the reads of LDBC SNB have.
StatusOr<Values> ValuesOf(const nlohmann::json& parameters) {
  Values values;
  for (const auto& [name, value] : parameters.items()) {
    if (value.is_string()) {
      values[name] = Value::String(value.get<std::string>());
    } else if (value.is_number_integer()) {
      values[name] = Value::Long(value.get<int64_t>());
    } else {
      return InvalidArgument("The parameter " + name + " is neither text nor a whole number.");
    }
  }
  return values;
}

// The plan as a server sends it to its engine; the cache has it.
plan::Plan Take(server::PlanCache* cache, const std::string& text, const Values& values,
                const planner::PlanContext& context) {
  const auto kept = cache->Find(cache->KeyOf("", text, values), [&](const server::KeptPlan& one) {
    return one.Fits(*context.schema, context.statistics, values);
  });
  CHECK(kept != nullptr);
  plan::Plan plan = kept->planned.plan;
  planner::PutValues(kept->planned.holes, values, &plan);
  return plan;
}

StatusOr<nlohmann::json> Measure(const nlohmann::json& question, const storage::GraphView& view) {
  const auto text = question.at("text").get<std::string>();
  planner::PlanContext context;
  context.schema = &view.schema();
  context.statistics = storage::StatisticsOf(view);
  ASSIGN_OR_RETURN(context.parameters, ValuesOf(question.at("parameters")));
  MemoryAccount account("kept plans", kCacheBytes);
  server::PlanCache cache(&account);

  // The first time, as whoever asks it first sees it.
  nlohmann::json found;
  StatusOr<planner::PlannedQuery> planned = Internal("not planned");
  Status parsed;
  found["first"] = MicrosOf([&] {
    const auto query = parser::Parse(text);
    parsed = query.status();
    if (query.ok()) planned = planner::PlanQuery(*query, context);
  });
  RETURN_IF_ERROR(parsed);
  RETURN_IF_ERROR(planned.status());

  const parser::Query query = *parser::Parse(text);
  found["parse"] = MedianMicros([&] { CHECK(parser::Parse(text).ok()); });
  found["plan"] = MedianMicros([&] { CHECK(planner::PlanQuery(query, context).ok()); });
  cache.Keep(cache.KeyOf("", text, context.parameters), query.root.source, context, *planned);
  if (planned->keeps) {
    found["kept"] = MedianMicros([&] { Take(&cache, text, context.parameters, context); });
  }
  return found;
}

Status RunPlanning(const std::string& path) {
  nlohmann::json all;
  storage::DataFolderOptions options;
  options.read_only = true;
  std::shared_ptr<const storage::GraphView> view;
  Status opened;
  const auto open = [&] {
    const auto folder = storage::DataFolder::Open(path, options);
    opened = folder.status();
    if (!folder.ok()) return;
    const auto store = (*folder)->OpenGraph("g");
    opened = store.status();
    if (store.ok()) view = (*store)->View();
  };
  std::vector<double> times(kOpenings);
  for (double& time : times) {
    view = nullptr;
    time = MicrosOf(open);
    RETURN_IF_ERROR(opened);
  }
  all["open"] = times;
  for (std::string line; std::getline(std::cin, line);) {
    const auto question = nlohmann::json::parse(line);
    ASSIGN_OR_RETURN(all["queries"][question.at("name").get<std::string>()],
                     Measure(question, *view));
  }
  std::printf("%s\n", all.dump().c_str());
  return OkStatus();
}

}  // namespace
}  // namespace koios::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "koios_planning DATA < QUESTIONS\n");
    return 2;
  }
  const koios::Status status = koios::bench::RunPlanning(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", koios::MessageOf(status).c_str());
  return status.ok() ? 0 : 1;
}
