#include "app/limit_flags.h"

namespace koios::app {
namespace {

constexpr char kGroup[] = "Limits";
constexpr uint64_t kMaxMegabytes = uint64_t{1} << 24;
constexpr uint64_t kMaxRequestMegabytes = 1024;
constexpr uint64_t kMaxValueMegabytes = 60;  // one result has room for it
// What a request is by default, less some room for its parameters.
constexpr uint64_t kMaxTextBytes = uint64_t{8} << 20;

template <typename Number>
void Add(CLI::App* command, const char* name, Number* value, uint64_t max, const char* help) {
  command->add_option(name, *value, help)
      ->check(CLI::Range(Number{1}, static_cast<Number>(max)))
      ->capture_default_str()
      ->group(kGroup);
}

}  // namespace

void LimitFlags::AddTo(CLI::App* command) {
  command
      ->add_option("--memory-mb", memory_mb,
                   "Memory of this process, caches and all, whatever the number of graphs "
                   "(default: four fifths of what the machine or its control group has)")
      ->check(CLI::Range(kMinMemoryMegabytes, kMaxMegabytes))
      ->group(kGroup);
  command
      ->add_option("--query-memory-mb", query_memory_mb,
                   "Memory of one query (default: a quarter of what all queries together have, "
                   "which is 45 % of --memory-mb)")
      ->check(CLI::Range(uint64_t{1}, kMaxMegabytes))
      ->group(kGroup);
  command
      ->add_option("--delta-mb", delta_mb,
                   "Memory for what was committed since the graphs' snapshots; commits wait for a "
                   "new snapshot when it is full (default: 10 % of --memory-mb, 1024 at most)")
      ->check(CLI::Range(uint64_t{1}, kMaxMegabytes))
      ->group(kGroup);
  command
      ->add_option(
          "--plan-cache-mb", plan_cache_mb,
          "Plans kept for texts that are asked again, a sixteenth of what all queries have "
          "at most; 0: none")
      ->check(CLI::Range(uint64_t{0}, kMaxMegabytes))
      ->capture_default_str()
      ->group(kGroup);
  Add(command, "--held-results-mb", &held_results_mb, kMaxMegabytes,
      "Results of a query that changes the graph, in memory until its commit, and a 16th of "
      "--query-memory-mb at most; the others wait on disk");
  Add(command, "--max-attempts", &max_attempts, 1000,
      "How often a query is run that changes the graph and conflicts with others");
  Add(command, "--request-mb", &request_mb, kMaxRequestMegabytes,
      "A request with its text and parameters");
  Add(command, "--value-mb", &value_mb, kMaxValueMegabytes, "The value of one property");
  Add(command, "--disk-reserve-mb", &disk_reserve_mb, kMaxMegabytes,
      "Of the disk, stays free when something is added; drops may use most of it. Rows of queries "
      "that go there, too (no --spill-dir), leave four times as much");
  command
      ->add_option(
          "--spill-mb", spill_mb,
          "Disk for rows that do not fit into the memory of queries, compressed; one query "
          "takes half of it at most; 0: such queries fail")
      ->check(CLI::Range(uint64_t{0}, kMaxMegabytes))
      ->capture_default_str()
      ->group(kGroup);
  command
      ->add_option("--spill-dir", spill_dir,
                   "Where these rows go; nothing stays there (default: the data folder)")
      ->check(CLI::ExistingDirectory)
      ->group(kGroup);
  Add(command, "--query-max-text", &text.max_text_bytes, kMaxTextBytes, "Bytes of a query's text");
  Add(command, "--query-max-nesting", &text.max_nesting, parser::kMaxNesting,
      "Brackets within brackets");
  Add(command, "--query-max-steps", &text.max_steps, 1'000'000, "Steps in a query's text");
  Add(command, "--query-max-list", &text.max_list, 10'000'000,
      "Members of one list or map in the text, or of all its ranges; arguments of one step");
}

MemoryPlan LimitFlags::Memory() const {
  return PlanMemory(memory_mb > 0 ? memory_mb << 20 : DefaultMemoryBytes(), query_memory_mb << 20,
                    delta_mb << 20);
}

void LimitFlags::ApplyTo(storage::StoreOptions* options) const {
  options->max_value_bytes = value_mb << 20;
  options->disk_reserve_bytes = disk_reserve_mb << 20;
  Memory().ApplyTo(options);
}

void LimitFlags::ApplyTo(const std::string& data_folder, server::ServerOptions* options) const {
  Memory().ApplyTo(options);
  options->held_bytes = held_results_mb << 20;
  options->max_attempts = max_attempts;
  options->max_request_bytes = request_mb << 20;
  options->plan_cache_bytes = plan_cache_mb << 20;
  options->engine.spill_folder = spill_dir.empty() ? data_folder : spill_dir;
  options->engine.spill_bytes = spill_mb << 20;
  // Where commits write as well they must not find what is kept for them taken by a query.
  constexpr uint64_t kBesideCommits = 4;
  options->engine.spill_reserve_bytes =
      (disk_reserve_mb << 20) * (spill_dir.empty() ? kBesideCommits : 1);
  options->parser = text;
}

}  // namespace koios::app
