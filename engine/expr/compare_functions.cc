// Predicates of the function table: comparison, membership, boolean connectives, text.
// Connectives take absent as false.
#include "engine/expr/compare_functions.h"

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/value_compare.h"
#include "engine/effect/member_set.h"
#include "re2/re2.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;

enum class Relation { kEq, kNeq, kLt, kLte, kGt, kGte };

template <Relation kRelation>
bool Test(const Value& a, const Value& b) {
  if constexpr (kRelation == Relation::kEq) return Equals(a, b);
  if constexpr (kRelation == Relation::kNeq) return !Equals(a, b);
  const auto order = Compare(a, b);
  if (!order.has_value()) return false;
  if constexpr (kRelation == Relation::kLt) return *order == std::partial_ordering::less;
  if constexpr (kRelation == Relation::kGt) return *order == std::partial_ordering::greater;
  if constexpr (kRelation == Relation::kLte) {
    return *order == std::partial_ordering::less || *order == std::partial_ordering::equivalent;
  }
  if constexpr (kRelation == Relation::kGte) {
    return *order == std::partial_ordering::greater || *order == std::partial_ordering::equivalent;
  }
}

template <Relation kRelation, typename T>
bool TestPlain(const T& a, const T& b) {
  if constexpr (kRelation == Relation::kEq) return a == b;
  if constexpr (kRelation == Relation::kNeq) return a != b;
  if constexpr (kRelation == Relation::kLt) return a < b;
  if constexpr (kRelation == Relation::kLte) return a <= b;
  if constexpr (kRelation == Relation::kGt) return a > b;
  if constexpr (kRelation == Relation::kGte) return a >= b;
}

template <Relation kRelation, typename T, typename U>
void CompareAll(std::span<const T> values, U constant, Column* out) {
  std::vector<uint8_t> results(values.size());
  for (size_t row = 0; row < values.size(); ++row) {
    results[row] = TestPlain<kRelation, U>(static_cast<U>(values[row]), constant) ? 1 : 0;
  }
  *out = Column::OfBools(std::move(results));
}

// Column against constant, of types that compare alike without promotion to a wider one.
template <Relation kRelation>
bool CompareTyped(const Operand& a, const Operand& b, size_t rows, Column* out) {
  if (a.is_constant || !b.is_constant) return false;
  const ValueKind kind = b.constant.kind();
  const bool small_integer = kind >= ValueKind::kByte && kind <= ValueKind::kLong;
  switch (a.column->kind()) {
    case Column::Kind::kInt:
      if (!small_integer) return false;
      CompareAll<kRelation, int32_t, int64_t>(a.column->ints(), b.constant.AsInteger(), out);
      return true;
    case Column::Kind::kLong:
      if (!small_integer) return false;
      CompareAll<kRelation, int64_t, int64_t>(a.column->longs(), b.constant.AsInteger(), out);
      return true;
    case Column::Kind::kDouble:
      if (kind != ValueKind::kDouble && kind != ValueKind::kInt) return false;
      CompareAll<kRelation, double, double>(a.column->doubles(),
                                            kind == ValueKind::kDouble
                                                ? b.constant.AsDouble()
                                                : static_cast<double>(b.constant.AsInteger()),
                                            out);
      return true;
    case Column::Kind::kString: {
      if (kind != ValueKind::kString) return false;
      const std::string_view wanted = b.constant.AsString();
      for (size_t row = 0; row < rows; ++row) {
        out->AppendBool(TestPlain<kRelation, std::string_view>(a.column->StringAt(row), wanted));
      }
      return true;
    }
    case Column::Kind::kEmpty:
    case Column::Kind::kBool:
    case Column::Kind::kVertex:
    case Column::Kind::kEdge:
    case Column::Kind::kValue:
      return false;
  }
  return false;
}

template <Relation kRelation>
Status CompareFunction(const EvalContext& context, const Args& args, Operand* out) {
  if (args[0]->is_constant && args[1]->is_constant) {
    out->is_constant = true;
    out->constant = Value::Bool(Test<kRelation>(args[0]->constant, args[1]->constant));
    return OkStatus();
  }
  Column result(Column::Kind::kBool);
  result.Reserve(context.rows);
  if (!CompareTyped<kRelation>(*args[0], *args[1], context.rows, &result)) {
    for (size_t row = 0; row < context.rows; ++row) {
      result.AppendBool(out->Present(row) && Test<kRelation>(args[0]->Get(row), args[1]->Get(row)));
    }
  }
  out->Own(std::move(result));
  return OkStatus();
}

bool Contains(const Value& list, const Value& value) {
  if (list.is_collection()) {
    for (const Value& item : list.AsList()) {
      if (Equals(value, item)) return true;
    }
    return false;
  }
  return Equals(value, list);
}

// A long list is asked by hash; of others nothing is made.
StatusOr<std::shared_ptr<const void>> PrepareMembers(const Value& list) {
  constexpr size_t kShort = 16;
  if (!list.is_collection() || list.AsList().size() <= kShort) return nullptr;
  auto members = std::make_shared<MemberSet>();
  for (const Value& member : list.AsList()) members->Add(member);
  return members;
}

template <bool kWanted>
Status MemberFunction(const EvalContext& context, const Args& args, Operand* out) {
  const auto* members = static_cast<const MemberSet*>(context.prepared);
  Column result(Column::Kind::kBool);
  for (size_t row = 0; row < context.rows; ++row) {
    const auto contains = [&] {
      return members != nullptr ? members->Contains(args[0]->Get(row))
                                : Contains(args[1]->Get(row), args[0]->Get(row));
    };
    result.AppendBool(out->Present(row) && contains() == kWanted);
  }
  out->Own(std::move(result));
  return OkStatus();
}

bool IsTrue(const Operand& operand, size_t row) {
  if (!operand.Present(row)) return false;
  if (!operand.is_constant && operand.column->kind() == Column::Kind::kBool) {
    return operand.column->bools()[row] != 0;
  }
  const Value value = operand.Get(row);
  return value.kind() == ValueKind::kBool && value.AsBool();
}

template <bool kAnd>
Status ConnectiveFunction(const EvalContext& context, const Args& args, Operand* out) {
  Column result(Column::Kind::kBool);
  for (size_t row = 0; row < context.rows; ++row) {
    bool value = kAnd;
    for (const Operand* arg : args) {
      if (IsTrue(*arg, row) != kAnd) {
        value = !kAnd;
        break;
      }
    }
    result.AppendBool(value);
  }
  out->Own(std::move(result));
  return OkStatus();
}

Status NotFunction(const EvalContext& context, const Args& args, Operand* out) {
  Column result(Column::Kind::kBool);
  for (size_t row = 0; row < context.rows; ++row) result.AppendBool(!IsTrue(*args[0], row));
  out->Own(std::move(result));
  return OkStatus();
}

Status PresentFunction(const EvalContext& context, const Args& args, Operand* out) {
  Column result(Column::Kind::kBool);
  for (size_t row = 0; row < context.rows; ++row) result.AppendBool(args[0]->Present(row));
  out->Own(std::move(result));
  return OkStatus();
}

enum class Text { kStartingWith, kEndingWith, kContaining };

// The string in a row, without a copy where the column holds strings; null: another kind. `held`
// keeps it.
std::optional<std::string_view> TextAt(const Operand& operand, size_t row, Value* held) {
  if (!operand.is_constant && operand.column->kind() == Column::Kind::kString) {
    return operand.column->StringAt(row);
  }
  *held = operand.Get(row);
  if (held->kind() != ValueKind::kString) return std::nullopt;
  return held->AsString();
}

// Linear, whatever the texts are: string::find is quadratic where all but the end fits everywhere.
bool HasPart(std::string_view whole, std::string_view part) {
  return memmem(whole.data(), whole.size(), part.data(), part.size()) != nullptr;
}

template <Text kText, bool kWanted>
Status TextFunction(const EvalContext& context, const Args& args, Operand* out) {
  Column result(Column::Kind::kBool);
  for (size_t row = 0; row < context.rows; ++row) {
    if (!out->Present(row)) {
      result.AppendBool(false);
      continue;
    }
    Value held_text, held_part;
    const std::optional<std::string_view> whole = TextAt(*args[0], row, &held_text);
    const std::optional<std::string_view> part = TextAt(*args[1], row, &held_part);
    if (!whole.has_value() || !part.has_value()) {
      result.AppendBool(false);
      continue;
    }
    bool found = false;
    if constexpr (kText == Text::kStartingWith) found = whole->starts_with(*part);
    if constexpr (kText == Text::kEndingWith) found = whole->ends_with(*part);
    if constexpr (kText == Text::kContaining) found = HasPart(*whole, *part);
    result.AppendBool(found == kWanted);
  }
  out->Own(std::move(result));
  return OkStatus();
}

// RE2 runs in linear time; its program size is bounded.
StatusOr<std::shared_ptr<const void>> CompileRegex(const Value& constant) {
  if (constant.kind() != ValueKind::kString) {
    return InvalidArgument("regex() needs a string pattern.");
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  auto pattern = std::make_shared<const RE2>(constant.AsString(), options);
  if (!pattern->ok()) {
    return InvalidArgument("The regular expression is not valid: " + pattern->error() +
                           ". Koios takes RE2 syntax.");
  }
  return std::shared_ptr<const void>(std::move(pattern));
}

template <bool kWanted>
Status RegexFunction(const EvalContext& context, const Args& args, Operand* out) {
  const RE2& pattern = *static_cast<const RE2*>(context.prepared);
  Column result(Column::Kind::kBool);
  for (size_t row = 0; row < context.rows; ++row) {
    Value held;
    std::optional<std::string_view> text;
    if (out->Present(row)) text = TextAt(*args[0], row, &held);
    result.AppendBool(text.has_value() && RE2::PartialMatch(*text, pattern) == kWanted);
  }
  out->Own(std::move(result));
  return OkStatus();
}

}  // namespace

const std::vector<ScalarKernel>& CompareFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"eq", CompareFunction<Relation::kEq>},
      {"neq", CompareFunction<Relation::kNeq>},
      {"lt", CompareFunction<Relation::kLt>},
      {"lte", CompareFunction<Relation::kLte>},
      {"gt", CompareFunction<Relation::kGt>},
      {"gte", CompareFunction<Relation::kGte>},
      {"within", MemberFunction<true>, PrepareMembers},
      {"without", MemberFunction<false>, PrepareMembers},
      {"and", ConnectiveFunction<true>},
      {"or", ConnectiveFunction<false>},
      {"not", NotFunction},
      {"present", PresentFunction},
      {"startingWith", TextFunction<Text::kStartingWith, true>},
      {"notStartingWith", TextFunction<Text::kStartingWith, false>},
      {"endingWith", TextFunction<Text::kEndingWith, true>},
      {"notEndingWith", TextFunction<Text::kEndingWith, false>},
      {"containing", TextFunction<Text::kContaining, true>},
      {"notContaining", TextFunction<Text::kContaining, false>},
      {"regex", RegexFunction<true>, CompileRegex},
      {"notRegex", RegexFunction<false>, CompileRegex},
  };
  return kFunctions;
}

}  // namespace koios::engine
