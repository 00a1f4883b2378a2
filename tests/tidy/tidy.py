#!/usr/bin/env python3
"""Checks the rules of the house over the whole tree: tests/tidy/tidy.py [FOLDER...].

Prints one line for each finding, `path:line: message`, and exits 1 when there is one. Folders
restrict what is printed, not what is read.
"""

import pathlib
import sys

sys.dont_write_bytecode = True
from rules import RULES
from source_tree import read_tree


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    folders = tuple(argument.rstrip('/') for argument in sys.argv[1:])
    tree = read_tree(root)
    findings = sorted({finding for rule in RULES for finding in rule(tree)})
    if folders:
        findings = [finding for finding in findings
                    if finding.path.startswith(tuple(folder + '/' for folder in folders))
                    or finding.path in folders]
    for finding in findings:
        place = f'{finding.path}:{finding.line}' if finding.line else finding.path
        print(f'{place}: {finding.message}')
    print(f'tidy: {len(tree.files)} files, {len(RULES)} rules, {len(findings)} findings')
    return 1 if findings or not tree.files else 0


if __name__ == '__main__':
    sys.exit(main())
