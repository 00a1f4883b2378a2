"""The cases of LDBC SNB: parameters and expected answers, and the queries that they are for."""
import datetime
import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
BIRTH_YEARS = range(1900, 2030)


def read_cases(folder, name):
    with open(os.path.join(folder, "expected", name + ".jsonl"), encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def read_query(name):
    """The text and the names of the parameters that it may have (any word outside of quotes)."""
    with open(os.path.join(HERE, name + ".gremlin"), encoding="utf-8") as f:
        text = f.read()
    return text, set(re.findall(r"[A-Za-z_]\w*", re.sub(r"'[^']*'|//.*", "", text)))


def birthdays(month):
    """Every day of birth from the 21st of a month to the 21st of the next one, as in the graph."""
    found = []
    for year in BIRTH_YEARS:
        day = datetime.date(year, month, 21)
        while day.month == month or day.day <= 21:
            found.append((day - datetime.date(1970, 1, 1)).days * 24 * 3600 * 1000)
            day += datetime.timedelta(days=1)
    return found


def with_derived(parameters):
    """The case's parameters, and what a client makes of them as long as Gremlin's dates can't."""
    if "month" not in parameters:
        return parameters
    return dict(parameters, birthdays=birthdays(parameters["month"]))
