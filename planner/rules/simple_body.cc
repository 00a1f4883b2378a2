#include "planner/rules/simple_body.h"

#include <map>

#include "planner/value_type.h"

namespace koios::planner {
namespace {

// Inlining stops before expressions get large.
constexpr uint32_t kMaxInlineSize = 256;
constexpr uint32_t kMaxInlineDepth = 64;

ExpressionPtr DegreeOf(const ExpressionPtr& vertex, const Expand& expand) {
  std::vector<ExpressionPtr> args = {vertex, Constant(Value::Int(expand.direction))};
  for (const std::string& label : expand.labels) args.push_back(StringConstant(label));
  return CallOf("degree", std::move(args));
}

// Follows a body along: what the current value is by now, and what it had to pass.
class BodyFold {
 public:
  bool Run(const Chain& body, bool for_existence) {
    const std::vector<Op>& ops = body.ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      const Op* next = i + 1 < ops.size() ? &ops[i + 1] : nullptr;
      const Expand* expand = As<Expand>(ops[i]);
      if (expand != nullptr && next != nullptr && As<Reduce>(*next)) {
        if (!Count(*expand, *As<Reduce>(*next))) return false;
        ++i;
      } else if (expand != nullptr && for_existence && EndsWithExpansion(ops, i)) {
        return AnyEdge(*expand);
      } else if (!Step(ops[i], for_existence && next == nullptr)) {
        return false;
      }
      if (current_->size > kMaxInlineSize || current_->depth > kMaxInlineDepth) return false;
    }
    return conditions_.size() <= kMaxInlineDepth && !reads_lost_name_;
  }

  const ExpressionPtr& current() const { return current_; }
  bool has_conditions() const { return !conditions_.empty(); }

  ExpressionPtr Existence() const {
    std::vector<ExpressionPtr> all;
    if (!IsAlwaysThere(*current_, {}) && !ImpliesCurrent()) {
      all.push_back(CallOf("present", {current_}));
    }
    all.insert(all.end(), conditions_.begin(), conditions_.end());
    if (all.empty()) return Constant(Value::Bool(true));
    return all.size() == 1 ? all[0] : CallOf("and", std::move(all));
  }

 private:
  bool Step(const Op& op, bool last_of_existence) {
    if (const Project* project = As<Project>(op)) return Store(*project);
    if (const Filter* filter = As<Filter>(op)) {
      if (!IsPure(*filter->predicate) && !IsRequiredOfAll(*filter->predicate)) return false;
      conditions_.push_back(Resolve(filter->predicate));
      return conditions_.back()->size <= kMaxInlineSize;
    }
    if (const Fetch* fetch = As<Fetch>(op)) return Property(*fetch, last_of_existence);
    if (const Limit* limit = As<Limit>(op)) return limit->low == 0 && limit->high != 0;
    return false;
  }

  // An error of every row that enters: no condition has kept one out.
  bool IsRequiredOfAll(const Expression& test) const {
    return conditions_.empty() && IsCall(test, "require");
  }

  // What a reduction gives has no path and no names of the rows before it.
  void StartNewRow() {
    names_.clear();
    is_new_row_ = true;
  }

  // The expression in terms of the entering row.
  ExpressionPtr Resolve(const ExpressionPtr& expression) {
    return ReplaceLeaves(expression, [this](const ExpressionPtr& leaf) {
      if (IsCurrent(*leaf)) return current_;
      if (leaf->kind != Expression::Kind::kNamed) return leaf;
      auto stored = names_.find(leaf->name);
      if (stored != names_.end()) return stored->second;
      reads_lost_name_ = reads_lost_name_ || is_new_row_;
      return leaf;
    });
  }

  bool Store(const Project& project) {
    if (!IsPure(*project.value)) return false;
    ExpressionPtr value = Resolve(project.value);
    if (value->size > kMaxInlineSize || value->depth > kMaxInlineDepth) return false;
    if (project.target.empty()) {
      current_ = std::move(value);
      return true;
    }
    if (project.absent == plan::Project::NULL_VALUE) return false;
    if (project.absent == plan::Project::DROP_ROW && !IsAlwaysThere(*value, {}) &&
        !SameExpression(*value, *current_)) {
      conditions_.push_back(CallOf("present", {value}));
    }
    names_[project.target] = std::move(value);
    return true;
  }

  bool Property(const Fetch& fetch, bool last_of_existence) {
    if (fetch.keys.size() == 1 && !fetch.as_properties) {
      current_ = PropertyOf(current_, fetch.keys[0]);
      return true;
    }
    if (!last_of_existence || fetch.keys.empty()) return false;
    std::vector<ExpressionPtr> any;
    for (const std::string& key : fetch.keys) {
      any.push_back(CallOf("present", {PropertyOf(current_, key)}));
    }
    conditions_.push_back(any.size() == 1 ? any[0] : CallOf("or", std::move(any)));
    exists_by_conditions_ = true;
    return true;
  }

  // count() of nothing is 0, but a degree of nothing is absent: only of the entering row itself.
  bool Count(const Expand& expand, const Reduce& reduce) {
    if (reduce.function != plan::Reduce::COUNT || !IsCurrent(*current_) || !conditions_.empty()) {
      return false;
    }
    current_ = DegreeOf(current_, expand);
    StartNewRow();
    return true;
  }

  static bool EndsWithExpansion(const std::vector<Op>& ops, size_t i) {
    return i + 1 == ops.size() || (i + 2 == ops.size() && As<EdgeEnd>(ops[i + 1]));
  }

  bool AnyEdge(const Expand& expand) {
    conditions_.push_back(CallOf("gt", {DegreeOf(current_, expand), Constant(Value::Long(0))}));
    exists_by_conditions_ = true;
    return true;
  }

  // What is strict in the current value is absent with it.
  bool ImpliesCurrent() const {
    if (exists_by_conditions_) return true;
    for (const ExpressionPtr& condition : conditions_) {
      if (IsCallWith(*condition, plan::kStrict) && SameExpression(*condition->args[0], *current_)) {
        return true;
      }
    }
    return false;
  }

  ExpressionPtr current_ = Current();
  std::map<std::string, ExpressionPtr> names_;  // stored by the body
  std::vector<ExpressionPtr> conditions_;
  bool exists_by_conditions_ = false;
  bool is_new_row_ = false;
  bool reads_lost_name_ = false;
};

}  // namespace

ExpressionPtr SimpleValue(const Chain& body) {
  BodyFold fold;
  if (!fold.Run(body, false) || fold.has_conditions()) return nullptr;
  return fold.current();
}

ExpressionPtr SimpleExists(const Chain& body) {
  BodyFold fold;
  if (!fold.Run(body, true)) return nullptr;
  ExpressionPtr exists = fold.Existence();
  return exists->size <= kMaxExpressionSize / 4 ? exists : nullptr;
}

}  // namespace koios::planner
