#include "core/convert/number_cast.h"

#include <cmath>
#include <limits>
#include <string>

#include "core/arithmetic.h"
#include "core/big_number.h"
#include "core/convert/number_text.h"
#include "core/print/number_print.h"

namespace koios {
namespace {

Status OutOfRange(const Value& number, ValueKind kind, std::string_view way = "overflow") {
  ErrorDetail detail;
  detail.reason = "NUMBER_RANGE";
  return InvalidArgument("Can't convert number of type " + std::string(KindName(number.kind())) +
                             " to " + std::string(KindName(kind)) + " due to " + std::string(way) +
                             ".",
                         detail);
}

Status CheckFinite(const Value& number, ValueKind kind) {
  if (!IsReal(number) || std::isfinite(number.AsDouble())) return OkStatus();
  ErrorDetail detail;
  detail.reason = "NUMBER_RANGE";
  return InvalidArgument(std::string("Can't convert ") +
                             (IsNaN(number) ? "NaN" : "floating point infinity") + " to " +
                             std::string(KindName(kind)) + ".",
                         detail);
}

// The integer without what is behind the point.
StatusOr<BigNumber> WholePart(BigNumber v) {
  const int32_t scale = v.scale;
  v.scale = 0;
  v.decimal = false;
  if (scale == 0) return v;
  if (v.unscaled == 0 || scale >= v.num_digits()) return BigNumber::FromInteger(int64_t{0});
  const auto zeros = static_cast<size_t>(std::abs(int64_t{scale}));
  ASSIGN_OR_RETURN(const BigNumber power, BigNumber::ParseInteger("1" + std::string(zeros, '0')));
  return scale > 0 ? DivideNumbers(v, power) : MultiplyNumbers(v, power);
}

// REQUIRES: finite.
StatusOr<int64_t> AsLong(const Value& number, ValueKind kind) {
  if (IsReal(number)) {
    const double v = number.AsDouble();
    if (v >= 0x1p63) return OutOfRange(number, kind);
    if (v < -0x1p63) return OutOfRange(number, kind, "underflow");
    return static_cast<int64_t>(v);
  }
  if (!IsBig(number)) return number.AsInteger();
  ASSIGN_OR_RETURN(const BigNumber whole, WholePart(number.AsBigNumber()));
  const std::optional<int64_t> v = whole.ToInt64();
  if (!v.has_value()) return OutOfRange(number, kind);
  return *v;
}

template <typename Narrow>
bool Holds(int64_t v) {
  return v >= std::numeric_limits<Narrow>::min() && v <= std::numeric_limits<Narrow>::max();
}

StatusOr<Value> AsFixedInteger(const Value& number, ValueKind kind) {
  RETURN_IF_ERROR(CheckFinite(number, kind));
  ASSIGN_OR_RETURN(const int64_t v, AsLong(number, kind));
  if (kind == ValueKind::kByte && Holds<int8_t>(v)) return Value::Byte(static_cast<int8_t>(v));
  if (kind == ValueKind::kShort && Holds<int16_t>(v)) return Value::Short(static_cast<int16_t>(v));
  if (kind == ValueKind::kInt && Holds<int32_t>(v)) return Value::Int(static_cast<int32_t>(v));
  if (kind == ValueKind::kLong) return Value::Long(v);
  return OutOfRange(number, kind);
}

// The nearest float, rounded once.
float NearestFloat(const Value& number) {
  if (IsReal(number)) return static_cast<float>(number.AsDouble());
  if (!IsBig(number)) return static_cast<float>(number.AsInteger());
  const BigNumber& big = number.AsBigNumber();
  return *FloatOfDigits(big.unscaled.str() + "e" + std::to_string(-int64_t{big.scale}));
}

StatusOr<Value> AsFloat(const Value& number) {
  const double v = NumberAsDouble(number);
  const bool is_real = IsReal(number) && !std::isfinite(v);  // NaN and the infinities stay
  if (!is_real && std::abs(v) > static_cast<double>(std::numeric_limits<float>::max())) {
    return OutOfRange(number, ValueKind::kFloat);
  }
  return Value::Float(NearestFloat(number));
}

StatusOr<Value> AsDouble(const Value& number) {
  if (number.kind() == ValueKind::kFloat && std::isfinite(number.AsDouble())) {
    return Value::Double(*DoubleOfDigits(PrintFloat(static_cast<float>(number.AsDouble()))));
  }
  const double v = NumberAsDouble(number);
  if (IsBig(number) && std::isinf(v)) return OutOfRange(number, ValueKind::kDouble);
  return Value::Double(v);
}

StatusOr<Value> AsBigInteger(const Value& number) {
  RETURN_IF_ERROR(CheckFinite(number, ValueKind::kBigInt));
  if (number.kind() == ValueKind::kBigDecimal) {
    ASSIGN_OR_RETURN(BigNumber whole, WholePart(number.AsBigNumber()));
    return Value::Of(std::move(whole));
  }
  if (!IsReal(number)) return Value::Of(BigNumber::FromInteger(number.AsInteger()));
  // The digits that a double prints, but a float as it is.
  const double v = number.AsDouble();
  const std::optional<BigNumber> exact = number.kind() == ValueKind::kFloat
                                             ? BigNumber::FromDoubleExactly(v)
                                             : BigNumber::FromDouble(v);
  ASSIGN_OR_RETURN(BigNumber whole, WholePart(*exact));
  return Value::Of(std::move(whole));
}

StatusOr<Value> AsBigDecimal(const Value& number) {
  RETURN_IF_ERROR(CheckFinite(number, ValueKind::kBigDecimal));
  BigNumber decimal;
  if (IsBig(number)) {
    decimal = number.AsBigNumber();
  } else if (IsReal(number)) {
    const double v = number.AsDouble();
    decimal = number.kind() == ValueKind::kFloat ? *BigNumber::FromFloat(static_cast<float>(v))
                                                 : *BigNumber::FromDouble(v);
  } else {
    decimal = BigNumber::FromInteger(number.AsInteger());
  }
  decimal.decimal = true;
  return Value::Of(std::move(decimal));
}

}  // namespace

StatusOr<Value> CastNumber(const Value& number, ValueKind kind) {
  if (number.kind() == kind) return number;
  if (kind == ValueKind::kFloat) return AsFloat(number);
  if (kind == ValueKind::kDouble) return AsDouble(number);
  if (kind == ValueKind::kBigInt) return AsBigInteger(number);
  if (kind == ValueKind::kBigDecimal) return AsBigDecimal(number);
  return AsFixedInteger(number, kind);
}

}  // namespace koios
