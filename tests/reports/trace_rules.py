"""trace_rules.py: the rules of Chrome's trace event format, as Perfetto's trace processor reads it.

usage: trace_rules.py FILE.json
"""
import json
import sys

KNOWN = set("BEXiICMbnesftPNODvRc")


def number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def check_event(e, i, problems):
    """One event by itself; false if it cannot be looked at further."""
    def bad(text):
        problems.append("event %d: %s" % (i, text))
    if not isinstance(e, dict) or not isinstance(e.get("ph"), str) or e["ph"] not in KNOWN or len(e["ph"]) != 1:
        bad("no phase that readers know")
        return False
    if not isinstance(e.get("pid"), int) or not isinstance(e.get("tid"), int):
        bad("pid and tid must be integers")
        return False
    if e["ph"] != "E" and not (isinstance(e.get("name"), str) and e["name"]):
        bad("no name")
    if "args" in e and not isinstance(e["args"], dict):
        bad("args is no object")
    if e["ph"] == "M":
        if e["name"] not in ("process_name", "thread_name", "process_sort_index", "thread_sort_index", "process_labels"):
            bad("metadata %r is unknown" % e["name"])
        return True
    if not number(e.get("ts")) or e["ts"] < 0:
        bad("ts must be a number of microseconds")
        return False
    if e["ph"] == "X" and (not number(e.get("dur")) or e["dur"] < 0):
        bad("dur must be a number of microseconds")
        return False
    if e["ph"] in "iI" and e.get("s", "t") not in ("t", "p", "g"):
        bad("scope of an instant")
    if e["ph"] == "C" and (not e.get("args") or not all(number(v) for v in e["args"].values())):
        bad("a counter's values must be numbers")
    return True


def check_nesting(events, problems):
    """Slices of one thread are inside of one another or apart; begins and ends match."""
    threads = {}
    for e in events:
        if e["ph"] in "BEX":
            threads.setdefault((e["pid"], e["tid"]), []).append(e)
    for thread, list_ in threads.items():
        open_, spans = [], []
        for e in sorted((e for e in list_ if e["ph"] in "BE"), key=lambda e: e["ts"]):
            if e["ph"] == "B":
                open_.append(e)
            elif not open_:
                problems.append("thread %s: an end without a begin" % (thread,))
            else:
                spans.append((open_.pop()["ts"], e["ts"]))
        if open_:
            problems.append("thread %s: %d begins without an end" % (thread, len(open_)))
        spans += [(e["ts"], e["ts"] + e["dur"]) for e in list_ if e["ph"] == "X"]
        stack = []
        for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
            while stack and stack[-1] <= start + 1e-6:
                stack.pop()
            if stack and end > stack[-1] + 1e-6:
                problems.append("thread %s: slices overlap at %g us" % (thread, start))
            stack.append(end)


def check_counters(events, problems):
    """A counter of one name has the same series everywhere, and one value at a time."""
    series = {}
    for e in events:
        if e["ph"] != "C":
            continue
        key = (e["pid"], e["name"])
        names = tuple(sorted(e["args"]))
        if series.setdefault(key, names) != names:
            problems.append("counter %s: its series change" % e["name"])


def check(text):
    """Problems of a trace, in words."""
    problems = []
    try:
        trace = json.loads(text)
    except ValueError as error:
        return ["no JSON: %s" % error]
    events = trace.get("traceEvents") if isinstance(trace, dict) else trace
    if not isinstance(events, list) or not events:
        return ["no traceEvents"]
    if isinstance(trace, dict) and trace.get("displayTimeUnit", "ns") not in ("ns", "ms"):
        problems.append("displayTimeUnit must be ns or ms")
    good = [e for i, e in enumerate(events) if check_event(e, i, problems)]
    check_nesting(good, problems)
    check_counters(good, problems)
    return problems


if __name__ == "__main__":
    found = check(open(sys.argv[1], encoding="utf-8").read())
    print("\n".join(found) or "the trace keeps the rules")
    sys.exit(1 if found else 0)
