// V().has('Person','email','x') seeks, where the store has an index: the source gives what may be
// sought, the filters stay and compare. Asked are the filters right behind the source: equality and
// within() of any number of keys of an index from its first on, then a range or a prefix of the
// next one. Of several indexes that one is taken which is expected to give the fewest vertices.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/value_codec.h"
#include "planner/rules/equals_property.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// More values than this are rather scanned for.
constexpr size_t kMaxSought = 1000;
// What a range is expected to leave: one with an end, and one with two or of a prefix.
constexpr double kShareOfHalfRange = 0.1;
constexpr double kShareOfRange = 0.01;

struct Bound {
  plan::KeyBound::Op op;
  Value value;
};
// What the filters ask of one property.
struct KeyTests {
  std::optional<ValueList> any_of;  // the shortest list
  std::vector<Bound> bounds;
};
using Tests = std::map<std::string, KeyTests>;

void AddAnyOf(const std::string& key, ValueList values, Tests* tests) {
  std::optional<ValueList>& known = (*tests)[key].any_of;
  if (!known || values.size() < known->size()) known = std::move(values);
}

// The constants that a test of one property allows, and which property.
bool ConstantsOf(const Expression& test, std::string* key, ValueList* values) {
  ExpressionPtr name, value;
  ValueList any_of;
  if (!EqualsProperty(test, &name, &value, &any_of)) return false;
  if (value != nullptr && value->kind != Expression::Kind::kConstant) return false;
  *key = name->constant.AsString();
  *values = value == nullptr ? std::move(any_of) : ValueList{value->constant};
  return true;
}

// eq('a').or(eq('b')) is as within('a', 'b').
void AddAlternatives(const Expression& either, Tests* tests) {
  std::string common;
  ValueList all;
  for (const ExpressionPtr& part : either.args) {
    std::string key;
    ValueList values;
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
  ValueList values;
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

double ShareOf(const std::vector<Bound>& bounds) {
  bool low = false, high = false;
  for (const Bound& bound : bounds) {
    const bool prefix = bound.op == plan::KeyBound::STARTS_WITH;
    const bool below = bound.op == plan::KeyBound::LESS || bound.op == plan::KeyBound::AT_MOST;
    low = low || prefix || !below;
    high = high || prefix || below;
  }
  return low && high ? kShareOfRange : kShareOfHalfRange;
}

struct Candidate {
  plan::Seek seek;
  double expected = 0;  // vertices
};

// What an index of these keys can do. With d different entries of n keys, equality of one key is
// expected to leave one of the n-th root of d.
std::optional<Candidate> SeekOf(const Schema& schema, std::span<const LabelId> labels,
                                const std::vector<KeyId>& keys, const Tests& tests) {
  const auto indexes = schema.ReadyIndexes(labels, keys);
  if (!indexes) return std::nullopt;
  Candidate candidate;
  size_t values = 1, equal = 0;
  double share_of_bounds = 1;
  for (const KeyId key : keys) {
    const auto asked = tests.find(schema.keys.Name(key));
    if (asked == tests.end()) break;
    const auto& [any_of, bounds] = asked->second;
    if (any_of && values * any_of->size() <= kMaxSought) {
      plan::SoughtKey* sought = candidate.seek.add_sought();
      for (const Value& value : *any_of) sought->add_any_of(EncodeValue(value));
      values *= any_of->size();
      ++equal;
      continue;
    }
    if (bounds.empty()) break;
    plan::SoughtKey* sought = candidate.seek.add_sought();
    for (const Bound& bound : bounds) {
      plan::KeyBound* to = sought->add_bounds();
      to->set_op(bound.op);
      to->set_value(EncodeValue(bound.value));
    }
    share_of_bounds = ShareOf(bounds);
    break;
  }
  if (candidate.seek.sought_size() == 0) return std::nullopt;
  for (const KeyId key : keys) candidate.seek.add_keys(schema.keys.Name(key));
  for (const IndexId id : *indexes) {
    const VertexIndex& index = schema.vertex_indexes.at(id);
    const auto count = schema.vertex_counts.find(index.label);
    const double vertices =
        count == schema.vertex_counts.end() ? 1 : static_cast<double>(count->second);
    const double distinct = index.distinct > 0 ? static_cast<double>(index.distinct) : vertices;
    const double of_equal = std::pow(std::max(distinct, 1.0),
                                     static_cast<double>(equal) / static_cast<double>(keys.size()));
    const double share = std::min(1.0, static_cast<double>(values) / of_equal);
    candidate.expected += vertices * share * share_of_bounds;
  }
  return candidate;
}

std::optional<plan::Seek> BestSeek(const Source& source, const Tests& tests) {
  const Schema& schema = *source.schema;
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
  std::optional<Candidate> best;
  for (const auto& [size, keys] : lists) {
    std::optional<Candidate> one = SeekOf(schema, labels, keys, tests);
    if (one && (!best || one->expected < best->expected)) best = std::move(one);
  }
  if (!best) return std::nullopt;
  return std::move(best->seek);
}

}  // namespace

bool SeekSource(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (size_t i = 0; i < chain->ops.size(); ++i) {
      Source* source = As<Source>(&chain->ops[i]);
      if (source == nullptr || source->element != plan::VERTEX || source->ids) continue;
      if (source->schema == nullptr || source->schema->vertex_indexes.empty()) continue;
      Tests tests;
      for (size_t k = i + 1; k < chain->ops.size(); ++k) {
        const Filter* filter = As<Filter>(chain->ops[k]);
        if (filter == nullptr || !IsPure(*filter->predicate)) break;
        AddTests(*filter->predicate, &tests);
      }
      source->seek = BestSeek(*source, tests);
      changed = changed || source->seek.has_value();
    }
    return changed;
  });
}

}  // namespace koios::planner
