// The scalar functions that a plan's expressions call: one row says all that is known of each. The
// planner asks the rows; the engine joins each with a kernel of the same name
// (engine/expr/*_functions.cc), and its tests say when one of the two is missing.
// Rule: nobody else lists names. Who asks something of functions asks for a trait; who means one
// function names it by a FunctionRef, which does not compile for a name without a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/plan/value_type.h"
#include "core/value.h"

namespace koios::plan {

// What holds for every call of a function.
enum FunctionTrait : uint32_t {
  // Presence of the result.
  kStrict = 1 << 0,          // absent as soon as an argument is; the engine asks it of no such row
  kAlwaysThere = 1 << 1,     // never absent, whatever the arguments are
  kThereWithFirst = 1 << 2,  // not absent where the first argument is not
  kThereWithLast = 1 << 3,   // not absent where the last argument is not
  // Predicates: what Gremlin's P and TextP call by the same name.
  kComparison = 1 << 4,
  kOrdering = 1 << 5,  // a comparison that asks what comes before what
  kTextTest = 1 << 6,
  kMembership = 1 << 7,  // of a list of constants
  // Reads of stored data, of the first argument: it must be evaluated at that element's owner.
  kReadsElement = 1 << 8,   // its id or label
  kReadsProperty = 1 << 9,  // the one that the second argument names
  kReadsProperties = 1 << 10,
  kReadsEdges = 1 << 11,
  kKnownOfEdges = 1 << 12,  // what it reads of an edge travels with the reference
  kReadsInside = 1 << 18,   // and of all elements in it, and of the ends of edges
  // What forbids to evaluate it elsewhere in the traversal, or for other rows.
  kDraws = 1 << 13,           // at random
  kReadsEffect = 1 << 14,     // a side-effect, whose name is the argument of letter s
  kTakesTurn = 1 << 15,       // what it gives depends on the calls before
  kRaises = 1 << 16,          // is an error for some rows
  kReadsIteration = 1 << 17,  // a loop's counter; may move within the loop's body
};

inline constexpr uint32_t kReadsStored =
    kReadsElement | kReadsProperty | kReadsProperties | kReadsEdges;
inline constexpr uint32_t kImpure = kDraws | kReadsEffect | kTakesTurn | kRaises;

// An argument as far as it is known before anything runs.
struct KnownArgument {
  ValueType type = ValueType::kAny;
  const Value* constant = nullptr;  // null: it is none
};

// Result types that depend on the arguments.
ValueType TypeOfFirst(std::span<const KnownArgument> args);
ValueType TypeOfProperty(std::span<const KnownArgument> args);
ValueType TypeOfSideEffect(std::span<const KnownArgument> args);
ValueType TypeOfFirstOf(std::span<const KnownArgument> args);
ValueType TypeOfTextStep(std::span<const KnownArgument> args);
ValueType TypeOfEither(std::span<const KnownArgument> args);
ValueType TypeOfOperated(std::span<const KnownArgument> args);

struct FunctionTraits {
  std::string_view name;
  int min_args = 0;
  int max_args = 0;
  // A letter per argument; those without one, and _, may be anything. The others are constants: c
  // of any kind, s a string, n a string or null, i an integer, d a double, b a boolean, l a list
  // or set. A * at the end repeats the last letter. The engine binds no call that breaks it.
  std::string_view constants;
  uint32_t traits = 0;  // of FunctionTrait
  ValueType type = ValueType::kScalar;
  ValueType (*type_of)(std::span<const KnownArgument> args) = nullptr;  // not null: instead of type

  // Has one of them.
  constexpr bool Has(uint32_t any_of) const { return (traits & any_of) != 0; }
  constexpr bool IsPure() const { return !Has(kImpure); }
};

inline constexpr int kMany = 1 << 20;

// By what they are about. The order means nothing.
inline constexpr FunctionTraits kFunctions[] = {
    // Comparisons and connectives.
    {"eq", 2, 2, "", kStrict | kComparison},
    {"neq", 2, 2, "", kStrict | kComparison},
    {"lt", 2, 2, "", kStrict | kComparison | kOrdering},
    {"lte", 2, 2, "", kStrict | kComparison | kOrdering},
    {"gt", 2, 2, "", kStrict | kComparison | kOrdering},
    {"gte", 2, 2, "", kStrict | kComparison | kOrdering},
    {"within", 2, 2, "", kStrict | kMembership},
    {"without", 2, 2, "", kStrict | kMembership},
    {"and", 0, kMany, "", kAlwaysThere},
    {"or", 0, kMany, "", kAlwaysThere},
    {"not", 1, 1, "", kAlwaysThere},
    {"present", 1, 1, "", kAlwaysThere},
    {"typeOf", 2, 2, "_c", kStrict},
    // Texts.
    {"startingWith", 2, 2, "", kStrict | kTextTest},
    {"notStartingWith", 2, 2, "", kStrict | kTextTest},
    {"endingWith", 2, 2, "", kStrict | kTextTest},
    {"notEndingWith", 2, 2, "", kStrict | kTextTest},
    {"containing", 2, 2, "", kStrict | kTextTest},
    {"notContaining", 2, 2, "", kStrict | kTextTest},
    {"regex", 2, 2, "_c", kStrict | kTextTest},
    {"notRegex", 2, 2, "_c", kStrict | kTextTest},
    // Elements and properties.
    {"property", 2, 2, "_s", kStrict | kReadsProperty, ValueType::kScalar, TypeOfProperty},
    {"by_key", 2, 2, "_s", kStrict | kReadsProperty, ValueType::kAny},
    {"id", 1, 1, "", kStrict | kThereWithFirst | kReadsElement},
    {"with_id", 1, 1, "", kStrict | kReadsElement, ValueType::kAny},
    {"has_id", 2, 2, "_l", kStrict | kReadsElement},
    {"has_exact_id", 2, 2, "_l", kStrict | kReadsElement},  // where a string is no integer
    {"label", 1, 1, "", kStrict | kThereWithFirst | kReadsElement | kKnownOfEdges},
    {"label_in", 1, kMany, "_c*", kStrict | kReadsElement | kKnownOfEdges},
    {"key", 1, 1, "", kStrict},
    {"value", 1, 1, "", kStrict, ValueType::kAny},
    {"element", 1, 1, "", kStrict, ValueType::kAny},
    {"degree", 2, kMany, "_is*", kStrict | kThereWithFirst | kReadsEdges},
    {"value_map", 2, kMany, "_c*", kStrict | kReadsProperties, ValueType::kMap},
    {"element_map", 1, kMany, "_c*", kStrict | kReadsProperties | kReadsInside, ValueType::kMap},
    {"element_map_seen", 2, kMany, "__c*", kStrict | kReadsProperties, ValueType::kMap},
    {"property_map", 1, kMany, "_c*", kStrict | kReadsProperties, ValueType::kMap},
    // Elements in values, read where they are; what a result shows of them, or what orders them.
    {"elements_in", 1, 1, "", kStrict, ValueType::kList},
    {"detached", 2, 2, "_b", kStrict | kReadsProperties, ValueType::kList},
    {"as_seen", 2, 2, "", kStrict, ValueType::kAny},
    {"as_ordered", 2, 2, "", kStrict, ValueType::kAny},
    // What a row must be like.
    {"require", 3, 3, "_ss", kRaises},
    {"require_label", 2, 2, "_s", kRaises},
    {"fail", 2, 2, "_s", kRaises},
    {"must", 2, 2, "_s", kRaises},
    // Maps and entries.
    {"map_of", 0, kMany, "", kAlwaysThere, ValueType::kMap},
    {"map_get", 2, 2, "", kStrict, ValueType::kAny},
    {"map_keys", 1, 1, "", kStrict, ValueType::kList},
    {"map_values", 1, 1, "", kStrict, ValueType::kList},
    {"entry_key", 1, 1, "", kStrict, ValueType::kAny},
    {"entry_value", 1, 1, "", kStrict, ValueType::kAny},
    {"first_of", 2, 2, "", kThereWithLast, ValueType::kAny, TypeOfFirstOf},
    // Sacks: the one that is there or else the initial one, and an operator with what it puts
    // together.
    {"sack_or", 2, 2, "", kThereWithLast, ValueType::kAny, TypeOfEither},
    {"operated", 3, 3, "s__", kRaises, ValueType::kAny, TypeOfOperated},
    // What is inside one value.
    {"list_count", 1, 1, "", kStrict},
    {"list_sum", 1, 1, "", kStrict | kRaises},
    {"list_mean", 1, 1, "", kStrict | kRaises},
    {"list_min", 1, 1, "", kStrict | kRaises, ValueType::kAny},
    {"list_max", 1, 1, "", kStrict | kRaises, ValueType::kAny},
    {"list_range", 3, 3, "_ii", kStrict, ValueType::kAny, TypeOfFirst},
    {"list_tail", 2, 2, "_i", kStrict, ValueType::kAny, TypeOfFirst},
    {"list_dedup", 1, 1, "", kStrict, ValueType::kAny, TypeOfFirst},
    {"list_order", 3, 3, "_sb", kStrict, ValueType::kAny, TypeOfFirst},
    {"list_sample", 2, 2, "_i", kStrict | kDraws, ValueType::kAny},
    {"like", 2, 2, "", kStrict, ValueType::kAny},
    {"is_list", 1, 1, "", kStrict},
    {"index", 2, 2, "_b", kStrict, ValueType::kAny},
    {"member_of", 2, 2, "", kStrict | kRaises},
    // Steps over texts. A b behind the value: whether the members of a list are meant
    // (Scope.local).
    {"asString", 3, 3, "_bs", kStrict | kReadsElement | kReadsInside | kRaises, ValueType::kAny,
     TypeOfTextStep},
    {"length", 2, 2, "_b", kStrict | kRaises, ValueType::kAny, TypeOfTextStep},
    {"toUpper", 2, 2, "_b", kStrict | kRaises, ValueType::kAny, TypeOfTextStep},
    {"toLower", 2, 2, "_b", kStrict | kRaises, ValueType::kAny, TypeOfTextStep},
    {"trim", 2, 2, "_b", kStrict | kRaises, ValueType::kAny, TypeOfTextStep},
    {"lTrim", 2, 2, "_b", kStrict | kRaises, ValueType::kAny, TypeOfTextStep},
    {"rTrim", 2, 2, "_b", kStrict | kRaises, ValueType::kAny, TypeOfTextStep},
    {"substring", 3, 4, "_bi*", kStrict | kRaises, ValueType::kAny, TypeOfTextStep},
    {"replace", 4, 4, "_bn*", kStrict | kRaises, ValueType::kAny, TypeOfTextStep},
    {"split", 3, 3, "_bn", kStrict | kRaises, ValueType::kAny},
    {"reverse", 1, 1, "", kStrict, ValueType::kAny},
    {"concat", 1, kMany, "", kRaises},
    {"text_part", 1, 1, "", kStrict | kReadsElement | kReadsInside},
    {"format", 1, kMany, "", kStrict},
    // Steps that make numbers, booleans and dates: of which GType, null: of any; and so many times
    // so many seconds.
    {"asNumber", 2, 2, "_n", kStrict | kRaises},
    {"asBool", 1, 1, "", kStrict | kRaises},
    {"asDate", 1, 1, "", kStrict | kRaises},
    {"dateAdd", 3, 3, "_ii", kStrict | kRaises},
    {"dateDiff", 2, 2, "", kRaises},
    // Steps over two collections or maps; the last argument: a traversal made the second one.
    {"combine", 3, 3, "__b", kRaises, ValueType::kList},
    {"difference", 3, 3, "__b", kRaises, ValueType::kList},
    {"disjunct", 3, 3, "__b", kRaises, ValueType::kList},
    {"intersect", 3, 3, "__b", kRaises, ValueType::kList},
    {"merge", 3, 3, "__b", kRaises, ValueType::kAny},
    {"product", 3, 3, "__b", kRaises, ValueType::kList},
    {"conjoin", 2, 2, "_s", kStrict | kReadsElement | kReadsInside | kRaises},
    // math(): numbers as doubles, its operators, and its functions, which are called as behind
    // math_.
    {"as_double", 1, 1, "", kStrict | kRaises},
    {"plus", 2, 2, "", kStrict},
    {"minus", 2, 2, "", kStrict},
    {"times", 2, 2, "", kStrict},
    {"divided_by", 2, 2, "", kStrict | kRaises},
    {"modulo", 2, 2, "", kStrict | kRaises},
    {"power", 2, 2, "", kStrict},
    {"negated", 1, 1, "", kStrict},
    {"math_abs", 1, 1, "", kStrict},
    {"math_acos", 1, 1, "", kStrict},
    {"math_asin", 1, 1, "", kStrict},
    {"math_atan", 1, 1, "", kStrict},
    {"math_cbrt", 1, 1, "", kStrict},
    {"math_ceil", 1, 1, "", kStrict},
    {"math_cos", 1, 1, "", kStrict},
    {"math_cosh", 1, 1, "", kStrict},
    {"math_exp", 1, 1, "", kStrict},
    {"math_floor", 1, 1, "", kStrict},
    {"math_log", 1, 1, "", kStrict},
    {"math_log10", 1, 1, "", kStrict},
    {"math_log2", 1, 1, "", kStrict},
    {"math_signum", 1, 1, "", kStrict},
    {"math_sin", 1, 1, "", kStrict},
    {"math_sinh", 1, 1, "", kStrict},
    {"math_sqrt", 1, 1, "", kStrict},
    {"math_tan", 1, 1, "", kStrict},
    {"math_tanh", 1, 1, "", kStrict},
    // Paths: where nobody has begun one, what grows or is taken apart is an empty one.
    {"path_append", 2, kMany, "__s*", 0, ValueType::kList},
    {"path_of", 1, 1, "", kStrict, ValueType::kList},
    {"path_label", 2, kMany, "_s*", 0, ValueType::kList},
    {"path_range", 3, 3, "_nn", kStrict | kRaises, ValueType::kList},
    {"path_entries", 1, 1, "", 0, ValueType::kMap},
    {"path_by", 2, 2, "", 0, ValueType::kList},
    {"path_select", 3, 3, "_ss", kStrict, ValueType::kAny},
    {"is_simple", 1, 1, "", kStrict},
    {"turn", 2, 2, "_i", kStrict},
    // The traversal around the row.
    {"loops", 1, 2, "c*", kStrict | kReadsIteration},
    {"coin", 1, 1, "d", kStrict | kDraws},
    {"once", 1, 1, "s", kStrict | kTakesTurn},
    {"side_effect", 1, 2, "sc", kStrict | kAlwaysThere | kReadsEffect, ValueType::kBag,
     TypeOfSideEffect},
    {"in_side_effect", 2, 2, "_s", kStrict | kReadsEffect},
};

// The row of one function. Of a name in the code the compiler looks it up.
class FunctionRef {
 public:
  consteval FunctionRef(const char* name) : row_(RowOf(name)) {}    // NOLINT: a name is one
  constexpr FunctionRef(const FunctionTraits& row) : row_(&row) {}  // NOLINT: so is a row
  constexpr const FunctionTraits* operator->() const { return row_; }
  constexpr const FunctionTraits& operator*() const { return *row_; }

 private:
  static consteval const FunctionTraits* RowOf(std::string_view name) {
    for (const FunctionTraits& row : kFunctions) {
      if (row.name == name) return &row;
    }
    throw "There is no function of this name.";  // ends the compilation
  }

  const FunctionTraits* row_;
};

// Null: there is none of the name.
const FunctionTraits* FindFunction(std::string_view name);
// Whether argument number `argument` may be this; `constant` null: it is none.
bool TakesArgument(const FunctionTraits& function, size_t argument, const Value* constant);
// The argument that is the name of the side-effect. REQUIRES: kReadsEffect.
size_t EffectArgument(const FunctionTraits& function);

}  // namespace koios::plan
