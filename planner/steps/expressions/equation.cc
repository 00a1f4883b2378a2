#include "planner/steps/expressions/equation.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace koios::planner {
namespace {

constexpr std::string_view kFunctionPrefix = "math_";

constexpr plan::FunctionRef kPlus = "plus", kMinus = "minus", kMultiply = "times",
                            kDivide = "divided_by", kModulo = "modulo", kPower = "power",
                            kNegate = "negated";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

const plan::FunctionTraits* FunctionNamed(std::string_view name) {
  return plan::FindFunction(std::string(kFunctionPrefix) + std::string(name));
}

class EquationParser {
 public:
  EquationParser(std::string_view text, const VariableFunction& variable)
      : text_(text), variable_(variable) {}

  StatusOr<ExpressionPtr> Parse() {
    ASSIGN_OR_RETURN(ExpressionPtr whole, Sum());
    if (!AtEnd()) return Error("an operator is missing");
    if (!Fits(*whole)) return TooLarge();
    return whole;
  }

 private:
  // sum: product (('+' | '-') product)*
  StatusOr<ExpressionPtr> Sum() {
    if (++depth_ > kMaxEquationDepth) return TooLarge();
    ASSIGN_OR_RETURN(ExpressionPtr sum, Product());
    while (true) {
      const bool plus = Take('+');
      if (!plus && !Take('-')) break;
      ASSIGN_OR_RETURN(ExpressionPtr next, Product());
      sum = CallOf(plus ? kPlus : kMinus, {std::move(sum), std::move(next)});
      if (!Fits(*sum)) return TooLarge();
    }
    --depth_;
    return sum;
  }

  // product: signed (('*' | '/' | '%') signed)*
  StatusOr<ExpressionPtr> Product() {
    ASSIGN_OR_RETURN(ExpressionPtr product, Signed());
    while (true) {
      const plan::FunctionTraits* function = Take('*')   ? &*kMultiply
                                             : Take('/') ? &*kDivide
                                             : Take('%') ? &*kModulo
                                                         : nullptr;
      if (function == nullptr) return product;
      ASSIGN_OR_RETURN(ExpressionPtr next, Signed());
      product = CallOf(*function, {std::move(product), std::move(next)});
      if (!Fits(*product)) return TooLarge();
    }
  }

  // signed: ('-' | '+') signed | power; a sign binds looser than ^, also behind one
  StatusOr<ExpressionPtr> Signed() {
    if (++depth_ > kMaxEquationDepth) return TooLarge();
    ExpressionPtr value;
    if (Take('-')) {
      ASSIGN_OR_RETURN(ExpressionPtr negated, Signed());
      value = CallOf(kNegate, {std::move(negated)});
    } else if (Take('+')) {
      ASSIGN_OR_RETURN(value, Signed());
    } else {
      ASSIGN_OR_RETURN(value, Primary());
      if (Take('^')) {
        ASSIGN_OR_RETURN(ExpressionPtr exponent, Signed());
        value = CallOf(kPower, {std::move(value), std::move(exponent)});
      }
    }
    --depth_;
    return value;
  }

  StatusOr<ExpressionPtr> Primary() {
    if (const char close = TakeOpening(); close != 0) return Bracketed(close);
    if (AtEnd()) return Error("a number or a name is missing");
    const char c = text_[at_];
    if (IsDigit(c) || c == '.') return Number();
    if (IsNameStart(c)) return Name();
    return Error("a number or a name is missing");
  }

  // A bracket of one of three kinds: what closes it; 0: none is here.
  char TakeOpening() { return Take('(') ? ')' : Take('[') ? ']' : Take('{') ? '}' : '\0'; }
  StatusOr<ExpressionPtr> Bracketed(char close) {
    ASSIGN_OR_RETURN(ExpressionPtr inner, Sum());
    if (!Take(close)) return Error(std::string("a ") + close + " is missing");
    return inner;
  }

  StatusOr<ExpressionPtr> Number() {
    double number = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (error != std::errc()) return Error("this is no number");
    at_ += static_cast<size_t>(end - begin);
    return Constant(Value::Double(number));
  }

  // A function without brackets takes all that follows, as in the reference: sin _ + 1 is that of
  // the sum.
  StatusOr<ExpressionPtr> Name() {
    const size_t begin = at_;
    while (at_ < text_.size() && (IsNameStart(text_[at_]) || IsDigit(text_[at_]))) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (const plan::FunctionTraits* function = FunctionNamed(name); function != nullptr) {
      const char close = TakeOpening();
      ASSIGN_OR_RETURN(ExpressionPtr argument, close != 0 ? Bracketed(close) : Sum());
      return CallOf(*function, {std::move(argument)});
    }
    return variable_(name);
  }

  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
  }
  bool AtEnd() {
    SkipBlanks();
    return at_ == text_.size();
  }
  bool Take(char c) {
    if (AtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Status Error(const std::string& what) const {
    return InvalidArgument("math() can't read its equation: " + what + ", at character " +
                           std::to_string(at_ + 1) + ".");
  }
  static Status TooLarge() {
    ErrorDetail detail;
    detail.reason = "EQUATION_TOO_LARGE";
    detail.limit = std::to_string(kMaxEquationDepth) + " levels";
    return ResourceExhausted(
        "The equation of math() nests deeper or is longer than the fixed limit.", detail);
  }

  const std::string_view text_;
  const VariableFunction& variable_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

StatusOr<std::vector<std::string>> VariablesOf(std::string_view equation) {
  std::vector<std::string> names;
  const VariableFunction note = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    return Current();
  };
  RETURN_IF_ERROR(EquationParser(equation, note).Parse().status());
  return names;
}

StatusOr<ExpressionPtr> EquationExpression(std::string_view equation,
                                           const VariableFunction& variable) {
  return EquationParser(equation, variable).Parse();
}

}  // namespace koios::planner
