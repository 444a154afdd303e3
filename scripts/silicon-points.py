#!/usr/bin/env python3
"""Writes launches of `warpwatt validate silicon --json` as tables of `warpwatt report --points`: one for each suite.

usage: silicon-points.py RESULT.json FOLDER

FOLDER gets SUITE.csv with measured and estimated cycles, Accel-Sim's from reports/silicon.csv. Prints the files' names.
"""
import csv
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from silicon import ROOT, SUITES  # noqa: E402

ID = re.compile("sil-(%s)-(.+)-([0-9]+|all)$" % "|".join(SUITES))


def accelsim():
    """Cycles by suite, program and launch."""
    with open(os.path.join(ROOT, "reports", "silicon.csv"), encoding="utf-8", newline="") as f:
        return {(r["suite"], r["program"], r["launch"]): r["accelsim_cycles"] for r in csv.DictReader(f)}


def kernel(what):
    """Of "Quadro GV100, b+tree 0 findRangeK; Accel-Sim 59750, -10.6 %"."""
    return what.split(";")[0].split(", ", 1)[-1].split(" ", 2)[-1]


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__.strip())
    with open(argv[0], encoding="utf-8") as f:
        rows = json.load(f)
    other, suites = accelsim(), {}
    for r in rows:
        m = ID.match(r["id"])
        if not m or r.get("unit") != "cycle" or not r["ours"] or not r["paper"]:
            continue
        suite, program, launch = m.groups()
        number = "-1" if launch == "all" else launch
        theirs = next((other[k] for k in ((suite, program, n) for n in (number, launch, "")) if other.get(k)), "")
        suites.setdefault(suite, []).append((program, number, kernel(r["what"]), r["paper"], r["ours"], theirs))
    for suite, points in suites.items():
        path = os.path.join(argv[1], suite + ".csv")
        with open(path, "w", encoding="utf-8", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(("app", "launch", "kernel", "hw_cycles", "cycles", "accelsim_cycles"))
            out.writerows(points)
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
