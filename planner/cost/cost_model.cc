#include "planner/cost/cost_model.h"

#include <algorithm>
#include <cmath>

namespace koios::planner {
namespace {

using Policy = plan::ScopeExit;

// Work, for a row each.
constexpr double kScan = 1;
constexpr double kSeek = kWorkOfSeek;
constexpr double kLookup = 10;
constexpr double kExpand = 5;
constexpr double kRemember = 5;  // in a set or a group, or look up there
constexpr double kEnter = 10;    // a local child
// What a list or map has inside.
constexpr double kMembers = 3;

Direction DirectionOf(plan::Direction direction) {
  if (direction == plan::OUT) return Direction::kOut;
  return direction == plan::IN ? Direction::kIn : Direction::kBoth;
}

class Passing {
 public:
  Passing(const Estimates& estimates, std::span<const Passed> children, Stream* stream)
      : estimates_(estimates), children_(children), stream_(*stream) {}

  double operator()(const Source& op) {
    const double work = Begin(op, {});
    if (op.counted || !op.value_key.empty()) Become(Stream::Kind::kOther, stream_.rows);
    return work;
  }
  double operator()(const Inject& op) {
    const double before = stream_.rows;
    Become(Stream::Kind::kOther, before + static_cast<double>(op.values.size()));
    return stream_.rows;
  }
  double operator()(const Expand& op) {
    const Direction direction = DirectionOf(op.direction);
    const double before = stream_.rows;
    if (op.to == plan::Expand::DEGREE) {
      Become(Stream::Kind::kOther, before);
      return before * kExpand;
    }
    if (op.to == plan::Expand::ARRIVALS) {
      const double ends = estimates_.Ends(stream_, direction, op.labels, false).rows;
      if (before > 0) stream_.Scale(ends / before);
      return before * kExpand;
    }
    stream_ = estimates_.Ends(stream_, direction, op.labels, op.to == plan::Expand::NEIGHBOUR);
    const double work = before * kExpand + stream_.rows;
    if (!op.neighbour_labels.empty()) estimates_.Filter(*HasLabel(op.neighbour_labels), &stream_);
    return work;
  }
  double operator()(const EdgeEnd& op) {
    // Of the other end nothing tells which one it is: labels of both are possible.
    const double rows = stream_.rows * (op.end == plan::EdgeEnd::BOTH_VERTICES ? 2 : 1);
    stream_ = estimates_.EndsOf(stream_, op.end == plan::EdgeEnd::OUT_VERTEX  ? Direction::kOut
                                         : op.end == plan::EdgeEnd::IN_VERTEX ? Direction::kIn
                                                                              : Direction::kBoth);
    if (stream_.rows > 0) stream_.Scale(rows / stream_.rows);
    return rows;
  }
  double operator()(const Fetch& op) {
    const double keys = op.keys.empty() ? kMembers : static_cast<double>(op.keys.size());
    Become(Stream::Kind::kOther, stream_.rows * keys);
    return stream_.rows * 4;
  }
  double operator()(const Filter& op) {
    const double work = stream_.rows * (1 + WorkOf(*op.predicate));
    const double before = stream_.rows;
    if (stream_.sought < 1) {
      stream_.Scale(stream_.NotSought(estimates_.ShareOf(*op.predicate, stream_)));
    } else {
      estimates_.Filter(*op.predicate, &stream_);
    }
    if (!(stream_.rows >= 0)) stream_.rows = before;
    return work;
  }
  double operator()(const Project& op) {
    const double work = stream_.rows * (1 + WorkOf(*op.value));
    if (op.target.empty()) Become(Stream::Kind::kOther, stream_.rows);
    return work;
  }
  double operator()(const Unfold&) {
    Become(Stream::Kind::kOther, stream_.rows * kMembers);
    return stream_.rows;
  }
  double operator()(const Lookup& op) {
    const double rows = stream_.rows;
    Become(op.element == plan::VERTEX ? Stream::Kind::kVertices : Stream::Kind::kOther, rows);
    return rows * kLookup;
  }
  double operator()(const Merge&) { return stream_.rows; }
  double operator()(const Limit& op) {
    return op.high < 0 ? stream_.rows : Keep(static_cast<double>(op.high - op.low));
  }
  double operator()(const TimeLimit&) { return stream_.rows; }
  double operator()(const Tail& op) { return Keep(static_cast<double>(op.count)); }
  double operator()(const Sample& op) { return Keep(static_cast<double>(op.count)); }
  double operator()(const Order& op) {
    const double work = stream_.rows * (1 + std::log2(1 + stream_.rows));
    if (op.limit > 0) Keep(static_cast<double>(op.limit));
    return work;
  }
  double operator()(const Barrier&) { return stream_.rows; }
  double operator()(const Coin& op) {
    const double work = stream_.rows;
    stream_.Scale(op.probability);
    return work;
  }
  double operator()(const Dedup&) {
    const double work = stream_.rows * kRemember;
    if (stream_.kind == Stream::Kind::kVertices) Keep(estimates_.AllVertices());
    return work;
  }
  double operator()(const Reduce&) {
    const double work = stream_.rows;
    Become(Stream::Kind::kOther, 1);
    return work;
  }
  double operator()(const Group& op) {
    const double work = stream_.rows * kRemember;
    if (op.side_effect.empty()) Become(Stream::Kind::kOther, op.rows ? stream_.rows : 1);
    return work;
  }
  double operator()(const Aggregate&) { return stream_.rows * kRemember; }
  double operator()(const Cap& op) {
    const double work = stream_.rows;
    Become(Stream::Kind::kOther, op.rows ? stream_.rows : 1);
    return work;
  }
  double operator()(const Mutate&) { return stream_.rows * 100; }
  double operator()(const Scope& op) {
    const double before = stream_.rows;
    double work = kEnter;
    for (const Passed& body : children_) work += body.work;
    switch (op.policy) {
      case Policy::EXISTS:
      case Policy::NONE: {
        const double share = ShareThatGive(children_[0]);
        stream_.Scale(op.policy == Policy::NONE ? 1 - share : share);
        stream_.known = stream_.known && children_[0].behind.known;
        break;
      }
      case Policy::ALL:
      case Policy::OPTIONAL:
        stream_ = children_[0].behind;
        if (op.policy == Policy::OPTIONAL) stream_.rows = std::max(stream_.rows, 1.0);
        stream_.Scale(before);
        break;
      default:
        if (op.target.empty() && op.policy == Policy::FIRST) {
          Become(children_[0].behind.kind, before);
        }
        break;
    }
    return before * work;
  }
  double operator()(const Split&) {
    const double before = stream_.rows;
    double work = before, rows = 0;
    Stream behind = children_.empty() ? stream_ : children_[0].behind;
    for (const Passed& branch : children_) {
      work += branch.work;
      rows += branch.behind.rows;
      behind.known = behind.known && branch.behind.known;
      if (branch.behind.kind != behind.kind) behind.kind = Stream::Kind::kOther;
    }
    if (children_.size() > 1) behind.by_label.clear();
    behind.rows = rows;
    stream_ = std::move(behind);
    return work;
  }
  double operator()(const Loop&) {
    double work = stream_.rows;
    for (const Passed& part : children_) work += part.work;
    stream_.by_label.clear();
    stream_.known = false;  // how often it goes round
    return work;
  }
  double operator()(const Reach& op) {
    const double before = stream_.rows;
    Stream there = OneOf(stream_);
    Passing from_row(estimates_, {}, &there);
    const double forwards = from_row.Walk(op.hops) + from_row.BeAt(op.ends);
    Stream back;
    const double backwards = Passing(estimates_, {}, &back).WalkBack(op.hops, op.ends);
    // Of ends that all rows have in common each side does as much work as the other one has done.
    const double walking = op.ends.name.empty() ? 2 * std::min(before * forwards, backwards)
                                                : before * std::min(forwards, backwards);
    const double share = ShareThatGive({there, forwards});
    const bool known = stream_.known && there.known;
    if (op.result == plan::Reach::COUNT) {
      stream_ = std::move(there);
      stream_.Scale(before);
    } else if (op.result == plan::Reach::NUMBER) {
      Become(Stream::Kind::kOther, before);
    } else if (op.result != plan::Reach::FLAG) {
      stream_.Scale(op.result == plan::Reach::STOP ? 1 - share : share);
    }
    stream_.known = known;
    return before * kRemember + walking;
  }
  // Two sides that have met about the root of all vertices each have met each other. That there is
  // a way is likely.
  double operator()(const ShortestPath& op) {
    const double before = stream_.rows;
    Stream end;
    const double finding = Passing(estimates_, {}, &end).BeginAt(op.ends);
    Become(op.gives_path ? Stream::Kind::kOther : Stream::Kind::kVertices, before);
    return before * (finding + 2 * kRemember * std::sqrt(estimates_.AllVertices()));
  }

 private:
  double Begin(const Source& op, const std::vector<std::string>& keys) {
    const double times = stream_.rows;
    const bool known = stream_.known;
    stream_ = estimates_.Scan(op.element == plan::VERTEX, op.labels, keys);
    stream_.known = stream_.known && known;
    const double all = stream_.rows;
    double picked = all, work = all * kScan;
    if (op.ids) {
      picked = static_cast<double>(op.ids->size());
      work = picked * kLookup;
    } else if (op.seek) {
      picked = std::min(op.sought_rows, all);
      work = kLookup + picked * kSeek;
    }
    if (all > 0) stream_.Scale(picked / all);
    if (all > 0 && op.seek) stream_.sought = picked / all;
    stream_.rows = picked;
    stream_.Scale(times);
    return work * times;
  }
  double KeepWhere(const ExpressionPtr& filter) {
    return filter == nullptr ? 0 : (*this)(Filter{filter});
  }
  double Walk(const Hop& hop, plan::Direction direction) {
    const double work = (*this)(Expand{direction, hop.labels});
    if (!hop.repeats) return work;
    stream_.by_label.clear();
    stream_.known = false;
    return work;
  }
  double Walk(const std::vector<Hop>& hops) {
    double work = 0;
    for (const Hop& hop : hops) work += Walk(hop, hop.direction) + KeepWhere(hop.filter);
    return work;
  }
  // Keeps who is at an end.
  double BeAt(const WalkEnds& ends) {
    const double work =
        ends.name.empty() ? 0 : (*this)(Filter{CallOf("eq", {Current(), Named(ends.name)})});
    return work + KeepWhere(ends.filter);
  }
  // From nothing to all ends that a row has.
  double BeginAt(const WalkEnds& ends) {
    if (!ends.name.empty()) {
      Become(Stream::Kind::kVertices, 1);
      return 0;
    }
    Source source = ends.scan;
    source.ids = ends.ids;
    const double work = Begin(source, ends.keys);
    return ends.ids ? work : work + KeepWhere(ends.filter);
  }
  double WalkBack(const std::vector<Hop>& hops, const WalkEnds& ends) {
    double work = BeginAt(ends);
    for (size_t i = hops.size(); i-- > 0;) {
      work += Walk(hops[i], Backwards(hops[i].direction));
      if (i > 0) work += KeepWhere(hops[i - 1].filter);
    }
    return work;
  }
  void Become(Stream::Kind kind, double rows) {
    Stream next;
    next.kind = kind;
    next.rows = rows;
    next.known = stream_.known;
    stream_ = std::move(next);
  }
  // At most so many rows; returns how many there were.
  double Keep(double most) {
    const double before = stream_.rows;
    if (before > most) stream_.Scale(std::max(most, 0.0) / before);
    return before;
  }

  const Estimates& estimates_;
  const std::span<const Passed> children_;
  Stream& stream_;
};

}  // namespace

double ShareThatGive(const Passed& body) { return -std::expm1(-std::max(body.behind.rows, 0.0)); }

CostModel::CostModel(const Chain& root) : CostModel(SourceOfAll(root)) {}

CostModel::CostModel(const Source& all) : estimates_(all.graph) {}

Stream CostModel::Entering(const Op& op, const Stream& before) const {
  Stream inside = As<Scope>(op) ? OneOf(before) : before;
  inside.sought = 1;
  if (const Split* split = As<Split>(op); split != nullptr && !split->tests.empty()) {
    inside.Scale(1 / static_cast<double>(split->branches.size()));
  }
  if (As<Loop>(op)) {
    inside.by_label.clear();
    inside.crossed = kNoName;
  }
  return inside;
}

double CostModel::Pass(const Op& op, std::span<const Passed> children, Stream* stream) const {
  return std::visit(Passing(estimates_, children, stream), op.body);
}

double CostModel::Pass(const Op& op, Stream* stream) const {
  const std::vector<Passed> children = PassChildren(op, *stream);
  return Pass(op, children, stream);
}

Passed CostModel::PassAll(const Chain& chain, Stream before) const {
  Passed passed{std::move(before), 0};
  for (const Op& op : chain.ops) passed.work += Pass(op, &passed.behind);
  return passed;
}

std::vector<Passed> CostModel::PassChildren(const Op& op, const Stream& before) const {
  std::vector<Passed> passed;
  const std::vector<Chain>* children = ChildrenOf(op);
  if (children == nullptr) return passed;
  for (const Chain& child : *children) passed.push_back(PassAll(child, Entering(op, before)));
  return passed;
}

}  // namespace koios::planner
