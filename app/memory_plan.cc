#include "app/memory_plan.h"

#include <algorithm>

#include "server/guard/machine.h"

namespace koios::app {
namespace {

// Parts of a hundred. What is left over is for everything that has no account: sessions, plans,
// the allocator's fragments.
constexpr uint64_t kQueriesShare = 45;
constexpr uint64_t kBlocksShare = 15;
constexpr uint64_t kDeltaShare = 10;
constexpr uint64_t kFoldShare = 5;
constexpr uint64_t kNetworkShare = 10;

// Both are for what was written lately, however large the machine.
constexpr uint64_t kMaxDeltaBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxFoldBytes = uint64_t{256} << 20;
constexpr uint64_t kMaxWritesBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxCommitBytes = uint64_t{256} << 20;

}  // namespace

uint64_t DefaultMemoryBytes() {
  return std::max(server::MachineMemoryBytes() / 5 * 4, kMinMemoryMegabytes << 20);
}

MemoryPlan PlanMemory(uint64_t total_bytes, uint64_t query_bytes, uint64_t delta_bytes) {
  const uint64_t part = total_bytes / 100;
  MemoryPlan plan;
  plan.total_bytes = total_bytes;
  plan.queries_bytes = part * kQueriesShare;
  plan.query_bytes = query_bytes > 0 ? query_bytes : plan.queries_bytes / 4;
  plan.blocks_bytes = part * kBlocksShare;
  plan.writes_bytes = std::min(plan.blocks_bytes / 4, kMaxWritesBytes);
  plan.delta_bytes = delta_bytes > 0 ? delta_bytes : std::min(part * kDeltaShare, kMaxDeltaBytes);
  plan.fold_bytes = std::min(part * kFoldShare, kMaxFoldBytes);
  plan.network_bytes = part * kNetworkShare;
  plan.commit_bytes = std::min(total_bytes / 16, kMaxCommitBytes);
  return plan;
}

void MemoryPlan::ApplyTo(server::ServerOptions* options) const {
  options->engine.process_memory_bytes = queries_bytes;
  options->engine.query_memory_bytes = query_bytes;
  options->rest_bytes = rest_bytes();
  options->network_bytes = network_bytes;
}

void MemoryPlan::ApplyTo(storage::StoreOptions* options) const {
  options->block_cache_bytes = blocks_bytes;
  options->write_buffer_bytes = writes_bytes;
  options->delta_bytes = delta_bytes;
  options->fold_bytes = fold_bytes;
  options->max_commit_bytes = commit_bytes;
}

}  // namespace koios::app
