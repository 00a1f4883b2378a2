"""Random traversals, each with one right multiset of rows. What a step takes and gives is a kind:
v vertex, e edge, n number, s text, x anything (the traversal ends there). Seeded by the caller."""
import re

LABELS = ["knows", "created"]
NAMES = ["marko", "vadas", "lop", "josh", "ripple", "peter"]
MAX_DEPTH = 2
# Of an empty input: the reference's optional(count()) gives 0, though it has no traverser to ask.
_REDUCES = re.compile(r"\.(count|sum|min|max)\(")


class Generator:
    def __init__(self, chance):
        self.chance = chance
        self.labels = []        # as() labels, at the top level only
        self.ambiguous = False  # which of several equal objects is there depends on the order
        self.sacks = False      # traversers have one, a number

    def pick(self, *items):
        return self.chance.choice(items)

    def query(self):
        self.labels, self.ambiguous, self.sacks = [], False, False
        if self.chance.random() < 0.12:
            return self.pick(self.early_stop, self.early_stop, self.visited, self.meetings,
                             self.begun)()
        self.sacks = self.chance.random() < 0.15
        first = self.chance.randint(1, 4)
        text, kind = self.pick(
            ("g.V()", "v"), ("g.V()", "v"), ("g.V(%d)" % self.chance.randint(1, 6), "v"),
            ("g.V(%d..%d)" % (first, first + self.chance.randint(0, 2)), "v"),
            ("g.V().hasLabel('person')", "v"), ("g.E()", "e"))
        for _ in range(self.chance.randint(1, 5)):
            step, kind = self.step(kind, 0, top=True)
            text += step
        if self.sacks:
            text = text.replace("g.", self.pick("g.withSack(1).", "g.withSack(0.5d)."), 1)
        return text + self.end(kind)

    def sack_step(self, kind):
        """What changes the sacks of this kind of traverser."""
        operator = self.pick("sum", "sum", "minus", "mult", "min", "max", "assign")
        by = {"v": [".by('age')", ".by(__.out().count())", ".by(__.constant(2))"],
              "e": [".by('weight')", ".by(__.sack())"], "n": ["", ".by(__.constant(3))"]}
        return ".sack(%s)%s" % (operator, self.pick(*by.get(kind, [".by(__.constant(3))"])))

    def meetings(self):
        """Sacks that are put together where traversers meet, as many places as there are."""
        text = self.pick("g.", "g.withBulk(false).") + "withSack(1,%s)" % \
            self.pick("sum", "sum", "max", "min", "mult")
        text += self.pick(".V()", ".V()", ".V().hasLabel('person')", ".V(1)", ".V(1,2,3,4,5,6)")
        for _ in range(self.chance.randint(1, 5)):
            text += self.pick(
                ".out()", ".in()", ".both()", ".outE().inV()", ".barrier()", ".barrier()",
                ".sack(sum).by(__.constant(1))", ".sack(sum).by(__.out().count())",
                ".has('age',gt(25))", ".flatMap(__.both())", ".where(__.out())",
                ".outE().sack(sum).by(__.constant(2)).inV()",
                ".repeat(__.both().barrier()).times(2)",
                ".repeat(__.out().sack(sum).by(__.constant(1)).barrier()).emit().times(2)")
        return text + self.pick(".sack()", ".sack().sum()", ".count()", ".order().by(T.id).sack()",
                                ".project('p','q').by(T.id).by(__.sack())", ".id()",
                                ".barrier(normSack).sack()", ".aggregate('x').sack()")

    def begun(self):
        """Side-effects that begin with a value."""
        operator = self.pick("sum", "minus", "max", "min", "assign", "addAll")
        value = "[1,29]" if operator == "addAll" else self.pick("1", "30", "2.5d")
        text = "g.withSideEffect('x',%s,%s)" % (value, operator)
        if self.chance.random() < 0.4:
            text = "g.withSideEffect('x',%s)" % self.pick("[]", "[27,29]", "{}", "{27,29}", "5")
        text += ".V()%s.values('age')" % self.pick("", ".out()", ".both()", ".both().both()")
        read = self.pick("", "", ".select('x')", ".math('_ + x')", ".where(eq('x'))")
        if read and self.chance.random() < 0.5:
            return text + read
        gather = self.pick(".aggregate('x')", ".aggregate('x').by(__.constant(1))",
                           ".aggregate('x')%s" % read)
        return text + gather + self.pick(".cap('x')", ".cap('x').unfold()", "", ".count()")

    def hops(self):
        """A loop's body that makes the path longer by as much in each iteration."""
        hop = self.pick("both(%s)", "out(%s)", "bothE(%s).otherV()") % self.edge_labels()
        return "__." + hop + \
            self.pick("", ".simplePath()", ".simplePath()", ".has('age',%s)" % self.predicate(True))

    def early_stop(self):
        """What leaves a loop first: the lengths of its paths tell the iteration."""
        start = self.pick("g.V(%d)" % self.chance.randint(1, 6),
                          "g.V(%d)" % self.chance.randint(1, 6), "g.V().order().by(T.id)")
        times = self.chance.randint(1, 3)
        loop = self.pick(
            ".repeat(%s).emit().times(%d)", ".repeat(%s).times(%d).emit()",
            ".repeat(%s).emit(__.has('age')).times(%d)",
            ".repeat(%s).until(__.or(__.has('lang'),__.loops().is(%d)))",
            ".until(__.or(__.has('lang'),__.loops().is(%d))).repeat(%s)")
        inside = (times, self.hops()) if loop.startswith(".until") else (self.hops(), times)
        text = start + loop % inside
        low = self.chance.randint(0, 3)
        return text + self.pick(
            ".limit(%d).path().count(Scope.local)" % (low + 1),
            ".path().count(Scope.local).limit(%d)" % (low + 1),
            ".path().count(Scope.local).range(%d,%d)" % (low, low + 3),
            ".path().count(Scope.local).skip(%d)" % low, ".path().count(Scope.local).tail(3)",
            ".path().count(Scope.local).fold()")

    def visited(self):
        """A set of the visited: each vertex comes once, on a shortest way."""
        visit = ".where(without('x')).local(__.aggregate('x'))"
        text = "g.V(%d)" % self.chance.randint(1, 6) + self.pick("", ".aggregate('x')")
        text += ".repeat(%s%s)" % (self.hops().replace(".simplePath()", ""), visit)
        return text + self.pick(
            ".emit().path().count(Scope.local)", ".emit().id()", ".emit().limit(2).count()",
            ".times(%d).path().count(Scope.local)" % self.chance.randint(1, 3),
            ".emit().path().count(Scope.local).limit(3)", ".cap('x').unfold().id()")

    def upsert(self):
        """A request that adds an edge unless it is there, or looks what is there."""
        names = {"x": self.chance.randint(1, 6), "y": self.chance.randint(1, 6),
                 "l": self.pick("one", "two")}
        return self.pick(
            "g.V(%(x)d).as('a').V(%(y)d).coalesce(__.inE('%(l)s').where(__.outV().as('a')),"
            "__.addE('%(l)s').from('a')).outV().id()",
            "g.V(%(x)d).coalesce(__.outE('%(l)s').where(__.inV().hasId(%(y)d)),"
            "__.addE('%(l)s').to(__.V(%(y)d))).inV().id()",
            "g.V(%(x)d).outE('%(l)s').where(__.inV().hasId(%(y)d)).fold().coalesce(__.unfold(),"
            "__.V(%(x)d).addE('%(l)s').to(__.V(%(y)d))).count()",
            "g.V(%(x)d).not(__.out('%(l)s').hasId(%(y)d)).addE('%(l)s').to(__.V(%(y)d)).count()",
            "g.mergeE([(T.label):'%(l)s',(OUT):%(x)d,(IN):%(y)d]).inV().id()",
            "g.mergeE([(T.label):'%(l)s',(OUT):%(x)d,(IN):%(y)d,w:%(y)d])"
            ".option(Merge.onMatch,[m:%(x)d]).values('w','m')",
            "g.V(%(x)d).out().mergeE([(T.label):'%(l)s',(OUT):%(x)d,(IN):%(y)d])"
            ".option(Merge.onCreate,[m:0]).option(Merge.onMatch,[m:1]).values('m')",
            "g.V(%(x)d).as('a').V(%(y)d).as('b')"
            ".mergeE([(T.label):'%(l)s',(OUT):Merge.outV,(IN):Merge.inV])"
            ".option(Merge.outV,__.select('a')).option(Merge.inV,__.select('b')).outV().id()",
            "g.mergeE([(T.label):'%(l)s',(IN):%(y)d]).option(Merge.onCreate,[(OUT):%(x)d])"
            ".inV().id()",
            "g.inject([(T.label):'%(l)s',(OUT):%(x)d,(IN):%(y)d],"
            "[(T.label):'%(l)s',(OUT):%(y)d,(IN):%(x)d,w:1]).as('m').mergeE(select('m'))"
            ".project('o','i').by(__.outV().id()).by(__.inV().id())",
            "g.V(%(x)d).out().as('v').constant([(T.label):'%(l)s',(IN):%(y)d]).as('m').V(%(x)d)"
            ".as('a').mergeE(select('m')).option(Merge.onCreate,[(OUT):%(y)d])"
            ".option(Merge.onMatch,__.select('a').project('m').by(T.id)).inV().id()",
            "g.V(%(x)d).outE('%(l)s').inV().id()",
            "g.V(%(x)d).outE('%(l)s').where(__.inV().hasId(%(y)d)).drop()",
            "g.E().hasLabel('one','two').count()") % names

    def child(self, kind, depth, wanted=None):
        """An anonymous traversal; `wanted`: the kind that it must give. Never of identity() alone:
        the reference drops it, and some of its steps then lose traversers."""
        for _ in range(20):
            text, now = "__", kind
            for _ in range(self.chance.randint(1, 2)):
                step, now = self.step(now, depth + 1, top=False)
                text += step
            if wanted is None or now == wanted:
                return text, now
        return "__" + self.filter_of(kind, MAX_DEPTH), kind

    def step(self, kind, depth, top):
        if self.sacks and self.chance.random() < 0.25:
            return self.sack_step(kind), kind
        table = {"v": self.vertex_step, "e": self.edge_step, "n": self.value_step,
                 "s": self.value_step}
        return table[kind](kind, depth, top)

    def edge_labels(self):
        return self.pick("", "", "'knows'", "'created'", "'knows','created'")

    def predicate(self, number):
        if number:
            n = self.chance.randint(20, 40)
            return self.pick("%d" % n, "gt(%d)" % n, "lt(%d)" % n, "between(25,%d)" % n,
                             "neq(%d)" % n, "within(27,29,%d)" % n,
                             "within(25..%d)" % n, "without(30..%d)" % n,
                             "gte(%d).and(lte(35))" % n,
                             "lt(28).or(gt(%d))" % n, "not(eq(%d))" % n, "without(32)")
        name = self.pick(*NAMES)
        return self.pick("'%s'" % name, "neq('%s')" % name, "within('%s','lop')" % name,
                         "gt('%s')" % name, "startingWith('%s')" % name[0],
                         "containing('%s')" % name[1], "without('%s')" % name)

    def filter_of(self, kind, depth):
        if kind == "v":
            simple = self.pick(".has('age',%s)" % self.predicate(True), ".has('name',%s)" %
                               self.predicate(False), ".hasLabel('person')", ".has('lang')",
                               ".hasNot('age')", ".has('person','age',%s)" % self.predicate(True))
        elif kind == "e":
            weight = self.pick("0.4", "gt(0.4)", "lte(0.5)", "neq(1.0)")
            simple = self.pick(".has('weight',%s)" % weight, ".hasLabel('knows')")
        else:
            simple = ".is(%s)" % self.predicate(kind == "n")
        if depth >= MAX_DEPTH or self.chance.random() < 0.5:
            return simple
        first = self.child(kind, depth)[0]
        second = self.child(kind, depth)[0]
        return self.pick(".where(%s)" % first, ".not(%s)" % first, ".filter(%s)" % first,
                         ".and(%s,%s)" % (first, second), ".or(%s,%s)" % (first, second),
                         ".where(%s.count().is(%s))" % (first, self.pick("0", "gt(1)", "lt(2)")))

    def branch(self, kind, depth, top):
        if depth >= MAX_DEPTH:
            return self.filter_of(kind, MAX_DEPTH), kind
        first, to = self.child(kind, depth)
        second, other = self.child(kind, depth, to)
        if other != to:
            return "." + first[3:], to
        test = self.child(kind, depth)[0]
        choices = [".union(%s,%s)" % (first, second), ".coalesce(%s,%s)" % (first, second),
                   ".choose(%s,%s,%s)" % (test, first, second), ".local(%s)" % first,
                   ".flatMap(%s)" % first,
                   ".choose(%s.count()).option(0,%s).option(Pick.none,%s)" % (test, first, second),
                   ".choose(%s.count()).option(gt(1),%s).option(1,%s).option(Pick.none,%s)" %
                   (test, first, second, first),
                   ".branch(%s.count()).option(0,%s).option(gt(%d),%s)" %
                   (test, first, self.chance.randint(0, 1), second),
                   ".branch(%s.count()).option(%s,%s).option(Pick.%s,%s)" %
                   (test, self.pick("1", "__.is(gt(1))"), first, self.pick("any", "none"),
                    second)]
        if to == kind and not _REDUCES.search(first):
            choices += [".optional(%s)" % first, ".choose(%s,%s)" % (test, first)]
        return self.pick(*choices), to

    def loop(self, depth):
        body, to = self.child("v", max(depth, 1), "v")
        if to != "v":
            return ".out()", "v"
        times = self.chance.randint(1, 3)
        return self.pick(
            ".repeat(%s).times(%d)" % (body, times),
            ".repeat(%s).times(%d).emit()" % (body, times),
            ".repeat(%s).emit().times(%d)" % (body, times),
            ".identity().emit().repeat(%s).times(%d)" % (body, times),
            ".identity().times(%d).repeat(%s)" % (times, body),
            ".repeat(%s).emit(%s).times(%d)" % (body, self.child("v", MAX_DEPTH)[0], times),
            ".repeat(%s).until(__.or(%s,__.loops().is(%d)))" %
            (body, self.child("v", MAX_DEPTH)[0], times),
            ".identity().until(__.or(__.not(__.out()),__.loops().is(%d))).repeat(%s)" %
            (times, body)), "v"

    def vertex_step(self, kind, depth, top):
        labels = self.edge_labels()
        near = [(".out(%s)" % labels, "v"), (".in(%s)" % labels, "v"), (".both(%s)" % labels, "v")]
        edges = [(".outE(%s)" % labels, "e"), (".inE(%s)" % labels, "e"),
                 (".bothE(%s)" % labels, "e"), (".bothE(%s).otherV()" % labels, "v")]
        values = [(".values('age')", "n"), (".values('name')", "s"), (".label()", "s"),
                  (".outE().count().sum()", "n"), (".values('age','name')", "x")]
        choice = self.chance.random()
        if choice < 0.35:
            return self.pick(*near)
        if choice < 0.45:
            return self.pick(*edges)
        if choice < 0.6:
            return self.filter_of(kind, depth), kind
        if choice < 0.72:
            return self.branch(kind, depth, top)
        if choice < 0.8:
            return self.loop(depth) if depth < MAX_DEPTH else self.pick(*near)
        if choice < 0.87:
            return self.pick(*values[:-1])
        return self.any_step(kind, depth, top)

    def edge_step(self, kind, depth, top):
        choice = self.chance.random()
        if choice < 0.5:
            return self.pick((".outV()", "v"), (".inV()", "v"), (".bothV()", "v"))
        if choice < 0.7:
            return self.filter_of(kind, depth), kind
        if choice < 0.8:
            return self.branch(kind, depth, top)
        if choice < 0.88:
            return self.pick((".values('weight')", "n"), (".label()", "s"))
        return self.any_step(kind, depth, top)

    def value_step(self, kind, depth, top):
        choice = self.chance.random()
        if choice < 0.4:
            return self.filter_of(kind, depth), kind
        if choice < 0.6 and kind == "n":
            return self.pick(".sum()", ".min()", ".max()"), kind
        if choice < 0.7:
            # is() right behind it: the reference then counts no further than it needs to.
            return ".count().sum()", "n"
        if choice < 0.8:
            return self.branch(kind, depth, top)
        if choice < 0.9:
            return self.scalar_step(kind)
        return self.any_step(kind, depth, top)

    def scalar_step(self, kind):
        if kind == "n":
            return self.pick((".math('_ * 2 - 1')", "n"), (".math('2 - abs _')", "n"),
                             (".asString()", "s"), (".asBool().asString()", "s"),
                             (".asString().asNumber(GType.DOUBLE)", "n"),
                             (".asNumber(GType.%s)" % self.pick("LONG", "BIGINT", "DOUBLE"), "n"),
                             (self.date(), "n"), (self.date(), "n"),
                             (".asNumber(GType.LONG).asDate().asString()", "s"))
        return self.pick((".toUpper()", "s"), (".toLower()", "s"), (".reverse()", "s"),
                         (".concat('-','o')", "s"), (".concat(__.toUpper())", "s"),
                         (".substring(1)", "s"), (".substring(-3,-1)", "s"), (".trim()", "s"),
                         (".replace('o','0 ')", "s"), (".length()", "n"),
                         (".split('o').conjoin('+')", "s"),
                         (".length().asString().asNumber()", "n"))

    def date(self):
        """A number as a date, and back. No step here fails: of or() the reference asks fewer."""
        later = ".dateAdd(DT.%s,%d)" % (self.pick("second", "minute", "hour", "day"),
                                        self.chance.randint(-3, 3))
        back = self.pick(".asNumber()", ".dateDiff(datetime('1970-01-01T00:00:01Z'))",
                         ".dateDiff(__.dateAdd(DT.minute,1))",
                         ".dateDiff(__.constant(datetime('2023-08-02T01:00:00+01:00')))")
        return ".asNumber(GType.LONG).asDate()" + later + back

    def any_step(self, kind, depth, top):
        if not top:
            plain = [self.filter_of(kind, MAX_DEPTH)]
            plain += [] if self.ambiguous else [".simplePath()"]
            return self.pick(*plain), kind
        choice = self.chance.random()
        if choice < 0.35 and len(self.labels) < 2:
            self.labels.append("ab"[len(self.labels)])
            return ".as('%s')" % self.labels[-1], kind
        if choice < 0.6:
            self.ambiguous = True
            return ".dedup()", kind
        if choice < 0.75 and kind in "ve":
            self.ambiguous = True
            by = "by(T.id)" if kind == "v" else "by(T.id,desc)"
            return ".order().%s.limit(%d)" % (by, self.chance.randint(1, 6)), kind
        if choice < 0.9 and kind in "ns":
            self.ambiguous = True
            order = self.pick("order()", "order().by(desc)")
            return ".%s.range(%d,%d)" % (order, self.chance.randint(0, 1),
                                         self.chance.randint(2, 5)), kind
        if self.ambiguous:
            return ".identity()", kind
        return self.pick(".simplePath()", ".cyclicPath()"), kind

    def end(self, kind):
        ends = ["", "", ".count()", ".fold()", ".dedup()", ".groupCount()",
                ".group().by().by(__.count())", ".fold().count(Scope.local)",
                ".aggregate('x').cap('x')", ".project('p','q').by().by(__.count())",
                ".aggregate('x').cap('x').unfold()",
                ".aggregate('x').cap('x').unfold().local(__.aggregate('x')).count()",
                ".groupCount('m').cap('m').unfold().select(Column.values)"]
        if kind == "n":
            ends += [".sum()", ".mean()", ".max()", ".min()", ".fold().sum(Scope.local)"]
        if kind == "v":
            ends += [".id()", ".groupCount().by(T.label)",
                     ".dedup().groupCount().by(T.label)",
                     ".groupCount().unfold().select(Column.keys)",
                     ".aggregate('x').cap('x').unfold().out().id()",
                     ".group('m').by(T.label).by('name').cap('m').unfold().select(Column.keys)",
                     ".groupCount('m').by('name').cap('m')",
                     ".group('m').by(T.label).by(__.count()).cap('m')",
                     ".groupCount('m').by(T.label).groupCount('n').by('name').cap('n')",
                     ".groupCount('m').by(T.label).cap('m').select('vertex')",
                     ".group().by(T.label).by(__.out().count())",
                     ".group().by('age').by('name')",
                     ".format('%{name} %{age} %{_}').by(T.label)",
                     ".values('name').fold().%s(__.V().values('name').fold()).unfold()" %
                     self.pick("merge", "difference", "intersect", "disjunct", "combine"),
                     ".as('v').both().as('w').math('v - w').by('age')",
                     ".valueMap('name','age')", ".elementMap()",
                     ".project('p','q').by('name').by(__.outE().count())",
                     ".order().by('name').values('name')", ".values('age','name')",
                     ".group().by(__.out().count()).by(__.values('age').sum())"]
        if kind == "e":
            ends += [".groupCount().by(T.label)", ".elementMap('weight')",
                     ".group().by(T.label).by(__.values('weight').sum())"]
        if self.sacks and not self.ambiguous:
            ends = [".sack()", ".sack()", ".sack().sum()", ".project('p','q').by().by(__.sack())",
                    ".group().by().by(__.sack().sum())", ".order().by(__.sack()).count()",
                    ".dedup().by(__.sack()).count()", ".sack().path()", ".math('_').by(__.sack())",
                    ".local(__.sack()).max()", ".where(__.sack().is(gt(2))).count()"]
        elif not self.ambiguous:
            ends += [".path()", ".path()", ".path().count(Scope.local)"]
            if kind == "v":
                ends += [".path().by(T.id)"]
            if self.labels:
                names = ",".join("'%s'" % label for label in self.labels)
                ends += [".select(%s)" % names] * 3
                ends += [".where(neq('a'))", ".select(%s).fold()" % names]
                ends += [".select(%s__.constant('%s'))" %
                         (self.pick("", "Pop.first,", "Pop.last,", "Pop.mixed,", "Pop.all,"),
                          self.pick(*self.labels))]
        return self.pick(*ends)


def random_graph(chance, num_vertices=30, num_edges=70):
    """(vertices, edges): (id, label, properties) and (id, out, label, in, properties)."""
    vertices = []
    for number in range(1, num_vertices + 1):
        person = chance.random() < 0.7
        properties = {"name": chance.choice(NAMES)}
        if person and chance.random() < 0.8:
            properties["age"] = chance.randint(20, 40)
        if not person:
            properties["lang"] = chance.choice(["java", "c"])
        vertices.append((number, "person" if person else "software", properties))
    edges = []
    for number in range(num_edges):
        out = chance.randint(1, num_vertices * 2 // 3)
        into = out if chance.random() < 0.05 else chance.randint(1, num_vertices - 4)
        weight = {"weight": chance.randint(1, 10) / 10} if chance.random() < 0.9 else {}
        edges.append((1000 + number, out, chance.choice(LABELS), into, weight))
    return vertices, edges
