#!/usr/bin/env python3
"""progress_left.py PROGRAM [--only NAME,...] [--least SHARE] [--keep DIR] [--clock LIBRARY]: how true the time left is.

Runs long work with `--progress json` and compares each prediction of the time left with the time that the work then
took. Counted are samples from 20 % of the run's time on that have at least a second left; a sample is true if its time
left is within a third of what was left until the command's end. Prints a table by kind of work and
"N passed, N failed": a kind passes if at least SHARE (0.8) of its samples are true. A sample without a time counts as
false. With --clock LIBRARY (tests/tools/cpu_clock.c as a shared library) time is the program's own processor time, so
that what else runs on the machine does not count; sweeps with several processes are left out then. Recording is measured, not judged: nobody knows how many launches a program will make.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SPACE = {
    "gpu": "v100",
    "power": "none",
    "traces": ["saxpy.wwt", "spmv.wwt", "sgemm.wwt"],
    "parameters": {"sm.count": [20, 40, 80], "l2.size_kb": [3072, 6144], "clock.sm_mhz": [800, 1500]},
    "objectives": ["time"],
}


def recorded(name, workload, *parameters):
    options = [x for p in parameters for x in ("-p", p)]
    return ["trace", "record", "-w", workload, *options, "--code", "ptx", "-o", f"{name}.wwt"]


SETUP = [
    recorded("saxpy", "saxpy"),
    recorded("spmv", "spmv"),
    recorded("sgemm", "sgemm"),
    recorded("bfs", "bfs"),
    recorded("kmeans", "kmeans", "n=100000", "iterations=3"),
    recorded("bfs_small", "bfs", "size=small"),
    recorded("kmeans_small", "kmeans", "size=small"),
    recorded("stencil", "stencil", "iterations=4"),
    recorded("iterations", "stencil", "size=large", "iterations=40"),
    ["trace", "merge", "bfs_small.wwt", "sgemm.wwt", "kmeans_small.wwt", "spmv.wwt", "saxpy.wwt", "bfs.wwt",
     "stencil.wwt", "-o", "unequal.wwt"],
    ["trace", "merge", "stencil.wwt", "spmv.wwt", "sgemm.wwt", "bfs_small.wwt", "-o", "memory_first.wwt"],
]  # fmt: skip

# name: arguments of the program
WORK = {
    "replay-memory": ["run", "--gpu", "v100", "-t", "spmv.wwt", "--mode", "full"],
    "replay-arithmetic": ["run", "--gpu", "gtx480", "-t", "sgemm.wwt", "--mode", "full"],
    "replay-levels": ["run", "--gpu", "v100", "-t", "bfs.wwt", "--mode", "full"],
    "replay-unequal": ["run", "--gpu", "v100", "-t", "unequal.wwt", "--mode", "full"],
    "replay-memory-first": ["run", "--gpu", "a100_80", "-t", "memory_first.wwt", "--mode", "full"],
    "replay-sampled": ["run", "--gpu", "v100", "-t", "iterations.wwt", "--mode", "sampled"],
    "replay-sampled-all": ["run", "--gpu", "v100", "-t", "unequal.wwt", "--mode", "sampled"],
    "sweep-1": ["sweep", "space.json", "-j1", "--db", "s1.db"],
    "sweep-2": ["sweep", "space.json", "-j2", "--db", "s2.db"],
    "validate-core": ["validate", "core"],
    "validate-strides": ["validate", "strides"],
    "validate-models": ["validate", "models"],
    "record-levels": recorded("r1", "bfs", "size=large"),
    "record-kmeans": recorded("r2", "kmeans", "size=large", "iterations=2"),
    "verify": ["trace", "verify", "r1.wwt"],
    "profile": ["trace", "profile", "r1.wwt"],
}


def samples(program, arguments, folder, clock):
    """[(seconds since the start, part or None, seconds left or None)] and the seconds of the whole."""
    start, ended = time.monotonic(), 0
    child = subprocess.Popen(
        [program, *arguments, "--progress", "json"],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "LD_PRELOAD": str(Path(clock).resolve())} if clock else None,
    )  # fmt: skip
    seen, rest = [], []
    for line in child.stderr:
        try:
            step = json.loads(line)
        except ValueError:
            rest.append(line)
            continue
        if step["end"]:
            ended = step["seconds"]
        else:
            at = step["seconds"] if clock else time.monotonic() - start
            seen.append((at, step["part"], step["seconds_left"]))
    child.wait()
    if child.returncode not in (0, 1):
        sys.exit(f"{arguments}: exit {child.returncode}: {''.join(rest)}")
    return seen, ended if clock else time.monotonic() - start


def judged(seen, whole):
    """How many samples count, and how many of these are true."""
    counted = [(whole - at, left) for at, _, left in seen if at >= 0.2 * whole and whole - at >= 1]
    true = sum(left is not None and abs(left - real) <= real / 3 for real, left in counted)
    return len(counted), true


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--only")
    parser.add_argument("--least", type=float, default=0.8)
    parser.add_argument("--keep")
    parser.add_argument("--clock")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else [n for n in WORK if not (options.clock and n == "sweep-2")]
    program = str(Path(options.program).resolve())
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.keep or temporary)
        folder.mkdir(exist_ok=True)
        (folder / "space.json").write_text(json.dumps(SPACE))
        for arguments in SETUP:
            if not (folder / arguments[-1]).exists():
                subprocess.run([program, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        all_true = all_count = 0
        print(f"{'work':22}{'seconds':>9}{'samples':>9}{'true':>8}")
        for name in names:
            for old in folder.glob("s[0-9].db*"):
                old.unlink()
            seen, whole = samples(program, WORK[name], folder, options.clock)
            count, true = judged(seen, whole)
            good = count == 0 or true >= options.least * count or name.startswith("record")
            all_true, all_count = all_true + true, all_count + count
            passed += good
            failed += not good
            share = f"{100 * true / count:.0f} %" if count else "-"
            print(f"{name:22}{whole:9.1f}{count:9}{share:>8}", flush=True)
            if options.keep:
                (folder / f"{name}.json").write_text(json.dumps([seen, whole]))
        if all_count:
            print(f"{100 * all_true / all_count:.0f} % of {all_count} samples are true")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
