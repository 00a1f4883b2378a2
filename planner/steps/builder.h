// Builder: turns the calls of one traversal into a logical chain. It groups each step with its
// as() labels and modulators, checks the arguments against the catalogue, then calls the row's
// build function, which emits operations here.
// Rule: builders know what values flow (env) only by the operations emitted so far.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/argument.h"
#include "planner/logical.h"
#include "planner/steps/catalogue.h"
#include "planner/steps/side_effect_table.h"
#include "planner/steps/source/configuration.h"
#include "planner/value_type.h"

namespace koios::planner {

struct Modulator {
  const parser::Call* call = nullptr;
  std::vector<Bound> args;
};

// One step with all that belongs to it.
struct StepCall {
  const StepSpec* spec = nullptr;
  const parser::Call* call = nullptr;
  std::string text;  // as written
  std::vector<Bound> args;
  std::vector<Modulator> bys;
  std::vector<Modulator> options;
  std::vector<Modulator> withs;
  std::vector<Modulator> from_tos;      // from(), to()
  std::vector<Modulator> properties;    // of addV(), addE()
  std::vector<Modulator> tests_before;  // until(), emit(), times() of repeat()
  std::vector<Modulator> tests_behind;
  std::vector<std::string> labels;

  std::string_view name() const { return spec->name; }
  const SourceSpan& span() const { return call->span; }
};

// Distinct labels of one traversal.
inline constexpr size_t kMaxLabels = 256;

// Steps inject() in the middle of one traversal: each nests what is before it.
inline constexpr uint32_t kMaxJoins = 32;

// What all builders of one query share.
struct QueryState {
  const Parameters* parameters = nullptr;
  GraphLook graph;
  uint32_t next_name = 1;
  bool keeps_paths = false;  // a step of the query reads paths
  SideEffectTable side_effects;
  SackSettings sacks;
};

// How the labels at both ends of a traversal are meant.
enum class LabelMode : uint8_t {
  kPlain,
  kVariables,  // in where(): as('a') at the start reads a, at the end compares with it
};

class Builder {
 public:
  Builder(QueryState* query, TypeEnv env, LabelMode mode = LabelMode::kPlain)
      : query_(query), start_(env), env_(std::move(env)), mode_(mode) {}

  Status AppendRoot(const parser::Traversal& traversal);
  Status AppendChild(const parser::Traversal& traversal);
  Chain Take() { return std::move(chain_); }

  // For build functions.
  const TypeEnv& env() const { return env_; }
  LabelMode mode() const { return mode_; }
  bool at_start() const { return chain_.ops.empty(); }
  // An error of the child would be one of rows that TinkerPop would not have asked it for.
  bool is_lenient() const { return lenient_; }
  void set_lenient(bool lenient) { lenient_ = lenient; }
  bool is_child() const { return is_child_; }  // not the root, nor a branch at its start
  bool keeps_paths() const { return query_->keeps_paths; }
  const GraphLook& graph() const { return query_->graph; }
  const SackSettings& sacks() const { return query_->sacks; }
  // Traversers that are equal become one here, where that shows, and sacks their shares of all.
  void EmitMeeting(bool normalise);
  void Emit(Operation operation);
  // An operation of the step being built, for a chain that is made by hand.
  Op Place(Operation operation) const { return {std::move(operation), span_, step_}; }
  size_t num_ops() const { return chain_.ops.size(); }
  std::span<const Op> OpsFrom(size_t begin) const {
    return std::span<const Op>(chain_.ops).subspan(begin);
  }
  // Several traversers may come here: not the one seed of the root.
  bool takes_many() const { return is_child_ || !at_start(); }
  // What was emitted from `begin` on becomes the body of a local scope, so that one traverser is
  // through before the next one enters, as it changes the graph. `before`: env() at `begin`.
  void Enclose(size_t begin, TypeEnv before, plan::ScopeExit::Policy policy, bool keeps_labels);
  // Emits a union of all so far with `other`, which starts afresh.
  Status UnionWith(Chain other);
  // An empty builder for a child of the step, which is then built by hand.
  Builder Inner(TypeEnv env) const;
  StatusOr<Chain> Child(const Bound& argument, LabelMode mode = LabelMode::kPlain);
  StatusOr<Chain> ChildFrom(const Bound& argument, TypeEnv env, LabelMode mode);
  // Inside repeat(): its name, and what to add to the counter of iterations.
  struct LoopPlace {
    bool inside = false;
    std::string name;
    int32_t plus = 0;
    std::vector<std::pair<std::string, int32_t>> outer;  // the loops around, inner ones first
  };
  const LoopPlace& loop() const { return loop_; }
  StatusOr<Chain> LoopBody(const Bound& argument, TypeEnv env, LoopPlace place);
  // Values the tests of one place and returns what they store.
  StatusOr<Chain> LoopConditions(const std::vector<Modulator>& modulators, TypeEnv env,
                                 LoopPlace place, LoopTests* tests);
  SideEffectTable* side_effects() const { return &query_->side_effects; }
  // Emits a scope that stores whether the child gives anything, and returns that flag.
  ExpressionPtr EmitFlag(Chain child);
  // A name that no label can be: "~k3".
  std::string FreshName(char prefix);
  // Stores `value` (when it is no stored or current value already) and returns its name.
  std::string Store(const ExpressionPtr& value);

 private:
  using Calls = std::span<const parser::Call>;
  // Takes the calls between g and the first step.
  Status TakeConfiguration(const parser::Traversal& root, Calls* calls);
  Status AppendCalls(Calls calls, bool root);
  Status AppendPlain(Calls calls, bool root);
  Status AppendConjunction(Calls left, Calls calls, bool root);
  StatusOr<Chain> ChildOfCalls(Calls calls);
  StatusOr<StepCall> TakeStep(Calls calls, size_t* at);
  Status TakeLoopTests(Calls calls, size_t* at, std::vector<Modulator>* tests);
  Status TakeModulators(Calls calls, size_t* at, StepCall* step);
  Status BuildStep(const StepCall& step, bool first_of_root);
  Status StoreEnd(Calls calls);
  StatusOr<std::vector<Bound>> BindLabels(const parser::Call& as);
  Status TakeStart(Calls calls);
  Status CheckNames(size_t most);
  // Takes out the labels that are compared, not stored.
  void StoreLabels(bool last, std::vector<std::string>* labels);
  // The path grows by the value that the ops from `begin` on gave, and by the labels of its step.
  void KeepPath(size_t begin, const std::vector<std::string>& labels);

  QueryState* query_;
  TypeEnv start_;  // where the traversal begins
  TypeEnv env_;
  LabelMode mode_;
  bool is_child_ = true;
  bool lenient_ = false;
  LoopPlace loop_;
  uint32_t joins_ = 0;
  std::string end_;  // where(...as('a')): what a stands for is stored there
  Chain chain_;
  SourceSpan span_;
  std::string step_;
};

}  // namespace koios::planner
