"""The cases of LDBC SNB: parameters and expected answers, and the queries that they are for."""
import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))


def read_cases(folder, name):
    with open(os.path.join(folder, "expected", name + ".jsonl"), encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def read_query(name):
    """The text and the names of the parameters that it may have (any word outside of quotes)."""
    with open(os.path.join(HERE, name + ".gremlin"), encoding="utf-8") as f:
        text = f.read()
    return text, set(re.findall(r"[A-Za-z_]\w*", re.sub(r"'[^']*'|//.*", "", text)))
