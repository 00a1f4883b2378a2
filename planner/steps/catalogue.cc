#include "planner/steps/catalogue.h"

#include <algorithm>

#include "core/text/name_distance.h"
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
    {"V", "ids:value*", "vertices of the graph, all or by id", "g.V(1).values('owner')", kStarts,
     kNoChildren, BuildGraph},
    {"E", "ids:value*", "edges of the graph, all or by id",
     "g.E().hasLabel('transfer').has('amount', gt(9000)).count()", kStarts, kNoChildren,
     BuildGraph},
    {"inject", "values:value*", "these values, before what flows already",
     "g.inject(1, 2, 3).sum()", kStarts, kNoChildren, BuildInject},
    {"out", kEdgeLabels, "vertices that outgoing edges lead to",
     "g.V(1).out('transfer').values('owner')", kSpreads, kNoChildren, BuildExpand},
    {"in", kEdgeLabels, "vertices that incoming edges come from", "g.V(1).in('transfer').count()",
     kSpreads, kNoChildren, BuildExpand},
    {"both", kEdgeLabels, "neighbours in both directions",
     "g.V(1).both('transfer').dedup().count()", kSpreads, kNoChildren, BuildExpand},
    {"outE", kEdgeLabels, "outgoing edges", "g.V(1).outE('transfer').values('amount')", 0,
     kNoChildren, BuildExpand},
    {"inE", kEdgeLabels, "incoming edges", "g.V(1).inE('transfer').values('amount').sum()", 0,
     kNoChildren, BuildExpand},
    {"bothE", kEdgeLabels, "edges of both directions", "g.V(1).bothE().groupCount().by(label)", 0,
     kNoChildren, BuildExpand},
    {"outV", "()", "the vertex an edge goes out from",
     "g.E().hasLabel('transfer').order().by('amount', desc).limit(1).outV().values('owner')",
     kSpreads, kNoChildren, BuildEdgeEnd},
    {"inV", "()", "the vertex an edge goes in to",
     "g.V(1).outE('transfer').has('amount', gt(100)).inV().values('owner')", kSpreads, kNoChildren,
     BuildEdgeEnd},
    {"bothV", "()", "both vertices of an edge",
     "g.E().hasLabel('transfer').order().by('amount', desc).limit(1).bothV().values('owner')",
     kSpreads, kNoChildren, BuildEdgeEnd},
    {"otherV", "()", "the vertex of an edge that one did not come from",
     "g.V(1).bothE('transfer').otherV().dedup().count()", 0, kNoChildren, BuildEdgeEnd},
    {"toE", "direction:Direction, labels:string*", "edges of a direction",
     "g.V(1).toE(Direction.OUT, 'transfer').count()", 0, kNoChildren, BuildTo},
    {"toV", "direction:Direction", "the end vertex of an edge in a direction",
     "g.V(1).outE('transfer').toV(Direction.IN).values('owner')", kSpreads, kNoChildren, BuildTo},
    {"to", "direction:Direction, labels:string* | value:string/value/traversal",
     "neighbours in a direction; where an edge or a path ends",
     "g.V(1).to(Direction.OUT, 'transfer').values('owner')", kSpreads, kLocal, BuildTo},
    // One value decides.
    {"has",
     "key:string/null | key:string/null/T, value:value/P/traversal | "
     "label:string/null, key:string/null, value:value/P/traversal",
     "keeps elements by a property, id or label", "g.V().has('account', 'country', 'JP').count()",
     0, kLocal, BuildHas},
    {"hasLabel", "predicate:P | labels:string/null+", "keeps elements of these labels",
     "g.V().hasLabel('device').count()", 0, kNoChildren, BuildHasLabel},
    {"hasId", "ids:value/P+", "keeps elements with these ids", "g.V().hasId(1, 2).values('owner')",
     0, kNoChildren, BuildHasId},
    {"hasKey", "predicate:P | keys:string/null+", "keeps properties with these keys",
     "g.V(1).properties().hasKey('owner').value()", 0, kNoChildren, BuildHasKeyOrValue},
    {"hasValue", "values:value/P+", "keeps properties with these values",
     "g.V(1).properties().hasValue('FR').key()", 0, kNoChildren, BuildHasKeyOrValue},
    {"hasNot", "key:string", "keeps elements without this property",
     "g.V().hasNot('owner').label().dedup()", 0, kNoChildren, BuildHasNot},
    {"is", "value:value/P", "keeps values that fit",
     "g.V(1).outE('transfer').values('amount').is(gt(200))", 0, kNoChildren, BuildIs},
    {"limit", "n:integer | scope:Scope, n:integer", "the first n",
     "g.V().hasLabel('account').order().by(id).limit(3).values('owner')", kGathers, kNoChildren,
     BuildLimit},
    {"range", "low:integer, high:integer | scope:Scope, low:integer, high:integer",
     "from number low up to, not including, high; -1: to the end",
     "g.V().hasLabel('account').order().by(id).range(2, 4).values('owner')", kGathers, kNoChildren,
     BuildLimit},
    {"skip", "n:integer | scope:Scope, n:integer", "all but the first n",
     "g.V(1).values('owner', 'country').order().skip(1)", kGathers, kNoChildren, BuildLimit},
    {"tail", "n:integer? | scope:Scope, n:integer?", "the last n, or the last",
     "g.V().hasLabel('account').order().by(id).tail(2).count()", kGathers, kNoChildren, BuildTail},
    {"sample", "n:integer | scope:Scope, n:integer", "n picked at random",
     "g.V().hasLabel('account').sample(3).count()", kTakesBy | kGathers, kLocal, BuildSample},
    {"coin", "probability:number", "keeps each with this probability",
     "g.V(1).coin(1.0).values('owner')", 0, kNoChildren, BuildCoin},
    {"dedup", "labels:string* | scope:Scope, labels:string*", "drops repeated values",
     "g.V().hasLabel('device').values('model').dedup()", kTakesBy | kGathers, kLocal, BuildDedup},
    {"none", "predicate:P", "keeps collections none of whose members fit",
     "g.V(1).out('uses').values('model').order().fold().none(eq('tape'))", 0, kNoChildren,
     BuildMembers},
    {"all", "predicate:P", "keeps collections all of whose members fit",
     "g.V(1).outE('transfer').values('amount').order().fold().all(gt(0))", 0, kNoChildren,
     BuildMembers},
    {"any", "predicate:P", "keeps collections one of whose members fits",
     "g.V(1).out('uses').id().order().fold().any(gt(1))", 0, kNoChildren, BuildMembers},
    {"discard", "()", "drops everything", "g.V().hasLabel('device').discard()", 0, kNoChildren,
     BuildDiscard},
    {"timeLimit", "milliseconds:integer", "ends what leads here so long after the first came",
     "g.V(1).repeat(out('transfer')).times(3).timeLimit(10000).count()", 0, kNoChildren,
     BuildTimeLimit},
    {"simplePath", "()", "keeps paths without repeated objects",
     "g.V(1).out('transfer').out('transfer').simplePath().count()",
     kTakesBy | kTakesFromTo | kReadsPath, kLocal, BuildPathFilter},
    {"cyclicPath", "()", "keeps paths with repeated objects",
     "g.V(1).out('transfer').in('transfer').cyclicPath().count()",
     kTakesBy | kTakesFromTo | kReadsPath, kLocal, BuildPathFilter},
    // Children and labels decide.
    {"where", "child:traversal | predicate:P | label:string, predicate:P",
     "keeps traversers for which the child gives something, or whose labels compare",
     "g.V().hasLabel('account').where(out('uses').count().is(gt(3))).count()", kTakesBy, kLocal,
     BuildWhere},
    {"filter", "child:traversal", "keeps traversers for which the child gives something",
     "g.V().hasLabel('account').filter(out('uses').has('model', 'tablet')).count()", 0, kLocal,
     BuildWhere},
    {"not", "child:traversal", "keeps traversers for which the child gives nothing",
     "g.V().hasLabel('account').not(out('transfer')).count()", 0, kLocal, BuildNot},
    {"and", "children:traversal*", "all children give something",
     "g.V().and(has('country', 'JP'), out('uses').has('model', 'phone')).count()", 0, kLocal,
     BuildAndOr},
    {"or", "children:traversal*", "one of the children gives something",
     "g.V().or(has('country', 'JP'), has('model', 'phone')).count()", 0, kLocal, BuildAndOr},
    {"match", "patterns:traversal+", "binds variables by patterns", "", 0, kLocal},
    // Values of elements.
    {"values", kKeys, "property values", "g.V(1).values('owner', 'country')", kSpreads, kNoChildren,
     BuildValues},
    {"properties", kKeys, "properties", "g.V(1).properties('owner').key()", kSpreads, kNoChildren,
     BuildValues},
    {"id", "()", "the element's id", "g.V().has('country', 'JP').id().min()", 0, kNoChildren,
     BuildToken},
    {"label", "()", "the element's label", "g.V().label().dedup()", 0, kNoChildren, BuildToken},
    {"key", "()", "the property's key", "g.V(1).properties().key()", 0, kNoChildren, BuildToken},
    {"value", "()", "the property's value", "g.V(1).properties('owner').value()", 0, kNoChildren,
     BuildToken},
    {"constant", "value:value", "always this value", "g.V(1).constant('found')", 0, kNoChildren,
     BuildConstant},
    {"identity", "()", "the traverser as it is", "g.V(1).identity().values('owner')", 0,
     kNoChildren, BuildIdentity},
    {"valueMap", "keys:string/null* | tokens:boolean, keys:string/null*",
     "a map from keys to lists of values", "g.V(1).valueMap('owner', 'country')",
     kTakesBy | kTakesWith, kLocal, BuildValueMap},
    {"elementMap", kKeys, "a map of id, label and property values",
     "g.V(1).elementMap('owner', 'country')", 0, kNoChildren, BuildElementMap},
    {"propertyMap", kKeys, "a map from keys to lists of properties",
     "g.V(1).propertyMap('owner').select(keys)", kTakesBy, kLocal, BuildPropertyMap},
    {"select",
     "column:Column | labels:string+ | pop:Pop, labels:string+ | "
     "key:traversal | pop:Pop, key:traversal",
     "labelled values, or a map's entries, keys or values",
     "g.V(1).as('a').out('transfer').as('b').select('a', 'b').by('owner')", kTakesBy, kLocal,
     BuildSelect},
    {"project", "keys:string+", "a map with one by() for each key",
     "g.V(1).project('owner', 'sent').by('owner').by(outE('transfer').count())", kTakesBy, kLocal,
     BuildProject},
    {"unfold", "()", "the members of collections and maps",
     "g.V(1).out('transfer').fold().unfold().values('owner')", kSpreads, kNoChildren, BuildUnfold},
    {"element", "()", "the element of a property", "g.V(1).properties('owner').element().label()",
     0, kNoChildren, BuildElement},
    {"path", "()", "where the traverser has been",
     "g.V(1).out('uses').path().by('owner').by('model')", kTakesBy | kTakesFromTo | kReadsPath,
     kLocal, BuildPath},
    {"tree", "() | key:string", "paths as a tree", "", kTakesBy},
    {"index", "()", "numbers the members of a collection", "g.inject(['a', 'b']).index()",
     kTakesWith, kNoChildren, BuildIndex},
    {"math", "equation:string", "arithmetic, as in math(\"a + b\").by(\"age\")",
     "g.V(1).outE('transfer').values('amount').math('_ * 2')", kTakesBy, kLocal, BuildMath},
    {"loops", "() | name:string", "how often the loop was run",
     "g.V(1).repeat(out('transfer')).until(__.loops().is(2)).count()", 0, kNoChildren, BuildLoops},
    {"sack", "() | operator:Operator", "the traverser's sack, or puts a value to it",
     "g.withSack(0).V(1).outE('transfer').sack(Operator.sum).by('amount').sack()", kTakesBy, kLocal,
     BuildSack},
    // All values together.
    {"count", kReduce, "how many", "g.V().hasLabel('account').count()", kGathers, kNoChildren,
     BuildCount},
    {"sum", kReduce, "the sum", "g.V(1, 2, 3).local(outE('transfer').count()).sum()", kGathers,
     kNoChildren, BuildReduce},
    {"min", kReduce, "the least", "g.E().hasLabel('transfer').values('amount').min()", kGathers,
     kNoChildren, BuildReduce},
    {"max", kReduce, "the greatest", "g.E().hasLabel('transfer').values('amount').max()", kGathers,
     kNoChildren, BuildReduce},
    {"mean", kReduce, "the average", "g.V(1, 2, 3).local(outE('transfer').count()).mean()",
     kGathers, kNoChildren, BuildReduce},
    {"fold", "() | seed:value, operator:Operator", "all in one list",
     "g.V(1).out('transfer').values('owner').order().fold()", kGathers, kNoChildren, BuildFold},
    {"order", "() | scope:Scope", "sorts",
     "g.V().hasLabel('account').order().by(out('transfer').count(), desc).by(id).limit(3).id()",
     kTakesBy | kGathers, kLocal, BuildOrder},
    {"group", "() | key:string", "a map from keys to groups",
     "g.V().hasLabel('device').group().by('model').by(count())", kTakesBy | kGathers, kLocal,
     BuildGroup},
    {"groupCount", "() | key:string", "a map from keys to counts",
     "g.V().hasLabel('account').groupCount().by('country')", kTakesBy | kGathers, kLocal,
     BuildGroup},
    {"barrier", "() | size:integer | merge:Barrier", "waits for all before it goes on",
     "g.V(1).out('transfer').barrier().out('transfer').count()", kGathers, kNoChildren,
     BuildBarrier},
    {"aggregate", "key:string | scope:Scope, key:string", "gathers into a side-effect",
     "g.V(1).out('transfer').aggregate('seen').out('transfer').where(without('seen')).dedup()."
     "count()",
     kTakesBy | kGathers, kLocal, BuildAggregate},
    {"cap", "keys:string+", "a side-effect's value",
     "g.V(1).out('transfer').aggregate('seen').by('owner').cap('seen').order(Scope.local)",
     kGathers, kNoChildren, BuildCap},
    {"subgraph", "key:string", "gathers edges into a graph"},
    // Children make the values.
    {"local", "child:traversal", "the child for each traverser by itself",
     "g.V(1, 2).local(outE('transfer').order().by('amount', desc).limit(1)).values('amount')", 0,
     kLocal, BuildLocal},
    {"map", "child:traversal", "the child's first result", "g.V(1, 2).map(out('transfer').count())",
     0, kLocal, BuildLocal},
    {"flatMap", "child:traversal", "the child's results",
     "g.V(1, 2).flatMap(out('transfer')).count()", kSpreads, kLocal, BuildLocal},
    {"sideEffect", "child:traversal", "runs the child, passes the traverser",
     "g.V(1).sideEffect(out('transfer').aggregate('seen')).values('owner')", 0, kLocal, BuildLocal},
    {"optional", "child:traversal", "the child's results, or the traverser",
     "g.V(1).optional(out('owes')).values('owner')", 0, kLocal, BuildLocal},
    {"coalesce", "children:traversal+", "the first child that gives something",
     "g.V(1).coalesce(values('nickname'), values('owner'))", kSpreads, kLocal, BuildCoalesce},
    {"union", "children:traversal*", "the results of all children",
     "g.V(1).union(out('transfer'), __.in('transfer')).dedup().count()", kStarts, kGlobal,
     BuildUnion},
    {"choose",
     "choice:traversal/T | test:traversal/P, then:traversal | "
     "test:traversal/P, then:traversal, else:traversal",
     "one of several branches",
     "g.V().hasLabel('device').choose(values('model')).option('phone', "
     "constant('mobile')).option(Pick.none, constant('fixed')).groupCount()",
     kTakesOption, kGlobal, BuildChoose},
    {"branch", "choice:traversal/T", "all options that fit",
     "g.V(1).branch(label()).option('account', values('owner')).option(Pick.any, label())",
     kTakesOption, kGlobal, BuildBranch},
    {"repeat", "body:traversal | name:string, body:traversal", "runs the body again and again",
     "g.V(1).repeat(out('transfer')).times(2).count()", kTakesLoopTests, kGlobal, BuildRepeat},
    // Modulators.
    {"as", "labels:string+", "labels the step before",
     "g.V(1).as('a').out('uses').in('uses').where(neq('a')).dedup().count()", kModulates},
    {"by",
     "() | value:string/T/Column/Order/traversal/P | value:string/T/Column/traversal, "
     "order:Order",
     "how the step before looks at its values",
     "g.V().hasLabel('account').groupCount().by('country')", kModulates, kLocal},
    {"option",
     "token:value/P/Pick/traversal, branch:traversal | branch:traversal | "
     "when:Merge, map:map/null/traversal, cardinality:Cardinality?",
     "a branch of choose(); what mergeV() and mergeE() set",
     "g.V(1).choose(values('country')).option('FR', constant('France')).option(Pick.none, "
     "constant('abroad'))",
     kModulates, kGlobal},
    {"with", "key:string/WithOptions, value:value/WithOptions?", "configures the step before",
     "g.V(1).valueMap('owner').with(WithOptions.tokens)", kModulates},
    {"from", "value:string/value/traversal", "where an edge or a path begins",
     "g.V(1).as('a').out('transfer').as('b').out('transfer').path().from('b').by('owner').count()"},
    {"times", "n:integer", "how often repeat() runs",
     "g.V(1).repeat(both('uses')).times(2).dedup().count()", kModulates},
    {"until", "test:traversal/P", "when repeat() ends",
     "g.V(1).repeat(out('transfer').simplePath()).until(has('country', "
     "'JP')).limit(1).values('country')",
     kModulates, kLocal},
    {"emit", "() | test:traversal/P", "what repeat() gives on its way",
     "g.V(1).repeat(out('transfer')).emit().times(2).count()", kModulates, kLocal},
    // Changes to the graph.
    {"addV", "() | label:string/traversal", "adds a vertex",
     "g.addV('note').property('text', 'ask them').values('text')",
     kStarts | kTakesProperties | kTakesWith, kLocal, BuildAddVertex},
    {"addE", "label:string/traversal", "adds an edge",
     "g.V(1).as('a').V(2).addE('knows').from('a').label()",
     kStarts | kTakesFromTo | kTakesProperties | kTakesWith, kLocal, BuildAddEdge},
    {"property", "arguments:value/T/Cardinality/traversal+", "sets a property",
     "g.V(1).property('note', 'asked').values('note')", 0, kLocal, BuildProperty},
    {"drop", "()", "removes elements or properties", "g.V(1).properties('note').drop()", 0,
     kNoChildren, BuildDrop},
    {"mergeV", "() | match:map/null/traversal", "finds or adds a vertex",
     "g.mergeV([(T.label): 'bank', name: 'First']).option(Merge.onCreate, [country: "
     "'FR']).values('name')",
     kStarts | kTakesOption | kSpreads, kLocal, BuildMergeVertex},
    {"mergeE", "() | match:map/null/traversal", "finds or adds an edge",
     "g.mergeE([(T.label): 'knows', (Direction.OUT): 1, (Direction.IN): 2]).label()",
     kStarts | kTakesOption | kSpreads, kLocal, BuildMergeEdge},
    // Text, numbers, dates, collections.
    {"asBool", "()", "the value as a boolean", "g.inject('true').asBool()", 0, kNoChildren,
     BuildCast},
    {"asDate", "()", "the value as a date", "g.inject('2026-01-31').asDate()", 0, kNoChildren,
     BuildCast},
    {"asNumber", "() | type:GType", "the value as a number, of a type such as GType.INT",
     "g.inject('12.5').asNumber()", 0, kNoChildren, BuildAsNumber},
    {"asString", kReduce, "the value as text", "g.V(1).id().asString()", 0, kNoChildren,
     BuildAsString},
    {"concat", "parts:string/null* | children:traversal+", "joins texts",
     "g.V(1).values('owner').concat(' of ', 'France')", 0, kLocal, BuildConcat},
    {"conjoin", "delimiter:string", "joins a collection into one text",
     "g.V(1).out('transfer').values('owner').order().fold().conjoin(', ')", 0, kNoChildren,
     BuildConjoin},
    {"combine", kOther, "one list after the other", "g.inject([1, 2]).combine([2, 3])", 0, kLocal,
     BuildOfBoth},
    {"dateAdd", "unit:DT, n:integer", "a date some time later",
     "g.V(1).values('opened').dateAdd(DT.day, 30)", 0, kNoChildren, BuildDateAdd},
    {"dateDiff", "date:datetime/null/traversal", "the milliseconds from another date",
     "g.V(1).values('opened').dateDiff(datetime('2020-01-01'))", 0, kLocal, BuildDateDiff},
    {"difference", kOther, "what the other collection lacks", "g.inject([1, 2, 3]).difference([2])",
     0, kLocal, BuildOfBoth},
    {"disjunct", kOther, "what only one collection has", "g.inject([1, 2]).disjunct([2, 3])", 0,
     kLocal, BuildOfBoth},
    {"format", "template:string", "fills in a template", "g.V(1).format('%{owner}, %{country}')",
     kTakesBy, kLocal, BuildFormat},
    {"intersect", kOther, "what both collections have", "g.inject([1, 2, 3]).intersect([2, 3, 4])",
     0, kLocal, BuildOfBoth},
    {"length", kReduce, "the length of a text", "g.V(1).values('owner').length()", 0, kNoChildren,
     BuildTextStep},
    {"lTrim", kReduce, "drops blanks at the start", "g.inject('  a').lTrim()", 0, kNoChildren,
     BuildTextStep},
    {"merge", kOther, "both collections or maps in one", "g.inject([1, 2]).merge([2, 3])", 0,
     kLocal, BuildOfBoth},
    {"product", kOther, "all pairs of two collections", "g.inject([1, 2]).product(['a', 'b'])", 0,
     kLocal, BuildOfBoth},
    {"replace", "old:string/null, new:string/null | scope:Scope, old:string/null, new:string/null",
     "replaces text", "g.V(1).values('owner').replace(' ', '-')", 0, kNoChildren, BuildTextStep},
    {"reverse", "()", "back to front", "g.V(1).values('owner').reverse()", 0, kNoChildren,
     BuildReverse},
    {"rTrim", kReduce, "drops blanks at the end", "g.inject('a  ').rTrim()", 0, kNoChildren,
     BuildTextStep},
    {"split", "separator:string/null | scope:Scope, separator:string/null", "a text into parts",
     "g.V(1).values('owner').split(' ')", 0, kNoChildren, BuildTextStep},
    {"substring", "begin:integer, end:integer? | scope:Scope, begin:integer, end:integer?",
     "a part of a text", "g.V(1).values('owner').substring(0, 1)", 0, kNoChildren, BuildTextStep},
    {"toLower", kReduce, "in lower case", "g.V(1).values('country').toLower()", 0, kNoChildren,
     BuildTextStep},
    {"toUpper", kReduce, "in upper case", "g.V(1).values('owner').toUpper()", 0, kNoChildren,
     BuildTextStep},
    {"trim", kReduce, "drops blanks at both ends", "g.inject(' a ').trim()", 0, kNoChildren,
     BuildTextStep},
    // The rest of the language.
    {"call", "arguments:value/traversal*", "calls a service", "", kStarts | kTakesWith},
    {"fail", "() | message:string", "ends the query with an error",
     "g.V().has('country', 'XX').fail('no such country')", 0, kNoChildren, BuildFail},
    {"io", "file:string", "reads or writes a file", "", kStarts | kTakesWith},
    {"read", "()", "reads the file of io()"},
    {"write", "()", "writes the file of io()"},
    {"profile", "key:string", "gathers measurements into a side-effect"},
    {"connectedComponent", "()", "finds connected components", "", kTakesWith},
    {"pageRank", "() | alpha:number", "ranks vertices", "", kTakesBy | kTakesWith},
    {"peerPressure", "()", "clusters vertices", "", kTakesBy | kTakesWith},
    {"shortestPath", "()", "finds shortest paths", "", kTakesWith},
    {"program", "program:value", "runs a vertex program"},
    {"tx", "()", "the source's transaction", "", kConfigures},
    {"withBulk", "use:boolean", "whether traversers that became one count as often as they were",
     "g.withBulk(false).V(1).both('uses').both('uses').count()", kConfigures, kNoChildren,
     BuildConfiguration},
    {"withComputer", "arguments:value*", "runs on a graph computer", "", kConfigures},
    {"withPath", "()", "remembers paths", "g.withPath().V(1).out('uses').path().count(local)",
     kConfigures, kNoChildren, BuildConfiguration},
    {"withSack", "initial:value, merge:Operator?", "gives traversers a sack",
     "g.withSack(1).V(1).repeat(out('transfer').sack(Operator.mult).by(constant(2))).times(2).sack("
     ").dedup()",
     kConfigures, kNoChildren, BuildConfiguration},
    {"withSideEffect", "key:string, initial:value, reducer:Operator?",
     "a side-effect with a first value",
     "g.withSideEffect('near', ['FR', 'DE']).V().values('country').where(within('near')).count()",
     kConfigures, kNoChildren, BuildConfiguration},
    {"withStrategies", "strategies:value+", "adds strategies", "", kConfigures},
    {"withoutStrategies", "strategies:value+", "removes strategies", "", kConfigures},
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

std::vector<std::string_view> StepNames() {
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
  static const std::vector<std::string_view> kNames = StepNames();
  return NearestName(name, std::span<const std::string_view>(kNames)).value_or("");
}

}  // namespace koios::planner
