#include "core/plan/function_table.h"

#include <iterator>

#include "absl/container/flat_hash_map.h"

namespace koios::plan {
namespace {

bool IsOfKind(const Value& value, char letter) {
  const ValueKind kind = value.kind();
  switch (letter) {
    case 's':
      return kind == ValueKind::kString;
    case 'n':
      return kind == ValueKind::kString || value.is_null();
    case 'i':
      return value.is_integer() && kind != ValueKind::kBigInt;
    case 'd':
      return kind == ValueKind::kFloat || kind == ValueKind::kDouble;
    case 'b':
      return kind == ValueKind::kBool;
    case 'l':
      return value.is_collection();
    default:
      return letter == 'c';
  }
}

char LetterOf(std::string_view constants, size_t argument) {
  const bool repeats = constants.ends_with('*');
  if (repeats) constants.remove_suffix(1);
  if (argument < constants.size()) return constants[argument];
  return repeats ? constants.back() : '_';
}

}  // namespace

ValueType TypeOfFirst(std::span<const KnownArgument> args) { return args[0].type; }

ValueType TypeOfProperty(std::span<const KnownArgument> args) {
  const ValueType owner = args[0].type;
  return owner == ValueType::kVertex || owner == ValueType::kEdge ? ValueType::kScalar
                                                                  : ValueType::kAny;
}

// The second argument says whether it is a map or a bag; of what began with a value it is a text
// for a collection, and null for what may be anything.
ValueType TypeOfSideEffect(std::span<const KnownArgument> args) {
  const Value* is_map = args.back().constant;
  if (args.size() > 1 && is_map != nullptr && is_map->is_null()) return ValueType::kAny;
  if (args.size() > 1 && is_map != nullptr && is_map->kind() == ValueKind::kString) {
    return ValueType::kList;
  }
  return is_map != nullptr && is_map->kind() == ValueKind::kBool && is_map->AsBool()
             ? ValueType::kMap
             : ValueType::kBag;
}

// A label behind a map's key: any value. But a map is held to be one, for unfold() behind it; and
// where an entry was stored, a map of one may be it.
ValueType TypeOfFirstOf(std::span<const KnownArgument> args) {
  const ValueType stored = args.back().type;
  if (stored == ValueType::kMap) return stored;
  const bool may_be_entry = stored == ValueType::kEntry || stored == ValueType::kMember;
  return may_be_entry ? ValueType::kMember : ValueType::kAny;
}

// A text, number or null, unless the members of a list are meant.
ValueType TypeOfTextStep(std::span<const KnownArgument> args) {
  const Value* local = args[1].constant;
  const bool global = local != nullptr && local->kind() == ValueKind::kBool && !local->AsBool();
  return global ? ValueType::kScalar : ValueType::kAny;
}

ValueType TypeOfEither(std::span<const KnownArgument> args) {
  if (args[0].type == args[1].type) return args[0].type;
  const auto may_be_entry = [](const KnownArgument& arg) {
    return arg.type == ValueType::kEntry || arg.type == ValueType::kMember;
  };
  return may_be_entry(args[0]) || may_be_entry(args[1]) ? ValueType::kMember : ValueType::kAny;
}

// Only addAll gives no scalar; assign never comes here.
ValueType TypeOfOperated(std::span<const KnownArgument> args) {
  const Value* name = args[0].constant;
  const bool adds =
      name == nullptr || name->kind() != ValueKind::kString || name->AsString() == "addAll";
  return adds ? ValueType::kList : ValueType::kScalar;
}

const FunctionTraits* FindFunction(std::string_view name) {
  static const auto* const kByName = [] {
    auto* by_name = new absl::flat_hash_map<std::string_view, const FunctionTraits*>();
    for (const FunctionTraits& row : kFunctions) (*by_name)[row.name] = &row;
    return by_name;
  }();
  const auto found = kByName->find(name);
  return found == kByName->end() ? nullptr : found->second;
}

bool TakesArgument(const FunctionTraits& function, size_t argument, const Value* constant) {
  const char letter = LetterOf(function.constants, argument);
  return letter == '_' || (constant != nullptr && IsOfKind(*constant, letter));
}

size_t EffectArgument(const FunctionTraits& function) { return function.constants.find('s'); }

}  // namespace koios::plan
