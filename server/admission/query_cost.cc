#include "server/admission/query_cost.h"

#include <algorithm>

#include "core/plan/operator_table.h"

namespace koios::server {
namespace {

constexpr int64_t kFrameBytes = int64_t{256} << 10;
constexpr int64_t kShortReserve = kFrameBytes / 4;
constexpr int64_t kQueryShare = 2;
constexpr int64_t kAllShare = 8;

constexpr uint64_t kShortRows = 100;      // that a seek of a short query is expected to give
constexpr uint64_t kMediumRows = 10'000;  // the same of a medium one
constexpr int kShortHops = 2;
constexpr int kMediumHops = 3;

struct Look {
  bool reads_all = false;  // or nobody knows how much
  bool loops = false;
  uint64_t sought = 0;  // the most that a scan gives
  int hops = 0;
  int64_t places = 1;  // where a frame may rest
};

bool Multiplies(const plan::Operator& op) {
  return op.has_expand() && (op.expand().to() == plan::Expand::NEIGHBOUR ||
                             op.expand().to() == plan::Expand::INCIDENT);
}

Look LookAt(const plan::Plan& plan) {
  Look look;
  uint64_t expected = 0;  // of the scan that comes
  for (const plan::Operator& op : plan.operators()) {
    const bool own_scope = op.has_scope_enter() && !op.scope_enter().in_place();
    if (op.has_exchange() || own_scope || op.has_loop_enter() || plan::IsBarrier(op)) ++look.places;
    if (op.has_exchange()) expected = op.exchange().expected();
    if (op.has_scan()) {
      look.reads_all = look.reads_all || expected == 0;
      look.sought = std::max(look.sought, expected);
    }
    look.loops = look.loops || op.has_loop_enter();
    // Walks of unknown length.
    if (op.has_reach() || op.has_shortest_path()) look.hops += kMediumHops;
    if (Multiplies(op)) ++look.hops;
  }
  return look;
}

CostClass ClassOf(const Look& look) {
  if (look.reads_all || look.loops) return CostClass::kLong;
  if (look.sought <= kShortRows && look.hops <= kShortHops) return CostClass::kShort;
  if (look.sought <= kMediumRows && look.hops <= kMediumHops) return CostClass::kMedium;
  return CostClass::kLong;
}

}  // namespace

QueryCost CostOf(const plan::Plan& plan, const CostBounds& bounds) {
  const Look look = LookAt(plan);
  QueryCost cost;
  cost.cost = ClassOf(look);
  const int64_t workers = plan.stays_home() ? 1 : bounds.num_workers;
  const int64_t wanted =
      cost.cost == CostClass::kShort ? kShortReserve : look.places * kFrameBytes * workers;
  cost.reserve_bytes = std::min(wanted, bounds.all_bytes / kAllShare);
  if (bounds.query_bytes > 0) {
    cost.reserve_bytes = std::min(cost.reserve_bytes, bounds.query_bytes / kQueryShare);
  }
  return cost;
}

}  // namespace koios::server
