#include "engine/op/merge_op.h"

#include <utility>

#include "engine/batch/by_iteration.h"
#include "engine/batch/instance_map.h"
#include "engine/op/state/merged_rows.h"
#include "engine/scope/weight.h"

namespace koios::engine {
namespace {

// Keeps per iteration up to `capacity` distinct rows, and all where they are kept by number; what
// comes then pushes out the oldest. An
// instance's rows share the weight of the first run that came; the others' go home.
class MergeOp : public PartialOperator {
 public:
  MergeOp(size_t capacity, OperatorHost* host)
      : capacity_(capacity), host_(host), dense_(*host, capacity) {}

  Status Absorb(const Batch& input, std::vector<Run>* returned) override {
    size_t row = 0;
    int64_t bytes = 0;
    for (const Run& run : input.runs) {
      const size_t end = row + run.count;
      if (row == end) {
        returned->push_back(run);
        continue;
      }
      Iteration& iteration = iterations_[run.loops];
      const auto [group, fresh] = iteration.group_of.FindOrMake(run.instance);
      if (fresh) {
        *group = AddGroup(run, &iteration);
        bytes += kGroupBytes;
      } else {
        returned->push_back(run);
      }
      bytes += iteration.rows.Add(input, row, end, *group, &iteration.groups[*group].rows);
      const bool one = iteration.groups.size() == 1;
      if (one && !iteration.rows.is_dense() && dense_.IsWorth(iteration.rows.size())) {
        bytes += iteration.rows.MakeDense(*group, SIZE_MAX);
      }
      row = end;
    }
    return host_->ChargeState(bytes);
  }

  bool IsFull(const Loops& loops) const override {
    const Iteration* iteration = iterations_.Find(loops);
    return iteration != nullptr && iteration->rows.num_listed() > capacity_;
  }

  const Loops* First(const std::function<bool(const Loops&)>& may) override {
    return iterations_.First([&](const Loops& loops, const Iteration&) { return may(loops); })
        .loops;
  }

  Status Flush(const Loops& loops, Batch* output, std::vector<Run>* returned) override {
    Iteration* iteration = iterations_.Find(loops);
    if (iteration == nullptr) return OkStatus();
    std::vector<uint32_t> groups;  // of the output rows
    ASSIGN_OR_RETURN(int64_t bytes, iteration->rows.Take(output, &groups));
    const size_t num_free = iteration->free_groups.size();
    GiveWeights(groups, loops, iteration, output, returned);
    bytes += kGroupBytes * static_cast<int64_t>(iteration->free_groups.size() - num_free);
    if (iteration->empty()) iteration->rows = {};  // what it has allocated is charged no more
    iterations_.Trim(loops);
    return host_->ChargeState(-bytes);
  }

  bool flushes_first() const override { return true; }

 private:
  // The rows of an instance.
  struct Group {
    InstanceId instance;
    WeightPool pool;
    size_t rows = 0;
  };
  struct Iteration {
    MergedRows rows;
    std::vector<Group> groups;          // by number,
    std::vector<uint32_t> free_groups;  // of which these are nobody's
    InstanceMap<uint32_t> group_of;
    bool empty() const { return rows.size() == 0; }
  };
  // An entry of each container, at the load they are kept at.
  static constexpr int64_t kGroupBytes = 160;

  static uint32_t AddGroup(const Run& run, Iteration* iteration) {
    auto number = static_cast<uint32_t>(iteration->groups.size());
    if (iteration->free_groups.empty()) {
      iteration->groups.emplace_back();
    } else {
      number = iteration->free_groups.back();
      iteration->free_groups.pop_back();
    }
    iteration->groups[number] = {run.instance, WeightPool(run.k), 0};
    return number;
  }

  // Covers the rows with runs; a group whose last row leaves gives up all its weight.
  static void GiveWeights(const std::vector<uint32_t>& groups, const Loops& loops,
                          Iteration* iteration, Batch* output, std::vector<Run>* returned) {
    for (size_t begin = 0, end = 0; begin < groups.size(); begin = end) {
      while (end < groups.size() && groups[end] == groups[begin]) ++end;
      Group& group = iteration->groups[groups[begin]];
      Run run{group.instance, loops, static_cast<uint32_t>(end - begin), 0};
      group.rows -= run.count;
      const bool last = group.rows == 0;
      run.k = last ? group.pool.k() : group.pool.Take();
      if (last) {
        for (uint32_t i = 1; i < group.pool.left(); ++i) returned->push_back(run);
        iteration->group_of.Erase(group.instance);
        iteration->free_groups.push_back(groups[begin]);
      }
      output->runs.push_back(std::move(run));
    }
  }

  const size_t capacity_;
  OperatorHost* const host_;
  const DenseChoice dense_;
  ByIteration<Iteration> iterations_;
};

}  // namespace

StatusOr<OperatorBundle> MakeMerge(const plan::Merge& op, OperatorHost* host) {
  if (op.capacity() == 0) return Internal("The plan merges into no room.");
  OperatorBundle bundle;
  bundle.partial = std::make_unique<MergeOp>(op.capacity(), host);
  return bundle;
}

}  // namespace koios::engine
