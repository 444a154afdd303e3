#!/usr/bin/env python3
"""Writes mma_*.ptx: small kernels of one warp, each with one matrix instruction of PTX. Lane l reads 128 bytes at
in + 128 l: registers of A from byte 0, sparsity metadata at 48, B from 64, C from 96; it stores those of D at
out + 64 l. Kernels of wmma load A, B and C from in, in + 4096 and in + 8192 and store D to out."""
import os

HEAD = """// Written by mma_kernels.py.
.version {version}
.target sm_{sm}
.address_size 64
"""

FILES = {}
NEEDS = {"mma_70": (70, "6.4"), "mma_75": (75, "7.8"), "mma_80": (80, "7.1"), "mma_89": (89, "8.4"),
         "mma_90": (90, "7.8"), "wmma_70": (70, "6.3"), "wmma_75": (75, "7.0"), "wmma_80": (80, "7.1")}


def regs(letter, n):
    return "{" + ", ".join(f"{letter}{k}" for k in range(n)) + "}"


def mma(file, name, words, types, counts, sparse=None):
    """types, counts: of d, a, b, c, register types b32 or f64."""
    decl, load = [], []
    for letter, kind, n, at in (("a", types[1], counts[1], 0), ("b", types[2], counts[2], 64), ("c", types[3], counts[3], 96)):
        size = 8 if kind in ("b64", "f64") else 4
        decl.append(f"\t.reg .{kind} {letter}<{n}>;")
        for k in range(n):
            load.append(f"\tld.global.{kind} {letter}{k}, [in+{at + size * k}];")
    decl.append(f"\t.reg .{types[0]} d<{counts[0]}>;")
    size = 8 if types[0] in ("b64", "f64") else 4
    extra = ""
    if sparse is not None:
        decl.append("\t.reg .b32 e;")
        load.append("\tld.global.b32 e, [in+48];")
        extra = f", e, {sparse}"
    body = "\n".join(load) + f"\n\t{words} {regs('d', counts[0])}, {regs('a', counts[1])}, {regs('b', counts[2])}, {regs('c', counts[3])}{extra};\n"
    body += "\n".join(f"\tst.global.{types[0]} [out+{size * k}], d{k};" for k in range(counts[0]))
    emit(file, name, "\n".join(decl), body)


def emit(file, name, decl, body, stride=True):
    text = f"""
.visible .entry {name}(.param .u64 p_in, .param .u64 p_out)
{{
	.reg .b64 in, out;
	.reg .b32 lane;
{decl}
	ld.param.u64 in, [p_in];
	ld.param.u64 out, [p_out];
"""
    if stride:
        text += "\tmov.u32 lane, %tid.x;\n\tmad.wide.u32 in, lane, 128, in;\n\tmad.wide.u32 out, lane, 64, out;\n"
    FILES.setdefault(file, []).append(text + body + "\n\tret;\n}\n")


def dense():
    for a in ("row", "col"):
        for b in ("row", "col"):
            for d, c in (("f32", "f32"), ("f16", "f16"), ("f32", "f16"), ("f16", "f32")):
                n = {"f32": 8, "f16": 4}
                if (d, c) == ("f16", "f32"):
                    continue
                t = {"f32": "f32", "f16": "b32"}
                mma("mma_70", f"m8n8k4_{a}_{b}_{d}_{c}", f"mma.sync.aligned.m8n8k4.{a}.{b}.{d}.f16.f16.{c}",
                    (t[d], "b32", "b32", t[c]), (n[d], 2, 2, n[c]))
    for d, n in (("f32", 4), ("f16", 2)):
        t = "f32" if d == "f32" else "b32"
        mma("mma_75", f"m16n8k8_{d}", f"mma.sync.aligned.m16n8k8.row.col.{d}.f16.f16.{d}", (t, "b32", "b32", t), (n, 2, 1, n))
        mma("mma_80", f"m16n8k16_{d}", f"mma.sync.aligned.m16n8k16.row.col.{d}.f16.f16.{d}", (t, "b32", "b32", t), (n, 4, 2, n))
    for sat in ("", ".satfinite"):
        for x in ("u", "s"):
            for y in ("u", "s"):
                s = "_sat" if sat else ""
                mma("mma_75", f"m8n8k16_{x}8{y}8{s}", f"mma.sync.aligned.m8n8k16.row.col{sat}.s32.{x}8.{y}8.s32", ("b32",) * 4, (2, 1, 1, 2))
                mma("mma_75", f"m8n8k32_{x}4{y}4{s}", f"mma.sync.aligned.m8n8k32.row.col{sat}.s32.{x}4.{y}4.s32", ("b32",) * 4, (2, 1, 1, 2))
                mma("mma_80", f"m16n8k16_{x}8{y}8{s}", f"mma.sync.aligned.m16n8k16.row.col{sat}.s32.{x}8.{y}8.s32", ("b32",) * 4, (4, 2, 1, 4))
                mma("mma_80", f"m16n8k32_{x}8{y}8{s}", f"mma.sync.aligned.m16n8k32.row.col{sat}.s32.{x}8.{y}8.s32", ("b32",) * 4, (4, 4, 2, 4))
                mma("mma_80", f"m16n8k32_{x}4{y}4{s}", f"mma.sync.aligned.m16n8k32.row.col{sat}.s32.{x}4.{y}4.s32", ("b32",) * 4, (4, 2, 1, 4))
                mma("mma_80", f"m16n8k64_{x}4{y}4{s}", f"mma.sync.aligned.m16n8k64.row.col{sat}.s32.{x}4.{y}4.s32", ("b32",) * 4, (4, 4, 2, 4))
    mma("mma_75", "m8n8k128_xor", "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", ("b32",) * 4, (2, 1, 1, 2))
    for op in ("xor", "and"):
        mma("mma_80", f"m8n8k128_{op}", f"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.{op}.popc", ("b32",) * 4, (2, 1, 1, 2))
        mma("mma_80", f"m16n8k128_{op}", f"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.{op}.popc", ("b32",) * 4, (4, 2, 1, 4))
        mma("mma_80", f"m16n8k256_{op}", f"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.{op}.popc", ("b32",) * 4, (4, 4, 2, 4))
    f = ("f32", "b32", "b32", "f32")
    mma("mma_80", "m16n8k8_bf16", "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", f, (4, 2, 1, 4))
    mma("mma_80", "m16n8k16_bf16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", f, (4, 4, 2, 4))
    mma("mma_80", "m16n8k4_tf32", "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", f, (4, 2, 1, 4))
    mma("mma_80", "m16n8k8_tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", f, (4, 4, 2, 4))
    mma("mma_80", "m8n8k4_f64", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", ("f64",) * 4, (2, 1, 1, 2))
    for k, a, b in ((4, 2, 1), (8, 4, 2), (16, 8, 4)):
        mma("mma_90", f"m16n8k{k}_f64", f"mma.sync.aligned.m16n8k{k}.row.col.f64.f64.f64.f64", ("f64",) * 4, (4, a, b, 4))
    for x in ("e4m3", "e5m2"):
        for y in ("e4m3", "e5m2"):
            mma("mma_89", f"m16n8k32_{x}_{y}", f"mma.sync.aligned.m16n8k32.row.col.f32.{x}.{y}.f32", f, (4, 4, 2, 4))


def sparse():
    f, i = ("f32", "b32", "b32", "f32"), ("b32",) * 4
    for sel in (0, 1, 2, 3):
        if sel < 2:
            mma("mma_80", f"sp_m16n8k32_f16_{sel}", "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", f, (4, 4, 4, 4), sel)
            mma("mma_80", f"sp_m16n8k16_tf32_{sel}", "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", f, (4, 4, 4, 4), sel)
            mma("mma_80", f"sp_m16n8k32_s8_{sel}", "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", i, (4, 2, 2, 4), sel)
            mma("mma_80", f"sp_m16n8k64_s4_{sel}", "mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", i, (4, 2, 2, 4), sel)
        mma("mma_80", f"sp_m16n8k16_f16_{sel}", "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", f, (4, 2, 2, 4), sel)
        mma("mma_80", f"sp_m16n8k8_tf32_{sel}", "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", f, (4, 2, 2, 4), sel)
    mma("mma_80", "sp_m16n8k32_bf16", "mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", f, (4, 4, 4, 4), 0)
    mma("mma_80", "sp_m16n8k16_bf16", "mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", f, (4, 2, 2, 4), 2)
    mma("mma_80", "sp_m16n8k16_f16_half", "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", i, (2, 2, 2, 2), 1)
    mma("mma_80", "sp_m16n8k64_s8", "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", i, (4, 4, 4, 4), 0)
    mma("mma_80", "sp_m16n8k128_s4", "mma.sp.sync.aligned.m16n8k128.row.col.s32.u4.s4.s32", i, (4, 4, 4, 4), 0)
    mma("mma_89", "sp_m16n8k64_e4m3", "mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32", f, (4, 4, 4, 4), 0)


def movm():
    emit("mma_75", "movmatrix", "\t.reg .b32 a, d;",
         "\tld.global.b32 a, [in];\n\tmovmatrix.sync.aligned.m8n8.trans.b16 d, a;\n\tst.global.b32 [out], d;")


def wmma(file, name, shape, a, b, ta, tc, na, nb, nc, td=None, op="", sat=""):
    """a, b: layouts; n*: registers of the fragments."""
    td = td or tc
    m, n, k = shape
    kind = {"f16": "b32", "bf16": "b32", "f32": "f32", "s32": "b32", "tf32": "b32", "f64": "f64", "s8": "b32", "u8": "b32",
            "s4": "b32", "u4": "b32", "b1": "b32"}
    s = f"m{m}n{n}k{k}"
    nd = nc if td == tc else {("f16", "f32"): nc // 2, ("f32", "f16"): nc * 2}[(td, tc)]
    decl = f"\t.reg .{kind[ta]} a<{na}>, b<{nb}>;\n\t.reg .{kind[tc]} c<{nc}>;\n\t.reg .{kind[td]} d<{nd}>;\n\t.reg .b64 pa, pb, pc;"
    lda = k if a == "row" else m
    ldb = n if b == "row" else k
    multiply = f"wmma.mma{op}.sync.aligned.{a}.{b}.{s}"
    multiply += f".{td}.{tc}" if ta == "f16" else f"{sat}.{td}.{ta}.{ta}.{tc}"
    body = f"""	add.u64 pb, in, 4096;
	add.u64 pc, in, 8192;
	wmma.load.a.sync.aligned.{a}.{s}.global.{ta} {regs('a', na)}, [in], {lda};
	wmma.load.b.sync.aligned.{b}.{s}.global.{ta} {regs('b', nb)}, [pb], {ldb};
	wmma.load.c.sync.aligned.row.{s}.global.{tc} {regs('c', nc)}, [pc], {n};
	{multiply} {regs('d', nd)}, {regs('a', na)}, {regs('b', nb)}, {regs('c', nc)};
	wmma.store.d.sync.aligned.row.{s}.global.{td} [out], {regs('d', nd)}, {n};"""
    emit(file, name, decl, body, stride=False)


def wmmas():
    for shape, _ in (((16, 16, 16), 0), ((32, 8, 16), 0), ((8, 32, 16), 0)):
        m, n, k = shape
        for a in ("row", "col"):
            for b in ("row", "col"):
                for tc, td, nc in (("f32", "f32", 8), ("f16", "f16", 4), ("f16", "f32", 4), ("f32", "f16", 8)):
                    if shape != (16, 16, 16) and tc != td:
                        continue
                    wmma("wmma_70", f"wmma_{m}_{n}_{a}_{b}_{tc}_{td}", shape, a, b, "f16", tc, 8, 8, nc, td)
            for t in ("s8", "u8"):
                na, nb = {(16, 16, 16): (2, 2), (32, 8, 16): (4, 1), (8, 32, 16): (1, 4)}[shape]
                wmma("wmma_75", f"wmma_{m}_{n}_{a}_{t}", shape, a, "col", t, "s32", na, nb, 8)
    for t in ("s4", "u4"):
        wmma("wmma_75", f"wmma_8_8_{t}", (8, 8, 32), "row", "col", t, "s32", 1, 1, 2)
    wmma("wmma_75", "wmma_8_8_b1", (8, 8, 128), "row", "col", "b1", "s32", 1, 1, 2, op=".xor.popc")
    for a in ("row", "col"):
        wmma("wmma_80", f"wmma_16_16_{a}_bf16", (16, 16, 16), a, "col", "bf16", "f32", 4, 4, 8)
        wmma("wmma_80", f"wmma_16_16_{a}_tf32", (16, 16, 8), a, "row", "tf32", "f32", 4, 4, 8)
        wmma("wmma_80", f"wmma_8_8_{a}_f64", (8, 8, 4), a, "col", "f64", "f64", 1, 1, 2)


def main():
    dense()
    sparse()
    movm()
    wmmas()
    here = os.path.dirname(os.path.abspath(__file__))
    for name, kernels in FILES.items():
        sm, version = NEEDS[name]
        with open(os.path.join(here, name + ".ptx"), "w") as f:
            f.write(HEAD.format(sm=sm, version=version) + "".join(kernels))


if __name__ == "__main__":
    main()
