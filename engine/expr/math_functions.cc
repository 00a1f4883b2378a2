// Arithmetic of math(), with the reference's results: doubles throughout, NaN where nothing is
// defined, and an error for a division by zero.
#include "engine/expr/math_functions.h"

#include <cmath>
#include <optional>
#include <string>

#include "core/arithmetic.h"
#include "engine/expr/each_row.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;
using Maybe = StatusOr<std::optional<Value>>;

// as_double(value): a number as a double; an error for anything else.
Status NumberFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Value value = args[0]->Get(row);
    if (value.is_number()) return Value::Double(NumberAsDouble(value));
    return InvalidArgument("math() needs numbers, and a " + std::string(KindName(value.kind())) +
                           " comes here.");
  });
}

// What NumberFunction and the functions here give. REQUIRES: present.
double NumberAt(const Operand& operand, size_t row) {
  if (!operand.is_constant && operand.column->kind() == Column::Kind::kDouble) {
    return operand.column->doubles()[row];
  }
  const Value value = operand.Get(row);
  return value.is_number() ? NumberAsDouble(value) : std::nan("");
}

template <double (*kFunction)(double)>
Status OneFunction(const EvalContext& context, const Args& args, Operand* out) {
  Column column(Column::Kind::kDouble);
  for (size_t row = 0; row < context.rows; ++row) {
    column.AppendDouble(out->Present(row) ? kFunction(NumberAt(*args[0], row)) : 0);
  }
  out->Own(std::move(column));
  return OkStatus();
}

// Of two; an error for what divides by zero.
template <double (*kFunction)(double, double), bool kDivides>
Status TwoFunction(const EvalContext& context, const Args& args, Operand* out) {
  Column column(Column::Kind::kDouble);
  for (size_t row = 0; row < context.rows; ++row) {
    double result = 0;
    if (out->Present(row)) {
      const double other = NumberAt(*args[1], row);
      if (kDivides && other == 0) return InvalidArgument("math() met a division by zero!");
      result = kFunction(NumberAt(*args[0], row), other);
    }
    column.AppendDouble(result);
  }
  out->Own(std::move(column));
  return OkStatus();
}

double Plus(double a, double b) { return a + b; }
double Minus(double a, double b) { return a - b; }
double Times(double a, double b) { return a * b; }
double DividedBy(double a, double b) { return a / b; }
double Modulo(double a, double b) { return std::fmod(a, b); }
// Where C has 1 of what is no number, Java has none.
double Power(double a, double b) {
  if (std::isnan(b) || (std::fabs(a) == 1 && std::isinf(b))) return std::nan("");
  return std::pow(a, b);
}
double Negated(double a) { return -a; }
double Abs(double a) { return std::fabs(a); }
double Acos(double a) { return std::acos(a); }
double Asin(double a) { return std::asin(a); }
double Atan(double a) { return std::atan(a); }
double Cbrt(double a) { return std::cbrt(a); }
double Ceil(double a) { return std::ceil(a); }
double Cos(double a) { return std::cos(a); }
double Cosh(double a) { return std::cosh(a); }
double Exp(double a) { return std::exp(a); }
double Floor(double a) { return std::floor(a); }
double Log(double a) { return std::log(a); }
double Log10(double a) { return std::log10(a); }
double Log2(double a) { return std::log(a) / std::log(2.0); }
double Signum(double a) { return a > 0 ? 1 : a < 0 ? -1 : 0; }
double Sin(double a) { return std::sin(a); }
double Sinh(double a) { return std::sinh(a); }
double Sqrt(double a) { return std::sqrt(a); }
double Tan(double a) { return std::tan(a); }
double Tanh(double a) { return std::tanh(a); }

}  // namespace

const std::vector<ScalarKernel>& MathFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"as_double", NumberFunction},
      {"plus", TwoFunction<Plus, false>},
      {"minus", TwoFunction<Minus, false>},
      {"times", TwoFunction<Times, false>},
      {"divided_by", TwoFunction<DividedBy, true>},
      {"modulo", TwoFunction<Modulo, true>},
      {"power", TwoFunction<Power, false>},
      {"negated", OneFunction<Negated>},
      {"math_abs", OneFunction<Abs>},
      {"math_acos", OneFunction<Acos>},
      {"math_asin", OneFunction<Asin>},
      {"math_atan", OneFunction<Atan>},
      {"math_cbrt", OneFunction<Cbrt>},
      {"math_ceil", OneFunction<Ceil>},
      {"math_cos", OneFunction<Cos>},
      {"math_cosh", OneFunction<Cosh>},
      {"math_exp", OneFunction<Exp>},
      {"math_floor", OneFunction<Floor>},
      {"math_log", OneFunction<Log>},
      {"math_log10", OneFunction<Log10>},
      {"math_log2", OneFunction<Log2>},
      {"math_signum", OneFunction<Signum>},
      {"math_sin", OneFunction<Sin>},
      {"math_sinh", OneFunction<Sinh>},
      {"math_sqrt", OneFunction<Sqrt>},
      {"math_tan", OneFunction<Tan>},
      {"math_tanh", OneFunction<Tanh>},
  };
  return kFunctions;
}

}  // namespace koios::engine
