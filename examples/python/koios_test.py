#!/usr/bin/env python3
"""The example client against a server of its own over TinkerPop's "modern" graph."""

import datetime
import decimal
import os
import pathlib
import sys
import unittest
import uuid

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / 'tests')]
from driver import environment
from driver.server import DataFolder, Server

environment.enter()


class KoiosTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        data = cls.enterClassContext(DataFolder(environment.find_binary(None)))
        environment.make_stubs(os.path.join(data.root, 'stubs'))
        modern = os.path.join(environment.TESTS, 'data', 'modern')
        data.import_graph('g', [modern + '-vertices.csv'], [modern + '-edges.csv'])
        server = cls.enterClassContext(Server(data, workers=2))
        cls.koios = __import__('koios')
        cls.client = cls.enterClassContext(cls.koios.connect(server.address))

    def submit(self, *arguments, **options):
        return list(self.client.submit(*arguments, **options))

    def test_rows_and_parameters(self):
        query = "g.V().has('age', gt(years)).order().by('age').values('name')"
        self.assertEqual(self.submit(query, {'years': 29}), ['josh', 'peter'])
        self.assertEqual(self.submit('g.V().count()'), [6])
        self.assertEqual(self.submit('g.V().hasLabel("robot")'), [])

    def test_parameters_come_back_as_they_were(self):
        values = [None, True, 7, -2**31, 2**31, 2**40, -2**63, 2**63, 2**70, 1.5, 'é', [1, ['x']],
                  {'a': [1], 2: None}, decimal.Decimal('1.50'), uuid.UUID(int=5)]
        zone = datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))
        values += [b'\0\xff', datetime.timedelta(days=-1, microseconds=1500),
                   datetime.datetime(1969, 2, 3, 4, 5, 6, 7, tzinfo=zone)]
        parameters = {f'x{number}': value for number, value in enumerate(values)}
        query = f'g.inject({", ".join(parameters)})'
        self.assertEqual(self.submit(query, parameters), values)
        naive = datetime.datetime(2024, 1, 2)
        self.assertEqual(self.submit('g.inject(x)', {'x': naive}),
                         [naive.replace(tzinfo=datetime.timezone.utc)])
        self.assertEqual(sorted(*self.submit('g.inject(x)', {'x': {1, 2}})), [1, 2])
        with self.assertRaises(TypeError):
            self.submit('g.inject(x)', {'x': object()})

    def test_values_that_only_the_server_makes(self):
        self.assertEqual(self.submit("g.inject(datetime('2024-01-02T03:04:05+01:00'))"),
                         [datetime.datetime.fromisoformat('2024-01-02T03:04:05+01:00')])
        self.assertEqual(self.submit('g.inject([(T.id): {1, 2}])'), [{'id': [1, 2]}])

    def test_elements(self):
        marko = {'name': 'marko', 'age': 29}
        self.assertEqual(self.submit('g.V(1)'), [self.koios.Vertex(1, 'person', {})])
        self.assertEqual(self.submit('g.V(1)', materialize=True),
                         [self.koios.Vertex(1, 'person', marko)])
        self.assertEqual(self.submit("g.V(1).outE('created')", materialize=True),
                         [self.koios.Edge(9, 'created', 1, 3, {'weight': 0.4})])

    def test_a_stream_may_be_left(self):
        rows = self.client.submit('g.V().both().both()')
        self.assertIsInstance(next(rows), self.koios.Vertex)
        rows.close()
        self.assertEqual(self.submit('g.V().count()'), [6])

    def test_errors_tell_where(self):
        with self.assertRaises(self.koios.QueryError) as raised:
            self.submit('g.V().outt()')
        error = raised.exception
        self.assertEqual((error.code, error.line, error.column), ('INVALID_ARGUMENT', 1, 7))
        self.assertIn('outt', str(error))
        with self.assertRaises(self.koios.QueryError) as raised:
            self.submit('g.V()', graph='nowhere')
        self.assertEqual(raised.exception.code, 'NOT_FOUND')
        with self.assertRaises(self.koios.QueryError) as raised:
            self.submit('g.inject(' + '[' * 300 + ']' * 300 + ')')
        error = raised.exception
        self.assertEqual(error.code, 'RESOURCE_EXHAUSTED')
        self.assertEqual(error.setting, 'query-max-nesting')
        self.assertNotEqual(error.limit, '')


if __name__ == '__main__':
    unittest.main()
