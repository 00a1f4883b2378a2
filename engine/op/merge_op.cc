#include "engine/op/merge_op.h"

#include <map>

#include "absl/container/flat_hash_map.h"
#include "engine/op/state/merged_rows.h"
#include "engine/scope/weight.h"

namespace koios::engine {
namespace {

// Keeps per iteration up to `capacity` distinct rows; what comes then pushes out the oldest. An
// instance's rows share the weight of the first run that came; the others' go home.
class MergeOp : public PartialOperator {
 public:
  MergeOp(size_t capacity, OperatorHost* host) : capacity_(capacity), host_(host) {}

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
      const size_t num_groups = iteration.groups.size();
      const uint32_t group = GroupOf(run, &iteration, returned);
      if (iteration.groups.size() > num_groups) bytes += kGroupBytes;
      bytes += iteration.rows.Add(input, row, end, group, &iteration.groups[group].rows);
      row = end;
    }
    return host_->ChargeState(bytes);
  }

  bool IsFull(const Loops& iteration) const override {
    const auto found = iterations_.find(iteration);
    return found != iterations_.end() && found->second.rows.size() > capacity_;
  }

  const Loops* First(const std::function<bool(const Loops&)>& may) const override {
    const auto first = std::find_if(iterations_.begin(), iterations_.end(),
                                    [&](const auto& iteration) { return may(iteration.first); });
    return first == iterations_.end() ? nullptr : &first->first;
  }

  Status Flush(const Loops& loops, Batch* output, std::vector<Run>* returned) override {
    const auto found = iterations_.find(loops);
    if (found == iterations_.end()) return OkStatus();
    Iteration& iteration = found->second;
    std::vector<uint32_t> groups;  // of the output rows
    ASSIGN_OR_RETURN(int64_t bytes, iteration.rows.Take(output, &groups));
    const size_t num_groups = iteration.groups.size();
    GiveWeights(groups, loops, &iteration, output, returned);
    bytes += kGroupBytes * static_cast<int64_t>(num_groups - iteration.groups.size());
    if (iteration.rows.size() == 0) iterations_.erase(found);
    return host_->ChargeState(-bytes);
  }

  bool flushes_first() const override { return true; }

 private:
  struct Group {
    InstanceId instance;
    WeightPool pool;
    size_t rows = 0;
  };
  struct Iteration {
    MergedRows rows;
    absl::flat_hash_map<uint32_t, Group> groups;
    absl::flat_hash_map<InstanceId, uint32_t, std::hash<InstanceId>> group_of;
    uint32_t next_group = 0;
  };
  // An entry of each container, at the load they are kept at.
  static constexpr int64_t kGroupBytes = 160;

  static uint32_t GroupOf(const Run& run, Iteration* iteration, std::vector<Run>* returned) {
    const auto [found, fresh] =
        iteration->group_of.try_emplace(run.instance, iteration->next_group);
    if (fresh) {
      iteration->groups[iteration->next_group++] = {run.instance, WeightPool(run.k), 0};
    } else {
      returned->push_back(run);
    }
    return found->second;
  }

  // Covers the rows with runs; a group whose last row leaves gives up all its weight.
  static void GiveWeights(const std::vector<uint32_t>& groups, const Loops& loops,
                          Iteration* iteration, Batch* output, std::vector<Run>* returned) {
    for (size_t begin = 0, end = 0; begin < groups.size(); begin = end) {
      while (end < groups.size() && groups[end] == groups[begin]) ++end;
      const auto found = iteration->groups.find(groups[begin]);
      Group& group = found->second;
      Run run{group.instance, loops, static_cast<uint32_t>(end - begin), 0};
      group.rows -= run.count;
      const bool last = group.rows == 0;
      run.k = last ? group.pool.k() : group.pool.Take();
      if (last) {
        for (uint32_t i = 1; i < group.pool.left(); ++i) returned->push_back(run);
        iteration->group_of.erase(group.instance);
        iteration->groups.erase(found);
      }
      output->runs.push_back(std::move(run));
    }
  }

  const size_t capacity_;
  OperatorHost* const host_;
  std::map<Loops, Iteration> iterations_;
};

}  // namespace

StatusOr<OperatorBundle> MakeMerge(const plan::Merge& op, OperatorHost* host) {
  if (op.capacity() == 0) return Internal("The plan merges into no room.");
  OperatorBundle bundle;
  bundle.partial = std::make_unique<MergeOp>(op.capacity(), host);
  return bundle;
}

}  // namespace koios::engine
