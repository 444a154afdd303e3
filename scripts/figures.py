#!/usr/bin/env python3
"""Prints tables of the documents that no other target makes.

usage: figures.py PROGRAM NAME...   (make figures NAME=...)

    grid-sync     docs/model/issue.md: microseconds and cycles of a grid.sync() (needs nvcc)
    cta-start     docs/model/memory.md: cycles from one CTA to the next on an SM (needs nvcc)
    coalesce      docs/model/l2.md: cycles of gemm_wgmma by l2.mshr_merge and l2.coalesce (needs ptxas)
    trace-sizes   docs/reference/machine-code.md: bytes of a trace for each warp instruction (needs ptxas)
    suite-3       docs/reference/suite-3.md: GB/s and TFLOPS, at default and large sizes (needs ptxas; ten minutes)
    straight-line  docs/model/instruction-supply.md: cycles of straight code by its size
    trace-text    docs/reference/workloads.md: traces beside Accel-Sim's text of them (needs xz; minutes)
    wgmma         docs/studies/attention.md: SM cycles and TFLOPS of gemm_wgmma and flash_wgmma by what is modelled (needs ptxas; a quarter of an hour)
    suite-power   docs/model/power.md: watts of the suite's kernels on gtx480, and where they go
    launch-spread  docs/model/sampling.md: how much launches of a kernel differ, in full and fast replay
    refresh       docs/model/dram.md: GB/s of an A100's streams by how its memory refreshes (needs nvcc)
    sweep-speed   docs/guide/sweep.md: processor time of a sampled sweep and of screening (ten minutes)
    slices        docs/studies/tuning.md: variants replayed on a slice, and with all CTAs on the whole GPU
    copies        docs/model/tlb.md: GB/s of copies on gtx980 by their size and the walkers
    sampling-start  docs/model/sampling.md: reduction sampled and in full, by scheduler, and the change by the second start
"""
import json
import os
import resource
import statistics
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

    def trace_text(self):
        head("workload", "warp instructions", "bytes each", "text", "text under xz")
        each, text, packed = [], [], []
        total = count = 0
        for name in ("vectoradd saxpy transpose reduction sgemm spmv bfs kmeans stencil histogram backprop cfd cutcp histo lavaMD lbm leukocyte "
                     "pathfinder srad streamcluster sad tpacf mri_q mri_gridding particlefilter mummer").split():
            trace, part, folder = self.at("w.wwt"), self.at("slice.wwt"), self.at("text")
            whole = json.loads(call(self.program, "trace", "record", "-q", "--json", "--code", "ptx", "-w", name, "--arch", "sm_70", "-o", trace))
            launches = json.loads(call(self.program, "trace", "info", "--json", trace))["launches"]
            ctas = min(32, max(l["grid"][0] * l["grid"][1] * l["grid"][2] for l in launches))
            call(self.program, "trace", "slice", trace, "--ctas", "0-%d" % (ctas - 1), "-o", part)
            call(self.program, "trace", "export", "accelsim", part, "-o", folder)
            files = [os.path.join(folder, f) for f in sorted(os.listdir(folder))]
            own, plain = os.path.getsize(part), sum(os.path.getsize(f) for f in files)
            call("xz", "-6", "-f", *files)
            small = sum(os.path.getsize(f + ".xz") for f in files)
            call("rm", "-r", folder)
            row(name, whole["warp_instructions"], "%.3g" % (whole["bytes"] / whole["warp_instructions"]), "%.0f" % (plain / own), "%.1f" % (small / own))
            each.append(whole["bytes"] / whole["warp_instructions"])
            text.append(plain / own)
            packed.append(small / own)
            total, count = total + whole["bytes"], count + whole["warp_instructions"]
        print("mean bytes %.2f, together %.2f; geometric means %.0f and %.1f, arithmetic ones %.0f and %.1f" %
              (sum(each) / len(each), total / count, geometric(text), geometric(packed), sum(text) / len(text), sum(packed) / len(packed)))

    def wgmma(self):
        def tensor(**off):
            return [w for key, value in off.items() for w in ("--set", "pipe.tensor.%s=%s" % (key, value))]
        large = ("m=1536", "n=2816", "k=4096")
        rows = (("flash_wgmma, 16 heads of 2048", "flash_wgmma", ("heads=16", "count=2048")), ("gemm_wgmma, 1536 x 2816 x 4096", "gemm_wgmma", large),
                ("gemm_wgmma fp8, the same", "gemm_wgmma", large + ("type=fp8",)))
        columns = (("none", tensor(async_port="false", async_read_cycles=0, async_write_wait=0)),
                   ("port", tensor(async_read_cycles=0, async_write_wait=0)), ("register reads", tensor(async_port="false", async_write_wait=0)),
                   ("port, reads", tensor(async_write_wait=0)), ("port, reads, writes", []))
        head("h100, SM cycles", *(name for name, _ in columns))
        for text, name, parameters in rows:
            _, trace = self.workload(name, "sm_90", *parameters)
            row(text, *("{:,}".format(self.run("h100", trace, *options)["cycles"]) for _, options in columns))
        print()
        head("gemm_wgmma, 1536 x 2816 x 4096, TFLOPS", "1980 MHz", "at 700 W")
        for text, more in (("each CTA by itself", ()), ("clusters of two", ("cluster=2",)), ("fp8, each CTA by itself", ("type=fp8",)),
                           ("fp8, clusters of two", ("type=fp8", "cluster=2"))):
            _, trace = self.workload("gemm_wgmma", "sm_90", *large, *more)
            boost = self.run("h100", trace)
            limit = json.loads(call(self.program, "run", "-q", "--json", "--gpu", "h100", "--trace", trace, "--clock-control", "limit"))
            row(text, *("%.0f" % (2 * 1536 * 2816 * 4096 / r["time_s"] / 1e12) for r in (boost, limit)))
        _, trace = self.workload("gemm_wgmma", "sm_90", *large)
        slow = self.run("h100", trace, "--set", "l2.mshr_merge=4", "--set", "l2.coalesce=0")
        print("with l2.mshr_merge 4 and l2.coalesce 0: %.0f TFLOPS" % (2 * 1536 * 2816 * 4096 / slow["time_s"] / 1e12))

    def query(self, trace, sql, *options):
        """Rows of a query over a replay of the trace."""
        db = self.at("t.db")
        if os.path.exists(db):
            os.remove(db)
        call(self.program, "run", "-q", "--trace", trace, "--db", db, "--no-pc", *options)
        return json.loads(call(self.program, "query", "--db", db, "--json", sql))

    def suite_power(self):
        groups = (("front end, registers", ("icache", "ibuffer", "scheduler", "regfile", "collector")),
                  ("lanes", ("int", "fp32", "fp64", "sfu", "tensor")), ("pipeline", ("sm_other",)),
                  ("on-chip memories", ("shared", "l1", "texture", "constant_cache", "lsu")), ("crossbar, L2", ("xbar", "l2")),
                  ("DRAM, controllers", ("dram_activate", "dram_background", "dram_read", "dram_refresh", "dram_write", "mem_ctrl")))
        head("kernel", "W", *(name for name, _ in groups), "leakage, idle SMs", "constant")
        for words, kernels in (("backprop", "backprop_layerforward"), ("mri_q --registers 24", "mri_q_compute mri_q_phi_mag"),
                               ("sgemm -p variant=rows -p m=768 -p n=240 -p k=96 --registers 42", "sgemm_rows"),
                               ("cutcp --registers 20", "cutcp_lattice"), ("sad", "sad_macroblock"), ("lavaMD --registers 60", "lavaMD_forces"),
                               ("lbm --registers 36", "lbm_stream_collide"), ("streamcluster", "streamcluster_pgain"),
                               ("mummer --registers 20", "mummer_match"), ("kmeans -p variant=rodinia", "kmeans_invert"),
                               ("bfs -p variant=mask -p block=512 -p nodes=65536", "bfs_mask_expand"), ("mri_gridding", "mri_gridding_bin")):
            trace = self.at("w.wwt")
            call(self.program, "trace", "record", "-q", "--code", "ptx", "--arch", "sm_20", "-o", trace, "-w", *words.split())
            rows = self.query(trace, "SELECT kernel, c.name AS part, sum(e.dynamic_j) AS dynamic, sum(e.static_j) AS static FROM v_launch "
                              "JOIN launch_energy e USING (launch_id) JOIN component c USING (component_id) GROUP BY kernel, part", "--gpu", "gtx480")
            times = self.query(trace, "SELECT kernel, sum(time_us) AS us FROM v_launch GROUP BY kernel", "--gpu", "gtx480")
            for kernel in kernels.split():
                of = {r["part"]: r for r in rows if r["kernel"] == kernel}
                total = sum(r["dynamic"] + r["static"] for r in of.values())
                shares = [sum(of[c]["dynamic"] for c in parts) for _, parts in groups]
                constant = sum(of[c]["static"] for c in ("constant", "dram_background", "mem_ctrl"))
                shares += [total - sum(shares) - constant, constant]
                us = next(t["us"] for t in times if t["kernel"] == kernel)
                row(kernel, "%.0f" % (total / us * 1e6), *("%.0f" % (100 * share / total) for share in shares))

    def launch_spread(self):
        head("kernel", "GPU", "launches", "spread", "correlation")
        for name, parameters in (("srad", ("size=small", "iterations=60")), ("cfd", ("size=small", "iterations=20")),
                                 ("kmeans", ("n=2000", "iterations=40")), ("lbm", ("size=small", "iterations=40")),
                                 ("streamcluster", ("size=small", "candidates=60")), ("pathfinder", ("size=small", "pyramid=1")),
                                 ("stencil", ("nx=16", "ny=16", "nz=4", "iterations=200"))):
            for gpu, arch in (("gtx480", "sm_20"), ("v100", "sm_70")):
                trace = self.at("w.wwt")
                call(self.program, "trace", "record", "-q", "--code", "ptx", "--arch", arch, "-o", trace, "-w", name,
                     *(w for p in parameters for w in ("-p", p)))
                full, fast = (self.query(trace, "SELECT kernel, launch, cycles FROM v_launch ORDER BY launch", "--gpu", gpu, "--power", "none",
                                         "--mode", mode) for mode in ("full", "fast"))
                for kernel in sorted({r["kernel"] for r in full}):
                    x, y = ([r["cycles"] for r in rows if r["kernel"] == kernel][2:] for rows in (full, fast))
                    if len(x) > 8:
                        spread = statistics.pstdev(x) / statistics.mean(x)
                        same = len(set(x)) < 2 or len(set(y)) < 2
                        row(kernel, gpu, len(x), "%.2f %%" % (100 * spread), "" if same else "%.2f" % statistics.correlation(x, y))

    def refresh(self):
        machines = (("`bank`", "bank", 255), ("`all`, 160 ns", "all", 255), ("`all`, 260 ns", "all", 414))
        head("A100 80 GB, GB/s", *(name for name, _, _ in machines))
        for text, kernel, threads, arrays in (("stores of 2 x 1024 threads per SM", 0, 1024, 1), ("reads of 2 x 512", 1, 512, 1),
                                              ("reads of 2 x 1024", 1, 1024, 1), ("triad of 2 x 1024", 4, 1024, 4)):
            traces, first = [], 8 if kernel else 32  # stores: more than the L2 holds
            for waves in (first, 3 * first):
                path = self.at("stream-%d.wwt" % waves)
                call(self.program, "trace", "record", "-q", "-o", path, "--gpu", "a100_80", "--", self.build("cta_start", "sm_80"), str(kernel),
                     str(waves), "2", str(threads))
                traces.append(path)
            cells = []
            for _, refresh, trfc in machines:
                few, many = (self.run("a100_80", t, "--set", "dram.refresh=" + refresh, "--set", "dram.trfc=%d" % trfc)["time_s"] for t in traces)
                cells.append("%.0f" % (2 * first * 108 * 2 * threads * 8 * arrays / (many - few) / 1e9))
            row(text, *cells)

    def slices(self):
        examples = os.path.join(HERE, "..", "..", "traces", "examples")
        times = {}
        for ctas in ("representative", "all"):
            with open(os.path.join(examples, "transpose-ptx.json"), encoding="utf-8") as f:
                space = json.load(f)
            space["program"]["ctas"] = ctas
            space["program"]["source"] = os.path.join(examples, space["program"]["source"])
            path, db = self.at(ctas + ".json"), self.at(ctas + ".db")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(space, f)
            call(self.program, "sweep", path, "-q", "--db", db)
            rows = json.loads(call(self.program, "query", "--db", db, "--json", "SELECT point, time_s FROM v_sweep_point ORDER BY point"))
            times[ctas] = [r["time_s"] for r in rows]
        head("variant", "slice, us", "whole v100, us", "difference")
        for i, (part, whole) in enumerate(zip(times["representative"], times["all"])):
            row(i, "%.1f" % (1e6 * part), "%.1f" % (1e6 * whole), "%+.1f %%" % (100 * (part / whole - 1)))

    def sweep_speed(self):
        examples = os.path.join(HERE, "..", "..", "reports", "examples")
        head("sweep", "points", "processor time, s", "ms per point")
        for space, mode in (("adaptive_memory.json", "analytic"), ("sweep_1000.json", "sampled")):
            words = (self.program, "sweep", os.path.join(examples, space), "--mode", mode, "-j2", "-q", "--db", self.at(mode + ".db"))
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            call(*words)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            points = json.loads(call(self.program, "query", "--db", self.at(mode + ".db"), "--json", "SELECT count(*) AS n FROM sweep_point"))[0]["n"]
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            row("`%s`, `--mode %s`" % (space, mode), points, "%.1f" % seconds, "%.1f" % (1000 * seconds / points))

    def copies(self):
        variants = (("", ()), ("32 walkers, 64 misses", ("--set", "tlb.walkers=32", "--set", "tlb.misses=64")))
        head("two arrays of", "variant", "GB/s")
        for mb in (64, 112, 176, 192):
            trace = self.at("w.wwt")
            call(self.program, "trace", "record", "-q", "--code", "ptx", "--arch", "sm_52", "-o", trace, "-w", "gcopy", "-p", "n=%d" % (mb << 18),
                 "-p", "ctas=32", "-p", "block=1024", "-p", "ilp=4")
            for text, options in variants:
                row("%d MB" % mb, text, "%.0f" % (2 * (mb << 20) / self.run("gtx980", trace, *options)["time_s"] / 1e9))

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


def geometric(values):
    return statistics.geometric_mean(values)


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
    tables = {n.replace("_", "-"): n for n in ("grid_sync", "cta_start", "coalesce", "trace_sizes", "suite_3", "straight_line", "trace_text", "wgmma",
                                                "suite_power", "launch_spread", "refresh", "sweep_speed", "slices", "copies",
                                                "sampling_start")}
    if len(sys.argv) < 3 or any(n not in tables for n in sys.argv[2:]):
        sys.exit(__doc__)
    for name in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            getattr(Figures(os.path.abspath(sys.argv[1]), folder), tables[name])()


if __name__ == "__main__":
    main()
