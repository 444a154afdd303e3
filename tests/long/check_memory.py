#!/usr/bin/env python3
"""Peak memory of replays does not grow with the trace: below 200 MB in every mode.

Records a streaming kernel, whose groups of CTAs decode alike, and a gathering one, whose addresses fill the file, at
a size and at four times that size; runs both in full, sampled and analytic. Asks that no run takes 200 MB, and that
the larger trace's replay takes at most 32 MB more: what is kept decoded depends on the CTAs in flight, not on the
trace. (A profile's stacks of lines are of a fixed size, but are filled as lines come.)
--long: the large ones have about 100 million warp instructions and more.

usage: check_memory.py PROGRAM [--long]
"""
import json
import os
import subprocess
import sys
import tempfile

LIMIT_KB, GROWTH_KB = 200 * 1000, 32 * 1000
MODES = ["full", "sampled", "analytic"]
# name, parameters by size, GPU, its instruction set
SHORT = [("saxpy", "n=%d", [600000, 2400000], "gtx480", "sm_20"),
         ("spmv", "rows=%d", [80000, 320000], "gtx480", "sm_20")]
LONG = [("saxpy", "n=%d", [50000000, 200000000], "gtx480", "sm_20"),
        ("spmv", "rows=%d", [1000000, 4000000], "v100", "sm_70")]


def run(args):
    """Standard output and peak memory in KB of a run that must succeed."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(args, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit("%s: exit %d" % (" ".join(args), child.returncode))
        out.seek(0)
        return out.read(), usage.ru_maxrss


def measure(program, folder, case, size):
    name, parameter, _, gpu, arch = case
    path = os.path.join(folder, "%s-%d.wwt" % (name, size))
    run([program, "trace", "record", "--code", "ptx", "-q", "-w", name, "-p", parameter % size, "--arch", arch, "-o", path])
    peak, instructions = {}, 0
    for mode in MODES:
        text, peak[mode] = run([program, "run", "-q", "--gpu", gpu, "--trace", path, "--mode", mode, "--no-pc", "--json"])
        instructions = json.loads(text)["warp_instructions"]
    print("%s %s, %.1f million warp instructions, file %.1f MB: %s" % (
        name, parameter % size, instructions * 1e-6, os.path.getsize(path) * 1e-6,
        ", ".join("%s %.0f MB" % (m, peak[m] / 1000) for m in MODES)), flush=True)
    return peak


def main(argv):
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in LONG if "--long" in argv[2:] else SHORT:
            small, large = (measure(argv[1], folder, case, size) for size in case[2])
            for mode in MODES:
                growth = 0 if mode == "analytic" else large[mode] - small[mode]
                ok = large[mode] < LIMIT_KB and growth <= GROWTH_KB
                passed += ok
                failed += not ok
                print("%s - %s %s" % ("ok" if ok else "not ok", case[0], mode))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
