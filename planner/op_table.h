// What builders and rules ask of logical operations: one row per alternative of Operation
// (op_table.cc), where what depends on an operation's fields is decided, too. An alternative
// without a row does not compile. Rule: who asks something of operations asks a row, and lists no
// alternatives. A rule that is about one of them names it by As<T>().
#pragma once

#include "planner/logical.h"

namespace koios::planner {

// Where the order in which rows come can be seen behind an operation, can it before?
enum class OrderSeen : uint8_t {
  kAsBehind,
  kShown,   // it can: who comes first decides, or is first in a list
  kHidden,  // it can't
};

// Whether different rows may be at the same vertex behind an operation.
enum class Meeting : uint8_t {
  kAsBefore,
  kMeets,
  kParts,  // they are not: equal ones have become one, or none has gone anywhere yet
};

// How often equal rows came: can that be seen behind an operation?
enum class RepeatsSeen : uint8_t {
  kShown,     // it can: they are counted, or each has a chance, or an effect
  kAsBehind,  // equal rows give equal rows
  kHidden,    // it can't: the first is all that counts
};

// Of the operation itself, without its children. What is not said is false.
struct OpTraits {
  // Rows in, rows out.
  bool every_row = false;    // gives a row for each
  bool at_most_one = false;  // gives at most one row for each
  bool fans_out = false;     // gives several for one: of its edges, ends, properties, members
  bool of_nothing = false;   // gives a row where none has come
  bool takes_bulk = false;   // a row of bulk n does what n rows do, at the cost of one
  OrderSeen order = OrderSeen::kAsBehind;
  RepeatsSeen repeats = RepeatsSeen::kShown;
  Meeting meeting = Meeting::kAsBefore;

  // What one row has to do with the others of its instance.
  bool remembers = false;      // waits for, counts or remembers them, or is once for all
  bool waits = false;          // all of an iteration are in before one goes on
  bool waits_in_loop = false;  // so where it stands in a loop
  bool holds = false;          // as TinkerPop's barriers and limits: all traversers of a branch are
                               // in before any leaves it
  bool gathers = false;        // behind it one can't tell which rows there were, only what they
                               // came to
  bool races = false;          // which rows pass is decided by who comes first
  bool draws = false;          // at random, beside what its expressions do
  bool in_place = false;       // as part of a child it may run for many instances at once, where
                               // their rows are

  // Values.
  bool new_value = false;     // gives a new current value, the next object of the path; what a
                              // child adds to the path by itself does not count
  bool ends_history = false;  // no stored value is left, the rows are new

  // The graph and side-effects.
  bool reads_graph = false;    // beside what its expressions read
  bool changes_graph = false;  // what can be read has changed
  bool effect = false;  // is done for each traverser that comes to it, and nothing that could tell
                        // may move past it: changes the graph, or something of the query
};

OpTraits TraitsOf(const Op& op);

// The first row that the child gives decides.
bool TakesOne(const Scope& scope);

// Changes the graph, by itself or in a child.
bool ChangesGraph(const Op& op);
bool ChangesGraph(const Chain& chain);
// Reads what a change could have touched, by itself or in a child.
bool ReadsGraph(const Op& op);
bool ReadsGraphItself(const Op& op);
// Equal rows give equal rows, whatever came before them: draws nothing, has no effect and sees
// none, by itself or in a child. How its rows hang together is another question (`repeats`).
bool GivesTheSame(const Op& op);
// Has an effect, by itself or in a child.
bool HasEffects(const Op& op);
bool HasEffects(const Chain& chain);
// Calls a function that is an error for some rows, by itself or in a child.
bool ReadsEffects(const Op& op);  // in expressions of its own
// The names of side-effects that expressions of the op and of its children read.
void CollectEffectReads(const Op& op, std::set<std::string>* names);
// Of those that it and its children add to.
void CollectEffectWrites(const Op& op, std::set<std::string>* names);
// Of those that a cap() of it or of its children gives.
void CollectCaps(const Op& op, std::set<std::string>* names);
bool Raises(const Chain& chain);
// As TinkerPop's barriers and limits do, by itself or in a child.
bool HoldsTraversers(const Chain& chain);

bool EndsHistory(const Op& op);
// Whether that holds for an op of the chain or of the branches and loops in it.
bool EndsHistory(const Chain& chain);
// As EndsHistory, and for the children of local() and optional() too: behind it what was stored
// before may be gone.
bool ForgetsNames(const Chain& chain);
// No operation of the chain, its branches and loops remembers rows: it may run for all entering
// rows as one stream.
bool IsStateless(const Chain& chain);

// The rows of the body go on, not the one that entered.
bool GivesBodyRows(plan::ScopeExit::Policy policy);
// A row's place is drawn, once among all of them.
bool Shuffles(const Order& order);

}  // namespace koios::planner
