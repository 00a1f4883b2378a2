// StateTable: what an operator keeps per instance and iteration. An instance's states stand
// together, so that the end of one of many instances costs no more than what it has. Pointers stay
// valid until their state is erased.
#pragma once

#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "engine/op/operator.h"

namespace koios::engine {

template <typename State>
class StateTable {
 public:
  // nullptr: there is none.
  State* Find(const StateKey& key) {
    const auto found = states_.find(key.instance);
    if (found == states_.end()) return nullptr;
    const auto state = found->second.find(key.loops);
    return state == found->second.end() ? nullptr : &state->second;
  }
  // The state of a run, made from `args` when there was none; whether it is new.
  template <typename... Args>
  std::pair<State*, bool> FindOrMake(const Run& run, Args&&... args) {
    const auto [state, fresh] =
        states_[run.instance].try_emplace(run.loops, std::forward<Args>(args)...);
    return {&state->second, fresh};
  }
  void Erase(const StateKey& key) {
    const auto found = states_.find(key.instance);
    if (found == states_.end()) return;
    found->second.erase(key.loops);
    if (found->second.empty()) states_.erase(found);
  }
  // Calls use(state) for each state of the instance and erases them.
  template <typename Use>
  void Release(const InstanceId& instance, const Use& use) {
    const auto found = states_.find(instance);
    if (found == states_.end()) return;
    for (auto& [loops, state] : found->second) use(state);
    states_.erase(found);
  }

 private:
  absl::flat_hash_map<InstanceId, std::map<Loops, State>, std::hash<InstanceId>> states_;
};

}  // namespace koios::engine
