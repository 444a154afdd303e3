#!/usr/bin/env python3
"""Writes alu_*.ptx: small kernels, each applying one family of PTX operations to the words that its thread
reads. tests/unit/test_sass_alu.c runs them as machine code and as PTX and compares what they store.

Thread t reads in[4 t .. 4 t + 3] (64-bit words A B C D; a b c d are their low halves, ha hb hc their low 16
bits) and stores up to 16 results, out[16 t + n]."""
import os

HEAD = """// Written by alu_kernels.py.
.version {version}
.target sm_{sm}
.address_size 64
"""

KERNEL = """
.visible .entry {name}(.param .u64 p_in, .param .u64 p_out)
{{
	.reg .b64 A, B, C, D, in, out, t64, x64, y64;
	.reg .b32 a, b, c, d, tid, n, x32, y32, z32, w32;
	.reg .b16 ha, hb, hc, hd, x16, y16;
	.reg .f32 fx, fy;
	.reg .pred p, q, s;
{regs}
	mov.u32 tid, %tid.x;
	mov.u32 n, %ctaid.x;
	mov.u32 x32, %ntid.x;
	mad.lo.u32 tid, n, x32, tid;
	ld.param.u64 in, [p_in];
	ld.param.u64 out, [p_out];
	mad.wide.u32 in, tid, 32, in;
	mad.wide.u32 out, tid, 128, out;
	ld.global.v2.b64 {{A, B}}, [in];
	ld.global.v2.b64 {{C, D}}, [in+16];
	cvt.u32.u64 a, A;
	cvt.u32.u64 b, B;
	cvt.u32.u64 c, C;
	cvt.u32.u64 d, D;
	cvt.u16.u64 ha, A;
	cvt.u16.u64 hb, B;
	cvt.u16.u64 hc, C;
	cvt.u16.u64 hd, D;
{body}
	ret;
}}
"""


def kernel(name, ops):
    """ops: (type of result, text with $r for the result register and $p for a predicate result)."""
    regs, body = [], []
    assert len(ops) <= 16, name
    for n, (kind, text) in enumerate(ops):
        r = f"r{n}"
        if kind == "p":
            regs.append(f"\t.reg .pred {r};")
            body.append("\t" + text.replace("$r", r))
            regs.append(f"\t.reg .b64 {r}v;")
            body.append(f"\tselp.b64 {r}v, 1, 2, {r};")
            r += "v"
            kind = "b64"
        else:
            regs.append(f"\t.reg .{kind} {r};")
            body.append("\t" + text.replace("$r", r))
        if kind in ("b32", "f32"):
            regs.append(f"\t.reg .b64 {r}w;")
            body.append(f"\tmov.b64 {r}w, {{{r}, {r}}};")
            r += "w"
        elif kind == "b16":
            regs.append(f"\t.reg .b64 {r}w;")
            body.append(f"\tmov.b64 {r}w, {{{r}, {r}, {r}, {r}}};")
            r += "w"
        body.append(f"\tst.global.b64 [out+{8 * n}], {r};")
    return KERNEL.format(name=name, regs="\n".join(regs), body="\n".join(body))


FILES = {}


def add(file, name, ops):
    for part in range(0, len(ops), 16):
        suffix = f"_{part // 16}" if len(ops) > 16 else ""
        FILES.setdefault(file, []).append(kernel(name + suffix, ops[part : part + 16]))


def b32(*texts):
    return [("b32", t) for t in texts]


def b64(*texts):
    return [("b64", t) for t in texts]


def b16(*texts):
    return [("b16", t) for t in texts]


def pred(*texts):
    return [("p", t) for t in texts]


def integers():
    f = "alu_int"
    add(f, "add", b32("add.u32 $r, a, b;", "sub.u32 $r, a, b;", "add.s32 $r, a, -77;", "sub.s32 $r, 1000, a;",
                      "add.sat.s32 $r, a, b;", "sub.sat.s32 $r, a, b;", "neg.s32 $r, a;", "abs.s32 $r, a;",
                      "{add.u32 $r, a, b; add.u32 $r, $r, c;}", "{sub.u32 $r, a, b; sub.u32 $r, $r, c;}")
        + b64("add.u64 $r, A, B;", "sub.u64 $r, A, B;", "add.s64 $r, A, -5000000000;", "neg.s64 $r, A;",
              "abs.s64 $r, A;", "{add.u64 $r, A, B; sub.u64 $r, $r, C;}"))
    add(f, "add16", b16("add.u16 $r, ha, hb;", "sub.u16 $r, ha, hb;", "mul.lo.u16 $r, ha, hb;",
                        "mul.hi.u16 $r, ha, hb;", "mul.hi.s16 $r, ha, hb;", "mad.lo.u16 $r, ha, hb, hc;",
                        "neg.s16 $r, ha;", "abs.s16 $r, ha;", "min.s16 $r, ha, hb;", "max.u16 $r, ha, hb;",
                        "min.u16 $r, ha, hb;", "max.s16 $r, ha, hb;")
        + b32("mul.wide.u16 $r, ha, hb;", "mul.wide.s16 $r, ha, hb;", "mad.wide.u16 $r, ha, hb, c;",
              "mad.wide.s16 $r, ha, hb, c;"))
    add(f, "carry", b64(
        "{add.cc.u64 $r, A, B; addc.u64 $r, C, D;}", "{sub.cc.u64 $r, A, B; subc.u64 $r, C, D;}",
        "{add.cc.u32 x32, a, b; addc.u32 y32, c, d; mov.b64 $r, {x32, y32};}",
        "{sub.cc.u32 x32, a, b; subc.u32 y32, c, d; mov.b64 $r, {x32, y32};}",
        "{add.cc.u32 x32, a, b; addc.cc.u32 y32, c, d; addc.u32 z32, 0, 0; xor.b32 y32, y32, z32; mov.b64 $r, {x32, y32};}",
        "{sub.cc.u32 x32, a, b; subc.cc.u32 y32, c, d; subc.u32 z32, 0, 0; xor.b32 y32, y32, z32; mov.b64 $r, {x32, y32};}",
        "{mad.lo.cc.u32 x32, a, b, c; madc.hi.u32 y32, a, b, d; mov.b64 $r, {x32, y32};}",
        "{mad.lo.cc.s32 x32, a, b, c; madc.hi.s32 y32, a, b, d; mov.b64 $r, {x32, y32};}",
        "{mad.hi.cc.u32 x32, a, b, c; madc.lo.u32 y32, c, d, a; mov.b64 $r, {x32, y32};}",
        "{mad.lo.cc.u64 x64, A, B, C; madc.hi.u64 $r, A, B, D; xor.b64 $r, $r, x64;}"))
    add(f, "mul", b32("mul.lo.u32 $r, a, b;", "mul.hi.u32 $r, a, b;", "mul.hi.s32 $r, a, b;",
                      "mad.lo.u32 $r, a, b, c;", "mad.hi.u32 $r, a, b, c;", "mad.hi.s32 $r, a, b, c;",
                      "mad.hi.sat.s32 $r, a, b, c;", "mul.lo.u32 $r, a, 77;", "mul.lo.s32 $r, a, -12345;",
                      "mul24.lo.u32 $r, a, b;", "mul24.lo.s32 $r, a, b;", "mul24.hi.u32 $r, a, b;",
                      "mul24.hi.s32 $r, a, b;", "mad24.lo.s32 $r, a, b, c;", "mad24.lo.u32 $r, a, b, c;",
                      "{mul.lo.u32 $r, a, b; sub.u32 $r, c, $r;}"))
    add(f, "mul64", b64("mul.lo.u64 $r, A, B;", "mul.hi.u64 $r, A, B;", "mul.hi.s64 $r, A, B;",
                        "mad.lo.u64 $r, A, B, C;", "mad.hi.u64 $r, A, B, C;", "mad.hi.s64 $r, A, B, C;",
                        "mul.wide.u32 $r, a, b;", "mul.wide.s32 $r, a, b;", "mad.wide.u32 $r, a, b, C;",
                        "mad.wide.s32 $r, a, b, C;", "mul.wide.s32 $r, a, -9;", "mad.wide.u32 $r, a, 4000000000, C;",
                        "mul.lo.s64 $r, A, -1234567890123;", "{mul.wide.u32 $r, a, b; sub.u64 $r, C, $r;}"))
    one = "{setp.eq.u32 p, b, 0; selp.b32 x32, 1, b, p; "
    add(f, "div", b32(one + "div.u32 $r, a, x32;}", one + "div.s32 $r, a, x32;}", one + "rem.u32 $r, a, x32;}",
                      one + "rem.s32 $r, a, x32;}",
                      "div.u32 $r, a, 7;", "div.s32 $r, a, 7;", "rem.u32 $r, a, 1000;", "rem.s32 $r, a, -13;",
                      "div.s32 $r, a, 8;", "rem.s32 $r, a, 16;", "div.u32 $r, a, 641;"))
    one = "{setp.eq.u64 p, B, 0; selp.b64 x64, 1, B, p; "
    add(f, "div64", b64(one + "div.u64 $r, A, x64;}", one + "rem.u64 $r, A, x64;}", one + "div.s64 $r, A, x64;}",
                        one + "rem.s64 $r, A, x64;}",
                        "div.u64 $r, A, 10;", "div.s64 $r, A, 1000003;"))
    one = "{setp.eq.u16 p, hb, 0; selp.b16 x16, 1, hb, p; "
    add(f, "div16", b16(*[one + f"{op}.{t}16 $r, ha, x16;}}" for op in ("div", "rem") for t in ("u", "s")]))
    add(f, "minmax", b32("min.u32 $r, a, b;", "max.u32 $r, a, b;", "min.s32 $r, a, b;", "max.s32 $r, a, b;",
                         "{min.s32 $r, a, b; min.s32 $r, $r, c;}", "{max.u32 $r, a, b; max.u32 $r, $r, c;}",
                         "{max.s32 $r, a, -5; min.s32 $r, $r, 100;}", "{add.s32 $r, a, b; max.s32 $r, $r, c;}",
                         "{add.u32 $r, a, b; min.u32 $r, $r, c;}", "sad.u32 $r, a, b, c;", "sad.s32 $r, a, b, c;",
                         "{max.s32 $r, a, b; max.s32 $r, $r, 0;}", "{add.s32 $r, a, b; min.s32 $r, $r, c; max.s32 $r, $r, 0;}")
        + b16("sad.u16 $r, ha, hb, hc;", "sad.s16 $r, ha, hb, hc;"))
    add(f, "minmax64", b64("min.u64 $r, A, B;", "max.u64 $r, A, B;", "min.s64 $r, A, B;", "max.s64 $r, A, B;",
                           "sad.u64 $r, A, B, C;", "sad.s64 $r, A, B, C;"))
    add(f, "dot", b32("dp4a.u32.u32 $r, a, b, c;", "dp4a.s32.s32 $r, a, b, c;", "dp4a.u32.s32 $r, a, b, c;",
                      "dp4a.s32.u32 $r, a, b, c;", "dp2a.lo.u32.u32 $r, a, b, c;", "dp2a.hi.s32.s32 $r, a, b, c;",
                      "dp2a.lo.s32.u32 $r, a, b, c;", "dp2a.hi.u32.s32 $r, a, b, c;"))


def bits():
    f = "alu_bits"
    add(f, "logic", b32("and.b32 $r, a, b;", "or.b32 $r, a, b;", "xor.b32 $r, a, b;", "not.b32 $r, a;",
                        "cnot.b32 $r, a;", "lop3.b32 $r, a, b, c, 0x1b;", "lop3.b32 $r, a, b, c, 0xe8;",
                        "lop3.b32 $r, a, b, c, 0x96;", "and.b32 $r, a, 0x0ff0;", "{not.b32 x32, b; and.b32 $r, a, x32;}")
        + b64("and.b64 $r, A, B;", "or.b64 $r, A, 0x123456789abc;", "xor.b64 $r, A, B;", "not.b64 $r, A;",
              "cnot.b64 $r, A;") + b16("cnot.b16 $r, ha;"))
    add(f, "logic16", b16("and.b16 $r, ha, hb;", "or.b16 $r, ha, hb;", "xor.b16 $r, ha, hb;", "not.b16 $r, ha;",
                          "shl.b16 $r, ha, b;", "shr.u16 $r, ha, b;", "shr.s16 $r, ha, b;"))
    add(f, "shift", b32("shl.b32 $r, a, b;", "shr.u32 $r, a, b;", "shr.s32 $r, a, b;", "shl.b32 $r, a, 5;",
                        "shr.u32 $r, a, 31;", "shr.s32 $r, a, 7;", "{and.b32 x32, b, 63; shl.b32 $r, a, x32;}",
                        "{and.b32 x32, b, 63; shr.u32 $r, a, x32;}", "{and.b32 x32, b, 63; shr.s32 $r, a, x32;}")
        + b64("shl.b64 $r, A, b;", "shr.u64 $r, A, b;", "shr.s64 $r, A, b;",
              "{and.b32 x32, b, 127; shl.b64 $r, A, x32;}", "{and.b32 x32, b, 127; shr.u64 $r, A, x32;}",
              "{and.b32 x32, b, 127; shr.s64 $r, A, x32;}", "shr.s64 $r, A, 33;"))
    add(f, "shift64", b64("shl.b64 $r, A, 3;", "shr.u64 $r, A, 5;", "shr.s64 $r, A, 5;", "shl.b64 $r, A, 40;",
                          "{shl.b64 $r, A, 3; add.u64 $r, $r, B;}", "{cvt.s64.s32 $r, a; shl.b64 $r, $r, 2; add.u64 $r, $r, B;}",
                          "{cvt.u64.u32 $r, a; shl.b64 $r, $r, 4; add.u64 $r, $r, B;}",
                          "{shl.b64 $r, A, 3; sub.u64 $r, B, $r;}")
        + b32("{shl.b32 $r, a, 3; add.u32 $r, $r, b;}", "{shl.b32 $r, a, 4; sub.u32 $r, b, $r;}",
              "{shr.u32 $r, a, 30; add.u32 $r, $r, b;}", "{shr.s32 $r, a, 3; add.u32 $r, $r, b;}"))
    add(f, "funnel", b32("shf.l.clamp.b32 $r, a, b, c;", "shf.l.wrap.b32 $r, a, b, c;",
                         "shf.r.clamp.b32 $r, a, b, c;", "shf.r.wrap.b32 $r, a, b, c;",
                         "shf.l.wrap.b32 $r, a, a, 13;", "shf.r.clamp.b32 $r, a, b, 8;", "shf.l.clamp.b32 $r, a, b, 31;",
                         "{and.b32 x32, c, 63; shf.l.clamp.b32 $r, a, b, x32;}",
                         "{and.b32 x32, c, 63; shf.r.clamp.b32 $r, a, b, x32;}"))
    add(f, "fields", b32("bfe.u32 $r, a, b, c;", "bfe.s32 $r, a, b, c;", "bfe.u32 $r, a, 3, 11;", "bfe.s32 $r, a, 7, 9;",
                         "bfi.b32 $r, a, b, c, d;", "bfi.b32 $r, a, b, 5, 6;",
                         "{and.b32 x32, b, 31; and.b32 y32, c, 31; bfe.u32 $r, a, x32, y32;}",
                         "{and.b32 x32, b, 31; and.b32 y32, c, 31; bfe.s32 $r, a, x32, y32;}",
                         "{and.b32 x32, c, 31; and.b32 y32, d, 31; bfi.b32 $r, a, b, x32, y32;}")
        + b64("{and.b32 x32, b, 127; and.b32 y32, c, 127; bfe.u64 $r, A, x32, y32;}",
              "{and.b32 x32, b, 127; and.b32 y32, c, 127; bfe.s64 $r, A, x32, y32;}", "{and.b32 x32, c, 127; and.b32 y32, d, 127; bfi.b64 $r, A, B, x32, y32;}",
              "{and.b32 x32, b, 63; and.b32 y32, c, 63; bfe.s64 $r, A, x32, y32;}",
              "{and.b32 x32, c, 63; and.b32 y32, d, 63; bfi.b64 $r, A, B, x32, y32;}"))
    add(f, "count", b32("popc.b32 $r, a;", "popc.b64 $r, A;", "clz.b32 $r, a;", "clz.b64 $r, A;", "bfind.u32 $r, a;",
                        "bfind.s32 $r, a;", "bfind.shiftamt.u32 $r, a;", "bfind.shiftamt.s32 $r, a;",
                        "bfind.u64 $r, A;", "bfind.s64 $r, A;", "bfind.shiftamt.u64 $r, A;", "brev.b32 $r, a;",
                        "{and.b32 x32, b, 31; rem.s32 y32, c, 9; fns.b32 $r, a, x32, y32;}")
        + b64("brev.b64 $r, A;"))
    add(f, "permute", b32("prmt.b32 $r, a, b, c;", "prmt.b32 $r, a, b, 0x3541;", "prmt.b32 $r, a, b, 0x9f80;",
                          "prmt.b32.f4e $r, a, b, c;", "prmt.b32.b4e $r, a, b, c;", "prmt.b32.rc8 $r, a, b, c;",
                          "prmt.b32.ecl $r, a, b, c;", "prmt.b32.ecr $r, a, b, c;", "prmt.b32.rc16 $r, a, b, c;"))
    add(f, "mask", b32("bmsk.clamp.b32 $r, a, b;", "bmsk.wrap.b32 $r, a, b;", "szext.clamp.u32 $r, a, b;",
                       "szext.clamp.s32 $r, a, b;", "szext.wrap.u32 $r, a, b;", "szext.wrap.s32 $r, a, b;",
                       "{and.b32 x32, b, 63; and.b32 y32, c, 63; bmsk.clamp.b32 $r, x32, y32;}",
                       "{and.b32 x32, b, 63; szext.clamp.s32 $r, a, x32;}", "szext.wrap.s32 $r, a, 12;",
                       "szext.clamp.u32 $r, a, 21;"))
    add(f, "movmask", b32(
        "{setp.lt.s32 p, a, b; setp.eq.s32 q, b, c; setp.gt.u32 s, c, d; selp.b32 x32, 1, 0, p; selp.b32 y32, 2, 0, q;"
        " selp.b32 z32, 4, 0, s; or.b32 $r, x32, y32; or.b32 $r, $r, z32;}"))
    add(f, "select", b32("{setp.lt.s32 p, a, b; selp.b32 $r, c, d, p;}", "slct.u32.s32 $r, a, b, c;",
                         "slct.f32.f32 $r, a, b, c;", "slct.u32.f32 $r, a, b, c;", "{setp.ne.u32 p, a, 0; selp.f32 $r, b, c, p;}",
                         "{setp.ne.u32 p, a, 0; not.pred q, p; selp.f32 $r, b, 0f3f800000, q;}")
        + b64("{setp.lt.u64 p, A, B; selp.b64 $r, C, D, p;}", "slct.u64.s32 $r, A, B, c;", "slct.f64.f32 $r, A, B, c;"))
    for t, x, y in (("s32", "a", "b"), ("u32", "a", "b"), ("s64", "A", "B"), ("u64", "A", "B"), ("s16", "ha", "hb"),
                    ("u16", "ha", "hb")):
        add(f, "cmp_" + t, pred(*[f"setp.{c}.{t} $r, {x}, {y};" for c in ("eq", "ne", "lt", "le", "gt", "ge")],
                                *[f"{{setp.lt.u32 p, c, d; setp.{c}.{o}.{t} $r, {x}, {y}, p;}}"
                                  for c, o in (("lt", "and"), ("ge", "or"), ("ne", "xor"), ("eq", "and"))],
                                f"{{setp.gt.u32 p, c, d; setp.le.and.{t} $r, {x}, {y}, !p;}}",
                                f"{{setp.gt.u32 p, c, d; setp.lt.xor.{t} q|$r, {x}, {y}, p;}}")
            + b32(f"set.lt.u32.{t} $r, {x}, {y};", f"set.ge.f32.{t} $r, {x}, {y};",
                  f"{{setp.ne.u32 p, c, d; set.eq.xor.s32.{t} $r, {x}, {y}, p;}}"))
    add(f, "preds", pred(
        "{setp.lt.s32 p, a, b; setp.lt.s32 q, b, c; and.pred $r, p, q;}",
        "{setp.lt.s32 p, a, b; setp.lt.s32 q, b, c; or.pred $r, p, q;}",
        "{setp.lt.s32 p, a, b; setp.lt.s32 q, b, c; xor.pred $r, p, q;}",
        "{setp.lt.s32 p, a, b; setp.lt.s32 q, b, c; setp.lt.s32 s, c, d; and.pred p, p, q; not.pred s, s; or.pred $r, p, s;}",
        "{setp.lt.s32 p, a, b; not.pred $r, p;}",
        "{and.b32 x32, a, b; setp.ne.u32 $r, x32, 0;}", "{and.b32 x32, a, 12; setp.eq.u32 $r, x32, 0;}",
        "{or.b32 x32, a, b; and.b32 x32, x32, c; setp.ne.u32 p, x32, 0; setp.lt.u32 q, c, d; and.pred $r, p, q;}"))


INT_TYPES = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


def range_of(t):
    bits = int(t[1:])
    return (0, 2**bits - 1) if t[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def source(t):
    """A register that holds a value of type t, and what prepares it."""
    if t[1:] == "8":
        return "a"
    return {"16": "ha", "32": "a", "64": "A"}[t[1:]]


def conversions():
    f = "alu_cvt"
    for to in INT_TYPES:
        ops = []
        for frm in INT_TYPES:
            reg = "b64" if to[1:] == "64" else "b32"
            ops.append((reg, f"cvt.{to}.{frm} $r, {source(frm)};"))
            if range_of(frm)[0] < range_of(to)[0] or range_of(frm)[1] > range_of(to)[1]:
                ops.append((reg, f"cvt.sat.{to}.{frm} $r, {source(frm)};"))
        add(f, "int_" + to, ops)
    for rnd in ("rn", "rz", "rm", "rp"):
        ops = []
        for frm in INT_TYPES:
            ops.append(("b32", f"cvt.{rnd}.f32.{frm} $r, {source(frm)};"))
            ops.append(("b64", f"cvt.{rnd}.f64.{frm} $r, {source(frm)};"))
        add(f, "to_float_" + rnd, ops)
        ops = []
        for frm in INT_TYPES:
            ops.append(("b16", f"cvt.{rnd}.f16.{frm} $r, {source(frm)};"))
        add(f, "to_half_" + rnd, ops)
    for rnd in ("rni", "rzi", "rmi", "rpi"):
        for frm, reg in (("f32", "a"), ("f64", "A"), ("f16", "ha")):
            ops = []
            for to in INT_TYPES:
                ops.append(("b64" if to[1:] == "64" else "b32", f"cvt.{rnd}.{to}.{frm} $r, {reg};"))
            if frm == "f32":
                for to in ("u32", "s32", "u64", "s64"):
                    ops.append(("b64" if to[1:] == "64" else "b32", f"cvt.{rnd}.ftz.{to}.{frm} $r, {reg};"))
            add(f, f"from_{frm}_{rnd}", ops)
        add(f, "whole_" + rnd, b32(f"cvt.{rnd}.f32.f32 $r, a;", f"cvt.{rnd}.ftz.f32.f32 $r, a;",
                                   f"cvt.{rnd}.sat.f32.f32 $r, a;") + b64(f"cvt.{rnd}.f64.f64 $r, A;")
            + b16(f"cvt.{rnd}.f16.f16 $r, ha;"))
    ops = b64("cvt.f64.f32 $r, a;", "cvt.f64.f16 $r, ha;", "cvt.ftz.f64.f32 $r, a;") + b32("cvt.f32.f16 $r, ha;")
    ops += b32("cvt.sat.f32.f32 $r, a;", "cvt.ftz.sat.f32.f32 $r, a;", "cvt.sat.f32.f16 $r, ha;")
    ops += b16("cvt.rn.sat.f16.f32 $r, a;", "cvt.rn.ftz.f16.f32 $r, a;")
    add(f, "floats", ops)
    for rnd in ("rn", "rz", "rm", "rp"):
        add(f, "floats_" + rnd, b32(f"cvt.{rnd}.f32.f64 $r, A;",
                                    f"cvt.{rnd}.sat.f32.f64 $r, A;")
            + b16(f"cvt.{rnd}.f16.f32 $r, a;", f"cvt.{rnd}.f16.f64 $r, A;"))


F_CMP = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def floats():
    f = "alu_f32"
    for op in ("add", "sub", "mul"):
        add(f, op, b32(*[f"{op}{m}.f32 $r, a, b;" for m in
                         ("", ".rn", ".rz", ".rm", ".rp", ".ftz", ".sat", ".ftz.sat", ".rz.ftz.sat", ".rp.ftz")],
                       f"{op}.f32 $r, a, 0f3fc00000;", f"{{neg.f32 x32, b; {op}.f32 $r, a, x32;}}",
                       f"{{abs.f32 x32, a; {op}.f32 $r, x32, b;}}", f"{{abs.f32 x32, b; neg.f32 x32, x32; {op}.f32 $r, a, x32;}}"))
    add(f, "fma", b32(*[f"fma{m}.f32 $r, a, b, c;" for m in
                        (".rn", ".rz", ".rm", ".rp", ".rn.ftz", ".rn.sat", ".rn.ftz.sat", ".rz.ftz", ".rp.sat")],
                      "{neg.f32 x32, a; fma.rn.f32 $r, x32, b, c;}", "{neg.f32 x32, c; fma.rn.f32 $r, a, b, x32;}",
                      "fma.rn.f32 $r, a, 0f40490fdb, c;", "fma.rn.f32 $r, a, b, 0fbf000000;"))
    add(f, "fminmax", b32("min.f32 $r, a, b;", "max.f32 $r, a, b;", "min.ftz.f32 $r, a, b;", "max.ftz.f32 $r, a, b;",
                         "{neg.f32 x32, a; abs.f32 y32, b; max.f32 $r, x32, y32;}", "min.f32 $r, a, 0f00000000;",
                         "{min.f32 $r, a, b; min.f32 $r, $r, c;}",
                         "neg.f32 $r, a;", "abs.f32 $r, a;", "neg.ftz.f32 $r, a;", "abs.ftz.f32 $r, a;",
                         "copysign.f32 $r, a, b;") + b64("copysign.f64 $r, A, B;"))
    add(f, "testp", pred(*[f"testp.{t}.f32 $r, a;" for t in
                           ("finite", "infinite", "number", "notanumber", "normal", "subnormal")],
                         *[f"testp.{t}.f64 $r, A;" for t in
                           ("finite", "infinite", "number", "notanumber", "normal", "subnormal")]))
    add(f, "fcmp", pred(*[f"setp.{c}.f32 $r, a, b;" for c in F_CMP],
                        "{setp.lt.u32 p, c, d; setp.lt.or.f32 $r, a, b, p;}",
                        "{setp.lt.u32 p, c, d; setp.geu.and.f32 $r, a, b, !p;}"))
    add(f, "fcmp_ftz", pred(*[f"setp.{c}.ftz.f32 $r, a, b;" for c in F_CMP],
                            "{abs.f32 x32, a; setp.gt.f32 $r, x32, b;}", "{neg.f32 x32, a; setp.gt.ftz.f32 $r, x32, b;}"))
    add(f, "fset", b32("set.lt.f32.f32 $r, a, b;", "set.geu.u32.f32 $r, a, b;", "set.eq.ftz.f32.f32 $r, a, b;",
                       "{setp.lt.u32 p, c, d; set.gt.and.f32.f32 $r, a, b, p;}", "set.nan.s32.f64 $r, A, B;",
                       "set.lt.f32.f64 $r, A, B;"))
    for op in ("div", "rcp", "sqrt"):
        args = "a, b" if op == "div" else "a"
        add(f, op + "f", b32(*[f"{op}.{r}.f32 $r, {args};" for r in ("rn", "rz", "rm", "rp")],
                             *[f"{op}.{r}.ftz.f32 $r, {args};" for r in ("rn", "rz", "rm", "rp")]))
    f = "alu_approx"
    small = "{abs.f32 x32, b; setp.lt.f32 p, x32, 0f7e000000; selp.f32 x32, b, 0f40400000, p; "
    add(f, "rcp_approx", b32("rcp.approx.f32 $r, a;", "rcp.approx.ftz.f32 $r, a;", "rsqrt.approx.f32 $r, a;",
                             "rsqrt.approx.ftz.f32 $r, a;", "sqrt.approx.f32 $r, a;", "sqrt.approx.ftz.f32 $r, a;",
                             "div.full.f32 $r, a, b;", "div.full.ftz.f32 $r, a, b;", small + "div.approx.f32 $r, a, x32;}",
                             small + "div.approx.ftz.f32 $r, a, x32;}", "ex2.approx.f32 $r, a;", "ex2.approx.ftz.f32 $r, a;",
                             "lg2.approx.f32 $r, a;", "lg2.approx.ftz.f32 $r, a;"))
    add(f, "trig_approx", b32("{mov.b32 fx, a; min.f32 fx, fx, 0f42c80000; max.f32 fx, fx, 0fc2c80000; sin.approx.f32 $r, fx;}",
                              "{mov.b32 fx, a; min.f32 fx, fx, 0f42c80000; max.f32 fx, fx, 0fc2c80000; cos.approx.f32 $r, fx;}",
                              "{mov.b32 fx, a; min.f32 fx, fx, 0f42c80000; max.f32 fx, fx, 0fc2c80000; sin.approx.ftz.f32 $r, fx;}",
                              "{mov.b32 fx, a; min.f32 fx, fx, 0f42c80000; max.f32 fx, fx, 0fc2c80000; cos.approx.ftz.f32 $r, fx;}"))
    add(f, "rcp64_approx", b64("rcp.approx.ftz.f64 $r, A;", "rsqrt.approx.ftz.f64 $r, A;", "rsqrt.approx.f64 $r, A;"))


def doubles():
    f = "alu_f64"
    for op in ("add", "sub", "mul"):
        add(f, "d" + op, b64(*[f"{op}{m}.f64 $r, A, B;" for m in ("", ".rn", ".rz", ".rm", ".rp")],
                             f"{op}.f64 $r, A, 0d3ff8000000000000;", f"{{neg.f64 x64, B; {op}.f64 $r, A, x64;}}",
                             f"{{abs.f64 x64, A; {op}.f64 $r, x64, B;}}", f"{op}.f64 $r, A, 0d3fd5555555555555;"))
    add(f, "dfma", b64(*[f"fma{m}.f64 $r, A, B, C;" for m in (".rn", ".rz", ".rm", ".rp")],
                       "{neg.f64 x64, A; fma.rn.f64 $r, x64, B, C;}", "fma.rn.f64 $r, A, B, 0dbfe0000000000000;",
                       "fma.rn.f64 $r, A, 0d400921fb54442d18, C;"))
    add(f, "dminmax", b64("min.f64 $r, A, B;", "max.f64 $r, A, B;", "neg.f64 $r, A;", "abs.f64 $r, A;"))
    add(f, "dcmp", pred(*[f"setp.{c}.f64 $r, A, B;" for c in F_CMP], "{setp.lt.u32 p, c, d; setp.lt.or.f64 $r, A, B, p;}",
                        "{abs.f64 x64, A; setp.gt.f64 $r, x64, B;}"))
    for op in ("div", "rcp", "sqrt"):
        args = "A, B" if op == "div" else "A"
        add(f, op + "d", b64(*[f"{op}.{r}.f64 $r, {args};" for r in ("rn", "rz", "rm", "rp")]))


def halves():
    f = "alu_half"
    for op in ("add", "sub", "mul"):
        ops = b16(*[f"{op}{m}.f16 $r, ha, hb;" for m in ("", ".rn", ".ftz", ".sat", ".ftz.sat")])
        ops += b32(*[f"{op}{m}.f16x2 $r, a, b;" for m in ("", ".rn", ".ftz", ".sat", ".ftz.sat")])
        add(f, "h" + op, ops)
    add(f, "hfma", b16(*[f"fma.rn{m}.f16 $r, ha, hb, hc;" for m in ("", ".ftz", ".sat", ".ftz.sat")])
        + b32(*[f"fma.rn{m}.f16x2 $r, a, b, c;" for m in ("", ".ftz", ".sat", ".ftz.sat")])
        + b32("{neg.f16x2 x32, a; fma.rn.f16x2 $r, x32, b, c;}", "{neg.f16x2 x32, b; add.f16x2 $r, a, x32;}",
              "{mov.b32 {x16, y16}, a; mov.b32 x32, {y16, x16}; add.f16x2 $r, x32, b;}",
              "{mov.b32 {x16, y16}, a; mov.b32 x32, {x16, x16}; fma.rn.f16x2 $r, x32, b, c;}",
              "{mov.b32 {x16, y16}, b; mov.b32 x32, {y16, y16}; mul.f16x2 $r, a, x32;}")
        + b16("neg.f16 $r, ha;", "abs.f16 $r, ha;"))
    add(f, "hsign", b32("neg.f16x2 $r, a;", "abs.f16x2 $r, a;"))
    add(f, "hcmp", pred(*[f"setp.{c}.f16 $r, ha, hb;" for c in F_CMP], "{setp.lt.u32 p, c, d; setp.lt.or.f16 $r, ha, hb, p;}"))
    add(f, "hcmp2", b32(*[f"{{setp.{c}.f16x2 p|q, a, b; selp.b32 $r, 1, 0, p; selp.b32 x32, 2, 0, q; or.b32 $r, $r, x32;}}"
                          for c in F_CMP],
                        "{setp.lt.u32 s, c, d; setp.lt.and.ftz.f16x2 p|q, a, b, s; selp.b32 $r, 1, 0, p; selp.b32 x32, 2, 0, q; or.b32 $r, $r, x32;}"))
    add(f, "hset", b32("set.lt.f16x2.f16x2 $r, a, b;", "set.geu.f16x2.f16x2 $r, a, b;", "set.eq.ftz.f16x2.f16x2 $r, a, b;",
                       "set.ne.u32.f16 $r, ha, hb;")
        + b16("set.lt.f16.f16 $r, ha, hb;", "set.lt.f16.f32 $r, a, b;", "set.ge.f16.s32 $r, a, b;"))
    f = "alu_half75"
    add(f, "ex2h_approx", b16("ex2.approx.f16 $r, ha;", "tanh.approx.f16 $r, ha;")
        + b32("ex2.approx.f16x2 $r, a;", "tanh.approx.f16x2 $r, a;", "tanh.approx.f32 $r, a;"))
    f = "alu_half80"
    add(f, "hminmax", b16("min.f16 $r, ha, hb;", "max.f16 $r, ha, hb;", "min.ftz.f16 $r, ha, hb;", "max.NaN.f16 $r, ha, hb;",
                          "min.bf16 $r, ha, hb;", "max.NaN.bf16 $r, ha, hb;")
        + b32("min.f16x2 $r, a, b;", "max.f16x2 $r, a, b;", "min.ftz.NaN.f16x2 $r, a, b;", "min.bf16x2 $r, a, b;",
              "max.NaN.bf16x2 $r, a, b;", "min.NaN.f32 $r, a, b;", "max.NaN.f32 $r, a, b;", "max.ftz.NaN.f32 $r, a, b;"))
    FILES["alu_half86"] = []
    add("alu_half86", "xorsign", b32("min.xorsign.abs.f16x2 $r, a, b;", "max.xorsign.abs.bf16x2 $r, a, b;",
                                     "min.xorsign.abs.f32 $r, a, b;", "max.NaN.xorsign.abs.f32 $r, a, b;",
                                     "max.NaN.xorsign.abs.f16x2 $r, a, b;", "max.ftz.xorsign.abs.f32 $r, a, b;"))
    add(f, "hfma80", b16("fma.rn.relu.f16 $r, ha, hb, hc;", "fma.rn.bf16 $r, ha, hb, hc;", "fma.rn.relu.bf16 $r, ha, hb, hc;",
                         "neg.bf16 $r, ha;", "abs.bf16 $r, ha;")
        + b32("fma.rn.relu.f16x2 $r, a, b, c;", "fma.rn.ftz.relu.f16x2 $r, a, b, c;", "fma.rn.bf16x2 $r, a, b, c;",
              "fma.rn.relu.bf16x2 $r, a, b, c;", "neg.bf16x2 $r, a;", "abs.bf16x2 $r, a;"))
    add(f, "pack", b32("cvt.rn.f16x2.f32 $r, a, b;", "cvt.rz.f16x2.f32 $r, a, b;", "cvt.rn.relu.f16x2.f32 $r, a, b;",
                       "cvt.rn.bf16x2.f32 $r, a, b;", "cvt.rz.bf16x2.f32 $r, a, b;", "cvt.rn.relu.bf16x2.f32 $r, a, b;",
                       "cvt.rna.tf32.f32 $r, a;")
        + b16("cvt.rn.bf16.f32 $r, a;", "cvt.rz.bf16.f32 $r, a;", "cvt.rn.relu.bf16.f32 $r, a;", "cvt.rn.relu.f16.f32 $r, a;"))
    f = "alu_half89"
    add(f, "fp8", b16("cvt.rn.satfinite.e4m3x2.f32 $r, a, b;", "cvt.rn.satfinite.e5m2x2.f32 $r, a, b;",
                      "cvt.rn.satfinite.e4m3x2.f16x2 $r, a;", "cvt.rn.satfinite.e5m2x2.f16x2 $r, a;",
                      "cvt.rn.satfinite.relu.e4m3x2.f32 $r, a, b;")
        + b32("cvt.rn.f16x2.e4m3x2 $r, ha;", "cvt.rn.f16x2.e5m2x2 $r, ha;", "cvt.rn.relu.f16x2.e4m3x2 $r, ha;"))
    f = "alu_half90"
    for op in ("add", "sub", "mul"):
        add(f, "b" + op, b16(f"{op}.bf16 $r, ha, hb;", f"{op}.rn.bf16 $r, ha, hb;") + b32(f"{op}.bf16x2 $r, a, b;", f"{op}.rn.bf16x2 $r, a, b;"))
    add(f, "bcmp", pred(*[f"setp.{c}.bf16 $r, ha, hb;" for c in F_CMP]))
    add(f, "bcmp2", b32(*[f"{{setp.{c}.bf16x2 p|q, a, b; selp.b32 $r, 1, 0, p; selp.b32 x32, 2, 0, q; or.b32 $r, $r, x32;}}"
                          for c in F_CMP]))
    add(f, "bset", b32("set.lt.bf16x2.bf16x2 $r, a, b;", "set.geu.bf16x2.bf16x2 $r, a, b;"))
    add(f, "ex2b_approx", b16("ex2.approx.ftz.bf16 $r, ha;", "tanh.approx.bf16 $r, ha;")
        + b32("ex2.approx.ftz.bf16x2 $r, a;", "tanh.approx.bf16x2 $r, a;"))
    for rnd in ("rn", "rz", "rm", "rp"):
        add(f, "to_bf16_" + rnd, [("b16", f"cvt.{rnd}.bf16.{t} $r, {source(t)};") for t in INT_TYPES[2:]])
    for rnd in ("rni", "rzi", "rmi", "rpi"):
        add(f, "from_bf16_" + rnd, [("b" + t[1:], f"cvt.{rnd}.{t}.bf16 $r, ha;") for t in INT_TYPES[2:]])
    add(f, "bf16_floats", b32("cvt.f32.bf16 $r, ha;") + b64("cvt.f64.bf16 $r, ha;") + b16(
        "cvt.rn.bf16.f16 $r, ha;", "cvt.rn.f16.bf16 $r, ha;", "cvt.rn.bf16.f64 $r, A;"))
    add(f, "packed16", b32("add.u16x2 $r, a, b;", "add.s16x2 $r, a, b;", "min.u16x2 $r, a, b;", "max.s16x2 $r, a, b;",
                           "min.s16x2 $r, a, b;", "max.u16x2 $r, a, b;", "min.relu.s16x2 $r, a, b;", "max.relu.s16x2 $r, a, b;",
                           "min.relu.s32 $r, a, b;", "max.relu.s32 $r, a, b;",
                           "{max.s16x2 $r, a, b; max.s16x2 $r, $r, c;}", "{add.s16x2 $r, a, b; max.s16x2 $r, $r, c;}"))


def packs():
    """What the PTX executor does not know; test_sass_alu.c has the results that are expected."""
    f = "alu_pack"
    add(f, "pack", b32(*[f"cvt.pack.sat.{to}.s32.b32 $r, a, b, c;" for to in ("u8", "s8")],
                       *[f"cvt.pack.sat.{to}.s32 $r, a, b;" for to in ("u16", "s16")]))


NEEDS = {"alu_pack": (75, "6.5"), "alu_int": (70, "6.5"), "alu_bits": (70, "7.6"), "alu_cvt": (70, "6.5"), "alu_f32": (70, "6.5"),
         "alu_approx": (70, "6.5"), "alu_f64": (70, "6.5"), "alu_half": (70, "6.5"), "alu_half75": (75, "7.0"),
         "alu_half80": (80, "7.1"), "alu_half86": (86, "7.2"), "alu_half89": (89, "8.1"), "alu_half90": (90, "8.0")}


def main():
    integers()
    bits()
    conversions()
    floats()
    doubles()
    halves()
    packs()
    here = os.path.dirname(os.path.abspath(__file__))
    for name, kernels in FILES.items():
        sm, version = NEEDS[name]
        with open(os.path.join(here, name + ".ptx"), "w") as f:
            f.write(HEAD.format(sm=sm, version=version) + "".join(kernels))


if __name__ == "__main__":
    main()
