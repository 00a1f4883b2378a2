// count, sum, min, max, mean, range, tail, dedup and order of what is inside one value. A value
// that is no collection counts as itself, as in TinkerPop.
#include "engine/expr/list_functions.h"

#include <algorithm>

#include "core/arithmetic.h"
#include "core/value_compare.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;

// Applies `part` to each present row; `part` sets *found when it gives something.
template <typename Part>
Status EachRow(const EvalContext& context, const Operand& operand, Operand* out, Part part) {
  Column column;
  out->present.assign(context.rows, 0);
  for (size_t row = 0; row < context.rows; ++row) {
    Value result;
    bool found = false;
    if (operand.Present(row)) RETURN_IF_ERROR(part(operand.Get(row), &result, &found));
    out->present[row] = found ? 1 : 0;
    column.Append(result);
  }
  out->Own(std::move(column));
  return OkStatus();
}

Status CountFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, *args[0], out, [](const Value& value, Value* result, bool* found) {
    int64_t count = 1;
    if (value.is_collection()) count = static_cast<int64_t>(value.AsList().size());
    if (value.kind() == ValueKind::kMap) count = static_cast<int64_t>(value.AsMap().size());
    if (value.kind() == ValueKind::kPath) {
      count = static_cast<int64_t>(value.AsPath().objects.size());
    }
    *result = Value::Long(count);
    *found = true;
    return OkStatus();
  });
}

ValueList Members(const Value& value) {
  if (value.is_collection()) return value.AsList();
  if (value.kind() == ValueKind::kPath) return value.AsPath().objects;
  return {value};
}

enum class Fold { kSum, kMean, kMin, kMax };

template <Fold kFold>
Status FoldFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, *args[0], out, [](const Value& value, Value* result, bool* found) {
    const ValueList members = Members(value);
    *found = !members.empty();
    NumberSum sum;
    for (const Value& member : members) {
      if (member.is_null()) continue;
      if constexpr (kFold == Fold::kMin || kFold == Fold::kMax) {
        if (result->is_null()) {
          *result = member;
        } else {
          ASSIGN_OR_RETURN(*result,
                           kFold == Fold::kMin ? Min(*result, member) : Max(*result, member));
        }
      } else {
        RETURN_IF_ERROR(sum.Add(member));
      }
    }
    if (kFold == Fold::kSum) {
      ASSIGN_OR_RETURN(*result, sum.Sum());
    } else if (kFold == Fold::kMean) {
      ASSIGN_OR_RETURN(*result, sum.Mean());
    }
    return OkStatus();
  });
}

// Members [low, high) of a collection or map, in the same kind of collection; high < 0: no end.
Value Slice(const Value& value, int64_t low, int64_t high) {
  const auto cut = [&](const auto& all) {
    const auto size = static_cast<int64_t>(all.size());
    const int64_t end = high < 0 ? size : std::min(high, size);
    const int64_t begin = std::min(std::max<int64_t>(low, 0), end);
    return std::decay_t<decltype(all)>(all.begin() + begin, all.begin() + end);
  };
  if (value.kind() == ValueKind::kList) return Value::List(cut(value.AsList()));
  if (value.kind() == ValueKind::kSet) return Value::Set(cut(value.AsList()));
  if (value.kind() == ValueKind::kMap) return Value::Map(cut(value.AsMap()));
  if (value.kind() == ValueKind::kPath) return Value::List(cut(value.AsPath().objects));
  return value;
}

Status RangeFunction(const EvalContext& context, const Args& args, Operand* out) {
  const int64_t low = args[1]->constant.AsInteger();
  const int64_t high = args[2]->constant.AsInteger();
  return EachRow(context, *args[0], out, [&](const Value& value, Value* result, bool* found) {
    *result = Slice(value, low, high);
    *found = true;
    return OkStatus();
  });
}

Status TailFunction(const EvalContext& context, const Args& args, Operand* out) {
  const int64_t count = args[1]->constant.AsInteger();
  return EachRow(context, *args[0], out, [&](const Value& value, Value* result, bool* found) {
    int64_t size = 0;
    if (value.kind() == ValueKind::kMap) {
      size = static_cast<int64_t>(value.AsMap().size());
    } else if (value.is_collection() || value.kind() == ValueKind::kPath) {
      size = static_cast<int64_t>(Members(value).size());
    }
    *result = Slice(value, size - count, -1);
    *found = true;
    return OkStatus();
  });
}

Status DedupFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, *args[0], out, [](const Value& value, Value* result, bool* found) {
    *result = value.is_collection() ? MakeSet(value.AsList()) : value;
    *found = true;
    return OkStatus();
  });
}

// Tokens sort among strings, by their word.
Value SortKey(const Value& key) {
  if (key.kind() != ValueKind::kToken) return key;
  static constexpr const char* kWords[] = {"id", "label", "key", "value"};
  return Value::String(kWords[static_cast<size_t>(key.AsToken())]);
}

// list_order(value, part, descending): a collection by its members; a map by its keys (part "keys")
// or values (part "values").
Status OrderFunction(const EvalContext& context, const Args& args, Operand* out) {
  const bool by_value = args[1]->constant.AsString() == "values";
  const bool descending = args[2]->constant.AsBool();
  const auto before = [&](const Value& a, const Value& b) {
    const auto order = TotalOrder(a, b);
    return descending ? order == std::strong_ordering::greater
                      : order == std::strong_ordering::less;
  };
  return EachRow(context, *args[0], out, [&](const Value& value, Value* result, bool* found) {
    *found = true;
    *result = value;
    if (value.kind() == ValueKind::kMap) {
      ValueMap entries = value.AsMap();
      std::stable_sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
        return by_value ? before(a.second, b.second) : before(SortKey(a.first), SortKey(b.first));
      });
      *result = Value::Map(std::move(entries));
    } else if (value.is_collection()) {
      ValueList members = value.AsList();
      std::stable_sort(members.begin(), members.end(), before);
      *result = Value::List(std::move(members));
    }
    return OkStatus();
  });
}

}  // namespace

const std::vector<ScalarFunction>& ListFunctions() {
  static const std::vector<ScalarFunction> functions = {
      {"list_count", 1, 1, CountFunction},
      {"list_sum", 1, 1, FoldFunction<Fold::kSum>},
      {"list_mean", 1, 1, FoldFunction<Fold::kMean>},
      {"list_min", 1, 1, FoldFunction<Fold::kMin>},
      {"list_max", 1, 1, FoldFunction<Fold::kMax>},
      {"list_range", 3, 3, RangeFunction},
      {"list_tail", 2, 2, TailFunction},
      {"list_dedup", 1, 1, DedupFunction},
      {"list_order", 3, 3, OrderFunction},
  };
  return functions;
}

}  // namespace koios::engine
