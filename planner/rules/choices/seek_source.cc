// V().has('Person','email','x') seeks, where the store has an index: the source gives what may be
// sought, the filters stay and compare. Asked are the filters right behind the source: equality and
// within() of any number of keys of an index from its first on, then a range or a prefix of the
// next one. Of several indexes that one is taken which is expected to give the fewest vertices, and
// none where most vertices would be found one by one: a scan reads them faster.
#include "planner/rules/choices/seek_source.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "planner/cost/cost_model.h"
#include "planner/op_table.h"
#include "planner/rules/choices/order_shows.h"
#include "planner/rules/equals_property.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// More values than this are rather scanned for.
constexpr size_t kMaxSought = 1000;
// What a range is expected to leave: one with an end, and one with two or of a prefix.
constexpr double kShareOfHalfRange = 0.1;
constexpr double kShareOfRange = 0.01;

// Of fewer vertices the index is asked, however many of them it gives: either is quick.
constexpr double kWorthScanning = 1000;

struct Bound {
  plan::KeyBound::Op op;
  PlanValue value;
};
// What the filters ask of one property.
struct KeyTests {
  std::optional<PlanValues> any_of;  // the shortest list
  std::vector<Bound> bounds;
};
using Tests = std::map<std::string, KeyTests>;

void AddAnyOf(const std::string& key, PlanValues values, Tests* tests) {
  std::optional<PlanValues>& known = (*tests)[key].any_of;
  if (!known || values.size() < known->size()) known = std::move(values);
}

// The constants that a test of one property allows, and which property.
bool ConstantsOf(const Expression& test, std::string* key, PlanValues* values) {
  ExpressionPtr name, value;
  ValueList any_of;
  if (!EqualsProperty(test, &name, &value, &any_of)) return false;
  if (value != nullptr && value->kind != Expression::Kind::kConstant) return false;
  *key = name->constant.AsString();
  *values =
      value == nullptr ? PlanValues(any_of.begin(), any_of.end()) : PlanValues{value->constant};
  return true;
}

// eq('a').or(eq('b')) is as within('a', 'b').
void AddAlternatives(const Expression& either, Tests* tests) {
  std::string common;
  PlanValues all;
  for (const ExpressionPtr& part : either.args) {
    std::string key;
    PlanValues values;
    if (!ConstantsOf(*part, &key, &values)) return;
    if (part != either.args.front() && key != common) return;
    common = std::move(key);
    all.insert(all.end(), values.begin(), values.end());
  }
  if (!either.args.empty()) AddAnyOf(common, std::move(all), tests);
}

void AddBound(const Expression& test, Tests* tests) {
  if (test.args.size() != 2 || test.args[1]->kind != Expression::Kind::kConstant) return;
  const Expression& left = *test.args[0];
  if (!IsCall(left, "property") || !IsCurrent(*left.args[0])) return;
  plan::KeyBound::Op op = plan::KeyBound::GREATER;
  if (IsCall(test, "gte")) {
    op = plan::KeyBound::AT_LEAST;
  } else if (IsCall(test, "lt")) {
    op = plan::KeyBound::LESS;
  } else if (IsCall(test, "lte")) {
    op = plan::KeyBound::AT_MOST;
  } else if (IsCall(test, "startingWith")) {
    op = plan::KeyBound::STARTS_WITH;
  } else if (!IsCall(test, "gt")) {
    return;
  }
  (*tests)[left.args[1]->constant.AsString()].bounds.push_back({op, test.args[1]->constant});
}

void AddTests(const Expression& test, Tests* tests) {
  std::string key;
  PlanValues values;
  if (IsCall(test, "and")) {
    for (const ExpressionPtr& part : test.args) AddTests(*part, tests);
  } else if (IsCall(test, "or")) {
    AddAlternatives(test, tests);
  } else if (ConstantsOf(test, &key, &values)) {
    AddAnyOf(key, std::move(values), tests);
  } else {
    AddBound(test, tests);
  }
}

bool IsUpper(const Bound& bound) {
  return bound.op == plan::KeyBound::LESS || bound.op == plan::KeyBound::AT_MOST;
}

// `property`: null when it is not known.
double ShareOf(const std::vector<Bound>& bounds, const PropertyStatistics* property) {
  const Bound *low = nullptr, *high = nullptr;
  bool prefix = false;
  for (const Bound& bound : bounds) {
    prefix = prefix || bound.op == plan::KeyBound::STARTS_WITH;
    (IsUpper(bound) ? high : low) = &bound;
  }
  if (property != nullptr && property->has_range && !prefix) {
    return ShareOfRange(*property, low == nullptr ? nullptr : &low->value,
                        high == nullptr ? nullptr : &high->value);
  }
  return prefix || (low != nullptr && high != nullptr) ? kShareOfRange : kShareOfHalfRange;
}

const PropertyStatistics* FindProperty(const GraphStatistics* statistics, LabelId label,
                                       KeyId key) {
  if (statistics == nullptr) return nullptr;
  const auto found = statistics->vertex_properties.find({label, key});
  return found == statistics->vertex_properties.end() ? nullptr : &found->second;
}

// What is asked of the keys of an index from the first on: of some one of so many values, then of
// one a range.
struct Asked {
  std::vector<size_t> any_of;
  const std::vector<Bound>* bounds = nullptr;
};

// The share of the label's vertices that an index is expected to give. With d different entries of
// n keys, equality of one key is expected to leave one of the n-th root of d, unless more is known.
double ShareOf(const GraphStatistics* statistics, const VertexIndex& index, const Asked& asked,
               double vertices) {
  const size_t equal = asked.any_of.size();
  double values = 1, of_keys = 1;
  bool known = true;
  for (size_t i = 0; i < equal; ++i) {
    values *= static_cast<double>(asked.any_of[i]);
    const PropertyStatistics* property = FindProperty(statistics, index.label, index.keys[i]);
    known = known && property != nullptr;
    if (property != nullptr) of_keys /= std::max(property->distinct, 1.0);
  }
  const double distinct = index.distinct > 0 ? static_cast<double>(index.distinct) : vertices;
  const bool counted = index.distinct > 0 && equal == index.keys.size();
  const double one =
      known && !counted
          ? of_keys
          : 1 / std::pow(std::max(distinct, 1.0),
                         static_cast<double>(equal) / static_cast<double>(index.keys.size()));
  const double share = std::min(1.0, values * one);
  if (asked.bounds == nullptr) return share;
  return share * ShareOf(*asked.bounds, FindProperty(statistics, index.label, index.keys[equal]));
}

// What an index of these keys can do.
std::optional<SeekChoice> SeekOf(const Schema& schema, const GraphStatistics* statistics,
                                 std::span<const LabelId> labels, const std::vector<KeyId>& keys,
                                 const Tests& tests) {
  const auto indexes = schema.ReadyIndexes(labels, keys);
  if (!indexes) return std::nullopt;
  SeekChoice choice;
  Asked of_keys;
  size_t values = 1;
  for (const KeyId key : keys) {
    const auto asked = tests.find(schema.keys.Name(key));
    if (asked == tests.end()) break;
    const auto& [any_of, bounds] = asked->second;
    if (any_of && values * any_of->size() <= kMaxSought) {
      plan::SoughtKey* sought = choice.seek.add_sought();
      for (const PlanValue& value : *any_of) sought->add_any_of(Encoded(value));
      values *= any_of->size();
      of_keys.any_of.push_back(any_of->size());
      continue;
    }
    if (bounds.empty()) break;
    plan::SoughtKey* sought = choice.seek.add_sought();
    for (const Bound& bound : bounds) {
      plan::KeyBound* to = sought->add_bounds();
      to->set_op(bound.op);
      to->set_value(Encoded(bound.value));
    }
    of_keys.bounds = &bounds;
    break;
  }
  if (choice.seek.sought_size() == 0) return std::nullopt;
  for (const KeyId key : keys) choice.seek.add_keys(schema.keys.Name(key));
  for (const IndexId id : *indexes) {
    const VertexIndex& index = schema.vertex_indexes.at(id);
    const uint64_t count = schema.vertex_counts.Count(index.label);
    const double vertices = count == 0 ? 1 : static_cast<double>(count);
    choice.rows += vertices * ShareOf(statistics, index, of_keys, vertices);
  }
  return choice;
}

std::optional<SeekChoice> BestOf(const Source& source, bool by_statistics, const Tests& tests) {
  const Schema* indexes = source.graph.Indexes(source.labels);
  if (indexes == nullptr) return std::nullopt;
  const GraphStatistics* statistics = by_statistics ? source.graph.statistics() : nullptr;
  // What all labels are, and which of several indexes is the best, counts tell.
  const Schema& schema = source.labels.empty() ? *source.graph.schema() : *indexes;
  std::vector<LabelId> labels;
  for (const std::string& name : source.labels) {
    if (const LabelId label = schema.labels.Find(name); label != kNoName) labels.push_back(label);
  }
  if (labels.empty() && !source.labels.empty()) return std::nullopt;
  // Shorter lists of keys first: of equals the first is taken.
  std::set<std::pair<size_t, std::vector<KeyId>>> lists;
  for (const auto& [id, index] : schema.vertex_indexes) {
    if (index.ready) lists.insert({index.keys.size(), index.keys});
  }
  std::optional<SeekChoice> best;
  for (const auto& [size, keys] : lists) {
    std::optional<SeekChoice> one = SeekOf(schema, statistics, labels, keys, tests);
    if (one && best) source.graph.LookAtAll();
    if (one && (!best || one->rows < best->rows)) best = std::move(one);
  }
  return best;
}

// Whether finding that many one by one is more work than looking at all. Only where it is known
// that scans are fast, as there is a snapshot.
bool IsDearerThanScan(const Source& source, const SeekChoice& choice) {
  if (!source.graph.knows_statistics()) return false;
  const Estimates estimates(source.graph);
  const double all = estimates.Scan(/*of_vertices=*/true, source.labels).rows;
  return all >= kWorthScanning && choice.rows * kWorkOfSeek > all;
}

// What the index gives, about: as the counts say, when they were `asked`, else a vertex for each
// value.
uint64_t ExpectedOf(const Source& source, bool asked) {
  if (asked && source.graph.knows_statistics()) {
    constexpr double kMost = 1e18;
    return static_cast<uint64_t>(std::clamp(source.sought_rows, 1.0, kMost));
  }
  uint64_t values = 1;
  for (const plan::SoughtKey& key : source.seek->sought()) {
    if (key.bounds_size() > 0) return 0;
    values *= static_cast<uint64_t>(key.any_of_size());  // kMaxSought in all
  }
  return values;
}

}  // namespace

std::optional<SeekChoice> BestSeek(const Chain& chain, size_t at, bool by_statistics) {
  const Source* source = As<Source>(chain.ops[at]);
  if (source == nullptr || source->element != plan::VERTEX || source->ids) return std::nullopt;
  if (source->graph.Indexes(source->labels) == nullptr) return std::nullopt;
  Tests tests;
  for (size_t k = at + 1; k < chain.ops.size(); ++k) {
    const Filter* filter = As<Filter>(chain.ops[k]);
    if (filter == nullptr || !IsPure(*filter->predicate)) break;
    AddTests(*filter->predicate, &tests);
  }
  return BestOf(*source, by_statistics, tests);
}

bool SeekSource(Chain* root) {
  // Where the order in which vertices come may show, it does not depend on estimates.
  const bool is_free = !root->ops.empty() && !ChangesGraph(*root) && !OrderShows(*root, 0);
  return ForEachChain(root, [root, is_free](Chain* chain) {
    bool changed = false;
    for (size_t i = 0; i < chain->ops.size(); ++i) {
      Source* source = As<Source>(&chain->ops[i]);
      const bool chooses = is_free && chain == root && i == 0;
      std::optional<SeekChoice> best = BestSeek(*chain, i, chooses);
      if (!best || (chooses && IsDearerThanScan(*source, *best))) continue;
      source->seek = std::move(best->seek);
      source->sought_rows = best->rows;
      source->expected = ExpectedOf(*source, chooses);
      changed = true;
    }
    return changed;
  });
}

}  // namespace koios::planner
