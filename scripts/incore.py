#!/usr/bin/env python3
"""Cycles that an SM needs for an operation, by warps and independent chains: loops of our own, compiled by ptxas.

A loop's turn begins with values made of its number, does 128 operations in as many independent chains as asked, and
compares the results. What a turn takes is the difference of two launches of one CTA with 8 and 24 turns. With
--measured it prints measured figures beside them (a table as of gpu-benches: gpu, op, warps, ilp, cycles).
Values are the cycles of the turn divided by operations and warps.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

OPERATIONS = 128

# One operation on %0, with constants that no operation folds.
OPS = {
    "DFMA": ("f64", "fma.rn.f64 {t}, {t}, 0d3FECCCCCCCCCCCCD, 0d3FE0000000000000;"),
    "DDIV": ("f64", "add.f64 {t}, {t}, 0d3FC999999999999A; div.rn.f64 {t}, 0d3FB999999999999A, {t};"),
    "DSQRT": ("f64", "add.f64 {t}, {t}, 0d3FC999999999999A; sqrt.rn.f64 {t}, {t};"),
    "FFMA": ("f32", "fma.rn.f32 {t}, {t}, 0f3F666666, 0f3F000000;"),
    "IADD": ("s32", "add.s32 {t}, {t}, %seed;"),
    "IMAD": ("s32", "mad.lo.s32 {t}, {t}, %seed, %seed;"),
    "MUFU": ("f32", "ex2.approx.ftz.f32 {t}, {t};"),
}


def kernel(op, chains, target):
    kind, text = OPS[op]
    reg = {"f64": "fd", "f32": "f", "s32": "r"}[kind]
    t = ["%%%s%d" % (reg, 10 + i) for i in range(chains)]
    out = [".version 6.4", ".target %s" % target, ".address_size 64",
           ".visible .entry loop(.param .u64 out, .param .u32 turns, .param .%s seed)" % kind, "{",
           ".reg .pred %p<4>; .reg .f64 %fd<40>; .reg .f32 %f<40>; .reg .s32 %r<40>; .reg .u64 %rd<4>;",
           ".reg .s32 %%i, %%n, %%lane; .reg .%s %%seed, %%start;" % kind,
           "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; ld.param.u32 %n, [turns];",
           "ld.param.%s %%seed, [seed]; mov.u32 %%lane, %%tid.x; mov.u32 %%i, 0;" % kind]
    convert = {"f64": "cvt.rn.f64.s32", "f32": "cvt.rn.f32.s32", "s32": "mov.s32"}[kind]
    out += ["%s %%start, %%lane; add.%s %%start, %%start, %%seed;" % (convert, kind), "LOOP:",
            "%s %s, %%i; add.%s %s, %s, %%start;" % (convert, t[0], kind, t[0], t[0])]
    step = {"f64": "0d3FF0000000000000", "f32": "0f3F800000", "s32": "1"}[kind]
    for i in range(1, chains):
        out.append("add.%s %s, %s, %s;" % (kind, t[i], t[i - 1], step))
    for _ in range(OPERATIONS // chains):
        out += [text.format(t=x) for x in t]
    limit = {"f64": "0d40D5C64000000000", "f32": "0f46AE3200", "s32": "22313"}[kind]
    for x in t:
        out.append("setp.eq.%s %%p1, %s, %s; @%%p1 st.global.%s [%%rd1], %s;" % (kind, x, limit, kind, x))
    out += ["add.s32 %i, %i, 1; setp.lt.s32 %p2, %i, %n; @%p2 bra LOOP;", "ret;", "}"]
    return "\n".join(out) + "\n"


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        sys.exit("%s ended with %d: %s" % (" ".join(command), done.returncode, done.stderr.strip()))
    return done.stdout


def cycles(options, folder, op, warps, chains):
    """SM cycles of a turn."""
    name = os.path.join(folder, "%s-%d" % (op, chains))
    kind = OPS[op][0]
    with open(name + ".ptx", "w") as f:
        f.write(kernel(op, chains, options.arch))
    turns = {}
    for n in (8, 24):
        launch = {"kernel": "loop", "grid": 1, "block": 32 * warps,
                  "args": [{"buffer": "out"}, {"u32": n}, {kind: 3 if kind == "s32" else 0.32}],
                  "buffers": {"out": {"bytes": 64}}}
        with open(name + ".json", "w") as f:
            json.dump(launch, f)
        trace = "%s-%d-%d.wwt" % (name, warps, n)
        run([options.program, "trace", "record", "--ptx", name + ".ptx", "--launch", name + ".json", "--arch",
             options.arch, "--code", options.code, "-o", trace])
        text = run([options.program, "run", "--power", "none", "--no-pc", "--mode", "full", "--gpu", options.gpu,
                    "--trace", trace, "--json"] + [w for s in options.set for w in ("--set", s)])
        turns[n] = json.loads(text)["cycles"]
        os.unlink(trace)
    return (turns[24] - turns[8]) / 16.0


def measured(path):
    table = {}
    if path:
        with open(path) as f:
            for row in csv.reader(f, delimiter="\t"):
                if row[1] in OPS:
                    table[row[1], int(row[2]), int(row[3])] = float(row[4])
    return table


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", default="build/warpwatt")
    p.add_argument("--gpu", default="v100")
    p.add_argument("--arch", default="sm_70")
    p.add_argument("--code", default="sass")
    p.add_argument("--ops", default="DFMA,DDIV,DSQRT")
    p.add_argument("--warps", default="1,2,4,8,16,32")
    p.add_argument("--chains", default="1,2,4,8")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    p.add_argument("--measured", metavar="FILE")
    options = p.parse_args()
    known, errors = measured(options.measured), []
    print("op\twarps\tchains\tcycles\tmeasured\terror")
    with tempfile.TemporaryDirectory() as folder:
        for op in options.ops.split(","):
            for chains in map(int, options.chains.split(",")):
                for warps in map(int, options.warps.split(",")):
                    value = cycles(options, folder, op, warps, chains) / OPERATIONS / warps
                    there = known.get((op, warps, chains))
                    if there:
                        errors.append(value / there - 1)
                    print("%s\t%d\t%d\t%.2f\t%s\t%s" % (op, warps, chains, value, there or "",
                                                     "%+.1f %%" % (100 * errors[-1]) if there else ""), flush=True)
    if errors:
        within = sum(abs(e) <= 0.1 for e in errors)
        print("%d of %d within 10 %%, mean error %.1f %%" %
              (within, len(errors), 100 * sum(map(abs, errors)) / len(errors)))


if __name__ == "__main__":
    main()
