// StateTable: what an operator keeps per instance and iteration. An instance's states stand
// together, so that the end of one of many instances costs no more than what it has; outside loops
// it is one, in the instance's place. Pointers stay valid until their state is erased.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "engine/batch/instance_map.h"
#include "engine/op/operator.h"

namespace koios::engine {

template <typename State>
class StateTable {
 public:
  // nullptr: there is none.
  State* Find(const StateKey& key) {
    States* states = states_.Find(key.instance);
    return states == nullptr ? nullptr : states->Find(key.loops);
  }
  const State* Find(const StateKey& key) const {
    return const_cast<StateTable*>(this)->Find(key);  // which changes nothing
  }
  // The state of a run, made from `args` when there was none; whether it is new.
  template <typename... Args>
  std::pair<State*, bool> FindOrMake(const Run& run, Args&&... args) {
    States* states = states_.FindOrMake(run.instance).first;
    if (State* found = states->Find(run.loops)) return {found, false};
    if (states->first.has_value()) {
      if (states->others == nullptr) states->others = std::make_unique<std::map<Loops, State>>();
      return {&states->others->try_emplace(run.loops, std::forward<Args>(args)...).first->second,
              true};
    }
    states->first_loops = run.loops;
    return {&states->first.emplace(std::forward<Args>(args)...), true};
  }
  void Erase(const StateKey& key) {
    States* states = states_.Find(key.instance);
    if (states == nullptr) return;
    if (states->first.has_value() && states->first_loops == key.loops) {
      states->first.reset();
    } else if (states->others != nullptr) {
      states->others->erase(key.loops);
    }
    if (states->empty()) states_.Erase(key.instance);
  }
  // Of the table; what states point to is theirs.
  size_t ByteSize() const { return states_.ByteSize(); }
  // Calls use(state) for each state of the instance and erases them.
  template <typename Use>
  void Release(const InstanceId& instance, const Use& use) {
    States* states = states_.Find(instance);
    if (states == nullptr) return;
    if (states->first.has_value()) use(*states->first);
    if (states->others != nullptr) {
      for (auto& [loops, state] : *states->others) use(state);
    }
    states_.Erase(instance);
  }

 private:
  // Of one instance, by iteration.
  struct States {
    State* Find(const Loops& loops) {
      if (first.has_value() && first_loops == loops) return &*first;
      if (others == nullptr) return nullptr;
      const auto found = others->find(loops);
      return found == others->end() ? nullptr : &found->second;
    }
    bool empty() const { return !first.has_value() && (others == nullptr || others->empty()); }

    Loops first_loops;
    std::optional<State> first;
    std::unique_ptr<std::map<Loops, State>> others;
  };

  InstanceMap<States> states_;
};

}  // namespace koios::engine
