"""Which scenarios use only steps that exist so far; and what the others lack."""
import re

STEPS = set("""
V E inject addV addE property drop from to out in both outE inE bothE outV inV bothV otherV id label
values valueMap elementMap properties propertyMap key value constant identity has hasLabel hasId
hasKey hasValue hasNot is where filter and or not dedup limit range skip tail coin sample order by
count sum min max mean fold unfold group groupCount as select project path simplePath cyclicPath
repeat times until emit loops union choose branch option coalesce optional local map flatMap
sideEffect barrier aggregate cap none with
concat asString length toUpper toLower trim lTrim rTrim substring replace split reverse format
asBool asDate asNumber dateAdd dateDiff
all any combine conjoin difference disjunct intersect merge product math index element discard fail
mergeV mergeE timeLimit sack withSack withSideEffect withBulk withPath
""".split())
PREDICATES = set("""
eq neq gt gte lt lte inside outside between within without negate startingWith notStartingWith
endingWith notEndingWith containing notContaining regex notRegex typeOf
""".split())
LITERALS = {"datetime", "DateTime", "UUID", "Vertex"}
ENDS = {"next", "toList", "toSet", "iterate", "hasNext", "explain", "profile"}
# What the scenarios themselves ask of a graph, and Koios' does not have: several values of a
# property, properties of properties, ids of vertex properties that the user gives.
TAGS = {"@MultiProperties", "@MetaProperties", "@UserSuppliedVertexPropertyIds"}
# Scenarios whose rows are not what the language says but what one implementation does.
EXCEPTIONS = {
    "branch/Repeat.feature::g_VX1_2_3X_repeatXboth_barrierX_emit_timesX2X_path":
        "its order is that in which TinkerGraph's hash map of edge labels is walked",
    "integrated/Paths.feature::g_V_shortestpath":
        "the reference drops a label of the loop that is still read: without its"
        " PathRetractionStrategy, or with times(5), it has the pairs three hops apart too, as"
        " Koios does",
}

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)*'")
_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")
_CARDINALITY = re.compile(r"\b(?:list|set)\b\s*[,(]")


def lacking(scenario):
    """The words of a scenario that are beyond the steps that exist; empty: it must pass."""
    words = {tag for tag in scenario.tags if tag in TAGS}
    for step in scenario.steps:
        if step.text.startswith("using the side effect"):
            words.add("withSideEffect")
        if step.doc is None:
            continue
        text = _STRING.sub('""', step.doc)
        known = STEPS | PREDICATES | LITERALS | ENDS
        words |= {name for name in _CALL.findall(text) if name not in known}
        if _CARDINALITY.search(text):
            words.add("cardinality")
    return words
