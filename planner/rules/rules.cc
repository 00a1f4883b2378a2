#include "planner/rules/rules.h"

#include "planner/guards.h"

namespace koios::planner {

const std::vector<Rule>& Rules() {
  static const std::vector<Rule> kRules = {
      {"remove_identity", "what passes every row as it is goes away", RemoveIdentity},
      {"drop_unread", "values that nobody reads are not stored", DropUnread},
      {"plain_group", "a side-effect of groups that is all that is asked for is a group()",
       PlainGroup},
      {"unfold_groups", "groups and bags that are taken apart again are never one value",
       UnfoldGroups},
      {"unnest_local", "a local child that remembers nothing runs as part of the stream",
       UnnestLocal},
      {"hoist_stores", "what a local child stores of the entering row is stored before it",
       HoistStores},
      {"inline_scopes", "a simple child becomes an expression", InlineScopes},
      {"merge_projects", "a value that is read once is computed where it is read", MergeProjects},
      {"unroll_repeat", "a plain loop becomes its body, so many times", UnrollRepeat},
      {"push_filters", "filters move towards the source", PushFilters},
      {"fold_source", "labels and ids are taken from the source alone", FoldSource},
      {"start_at_far_end", "a walk to few vertices begins there", StartAtFarEnd},
      {"seek_source", "an index gives what may have the value", SeekSource},
      {"count_degrees", "counting an expansion adds up degrees", CountDegrees},
      {"count_arrivals", "from all vertices one comes to each as often as it has such edges",
       CountArrivals},
      {"stop_before_writes", "a child that changes the graph for one result stops at the first",
       StopBeforeChanges},
      {"early_limit", "limits move before what keeps every row", EarlyLimit},
      {"stop_one_by_one", "behind a change that a limit ends, one traverser goes after the other",
       StopOneByOne},
      {"guard_lookups", "what is looked up before something is added must not have changed",
       AddGuards},
      {"project_before_order", "values are read where the rows are, before they are sorted",
       ProjectBeforeOrder},
      {"reach_ends", "where walks end is looked up, not walked to from every row", ReachEnds,
       /*reads_all=*/true},
      {"count_walks", "walks to a vertex that is known are counted from both sides", CountWalks,
       /*reads_all=*/true},
      {"shortest_path", "the first that a search finds is searched from both sides",
       FindShortestPath,
       /*reads_all=*/true},
      {"top_k", "order and limit keep only the first", TopK},
      {"order_filters", "what lets few rows pass at little cost is asked first", OrderFilters},
      {"count_ends", "ends that are only counted are counted where they stand", CountEnds},
      {"count_values", "a property that is all that is read of vertices is counted value by value",
       CountValues},
      {"visit_in_turn", "what reads a side-effect sees what the traversers before it added",
       VisitInTurn},
      {"add_in_passing", "local(aggregate()) adds values as rows pass, where nothing stops early",
       AddInPassing},
      {"drop_unread_again", "values that nobody reads any more", DropUnread},
      {"breadth_first", "where the order shows, iterations of a loop come one after the other",
       BreadthFirst},
      {"expand_to_labels", "neighbours of other labels are left where they are", ExpandToLabels},
      {"first_ends", "of a vertex no more ends are read than a child's limit lets through",
       FirstEnds},
      {"merge_bulk", "rows that came to the same vertex go on as one", MergeBulk},
      {"run_in_place", "a child that is a chain runs for many rows at once", RunInPlace},
  };
  return kRules;
}

void RunRules(Chain* root, bool isolated,
              const std::function<void(const Rule&, const Chain&)>& fired) {
  for (const Rule& rule : Rules()) {
    if (isolated && rule.reads_all) continue;
    if (rule.apply(root)) fired(rule, *root);
  }
}

}  // namespace koios::planner
