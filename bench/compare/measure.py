"""Times a peer's answers: each is compared before its time counts, and each cell of the table has a
bound on runs and seconds."""
import statistics
import time

from peer import Gone, PeerError, TimedOut

WARM_RUNS = 3
LEAST_RUNS = 3


class Differs(Exception):
    """An answer is not the expected one."""


class Case:
    """What is asked for one cell. runs: [(parameters, expected)]; normal: makes of rows what is
    compared with the expected."""

    def __init__(self, key, text, runs, normal):
        self.key, self.text, self.runs, self.normal = key, text, runs, normal


def _once(peer, case, number, seconds):
    parameters, wanted = case.runs[number % len(case.runs)]
    reply = peer.ask(case.text, parameters, seconds)
    if wanted is not None and case.normal(reply.rows) != wanted:
        raise Differs("%s with %s: %s instead of %s" % (
            case.key, str(parameters)[:80], str(case.normal(reply.rows))[:300],
            str(wanted)[:300]))
    return reply


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def _summary(replies):
    times = [x.seconds for x in replies]
    cell = {"median": statistics.median(times), "p95": percentile(times, 0.95), "runs": len(times)}
    if replies[0].engine_seconds is not None:
        cell["engine"] = statistics.median(x.engine_seconds for x in replies)
    return cell


def _marked(measured, options):
    """A cell, or why there is none."""
    try:
        return measured()
    except Differs as e:
        return {"mark": "differs", "why": str(e)}
    except TimedOut:
        return {"mark": "> %.0f s" % options.timeout}
    except Gone as e:
        return {"mark": str(e)}
    except PeerError as e:
        return {"mark": "error", "why": str(e)[:500]}


def warm(peer, case, options):
    """The cell of a peer that has run the case before."""
    def measured():
        for number in range(min(WARM_RUNS, len(case.runs))):
            _once(peer, case, number, options.timeout)
        replies, end = [], time.monotonic() + options.budget
        while len(replies) < options.seeds and (
                len(replies) < LEAST_RUNS or time.monotonic() < end):
            replies.append(_once(peer, case, len(replies), options.timeout))
        return _summary(replies)
    return _marked(measured, options)


def cold(peer, case, options, forget):
    """The cell of the first run after a start, with files that the kernel has not read yet."""
    def measured():
        replies = []
        for number in range(options.cold):
            peer.close()
            forget(peer.folder)
            peer.open()
            replies.append(_once(peer, case, number, options.timeout))
        return _summary(replies)
    return _marked(measured, options)


def answers(limit, case, options):
    """The case with what the limit answers as the expected."""
    runs = []
    for parameters, _ in case.runs:
        runs.append((parameters, limit.ask(case.key, parameters, options.timeout).rows))
    return Case(case.key, case.text, runs, case.normal)
