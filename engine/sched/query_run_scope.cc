// Local scopes (DESIGN 5.2): rows park, an instance of the body runs for each, and what it gives
// decides how the row leaves.
#include <algorithm>
#include <utility>

#include "engine/batch/ordinal.h"
#include "engine/sched/query_run.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {

Status QueryRun::RunScopeEnter(Node* node) {
  for (size_t body = 0; body < node->restarts.size(); ++body) {
    if (node->restarts[body].batch.rows == 0) continue;
    const plan::ScopeExit& exit = nodes_[shape_->ExitOf(node->op->id())].op->scope_exit();
    Enqueue(exit.alternatives(static_cast<int>(body)), std::move(node->restarts[body].batch));
    node->restarts[body] = {};
  }
  if (node->lane == nullptr) return OkStatus();
  if (!node->lane->active.has_value()) {
    node->lane->active = TakeInput(node);
    if (EntersSome(*node)) node->lane->active->Divide();
  }
  Input& input = *node->lane->active;
  if (!input.left.empty()) return EnterSome(node);
  if (input.batch.rows > 0) {
    RETURN_IF_ERROR(
        EnterRows(node, std::move(input.batch), std::exchange(input.charged, int64_t{0})));
  }
  FinishInput(node);
  return OkStatus();
}

// Not the whole batch at once: also where each instance may keep much, and memory is short.
bool QueryRun::EntersSome(const Node& node) const {
  const plan::ScopeEnter& enter = node.op->scope_enter();
  if (enter.serial() || enter.window() > 0) return true;
  return IsCrowded() && shape_->FirstBarrier(node.op->next(0)).has_value();
}

// Parks the rows and begins an instance of the body for each: of `where(out())` one per vertex. The
// rows stay charged until the last of them is through.
Status QueryRun::EnterRows(Node* node, Batch batch, int64_t charged) {
  const uint32_t enter = node->op->id();
  const int64_t table = Homes::BytesOf(batch.rows, batch.runs.size());
  if (!spec_->account->TryCharge(table)) {
    spec_->account->Release(charged);
    return OverLimit(*node->op, table);
  }
  Batch body;
  body.rows = batch.rows;
  body.slots = batch.slots;
  body.runs.reserve(batch.rows);
  for (uint32_t slot : node->op->drop_slots()) body.slots[slot].Clear();
  Parked* parked = homes_.Begin(enter, batch.rows);
  const std::optional<uint32_t> barrier = shape_->FirstBarrier(node->op->next(0));
  uint32_t row = 0;
  for (const Run& run : batch.runs) {
    const uint64_t first_serial = parked->first_serial + row;
    parked->runs.push_back({run.instance, run.loops, WeightPool(run.k), run.count, first_serial});
    if (has_nested_scopes_ && run.instance.serial != 0) {
      nested_.FindOrMake(run.instance).first->push_back({first_serial, run.count});
    }
    node->open_instances[run.loops].count += run.count;
    for (uint32_t i = 0; i < run.count; ++i, ++row) {
      Home& home = parked->homes[row];
      home.run = static_cast<uint32_t>(parked->runs.size() - 1);
      if (barrier.has_value()) home.pending.push_back({*barrier, run.loops});
      body.runs.push_back({InstanceOf(home), run.loops, 1, 0});
    }
  }
  parked->batch = std::move(batch);
  parked->charged = charged + table;
  News(enter).rows_out += body.rows;
  Enqueue(node->op->next(0), std::move(body));
  return OkStatus();
}

void QueryRun::ForgetNested(const Parked::OuterRun& outer) {
  auto* inside = nested_.Find(outer.instance);
  if (inside == nullptr) return;
  const auto range = std::find_if(inside->begin(), inside->end(), [&](const Range& one) {
    return one.first_serial == outer.first_serial;
  });
  if (range != inside->end()) inside->erase(range);
  if (inside->empty()) nested_.Erase(outer.instance);
}

// As many of the active batch as may open now, each run with a piece of its weight. A serial body,
// `local(aggregate('x'))`, does what it does to the query's side-effects for each traverser of a
// bulk, one after the other.
Status QueryRun::EnterSome(Node* node) {
  Input& input = *node->lane->active;
  Input::Cursor& at = input.cursor;
  const std::vector<Run>& runs = input.batch.runs;
  const plan::ScopeEnter& enter = node->op->scope_enter();
  const bool serial = enter.serial();
  const auto skip_entered = [&] {
    for (; at.run < runs.size(); ++at.run) {
      const Run& run = runs[at.run];
      const bool dropped = closings_.any() && closings_.Drops(node->op->id(), run);
      if (run.count > at.in_run && !dropped) return;
      const WeightPool& left = input.left[at.run];
      ReturnWeight(run.instance, left.k(), left.left());
      News(node->op->id()).rows_dropped += run.count - at.in_run;
      at.row += run.count - at.in_run;
      at.in_run = 0;
      at.copy = 0;
    }
  };
  std::vector<uint32_t> rows;
  Batch some;
  constexpr size_t kCrowded = 64;  // whose bodies keep no frontier
  size_t room = serial ? 1 : OpenRoom(*node, node->iteration);
  if (enter.window() == 0 && !serial && IsCrowded()) room = std::max(room, kCrowded);
  for (skip_entered(); room > 0 && at.run < runs.size(); skip_entered()) {
    const Run& run = runs[at.run];
    const auto count = static_cast<uint32_t>(std::min<size_t>(room, run.count - at.in_run));
    for (uint32_t i = 0; i < count; ++i) rows.push_back(at.row + i);
    some.runs.push_back({run.instance, run.loops, count, input.left[at.run].Take()});
    room -= count;
    if (serial && ++at.copy < input.batch.BulkAt(at.row)) break;
    at.copy = 0;
    at.in_run += count;
    at.row += count;
  }
  if (!rows.empty()) {
    some.AppendRows(input.batch, rows);
    if (serial) some.bulk.clear();
    const auto bytes = static_cast<int64_t>(some.ByteSize());
    if (!spec_->account->TryCharge(bytes)) return OverLimit(*node->op, bytes);
    RETURN_IF_ERROR(EnterRows(node, std::move(some), bytes));
  }
  if (at.run == runs.size()) FinishInput(node);
  return OkStatus();
}

// Gives a batch at most. In `local(out())` the rows are combined with parked ones, which may be
// much wider.
Status QueryRun::RunScopeExit(Node* node) {
  if (node->lane != nullptr) {
    if (!node->lane->active.has_value()) node->lane->active = TakeInput(node);
    Input& input = *node->lane->active;
    const std::vector<Run>& runs = input.batch.runs;
    Input::Cursor& at = input.cursor;
    for (; at.run < runs.size(); ++at.run) {
      const Run& run = runs[at.run];
      ASSIGN_OR_RETURN(Home * home, LeavingHome(*node, run));
      for (; at.in_run < run.count && !home->closed; ++at.in_run) {
        if (node->exits.IsFull()) {
          SendExits(node);
          return OkStatus();
        }
        RETURN_IF_ERROR(ExitRow(node->op->scope_exit(), input.batch, at.row + at.in_run, home));
      }
      at.row += run.count;
      at.in_run = 0;
      ReturnWeight(run.instance, run.k);
    }
    FinishInput(node);
  }
  SendExits(node);
  return OkStatus();
}

void QueryRun::SendExits(Node* exit) {
  if (exit->exits.batch.rows > 0) Enqueue(exit->op->next(0), std::move(exit->exits.batch));
  exit->exits = {};
}

// Of the instance whose rows, of its body, leave here.
StatusOr<Home*> QueryRun::LeavingHome(const Node& node, const Run& run) {
  Home* home = run.instance.home == worker_.index ? homes_.Find(run.instance.serial) : nullptr;
  if (home == nullptr) return Internal("A row left a scope away from its instance's home.");
  if (run.instance.serial == 0 || home->parked->enter != node.op->scope_exit().enter()) {
    return DataLoss("A row left a scope that it did not enter.");
  }
  return home;
}

Status QueryRun::ExitRow(const plan::ScopeExit& exit, const Batch& batch, uint32_t row,
                         Home* home) {
  home->productive = true;
  const Value value = batch.slots[0].Get(row);
  switch (exit.policy()) {
    case plan::ScopeExit::EXISTS:
      Leave(home, {});
      CloseEarly(home);
      break;
    case plan::ScopeExit::NONE:
      CloseEarly(home);
      break;
    case plan::ScopeExit::EXISTS_FLAG: {
      const Value yes = Value::Bool(true);
      Leave(home, {.slot = static_cast<int>(exit.slot()), .value = &yes});
      CloseEarly(home);
      break;
    }
    case plan::ScopeExit::FIRST:
      Leave(home, {.slot = static_cast<int>(exit.slot()),
                   .value = &value,
                   .body = &batch,
                   .body_row = row});
      CloseEarly(home);
      break;
    case plan::ScopeExit::ALL:
    case plan::ScopeExit::OPTIONAL:
      Leave(
          home,
          {.slot = 0, .value = &value, .bulk = batch.BulkAt(row), .body = &batch, .body_row = row});
      break;
    case plan::ScopeExit::EFFECT:
      break;
    default:
      return Internal("The plan has an unknown exit policy.");
  }
  return OkStatus();
}

// The parked row goes on behind the scope, with what its body gave, and a piece of the weight of
// the run it came in.
void QueryRun::Leave(Home* home, const ScopeResult& result) {
  const uint32_t exit_id = shape_->ExitOf(home->parked->enter);
  if (closings_.Drops(exit_id)) return;
  Node& exit = nodes_[exit_id];
  const auto& carry = exit.op->scope_exit().carry_slots();
  const Batch& parked = home->parked->batch;
  Parked::OuterRun& outer = home->parked->runs[home->run];
  // Where slot s of the new row comes from; null: it stays absent.
  const auto source = [&](uint32_t s) -> const Column* {
    if (result.body != nullptr && std::find(carry.begin(), carry.end(), s) != carry.end()) {
      return result.body->Has(s) ? &result.body->slots[s] : nullptr;
    }
    return s < parked.slots.size() && !parked.slots[s].empty() ? &parked.slots[s] : nullptr;
  };
  const auto written = [&](uint32_t s) { return static_cast<int>(s) == result.slot; };
  Batch& out = exit.exits.batch;
  if (out.rows > 0) {
    bool same = !exit.exits.IsFull() && out.runs.back().loops == outer.loops;
    for (uint32_t s = 0; s < out.slots.size() && same; ++s) {
      same = (written(s) || source(s) != nullptr) == !out.slots[s].empty();
    }
    if (!same) SendExits(&exit);
  }
  out.slots.resize(spec_->plan.num_slots());
  for (uint32_t s = 0; s < out.slots.size(); ++s) {
    const Column* from = source(s);
    if (written(s) && result.value == nullptr) {
      out.slots[s].AppendAbsent();
    } else if (written(s)) {
      out.slots[s].Append(*result.value);
    } else if (from != nullptr && s != 0 && s == exit.op->ordinal_slot()) {
      AppendOrdinalOf(*from, home->row, home->num_results++, &out.slots[s]);
    } else if (from != nullptr) {
      const bool parked_slot = s < parked.slots.size() && from == &parked.slots[s];
      out.slots[s].AppendFrom(*from, parked_slot ? home->row : result.body_row);
    }
  }
  int64_t out_bulk = 0;
  if (__builtin_mul_overflow(parked.BulkAt(home->row), result.bulk, &out_bulk)) {
    return Fail(WithDetail(InvalidArgument("More traversers are equal than a long can count."),
                           DetailFor(*exit.op)));
  }
  if (out_bulk != 1 || !out.bulk.empty()) {
    out.bulk.resize(out.rows, 1);
    out.bulk.push_back(out_bulk);
  }
  exit.exits.bytes += out.RowBytes(out.rows++);
  out.AppendRun({outer.instance, outer.loops, 1, outer.pool.Take()});
  News(exit_id).rows_out += 1;
  News(exit_id).bulk_out += static_cast<uint64_t>(out_bulk);
  busy_.insert(shape_->RankOf(exit_id));
}

// What an instance gives when it is complete, and not before.
void QueryRun::LeaveAtEnd(Home* home, const plan::ScopeExit& exit) {
  const int slot = static_cast<int>(exit.slot());
  if (exit.policy() == plan::ScopeExit::EFFECT) return Leave(home, {});
  if (home->productive) return;
  switch (exit.policy()) {
    case plan::ScopeExit::NONE:
    case plan::ScopeExit::OPTIONAL:
      return Leave(home, {});
    case plan::ScopeExit::EXISTS_FLAG: {
      const Value no = Value::Bool(false);
      return Leave(home, {.slot = slot, .value = &no});
    }
    case plan::ScopeExit::FIRST: {
      const Value none;
      if (exit.absent() == plan::Project::NULL_VALUE) {
        Leave(home, {.slot = slot, .value = &none});
      } else if (exit.absent() == plan::Project::LEAVE_ABSENT) {
        Leave(home, {.slot = slot});
      }
      return;
    }
    default:
      return;
  }
}

// The body gave nothing: in `coalesce(out(), in())` the parked row enters the next one, with a new
// weight.
void QueryRun::StartAlternative(Home* home) {
  Node& enter = nodes_[home->parked->enter];
  const plan::ScopeExit& exit = nodes_[shape_->ExitOf(home->parked->enter)].op->scope_exit();
  const uint32_t body = home->alternative++;
  const uint32_t first = exit.alternatives(static_cast<int>(body));
  home->weight.Clear();
  const Parked::OuterRun& outer = home->parked->runs[home->run];
  ArmFirst(InstanceOf(*home), first, outer.loops);
  enter.restarts.resize(exit.alternatives_size());
  JoinedBatch& joined = enter.restarts[body];
  const Batch& parked = home->parked->batch;
  if (joined.batch.rows > 0 && (joined.IsFull() || !joined.batch.SameShape(parked) ||
                                joined.batch.runs.back().loops != outer.loops)) {
    Enqueue(first, std::move(joined.batch));
    joined = {};
  }
  joined.batch.AppendRows(parked, {home->row});
  joined.batch.bulk.clear();  // an instance begins with one traverser
  joined.bytes += parked.RowBytes(home->row);
  joined.batch.AppendRun({InstanceOf(*home), outer.loops, 1, 0});
  busy_.insert(shape_->RankOf(enter.op->id()));
}

}  // namespace koios::engine
