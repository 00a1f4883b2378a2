#include "planner/argument.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/text/name_distance.h"
#include "core/value_compare.h"
#include "parser/fold.h"
#include "parser/printer.h"
#include "parser/words.h"
#include "planner/expression.h"
#include "planner/plan_error.h"
#include "planner/plan_holes.h"
#include "planner/steps/catalogue.h"

namespace koios::planner {
namespace {

constexpr size_t kMaxCallText = 80;

bool TokenOf(std::string_view name, Token* token) {
  if (name == "id")
    *token = Token::kId;
  else if (name == "label")
    *token = Token::kLabel;
  else if (name == "key")
    *token = Token::kKey;
  else if (name == "value")
    *token = Token::kValue;
  else
    return false;
  return true;
}

StatusOr<Value> BindMember(const parser::Argument& argument, const Parameters& parameters,
                           std::string_view step) {
  ASSIGN_OR_RETURN(Bound bound, Bind(argument, parameters, step));
  if (bound.kind == Bound::Kind::kValue) return bound.value.Look();
  if (std::optional<Value> word = ValueOfWord(bound)) return *std::move(word);
  if (bound.IsEnum("Merge") && (bound.name == "outV" || bound.name == "inV") &&
      (step == "mergeE" || step == "option")) {
    return Value::Of(bound.name == "outV" ? Direction::kOut : Direction::kIn);
  }
  return StepError("WRONG_ARGUMENTS", bound.span, step,
                   "a collection holds constants, not " + DescribeBound(bound));
}

StatusOr<Value> BindCollection(const parser::Argument& argument, const Parameters& parameters,
                               std::string_view step) {
  ValueList members;
  members.reserve(argument.items.size());
  for (const parser::Argument& item : argument.items) {
    ASSIGN_OR_RETURN(Value member, BindMember(item, parameters, step));
    members.push_back(std::move(member));
  }
  if (argument.kind == parser::Argument::Kind::kList) return Value::List(std::move(members));
  if (argument.kind == parser::Argument::Kind::kSet) return MakeSet(std::move(members));
  return parser::MapOf(std::move(members));
}

// What a bare word may have meant: a parameter, an enum's word or a step.
std::string NearestWord(std::string_view name, const Parameters& parameters) {
  if (name.size() == 1) return "";  // "v" is hardly V()
  std::vector<std::string> words;
  constexpr size_t kMostCompared = 100;
  for (const auto& [parameter, value] : parameters.by_name) {
    if (words.size() == kMostCompared) break;
    words.push_back(parameter);
  }
  for (const std::string_view word : parser::EnumWordsOf("")) words.emplace_back(word);
  const size_t num_words = words.size();
  for (const StepSpec& step : StepCatalogue()) words.emplace_back(step.name);
  const auto nearest = NearestName(name, words);
  if (!nearest.has_value()) return "";
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(num_words);
  return std::find(words.begin(), end, *nearest) != end ? *nearest : *nearest + "()";
}

StatusOr<PlanValue> BindParameter(const parser::Argument& argument, const Parameters& parameters,
                                  std::string_view step) {
  auto found = parameters.by_name.find(argument.name);
  if (found != parameters.by_name.end()) {
    if (parameters.named == nullptr || (*parameters.named)[argument.name]++ == 0) {
      return found->second;
    }
    *parameters.named_again_bytes += found->second.FlatBytes();
    const Status fits =
        CheckNamedAgain(*parameters.named_again_bytes, parameters.most_named_again_bytes);
    if (fits.ok()) return found->second;
    ErrorDetail where;
    where.span = argument.span;
    where.step = step;
    return WithDetail(fits, where);
  }
  const std::string nearest = NearestWord(argument.name, parameters);
  return StepError("UNKNOWN_PARAMETER", argument.span, step,
                   "no value was given for the parameter \"" + argument.name + "\"" +
                       (nearest.empty() ? "" : "; did you mean " + nearest + "?"),
                   "pass " + argument.name + " as a parameter, or quote it if it is text");
}

// Version 4, variant 1 (RFC 4122).
Uuid RandomUuid() {
  std::random_device random;
  const auto word = [&random] { return uint64_t{random()} << 32 | random(); };
  return {(word() & ~uint64_t{0xf000}) | 0x4000,
          (word() & ~(uint64_t{3} << 62)) | uint64_t{2} << 62};
}

}  // namespace

std::optional<Value> ValueOfWord(const Bound& bound) {
  Token token;
  if (bound.IsEnum("T") && TokenOf(bound.name, &token)) return Value::Of(token);
  if (!bound.IsEnum("Direction")) return std::nullopt;
  return Value::Of(bound.name == "OUT"  ? Direction::kOut
                   : bound.name == "IN" ? Direction::kIn
                                        : Direction::kBoth);
}

bool Bound::IsInteger() const {
  return kind == Kind::kValue && value.kind() >= ValueKind::kByte &&
         value.kind() <= ValueKind::kLong;
}

StatusOr<Bound> Bind(const parser::Argument& argument, const Parameters& parameters,
                     std::string_view step) {
  using Kind = parser::Argument::Kind;
  Bound bound;
  bound.span = argument.span;
  bound.qualifier = argument.qualifier;
  bound.name = argument.name;
  switch (argument.kind) {
    case Kind::kLiteral:
      bound.value = argument.literal;
      return bound;
    case Kind::kParameter: {
      ASSIGN_OR_RETURN(bound.value, BindParameter(argument, parameters, step));
      return bound;
    }
    case Kind::kList:
    case Kind::kSet:
    case Kind::kMap: {
      ASSIGN_OR_RETURN(bound.value, BindCollection(argument, parameters, step));
      return bound;
    }
    case Kind::kEnum:
      bound.kind = Bound::Kind::kEnum;
      break;
    case Kind::kPredicate:
      bound.kind = Bound::Kind::kPredicate;
      break;
    case Kind::kTraversal:
      bound.kind = Bound::Kind::kTraversal;
      bound.traversal = argument.traversal.get();
      return bound;
    case Kind::kStrategy:
    case Kind::kFunction:
      if (argument.name == "UUID" && argument.items.empty()) {
        bound.value = Value::Of(RandomUuid());
        if (parameters.drawn != nullptr) *parameters.drawn = true;
        return bound;
      }
      return NotThereYet(argument.span, step, argument.name + " is not there yet as an argument");
  }
  for (const parser::Argument& item : argument.items) {
    ASSIGN_OR_RETURN(Bound member, Bind(item, parameters, step));
    if (std::optional<Value> word = ValueOfWord(member)) {
      member.kind = Bound::Kind::kValue;
      member.value = *std::move(word);
    }
    bound.items.push_back(std::move(member));
  }
  return bound;
}

std::string DescribeBound(const Bound& bound) {
  switch (bound.kind) {
    case Bound::Kind::kValue:
      return "the " + std::string(KindName(bound.value.kind())) + " " + ConstantText(bound.value);
    case Bound::Kind::kEnum:
      return bound.qualifier + "." + bound.name;
    case Bound::Kind::kPredicate:
      return "the predicate " + bound.name;
    case Bound::Kind::kTraversal:
      return "a traversal";
  }
  return "";
}

std::string CallText(const parser::Call& call) { return parser::ToShortText(call, kMaxCallText); }

}  // namespace koios::planner
