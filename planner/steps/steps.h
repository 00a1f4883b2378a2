// The build functions behind the catalogue's rows, one per step or family of steps; one file per
// family. REQUIRES: the arguments match a signature of the row.
#pragma once

#include "planner/steps/builder.h"

namespace koios::planner {

// graph_steps.cc: from the graph, and along edges
Status BuildGraph(const StepCall& step, Builder* builder);  // V, E
Status BuildInject(const StepCall& step, Builder* builder);
Status BuildExpand(const StepCall& step, Builder* builder);   // out in both outE inE bothE
Status BuildTo(const StepCall& step, Builder* builder);       // to toE toV
Status BuildEdgeEnd(const StepCall& step, Builder* builder);  // outV inV bothV otherV

// filter_steps.cc: one value decides
Status BuildHas(const StepCall& step, Builder* builder);
Status BuildHasLabel(const StepCall& step, Builder* builder);
Status BuildHasId(const StepCall& step, Builder* builder);
Status BuildHasKeyOrValue(const StepCall& step, Builder* builder);
Status BuildTimeLimit(const StepCall& step, Builder* builder);
Status BuildCoin(const StepCall& step, Builder* builder);
Status BuildMembers(const StepCall& step, Builder* builder);  // none any all
Status BuildDiscard(const StepCall& step, Builder* builder);
Status BuildFail(const StepCall& step, Builder* builder);
Status BuildHasNot(const StepCall& step, Builder* builder);
Status BuildIs(const StepCall& step, Builder* builder);
Status BuildLimit(const StepCall& step, Builder* builder);  // limit, range, skip
Status BuildTail(const StepCall& step, Builder* builder);
Status BuildSample(const StepCall& step, Builder* builder);
Status BuildDedup(const StepCall& step, Builder* builder);

// where_steps.cc: children and labels decide
Status BuildWhere(const StepCall& step, Builder* builder);  // where, filter
Status BuildNot(const StepCall& step, Builder* builder);
Status BuildAndOr(const StepCall& step, Builder* builder);

// value_steps.cc: values of elements
Status BuildValues(const StepCall& step, Builder* builder);  // values, properties
Status BuildToken(const StepCall& step, Builder* builder);   // id label key value
Status BuildConstant(const StepCall& step, Builder* builder);
Status BuildIdentity(const StepCall& step, Builder* builder);
Status BuildValueMap(const StepCall& step, Builder* builder);
Status BuildElementMap(const StepCall& step, Builder* builder);
Status BuildPropertyMap(const StepCall& step, Builder* builder);
Status BuildSelect(const StepCall& step, Builder* builder);
Status BuildProject(const StepCall& step, Builder* builder);
Status BuildUnfold(const StepCall& step, Builder* builder);
Status BuildElement(const StepCall& step, Builder* builder);
Status BuildIndex(const StepCall& step, Builder* builder);

// cast_steps.cc: numbers, booleans and dates of other values
Status BuildCast(const StepCall& step, Builder* builder);
Status BuildAsNumber(const StepCall& step, Builder* builder);
Status BuildDateAdd(const StepCall& step, Builder* builder);
Status BuildDateDiff(const StepCall& step, Builder* builder);

// text_steps.cc: texts, and what becomes of two collections
Status BuildTextStep(const StepCall& step, Builder* builder);  // length toUpper trim split ...
Status BuildAsString(const StepCall& step, Builder* builder);
Status BuildReverse(const StepCall& step, Builder* builder);
Status BuildConcat(const StepCall& step, Builder* builder);
Status BuildFormat(const StepCall& step, Builder* builder);
Status BuildConjoin(const StepCall& step, Builder* builder);
Status BuildOfBoth(const StepCall& step, Builder* builder);  // combine difference intersect ...

// source/sack_steps.cc
Status BuildSack(const StepCall& step, Builder* builder);
Status BuildConfiguration(const StepCall& step, Builder* builder);  // withSack withBulk ...

// math_steps.cc
Status BuildMath(const StepCall& step, Builder* builder);

// path_steps.cc: where the traverser has been
Status BuildPath(const StepCall& step, Builder* builder);
Status BuildPathFilter(const StepCall& step, Builder* builder);  // simplePath, cyclicPath

// barrier_steps.cc: all values together
Status BuildCount(const StepCall& step, Builder* builder);
Status BuildReduce(const StepCall& step, Builder* builder);  // sum min max mean
Status BuildFold(const StepCall& step, Builder* builder);
Status BuildOrder(const StepCall& step, Builder* builder);
Status BuildBarrier(const StepCall& step, Builder* builder);

// group_steps.cc
Status BuildGroup(const StepCall& step, Builder* builder);  // group, groupCount

// effect_steps.cc: side-effects of the query
Status BuildAggregate(const StepCall& step, Builder* builder);
Status BuildCap(const StepCall& step, Builder* builder);

// loop_steps.cc: again and again
Status BuildRepeat(const StepCall& step, Builder* builder);
Status BuildLoops(const StepCall& step, Builder* builder);

// branch_steps.cc: children make the values
Status BuildLocal(const StepCall& step, Builder* builder);  // local flatMap map sideEffect optional
Status BuildCoalesce(const StepCall& step, Builder* builder);
Status BuildUnion(const StepCall& step, Builder* builder);
Status BuildChoose(const StepCall& step, Builder* builder);
Status BuildBranch(const StepCall& step, Builder* builder);

// change_steps.cc: changes to the graph
Status BuildAddVertex(const StepCall& step, Builder* builder);
Status BuildAddEdge(const StepCall& step, Builder* builder);
Status BuildProperty(const StepCall& step, Builder* builder);
Status BuildDrop(const StepCall& step, Builder* builder);

// merge/merge_steps.cc: finds or adds
Status BuildMergeVertex(const StepCall& step, Builder* builder);
Status BuildMergeEdge(const StepCall& step, Builder* builder);

}  // namespace koios::planner
