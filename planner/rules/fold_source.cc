// V().hasLabel('person') scans one label; V().hasId(1) looks up.
#include "planner/rules/fold_source.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// The constants that function(_) is compared with by eq or within; nullopt: something else.
std::optional<ValueList> WantedOf(const Expression& test, plan::FunctionRef function) {
  if (test.args.size() != 2 || !IsCall(*test.args[0], function) ||
      !IsCurrent(*test.args[0]->args[0]) || test.args[1]->kind != Expression::Kind::kConstant) {
    return std::nullopt;
  }
  const Value& constant = test.args[1]->constant;
  if (IsCall(test, "eq")) return ValueList{constant};
  if (IsCall(test, "within")) return constant.AsList();
  return std::nullopt;
}

std::optional<std::vector<std::string>> LabelsOfTest(const Expression& test) {
  std::vector<std::string> labels;
  if (IsCall(test, "label_in") && IsCurrent(*test.args[0])) {
    for (size_t i = 1; i < test.args.size(); ++i) {
      labels.push_back(test.args[i]->constant.AsString());
    }
    return labels;
  }
  std::optional<ValueList> wanted = WantedOf(test, "label");
  if (!wanted || wanted->empty()) return std::nullopt;
  for (const Value& value : *wanted) {
    if (value.kind() != ValueKind::kString) return std::nullopt;
    labels.push_back(value.AsString());
  }
  return labels;
}

std::optional<ValueList> IdsOf(const Expression& test) {
  if (!IsCall(test, "has_id") || !IsCurrent(*test.args[0])) return std::nullopt;
  ValueList ids;
  absl::flat_hash_set<int64_t> integers;
  absl::flat_hash_set<std::string> texts;
  for (const Value& id : test.args[1]->constant.AsList()) {
    const bool integer = id.kind() >= ValueKind::kByte && id.kind() <= ValueKind::kLong;
    if (!integer && id.kind() != ValueKind::kString) return std::nullopt;
    const bool fresh =
        integer ? integers.insert(id.AsInteger()).second : texts.insert(id.AsString()).second;
    if (fresh) ids.push_back(id);
  }
  return ids;
}

bool Fold(const Filter& filter, Source* source) {
  if (std::optional<ValueList> ids = IdsOf(*filter.predicate)) {
    if (source->ids) return false;
    source->ids.emplace(ids->begin(), ids->end());
    return true;
  }
  std::optional<std::vector<std::string>> labels = LabelsOfTest(*filter.predicate);
  if (!labels) return false;
  if (source->labels.empty()) {
    source->labels = std::move(*labels);
    return true;
  }
  std::erase_if(*labels, [source](const std::string& label) {
    return std::find(source->labels.begin(), source->labels.end(), label) == source->labels.end();
  });
  if (labels->empty()) return false;
  source->labels = std::move(*labels);
  return true;
}

}  // namespace

bool IsSourceFilter(const Filter& filter) {
  return IdsOf(*filter.predicate).has_value() || LabelsOfTest(*filter.predicate).has_value();
}

bool FoldSource(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (size_t i = 0; i + 1 < chain->ops.size();) {
      Source* source = As<Source>(&chain->ops[i]);
      const Filter* filter = As<Filter>(chain->ops[i + 1]);
      if (source == nullptr || filter == nullptr || !Fold(*filter, source)) {
        ++i;
        continue;
      }
      chain->ops[i].step += "." + chain->ops[i + 1].step;
      chain->ops.erase(chain->ops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      changed = true;
    }
    return changed;
  });
}

}  // namespace koios::planner
