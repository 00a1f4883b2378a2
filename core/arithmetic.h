// Arithmetic on values as TinkerPop 3.8 does it: operands are promoted to the wider class
// (byte < short < int < long < bigint; with a real number float < double < decimal), an integer
// result that does not fit widens up to long, and past long it is an error, not a wrap-around.
// Here NaN propagates, whereas TinkerPop drops it in some classes.
// Pure, any thread. Operands that are not numbers: INVALID_ARGUMENT.
#pragma once

#include <cstdint>

#include "core/value.h"

namespace koios {

bool IsReal(const Value& v);  // float or double
bool IsBig(const Value& v);   // of any length
bool IsNaN(const Value& v);

// The class two numbers are promoted to. `force_real`: float at least.
// REQUIRES: both are numbers.
ValueKind CommonNumberKind(const Value& a, const Value& b, bool force_real = false);

// null with anything is the first operand.
StatusOr<Value> Add(const Value& a, const Value& b);
StatusOr<Value> Subtract(const Value& a, const Value& b);
StatusOr<Value> Multiply(const Value& a, const Value& b);
// Integers towards zero, unless `force_real`. Integers and decimals by zero: INVALID_ARGUMENT.
StatusOr<Value> Divide(const Value& a, const Value& b, bool force_real = false);

// The smaller, the larger: numbers in their common class, null and NaN lose against anything;
// others by Compare, INVALID_ARGUMENT when they can't be compared.
StatusOr<Value> Min(const Value& a, const Value& b);
StatusOr<Value> Max(const Value& a, const Value& b);

// The nearest double. REQUIRES: a number.
double NumberAsDouble(const Value& v);

// The running state of sum() and mean(). Integers are added exactly and the class of the result is
// chosen at the end from the widest input, so partial sums of many workers merge to the same
// answer in any order (reals up to rounding). Owned by one thread; Save and Load move it.
class NumberSum {
 public:
  // null is ignored. REQUIRES: bulk > 0.
  Status Add(const Value& v, int64_t bulk = 1);
  void AddInt(int32_t v, int64_t bulk = 1);
  void AddLong(int64_t v, int64_t bulk = 1);
  void AddDouble(double v, int64_t bulk = 1);
  Status Merge(const NumberSum& other);

  int64_t count() const { return count_; }  // with bulk, without nulls
  // null when nothing was added. INVALID_ARGUMENT when integers sum up past long.
  StatusOr<Value> Sum() const;
  // Double, or decimal when a bigint or decimal was added; null when nothing was added.
  StatusOr<Value> Mean() const;
  // Of the sum of bigints and decimals, beside this object.
  size_t BigBytes() const { return big_.ByteSize() - sizeof(Value); }

  // One list value, for frames and spilled files. Load: DATA_LOSS for anything else.
  StatusOr<Value> Save() const;
  static StatusOr<NumberSum> Load(const Value& saved);

 private:
  void AddInteger(int64_t v, int bits, int64_t bulk);
  void AddReal(double v, int bits, int64_t bulk);
  Status AddBig(const Value& v, int64_t bulk);
  void CountRows(int bits, int64_t bulk);
  double RealTotal() const;
  StatusOr<Value> BigTotal() const;

  int64_t count_ = 0;
  int bits_ = 8;       // the widest class that was added: 8, 16, 32, 64; 128 with big numbers
  bool real_ = false;  // a float, double or decimal was added
  bool overflowed_ = false;
  __int128 integers_ = 0;
  double reals_ = 0;   // the sum of doubles,
  double floats_ = 0;  // and of floats, which a decimal sees as the decimals that they print
  Value big_;          // the sum of bigints and decimals; null when there was none
};

}  // namespace koios
