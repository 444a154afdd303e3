#!/usr/bin/env python3
"""How far fast replay is from full replay, over the workload suite.

Records every workload at both sizes for each machine's instruction set, replays it in both modes, and writes the
residuals that the band of fast replay is formed of (estimator/fast/fast_fit.def). Prints a table of errors, and
how often the band of the other applications covers a workload's. A case's band is formed of those of the same kind
of L2 (with a prefetcher or without) whose buses of DRAM are most nearly as busy. Traces stay in the folder; what is there is
used again.

usage: fast-table.py --program PATH --dir DIR --out FILE [--sizes small,default] [--jobs N]
"""
import argparse
import math
import os
import sqlite3
import statistics
import sys
import tempfile

from suite_replays import add_options, each, replay

SMALL_L2 = "v100, 1.5 MB of L2"
ARCH = {"a100": "sm_70", "gtx480": "sm_20", "gtx780": "sm_35", "gtx980": "sm_52", "h100": "sm_70", "rtx4090": "sm_70", "titanv": "sm_70",
        "v100": "sm_70", SMALL_L2: "sm_70"}
MACHINE = {SMALL_L2: ("v100", ["--set", "l2.size_kb=1536"])}
PREFETCH = {"gtx780", "gtx980"}  # an L2 with a prefetcher
CONFIDENCE = 0.95
NEIGHBOURS, LITTLE_USE = 100, 0.001  # as in estimator/fast/replay_error.c


def dram_use(database):
    """Share of the time that the buses of DRAM move data."""
    query = "SELECT sum(value) FROM v_counter WHERE counter = ?"
    with sqlite3.connect(database) as db:
        busy, cycles = (db.execute(query, (c,)).fetchone()[0] for c in ("dram_busy_cycles", "dram_cycles"))
    return busy / cycles if cycles else 0


def both(program, path, machine):
    gpu, more = MACHINE.get(machine, (machine, []))
    full = replay(program, path, gpu, "full", more)
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "run.db")
        fast = replay(program, path, gpu, "fast", [*more, "--confidence", "50", "--db", database])
        if fast:
            fast["dram"] = dram_use(database)
    return full, fast


def quantiles(values, confidence):
    """Split conformal bounds, as ww_model_conformal forms them."""
    v, n = sorted(values), len(values)
    first = math.floor((n + 1) * (1 - confidence) / 2 + 1e-9)
    last = math.ceil((n + 1) * (1 + confidence) / 2 - 1e-9)
    return v[max(first, 1) - 1], v[min(last, n) - 1]


def covered(rows, key, chosen):
    """Share of the chosen ones of the cases that are within the bounds that the other applications give."""
    inside = []
    for r in filter(chosen, rows):
        others = [o for o in rows if o["application"] != r["application"] and (o["gpu"] in PREFETCH) == (r["gpu"] in PREFETCH)]
        near = sorted(others, key=lambda o: abs(math.log((o["dram"] + LITTLE_USE) / (r["dram"] + LITTLE_USE))))[:NEIGHBOURS]
        low, high = quantiles([o[key] for o in near], CONFIDENCE)
        inside.append(low <= r[key] <= high)
    return sum(inside) / len(inside)


def print_covered(name, rows, chosen):
    print("%-16s %6d %8.1f%% %8.1f%%" % (
        name, len(list(filter(chosen, rows))), *(100 * covered(rows, key, chosen) for key in ("cycles", "energy"))))


def line(name, rows):
    errors = sorted(abs(math.exp(-r["cycles"]) - 1) for r in rows)
    joules = [abs(math.exp(-r["energy"]) - 1) for r in rows]
    within = sum(e <= 0.15 for e in errors) / len(errors)
    print("%-20s %6d %8.1f%% %8.1f%% %9.1f%% %8.1f%% %8.1f%% %8.2f" % (
        name, len(rows), 100 * statistics.mean(errors), 100 * statistics.median(errors), 100 * within, 100 * errors[-1],
        100 * statistics.mean(joules), statistics.geometric_mean(r["speed"] for r in rows)))


def write(rows, out):
    with open(out, "w") as f:
        f.write("/* Written by scripts/fast-table.py (make fast-fit): do not edit.\n"
                " * RESIDUAL(application, machine, whether its L2 has a prefetcher, use of the DRAM's buses, log(full / fast) of\n"
                " * cycles, of energy): full replays compared with fast ones. %d replays of %d applications. */\n" % (
                    len(rows), len({r["application"] for r in rows})))
        for r in rows:
            f.write('RESIDUAL("%s", "%s", %d, %.4f, %.4f, %.4f)\n' % (
                r["application"], r["gpu"], r["gpu"] in PREFETCH, r["dram"], r["cycles"], r["energy"]))


def main():
    parser = argparse.ArgumentParser()
    add_options(parser)
    parser.add_argument("--out", required=True)
    o = parser.parse_args()
    rows = []
    for workload, path, gpu, (full, fast) in each(o, ARCH, both):
        if full is None or fast is None:
            print("%s on %s: %s" % (path, gpu, "no full replay" if full is None else "NO FAST REPLAY"), file=sys.stderr)
            continue
        rows.append({"application": workload, "gpu": gpu, "cycles": math.log(full["cycles"] / fast["cycles"]),
                     "energy": math.log(full["energy_j"] / fast["energy_j"]), "path": path, "dram": round(fast["dram"], 4),
                     "speed": full["host_seconds"] / fast["host_seconds"]})
        if sys.stderr.isatty():
            print("\r%d replays" % len(rows), end="", file=sys.stderr)
    write(rows, o.out)
    print("%-20s %6s %9s %9s %10s %9s %9s %8s" % ("GPU", "cases", "mean", "median", "within 15%", "worst", "energy", "speed"))
    for gpu in sorted(ARCH):
        if any(r["gpu"] == gpu for r in rows):
            line(gpu, [r for r in rows if r["gpu"] == gpu])
    line("all", rows)
    print("covered by the other applications' band, of %.0f %%:\n%-16s %6s %9s %9s" % (100 * CONFIDENCE, "", "cases", "cycles", "energy"))
    for size in o.sizes.split(","):
        print_covered("size " + size, rows, lambda r, size=size: "-%s-" % size in r["path"])
    for low, high in ((0, 0.001), (0.001, 0.01), (0.01, 0.1), (0.1, 0.3), (0.3, 1)):
        print_covered("DRAM %g to %g" % (low, high), rows, lambda r, low=low, high=high: low <= r["dram"] < high)
    print_covered("L2 prefetcher", rows, lambda r: r["gpu"] in PREFETCH)
    print_covered("all", rows, lambda r: True)
    for r in sorted(rows, key=lambda r: -abs(r["cycles"]))[:12]:
        print("  far off: %s on %s: fast %+.1f %%" % (os.path.basename(r["path"]), r["gpu"], 100 * (math.exp(-r["cycles"]) - 1)))


if __name__ == "__main__":
    main()
