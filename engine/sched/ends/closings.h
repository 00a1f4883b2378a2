// Closings: what is not needed any more, and where rows of it are dropped. A limit closes what
// leads only to it: of the whole query (`V().out().limit(3)`), or of one instance
// (`local(out().limit(3))`); a scope that has its answer closes the rest of its body
// (`where(out().out())`). An instance stays closed until it is over (engine rule 3).
// Belongs to one query on one worker.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "engine/batch/instance_map.h"
#include "proto/plan.pb.h"

namespace koios::engine {

class Closings {
 public:
  explicit Closings(const plan::Plan& plan);

  // Whether rows at the operator are dropped: all of them, or the run's.
  bool Drops(uint32_t op) const { return root_[op] != 0; }
  bool Drops(uint32_t op, const Run& run) const;
  // False: nothing has been closed yet.
  bool any() const { return any_; }

  // The operator needs nothing more of the query. False: it said so before.
  bool Close(uint32_t op);
  // All rows that come to `op` are dropped from now on.
  void Drop(uint32_t op) { root_[op] = 1; }
  // Nor of the instance: its rows are dropped there, and wherever all ways lead there.
  bool Close(uint32_t op, const InstanceId& instance);
  // The instance is over.
  void Forget(const InstanceId& instance) { instances_.Erase(instance); }

  // What is kept of instances, and marks.
  size_t ByteSize() const { return instances_.ByteSize() + num_marked_ * root_.size(); }

  // Marks the operators all of whose ways lead to `op`.
  const std::vector<uint8_t>& LeadsOnlyTo(uint32_t op);

 private:
  using Operators = absl::InlinedVector<uint32_t, 2>;

  const plan::Plan& plan_;
  bool any_ = false;
  std::vector<uint8_t> root_;       // by operator: rows are dropped
  std::vector<uint8_t> is_closed_;  // by operator: it needs nothing more of the query
  InstanceMap<Operators> instances_;
  std::vector<std::vector<uint8_t>> leads_only_to_;  // by operator; empty: not asked for yet
  size_t num_marked_ = 0;                            // those asked for
};

}  // namespace koios::engine
