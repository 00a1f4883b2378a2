#!/usr/bin/env python3
"""What the comparison rests on: bounds of peers, answers that are compared, verdicts, texts. No
peer is fetched."""
import os
import sys
import tempfile
import types
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests")]
import data  # noqa: E402
import measure  # noqa: E402
import plot  # noqa: E402
import report  # noqa: E402
import rmat  # noqa: E402
import snb  # noqa: E402
import tinkergraph  # noqa: E402
from peer import Gone, LineProcess, PeerError, Reply, TimedOut  # noqa: E402

OPTIONS = types.SimpleNamespace(seeds=4, budget=60.0, timeout=1.0)


def program(text, limit_bytes=1 << 30):
    return LineProcess([sys.executable, "-c", text], limit_bytes, os.devnull)


class ProcessTest(unittest.TestCase):
    def test_answers_by_lines(self):
        process = program("import sys\nfor x in sys.stdin: print(x.strip() * 2, flush=True)")
        self.assertEqual(process.ask("ab", 20), "abab")
        self.assertEqual(process.ask("c", 20), "cc")
        process.close()

    def test_one_that_does_not_answer_is_ended(self):
        process = program("import time; time.sleep(600)")
        with self.assertRaises(TimedOut):
            process.ask("x", 0.1)
        self.assertIsNotNone(process.process.poll())

    def test_one_that_ends_is_gone(self):
        process = program("raise SystemExit(3)")
        with self.assertRaises(Gone):
            process.read(20)

    def test_one_with_too_much_memory_is_ended(self):
        process = program("x = bytearray(300 << 20); input(); input()", 100 << 20)
        with self.assertRaisesRegex(Gone, "out of memory"):
            process.read(60)


class Scripted:
    """A peer that answers by a function of its parameters."""

    def __init__(self, answer):
        self.answer, self.asked = answer, 0

    def ask(self, text, parameters, seconds):
        self.asked += 1
        return Reply(self.answer(parameters["a"]), 0.5)


class MeasureTest(unittest.TestCase):
    def cell(self, answer):
        self.peer = Scripted(answer)
        case = measure.Case("k", "text", [({"a": i}, [i]) for i in range(5)], list)
        return measure.warm(self.peer, case, OPTIONS)

    def test_right_answers_are_timed(self):
        cell = self.cell(lambda a: [a])
        self.assertEqual((cell["median"], cell["p95"], cell["runs"]), (0.5, 0.5, 4))
        self.assertEqual(self.peer.asked, measure.WARM_RUNS + 4)

    def test_a_wrong_answer_is_marked_and_not_timed(self):
        cell = self.cell(lambda a: [a if a != 1 else 7])
        self.assertEqual(cell["mark"], "differs")
        self.assertNotIn("median", cell)

    def test_errors_are_marked(self):
        for error, mark in ((TimedOut("late"), "> 1 s"), (PeerError("no"), "error"),
                            (Gone("out of memory"), "out of memory")):
            def fail(unused, error=error):
                raise error
            self.assertEqual(self.cell(fail)["mark"], mark)

    def test_a_budget_ends_a_cell(self):
        case = measure.Case("k", "text", [({"a": 1}, [1])], list)
        options = types.SimpleNamespace(seeds=1000, budget=0.0, timeout=1.0)
        cell = measure.warm(Scripted(lambda a: [a]), case, options)
        self.assertEqual(cell["runs"], measure.LEAST_RUNS)


class QuestionTest(unittest.TestCase):
    def test_rows_of_every_language_become_the_same_numbers(self):
        normal = {w.key: w.normal for w in rmat.WORKLOADS}
        self.assertEqual(normal["group"]([{1: 5, 0: 3}]), normal["group"]([(1, 5), (0, 3)]))
        self.assertEqual(normal["hop-2"]([7]), normal["hop-2"]([[7]]))
        self.assertEqual(normal["rows-2"]([3, 4]), normal["rows-2"]([(4,), (3,)]))
        self.assertEqual(normal["shortest"]([3]), [2])
        self.assertEqual(normal["shortest"]([]), normal["shortest"]([[0]]))
        self.assertEqual(normal["point"]([["n12"]]), [12])

    def test_the_limit_knows_every_workload(self):
        with open(os.path.join(HERE, "limit.cc"), encoding="utf-8") as f:
            text = f.read()
        for workload in rmat.WORKLOADS:
            self.assertIn('{"%s"' % workload.key, text)

    def test_every_read_is_there_in_every_language(self):
        for language in ("gremlin", "cypher", "neo4j", "sql"):
            self.assertEqual(sorted(snb.texts(language)), sorted(snb.NAMES), language)

    def test_order_counts_where_it_is_asked_for(self):
        self.assertNotEqual(snb.normal("ic2", [[1], [2]]), snb.normal("ic2", [[2], [1]]))
        self.assertEqual(snb.normal("ic14", [[[2], 1.0], [[1], 1.0]]),
                         snb.normal("ic14", [[[1], 1.0], [[2], 1.0]]))
        self.assertNotEqual(snb.normal("ic14", [[[1], 2.0]]), snb.normal("ic14", [[[1], 1.0]]))

    def test_parameters_are_pasted_outside_of_quotes(self):
        pasted = tinkergraph._pasted("g.V().has('a',a).is(within(b))", {"a": "x'y", "b": [1, 2]})
        self.assertEqual(pasted, "g.V().has('a','x\\'y').is(within([1L,2L]))")


class ReportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        files = {"nodes": [], "edges": [], "num_vertices": 3, "num_edges": 4}
        graph = types.SimpleNamespace(name="rmat-2", kind="rmat", folder=folder.name, spec=files,
                                      csv_bytes=lambda: 100, num_rows=lambda: 7)
        self.results = types.SimpleNamespace(data=graph, cold={}, left_out={}, touched={}, facts={
            "koios": {"load_seconds": 2.0, "disk_bytes": 300}}, cells={}, begin={
                "open": [7000, 5000], "queries": {
                    "one": {"first": 300, "parse": 10, "plan": 90, "kept": 5},
                    "two": {"first": 500, "parse": 10, "plan": 190}}})

    def times(self, **seconds):
        self.results.cells = {name: {"triangles": {"median": x, "p95": x, "runs": 20}}
                              for name, x in seconds.items()}
        return dict(report._verdicts(self.results.cells, "triangles"))

    def test_verdicts(self):
        self.assertEqual(self.times(koios=0.003, limit1=0.002, limit2=0.001, kuzu=0.010,
                                    neo4j=0.0095),
                         {"limit": True, "peers": True, "Neo4j": True})
        self.assertEqual(self.times(koios=0.005, limit1=0.001, kuzu=0.014, neo4j=0.004),
                         {"limit": False, "peers": False, "Neo4j": False})

    def test_a_limit_that_is_too_short_has_no_verdict(self):
        self.assertEqual(self.times(koios=0.003, limit1=1e-6), {})

    def test_an_answer_that_differs_is_not_met(self):
        self.results.cells = {"koios": {"triangles": {"mark": "differs"}}}
        self.assertEqual(report._verdicts(self.results.cells, "triangles"), [("an answer", False)])

    def test_tables_and_plot(self):
        self.times(koios=0.003, limit1=0.001, kuzu=0.010)
        text = report.markdown([self.results], "command", 1.0)
        self.assertIn("| triangles through a vertex | 3.00 (3.00) |", text)
        self.assertIn("| Koios | 2.0 | 4 |  |  | 0 MB | 3.00 |", text)
        self.assertIn("- opening Koios' folder, for reading: 7.0, then 5.0 ms", text)
        self.assertIn("for the first time 400 (500), parsed and planned again 150 (200), "
                      "taken from those kept 5 (5)", text)
        path = os.path.join(self.results.data.folder, "plot.svg")
        plot.write(path, self.results)
        bars = xml.etree.ElementTree.parse(path).getroot().findall(
            "{http://www.w3.org/2000/svg}rect")
        self.assertEqual(len(bars), 1 + len(plot.COLOURS) + 3)


class DataTest(unittest.TestCase):
    def test_headers_are_of_as_many_columns_as_the_spec_names(self):
        for label, columns in data._SNB_NODES.items():
            self.assertEqual(len(data._node_header(label, columns).split(b"|")),
                             len(data._columns(columns)))
        self.assertEqual(data._edge_header("A", "B", "since:long"),
                         b":START_ID(A)|:END_ID(B)|since:long\n")


if __name__ == "__main__":
    unittest.main()
