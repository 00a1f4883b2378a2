#include "planner/steps/merge/merge_map.h"

#include <algorithm>

#include "core/value_compare.h"
#include "planner/plan_error.h"

namespace koios::planner {
namespace {

std::string TokenText(Token token) {
  return token == Token::kId      ? "id"
         : token == Token::kLabel ? "label"
         : token == Token::kKey   ? "key"
                                  : "value";
}

// As TinkerPop prints it in messages.
std::string TextOf(const Value& value) {
  if (value.kind() == ValueKind::kToken) return TokenText(value.AsToken());
  if (value.kind() == ValueKind::kString) return value.AsString();
  if (value.kind() == ValueKind::kDirection) {
    return value.AsDirection() == Direction::kOut  ? "OUT"
           : value.AsDirection() == Direction::kIn ? "IN"
                                                   : "BOTH";
  }
  return ConstantText(value);
}

std::string StepText(std::string_view step) { return std::string(step) + "()"; }

class MapCheck {
 public:
  MapCheck(std::string_view step, const SourceSpan& span) : step_(step), span_(span) {}

  Status CheckSet(const Value& key) const {
    if (key.kind() == ValueKind::kString) return CheckKey(key.AsString());
    return Wrong("option(onMatch) expects keys in Map to be of String - check: " + TextOf(key));
  }

  Status CheckFind(const Value& key, const Value& value) const {
    if (value.is_null() && key.kind() != ValueKind::kString) {
      return Wrong(StepText(step_) + " does not allow null Map values - check: " + TextOf(key));
    }
    const bool edge = step_ == "mergeE";
    if (key.kind() == ValueKind::kString) {
      RETURN_IF_ERROR(CheckKey(key.AsString()));
      return value.kind() == ValueKind::kDirection ? NoValue(key) : OkStatus();
    }
    if (key.kind() == ValueKind::kToken && key.AsToken() == Token::kLabel) return CheckLabel(value);
    if (key.kind() == ValueKind::kToken && key.AsToken() == Token::kId) {
      return value.is_collection() || value.kind() == ValueKind::kMap ? NoValue(key) : OkStatus();
    }
    const bool end = key.kind() == ValueKind::kDirection && key.AsDirection() != Direction::kBoth;
    if (edge && end) return CheckEnd(key, value);
    return Wrong(StepText(step_) +
                 " and option(onCreate) args expect keys in Map to be either String or " +
                 (edge ? "[id, label, IN, OUT]" : "[id, label]") + " - check: " + TextOf(key));
  }

 private:
  Status Wrong(const std::string& message) const {
    return StepError("WRONG_ARGUMENTS", span_, step_, message);
  }
  Status NoValue(const Value& key) const {
    return Wrong(StepText(step_) + " can't have this value - check: " + TextOf(key));
  }

  Status CheckKey(const std::string& key) const {
    if (key.empty()) return Wrong("Property key can not be the empty string");
    return key[0] == '~' ? Wrong("Property key can not be a hidden key: " + key) : OkStatus();
  }

  Status CheckLabel(const Value& label) const {
    if (label.kind() != ValueKind::kString) {
      return Wrong(StepText(step_) +
                   " and option(onCreate) args expect T.label value to be of String - found: " +
                   std::string(KindName(label.kind())));
    }
    const std::string& text = label.AsString();
    if (text.empty()) return Wrong("Label can not be empty");
    return text[0] == '~' ? Wrong("Label can not be a hidden key: " + text) : OkStatus();
  }

  Status CheckEnd(const Value& key, const Value& value) const {
    if (value.is_collection() || value.kind() == ValueKind::kMap) return NoValue(key);
    if (value.kind() != ValueKind::kDirection || value.AsDirection() == key.AsDirection()) {
      return OkStatus();
    }
    const bool out = key.AsDirection() == Direction::kOut;
    return Wrong(std::string("Only Merge.") + (out ? "outV" : "inV") +
                 " token may be used for Direction." + TextOf(key) +
                 ", found: " + (out ? "inV" : "outV"));
  }

  const std::string_view step_;
  const SourceSpan& span_;
};

}  // namespace

const Value* FindKey(const ValueMap& map, const Value& key) {
  const auto found = std::find_if(map.begin(), map.end(),
                                  [&key](const auto& entry) { return Equals(entry.first, key); });
  return found == map.end() ? nullptr : &found->second;
}

Status CheckMergeMap(const ValueMap& map, MergeUse use, std::string_view step,
                     const SourceSpan& span) {
  const MapCheck check(step, span);
  for (const auto& [key, value] : map) {
    RETURN_IF_ERROR(use == MergeUse::kSet ? check.CheckSet(key) : check.CheckFind(key, value));
  }
  return OkStatus();
}

StatusOr<ValueMap> JoinMergeMaps(const ValueMap& search, const ValueMap& create,
                                 const SourceSpan& span) {
  ValueMap joined = search;
  for (const auto& [key, value] : create) {
    const Value* searched = FindKey(search, key);
    if (searched == nullptr) {
      joined.emplace_back(key, value);
    } else if (!Equals(*searched, value)) {
      return StepError("WRONG_ARGUMENTS", span, "option",
                       "option(onCreate) cannot override values from merge() argument: (" +
                           TextOf(key) + ", " + TextOf(value) + ")");
    }
  }
  return joined;
}

ValueMap MergeMapOf(const Value& value) { return value.is_null() ? ValueMap{} : value.AsMap(); }

std::optional<ValueMap> ConstantMapOf(const Chain& child, bool at_seed) {
  const Project* project = child.ops.size() == 1 ? As<Project>(child.ops[0]) : nullptr;
  if (project == nullptr || !project->target.empty()) return std::nullopt;
  const Expression* value = project->value.get();
  // select('x') of a side-effect: a map's own entry goes first.
  if (at_seed && IsCall(*value, "first_of") && IsCall(*value->args[0], "map_get") &&
      IsCurrent(*value->args[0]->args[0])) {
    value = value->args[1].get();
  }
  if (value->kind != Expression::Kind::kConstant) return std::nullopt;
  const PlanValue& constant = value->constant;
  if (constant.kind() != ValueKind::kMap && !constant.is_null()) return std::nullopt;
  return MergeMapOf(constant);
}

}  // namespace koios::planner
