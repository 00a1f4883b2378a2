#include "planner/steps/catalogue.h"

#include <algorithm>

#include "core/name_distance.h"
#include "planner/steps/steps.h"

namespace koios::planner {
namespace {

constexpr ChildScoping kNoChildren = ChildScoping::kNone;
constexpr ChildScoping kLocal = ChildScoping::kLocal;
constexpr ChildScoping kGlobal = ChildScoping::kGlobal;

constexpr std::string_view kEdgeLabels = "labels:string*";
constexpr std::string_view kKeys = "keys:string/null*";
constexpr std::string_view kReduce = "() | scope:Scope";
constexpr std::string_view kOther = "values:value/traversal";

constexpr StepSpec kRows[] = {
    // From the graph, and along edges.
    {"V", "ids:value*", "vertices of the graph, all or by id", kStarts, kNoChildren, BuildGraph},
    {"E", "ids:value*", "edges of the graph, all or by id", kStarts, kNoChildren, BuildGraph},
    {"inject", "values:value*", "these values, before what flows already", kStarts, kNoChildren,
     BuildInject},
    {"out", kEdgeLabels, "vertices that outgoing edges lead to", kSpreads, kNoChildren,
     BuildExpand},
    {"in", kEdgeLabels, "vertices that incoming edges come from", kSpreads, kNoChildren,
     BuildExpand},
    {"both", kEdgeLabels, "neighbours in both directions", kSpreads, kNoChildren, BuildExpand},
    {"outE", kEdgeLabels, "outgoing edges", 0, kNoChildren, BuildExpand},
    {"inE", kEdgeLabels, "incoming edges", 0, kNoChildren, BuildExpand},
    {"bothE", kEdgeLabels, "edges of both directions", 0, kNoChildren, BuildExpand},
    {"outV", "()", "the vertex an edge goes out from", kSpreads, kNoChildren, BuildEdgeEnd},
    {"inV", "()", "the vertex an edge goes in to", kSpreads, kNoChildren, BuildEdgeEnd},
    {"bothV", "()", "both vertices of an edge", kSpreads, kNoChildren, BuildEdgeEnd},
    {"otherV", "()", "the vertex of an edge that one did not come from", 0, kNoChildren,
     BuildEdgeEnd},
    {"toE", "direction:Direction, labels:string*", "edges of a direction", 0, kNoChildren, BuildTo},
    {"toV", "direction:Direction", "the end vertex of an edge in a direction", kSpreads,
     kNoChildren, BuildTo},
    {"to", "direction:Direction, labels:string* | value:string/value/traversal",
     "neighbours in a direction; where an edge or a path ends", kSpreads, kLocal, BuildTo},
    // One value decides.
    {"has",
     "key:string/null | key:string/null/T, value:value/P/traversal | "
     "label:string/null, key:string/null, value:value/P/traversal",
     "keeps elements by a property, id or label", 0, kLocal, BuildHas},
    {"hasLabel", "predicate:P | labels:string/null+", "keeps elements of these labels", 0,
     kNoChildren, BuildHasLabel},
    {"hasId", "ids:value/P+", "keeps elements with these ids", 0, kNoChildren, BuildHasId},
    {"hasKey", "predicate:P | keys:string/null+", "keeps properties with these keys", 0,
     kNoChildren, BuildHasKeyOrValue},
    {"hasValue", "values:value/P+", "keeps properties with these values", 0, kNoChildren,
     BuildHasKeyOrValue},
    {"hasNot", "key:string", "keeps elements without this property", 0, kNoChildren, BuildHasNot},
    {"is", "value:value/P", "keeps values that fit", 0, kNoChildren, BuildIs},
    {"limit", "n:integer | scope:Scope, n:integer", "the first n", kGathers, kNoChildren,
     BuildLimit},
    {"range", "low:integer, high:integer | scope:Scope, low:integer, high:integer",
     "from number low up to, not including, high; -1: to the end", kGathers, kNoChildren,
     BuildLimit},
    {"skip", "n:integer | scope:Scope, n:integer", "all but the first n", kGathers, kNoChildren,
     BuildLimit},
    {"tail", "n:integer? | scope:Scope, n:integer?", "the last n, or the last", kGathers,
     kNoChildren, BuildTail},
    {"sample", "n:integer | scope:Scope, n:integer", "n picked at random", kTakesBy | kGathers,
     kLocal, BuildSample},
    {"coin", "probability:number", "keeps each with this probability", 0, kNoChildren, BuildCoin},
    {"dedup", "labels:string* | scope:Scope, labels:string*", "drops repeated values",
     kTakesBy | kGathers, kLocal, BuildDedup},
    {"none", "predicate:P", "keeps collections none of whose members fit", 0, kNoChildren,
     BuildMembers},
    {"all", "predicate:P", "keeps collections all of whose members fit", 0, kNoChildren,
     BuildMembers},
    {"any", "predicate:P", "keeps collections one of whose members fits", 0, kNoChildren,
     BuildMembers},
    {"discard", "()", "drops everything", 0, kNoChildren, BuildDiscard},
    {"timeLimit", "milliseconds:integer", "ends the traversal after a time"},
    {"simplePath", "()", "keeps paths without repeated objects",
     kTakesBy | kTakesFromTo | kReadsPath, kLocal, BuildPathFilter},
    {"cyclicPath", "()", "keeps paths with repeated objects", kTakesBy | kTakesFromTo | kReadsPath,
     kLocal, BuildPathFilter},
    // Children and labels decide.
    {"where", "child:traversal | predicate:P | label:string, predicate:P",
     "keeps traversers for which the child gives something, or whose labels compare", kTakesBy,
     kLocal, BuildWhere},
    {"filter", "child:traversal", "keeps traversers for which the child gives something", 0, kLocal,
     BuildWhere},
    {"not", "child:traversal", "keeps traversers for which the child gives nothing", 0, kLocal,
     BuildNot},
    {"and", "children:traversal*", "all children give something", 0, kLocal, BuildAndOr},
    {"or", "children:traversal*", "one of the children gives something", 0, kLocal, BuildAndOr},
    {"match", "patterns:traversal+", "binds variables by patterns", 0, kLocal},
    // Values of elements.
    {"values", kKeys, "property values", kSpreads, kNoChildren, BuildValues},
    {"properties", kKeys, "properties", kSpreads, kNoChildren, BuildValues},
    {"id", "()", "the element's id", 0, kNoChildren, BuildToken},
    {"label", "()", "the element's label", 0, kNoChildren, BuildToken},
    {"key", "()", "the property's key", 0, kNoChildren, BuildToken},
    {"value", "()", "the property's value", 0, kNoChildren, BuildToken},
    {"constant", "value:value", "always this value", 0, kNoChildren, BuildConstant},
    {"identity", "()", "the traverser as it is", 0, kNoChildren, BuildIdentity},
    {"valueMap", "keys:string/null* | tokens:boolean, keys:string/null*",
     "a map from keys to lists of values", kTakesBy | kTakesWith, kLocal, BuildValueMap},
    {"elementMap", kKeys, "a map of id, label and property values", 0, kNoChildren,
     BuildElementMap},
    {"propertyMap", kKeys, "a map from keys to lists of properties", kTakesBy, kLocal,
     BuildPropertyMap},
    {"select", "column:Column | labels:string+ | pop:Pop, labels:string+ | keys:traversal",
     "labelled values, or a map's entries, keys or values", kTakesBy, kLocal, BuildSelect},
    {"project", "keys:string+", "a map with one by() for each key", kTakesBy, kLocal, BuildProject},
    {"unfold", "()", "the members of collections and maps", kSpreads, kNoChildren, BuildUnfold},
    {"element", "()", "the element of a property", 0, kNoChildren, BuildElement},
    {"path", "()", "where the traverser has been", kTakesBy | kTakesFromTo | kReadsPath, kLocal,
     BuildPath},
    {"tree", "() | key:string", "paths as a tree", kTakesBy},
    {"index", "()", "numbers the members of a collection", kTakesWith, kNoChildren, BuildIndex},
    {"math", "equation:string", "arithmetic, as in math(\"a + b\").by(\"age\")", kTakesBy, kLocal,
     BuildMath},
    {"loops", "() | name:string", "how often the loop was run", 0, kNoChildren, BuildLoops},
    {"sack", "() | operator:Operator", "the traverser's sack, or puts a value to it", kTakesBy,
     kLocal, BuildSack},
    // All values together.
    {"count", kReduce, "how many", kGathers, kNoChildren, BuildCount},
    {"sum", kReduce, "the sum", kGathers, kNoChildren, BuildReduce},
    {"min", kReduce, "the least", kGathers, kNoChildren, BuildReduce},
    {"max", kReduce, "the greatest", kGathers, kNoChildren, BuildReduce},
    {"mean", kReduce, "the average", kGathers, kNoChildren, BuildReduce},
    {"fold", "() | seed:value, operator:Operator", "all in one list", kGathers, kNoChildren,
     BuildFold},
    {"order", "() | scope:Scope", "sorts", kTakesBy | kGathers, kLocal, BuildOrder},
    {"group", "() | key:string", "a map from keys to groups", kTakesBy | kGathers, kLocal,
     BuildGroup},
    {"groupCount", "() | key:string", "a map from keys to counts", kTakesBy | kGathers, kLocal,
     BuildGroup},
    {"barrier", "() | size:integer | merge:Barrier", "waits for all before it goes on", kGathers,
     kNoChildren, BuildBarrier},
    {"aggregate", "key:string | scope:Scope, key:string", "gathers into a side-effect",
     kTakesBy | kGathers, kLocal, BuildAggregate},
    {"cap", "keys:string+", "a side-effect's value", kGathers, kNoChildren, BuildCap},
    {"subgraph", "key:string", "gathers edges into a graph"},
    // Children make the values.
    {"local", "child:traversal", "the child for each traverser by itself", 0, kLocal, BuildLocal},
    {"map", "child:traversal", "the child's first result", 0, kLocal, BuildLocal},
    {"flatMap", "child:traversal", "the child's results", kSpreads, kLocal, BuildLocal},
    {"sideEffect", "child:traversal", "runs the child, passes the traverser", 0, kLocal,
     BuildLocal},
    {"optional", "child:traversal", "the child's results, or the traverser", 0, kLocal, BuildLocal},
    {"coalesce", "children:traversal+", "the first child that gives something", kSpreads, kLocal,
     BuildCoalesce},
    {"union", "children:traversal*", "the results of all children", kStarts, kGlobal, BuildUnion},
    {"choose",
     "choice:traversal/T | test:traversal/P, then:traversal | "
     "test:traversal/P, then:traversal, else:traversal",
     "one of several branches", kTakesOption, kGlobal, BuildChoose},
    {"branch", "choice:traversal/T", "all options that fit", kTakesOption, kGlobal, BuildBranch},
    {"repeat", "body:traversal | name:string, body:traversal", "runs the body again and again",
     kTakesLoopTests, kGlobal, BuildRepeat},
    // Modulators.
    {"as", "labels:string+", "labels the step before", kModulates},
    {"by",
     "() | value:string/T/Column/Order/traversal/P | value:string/T/Column/traversal, "
     "order:Order",
     "how the step before looks at its values", kModulates, kLocal},
    {"option",
     "token:value/P/Pick/T/traversal, branch:traversal | branch:traversal | "
     "when:Merge, map:map/null/traversal, cardinality:Cardinality?",
     "a branch of choose(); what mergeV() and mergeE() set", kModulates, kGlobal},
    {"with", "key:string/WithOptions, value:value/WithOptions?", "configures the step before",
     kModulates},
    {"from", "value:string/value/traversal", "where an edge or a path begins"},
    {"times", "n:integer", "how often repeat() runs", kModulates},
    {"until", "test:traversal/P", "when repeat() ends", kModulates, kLocal},
    {"emit", "() | test:traversal/P", "what repeat() gives on its way", kModulates, kLocal},
    // Changes to the graph.
    {"addV", "() | label:string/traversal", "adds a vertex",
     kStarts | kTakesProperties | kTakesWith, kLocal, BuildAddVertex},
    {"addE", "label:string/traversal", "adds an edge",
     kStarts | kTakesFromTo | kTakesProperties | kTakesWith, kLocal, BuildAddEdge},
    {"property", "arguments:value/T/Cardinality/traversal+", "sets a property", 0, kLocal,
     BuildProperty},
    {"drop", "()", "removes elements or properties", 0, kNoChildren, BuildDrop},
    {"mergeV", "() | match:map/null/traversal", "finds or adds a vertex",
     kStarts | kTakesOption | kSpreads, kLocal, BuildMergeVertex},
    {"mergeE", "() | match:map/null/traversal", "finds or adds an edge",
     kStarts | kTakesOption | kSpreads, kLocal, BuildMergeEdge},
    // Text, numbers, dates, collections.
    {"asBool", "()", "the value as a boolean", 0, kNoChildren, BuildCast},
    {"asDate", "()", "the value as a date", 0, kNoChildren, BuildCast},
    {"asNumber", "() | type:GType", "the value as a number, of a type such as GType.INT", 0,
     kNoChildren, BuildAsNumber},
    {"asString", kReduce, "the value as text", 0, kNoChildren, BuildAsString},
    {"concat", "parts:string/null* | children:traversal+", "joins texts", 0, kLocal, BuildConcat},
    {"conjoin", "delimiter:string", "joins a collection into one text", 0, kNoChildren,
     BuildConjoin},
    {"combine", kOther, "one list after the other", 0, kLocal, BuildOfBoth},
    {"dateAdd", "unit:DT, n:integer", "a date some time later", 0, kNoChildren, BuildDateAdd},
    {"dateDiff", "date:datetime/null/traversal", "the milliseconds from another date", 0, kLocal,
     BuildDateDiff},
    {"difference", kOther, "what the other collection lacks", 0, kLocal, BuildOfBoth},
    {"disjunct", kOther, "what only one collection has", 0, kLocal, BuildOfBoth},
    {"format", "template:string", "fills in a template", kTakesBy, kLocal, BuildFormat},
    {"intersect", kOther, "what both collections have", 0, kLocal, BuildOfBoth},
    {"length", kReduce, "the length of a text", 0, kNoChildren, BuildTextStep},
    {"lTrim", kReduce, "drops blanks at the start", 0, kNoChildren, BuildTextStep},
    {"merge", kOther, "both collections or maps in one", 0, kLocal, BuildOfBoth},
    {"product", kOther, "all pairs of two collections", 0, kLocal, BuildOfBoth},
    {"replace", "old:string/null, new:string/null | scope:Scope, old:string/null, new:string/null",
     "replaces text", 0, kNoChildren, BuildTextStep},
    {"reverse", "()", "back to front", 0, kNoChildren, BuildReverse},
    {"rTrim", kReduce, "drops blanks at the end", 0, kNoChildren, BuildTextStep},
    {"split", "separator:string/null | scope:Scope, separator:string/null", "a text into parts", 0,
     kNoChildren, BuildTextStep},
    {"substring", "begin:integer, end:integer? | scope:Scope, begin:integer, end:integer?",
     "a part of a text", 0, kNoChildren, BuildTextStep},
    {"toLower", kReduce, "in lower case", 0, kNoChildren, BuildTextStep},
    {"toUpper", kReduce, "in upper case", 0, kNoChildren, BuildTextStep},
    {"trim", kReduce, "drops blanks at both ends", 0, kNoChildren, BuildTextStep},
    // The rest of the language.
    {"call", "arguments:value/traversal*", "calls a service", kStarts | kTakesWith},
    {"fail", "() | message:string", "ends the query with an error", 0, kNoChildren, BuildFail},
    {"io", "file:string", "reads or writes a file", kStarts | kTakesWith},
    {"read", "()", "reads the file of io()"},
    {"write", "()", "writes the file of io()"},
    {"profile", "key:string", "gathers measurements into a side-effect"},
    {"connectedComponent", "()", "finds connected components", kTakesWith},
    {"pageRank", "() | alpha:number", "ranks vertices", kTakesBy | kTakesWith},
    {"peerPressure", "()", "clusters vertices", kTakesBy | kTakesWith},
    {"shortestPath", "()", "finds shortest paths", kTakesWith},
    {"program", "program:value", "runs a vertex program"},
    {"tx", "()", "the source's transaction", kConfigures},
    {"withBulk", "use:boolean", "whether traversers that became one count as often as they were",
     kConfigures, kNoChildren, BuildConfiguration},
    {"withComputer", "arguments:value*", "runs on a graph computer", kConfigures},
    {"withPath", "()", "remembers paths", kConfigures, kNoChildren, BuildConfiguration},
    {"withSack", "initial:value, merge:Operator?", "gives traversers a sack", kConfigures,
     kNoChildren, BuildConfiguration},
    {"withSideEffect", "key:string, initial:value, reducer:Operator?",
     "a side-effect with a first value", kConfigures, kNoChildren, BuildConfiguration},
    {"withStrategies", "strategies:value+", "adds strategies", kConfigures},
    {"withoutStrategies", "strategies:value+", "removes strategies", kConfigures},
};

std::vector<StepSpec> MakeCatalogue() {
  std::vector<StepSpec> rows(std::begin(kRows), std::end(kRows));
  std::sort(rows.begin(), rows.end(),
            [](const StepSpec& a, const StepSpec& b) { return a.name < b.name; });
  return rows;
}

std::vector<std::vector<Signature>> ParseAll() {
  std::vector<std::vector<Signature>> all;
  for (const StepSpec& row : StepCatalogue()) all.push_back(ParseSignatures(row.signatures));
  return all;
}

std::vector<std::string_view> Names() {
  std::vector<std::string_view> names;
  for (const StepSpec& row : StepCatalogue()) names.push_back(row.name);
  return names;
}

}  // namespace

const std::vector<StepSpec>& StepCatalogue() {
  static const std::vector<StepSpec> kRows = MakeCatalogue();
  return kRows;
}

const std::vector<Signature>& SignaturesOf(const StepSpec& spec) {
  static const std::vector<std::vector<Signature>> kSignatures = ParseAll();
  return kSignatures[static_cast<size_t>(&spec - StepCatalogue().data())];
}

const StepSpec* FindStep(std::string_view name) {
  const std::vector<StepSpec>& rows = StepCatalogue();
  auto found = std::lower_bound(
      rows.begin(), rows.end(), name,
      [](const StepSpec& row, std::string_view wanted) { return row.name < wanted; });
  return found != rows.end() && found->name == name ? &*found : nullptr;
}

std::string NearestStep(std::string_view name) {
  static const std::vector<std::string_view> kNames = Names();
  return NearestName(name, std::span<const std::string_view>(kNames)).value_or("");
}

}  // namespace koios::planner
