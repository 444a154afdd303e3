#!/usr/bin/env python3
"""Full replays of the workload suite, as `warpwatt calibrate analytic` reads them.

Records every workload at both sizes for each GPU's instruction set, replays it, and writes
application,trace,gpu,set,cycles,energy_j. Traces stay in the folder; what is there is used again.

usage: analytic-table.py --program PATH --dir DIR [--sizes small,default] [--jobs N] > replays.csv
"""
import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ARCH = {"gtx480": "sm_20", "gtx980": "sm_52", "v100": "sm_70", "a100": "sm_70"}


def call(args):
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return p.stdout.decode() if p.returncode == 0 else None


def record(program, folder, workload, size, arch):
    path = os.path.join(folder, "%s-%s-%s.wwt" % (workload, size, arch))
    if not os.path.exists(path):
        call([program, "trace", "record", "--code", "ptx", "-q", "-w", workload, "-p", "size=" + size, "--arch", arch, "-o", path])
    return path


def replay(program, path, gpu):
    out = call([program, "run", "-q", "--gpu", gpu, "--trace", path, "--mode", "full", "--no-pc", "--json"])
    return json.loads(out) if out else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--dir", required=True)
    parser.add_argument("--sizes", default="small,default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    os.makedirs(options.dir, exist_ok=True)
    # Those that need a newer architecture than some of the machines have are left out.
    workloads = [w["name"] for w in json.loads(call([options.program, "trace", "workloads", "--json"])) if "arch" not in w]
    cases = [(w, s, a) for w in workloads for s in options.sizes.split(",") for a in sorted(set(ARCH.values()))]
    print("application,trace,gpu,set,cycles,energy_j")
    with ThreadPoolExecutor(options.jobs) as pool:
        paths = list(pool.map(lambda c: record(options.program, options.dir, *c), cases))
        jobs = [(c[0], p, g) for c, p in zip(cases, paths) for g in sorted(ARCH) if ARCH[g] == c[2]]
        for (w, path, gpu), r in zip(jobs, pool.map(lambda j: replay(options.program, j[1], j[2]), jobs)):
            if r is None:  # a workload without this size, or one that does not fit
                print("%s on %s: no replay" % (path, gpu), file=sys.stderr)
                continue
            energy = "" if r["energy_j"] is None else "%.9g" % r["energy_j"]
            print("%s,%s,%s,,%d,%s" % (w, path, gpu, r["cycles"], energy))


if __name__ == "__main__":
    main()
