#!/usr/bin/env python3
"""How far fast replay is from full replay, over the workload suite.

Records every workload at both sizes for each GPU's instruction set, replays it in both modes, and writes the
residuals that the band of fast replay is formed of (estimator/fast/fast_fit.def). Prints a table of errors, and
how often the band of the other applications covers a workload's. Traces stay in the folder; what is there is
used again.

usage: fast-table.py --program PATH --dir DIR --out FILE [--sizes small,default] [--jobs N]
"""
import argparse
import math
import os
import statistics
import sys

from suite_replays import add_options, each, replay

ARCH = {"gtx480": "sm_20", "v100": "sm_70", "a100": "sm_70", "h100": "sm_70"}
CONFIDENCE = 0.95


def both(program, path, gpu):
    return replay(program, path, gpu, "full"), replay(program, path, gpu, "fast")


def quantiles(values, confidence):
    """Split conformal bounds, as ww_model_conformal forms them."""
    v, n = sorted(values), len(values)
    first = math.floor((n + 1) * (1 - confidence) / 2 + 1e-9)
    last = math.ceil((n + 1) * (1 + confidence) / 2 - 1e-9)
    return v[max(first, 1) - 1], v[min(last, n) - 1]


def covered(rows, key):
    """Share of cases within the bounds that the other applications give."""
    inside = 0
    for r in rows:
        low, high = quantiles([o[key] for o in rows if o["application"] != r["application"]], CONFIDENCE)
        inside += low <= r[key] <= high
    return inside / len(rows)


def line(name, rows):
    errors = sorted(abs(math.exp(-r["cycles"]) - 1) for r in rows)
    joules = [abs(math.exp(-r["energy"]) - 1) for r in rows]
    within = sum(e <= 0.15 for e in errors) / len(errors)
    print("%-8s %6d %8.1f%% %8.1f%% %9.1f%% %8.1f%% %8.1f%% %8.2f" % (
        name, len(rows), 100 * statistics.mean(errors), 100 * statistics.median(errors), 100 * within, 100 * errors[-1],
        100 * statistics.mean(joules), statistics.geometric_mean(r["speed"] for r in rows)))


def write(rows, out):
    with open(out, "w") as f:
        f.write("/* Written by scripts/fast-table.py (make fast-fit): do not edit.\n"
                " * RESIDUAL(application, GPU, log(full / fast) of cycles, of energy): full replays compared with fast ones.\n"
                " * %d replays of %d applications. */\n" % (len(rows), len({r["application"] for r in rows})))
        for r in rows:
            f.write('RESIDUAL("%s", "%s", %.4f, %.4f)\n' % (r["application"], r["gpu"], r["cycles"], r["energy"]))


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
                     "energy": math.log(full["energy_j"] / fast["energy_j"]), "path": path,
                     "speed": full["host_seconds"] / fast["host_seconds"]})
        if sys.stderr.isatty():
            print("\r%d replays" % len(rows), end="", file=sys.stderr)
    write(rows, o.out)
    print("%-8s %6s %9s %9s %10s %9s %9s %8s" % ("GPU", "cases", "mean", "median", "within 15%", "worst", "energy", "speed"))
    for gpu in sorted(ARCH):
        if any(r["gpu"] == gpu for r in rows):
            line(gpu, [r for r in rows if r["gpu"] == gpu])
    line("all", rows)
    print("covered by the other applications' band, of %.0f %%: cycles %.1f %%, energy %.1f %%" % (
        100 * CONFIDENCE, 100 * covered(rows, "cycles"), 100 * covered(rows, "energy")))
    for r in sorted(rows, key=lambda r: -abs(r["cycles"]))[:12]:
        print("  far off: %s on %s: fast %+.1f %%" % (os.path.basename(r["path"]), r["gpu"], 100 * (math.exp(-r["cycles"]) - 1)))


if __name__ == "__main__":
    main()
