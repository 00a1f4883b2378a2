// The step catalogue: one row per Gremlin step of TinkerPop 3.8. Argument checks, "did you mean",
// completion in the console and the list of steps in the docs read this table.
// Rule: a row without an example is Gremlin that is not there yet (UNIMPLEMENTED); a name without a
// row is no Gremlin (INVALID_ARGUMENT with the nearest name). tests/golden/money/examples.test has
// what each example gives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "planner/steps/signature.h"

namespace koios::planner {

class Builder;
struct StepCall;

// Appends the step's operations to the builder's chain. The arguments match a signature of the row.
using BuildFunction = Status (*)(const StepCall& step, Builder* builder);

enum class ChildScoping : uint8_t {
  kNone,
  kLocal,   // one instance of the child per traverser
  kGlobal,  // the child sees all traversers as one stream
};

// What a step is besides one link of the chain.
enum StepFlag : uint32_t {
  kStarts = 1,      // may begin a traversal behind the source word
  kConfigures = 2,  // belongs to the source: withSack(), ...
  kModulates = 4,   // changes the step before it: by(), option(), ...
  kTakesBy = 8,
  kTakesOption = 16,
  kTakesFromTo = 32,
  kTakesWith = 64,
  kTakesLoopTests = 128,  // times(), until(), emit()
  kTakesProperties = 256,
  kReadsPath = 512,
  kSpreads = 1024,  // leads from a traverser to several, as TinkerPop's FlatMapStep
  kGathers = 2048,  // TinkerPop's Barrier, unless with Scope.local
};

struct StepSpec {
  std::string_view name;
  std::string_view signatures;  // see signature.h
  std::string_view help;
  std::string_view example = {};  // on the graphs of `koios generate money`; empty: not there yet
  uint32_t flags = 0;
  ChildScoping children = ChildScoping::kNone;
  BuildFunction build = nullptr;

  bool Has(StepFlag flag) const { return (flags & flag) != 0; }
  bool IsThere() const { return !example.empty(); }
};

// Sorted by name, upper case first.
const std::vector<StepSpec>& StepCatalogue();
// Parsed once. REQUIRES: a row of the catalogue.
const std::vector<Signature>& SignaturesOf(const StepSpec& spec);
// nullptr when Gremlin has no such step.
const StepSpec* FindStep(std::string_view name);
// The nearest step's name; empty when none is near.
std::string NearestStep(std::string_view name);

}  // namespace koios::planner
