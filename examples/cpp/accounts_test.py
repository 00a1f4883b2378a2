#!/usr/bin/env python3
"""The C++ example against a server of its own over a small sample graph."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'tests'))
from driver.server import DataFolder, Server

BINARY = os.environ['KOIOS_BINARY']
EXAMPLE = os.environ['KOIOS_EXAMPLE']


def accounts(*arguments):
    return subprocess.run([EXAMPLE, *arguments], capture_output=True, text=True, check=False)


class AccountsTest(unittest.TestCase):
    def setUp(self):
        self.data = self.enterContext(DataFolder(BINARY))
        csv = self.data.folder('csv')
        self.data.koios('generate', 'money', '--scale', '100', '--out', csv)
        self.data.import_graph('g', [csv + '/accounts.csv', csv + '/devices.csv'],
                               [csv + '/uses.csv', csv + '/transfers.csv'])

    def test_rows_and_errors(self):
        with Server(self.data, workers=2) as server:
            query = ("g.V().hasLabel('account').has('country', 'JP')"
                     ".map(__.in('transfer').count()).order().by(desc).limit(3)")
            counts = self.data.koios('query', '--server', server.address, '--format', 'csv',
                                     '-e', query).split()[-3:]
            done = accounts(server.address, 'JP')
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], counts)
            self.assertEqual(accounts(server.address, 'nowhere').stdout, '')
            address = server.address
        done = accounts(address, 'JP')
        self.assertEqual(done.returncode, 1)
        self.assertIn('UNAVAILABLE', done.stderr)
        self.assertEqual(accounts().returncode, 2)


if __name__ == '__main__':
    unittest.main()
