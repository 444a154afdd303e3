#!/usr/bin/env python3
"""Every workload as machine code on every architecture: outputs verified, device memory compared with the PTX run.

A workload passes if its outputs equal their reference and device memory equals what its PTX leaves. Where it does not,
the reason has to stand in DIFFERENCES, with the largest difference allowed in units of the largest value; "contraction" has to vanish with
--fmad=false. Architectures that no ptxas found here supports are left out.

usage: check_workloads.py PROGRAM [--size small|default] [--arch sm_75,...] [--jobs N] [WORKLOAD...]
Ends with "N passed, N failed".
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

ARCHS = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
# Kernels with intrinsics of D2MA have no machine code, and that of tensor memory is not decoded: recorded from PTX.
NO_MACHINE_CODE = ("d2_block", "d2_filter", "d2_stream", "gemm_tcgen05")
# Results of approximations (sine, cosine, reciprocals: our MUFU is exact to the last bit or two, the PTX run's functions
# are others), by workload: what makes them differ, the largest difference in units of the buffer's largest value.
DIFFERENCES = {
    "mri_q": ("sine and cosine by MUFU", 1e-6),
    "fft": ("sine and cosine by MUFU", 1e-6),
    # Places of fragments come from an atomic counter, in the order in which warps come; the picture is the same.
    "ap_scene": ("order of atomics", 1),
}


def call(args, env=None):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=1800,
                          env=dict(os.environ, **(env or {})))


def fields(line):
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


def lowered(program, name, arch, size):
    """Under auto the workload's PTX is taken instead, with a message."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "t.wwt")
        p = call([program, "trace", "record", "-w", name, "-p", "size=" + size, "--arch", arch, "--code", "auto",
                  "-o", trace, "--json"])
        if p.returncode or not json.loads(p.stdout)["verified"]:
            return "auto: exit %d: %s" % (p.returncode, p.stderr.decode().strip())
        if b"PTX is lowered" not in p.stderr:
            return "auto: no message that PTX is lowered"
        info = json.loads(call([program, "trace", "info", trace, "--json"]).stdout)
        codes = {launch["code"] for launch in info["launches"]}
        return "" if codes == {"lowered PTX"} else "auto: code %s" % ", ".join(codes)


def compare(tool, name, arch, size, options):
    p = call([tool, arch, options, name] + (["size=" + size] if size != "default" else []))
    line = p.stdout.decode().strip()
    return (None, line or p.stderr.decode().strip()) if p.returncode else (fields(line), line)


def one(args, name, arch):
    if name in NO_MACHINE_CODE:
        return lowered(args.program, name, arch, args.size)
    got, line = compare(args.tool, name, arch, args.size, "")
    if got is None:
        return line
    if got["differ"] == "0":
        return ""
    why, limit = DIFFERENCES.get(name, ("", 0))
    if why == "contraction":
        again, line = compare(args.tool, name, arch, args.size, "--fmad=false")
        return "" if again and again["differ"] == "0" else "differs without contraction: " + line
    if why and float(got["scaled"]) <= limit:
        return ""
    return "device memory differs from the PTX run's: " + line


def known(program, arch):
    p = call([program, "trace", "record", "-w", "vectoradd", "-p", "size=small", "--arch", arch, "--code", "sass"])
    return b"no ptxas that supports" not in p.stderr and b"stands in" not in p.stderr


def runs(need, arch):
    """need: "", the least architecture, or one with an a: that one alone."""
    least, number = int(need[3:].rstrip("a") or 0), int(arch[3:])
    return number == least if need.endswith("a") else number >= least


def main():
    parser = argparse.ArgumentParser(description="workloads as machine code")
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--size", default="small", choices=("small", "default", "large"))
    parser.add_argument("--arch", default=",".join(ARCHS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    args.tool = os.path.join(os.path.dirname(args.program), "tests", "tools", "code_compare")
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("XDG_CACHE_HOME", cache)
        known_names = json.loads(call([args.program, "trace", "workloads", "--json"]).stdout)
        needs = {w["name"]: w.get("arch", "") for w in known_names}
        names = args.names or list(needs)
        archs = [a for a in args.arch.split(",") if known(args.program, a)]
        for arch in sorted(set(args.arch.split(",")) - set(archs)):
            print("%s: no ptxas here knows it: left out" % arch)
        passed = failed = 0
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            jobs = [(n, a, pool.submit(one, args, n, a)) for a in archs for n in names if runs(needs.get(n, ""), a)]
            for name, arch, job in jobs:
                why = job.result()
                failed += bool(why)
                passed += not why
                if why:
                    print("%s %s: %s" % (name, arch, why))
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
