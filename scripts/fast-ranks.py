#!/usr/bin/env python3
"""Whether fast replay ranks designs as full replay does.

Replays the machines of a space, drawn at random, in both modes, and prints for each trace Spearman's correlation
of their times and the mean error.

usage: fast-ranks.py --program PATH --dir DIR [--space FILE] [--points N] [--jobs N]
"""
import argparse
import os
import sqlite3
import statistics
import subprocess


def times(program, options, mode):
    db = os.path.join(options.dir, mode + ".db")
    if os.path.exists(db):
        os.unlink(db)
    subprocess.run([program, "sweep", options.space, "--strategy", "random", "--points", str(options.points), "--seed", "5", "--mode", mode,
                    "-j", str(options.jobs), "--db", db], check=True, stdout=subprocess.DEVNULL)
    rows = sqlite3.connect(db).execute("SELECT workload, trace, point, time_s FROM v_sweep_result WHERE time_s IS NOT NULL")
    return {(trace, workload, point): seconds for workload, trace, point, seconds in rows}


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    place = [0] * len(values)
    for i, k in enumerate(order):
        place[k] = i
    return place


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--dir", required=True)
    parser.add_argument("--space", default="reports/examples/fast_ranks.json")
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    o = parser.parse_args()
    os.makedirs(o.dir, exist_ok=True)
    full, fast = times(o.program, o, "full"), times(o.program, o, "fast")
    print("%-12s %8s %18s %12s" % ("workload", "machines", "rank correlation", "mean error"))
    for trace, workload in sorted({k[:2] for k in full}):
        keys = [k for k in full if k[:2] == (trace, workload) and k in fast]
        x, y = [full[k] for k in keys], [fast[k] for k in keys]
        error = statistics.mean(abs(b / a - 1) for a, b in zip(x, y))
        print("%-12s %8d %18.3f %11.1f%%" % (workload, len(keys), statistics.correlation(ranks(x), ranks(y)), 100 * error))


if __name__ == "__main__":
    main()
