#include "core/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/big_number.h"
#include "core/value_compare.h"

namespace koios {

bool IsReal(const Value& v) {
  return v.kind() == ValueKind::kFloat || v.kind() == ValueKind::kDouble;
}
bool IsBig(const Value& v) {
  return v.kind() == ValueKind::kBigInt || v.kind() == ValueKind::kBigDecimal;
}
bool IsNaN(const Value& v) { return IsReal(v) && std::isnan(v.AsDouble()); }

namespace {

enum class Operation : uint8_t { kAdd, kSubtract, kMultiply, kDivide };

std::string_view Verb(Operation operation) {
  switch (operation) {
    case Operation::kAdd:
      return "added";
    case Operation::kSubtract:
      return "subtracted";
    case Operation::kMultiply:
      return "multiplied";
    case Operation::kDivide:
      return "divided";
  }
  return "used";
}

// REQUIRES: a number.
int BitsOf(const Value& v) {
  if (v.kind() == ValueKind::kByte) return 8;
  if (v.kind() == ValueKind::kShort) return 16;
  if (v.kind() == ValueKind::kInt || v.kind() == ValueKind::kFloat) return 32;
  return IsBig(v) ? 128 : 64;
}

ValueKind KindOf(int bits, bool real) {
  if (real) {
    return bits <= 32   ? ValueKind::kFloat
           : bits <= 64 ? ValueKind::kDouble
                        : ValueKind::kBigDecimal;
  }
  return bits <= 8    ? ValueKind::kByte
         : bits <= 16 ? ValueKind::kShort
         : bits <= 32 ? ValueKind::kInt
         : bits <= 64 ? ValueKind::kLong
                      : ValueKind::kBigInt;
}

bool IsRealKind(ValueKind kind) {
  return kind == ValueKind::kFloat || kind == ValueKind::kDouble || kind == ValueKind::kBigDecimal;
}

Status LongOverflow() {
  ErrorDetail detail;
  detail.reason = "LONG_OVERFLOW";
  detail.hint = "Add a big integer such as 0n to calculate without a limit.";
  return InvalidArgument("An integer result does not fit 64 bits (long overflow).", detail);
}

// In the narrowest class from `bits` on in which it fits.
StatusOr<Value> FitInteger(__int128 v, int bits) {
  const auto fits = [v](int64_t low, int64_t high) { return v >= low && v <= high; };
  const auto as = [v]<typename T>(T) { return static_cast<T>(v); };
  if (bits <= 8 && fits(INT8_MIN, INT8_MAX)) return Value::Byte(as(int8_t{}));
  if (bits <= 16 && fits(INT16_MIN, INT16_MAX)) return Value::Short(as(int16_t{}));
  if (bits <= 32 && fits(INT32_MIN, INT32_MAX)) return Value::Int(as(int32_t{}));
  if (fits(INT64_MIN, INT64_MAX)) return Value::Long(as(int64_t{}));
  return LongOverflow();
}

// As float when that was asked for and the range allows, else as double.
Value FitReal(double v, int bits) {
  const bool fits = std::isnan(v) || std::abs(v) <= std::numeric_limits<float>::max();
  return bits <= 32 && fits ? Value::Float(static_cast<float>(v)) : Value::Double(v);
}

template <typename T>
T Apply(Operation operation, T a, T b) {
  switch (operation) {
    case Operation::kAdd:
      return a + b;
    case Operation::kSubtract:
      return a - b;
    case Operation::kMultiply:
      return a * b;
    case Operation::kDivide:
      return a / b;
  }
  return a;
}

StatusOr<BigNumber> ApplyBig(Operation operation, const BigNumber& a, const BigNumber& b) {
  switch (operation) {
    case Operation::kAdd:
      return AddNumbers(a, b);
    case Operation::kSubtract:
      return SubtractNumbers(a, b);
    case Operation::kMultiply:
      return MultiplyNumbers(a, b);
    case Operation::kDivide:
      return DivideNumbers(a, b);
  }
  return a;
}

// nullopt: not finite. REQUIRES: a number.
std::optional<BigNumber> BigOf(const Value& v) {
  if (IsBig(v)) return v.AsBigNumber();
  if (v.kind() == ValueKind::kFloat) return BigNumber::FromFloat(static_cast<float>(v.AsDouble()));
  if (IsReal(v)) return BigNumber::FromDouble(v.AsDouble());
  return BigNumber::FromInteger(v.AsInteger());
}

StatusOr<Value> CalculateBig(Operation operation, const Value& a, const Value& b, bool decimal) {
  std::optional<BigNumber> x = BigOf(a), y = BigOf(b);
  if (!x.has_value() || !y.has_value()) {  // infinite or NaN: no decimal can say that
    return Value::Double(Apply(operation, NumberAsDouble(a), NumberAsDouble(b)));
  }
  x->decimal = x->decimal || decimal;
  ASSIGN_OR_RETURN(BigNumber result, ApplyBig(operation, *x, *y));
  return Value::Of(std::move(result));
}

// A float operation that leaves float's range is done again in double.
Value CalculateReal(Operation operation, const Value& a, const Value& b, bool narrow) {
  const double x = NumberAsDouble(a), y = NumberAsDouble(b);
  if (narrow) {
    const float result = Apply(operation, static_cast<float>(x), static_cast<float>(y));
    if (!std::isinf(result)) return Value::Float(result);
  }
  return Value::Double(Apply(operation, x, y));
}

StatusOr<Value> Calculate(Operation operation, const Value& a, const Value& b,
                          bool force_real = false) {
  if (a.is_null() || b.is_null()) return a;
  if (!a.is_number() || !b.is_number()) {
    const Value& wrong = a.is_number() ? b : a;
    return InvalidArgument("A " + std::string(KindName(wrong.kind())) + " can't be " +
                           std::string(Verb(operation)) + ": only numbers can.");
  }
  const ValueKind kind = CommonNumberKind(a, b, force_real);
  if (IsBig(a) || IsBig(b)) {
    return CalculateBig(operation, a, b, kind == ValueKind::kBigDecimal);
  }
  if (IsRealKind(kind)) return CalculateReal(operation, a, b, kind == ValueKind::kFloat);
  const __int128 x = a.AsInteger(), y = b.AsInteger();
  if (operation == Operation::kDivide && y == 0) {
    return InvalidArgument("A number is divided by zero.");
  }
  return FitInteger(Apply(operation, x, y), std::max(BitsOf(a), BitsOf(b)));
}

// `v` in the class two numbers have in common. REQUIRES: the class is v's own or wider.
Value Promote(const Value& v, ValueKind kind) {
  if (v.kind() == kind) return v;
  if (kind == ValueKind::kBigInt || kind == ValueKind::kBigDecimal) {
    std::optional<BigNumber> number = BigOf(v);
    if (!number.has_value()) return v;
    number->decimal = kind == ValueKind::kBigDecimal;
    return Value::Of(*std::move(number));
  }
  if (kind == ValueKind::kDouble) return Value::Double(NumberAsDouble(v));
  if (kind == ValueKind::kFloat) return Value::Float(static_cast<float>(NumberAsDouble(v)));
  if (kind == ValueKind::kLong) return Value::Long(v.AsInteger());
  if (kind == ValueKind::kInt) return Value::Int(static_cast<int32_t>(v.AsInteger()));
  return Value::Short(static_cast<int16_t>(v.AsInteger()));
}

// Elements, collections and the like can be sorted, but have no least and greatest.
Status CheckNaturalOrder(const Value& v) {
  switch (v.kind()) {
    case ValueKind::kList:
    case ValueKind::kSet:
    case ValueKind::kMap:
    case ValueKind::kPath:
    case ValueKind::kVertex:
    case ValueKind::kEdge:
    case ValueKind::kVertexProperty:
    case ValueKind::kProperty:
    case ValueKind::kElement:
      return InvalidArgument("min() and max() don't compare a " + std::string(KindName(v.kind())) +
                             "; order() sorts it.");
    default:
      return OkStatus();
  }
}

// `wanted`: less for the smaller one. Of equals the first.
StatusOr<Value> Extreme(const Value& a, const Value& b, std::partial_ordering wanted) {
  RETURN_IF_ERROR(CheckNaturalOrder(a));
  RETURN_IF_ERROR(CheckNaturalOrder(b));
  if (a.is_null() || IsNaN(a)) return b.is_null() ? a : b;
  if (b.is_null() || IsNaN(b)) return a;
  const auto order = Compare(b, a);
  if (!order.has_value() || *order == std::partial_ordering::unordered) {
    return InvalidArgument("A " + std::string(KindName(a.kind())) + " and a " +
                           std::string(KindName(b.kind())) + " can't be compared.");
  }
  const Value& result = *order == wanted ? b : a;
  return a.is_number() ? Promote(result, CommonNumberKind(a, b)) : result;
}

}  // namespace

ValueKind CommonNumberKind(const Value& a, const Value& b, bool force_real) {
  DCHECK(a.is_number() && b.is_number());
  const bool real = force_real || IsRealKind(a.kind()) || IsRealKind(b.kind());
  return KindOf(std::max(BitsOf(a), BitsOf(b)), real);
}

StatusOr<Value> Add(const Value& a, const Value& b) { return Calculate(Operation::kAdd, a, b); }
StatusOr<Value> Subtract(const Value& a, const Value& b) {
  return Calculate(Operation::kSubtract, a, b);
}
StatusOr<Value> Multiply(const Value& a, const Value& b) {
  return Calculate(Operation::kMultiply, a, b);
}
StatusOr<Value> Divide(const Value& a, const Value& b, bool force_real) {
  return Calculate(Operation::kDivide, a, b, force_real);
}

StatusOr<Value> Min(const Value& a, const Value& b) {
  return Extreme(a, b, std::partial_ordering::less);
}
StatusOr<Value> Max(const Value& a, const Value& b) {
  return Extreme(a, b, std::partial_ordering::greater);
}

double NumberAsDouble(const Value& v) {
  DCHECK(v.is_number());
  if (IsReal(v)) return v.AsDouble();
  if (IsBig(v)) return v.AsBigNumber().ToDouble();
  return static_cast<double>(v.AsInteger());
}

void NumberSum::CountRows(int bits, int64_t bulk) {
  DCHECK(bulk > 0);
  bits_ = std::max(bits_, bits);
  if (__builtin_add_overflow(count_, bulk, &count_)) {
    overflowed_ = true;
    count_ = std::numeric_limits<int64_t>::max();
  }
}

void NumberSum::AddInteger(int64_t v, int bits, int64_t bulk) {
  CountRows(bits, bulk);
  if (__builtin_add_overflow(integers_, __int128{v} * bulk, &integers_)) overflowed_ = true;
}

void NumberSum::AddReal(double v, int bits, int64_t bulk) {
  CountRows(bits, bulk);
  real_ = true;
  (bits <= 32 ? floats_ : reals_) += v * static_cast<double>(bulk);
}

void NumberSum::AddInt(int32_t v, int64_t bulk) { AddInteger(v, 32, bulk); }
void NumberSum::AddLong(int64_t v, int64_t bulk) { AddInteger(v, 64, bulk); }
void NumberSum::AddDouble(double v, int64_t bulk) { AddReal(v, 64, bulk); }

Status NumberSum::AddBig(const Value& v, int64_t bulk) {
  ASSIGN_OR_RETURN(BigNumber times, MultiplyNumbers(v.AsBigNumber(), BigNumber::FromInteger(bulk)));
  if (!big_.is_null()) {
    ASSIGN_OR_RETURN(times, AddNumbers(big_.AsBigNumber(), times));
  }
  CountRows(128, bulk);
  real_ = real_ || times.decimal;
  big_ = Value::Of(std::move(times));
  return OkStatus();
}

Status NumberSum::Add(const Value& v, int64_t bulk) {
  if (v.is_null()) return OkStatus();
  if (!v.is_number()) {
    return InvalidArgument("A " + std::string(KindName(v.kind())) +
                           " can't be summed: only numbers can.");
  }
  if (IsBig(v)) return AddBig(v, bulk);
  if (IsReal(v)) {
    AddReal(v.AsDouble(), BitsOf(v), bulk);
  } else {
    AddInteger(v.AsInteger(), BitsOf(v), bulk);
  }
  return OkStatus();
}

Status NumberSum::Merge(const NumberSum& other) {
  if (other.count_ == 0) return OkStatus();
  if (!other.big_.is_null()) {
    BigNumber sum = other.big_.AsBigNumber();
    if (!big_.is_null()) {
      ASSIGN_OR_RETURN(sum, AddNumbers(big_.AsBigNumber(), sum));
    }
    big_ = Value::Of(std::move(sum));
  }
  CountRows(other.bits_, other.count_);
  real_ = real_ || other.real_;
  overflowed_ = overflowed_ || other.overflowed_;
  if (__builtin_add_overflow(integers_, other.integers_, &integers_)) overflowed_ = true;
  reals_ += other.reals_;
  floats_ += other.floats_;
  return OkStatus();
}

double NumberSum::RealTotal() const { return reals_ + floats_ + static_cast<double>(integers_); }

StatusOr<Value> NumberSum::BigTotal() const {
  ASSIGN_OR_RETURN(BigNumber sum,
                   AddNumbers(big_.AsBigNumber(), BigNumber::FromInteger(integers_)));
  if (!real_) return Value::Of(std::move(sum));
  const Value floats = FitReal(floats_, 32);
  for (const std::optional<BigNumber>& reals : {BigNumber::FromDouble(reals_), BigOf(floats)}) {
    if (!reals.has_value()) return Value::Double(reals_ + floats_);
    if (reals->unscaled == 0) continue;
    ASSIGN_OR_RETURN(sum, AddNumbers(sum, *reals));
  }
  sum.decimal = true;
  return Value::Of(std::move(sum));
}

StatusOr<Value> NumberSum::Sum() const {
  if (count_ == 0) return Value::Null();
  if (overflowed_) return LongOverflow();
  if (!big_.is_null()) return BigTotal();
  if (real_) return FitReal(RealTotal(), bits_);
  return FitInteger(integers_, bits_);
}

StatusOr<Value> NumberSum::Mean() const {
  if (count_ == 0) return Value::Null();
  if (overflowed_) return LongOverflow();
  if (big_.is_null()) return Value::Double(RealTotal() / static_cast<double>(count_));
  ASSIGN_OR_RETURN(Value total, BigTotal());
  return Divide(total, Value::Long(count_), true);
}

StatusOr<Value> NumberSum::Save() const {
  return Value::List({Value::Long(count_), Value::Int(bits_), Value::Bool(real_),
                      Value::Bool(overflowed_), Value::Long(static_cast<int64_t>(integers_ >> 64)),
                      Value::Long(static_cast<int64_t>(integers_)), Value::Double(reals_),
                      Value::Double(floats_), big_});
}

StatusOr<NumberSum> NumberSum::Load(const Value& saved) {
  using enum ValueKind;
  constexpr ValueKind kShape[] = {kLong, kInt, kBool, kBool, kLong, kLong, kDouble, kDouble};
  const auto damaged = [] { return DataLoss("A saved sum is damaged."); };
  if (saved.kind() != kList || saved.AsList().size() != std::size(kShape) + 1) return damaged();
  const ValueList& v = saved.AsList();
  for (size_t i = 0; i < std::size(kShape); ++i) {
    if (v[i].kind() != kShape[i]) return damaged();
  }
  const int64_t bits = v[1].AsInteger();
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128) return damaged();
  const Value& big = v.back();
  if (!big.is_null() && !IsBig(big)) return damaged();
  if (v[0].AsInteger() < 0 || big.is_null() == (bits == 128)) return damaged();
  NumberSum sum;
  sum.count_ = v[0].AsInteger();
  sum.bits_ = static_cast<int>(bits);
  sum.real_ = v[2].AsBool();
  sum.overflowed_ = v[3].AsBool();
  const auto high = static_cast<unsigned __int128>(static_cast<uint64_t>(v[4].AsInteger()));
  sum.integers_ = static_cast<__int128>((high << 64) | static_cast<uint64_t>(v[5].AsInteger()));
  sum.reals_ = v[6].AsDouble();
  sum.floats_ = v[7].AsDouble();
  sum.big_ = big;
  return sum;
}

}  // namespace koios
