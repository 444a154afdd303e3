#!/usr/bin/env python3
"""Prints what the stall counts of a compiler imply for fixed latencies: the least distance that it leaves between
the instruction that writes a register and the first one that reads it, by class of writer and reader.

    scripts/fixed-latencies.py --program build/warpwatt --archs 70,75,80,86,89,90 > reports/fixed-latencies.csv
    scripts/fixed-latencies.py --archs 90 program.cubin other.cubin

Without files it takes the kernels in traces/kernels, which ptxas compiles for each architecture. A pair counts if
both lie in one basic block, the writer's latency is fixed, and nothing between them, the reader included, waits for
a dependence counter: there the distance is the sum of stall counts. The least of many distances is the latency that
the compiler believes in, unless no pair was ever as close as it may be: `at` says how many pairs have that distance.
"""
import argparse
import collections
import csv
import glob
import json
import os
import re
import subprocess
import sys

STORES = re.compile(r"(ST|RED|BAR|BRA|BRX|EXIT|CCTL|MEMBAR|WARPSYNC|BSYNC|BSSY|BREAK|RET|CALL|JMP|NANOSLEEP|SULD|SUST|SURED)")
COMPARES = re.compile(r"U?([IFDH]SETP|HSETP2|PLOP3|PSETP|R2P|UR2UP)")
ENDS = re.compile(r"(BRA|BRX|JMP|JMX|CALL|RET|EXIT|BSYNC|WARPSYNC|KILL|BREAK|YIELD)")
REGISTER = re.compile(r"\b(UR|UP|R|P)(\d+)\b")
MEMORY = ("lsu", "tex", "tma")


def operands(text):
    """Of the text behind the opcode, split at commas outside of brackets."""
    out, depth, word = [], 0, ""
    for c in text:
        depth += (c in "[({") - (c in "])}")
        if c == "," and depth == 0:
            out.append(word.strip())
            word = ""
        else:
            word += c
    return out + [word.strip()] if word.strip() else out


def registers(text, pairs=False):
    """Registers that an operand names; with pairs the one behind each, too, as 64 bits are held."""
    found = set()
    for kind, number in REGISTER.findall(text):
        found.add((kind, int(number)))
        if pairs and kind in ("R", "UR"):
            found.add((kind, int(number) + 1))
    return found


class Insn:
    def __init__(self, row):
        text = row["text"]
        guard = re.match(r"@!?(U?P[0-9T]+)\s+", text)
        self.guard = registers(guard.group(1)) if guard else set()
        text = text[guard.end():] if guard else text
        self.opcode = text.split(None, 1)[0]
        self.row, self.offset = row, row["offset"]
        rest = operands(text.split(None, 1)[1]) if " " in text else []
        wide = bool(re.match(r"(D(ADD|MUL|FMA|SETP|MNMX)|U?IMAD\.WIDE)", self.opcode))
        targets = 0
        if COMPARES.match(self.opcode):
            targets = 2 if len(rest) > 1 and re.match(r"U?P[0-9T]", rest[1]) else 1
        elif not STORES.match(self.opcode):
            while targets < len(rest) and re.match(r"U?P[0-9T]", rest[targets]):
                targets += 1
            targets += 1
            while targets < len(rest) and re.match(r"U?P[0-9T]", rest[targets]) and self.opcode.split(".")[0] in (
                    "IADD3", "UIADD3", "LEA", "ULEA", "IMAD", "VOTE", "VOTEU", "MATCH"):
                targets += 1
        self.writes = set().union(*[registers(o, wide) for o in rest[:targets]]) if targets else set()
        sources = rest[targets:]
        product = wide and self.opcode[0] != "D"  # of 32 bits by 32, and an addend of 64
        self.addend = registers(sources[2], True) if product and len(sources) > 2 else set()
        self.reads = set().union(*[registers(o, wide and not product) for o in sources], self.addend)
        self.high = {(k, n) for k, n in self.writes if wide and (k, n - 1) in self.writes}
        stall = row["stall"]
        self.stall = stall if stall > 1 else 2 if row["yield"] else 1

    def unit(self):
        if self.opcode.startswith("VIADD") and "MNMX" not in self.opcode:
            return "viadd"
        if re.match(r"IMAD\.(WIDE|HI)", self.opcode):
            return "imad_wide"
        if self.opcode in ("R2UR", "UMOV"):
            return self.opcode.lower()
        if self.opcode.startswith("LDC"):
            return "const"
        return "memory" if self.row["unit"] in MEMORY else self.row["unit"]


def blocks(rows):
    """Lists of instructions without a branch into or out of their midst."""
    insns = [Insn(r) for r in rows]
    targets = {int(m.group(1), 16) for i in insns for m in re.finditer(r"\b0x([0-9a-f]+)\b", i.row["text"])
               if ENDS.match(i.opcode) or i.opcode.startswith("BSSY")}
    block = []
    for i in insns:
        if i.offset in targets and block:
            yield block
            block = []
        block.append(i)
        if ENDS.match(i.opcode):
            yield block
            block = []
    if block:
        yield block


def pairs(block):
    """(writer, kind of register, reader's class, cycles) of each register's first reader; R+1: the upper half."""
    for at, writer in enumerate(block):
        if writer.row["latency"] != "fixed":
            continue
        left, cycles = set(writer.writes), writer.stall
        for reader in block[at + 1:]:
            if reader.row["wait"] or not left:
                break
            for register in sorted(left & (reader.guard | reader.reads)):
                reads = "guard" if register in reader.guard else "addend" if register in reader.addend else reader.unit()
                yield (writer.unit(), register[0] + "+1" * (register in writer.high), reads, cycles)
            left -= reader.guard | reader.reads
            if not reader.guard:
                left -= reader.writes
            cycles += reader.stall


def listing(program, path, arch):
    out = subprocess.run([program, "disasm", path, "--arch", "sm_%d" % arch, "--json"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, universal_newlines=True)
    return json.loads(out.stdout) if out.returncode == 0 else []


def table(program, files, archs):
    found = collections.defaultdict(collections.Counter)
    for arch in archs:
        for path in files:
            for code in listing(program, path, arch):
                for block in blocks(code["instructions"]):
                    for writer, kind, reader, cycles in pairs(block):
                        found[arch, writer, kind, reader][cycles] += 1
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", default="build/warpwatt")
    p.add_argument("--archs", default="70,75,80,86,89,90")
    p.add_argument("files", nargs="*")
    o = p.parse_args()
    files = o.files or sorted(glob.glob(os.path.join(os.path.dirname(__file__), "../traces/kernels/*.ptx")))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["arch", "writer", "register", "reader", "cycles", "at", "pairs"])
    for (arch, writer, kind, reader), n in sorted(table(o.program, files, [int(a) for a in o.archs.split(",")]).items()):
        out.writerow(["sm_%d" % arch, writer, kind, reader, min(n), n[min(n)], sum(n.values())])


if __name__ == "__main__":
    main()
