// PlanValue: a constant of a query. Of the value of a parameter it knows when somebody looks at it:
// what was planned without a look is the plan for all values of that kind, and may be kept for
// them (plan_holes.h). Nobody has to think of it: reading the value is the look, and passing it on
// or asking for its kind is none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/value.h"

namespace koios::planner {

// A parameter of the query being planned.
struct ParameterUse {
  uint32_t index = 0;
  bool looked_at = false;
};

class PlanValue {
 public:
  PlanValue() = default;
  PlanValue(Value value) : value_(std::move(value)) {}  // NOLINT: any value is one
  // The value of a parameter; `use` outlives all copies.
  PlanValue(Value value, ParameterUse* use) : value_(std::move(value)), use_(use) {}

  ValueKind kind() const { return value_.kind(); }
  bool is_null() const { return value_.is_null(); }
  bool is_collection() const { return value_.is_collection(); }
  size_t FlatBytes() const { return value_.FlatBytes(); }  // no look: nothing is planned by it

  const Value& Look() const {
    if (use_ != nullptr) use_->looked_at = true;
    return value_;
  }
  operator const Value&() const { return Look(); }  // NOLINT: whoever wants a value reads it
  bool AsBool() const { return Look().AsBool(); }
  int64_t AsInteger() const { return Look().AsInteger(); }
  const std::string& AsString() const { return Look().AsString(); }
  Token AsToken() const { return Look().AsToken(); }
  const ElementData& AsElement() const { return Look().AsElement(); }
  const ValueList& AsList() const { return Look().AsList(); }
  const ValueMap& AsMap() const { return Look().AsMap(); }

  // Its place in a plan, which PutValues (plan_holes.h) fills. Null: it is no parameter's.
  const ParameterUse* use() const { return use_; }

 private:
  Value value_;
  ParameterUse* use_ = nullptr;
};

using PlanValues = std::vector<PlanValue>;

struct Parameters {
  std::map<std::string, PlanValue> by_name;
  bool* drawn = nullptr;  // told when a constant is drawn at random: planning again draws another
  // How often each was named by now, and the bytes of all mentions but each one's first.
  std::map<std::string, uint32_t>* named = nullptr;
  uint64_t* named_again_bytes = nullptr;
  uint64_t most_named_again_bytes = UINT64_MAX;
};

// The value's bytes in the plan, or what stands for it there until PutValues(). `as_id`: of every
// width the same integer.
std::string Encoded(const PlanValue& value, bool as_id = false);

}  // namespace koios::planner
