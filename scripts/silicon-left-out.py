#!/usr/bin/env python3
"""How far off a parameter's value is that was chosen by looking at measured programs, one program left out.

    for each value: set it in a copy of models/, and
        WARPWATT_MODELS=copy warpwatt validate silicon --traces DIR --json -q > VALUE.json
    scripts/silicon-left-out.py 1=one.json 2=two.json 3=three.json

For each program the value is chosen that has the least mean error over the others; the mean of the errors that the
programs have with the values chosen without them is what a new program may expect."""
import argparse
import collections
import json
import re
import sys


def errors(path, suite):
    """Mean size of the error of each program: over its kernels, each over its launches."""
    kernels = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path, encoding="utf-8") as file:
        rows = find_rows(json.load(file))
    for row in rows:
        name = re.fullmatch(rf"sil-{re.escape(suite)}-(.+)-(\d+)", row["id"])
        if not name:
            continue
        kernel = row["what"].split("; ")[0].split(" ", 4)[-1]
        kernels[name[1]][kernel].append(abs(row["ours"] / row["paper"] - 1))
    return {p: mean(mean(launches) for launches in of.values()) for p, of in kernels.items()}


def find_rows(node):
    """The rows of a suite, wherever the report has them."""
    if isinstance(node, dict):
        if "id" in node and "ours" in node:
            return [node]
        node = list(node.values())
    if isinstance(node, list):
        return [row for part in node for row in find_rows(part)]
    return []


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="VALUE=FILE", help="what validate silicon --json printed with this value")
    parser.add_argument("--suite", default="gv100", help="its rows are compared (default: gv100)")
    options = parser.parse_args()
    if any("=" not in run for run in options.runs):
        parser.error("expected VALUE=FILE")
    try:
        table = {value: errors(path, options.suite) for value, path in (run.split("=", 1) for run in options.runs)}
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"silicon-left-out: {error}")
    programs = sorted(set.intersection(*(set(of) for of in table.values())))
    if len(programs) < 2:
        sys.exit("silicon-left-out: expected rows of two programs at least in each file")
    left_out = {}
    print("program".ljust(16), *(v.rjust(8) for v in table), "chosen without it".rjust(20))
    for program in programs:
        others = [p for p in programs if p != program]
        best = min(table, key=lambda v: mean(table[v][p] for p in others))
        left_out[program] = table[best][program]
        print(program.ljust(16), *(f"{100 * of[program]:8.1f}" for of in table.values()), f"{best:>11} {100 * left_out[program]:8.1f}")
    print("mean".ljust(16), *(f"{100 * mean(of[p] for p in programs):8.1f}" for of in table.values()),
          f"{'':>11} {100 * mean(left_out.values()):8.1f}")


if __name__ == "__main__":
    main()
