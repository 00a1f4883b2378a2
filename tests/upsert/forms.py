"""Ways to write 'add it if it is not there'. x and y are ids of vertices, LABEL is the form's own
label, name the value of a new vertex and mine its id, where it has one."""

# One edge LABEL from x to y.
EDGES = [
    "g.V(x).as('a').V(y).coalesce(__.inE(LABEL).where(outV().as('a')), addE(LABEL).from('a'))",
    "g.V(x).as('a').V(y).coalesce(inE(LABEL).where(outV().hasId(x)), addE(LABEL).from('a'))",
    "g.V(y).as('b').V(x).coalesce(outE(LABEL).where(inV().where(eq('b'))), addE(LABEL).to('b'))",
    "g.V(x).outE(LABEL).where(inV().hasId(y)).fold()"
    ".coalesce(unfold(), V(x).addE(LABEL).to(V(y)))",
    "g.V(x).coalesce(out(LABEL).hasId(y), addE(LABEL).to(V(y)).inV())",
    "g.V(x).coalesce(out(LABEL).where(__.hasId(y)), addE(LABEL).to(V(y)).inV())",
    "g.V(x).where(__.not(out(LABEL).hasId(y))).addE(LABEL).to(V(y))",
    "g.V(x).not(outE(LABEL).inV().hasId(y)).addE(LABEL).to(V(y))",
    "g.V(x).where(out(LABEL).hasId(y).count().is(0)).addE(LABEL).to(V(y))",
    "g.V(x).as('a').V(y).where(__.not(__.in(LABEL).where(eq('a')))).addE(LABEL).from('a')",
    "g.V(x).as('a').V(y).as('b').where(__.not(select('a').out(LABEL).where(eq('b'))))"
    ".addE(LABEL).from('a').to('b')",
    "g.V(x).as('a').V(y).as('b').coalesce(select('a').outE(LABEL).where(inV().as('b')),"
    " addE(LABEL).from('a').to('b'))",
    "g.V(x).as('a').V(y).as('b').local(coalesce(__.inE(LABEL).where(outV().as('a')),"
    " addE(LABEL).from('a')))",
    "g.V(x).as('a').V(y).coalesce(bothE(LABEL).where(otherV().as('a')), addE(LABEL).from('a'))",
    "g.V(x).as('a').V(y).coalesce(inE().hasLabel(LABEL).where(outV().as('a')),"
    " addE(LABEL).from('a'))",
    "g.V(x).choose(out(LABEL).hasId(y), identity(), addE(LABEL).to(V(y)).outV())",
    "g.V(x).optional(__.not(out(LABEL).hasId(y)).addE(LABEL).to(V(y)))",
    "g.inject(1).coalesce(V(x).outE(LABEL).where(inV().hasId(y)), V(x).addE(LABEL).to(V(y)))",
    "g.E().hasLabel(LABEL).where(outV().hasId(x)).where(inV().hasId(y)).fold()"
    ".coalesce(unfold(), addE(LABEL).from(V(x)).to(V(y)))",
    "g.mergeE([T.label: LABEL, (OUT): x, (IN): y])",
    "g.mergeE([T.label: LABEL, (OUT): x, (IN): y]).option(onCreate, [w: 1])"
    ".option(onMatch, [m: 1])",
    "g.V(x).as('a').V(y).as('b').mergeE([T.label: LABEL, (OUT): Merge.outV, (IN): Merge.inV])"
    ".option(outV, select('a')).option(inV, select('b'))",
    "g.mergeE([T.label: LABEL, (OUT): Merge.outV, (IN): y]).option(outV, [T.id: x])",
    "g.inject(1).mergeE([T.label: LABEL, (OUT): x, (IN): y, k: 1])",
    "g.V(x).out(LABEL).aggregate('found').fold().V(y).where(without('found'))"
    ".addE(LABEL).from(V(x))",
]

# One vertex of LABEL with the name.
VERTICES = [
    "g.V().has(LABEL, 'name', name).fold()"
    ".coalesce(unfold(), addV(LABEL).property('name', name))",
    "g.inject(1).coalesce(V().has(LABEL, 'name', name), addV(LABEL).property('name', name))",
    "g.inject(1).not(V().has(LABEL, 'name', name)).addV(LABEL).property('name', name)",
    "g.inject(1).choose(V().hasLabel(LABEL).has('name', name), constant(1),"
    " addV(LABEL).property('name', name))",
    "g.V(mine).fold().coalesce(unfold(), addV(LABEL).property(T.id, mine).property('name', name))",
    "g.V().hasLabel(LABEL).values('name').fold().where(__.not(unfold().is(name)))"
    ".addV(LABEL).property('name', name)",
    "g.mergeV([T.label: LABEL, name: name])",
    "g.inject(1).mergeV([T.label: LABEL, name: name]).option(onCreate, [k: 1])",
    "g.mergeV([name: name, T.label: LABEL]).option(onMatch, [m: 1])",
    "g.inject([T.label: LABEL, name: name]).mergeV()",
    "g.mergeV([T.id: mine]).option(onCreate, [T.label: LABEL, name: name])",
    "g.V(x).out(LABEL).has('name', name).fold().coalesce(unfold(),"
    " addV(LABEL).property('name', name).as('new').addE(LABEL).from(V(x)).select('new'))",
]

COUNTERS = [
    "g.V(x).property('n', __.union(values('n'), constant(1)).sum())",
    "g.V(x).property('m', coalesce(union(values('m'), constant(1)).sum(), constant(1)))",
]

# Each to another vertex y of one vertex x.
HUB = ("g.V(x).as('a').V(y).coalesce(__.inE('spoke').where(outV().as('a')),"
       " addE('spoke').from('a'))")
