// Values to and from koios.v1.Value, the form clients see. Pure, any thread.
// Rule: an internal reference never leaves: elements are ElementData by now.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "core/value.h"

namespace koios::v1 {
class Value;
}  // namespace koios::v1

namespace koios {

// What nests deeper is neither stored, nor taken as a parameter, nor sent as a result: readers of
// protobuf stop at 100 nested messages, and a map takes three for each level.
inline constexpr int kMaxSentDepth = 30;
// RESOURCE_EXHAUSTED for a value that nests deeper.
Status CheckSentDepth(const Value& value);

// Lets long work ask now and then whether to go on. What works counts what it does; the question
// costs nothing until enough has been done. One thread.
class WorkCheck {
 public:
  // `ask` gets all the work done so far, whenever that has grown by at least `interval`; an error
  // ends the work.
  using Ask = std::function<Status(uint64_t work)>;
  WorkCheck(uint64_t interval, Ask ask) : interval_(interval), ask_(std::move(ask)) {}

  Status Spend(uint64_t work) {
    done_ += work;
    if (done_ - asked_ < interval_) return OkStatus();
    asked_ = done_;
    return ask_(done_);
  }

 private:
  const uint64_t interval_;
  const Ask ask_;
  uint64_t done_ = 0;
  uint64_t asked_ = 0;
};

// INTERNAL for an internal reference (kVertex, kEdge, kVertexProperty, kProperty) in `value`.
// Ill-formed UTF-8 becomes U+FFFD. `work`: counts bytes that the message has at least.
Status ToProto(const Value& value, v1::Value* out, WorkCheck* work = nullptr);

// INVALID_ARGUMENT for what is unset, out of range or no number; RESOURCE_EXHAUSTED for nesting
// beyond kMaxValueDepth. (Protobuf's parser itself stops at 100 nested messages, two for a list.)
StatusOr<Value> FromProto(const v1::Value& value);

}  // namespace koios
