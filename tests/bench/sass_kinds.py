#!/usr/bin/env python3
"""Writes a text trace of SASS (sm_70) as Accel-Sim's tracer would, of one of four kinds of kernel:

copy    each thread copies words, a grid's width apart: one coalesced load and one store an iteration
arith   fused multiply-adds in eight independent chains, unrolled four times
gather  each thread adds up words at random places of 64 MB, whose indices it loads in order
tiles   products of 32x32 tiles through shared memory, two barriers a tile

usage: sass_kinds.py KIND FILE [CTAS]
"""
import random
import sys

SHARED, LOCAL = 0x7F0002000000, 0x7F0000000000
IN, OUT, INDEX = 0x7E0000000000, 0x7E0010000000, 0x7E0020000000
FULL, TABLE = "ffffffff", 64 << 20


class Code:
    """The lines of a warp; an instruction's pc is given by a label, in the order of first use."""

    def __init__(self):
        self.pc, self.lines = {}, []

    def start(self):
        self.lines = []

    def put(self, label, opcode, result="", sources="", memory="0"):
        pc = self.pc.setdefault((label, opcode), 16 * len(self.pc))
        registers = sources.split()
        results = "1 %s" % result if result else "0"
        self.lines.append(" ".join(["%04x" % pc, FULL, results, opcode, str(len(registers))] + registers + [memory]))


def strided(base, stride, width=4):
    return "%d 1 0x%x %d" % (width, base, stride)


def listed(addresses, width=4):
    return "%d 0 %s" % (width, " ".join("0x%x" % a for a in addresses))


def prologue(code):
    code.put(0, "S2R", "R0")
    code.put(1, "S2R", "R3")
    code.put(2, "IMAD", "R0", "R3 R0 R0")


def loop_end(code):
    code.put(90, "IADD3", "R0", "R0 R6")
    code.put(91, "ISETP.GE.AND", "", "R0 R7")
    code.put(92, "BRA")


def copy(code, ctas, cta, warp, _):
    for i in range(16):
        at = 128 * ((i * ctas + cta) * 8 + warp)
        code.put(3, "IMAD.WIDE", "R4", "R0 R9")
        code.put(4, "LDG.E.SYS", "R2", "R4", strided(IN + at, 4))
        code.put(5, "IMAD.WIDE", "R10", "R0 R9")
        code.put(6, "STG.E.SYS", "", "R10 R2", strided(OUT + at, 4))
        loop_end(code)


def arith(code, *_):
    for _i in range(5):
        for k in range(32):
            chain = "R%d" % (16 + k % 8)
            code.put(10 + k, "FFMA", chain, "%s R4 R5" % chain)
        loop_end(code)


def gather(code, ctas, cta, warp, rng):
    for i in range(4):
        at = 128 * ((i * ctas + cta) * 8 + warp)
        code.put(3, "IMAD.WIDE", "R4", "R0 R9")
        code.put(4, "LDG.E.SYS", "R2", "R4", strided(INDEX + at, 4))
        code.put(5, "IMAD.WIDE", "R10", "R2 R9")
        code.put(6, "LDG.E.SYS", "R12", "R10", listed(IN + 4 * rng.randrange(TABLE // 4) for _ in range(32)))
        code.put(7, "FADD", "R14", "R12 R14")
        loop_end(code)


def tiles(code, ctas, cta, warp, _):
    side = 32
    for t in range(2):
        code.put(3, "LDG.E.SYS", "R2", "R4", strided(IN + 4 * ((cta * side + warp) * 1024 + t * side), 4))
        code.put(4, "LDG.E.SYS", "R3", "R10", strided(OUT + 4 * ((t * side + warp) * 1024 + cta % side * side), 4))
        code.put(5, "STS", "", "R12 R2", strided(SHARED + 128 * warp, 4))
        code.put(6, "STS", "", "R13 R3", strided(SHARED + 4096 + 128 * warp, 4))
        code.put(7, "BAR.SYNC")
        for k in range(side):
            code.put(20 + 3 * k, "LDS.U", "R16", "R12", strided(SHARED + 128 * warp + 4 * k, 0))
            code.put(21 + 3 * k, "LDS.U", "R17", "R13", strided(SHARED + 4096 + 128 * k, 4))
            code.put(22 + 3 * k, "FFMA", "R18", "R16 R17 R18")
        code.put(120, "BAR.SYNC")
        loop_end(code)


# By kind: what it executes, warps of a CTA, CTAs.
KINDS = {"copy": (copy, 8, 1280), "arith": (arith, 8, 1280), "gather": (gather, 8, 1280), "tiles": (tiles, 32, 320)}


def write(kind, out, ctas):
    rng = random.Random(64)
    code = Code()
    body, warps, _ = KINDS[kind]
    out.write("-kernel name = %s\n-kernel id = 1\n-grid dim = (%d,1,1)\n-block dim = (%d,1,1)\n-shmem = %d\n"
              "-nregs = 32\n-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x%x\n"
              "-local mem base_addr = 0x%x\n-nvbit version = 1.5\n-accelsim tracer version = 3\n\n"
              "#traces format = threadblock_x threadblock_y threadblock_z warpid_tb PC mask dest_num [reg_dests] "
              "opcode src_num [reg_srcs] mem_width [addresses]\n\n"
              % (kind, ctas, 32 * warps, 8192 if kind == "tiles" else 0, SHARED, LOCAL))
    for cta in range(ctas):
        out.write("#BEGIN_TB\n\nthread block = %d,0,0\n\n" % cta)
        for warp in range(warps):
            code.start()
            prologue(code)
            body(code, ctas, cta, warp, rng)
            code.put(99, "EXIT")
            out.write("warp = %d\ninsts = %d\n%s\n\n" % (warp, len(code.lines), "\n".join(code.lines)))
        out.write("#END_TB\n\n")


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    with open(sys.argv[2], "w", encoding="ascii") as out:
        write(sys.argv[1], out, int(sys.argv[3]) if len(sys.argv) == 4 else KINDS[sys.argv[1]][2])


if __name__ == "__main__":
    main()
