// Predicates of the function table: comparison, membership, boolean connectives, text.
// Connectives take absent as false.
#include "engine/expr/compare_functions.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/value_compare.h"
#include "engine/batch/key_bound.h"
#include "engine/effect/member_set.h"
#include "engine/expr/typed_compare.h"
#include "re2/re2.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;

// The values of an operand, not copied where it has them.
class ValueReader {
 public:
  explicit ValueReader(const Operand& operand) : operand_(operand) {}
  // Valid until the next call.
  const Value& At(size_t row) {
    if (operand_.is_constant) return operand_.constant;
    if (operand_.column->kind() == Column::Kind::kValue) return operand_.column->ValueAt(row);
    held_ = operand_.column->Get(row);
    return held_;
  }

 private:
  const Operand& operand_;
  Value held_;
};

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

template <Relation kRelation>
Status CompareFunction(const EvalContext& context, const Args& args, Operand* out) {
  const Operand& a = *args[0];
  const Operand& b = *args[1];
  if (a.is_constant && b.is_constant) {
    out->is_constant = true;
    out->constant = Value::Bool(Test<kRelation>(a.constant, b.constant));
    return OkStatus();
  }
  std::vector<uint8_t> results;
  if (!CompareTyped(kRelation, a, b, context.rows, &results)) {
    results.resize(context.rows);
    ValueReader of_a(a), of_b(b);
    for (size_t row = 0; row < context.rows; ++row) {
      if (!out->Present(row)) continue;
      const Value& value = of_a.At(row);
      const Value& other = of_b.At(row);
      // A pair is compared in one call: as far as the smaller one goes.
      RETURN_IF_ERROR(CheckKey(value.FlatBytes() < other.FlatBytes() ? value : other));
      results[row] = Test<kRelation>(value, other) ? 1 : 0;
    }
  }
  out->Own(Column::OfBools(std::move(results)));
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
StatusOr<Prepared> PrepareMembers(const Value& list) {
  constexpr size_t kShort = 16;
  if (!list.is_collection() || list.AsList().size() <= kShort) return Prepared();
  auto members = std::make_shared<MemberSet>();
  for (const Value& member : list.AsList()) members->Add(member);
  return Prepared{members, members->ByteSize()};
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

// A mark per row: whether it is there and true.
void MarkTrue(const Operand& operand, std::vector<uint8_t>* marks) {
  const size_t rows = marks->size();
  if (operand.all_absent) return std::fill(marks->begin(), marks->end(), uint8_t{0});
  if (operand.is_constant) {
    const bool is_true = operand.constant.kind() == ValueKind::kBool && operand.constant.AsBool();
    std::fill(marks->begin(), marks->end(), is_true ? 1 : 0);
  } else if (operand.column->kind() == Column::Kind::kBool) {
    const std::span<const uint8_t> bools = operand.column->bools();
    std::copy(bools.begin(), bools.end(), marks->begin());
  } else {
    ValueReader values(operand);
    for (size_t row = 0; row < rows; ++row) {
      const Value& value = values.At(row);
      (*marks)[row] = value.kind() == ValueKind::kBool && value.AsBool() ? 1 : 0;
    }
  }
  if (operand.present.empty()) return;
  for (size_t row = 0; row < rows; ++row) (*marks)[row] &= operand.present[row];
}

template <bool kAnd>
Status ConnectiveFunction(const EvalContext& context, const Args& args, Operand* out) {
  std::vector<uint8_t> results(context.rows, kAnd ? 1 : 0);
  std::vector<uint8_t> marks(context.rows);
  for (const Operand* arg : args) {
    MarkTrue(*arg, &marks);
    for (size_t row = 0; row < context.rows; ++row) {
      if constexpr (kAnd) results[row] &= marks[row];
      if constexpr (!kAnd) results[row] |= marks[row];
    }
  }
  out->Own(Column::OfBools(std::move(results)));
  return OkStatus();
}

Status NotFunction(const EvalContext& context, const Args& args, Operand* out) {
  std::vector<uint8_t> results(context.rows);
  MarkTrue(*args[0], &results);
  for (uint8_t& result : results) result ^= 1;
  out->Own(Column::OfBools(std::move(results)));
  return OkStatus();
}

Status PresentFunction(const EvalContext& context, const Args& args, Operand* out) {
  std::vector<uint8_t> results(context.rows, args[0]->all_absent ? 0 : 1);
  if (!args[0]->all_absent && !args[0]->present.empty()) results = args[0]->present;
  out->Own(Column::OfBools(std::move(results)));
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

// What RE2 keeps of a pattern: its program, and the states it has met with it, which grow with what
// it is asked for. Most need few.
constexpr int64_t kFewRegexBytes = 256 << 10, kMostRegexBytes = 1 << 20;

std::shared_ptr<const RE2> PatternWithin(int64_t bytes, const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(bytes);
  return std::make_shared<const RE2>(pattern, options);
}

// RE2 runs in linear time; its program size is bounded.
StatusOr<Prepared> CompileRegex(const Value& constant) {
  if (constant.kind() != ValueKind::kString) {
    return InvalidArgument("regex() needs a string pattern.");
  }
  int64_t bytes = kFewRegexBytes;
  auto pattern = PatternWithin(bytes, constant.AsString());
  if (pattern->error_code() == RE2::ErrorPatternTooLarge) {
    bytes = kMostRegexBytes;
    pattern = PatternWithin(bytes, constant.AsString());
  }
  if (!pattern->ok()) {
    return InvalidArgument("The regular expression is not valid: " + pattern->error() +
                           ". Koios takes RE2 syntax.");
  }
  return Prepared{std::move(pattern), static_cast<size_t>(bytes)};
}

// Bytes of a text, each with all instructions of the pattern: as much as RE2 may do where the
// states it keeps do not fit its memory, 8 ns each. It can't be stopped, so one text has a bound.
constexpr size_t kRegexWorkOfText = size_t{1} << 25;
constexpr size_t kRegexWorkOfCall = size_t{1} << 20;

StatusOr<size_t> RegexWork(size_t bytes, const RE2& pattern) {
  const auto size = static_cast<size_t>(std::max(pattern.ProgramSize(), 1));
  if (bytes <= kRegexWorkOfText / size) return bytes * size;
  return TooManyBytes("regex() may take too long for a text of " + std::to_string(bytes) +
                          " bytes: at most " + std::to_string(kRegexWorkOfText / size) +
                          " with this pattern.",
                      "REGEX_TOO_LONG", bytes, kRegexWorkOfText / size,
                      "Look for parts with containing(), or repeat less in the pattern.");
}

struct Matching : FunctionProgress {
  Column found{Column::Kind::kBool};
  size_t row = 0;
  size_t HeldBytes() const override { return found.ByteSize(); }
};

template <bool kWanted>
Status RegexFunction(const EvalContext& context, const Args& args, Operand* out) {
  const RE2& pattern = *static_cast<const RE2*>(context.prepared);
  if (*context.progress == nullptr) *context.progress = std::make_unique<Matching>();
  auto& at = static_cast<Matching&>(**context.progress);
  for (size_t work = 0; at.row < context.rows; ++at.row) {
    if (work > kRegexWorkOfCall) return OkStatus();
    Value held;
    std::optional<std::string_view> text;
    if (out->Present(at.row)) text = TextAt(*args[0], at.row, &held);
    if (text.has_value()) {
      ASSIGN_OR_RETURN(const size_t of_text, RegexWork(text->size(), pattern));
      work += of_text;
    }
    at.found.AppendBool(text.has_value() && RE2::PartialMatch(*text, pattern) == kWanted);
  }
  out->Own(std::move(at.found));
  context.progress->reset();
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
