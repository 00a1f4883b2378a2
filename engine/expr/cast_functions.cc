// Numbers, booleans and dates of other values, and sums and differences of dates, as TinkerPop 3.8
// defines them: null stays null in asNumber() and is an error in the others, and what can't be read
// is an error that says what came.
#include "engine/expr/cast_functions.h"

#include <cmath>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "core/arithmetic.h"
#include "core/big_number.h"
#include "core/convert/number_cast.h"
#include "core/convert/number_text.h"
#include "core/convert/time_text.h"
#include "core/convert/type_name.h"
#include "core/text/text.h"
#include "engine/expr/each_row.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;
using Maybe = StatusOr<std::optional<Value>>;

constexpr int32_t kNanosPerMilli = 1'000'000;
constexpr int32_t kNanosPerSecond = 1'000'000'000;

// As the reference implementation names a value's class in its errors.
std::string ClassOf(const Value& value) {
  if (value.kind() == ValueKind::kList) return "ArrayList";
  if (value.kind() == ValueKind::kSet) return "HashSet";
  if (value.kind() == ValueKind::kMap) return "LinkedHashMap";
  return std::string(KindName(value.kind()));
}

// A text as an error shows it.
std::string Shown(const std::string& text) {
  constexpr size_t kLongest = 60;
  return std::string(TruncateUtf8(text, kLongest));
}

Status LongOverflow(const char* step) {
  ErrorDetail detail;
  detail.reason = "LONG_OVERFLOW";
  return InvalidArgument(std::string(step) +
                             " has a result that does not fit 64 bits "
                             "(long overflow).",
                         detail);
}

StatusOr<Value> LongOf(__int128 v, const char* step) {
  if (v < INT64_MIN || v > INT64_MAX) return LongOverflow(step);
  return Value::Long(static_cast<int64_t>(v));
}

__int128 NanosOf(const DateTime& v) { return __int128{v.seconds} * kNanosPerSecond + v.nanos; }

// Milliseconds since 1970, rounded down.
StatusOr<Value> MillisOf(const DateTime& v, const char* step) {
  return LongOf(__int128{v.seconds} * 1'000 + v.nanos / kNanosPerMilli, step);
}

DateTime FromMillis(int64_t millis) {
  const int64_t rest = millis % 1'000;
  DateTime v;
  v.seconds = millis / 1'000 - (rest < 0 ? 1 : 0);
  v.nanos = static_cast<int32_t>(rest < 0 ? rest + 1'000 : rest) * kNanosPerMilli;
  return v;
}

StatusOr<Value> NumberOf(const Value& value) {
  if (value.is_number()) return value;
  if (value.kind() == ValueKind::kString) return NumberOfText(value.AsString());
  if (value.kind() == ValueKind::kDateTime) return MillisOf(value.AsDateTime(), "asNumber()");
  return InvalidArgument("Can't parse type " + ClassOf(value) + " as number.");
}

// asNumber(value, type): of that type; with null of the one that it has.
Status AsNumberFunction(const EvalContext& context, const Args& args, Operand* out) {
  const Value& type = args[1]->constant;
  std::optional<ValueKind> kind;
  if (!type.is_null()) {
    kind = NumberKindOfType(type.AsString());
    if (!kind.has_value()) {
      return InvalidArgument("asNumber() requires a numeric type token, got " + type.AsString());
    }
  }
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Value value = args[0]->Get(row);
    if (value.is_null()) return value;
    ASSIGN_OR_RETURN(const Value number, NumberOf(value));
    if (!kind.has_value()) return number;
    return CastNumber(number, *kind);
  });
}

StatusOr<bool> BoolOf(const Value& value) {
  if (value.kind() == ValueKind::kBool) return value.AsBool();
  if (value.is_number()) {
    const double number = NumberAsDouble(value);
    return !std::isnan(number) && number != 0;
  }
  if (value.kind() != ValueKind::kString) {
    return InvalidArgument("Can't parse " + ClassOf(value) + " as Boolean.");
  }
  const std::string_view trimmed = TrimBlanks(value.AsString());
  if (trimmed.size() <= std::string_view("false").size()) {
    const std::string word = absl::AsciiStrToLower(std::string(trimmed));
    if (word == "true" || word == "false") return word == "true";
  }
  return InvalidArgument("Can't parse " + Shown(value.AsString()) + " as Boolean.");
}

// asBool(value): of a number whether it is not zero; NaN is as zero.
Status AsBoolFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    ASSIGN_OR_RETURN(const bool result, BoolOf(args[0]->Get(row)));
    return Value::Bool(result);
  });
}

StatusOr<DateTime> DateOf(const Value& value) {
  const auto unreadable = [](const std::string& what) -> Status {
    return InvalidArgument("Can't parse " + what + " as OffsetDateTime.");
  };
  if (value.kind() == ValueKind::kDateTime) return value.AsDateTime();
  if (value.kind() == ValueKind::kBigInt) {
    const std::optional<int64_t> millis = value.AsBigNumber().ToInt64();
    if (!millis.has_value()) return unreadable(Shown(value.AsBigNumber().ToString()));
    return FromMillis(*millis);
  }
  if (value.is_integer()) return FromMillis(value.AsInteger());
  if (value.kind() != ValueKind::kString) return unreadable(ClassOf(value));
  StatusOr<DateTime> date = ParseDateTime(value.AsString());
  if (!date.ok()) return unreadable(Shown(value.AsString()));
  return date;
}

// asDate(value): integers are milliseconds since 1970.
Status AsDateFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    ASSIGN_OR_RETURN(const DateTime date, DateOf(args[0]->Get(row)));
    return Value::Of(date);
  });
}

// dateAdd(date, seconds, n): n times so many seconds later. The offset stays.
Status DateAddFunction(const EvalContext& context, const Args& args, Operand* out) {
  const __int128 added = __int128{args[1]->constant.AsInteger()} * args[2]->constant.AsInteger();
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Value value = args[0]->Get(row);
    if (value.kind() != ValueKind::kDateTime) {
      return InvalidArgument("dateAdd() accepts only DateTime, encountered " + ClassOf(value) +
                             ". asDate() makes one of other values.");
    }
    DateTime date = value.AsDateTime();
    const __int128 seconds = date.seconds + added;
    const __int128 shown = seconds + date.offset_seconds;
    if (shown < kFirstSecond || shown > kLastSecond) {
      return InvalidArgument("dateAdd() would make a date beyond the year 999,999,999.");
    }
    date.seconds = static_cast<int64_t>(seconds);
    return Value::Of(date);
  });
}

// dateDiff(date, other): the milliseconds from the other one to the date, towards zero; from 1970
// where the other one is null.
Status DateDiffFunction(const EvalContext& context, const Args& args, Operand* out) {
  const auto no_date = [](const Value& value) {
    return InvalidArgument("DateDiff can only take DateTime as argument, encountered " +
                           ClassOf(value) + ". asDate() makes one of other values.");
  };
  return EachRow(context, out, [&](size_t row) -> Maybe {
    if (!args[0]->Present(row)) return std::nullopt;
    const Value value = args[0]->Get(row);
    if (value.kind() != ValueKind::kDateTime) return no_date(value);
    if (!args[1]->Present(row)) {
      return InvalidArgument(
          "dateDiff() needs a date of its traversal, which maps this traverser to none.");
    }
    const Value other = args[1]->Get(row);
    if (other.is_null()) return MillisOf(value.AsDateTime(), "dateDiff()");
    if (other.kind() != ValueKind::kDateTime) return no_date(other);
    const __int128 nanos = NanosOf(value.AsDateTime()) - NanosOf(other.AsDateTime());
    return LongOf(nanos / kNanosPerMilli, "dateDiff()");
  });
}

}  // namespace

const std::vector<ScalarKernel>& CastFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"asNumber", AsNumberFunction}, {"asBool", AsBoolFunction},     {"asDate", AsDateFunction},
      {"dateAdd", DateAddFunction},   {"dateDiff", DateDiffFunction},
  };
  return kFunctions;
}

}  // namespace koios::engine
