#!/usr/bin/env python3
"""Estimates compared with a real GPU's measurements: programs, compiled, recorded and replayed here, launch by launch.

usage: silicon.py SOURCES --programs FILE [OPTIONS]  compile, record, replay, compare
       silicon.py --estimates FILE [OPTIONS]         compare what an earlier --json holds

Nothing is downloaded: SOURCES is a folder that has the programs' sources, FILE says which (docs/studies/silicon.md). Exit status: 0,
1 if a program could not be built, recorded or replayed (the others are compared), 2 if nothing could be compared.
"""
import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import silicon_compare as compare  # noqa: E402
from silicon_programs import NVCC_OPTIONS, Failure, digest, read_programs  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "reports", "silicon.csv")
# Suites of measurements in TABLE: the GPU's model, what the PTX is compiled for, the state of caches, and the
# clock that the profiler fixed, if it is not the model's: the base clocks of a PCIe A100 and of an H100 NVL are below
# those of the SXM boards that the models describe.
SUITES = {"gv100": ("gv100", "compute_75", "flush", None), "v100-micro": ("gv100", "compute_75", "flush-once", None),
          "a100-micro": ("a100", "compute_80", "flush-once", "765"), "h100-micro": ("h100_nvl", "compute_90", "flush-sm", "1080"),
          "h100-apps": ("h100_nvl", "compute_90", "flush-sm", "1080")}
SECTOR_BYTES = 32


def say(text):
    print(text, file=sys.stderr, flush=True)


def call(words, folder=None, log=None):
    """Runs warpwatt; stdout. What it and a recorded program print goes into the log."""
    p = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    out, err = p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")
    if log:
        with open(log, "w", encoding="utf-8") as f:
            f.write(out + err)
    if p.returncode:
        raise Failure("%s %s ended with %d: %s" % (os.path.basename(words[0]), words[1], p.returncode, err.strip()[-400:]))
    return out


# ---- recording ----

def record(program, args, work):
    """Compiles and records one program; the trace is kept, and made anew if what it was made by changes."""
    trace, stamp = os.path.join(work, "%s.wwt" % (args.code or "default")), None
    words = [args.program, "trace", "record", "-o", trace, "--gpu", args.gpu]
    if program.first:
        words += ["--first", str(program.first)]
    if args.code:
        words += ["--code", args.code]
    made_by = "\n".join([args.sources, args.nvcc, args.nvcc_options, digest(), program.described()] + words[1:])
    if os.path.exists(trace) and os.path.exists(trace + ".by") and not args.record_again:
        with open(trace + ".by", encoding="utf-8") as f:
            stamp = f.read()
    if stamp == made_by:
        return trace
    say("%s: building" % program.name)
    binary = program.build(args.sources, work, args.nvcc, args.nvcc_options)
    program.make_inputs(work)
    say("%s: recording" % program.name)
    start = time.monotonic()
    call(words + ["--", binary] + program.arguments, work, os.path.join(work, "record.log"))
    with open(trace + ".by", "w", encoding="utf-8") as f:
        f.write(made_by)
    say("%s: recorded in %.1f s" % (program.name, time.monotonic() - start))
    return trace


# ---- replay ----

def ratio(part, whole):
    return 100.0 * part / whole if whole else None


def estimate(name, launch, kernel, row, counters):
    """Hit rates as the profiler counts them: L1: hits, merged misses and stores that hit; L2: stores are hits."""
    c = {k: counters.get(k, 0) for k in (
        "l1_sector_read", "l1_sector_hit", "l1_sector_merged", "l1_sector_write", "l1_write_hit", "l2_sector_read",
        "l2_sector_hit", "l2_sector_merged", "l2_sector_write", "l2_atomic", "dram_sector_read", "dram_sector_write")}
    return {"app": name, "launch": launch, "kernel": kernel, "cycles": row[0], "warp_instructions": row[1],
            "l1_hit_percent": ratio(c["l1_sector_hit"] + c["l1_sector_merged"] + c["l1_write_hit"],
                                    c["l1_sector_read"] + c["l1_sector_write"]),
            "l2_hit_percent": ratio(c["l2_sector_hit"] + c["l2_sector_merged"] + c["l2_sector_write"],
                                    c["l2_sector_read"] + c["l2_sector_write"]),
            "dram_read_bytes": SECTOR_BYTES * c["dram_sector_read"], "dram_write_bytes": SECTOR_BYTES * c["dram_sector_write"]}


def replay(name, trace, launches, args):
    """Replays some launches in one run; their estimates."""
    with tempfile.TemporaryDirectory() as folder:
        db = os.path.join(folder, "r.db")
        words = [args.program, "run", "--gpu", args.gpu, "--trace", trace, "--db", db, "--no-pc", "--mode", "full", "-q",
                 "--cache-control", args.cache_control, "--launches", ",".join(map(str, launches))]
        if args.clock_control:
            words += ["--clock-control", args.clock_control]
        for option in args.set:
            words += ["--set", option]
        for option in args.mech:
            words += ["--mech", option]
        call(words)
        base = sqlite3.connect(db)
        found = base.execute("SELECT l.launch_id, l.trace_index, k.name, l.cycles, l.warp_instructions FROM launch l "
                             "JOIN kernel k USING(kernel_id) ORDER BY l.ord").fetchall()
        out = []
        for launch_id, index, kernel, *row in found:
            counters = dict(base.execute("SELECT c.name, v.value FROM launch_counter v JOIN counter c USING(counter_id) "
                                         "WHERE v.launch_id = ?", (launch_id,)))
            out.append(estimate(name, index, kernel, row, counters))
        base.close()
    return out


def add_up(launches):
    """One estimate of all launches of a program; its hit rates are not given."""
    first = dict(launches[0], launch=-1, kernel="all", l1_hit_percent=None, l2_hit_percent=None)
    return dict(first, **{k: sum(x[k] for x in launches)
                          for k in ("cycles", "warp_instructions", "dram_read_bytes", "dram_write_bytes")})


def replay_all(program, trace, wanted, pool, args):
    """The estimates of a trace's launches that were measured, in order."""
    info = json.loads(call([args.program, "trace", "info", trace, "--json"]))
    summed = (program.name, -1) in wanted
    launches = [x["launch"] for x in info["launches"] if summed or (program.name, x["launch"]) in wanted]
    if args.launches:
        launches = launches[:args.launches]
    # Flushed launches do not depend on one another: they are dealt out to as many runs as there are jobs.
    parts = args.jobs if args.cache_control == "flush" else 1
    groups = [g for g in (launches[i::parts] for i in range(parts)) if g]
    start = time.monotonic()
    out = [e for some in pool.map(lambda g: replay(program.name, trace, g, args), groups) for e in some]
    out.sort(key=lambda e: e["launch"])
    if summed and out:
        out = [add_up(out)]
    say("%s: %d launches replayed in %.1f s" % (program.name, len(launches), time.monotonic() - start))
    return out


def run_all(args, measured):
    """Estimates of all programs, and the names of those that failed."""
    out, failed = [], []
    with ThreadPoolExecutor(args.jobs) as pool:
        for program in args.only:
            work = os.path.join(args.work, "" if args.suite == "gv100" else args.suite, program.name)
            try:
                os.makedirs(work, exist_ok=True)
                out += replay_all(program, record(program, args, work), measured, pool, args)
            except (Failure, OSError) as e:
                say("%s: %s" % (program.name, e))
                failed.append(program.name)
    return out, failed


# ---- the command ----

def parse(argv):
    p = argparse.ArgumentParser(prog="silicon.py", description="Estimates compared with a real GPU's measurements (docs/studies/silicon.md).")
    p.add_argument("sources", nargs="?", help="folder with the programs' sources")
    p.add_argument("--suite", choices=list(SUITES), default="gv100",
                   help="measurements of reports/silicon.csv to compare with; sets --gpu, --cache-control and what is compiled for")
    p.add_argument("--programs", metavar="FILE", help="JSON list of the programs to build (docs/studies/silicon.md)")
    p.add_argument("--measured", metavar="FILE", help="table of measurements, tab-separated, in place of the suite's")
    p.add_argument("--estimates", metavar="FILE", help="compare the rows of an earlier --json; build and run nothing")
    p.add_argument("--program", metavar="PATH", default=os.path.join(ROOT, "build", "warpwatt"), help="warpwatt")
    p.add_argument("--work", metavar="DIR", default=os.path.join(ROOT, "build", "silicon"), help="where programs, inputs and traces are kept")
    p.add_argument("--gpu", help="default: the suite's")
    p.add_argument("--code", choices=("sass", "ptx", "auto"), help="option of trace record (default: none is given)")
    p.add_argument("--only", metavar="NAMES", help="programs of the list, separated by commas")
    p.add_argument("--launches", metavar="N", type=int, help="the first N launches of each program only")
    p.add_argument("--cache-control", choices=("flush", "flush-once", "flush-sm", "keep"),
                   help="caches before each launch, as option of run (default: as the suite was measured)")
    p.add_argument("--clock-control", metavar="CLOCK", help="option of run: base, boost or MHz (default: as the suite was measured)")
    p.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="option of run (may be repeated)")
    p.add_argument("--mech", metavar="MECHANISM", action="append", default=[], help="option of run (may be repeated)")
    p.add_argument("--nvcc", default=os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    p.add_argument("--nvcc-options", metavar="WORDS", help="default: " + NVCC_OPTIONS + ", for the suite's architecture")
    p.add_argument("--record-again", action="store_true", help="record although there is a trace of the same command")
    p.add_argument("-j", "--jobs", type=int, default=1, help="replays at the same time (default 1)")
    p.add_argument("--worst", type=int, default=10, help="how many of the worst launches are listed (default 10)")
    p.add_argument("--no-launches", action="store_true", help="leave out the table of all launches")
    form = p.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    form.add_argument("--csv", action="store_true", help="print the launches as CSV")
    args = p.parse_args(argv)
    if bool(args.sources) == bool(args.estimates):
        p.error("either the folder of sources or --estimates is needed")
    if args.jobs < 1 or (args.launches is not None and args.launches < 1) or args.worst < 0:
        p.error("--jobs and --launches are 1 at least, --worst 0")
    gpu, arch, caches, clock = SUITES[args.suite]
    args.clock_control = args.clock_control or (clock if args.gpu in (None, gpu) else None)
    args.gpu, args.cache_control = args.gpu or gpu, args.cache_control or caches
    args.nvcc_options = args.nvcc_options or NVCC_OPTIONS.replace("compute_75", arch)
    return args


def choose_programs(args):
    """args.only becomes a list of programs."""
    if args.estimates and (args.programs or args.only):
        raise Failure("--programs and --only choose what is built: with --estimates nothing is")
    if args.estimates:
        return
    if not args.programs:
        raise Failure("no list of programs is given: --programs FILE (with make: PROGRAMS=FILE). FILE is a JSON array with an "
                      "object for each program: name (its name among the measurements), folder, sources, arguments, options, "
                      "inputs. docs/studies/silicon.md describes it")
    named = {x.name: x for x in read_programs(args.programs)}
    wanted = [n for n in (args.only or "").split(",") if n]
    unknown = [n for n in wanted if n not in named]
    if unknown:
        raise Failure("no program is called '%s'; there are %s" % (unknown[0], ", ".join(named)))
    args.only = [named[n] for n in wanted or named]


def absolute(args):
    """Paths that are used from other folders."""
    args.program, args.work = os.path.abspath(args.program), os.path.abspath(args.work)
    if args.sources:
        args.sources = os.path.abspath(args.sources)
        if not os.path.isdir(args.sources):
            raise compare.BadTable("%s: no such folder" % args.sources)
        for path in (args.program, args.nvcc):
            if not shutil.which(path):
                raise compare.BadTable("%s: no such program" % path)


def read_estimates(path):
    with open(path, encoding="utf-8") as f:
        try:
            rows = json.load(f)["rows"]
            return [dict(r, app=r["app"], launch=int(r["launch"]), kernel=r["kernel"], cycles=float(r["cycles"]),
                         warp_instructions=float(r["warp_instructions"])) for r in rows]
        except (ValueError, KeyError, TypeError) as e:
            raise compare.BadTable("%s: the output of --json was expected (%s)" % (path, e)) from None


def main(argv):
    args = parse(argv)
    try:
        choose_programs(args)
        absolute(args)
        measured, others = compare.read_measured(args.measured) if args.measured else compare.read_suite(TABLE, args.suite)
        estimates, failed = (read_estimates(args.estimates), []) if args.estimates else run_all(args, measured)
        result = compare.compare(measured, others, estimates)
    except (compare.BadTable, Failure, OSError) as e:
        say("silicon: %s" % e)
        return 2
    result.update(suite=None if args.measured else args.suite, gpu=args.gpu, code=args.code, cache_control=args.cache_control, clock_control=args.clock_control, settings=args.set + args.mech, failed=failed)
    if args.json:
        print(json.dumps(result, indent=1))
    elif args.csv:
        sys.stdout.write(compare.csv_text(result))
    else:
        sys.stdout.write(compare.text(result, args.worst, not args.no_launches))
    if failed:
        say("silicon: not compared: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
