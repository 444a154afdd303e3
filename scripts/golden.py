#!/usr/bin/env python3
"""The table of results that changes only by a reviewed diff: small workloads x GPUs x mechanisms.

tests/golden/workloads.json: label -> parameters of the workload of that name. "@workload" names another one, "@kind"
keeps to the mechanisms of one kind, "@gpus" to these GPUs: for what has no effect elsewhere.

usage: golden.py --program PATH --check | --update
"""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "..", "tests", "golden", "results.csv")
WORKLOADS = os.path.join(HERE, "..", "tests", "golden", "workloads.json")
ARCH = {"gtx480": "sm_20", "gtx980": "sm_52", "v100": "sm_70", "elastic-16": "sm_20"}
OTHER_ARCH = {"gtx480-d2ma": "sm_20", "gtx285-multiplexing": "sm_20", "gtx480-16k": "sm_20", "h100": "sm_90",
              "b200": "sm_100"}
# Needs an SM of one scheduler: these run there, and nothing else does.
BARREL_GPU, BARREL = "elastic-16", ("pipe=unified", "pipe=split", "pipe=elastic")
COLUMNS = ["workload", "gpu", "mechanism", "warp_instructions", "thread_instructions", "cycles", "energy_j"]


def call(args):
    # Lowered PTX, whether there is a CUDA toolkit or not.
    env = dict(os.environ, WARPWATT_CODE="ptx")
    p = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, check=False)
    if p.returncode:
        raise RuntimeError("%s: exit %d: %s" % (" ".join(args), p.returncode, p.stderr.decode().strip()))
    return p.stdout.decode()


def rows_of(program, label, parameters, gpu, mechanisms, folder):
    trace = os.path.join(folder, "%s-%s.wwt" % (label, gpu))
    arch = ARCH.get(gpu) or OTHER_ARCH[gpu]
    args = [program, "trace", "record", "-q", "-w", parameters.get("@workload", label), "--arch", arch, "-o", trace]
    for key, value in sorted(parameters.items()):
        if not key.startswith("@"):
            args += ["-p", "%s=%s" % (key, value)]
    call(args)
    rows = []
    for mechanism in mechanisms:
        if (mechanism in BARREL) != (gpu == BARREL_GPU):
            continue
        if not mechanism.startswith(parameters.get("@kind", "")):
            continue
        r = json.loads(call([program, "run", "--gpu", gpu, "--trace", trace, "--mech", mechanism, "--json"]))
        energy = "" if r["energy_j"] is None else "%.9g" % r["energy_j"]
        rows.append([label, gpu, mechanism, r["warp_instructions"], r["thread_instructions"], r["cycles"], energy])
    return rows


def table(program):
    with open(WORKLOADS, encoding="utf-8") as f:
        workloads = json.load(f)
    mechanisms = call([program, "mech", "list", "--names"]).split()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(rows_of, program, w, p, gpu, mechanisms, folder)
                for w, p in sorted(workloads.items()) for gpu in p.get("@gpus", sorted(ARCH))]
        rows = [row for job in jobs for row in job.result()]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    return out.getvalue()


def main(argv):
    if len(argv) != 4 or argv[1] != "--program" or argv[3] not in ("--check", "--update"):
        print(__doc__)
        return 2
    new = table(os.path.abspath(argv[2]))
    if argv[3] == "--update":
        with open(TABLE, "w", encoding="utf-8") as f:
            f.write(new)
        return 0
    with open(TABLE, encoding="utf-8") as f:
        old = f.read().splitlines()
    failed = 0
    lines = new.splitlines()
    for i in range(max(len(old), len(lines))):
        a = old[i] if i < len(old) else "(no such row)"
        b = lines[i] if i < len(lines) else "(no such row)"
        if a != b:
            failed += 1
            print("golden: %s\n   now: %s" % (a, b))
    if failed:
        print("If the change is meant, run make golden and commit the new table with its reason.")
    print("%d passed, %d failed" % (len(lines) - min(failed, len(lines)), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
