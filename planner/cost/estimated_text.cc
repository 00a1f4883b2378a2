#include "planner/cost/estimated_text.h"

#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "planner/cost/cost_model.h"

namespace koios::planner {
namespace {

// Two digits are more than is known.
std::string RowsText(double rows) {
  if (rows >= 1e15) return "1e15 or more";
  if (rows < 10) return absl::StrCat(std::round(rows * 10) / 10);
  const double digits = std::pow(10, std::floor(std::log10(rows)) - 1);
  return absl::StrCat(static_cast<int64_t>(std::round(rows / digits) * digits));
}

class Noting {
 public:
  explicit Noting(const Chain& root) : model_(root) {}

  Passed Run(const Chain& chain, Stream before) {
    Passed passed{std::move(before), 0};
    for (const Op& op : chain.ops) {
      std::vector<Passed> children;
      if (const std::vector<Chain>* chains = ChildrenOf(op)) {
        const Stream entering = model_.Entering(op, passed.behind);
        for (const Chain& child : *chains) children.push_back(Run(child, entering));
      }
      passed.work += model_.Pass(op, children, &passed.behind);
      if (passed.behind.known) notes_[&op] = "  ~" + RowsText(passed.behind.rows);
    }
    return passed;
  }

  std::string operator()(const Op& op) const {
    const auto found = notes_.find(&op);
    return found == notes_.end() ? "" : found->second;
  }

 private:
  const CostModel model_;
  std::map<const Op*, std::string> notes_;
};

}  // namespace

std::string EstimatedText(const Chain& root, int indent) {
  Noting noting(root);
  noting.Run(root, Stream());
  return ChainText(root, indent, [&noting](const Op& op) { return noting(op); });
}

}  // namespace koios::planner
