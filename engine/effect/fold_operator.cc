#include "engine/effect/fold_operator.h"

#include <map>
#include <optional>

#include "core/arithmetic.h"
#include "core/value_codec.h"
#include "core/value_compare.h"
#include "engine/account/made_bytes.h"

namespace koios::engine {
namespace {

StatusOr<Value> Assign(const Value&, const Value& next) { return next; }

template <bool kAnd>
StatusOr<Value> Connect(const Value& a, const Value& b) {
  if (a.kind() != ValueKind::kBool || b.kind() != ValueKind::kBool) {
    return InvalidArgument("The operators and, or take booleans.");
  }
  return Value::Bool(kAnd ? a.AsBool() && b.AsBool() : a.AsBool() || b.AsBool());
}

StatusOr<Value> SumLong(const Value& a, const Value& b) {
  if (!a.is_integer() || !b.is_integer()) {
    return InvalidArgument("The operator sumLong takes integers.");
  }
  return Add(Value::Long(a.AsInteger()), Value::Long(b.AsInteger()));
}

StatusOr<Value> AddMembers(const Value& a, const Value& b) {
  if (!a.is_collection() || !b.is_collection()) {
    return InvalidArgument("The operator addAll adds the members of a collection to another one.");
  }
  // A sack is charged once it is in a batch: none outgrows the memory before.
  RETURN_IF_ERROR(
      CheckMadeBytes(static_cast<int64_t>(a.ByteSize() + b.ByteSize()), "The operator addAll"));
  ValueList all;
  all.reserve(a.AsList().size() + b.AsList().size());
  all.insert(all.end(), a.AsList().begin(), a.AsList().end());
  all.insert(all.end(), b.AsList().begin(), b.AsList().end());
  return a.kind() == ValueKind::kSet ? MakeSet(std::move(all)) : Value::List(std::move(all));
}

bool IsLongOrLess(const Value& value) {
  return value.is_integer() && value.kind() != ValueKind::kBigInt;
}

// An integer of this kind, or of the next that holds it. REQUIRES: it fits a long.
Value IntegerOf(ValueKind kind, int64_t v) {
  if (kind == ValueKind::kByte && v == static_cast<int8_t>(v)) {
    return Value::Byte(static_cast<int8_t>(v));
  }
  if (kind <= ValueKind::kShort && v == static_cast<int16_t>(v)) {
    return Value::Short(static_cast<int16_t>(v));
  }
  if (kind <= ValueKind::kInt && v == static_cast<int32_t>(v)) {
    return Value::Int(static_cast<int32_t>(v));
  }
  return Value::Long(v);
}

// `next` added `times` times: all but the last at once, then the last, which decides on the kind or
// is the error. Partial sums go one way: where the last but one fits the kind, all before it do.
StatusOr<Value> AddMany(FoldOperator fold, const Value& folded, const Value& next, int64_t times) {
  const ValueKind kind = fold == SumLong ? ValueKind::kLong : CommonNumberKind(folded, next);
  const __int128 step = fold == Subtract ? -static_cast<__int128>(next.AsInteger())
                                         : static_cast<__int128>(next.AsInteger());
  const __int128 before = folded.AsInteger() + step * (times - 1);
  const bool fits = before == static_cast<int64_t>(before);
  const int64_t bound = step > 0 ? INT64_MAX : INT64_MIN;
  return fold(IntegerOf(kind, fits ? static_cast<int64_t>(before) : bound), next);
}

StatusOr<Value> Quotient(const Value& a, const Value& b) { return Divide(a, b); }

// `folded` after `next` was folded into it `times` times, where that needs no loop: sums of
// integers. nullopt where it does.
std::optional<StatusOr<Value>> FoldMany(FoldOperator fold, const Value& folded, const Value& next,
                                        int64_t times) {
  const bool sums = fold == Add || fold == Subtract || fold == SumLong;
  if (!sums || !IsLongOrLess(folded) || !IsLongOrLess(next)) return std::nullopt;
  return AddMany(fold, folded, next, times);
}

}  // namespace

FoldOperator FindFoldOperator(const std::string& name) {
  static const std::map<std::string, FoldOperator> kOperators = {
      {"sum", Add},           {"minus", Subtract}, {"mult", Multiply}, {"div", Quotient},
      {"min", Min},           {"max", Max},        {"assign", Assign}, {"and", Connect<true>},
      {"or", Connect<false>}, {"sumLong", SumLong}};
  const auto found = kOperators.find(name);
  return found == kOperators.end() ? nullptr : found->second;
}

FoldOperator FindSackOperator(const std::string& name) {
  return name == "addAll" ? AddMembers : FindFoldOperator(name);
}

StatusOr<int64_t> FoldSome(FoldOperator fold, const Value& next, int64_t times, Value* folded) {
  std::optional<StatusOr<Value>> all = FoldMany(fold, *folded, next, times);
  if (all.has_value()) {
    ASSIGN_OR_RETURN(*folded, *std::move(all));
    return times;
  }
  ASSIGN_OR_RETURN(Value once, fold(*folded, next));
  const bool settled = times > 1 && once.ByteSize() == folded->ByteSize() &&
                       EncodeValue(once) == EncodeValue(*folded);
  *folded = std::move(once);
  return settled ? times : 1;
}

StatusOr<int64_t> FoldSomeCharged(FoldOperator fold, const Value& next, int64_t times,
                                  int64_t charged, Value* folded, ChargeAhead* charge) {
  // What it may become, while what it was is there: both.
  const auto most = static_cast<int64_t>(folded->ByteSize() + next.ByteSize());
  RETURN_IF_ERROR(charge->Take(most));
  StatusOr<int64_t> done = FoldSome(fold, next, times, folded);
  charge->Return(most);
  RETURN_IF_ERROR(done.status());
  RETURN_IF_ERROR(charge->Change(charged, static_cast<int64_t>(folded->ByteSize())));
  return done;
}

}  // namespace koios::engine
