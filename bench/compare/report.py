"""The tables: a row for each query, and whether what we aim at is met."""
import collections
import glob
import os
import platform
import statistics
import struct

import rmat

TARGETS = {w.key: w.target for w in rmat.WORKLOADS}
NAMES = {w.key: w.name for w in rmat.WORKLOADS}
AHEAD_OF_BEST = 3.0
AHEAD_OF_NEO4J = ("triangles", "four-walks", "shortest", "shortest-simple")
TWO_WORKERS = 1.7
HEAVY_SECONDS = 0.01
WORK_LIMITS = {"read": "a call answered at once", "commit": "grouped fdatasync"}
NO_LOOP_SECONDS = 20e-6  # below, a limit is no measure: to begin a query costs more
EMPTY_CALLS = 2.0  # a point read by one connection, in calls that are answered at once
POINT_READS = 19_800  # a second by 16 connections: 1.5 times what Gremlin Server gave
COMMITS = 0.6  # of grouped fdatasync
LOADS = {"kuzu": 4.0, "duckdb": 1.0}  # times their rate
DISK = 1.5  # times the CSV
TOPOLOGY = 1.5  # times the limit's lists
WITHIN = {"snb-sf1": {"ic2": 0.030, "ic6": 0.030, "ic9": 0.350, **{
    "is%d" % i: 0.001 for i in range(1, 8)}}}  # seconds for the client
ENGINE_WITHIN = {"four-hop-limit": 0.0003}
GROWTH = 1.0  # times the rows touched
PEERS = ("kuzu", "duckdb", "neo4j", "tinkergraph")
TITLES = {"koios": "Koios", "koios1": "Koios, 1 worker", "kuzu": "Kuzu", "duckdb": "DuckDB",
          "neo4j": "Neo4j", "tinkergraph": "TinkerGraph", "limit1": "limit, 1 thread",
          "limit2": "limit, 2 threads"}


def _ms(seconds):
    ms = 1000 * seconds
    return "%.0f" % ms if ms >= 100 else "%.1f" % ms if ms >= 10 else "%.2f" % ms if (
        ms >= 0.1) else "%.4f" % ms


def _shown(cell, p95=True):
    if not cell:
        return ""
    if "mark" in cell:
        return cell["mark"]
    few = " of %d" % cell["runs"] if cell["runs"] < 10 else ""
    return "%s (%s)%s" % (_ms(cell["median"]), _ms(cell["p95"]), few) if p95 else _ms(
        cell["median"])


def _times(cell, key="median"):
    """Seconds, or None where nothing was timed."""
    return None if not cell or "mark" in cell else cell.get(key, cell["median"])


def limit_of(cells, key):
    """The faster one of the two."""
    times = [_times(cells.get(x, {}).get(key)) for x in ("limit1", "limit2")]
    return min((x for x in times if x is not None), default=None)


def best_peer(cells, key):
    times = [_times(cells.get(x, {}).get(key)) for x in PEERS]
    return min((x for x in times if x is not None), default=None)


def _verdicts(cells, key):
    """[(what, met)] of a row."""
    koios = cells.get("koios", {}).get(key)
    if not koios or "mark" in koios:
        return [("an answer", False)] if koios else []
    found, limit, best = [], limit_of(cells, key), best_peer(cells, key)
    target = TARGETS.get(key, 0)
    if target and limit and limit >= NO_LOOP_SECONDS:
        found.append(("limit", _times(koios, "engine") <= target * limit))
    if key in ENGINE_WITHIN:
        found.append(("early stop", _times(koios, "engine") <= ENGINE_WITHIN[key]))
    if best:
        found.append(("peers", _times(koios) * AHEAD_OF_BEST <= best))
    neo4j = _times(cells.get("neo4j", {}).get(key))
    if key in AHEAD_OF_NEO4J and neo4j:
        found.append(("Neo4j", _times(koios) < neo4j))
    return found


def _verdict(cells, key):
    words = ["%s %s" % (what, _said(met)) for what, met in _verdicts(cells, key)]
    limit = limit_of(cells, key)
    if TARGETS.get(key) and limit and limit < NO_LOOP_SECONDS:
        words.append("limit too short")
    return ", ".join(words)


def _said(met):
    return "yes" if met else "**no**"


def _ratio(above, below):
    if not above or not below:
        return ""
    ratio = above / below
    return "%.0f" % ratio if ratio >= 100 else "%.2f" % ratio


def _row(words):
    return "| " + " | ".join(words) + " |"


def _keys(results):
    """In the order in which they were asked."""
    keys = []
    for cells in results.cells.values():
        keys += [key for key in cells if key not in keys]
    return keys


def _query_table(results):
    cells, rmat_graph = results.cells, results.data.kind == "rmat"
    peers = [x for x in PEERS if x in cells]
    limits = ["limit1", "limit2"] if rmat_graph else []
    head = ["query", "Koios", "its engine", "1 worker"] + [TITLES[x] for x in peers + limits]
    head += (["engine / limit"] if rmat_graph else []) + ["best peer / Koios", "targets"]
    lines = [_row(head), _row(["---"] + ["---:"] * (len(head) - 2) + ["---"])]
    for key in _keys(results):
        koios = cells.get("koios", {}).get(key)
        engine = _times(koios, "engine")
        row = [NAMES.get(key, key), _shown(koios), _ms(engine) if engine is not None else "",
               _shown(cells.get("koios1", {}).get(key), p95=False)]
        row += [_shown(cells[x].get(key)) for x in peers]
        row += [_shown(cells.get(x, {}).get(key), p95=False) for x in limits]
        if rmat_graph:
            row.append(_ratio(engine, limit_of(cells, key)))
        row += [_ratio(best_peer(cells, key), _times(koios)), _verdict(cells, key)]
        lines.append(_row(row))
    return lines


def _cold_table(results):
    peers = [x for x in ("koios",) + PEERS if x in results.cold]
    if not peers:
        return []
    lines = ["", "The first run after a start, with no file cached (ms):", "",
             _row(["query"] + [TITLES[x] for x in peers]), _row(["---"] + ["---:"] * len(peers))]
    for key in results.cold[peers[0]]:
        lines.append(_row([NAMES.get(key, key)] + [
            _shown(results.cold[x].get(key), p95=False) for x in peers]))
    return lines


def _gigabytes(number):
    return "%.0f MB" % (number / 1e6) if number else ""


def _facts_table(results):
    csv, rows = results.data.csv_bytes(), results.data.num_rows()
    lines = ["", _row(["", "load s", "rows/s", "memory after open", "after the queries", "disk",
                       "disk / CSV"]), _row(["---"] + ["---:"] * 6)]
    for name in ("koios",) + PEERS + ("limit1",):
        facts = results.facts.get(name)
        if not facts:
            continue
        load, disk = facts.get("load_seconds"), facts.get("disk_bytes")
        lines.append(_row([TITLES[name], "%.1f" % load if load else "",
                           "%.0f" % (rows / load) if load else "",
                           _gigabytes(facts.get("memory_bytes")),
                           _gigabytes(facts.get("memory_after_bytes")), _gigabytes(disk),
                           "%.2f" % (disk / csv) if disk else ""]))
    return lines


def _section_bytes(path):
    """{kind: bytes} of a snapshot file, from its directory (storage/snapshot/format.h)."""
    found = {}
    with open(path, "rb") as f:
        directory, _, sections = struct.unpack_from("<QQI", f.read(4096), 48)
        f.seek(directory)
        for entry in struct.iter_unpack("<BBBBIIIQQQQ", f.read(48 * sections)):
            found[entry[0]] = found.get(entry[0], 0) + entry[8]
    return found


def _kinds(results):
    """Bytes of each kind of section in the graph's snapshots."""
    kinds = collections.Counter()
    for path in glob.glob(os.path.join(results.data.folder, "koios", "**", "*.snap"),
                          recursive=True):
        kinds.update(_section_bytes(path))
    return kinds


def _list_bytes(results):
    kinds = _kinds(results)
    return sum(kinds[x] for x in range(7, 11)) / results.data.spec["num_edges"]


def _topology(results):
    """Lists of neighbours are sections 7 to 10, edges' ids and positions 11 to 13."""
    kinds = _kinds(results)
    if not kinds:
        return []
    limit = results.facts.get("limit1", {}).get("edge_bytes")
    shares = (("lists of neighbours", range(7, 11)), ("ids and positions of edges", range(11, 14)),
              ("all", range(256)))
    return ["- Koios' snapshots, both directions, bytes an edge: " + ", ".join("%s %.1f" % (
        what, sum(kinds[x] for x in numbers) / results.data.spec["num_edges"])
        for what, numbers in shares) + ("; the limit's lists %.1f" % limit if limit else "")]


def _work_table(results):
    kinds = {}
    for name, facts in results.facts.items():
        for kind, rate in facts.items():
            if isinstance(rate, dict):
                kinds.setdefault(kind, {})[name] = rate
    lines = []
    for kind in sorted(kinds, key=lambda x: (x.split("-")[0] != "read", int(x.split("-")[1]))):
        what, connections = kind.split("-")
        shown = ["%s %s" % (
            WORK_LIMITS[what] if name == "limit1" else TITLES[name],
            rate.get("mark") or "%.0f/s (median %s ms, p95 %s ms)" % (
                rate["rate"], _ms(rate["median"]), _ms(rate["p95"])))
            for name, rate in kinds[kind].items()]
        lines.append("- %s by %s connection%s: %s" % (
            {"read": "point reads", "commit": "durable commits"}[what], connections,
            "" if connections == "1" else "s", "; ".join(shown)))
    return lines


def _workers(results):
    """Heavy queries on all workers beside one."""
    lines = []
    for key, one in results.cells.get("koios1", {}).items():
        one = _times(one, "engine")
        all_workers = _times(results.cells.get("koios", {}).get(key), "engine")
        if one and all_workers and one >= HEAVY_SECONDS:
            lines.append((key, one / all_workers))
    if not lines:
        return []
    met = sum(x >= TWO_WORKERS for _, x in lines)
    return ["- all workers against one, of queries that take one worker %.0f ms or more (target "
            "%.1f): %s; %d of %d met" % (1000 * HEAVY_SECONDS, TWO_WORKERS, ", ".join(
                "%s %.2f" % x for x in lines), met, len(lines))]


def _begin(results):
    """How long opening and planning take."""
    begin = results.begin
    if not begin:
        return []
    lines = ["- opening Koios' folder, for reading: %s ms" % ", then ".join(
        "%.1f" % (x / 1000) for x in begin["open"])]
    plans = list((begin.get("queries") or {}).values())
    if plans:
        said = ["%s %.0f (%.0f)" % (words, statistics.median(us), max(us)) for words, us in (
            ("for the first time", [x["first"] for x in plans]),
            ("parsed and planned again", [x["parse"] + x["plan"] for x in plans]),
            ("taken from those kept", [x["kept"] for x in plans if "kept" in x])) if us]
        lines.append("- a plan of each of %d queries, us, the median and the most: %s" % (
            len(plans), ", ".join(said)))
    return lines


def _median(results, name, kind, key="median"):
    rate = results.facts.get(name, {}).get(kind)
    return rate.get(key) if isinstance(rate, dict) else None


def _ratios(results):
    """(what, ratio, target, whether more is better) of what is no row of the first table."""
    facts = results.facts
    rates = {x: 1 / facts[x]["load_seconds"] for x in facts if facts[x].get("load_seconds")}
    for peer, target in LOADS.items():
        if "koios" in rates and peer in rates:
            yield "load rate, times %s's" % TITLES[peer], rates["koios"] / rates[peer], target, True
    disk = facts.get("koios", {}).get("disk_bytes")
    if disk:
        yield "disk, times the CSV", disk / results.data.csv_bytes(), DISK, False
    lists, limit = _list_bytes(results), facts.get("limit1", {}).get("edge_bytes")
    if lists and limit:
        yield "lists of neighbours, times the limit's bytes", lists / limit, TOPOLOGY, False
    for what, kind, key, against, target, more in (
            ("point read by 1 connection, times an empty call", "read-1", "median", "limit1",
             EMPTY_CALLS, False),
            ("commits by 16 connections, times grouped fdatasync", "commit-16", "rate", "limit1",
             COMMITS, True)):
        ours, theirs = _median(results, "koios", kind, key), _median(results, against, kind, key)
        if ours and theirs:
            yield what, ours / theirs, target, more
    reads = _median(results, "koios", "read-16", "rate")
    if reads:
        yield "point reads a second by 16 connections", reads, POINT_READS, True
    for key, most in WITHIN.get(results.data.name, {}).items():
        time = _times(results.cells.get("koios", {}).get(key))
        if time:
            yield "%s, ms" % key, 1000 * time, 1000 * most, False


def _ratios_table(results):
    rows = [_row([what, "%.4g" % ratio, "%s %.4g" % ("at least" if more else "at most", target),
                  _said(ratio >= target if more else ratio <= target)])
            for what, ratio, target, more in _ratios(results)]
    return ["", _row(["", "measured", "target", "met"]), _row(["---", "---:", "---:", "---"]),
            *rows] if rows else []


def _summary(results):
    verdicts = [x for key in _keys(results) for x in _verdicts(results.cells, key)]
    kinds = sorted({what for what, _ in verdicts})
    return ["- targets met: " + ", ".join("%s %d of %d" % (
        kind, sum(met for what, met in verdicts if what == kind),
        sum(what == kind for what, _ in verdicts)) for kind in kinds)] if kinds else []


def _growth(done):
    """How the time of each read grew from one graph to the next, beside the rows it touched."""
    graphs = [x for x in done if x.data.kind == "snb"]
    lines = []
    for small, large in zip(graphs, graphs[1:]):
        lines += ["", "## Growth from %s to %s" % (small.data.name, large.data.name), "",
                  _row(["query", "rows touched", "grown", "engine's time grown", "time / rows",
                        "met"]),
                  _row(["---"] + ["---:"] * 4 + ["---"])]
        for key, rows in large.touched.items():
            times = [_times(x.cells["koios"].get(key), "engine") for x in (small, large)]
            before = small.touched.get(key)
            if not before or None in times:
                continue
            growth = times[1] / times[0] / (rows / before)
            lines.append(_row([key, "%.0f to %.0f" % (before, rows), _ratio(rows, before),
                               _ratio(times[1], times[0]), "%.2f" % growth,
                               _said(growth <= GROWTH)]))
    return lines


def _machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = next((x.split(":")[1].strip() for x in f if x.startswith("model name")), "")
    with open("/proc/meminfo", encoding="utf-8") as f:
        memory = int(f.readline().split()[1]) / 2**20
    return "%d cores (%s, %s), %.0f GiB of memory" % (
        os.cpu_count(), platform.machine(), model, memory)


def markdown(done, command, seconds):
    """done: Results of every data set."""
    lines = ["# Koios beside others", "",
             "`%s` on %s; %.0f s in all. compare/README.md says what is measured and how." % (
                 command, _machine(), seconds), "",
             "Milliseconds: the median and, in brackets, the 95th percentile of the runs, whose "
             "number is told where it is below 10. TARGETS.md says what holds back where a target "
             "is missed."]
    for results in done:
        spec = results.data.spec
        lines += ["", "## %s: %d vertices, %d edges" % (
            results.data.name, spec["num_vertices"], spec["num_edges"]), "",
                  "![%s](compare/plots/%s.svg)" % ((results.data.name,) * 2), ""]
        lines += _query_table(results) + _cold_table(results) + _facts_table(results)
        lines += _ratios_table(results) + [""]
        lines += _summary(results) + _begin(results) + _workers(results) + _topology(results)
        lines += _work_table(results)
        lines += ["- %s is left out: %s" % (TITLES[x], " ".join(why.split()))
                  for x, why in results.left_out.items()]
    return "\n".join(lines + _growth(done)) + "\n"
