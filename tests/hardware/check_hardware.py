#!/usr/bin/env python3
"""Tests of the measurement kit.

usage: check_hardware.py [WARPWATT]

Without nvcc: that `make hardware-kit` says what is missing. Where nvcc is found the kit is compiled for one
architecture with the shared CUDA runtime and run on the recording runtime, which executes its kernels on the CPU: its
times mean nothing there, but every workload of the suite must verify, and the results file must be what
reports/schema/hardware.json says, also after a run that was resumed. The last line is "N passed, N failed".
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/warpwatt"))
NVCC = os.environ.get("NVCC") or shutil.which("nvcc") or next(
    (p for p in ["/usr/local/cuda/bin/nvcc"] if os.path.exists(p)), None)
BUILD = "build/kit"
counts = {True: 0, False: 0}


def check(name, good, detail=""):
    counts[bool(good)] += 1
    print(("ok      " if good else "FAILED  ") + name + ("" if good else ":\n" + str(detail)), flush=True)
    return good


def run(words, timeout=800):
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    r = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, env=env)
    return r.returncode, r.stdout + r.stderr


def without_nvcc():
    code, out = run(["make", "hardware-kit", "NVCC="])
    check("without nvcc the target says what is missing", code != 0 and "nvcc is missing" in out, out)


def kit(out, *options):
    return run([PROGRAM, "trace", "record", "--code", "ptx", "--no-record", "-q", "--", os.path.join(ROOT, BUILD, "hardware-kit"), "--out", out,
                "--quick", "--size", "small", "--repeats", "2", *options])


def records(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)["records"]


def suite(path, workloads):
    code, out = kit(path, "--part", "suite")
    check("the suite runs on the recording runtime", code == 0, out[-3000:])
    done = {r["workload"]: r for r in records(path) if r["kind"] == "workload"}
    check("every workload is there", sorted(done) == sorted(workloads), sorted(done))
    for name, r in sorted(done.items()):
        check("%s verifies" % name, r["verified"], r["message"])
    launches = [r for r in records(path) if r["kind"] == "launch"]
    check("every launch has its time", launches and all(r["median"] > 0 and r["count"] == 2 for r in launches))


def other_parts(path):
    before = records(path)
    code, out = kit(path, "--part", "suite")
    check("a file that is there is not overwritten", code == 1 and "--resume" in out, out)
    code, out = kit(path, "--resume", "--part", "micro", "--part", "power")
    check("microbenchmarks and power loops run, resuming", code == 0, out[-3000:])
    after = records(path)
    check("what was measured stays", all(r in after for r in before))
    methods = {r["method"] for r in after if r["kind"] == "figure"}
    wanted = {"clock", "launch", "latency", "throughput", "chase", "chase_fine", "tlb", "copy", "triad", "read_bandwidth",
              "shared_latency", "shared_throughput", "atomic_latency", "atomic_throughput", "barrier", "seconds"}
    check("every method has figures", wanted <= methods, wanted - methods)
    count = len([r for r in after if r["kind"] != "session"])
    code, out = kit(path, "--resume")
    check("nothing is measured twice", code == 0 and len([r for r in records(path) if r["kind"] != "session"]) == count, out)


def schema(path):
    code, out = run([sys.executable, "tests/cli/schema_check.py", "reports/schema/hardware.json", path])
    check("the file keeps to its schema", code == 0, out[-3000:])


def with_nvcc():
    code, out = run(["make", "-j2", "hardware-kit", "BUILD=" + BUILD, "KIT_ARCHS=80", "KIT_PTX=80", "KIT_CUDART=shared", "NVCC=" + NVCC])
    if not check("the kit compiles", code == 0, out[-3000:]):
        return
    code, out = run([PROGRAM, "trace", "workloads", "--json"])
    # The recording runtime shows the default GPU, which cannot run the others.
    names = [w["name"] for w in json.loads(out) if "arch" not in w]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        suite(path, names)
        other_parts(path)
        schema(path)
        code, out = run([PROGRAM, "hardware", "import", path, "--db", os.path.join(folder, "m.db")])
        check("warpwatt imports it and knows that it is no measurement", code == 0 and "--quick" in out, out)


without_nvcc()
if NVCC:
    with_nvcc()
else:
    print("skipped: nvcc is not installed: the kit was not compiled")
print("%d passed, %d failed" % (counts[True], counts[False]))
sys.exit(1 if counts[False] else 0)
