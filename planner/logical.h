// The logical traversal: a chain of operations of a small closed set, built from the steps by the
// catalogue's build functions, rewritten by the rules, lowered to the physical plan.
// Child traversals are chains inside Scope (local: one instance per row) and Split (global).
// Values are stored under names: as() labels, and names beginning with "~" that only the planner
// makes. The empty name is the current value.
// Nesting follows the nesting of the text (parser::kMaxNesting), so passes may recurse over chains.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/status.h"
#include "core/value.h"
#include "planner/expression.h"
#include "planner/graph_look.h"
#include "proto/plan.pb.h"

namespace koios::planner {

struct Chain;

struct Expand {
  plan::Direction direction = plan::OUT;
  std::vector<std::string> labels;
  plan::Expand::To to = plan::Expand::NEIGHBOUR;
  std::string other_than = {};  // DEGREE: of ends that are not the vertex stored there
  std::vector<std::string> neighbour_labels = {};  // NEIGHBOUR: of those that have one; empty: all
  uint64_t most = 0;  // NEIGHBOUR, INCIDENT: of each so many ends, the first; 0: all
};
struct Source {
  plan::ElementKind element = plan::VERTEX;
  std::vector<std::string> labels;  // empty: all
  std::optional<PlanValues> ids;    // look these up instead of scanning
  std::optional<plan::Seek> seek;   // of an index: a filter that compares is behind
  double sought_rows = 0;           // about, with `seek`; for whoever has looked at the counts
  uint64_t expected = 0;            // the same, where that was looked at; 0: nothing is known
  std::optional<Expand> counted;    // longs that add up to these ends of the vertices
  std::string value_key;            // what vertices have of it, equal values with a bulk
  GraphLook graph;                  // as of the view
};
// The current value is a user's id, and becomes the element of that id; or the row goes.
struct Lookup {
  plan::ElementKind element = plan::VERTEX;
};
struct Inject {
  PlanValues values;
};
struct EdgeEnd {
  plan::EdgeEnd::End end = plan::EdgeEnd::OUT_VERTEX;
};
struct Fetch {
  std::vector<std::string> keys;
  bool as_properties = false;
};
struct Filter {
  ExpressionPtr predicate;
};
struct Project {
  ExpressionPtr value;
  std::string target;
  plan::Project::Absent absent = plan::Project::DROP_ROW;
};
struct Unfold {};
// Equal rows become one, their bulks added; with `once` all but the first are dropped, as far as
// they are met again.
struct Merge {
  bool once = false;
  bool each_iteration = false;  // once: those of different iterations are different
  bool at_owner = true;         // where the stored data of the element is
};
struct Limit {
  int64_t low = 0;
  int64_t high = -1;  // exclusive; -1: no end
};
// Passes what comes before so much time is over, from the first row on.
struct TimeLimit {
  int64_t milliseconds = 0;
};
struct Tail {
  int64_t count = 1;
};
struct Sample {
  int64_t count = 1;
  std::string weight;  // empty: all weigh the same
};
struct OrderKey {
  std::string name;
  plan::SortKey::Direction direction = plan::SortKey::ASC;
};
struct Order {
  std::vector<OrderKey> keys;
  int64_t limit = 0;  // 0: all
};
// What a barrier does with sacks, stored under `name`. With an `operator_` rows that are equal but
// for these become one; see plan.proto.
struct Sacks {
  std::string name;
  PlanValue initial;
  std::string operator_ = {};
  bool one_bulk = false;
  bool normalise = false;
  bool by_path = false;  // rows of different paths are different, also where nobody reads them
};
// Rows wait for all others of their instance and iteration.
struct Barrier {
  bool planned = false;  // no step of the traversal: put between branches that change the graph
  std::optional<Sacks> sacks = {};
};
struct Coin {
  double probability = 0;
};
struct Dedup {
  std::vector<std::string> keys;
};
struct Reduce {
  plan::Reduce::Function function = plan::Reduce::COUNT;
  Value seed = {};             // FOLD_WITH
  std::string operator_ = {};  // FOLD_WITH
};
struct Group {
  std::string key;
  std::string value;
  plan::Group::Value kind = plan::Group::LIST;
  bool rows = false;             // one row per group: current is the value, `key` stays
  std::string side_effect = {};  // not empty: gathers there, and the rows go on
};
// Adds each row's value to the bag `name`; the rows go on when all are in.
struct Aggregate {
  std::string name;
  std::string value;
  bool distinct = false;  // no barrier: a row goes on only when its value was not there
  bool each = false;      // no barrier: each row adds its value and goes on
};
// One row: the side-effect, or a map of several.
struct Cap {
  std::vector<std::string> names;
  bool is_map = false;  // of one: it is a map itself
  bool began = false;   // with a value of withSideEffect(), and may be anything
  bool rows = false;    // of one: a row per member or entry
};
// Changes to the graph. A null expression is none.
struct Mutate {
  enum class Kind : uint8_t {
    kAddVertex,    // label, id, properties
    kAddEdge,      // label, id, out, in, properties
    kSetProperty,  // properties: one, of the current element
    kDrop,         // the current element or property
    kGuard,        // see plan.proto; the value looked up is properties[0]
  };
  Kind kind = Kind::kDrop;
  ExpressionPtr label, id, out, in;
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> properties;  // keys and values
  // A guard's. Of ADJACENCY `out` is the vertex and `in` the neighbour.
  plan::Guard::Look look = plan::Guard::VALUE;
  plan::Direction direction = plan::OUT;
  std::vector<std::string> labels;
};
// bodies: one; of coalesce() the alternatives in order.
struct Scope {
  plan::ScopeExit::Policy policy = plan::ScopeExit::EXISTS;
  std::string target;  // FIRST, EXISTS_FLAG
  plan::Project::Absent absent = plan::Project::DROP_ROW;
  std::vector<Chain> bodies;
  bool stops = false;             // a limit behind it ends it between two rows
  bool keeps_labels = false;      // local(), optional(): what is stored inside is seen behind
  std::set<std::string> carried;  // of that, what is read behind: set by drop_unread
  bool in_place = false;          // the body runs for a batch of rows at once
};
// Without tests every row goes to every branch; else to the first whose test is present and true.
struct Split {
  std::vector<ExpressionPtr> tests;
  std::vector<Chain> branches;
};

// repeat(). A null test is none; those of one place are tried in this order: a row for which
// `until` holds leaves, one for which `emit` holds leaves and goes on.
struct LoopTests {
  ExpressionPtr until;
  ExpressionPtr emit;
};
struct Loop {
  std::vector<Chain> parts;  // what the tests before the body store, the body, the tests behind it
  LoopTests before;
  LoopTests behind;
  bool breadth_first = false;  // all of an iteration are through before the next one begins
  bool merges = false;         // and of equal rows that wait for it one goes on
};

// Walks that are asked for their ends only. The filters are of the vertex where they stand, and
// read nothing else; null: none.
struct Hop {
  plan::Direction direction = plan::OUT;
  std::vector<std::string> labels;
  ExpressionPtr filter;
  bool repeats = false;  // any number of times, also none
};
struct WalkEnds {
  std::optional<PlanValues> ids;
  std::string name;  // of the vertex stored there; without either, `scan` gives what may pass
  Source scan;
  std::vector<std::string> keys;  // what passes the filter has all of these properties
  ExpressionPtr filter;
};
// Keeps rows whose vertex such walks lead from, or as `result` says; see plan.proto.
struct Reach {
  std::vector<Hop> hops;
  WalkEnds ends;
  plan::Reach::Result result = plan::Reach::PASS;
  std::string target;  // FLAG
};
struct ShortestPath {
  Hop hop;
  WalkEnds ends;
  bool may_stay = false;
  bool simple = false;
  bool gives_path = false;  // the traverser's, which it reads, with the walk appended
};

using Operation =
    std::variant<Source, Lookup, Inject, Expand, EdgeEnd, Fetch, Filter, Project, Unfold, Merge,
                 Limit, TimeLimit, Tail, Sample, Order, Barrier, Coin, Dedup, Reduce, Group,
                 Aggregate, Cap, Mutate, Scope, Split, Loop, Reach, ShortestPath>;

struct Op {
  Operation body;
  SourceSpan span;   // of the step's name
  std::string step;  // as written, long arguments cut
};

struct Chain {
  std::vector<Op> ops;
};

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// A local scope with one body.
Scope ScopeOf(plan::ScopeExit::Policy policy, std::string target, plan::Project::Absent absent,
              Chain body);

template <typename T>
const T* As(const Op& op) {
  return std::get_if<T>(&op.body);
}
template <typename T>
T* As(Op* op) {
  return std::get_if<T>(&op->body);
}

// The child chains of an op, in order; empty for most.
std::vector<Chain>* ChildrenOf(Op* op);
const std::vector<Chain>* ChildrenOf(const Op& op);

// Whether `test` holds for the op or for one inside it.
template <typename Test>
bool AnyOp(const Op& op, const Test& test);
template <typename Test>
bool AnyOp(const Chain& chain, const Test& test) {
  for (const Op& op : chain.ops) {
    if (AnyOp(op, test)) return true;
  }
  return false;
}
template <typename Test>
bool AnyOp(const Op& op, const Test& test) {
  if (test(op)) return true;
  const std::vector<Chain>* children = ChildrenOf(op);
  if (children == nullptr) return false;
  for (const Chain& child : *children) {
    if (AnyOp(child, test)) return true;
  }
  return false;
}

// All vertices, with what the sources of the traversal know of the graph.
Source SourceOfAll(const Chain& root);

plan::Direction Backwards(plan::Direction direction);

// Names that the op itself reads (not its children), and the name under which it stores ("" for
// none or for the current value).
void CollectReads(const Op& op, std::set<std::string>* names);
const std::string& StoredName(const Op& op);
// Every name under which the chain or its children store.
void CollectStores(const Chain& chain, std::set<std::string>* names);

// The names that the op or its children read.
void CollectAllReads(const Op& op, std::set<std::string>* names);

// The op's own expressions, without those of its children.
void ForEachExpression(const Op& op, const std::function<void(const Expression&)>& visit);

// What is said of rows for which a projection finds nothing.
std::string AbsentText(plan::Project::Absent absent);

// "OUT [knows] to [Person] where eq(...)": hops and the ends of them.
std::string WalkText(const std::vector<Hop>& hops, const WalkEnds& ends);

// "person(age): age>7": an index and what is sought of its keys.
std::string SeekText(const std::vector<std::string>& labels, const plan::Seek& seek);

// One line per operation, children indented; every line starts with `indent` spaces, and ends with
// what `note` has to say of the operation.
std::string ChainText(const Chain& chain, int indent,
                      const std::function<std::string(const Op&)>& note = nullptr);

}  // namespace koios::planner
