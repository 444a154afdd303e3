"""Expected output with gaps, for the documents' examples and the command-line goldens.

A line that is only "..." stands for any number of lines, also none; "..." inside a line stands for any text
within that line. Everything else is exact.
"""
import re


def line_matches(pattern, line):
    if "..." not in pattern:
        return pattern == line
    return re.fullmatch(".*?".join(re.escape(part) for part in pattern.split("...")), line) is not None


def matches(expected, actual):
    """None if the lines `actual` are what `expected` describes, else (index in expected, index in actual) of
    the furthest place that the comparison came to."""
    best = (0, 0)
    seen = set()
    todo = [(0, 0)]
    while todo:
        e, a = todo.pop()
        if (e, a) in seen:
            continue
        seen.add((e, a))
        best = max(best, (e, a))
        if e == len(expected):
            if a == len(actual):
                return None
            continue
        if expected[e].strip() == "...":
            todo.append((e + 1, a))
            if a < len(actual):
                todo.append((e, a + 1))
        elif a < len(actual) and line_matches(expected[e], actual[a]):
            todo.append((e + 1, a + 1))
    return best


def explain(expected, actual, place):
    e, a = place
    want = expected[e] if e < len(expected) else "(nothing more)"
    got = actual[a] if a < len(actual) else "(nothing more)"
    text = "    line %d of the output\n      expected: %s\n      met:      %s" % (a + 1, want, got)
    return text + "\n    whole output:\n" + "\n".join("      | " + x for x in actual[:60])
