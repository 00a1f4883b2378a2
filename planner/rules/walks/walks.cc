#include "planner/rules/walks/walks.h"

#include <algorithm>

#include "planner/cost/estimates.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// So many vertices are looked through sooner than many rows are walked from.
constexpr double kFewVertices = 100'000;

bool HasNames(const Expression& expression) {
  std::set<std::string> names;
  CollectNames(expression, &names);
  return !names.empty();
}

// Follows a chain along.
class Parser {
 public:
  bool Take(const Chain& chain, size_t* at, size_t end) {
    const Op& op = chain.ops[*at];
    if (walk_.ends) return false;  // a Reach was the last
    if (const Expand* expand = As<Expand>(op)) {
      const Op* next = *at + 1 < end ? &chain.ops[*at + 1] : nullptr;
      if (expand->to == plan::Expand::INCIDENT) ++*at;
      return TakeExpand(*expand, next);
    }
    if (const Filter* filter = As<Filter>(op)) return TakeFilter(filter->predicate);
    if (const Fetch* fetch = As<Fetch>(op)) return TakeFetch(*fetch);
    if (const Loop* loop = As<Loop>(op)) return TakeLoop(*loop);
    if (const Reach* reach = As<Reach>(op)) return TakeReach(*reach);
    return false;
  }

  std::optional<ParsedWalk> End() {
    if (walk_.hops.empty() || (fetched_ && tests_of_fetched_ == 0)) return std::nullopt;
    walk_.end_filters = std::move(filters_);
    return std::move(walk_);
  }

 private:
  bool AddHop(Hop hop) {
    if (fetched_ || walk_.hops.size() == kMostHops) return false;
    if (!walk_.hops.empty()) {
      for (const ExpressionPtr& filter : filters_) {
        if (HasNames(*filter)) return false;
      }
      walk_.hops.back().filter = AllOf(filters_);
    }
    filters_.clear();
    walk_.hops.push_back(std::move(hop));
    return true;
  }

  bool TakeExpand(const Expand& expand, const Op* next) {
    Expand hop = expand;
    if (expand.to == plan::Expand::INCIDENT) {
      const EdgeEnd* end = next == nullptr ? nullptr : As<EdgeEnd>(*next);
      const bool passes =
          end != nullptr &&
          ((expand.direction == plan::OUT && end->end == plan::EdgeEnd::IN_VERTEX) ||
           (expand.direction == plan::IN && end->end == plan::EdgeEnd::OUT_VERTEX));
      if (!passes) return false;
      hop.to = plan::Expand::NEIGHBOUR;
    }
    std::optional<Hop> parsed = HopOf(hop);
    return parsed && AddHop(*std::move(parsed));
  }

  bool TakeFilter(const ExpressionPtr& test) {
    if (walk_.hops.empty() || !IsPure(*test)) return false;
    if (HasCallWith(*test, plan::kReadsIteration)) return false;
    if (!fetched_) {
      filters_.push_back(test);
      return true;
    }
    if (!IsStrict(*test)) return false;
    ++tests_of_fetched_;
    filters_.push_back(ReplaceCurrent(test, fetched_));
    return true;
  }

  // A property has one value: what is asked of it is asked of its vertex.
  bool TakeFetch(const Fetch& fetch) {
    if (walk_.hops.empty() || fetched_ || fetch.as_properties || fetch.keys.size() != 1)
      return false;
    fetched_ = PropertyOf(Current(), fetch.keys[0]);
    return true;
  }

  // emit().repeat(out()) and repeat(out()).emit(), without end.
  bool TakeLoop(const Loop& loop) {
    const bool emits_before = loop.before.emit != nullptr && IsTrue(*loop.before.emit);
    const bool emits_behind = loop.behind.emit != nullptr && IsTrue(*loop.behind.emit);
    if (emits_before == emits_behind || loop.before.until || loop.behind.until) return false;
    if ((emits_before ? loop.behind : loop.before).emit != nullptr) return false;
    if (!loop.parts[0].ops.empty() || !loop.parts[2].ops.empty()) return false;
    if (loop.parts[1].ops.size() != 1) return false;
    const Expand* expand = As<Expand>(loop.parts[1].ops[0]);
    std::optional<Hop> hop = expand == nullptr ? std::nullopt : HopOf(*expand);
    if (!hop) return false;
    if (emits_behind && !AddHop(*hop)) return false;
    if (walk_.hops.empty() || !filters_.empty()) return false;
    hop->repeats = true;
    return AddHop(*std::move(hop));
  }

  bool TakeReach(const Reach& reach) {
    if (reach.result != plan::Reach::PASS) return false;
    for (const Hop& hop : reach.hops) {
      if (hop.repeats && !filters_.empty()) return false;
      ExpressionPtr filter = hop.filter;
      if (!AddHop(hop)) return false;
      if (filter != nullptr) filters_.push_back(std::move(filter));
    }
    walk_.ends = reach.ends;
    return true;
  }

  ParsedWalk walk_;
  std::vector<ExpressionPtr> filters_;  // of the vertex where it stands
  ExpressionPtr fetched_;               // the property whose value is current
  size_t tests_of_fetched_ = 0;
};

// Parts that must all hold.
void AddParts(const ExpressionPtr& test, std::vector<ExpressionPtr>* parts) {
  if (!IsCall(*test, "and")) {
    parts->push_back(test);
    return;
  }
  for (const ExpressionPtr& part : test->args) AddParts(part, parts);
}

// x of eq(_, x).
const std::string* EqualName(const Expression& test) {
  if (!IsCall(test, "eq")) return nullptr;
  const Expression &a = *test.args[0], &b = *test.args[1];
  if (IsCurrent(a) && b.kind == Expression::Kind::kNamed) return &b.name;
  if (IsCurrent(b) && a.kind == Expression::Kind::kNamed) return &a.name;
  return nullptr;
}

// Properties without which a strict test does not hold.
void AddKeys(const Expression& test, std::vector<std::string>* keys) {
  if (IsCall(test, "property") && IsCurrent(*test.args[0])) {
    const Value* key = PropertyRead(test);
    if (key != nullptr && key->kind() == ValueKind::kString) keys->push_back(key->AsString());
    return;
  }
  for (const ExpressionPtr& arg : test.args) AddKeys(*arg, keys);
}

// What a source would make of the filters.
std::optional<WalkEnds> SoughtEnds(const std::vector<ExpressionPtr>& parts, const Source& all) {
  Chain chain;
  chain.ops.push_back({all, {}, ""});
  for (const ExpressionPtr& part : parts) chain.ops.push_back({Filter{part}, {}, ""});
  PushFilters(&chain);
  FoldSource(&chain);
  SeekSource(&chain);
  WalkEnds ends;
  ends.scan = *As<Source>(chain.ops[0]);
  ends.filter = AllOf(parts);
  if (ends.scan.ids) {
    ends.ids = std::move(ends.scan.ids);
    ends.scan = Source();
    return ends;
  }
  if (!all.graph.knows_schema()) return std::nullopt;
  for (const ExpressionPtr& part : parts) {
    if (IsStrict(*part)) AddKeys(*part, &ends.keys);
  }
  std::sort(ends.keys.begin(), ends.keys.end());
  ends.keys.erase(std::unique(ends.keys.begin(), ends.keys.end()), ends.keys.end());
  if (ends.keys.empty() && ends.scan.labels.empty()) return std::nullopt;
  const double vertices = Estimates(all.graph).Scan(true, ends.scan.labels, ends.keys).rows;
  if (vertices == 0 || (!ends.scan.seek && vertices > kFewVertices)) return std::nullopt;
  return ends;
}

}  // namespace

bool IsVertexFilter(const Expression& test) {
  return IsPure(test) && !HasNames(test) && !HasCallWith(test, plan::kReadsIteration);
}

ExpressionPtr AllOf(const std::vector<ExpressionPtr>& tests) {
  if (tests.empty()) return nullptr;
  return tests.size() == 1 ? tests[0] : CallOf("and", tests);
}

std::optional<Hop> HopOf(const Expand& expand) {
  if (expand.to != plan::Expand::NEIGHBOUR) return std::nullopt;
  Hop hop;
  hop.direction = expand.direction;
  hop.labels = expand.labels;
  return hop;
}

std::optional<ParsedWalk> WalkOf(const Chain& chain, size_t begin, size_t end) {
  Parser parser;
  for (size_t at = begin; at < end; ++at) {
    if (!parser.Take(chain, &at, end)) return std::nullopt;
  }
  return parser.End();
}

std::optional<WalkEnds> EndsOf(const std::vector<ExpressionPtr>& filters, const Source& all) {
  std::vector<ExpressionPtr> parts;
  for (const ExpressionPtr& filter : filters) AddParts(filter, &parts);
  std::string name;
  for (auto part = parts.begin(); part != parts.end(); ++part) {
    const std::string* equal = EqualName(**part);
    if (equal == nullptr) continue;
    name = *equal;
    parts.erase(part);
    break;
  }
  if (!std::all_of(parts.begin(), parts.end(),
                   [](const ExpressionPtr& part) { return IsVertexFilter(*part); })) {
    return std::nullopt;
  }
  if (name.empty()) return parts.empty() ? std::nullopt : SoughtEnds(parts, all);
  WalkEnds ends;
  ends.name = std::move(name);
  ends.filter = AllOf(parts);
  return ends;
}

}  // namespace koios::planner
