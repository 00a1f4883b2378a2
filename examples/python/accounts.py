#!/usr/bin/env python3
"""accounts.py HOST:PORT COUNTRY: the accounts of a country that receive the most transfers.

For the sample graph of tools/quickstart.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / 'stubs'))
import koios

QUERY = """
g.V().hasLabel('account').has('country', country)
  .project('owner', 'received').by('owner').by(__.in('transfer').count())
  .order().by(select('received'), desc).limit(3)
"""


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with koios.connect(sys.argv[1]) as graph:
            for row in graph.submit(QUERY, {'country': sys.argv[2]}, timeout=10):
                print(f"{row['received']:5} transfers to {row['owner']}")
    except koios.QueryError as error:
        print(f'{error.code}: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
