#!/usr/bin/env python3
"""validation-tables.py: writes the tables of docs from what `warpwatt validate --json` printed.

A table stands between the lines

    <!-- validation SUITE [PREFIX...] -->
    <!-- end -->

of a page of docs: the counted rows of a suite, or of all of its rows those whose names begin with a prefix. Suites that
the JSON lacks keep what stands there. Between <!-- validation-times --> and <!-- end --> stands how long suites took.
"""
import argparse
import json
import os
import re
import sys

BLOCK = re.compile(r"<!-- validation(-times)?((?: [a-z0-9-]+)*) -->\n(.*?)<!-- end -->\n", re.S | re.I)


def number(value, unit):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    text = "%.0f" % value if 1000 <= abs(value) < 1e9 else "%.3g" % value
    return text + (" %" if unit == "%" else "")


def tolerance(row):
    test, t, unit = row["test"], row["tolerance"], row["unit"]
    if t is None:
        return "equal"
    if test == "relative":
        return "%.3g %%" % (100 * t)
    if test == "absolute":
        return "%.3g%s" % (t, " points" if unit == "%" else "") if t else "exact"
    return ("from " if test == "at_least" else "to ") + number(row["paper"], unit)


def escape(text):
    return text.replace("|", "\\|")


def table(rows):
    counted = [r for r in rows if r["counted"]]
    within = sum(r["within"] for r in counted)
    lines = []
    if counted:
        lines.append("%d of %d counted rows are within their tolerance; those in **bold** are not.\n" % (within, len(counted)))
    lines.append("| row | what | ours | paper | tolerance |")
    lines.append("|---|---|---|---|---|")
    for r in rows:
        ours = escape(number(r["ours"], r["unit"]))
        if r["counted"] and not r["within"]:
            ours = "**%s**" % ours
        limit = tolerance(r) if r["counted"] else "-"
        lines.append("| %s | %s | %s | %s | %s |" % (r["id"], escape(r["what"]), ours,
                                                     escape(number(r["paper"], r["unit"])), limit))
    return "\n".join(lines) + "\n"


def times_table(path):
    lines = ["| suite | seconds |", "|---|---|"]
    with open(path) as f:
        for line in f:
            m = re.match(r"validate (\S+): ([0-9.]+) s$", line.strip())
            if m:
                lines.append("| %s | %.0f |" % (m.group(1), float(m.group(2))))
    return "\n".join(lines) + "\n"


def fill(text, rows, times):
    def one(m):
        if m.group(1):
            body = times_table(times) if times else m.group(3)
        else:
            suite, *prefixes = m.group(2).split()
            chosen = [r for r in rows if r["suite"] == suite]
            if not chosen:
                return m.group(0)
            if prefixes:
                chosen = [r for r in chosen if r["id"].startswith(tuple(prefixes))]
            else:
                chosen = [r for r in chosen if r["counted"]]
            body = table(chosen)
        return "<!-- validation%s%s -->\n%s<!-- end -->\n" % (m.group(1) or "", m.group(2), body)
    return BLOCK.sub(one, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("json")
    parser.add_argument("docs", help="folder of the pages, and those below it")
    parser.add_argument("--times", help="what --time printed")
    arguments = parser.parse_args()
    with open(arguments.json) as f:
        rows = json.load(f)
    pages = [os.path.join(folder, name) for folder, _, names in os.walk(arguments.docs) for name in names]
    for path in sorted(pages):
        if not path.endswith(".md"):
            continue
        with open(path) as f:
            before = f.read()
        after = fill(before, rows, arguments.times)
        if after != before:
            with open(path, "w") as f:
                f.write(after)
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
