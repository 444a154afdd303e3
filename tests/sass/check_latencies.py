#!/usr/bin/env python3
"""Tests of scripts/fixed-latencies.py on listings written by hand, in the form of `disasm --json`. The last line is
"N passed, N failed".

usage: check_latencies.py [WARPWATT]
"""
import importlib.util
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPEC = importlib.util.spec_from_file_location("latencies", os.path.join(ROOT, "scripts/fixed-latencies.py"))
TOOL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TOOL)
counts = {True: 0, False: 0}


def rows(*lines):
    """Of (text, unit, stall) or with what it waits for; loads have a variable latency."""
    return [{"offset": 16 * n, "text": i[0], "unit": i[1], "latency": "variable" if i[1] == "lsu" else "fixed",
             "stall": i[2], "yield": False, "wait": i[3] if len(i) > 3 else 0} for n, i in enumerate(lines)]


def pairs(*lines):
    return [p for block in TOOL.blocks(rows(*lines)) for p in TOOL.pairs(block)]


def claim(name, found, expected):
    counts[found == expected] += 1
    if found != expected:
        print("%s: %r, expected %r" % (name, found, expected))


ADD = ("IADD3 R1, R2, R3, RZ", "alu", 4)
claim("stall counts add up to the first reader",
      pairs(ADD, ("MOV R9, R8", "alu", 2), ("FADD R4, R1, R1", "fma", 1), ("FADD R5, R1, R1", "fma", 1)),
      [("alu", "R", "fma", 6)])
claim("who waits for a counter tells nothing", pairs(ADD, ("FADD R4, R1, R7", "fma", 1, 1)), [])
claim("a result that is overwritten has no later reader",
      pairs(ADD, ("IADD3 R1, R6, R7, RZ", "alu", 4), ("MOV R9, R1", "alu", 1)), [("alu", "R", "alu", 4)])
claim("what a guarded instruction overwrites may still be read",
      pairs(ADD, ("@P0 IADD3 R1, R6, R7, RZ", "alu", 4), ("MOV R9, R1", "alu", 1)),
      [("alu", "R", "alu", 8), ("alu", "R", "alu", 4)])
claim("a guard is a reader of its own class",
      pairs(("ISETP.NE.AND P1, PT, R1, R2, PT", "alu", 12), ("@P1 MOV R4, R5", "alu", 1)), [("alu", "P", "guard", 12)])
claim("pairs do not reach over a branch",
      pairs(ADD, ("BRA 0x40", "bru", 5), ("MOV R9, R1", "alu", 1)), [])
claim("nor over a place that is branched to",
      pairs(("IADD3 R1, R2, R3, RZ", "alu", 4), ("MOV R9, R1", "alu", 1), ("@P0 BRA 0x10", "bru", 5)), [])
claim("a store only reads", pairs(ADD, ("STG.E desc[UR4][R6.64], R1", "lsu", 1)), [("alu", "R", "memory", 4)])
claim("a product of 64 bits has two halves, and reads its addend later than its factors",
      pairs(("IMAD.WIDE R4, R2, R3, R6", "fma", 4), ("IMAD.WIDE R8, R0, R1, R4", "fma", 1)),
      [("imad_wide", "R", "addend", 4), ("imad_wide", "R+1", "addend", 4)])
claim("a load's result is not of a fixed latency", pairs(("LDG.E R1, [R2]", "lsu", 4), ("MOV R3, R1", "alu", 1)), [])
claim("VIADD is a class of its own", pairs(("VIADD R1, R2, 0x1", "fma", 5), ("IADD3 R3, R1, R4, RZ", "alu", 1)),
      [("viadd", "R", "alu", 5)])
print("%d passed, %d failed" % (counts[True], counts[False]))
raise SystemExit(counts[False] > 0)
