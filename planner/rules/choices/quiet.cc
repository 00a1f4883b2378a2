#include "planner/rules/choices/quiet.h"

#include <algorithm>

namespace koios::planner {

bool IsQuiet(const Expression& expression) {
  if (expression.kind != Expression::Kind::kCall) return true;
  constexpr uint32_t kTests =
      plan::kComparison | plan::kOrdering | plan::kTextTest | plan::kMembership;
  constexpr uint32_t kReads = plan::kReadsElement | plan::kReadsEdges;
  const bool listed = expression.function->Has(kTests | kReads) || IsCall(expression, "property") ||
                      IsCall(expression, "and") || IsCall(expression, "or") ||
                      IsCall(expression, "not") || IsCall(expression, "present") ||
                      IsCall(expression, "typeOf");
  return listed && expression.function->IsPure() &&
         std::all_of(expression.args.begin(), expression.args.end(),
                     [](const ExpressionPtr& arg) { return IsQuiet(*arg); });
}

}  // namespace koios::planner
