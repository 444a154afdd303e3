#!/usr/bin/env python3
"""Prints tables of the documents that no other target makes.

usage: figures.py PROGRAM NAME...   (make figures NAME=...)

    grid-sync     docs/model/issue.md: microseconds and cycles of a grid.sync() (needs nvcc)
    cta-start     docs/model/memory.md: cycles from one CTA to the next on an SM (needs nvcc)
    coalesce      docs/model/l2.md: cycles of gemm_wgmma by l2.mshr_merge and l2.coalesce (needs ptxas)
    trace-sizes   docs/reference/machine-code.md: bytes of a trace for each warp instruction (needs ptxas)
    suite-3       docs/reference/suite-3.md: GB/s and TFLOPS, at default and large sizes (needs ptxas; ten minutes)
    straight-line  docs/model/instruction-supply.md: cycles of straight code by its size
    sampling-start  docs/model/sampling.md: reduction sampled and in full, by scheduler, and the change by the second start
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "figures")


def call(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(words), done.stderr))
    return done.stdout


def row(*cells):
    print("| %s |" % " | ".join(str(c) for c in cells), flush=True)


def head(*cells):
    row(*cells)
    print("|%s" % ("---|" * len(cells)))


class Figures:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def at(self, name):
        return os.path.join(self.folder, name)

    def build(self, name, arch):
        """A program of scripts/figures with machine code of that architecture."""
        path = self.at("%s-%s" % (name, arch))
        if not os.path.exists(path):
            call("nvcc", "-Wno-deprecated-gpu-targets", "-arch=" + ("sm_75" if arch == "sm_70" else arch), "-o", path,
                 os.path.join(HERE, name + ".cu"))
        return path

    def record(self, gpu, *command):
        call(self.program, "trace", "record", "-q", "-o", self.at("t.wwt"), "--gpu", gpu, "--", *command)
        return self.at("t.wwt")

    def workload(self, name, arch, *parameters):
        words = [w for p in parameters for w in ("-p", p)]
        path = self.at("w.wwt")
        return json.loads(call(self.program, "trace", "record", "-q", "--json", "--code", "sass", "-w", name, "--arch", arch, "-o", path,
                               *words)), path

    def run(self, gpu, trace, *options):
        """Result of a replay."""
        return json.loads(call(self.program, "run", "-q", "--json", "--gpu", gpu, "--trace", trace, "--power", "none", "--no-pc",
                               *options))

    def arch(self, gpu):
        return json.loads(call(self.program, "gpu", "show", gpu, "--json"))["arch"]

    def grid_sync(self):
        head("GPU", "CTAs per SM", "threads per CTA", "us", "SM cycles")
        for gpu, places, threads in (("v100", 1, 32), ("v100", 1, 256), ("v100", 1, 1024), ("v100", 2, 1024), ("v100", 4, 256),
                                     ("v100", 8, 256), ("v100", 32, 32), ("a100", 1, 256), ("h100", 1, 256), ("rtx3090", 1, 256)):
            few, many = (self.run(gpu, self.record(gpu, self.build("grid_sync", self.arch(gpu)), str(n), str(places), str(threads)))
                         for n in (4, 12))
            row(gpu, places, threads, "%.2f" % ((many["time_s"] - few["time_s"]) / 8 * 1e6), "%.0f" % ((many["cycles"] - few["cycles"]) / 8))

    def cta_start(self):
        kernels = ("store", "load", "load, then store", "two loads, then store", "three loads, then store")
        gpus = (("v100", 1), ("a100_80", 1), ("l40", 1), ("h100_pcie", 2))
        head("", *(gpu for gpu, _ in gpus))
        for k, name in enumerate(kernels):
            cells = []
            for gpu, places in gpus:
                few, many = (self.run(gpu, self.record(gpu, self.build("cta_start", self.arch(gpu)), str(k), str(n), str(places)))
                             for n in (20, 60))
                cells.append("%.0f" % ((many["cycles"] - few["cycles"]) / 40))
            row(name, *cells)

    def coalesce(self):
        _, trace = self.workload("gemm_wgmma", "sm_90", "m=1536", "n=2816", "k=4096")
        head("`l2.mshr_merge`", "`l2.coalesce`", "SM cycles")
        for merge, join in ((4, 4), (8, 4), (16, 4), (32, 4), (16, 2), (16, 8), (32, 16)):
            r = self.run("h100", trace, "--set", "l2.mshr_merge=%d" % merge, "--set", "l2.coalesce=%d" % join)
            row(merge, join, "{:,}".format(r["cycles"]))

    def trace_sizes(self):
        size, count = {}, {}
        for w in json.loads(call(self.program, "trace", "workloads", "--json")):
            if w.get("arch"):
                continue
            done = subprocess.run([self.program, "trace", "record", "-q", "--json", "--code", "sass", "-w", w["name"], "--arch", "sm_70", "-o",
                                   self.at("w.wwt")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode == 0:
                r = json.loads(done.stdout)
                size[w["name"]], count[w["name"]] = r["bytes"], r["warp_instructions"]
        head("workload", "bytes")
        for name in sorted(size):
            row(name, "%.2f" % (size[name] / count[name]))
        row("mean of %d" % len(size), "%.2f" % (sum(size[n] / count[n] for n in size) / len(size)))
        row("all their instructions together", "%.2f" % (sum(size.values()) / sum(count.values())))

    def suite_3(self):
        subprocess.run([os.path.join(HERE, "..", "suite-3-table.sh")], env=dict(os.environ, WARPWATT=self.program), check=True)

    def straight_line(self):
        cycles = {r["id"]: r["ours"] for r in json.loads(call(self.program, "validate", "core", "-q", "--json"))}
        passes = (("first", "first pass, first launch"), ("second", "first pass, second launch"), ("again", "second pass"))
        for gpu, name, sizes in (("v100", "v100", (1, 8, 16, 24, 64, 96, 128, 256, 1024)), ("ga10x", "RTX 3060", (1, 8, 16, 64, 96, 128, 256))):
            head(name, *("%d KiB" % kb for kb in sizes))
            for which, text in passes:
                row(text, *("%.2f" % cycles["core-straight-%s-%d-%s" % (gpu, kb, which)] for kb in sizes))
            print()

    def sampling_start(self):
        trace = self.at("w.wwt")
        call(self.program, "trace", "record", "-q", "--code", "ptx", "--arch", "sm_20", "-w", "reduction", "-p", "n=3000000", "-p", "block=64", "-p",
             "per_thread=1", "-o", trace)
        head("scheduler", "full replay, SM cycles", "sampled, of it", "change by the second start")
        for sched in ("", "lrr", "owl"):
            words = [self.program, "run", "-q", "--json", "--gpu", "gtx480", "--trace", trace, "--power", "none"]
            words += ["--mech", "sched=" + sched] if sched else []
            full, sampled = (json.loads(call(*words, "--mode", mode)) for mode in ("full", "sampled"))
            start = find(sampled, "cold_start_cycles")
            ours = "replayed in full" if sampled["cycles"] == full["cycles"] else "%.3f" % (sampled["cycles"] / full["cycles"])
            row("`%s`" % sched if sched else "default", "{:,}".format(full["cycles"]), ours, "%.1f %%" % (100 * start))


def find(value, key):
    """The first member of that name, at any depth."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        value = list(value.values())
    for member in value if isinstance(value, list) else ():
        found = find(member, key)
        if found is not None:
            return found
    return None


def main():
    tables = {n.replace("_", "-"): n for n in ("grid_sync", "cta_start", "coalesce", "trace_sizes", "suite_3", "straight_line",
                                                "sampling_start")}
    if len(sys.argv) < 3 or any(n not in tables for n in sys.argv[2:]):
        sys.exit(__doc__)
    for name in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            getattr(Figures(os.path.abspath(sys.argv[1]), folder), tables[name])()


if __name__ == "__main__":
    main()
