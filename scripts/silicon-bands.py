#!/usr/bin/env python3
"""Writes reports/bands.csv: how far estimates of each GPU have been from hardware, by size of the launch and by kind of
microbenchmark.

usage: silicon-bands.py RESULT.json... [--date YYYY-MM-DD] [--out FILE]

A result is what `warpwatt validate silicon --json` (or another of the suites curves, strides, small and roofline), or `scripts/silicon.py --json` printed. Programs of a GPU count
equally in a class; the 90th percentile is over launches.
"""
import argparse
import csv
import datetime
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from silicon import ROOT, SUITES  # noqa: E402

HEAD = ("gpu", "from_cycles", "to_cycles", "programs", "launches", "error_percent", "bias_percent", "p90_percent", "date", "of")
CLASSES = ((0, 10000), (10000, 100000), (100000, 0))
# Models of one chip at two clocks, or with two memories, share their errors.
SAME_CHIP = {"gv100": ("gv100", "v100"), "v100": ("gv100", "v100"), "a100": ("a100", "a100_80"), "a100_80": ("a100", "a100_80")}
# Of a microbenchmark's row: the beginning of its id, the end, and what it measures.
MICRO = (("lat-", "", "latency"), ("cache-", "", "bandwidth of caches"), ("l2-", "", "bandwidth of caches"),
         ("l2add-", "", "bandwidth of caches"),
         ("read-", "", "bandwidth of streams"), ("triad-", "", "bandwidth of streams"),
         ("read1-", "", "bandwidth of streams"), ("triad2-", "", "bandwidth of streams"), ("str-", "", "L1 loads by stride"),
         ("small-", "", "time of small kernels"), ("roof-", "-w", "watts of a roofline"), ("roof-", "", "rates of a roofline"))
ID = re.compile("sil-(%s)-(.+)-([0-9]+|all)$" % "|".join(SUITES))


def read(path):
    """(gpu, program, measured, ours) of each launch."""
    with open(path, encoding="utf-8") as f:
        found = json.load(f)
    if isinstance(found, dict):
        return [(found["gpu"], "%s %s" % (found.get("suite"), r["app"]), r["hw_cycles"], r["cycles"]) for r in found["rows"]]
    out = []
    for r in found:
        m = ID.match(r["id"])
        if m and r.get("unit") == "cycle" and r["ours"] and r["paper"]:
            out.append((SUITES[m.group(1)][0], m.group(1) + " " + m.group(2), r["paper"], r["ours"]))
    return out


def micro(path):
    """(gpu, what, curve, measured, ours) of each point of microbenchmarks that counts."""
    with open(path, encoding="utf-8") as f:
        found = json.load(f)
    out = []
    for r in found if isinstance(found, list) else ():
        for begin, end, what in MICRO:
            if r["id"].startswith(begin) and r["id"].endswith(end):
                if r["counted"] and r["ours"] and r["paper"]:
                    out.append((r["id"][len(begin):].split("-")[0], what, begin, r["paper"], r["ours"]))
                break
    return out


def mean(values):
    return sum(values) / len(values)


def band(rows):
    """Figures of the launches of one class."""
    errors = {}
    for _, program, hw, ours in rows:
        errors.setdefault(program, []).append(ours / hw - 1)
    sizes = sorted(abs(e) for es in errors.values() for e in es)
    return (len(errors), len(sizes), mean([mean([abs(e) for e in es]) for es in errors.values()]),
            mean([mean(es) for es in errors.values()]), sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))])


def main(argv):
    p = argparse.ArgumentParser(prog="silicon-bands.py", description=__doc__.splitlines()[0])
    p.add_argument("results", nargs="+")
    p.add_argument("--date", default=datetime.date.today().isoformat())
    p.add_argument("--out", default=os.path.join(ROOT, "reports", "bands.csv"))
    args = p.parse_args(argv)
    rows = [(gpu, *r[1:]) for path in args.results for r in read(path) for gpu in SAME_CHIP.get(r[0], (r[0],))]
    with open(args.out, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(HEAD)
        points = [(gpu, *p[1:]) for path in args.results for p in micro(path) for gpu in SAME_CHIP.get(p[0], (p[0],))]
        for gpu in sorted({r[0] for r in rows} | {p[0] for p in points}):
            for low, high in CLASSES:
                some = [r for r in rows if r[0] == gpu and low <= r[2] and (not high or r[2] < high)]
                if some:
                    programs, launches, *figures = band(some)
                    out.writerow([gpu, low, high, programs, launches] + ["%.1f" % (100 * v) for v in figures] + [args.date, "launches"])
            for what in dict.fromkeys(m[2] for m in MICRO):
                some = [p for p in points if p[0] == gpu and p[1] == what]
                if some:
                    errors = [p[4] / p[3] - 1 for p in some]
                    sizes = sorted(abs(e) for e in errors)
                    figures = mean(sizes), mean(errors), sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
                    out.writerow([gpu, 0, 0, len({p[2] for p in some}), len(some)] +
                                 ["%.1f" % (100 * v) for v in figures] + [args.date, what])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
