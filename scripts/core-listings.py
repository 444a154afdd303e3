#!/usr/bin/env python3
"""Writes reports/core.sass, the machine code of `warpwatt validate core`, from PTX and CUDA C++ of our own, or with --tensor
reports/tensor.sass, that of `warpwatt validate tensor`, from PTX.

ptxas compiles it (--ptxas; divisions by --old-ptxas, since ptxas 11.8 and later make two instructions more of
them than the measured code has). Some kernels are ptxas's words with other registers, stall counts, yield,
barriers and reuse bits put in, where a compiler would not write what was measured. What comes out is committed,
so that the suite needs no toolkit: run this only to change it.

    scripts/core-listings.py --ptxas /opt/cuda-12.4/bin/ptxas --old-ptxas /opt/cuda-11.2/bin/ptxas > reports/core.sass
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

OPTIONS = None
NONE = 7  # no barrier


class Insn:
    """128 bits; set() puts in registers and control fields."""

    def __init__(self, bits, text="", control=""):
        self.bits, self.text, self.control, self.timed, self.at = bits, text, control, False, None

    def field(self, low, width, value):
        mask = ((1 << width) - 1) << low
        self.bits = self.bits & ~mask | (value << low & mask)

    def set(self, d=None, a=None, b=None, c=None, stall=None, yields=None, write=None, read=None, wait=None,
            reuse=None):
        for low, width, value in ((16, 8, d), (24, 8, a), (32, 8, b), (64, 8, c), (105, 4, stall), (110, 3, write),
                                  (113, 3, read), (116, 6, wait), (122, 4, reuse)):
            if value is not None:
                self.field(low, width, value)
        if yields is not None:
            self.field(109, 1, 0 if yields else 1)
        return self

    def copy(self):
        other = Insn(self.bits)
        other.at = self.at
        return other


def disassemble(arguments, path, program):
    out = subprocess.run([program, "disasm", path, "--bits"] + arguments, stdout=subprocess.PIPE,
                         universal_newlines=True, check=True,
                         env=dict(os.environ, WARPWATT_PTXAS=OPTIONS.ptxas_now)).stdout
    lines = []
    for line in out.splitlines():
        m = re.match(r"\s+([0-9a-f]+)\s+(\S+ R\S W\S \S\s+\d+)\s+(.*?)\s+/\* ([0-9a-f]{32}) \*/", line)
        if m:
            lines.append(Insn(int(m.group(4), 16), m.group(3), m.group(2)))
    return lines


def compiled(ptx, arch, old=False):
    OPTIONS.ptxas_now = OPTIONS.old_ptxas if old else OPTIONS.ptxas
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.ptx")
        with open(path, "w") as f:
            f.write(ptx)
        return disassemble(["--arch", arch], path, OPTIONS.program)


def compiled_cuda(source, arch):
    """Of CUDA C++, by nvcc; one kernel."""
    OPTIONS.ptxas_now = OPTIONS.ptxas
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.cu")
        with open(path, "w") as f:
            f.write(source)
        subprocess.run([OPTIONS.nvcc, "-O3", "-arch=" + arch, "-cubin", "-o", path + "bin", path], check=True)
        return disassemble([], path + "bin", OPTIONS.program)


def named(insns, arch):
    """Texts of words that were changed."""
    OPTIONS.ptxas_now = OPTIONS.ptxas
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.bin")
        with open(path, "wb") as f:
            for i in insns:
                f.write(i.bits.to_bytes(16, "little"))
        for i, known in zip(insns, disassemble(["--raw", "--arch", arch], path, OPTIONS.program)):
            i.text, i.control = known.text, known.control
    return insns


# ---- listings ----

def line(i):
    at = "at 0x%x %d\n" % i.at if i.at else ""
    if re.match(r"@!PT|@!?P\d+ ST", i.text):  # a result that is out of the ordinary is stored
        at = "idle\n" + at
    return "%s%s%032x  %s  %s" % (at, "> " if i.timed else "", i.bits, i.control, i.text)


def compact(insns):
    """Lines; what comes several times in a row stands once."""
    out, p, words = [], 0, [(i.bits, i.timed, i.at) for i in insns]
    while p < len(insns):
        best = (0, 1, 1)
        for period in range(1, 65):
            count = 1
            while words[p + count * period:p + (count + 1) * period] == words[p:p + period] and \
                    len(words) >= p + (count + 1) * period:
                count += 1
            if count > 1 and (count - 1) * period > best[0]:
                best = ((count - 1) * period, period, count)
        saved, period, count = best
        if saved < 2:
            out.append(line(insns[p]))
            p += 1
            continue
        out += ["repeat %d" % count] + [line(i) for i in insns[p:p + period]] + ["end"]
        p += period * count
    return out


def kernel(name, arch, turn, runs, before=(), skips=()):
    """skips: {place in turn: instructions that lie there and are not executed}."""
    print("\nkernel %s %s" % (name, arch))
    for i in before:
        print(line(i))
    print("turn")
    start = 0
    for place, count in sorted(skips):
        print("\n".join(compact(turn[start:place])))
        print("skip %d" % count)
        start = place
    print("\n".join(compact(turn[start:])))
    for r in runs:
        print("run " + r)


# ---- code ----

HEAD = """.version %s
.target %s
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 turns, .param .%s seed) {
.reg .pred %%p<9>; .reg .f64 %%fd<99>; .reg .f32 %%f<99>; .reg .b32 %%r<99>; .reg .b16 %%h<9>; .reg .u64 %%rd<9>;
ld.param.u64 %%rd1, [out]; cvta.to.global.u64 %%rd1, %%rd1; ld.param.u32 %%r1, [turns]; mov.u32 %%r2, 0;
mov.u32 %%r3, %%tid.x;
"""
TAIL = "add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, %r1; @%p1 bra LOOP; ret; }\n"
KIND = {"f64": ("fd", "cvt.rn.f64.s32"), "f32": ("f", "cvt.rn.f32.s32"), "b32": ("r", "mov.b32")}


def loop(kind, body, arch, version="6.4"):
    """A loop with `body` on %x (its first value is made of the turn's number), which is stored in the end."""
    reg, convert = KIND[kind]
    out = HEAD % (version, arch, kind)
    out += "ld.param.%s %%%s50, [seed]; LOOP: %s %%%s10, %%r2;" % (kind, reg, convert, reg)
    add = "add.%s" % ("u32" if kind == "b32" else kind)
    out += "%s %%%s10, %%%s10, %%%s50;\n" % (add, reg, reg, reg)
    for i in range(len(body)):
        out += body[i].replace("%x", "%%%s10" % reg).replace("%s", "%%%s50" % reg) + "\n"
    if kind == "f64":
        out += "setp.gt.f64 %p2, %fd10, 0d40D5C64000000000; @%p2 st.global.f64 [%rd1], %fd10;\n"
    elif kind == "f32":
        out += "setp.gt.f32 %p2, %f10, 0f46AE3200; @%p2 st.global.f32 [%rd1], %f10;\n"
    else:
        out += "st.global.b32 [%%rd1], %%%s10;\n" % reg
    return out + TAIL


def turn_of(insns):
    """From a loop's first instruction to its branch back; the rest lies behind."""
    for n, i in enumerate(insns):
        m = re.match(r"@!?U?P\d+ BRA (?:\S+, )?0x([0-9a-f]+)", i.text) or re.match(r"@!?P\d+ BRA 0x([0-9a-f]+)", i.text)
        if m and int(m.group(1), 16) <= 16 * n and int(m.group(1), 16) > 0:
            return insns[int(m.group(1), 16) // 16:n + 1]
    sys.exit("no loop in\n" + "\n".join(i.text for i in insns))


def taken(turn, base=0):
    """The turn without what its forward branches jump over, and skips."""
    path, skips, n = [], [], 0
    while n < len(turn):
        i = turn[n]
        path.append(i)
        m = re.match(r"@!?P\d+ BRA 0x([0-9a-f]+)", i.text)
        n += 1
        if m and n < len(turn):
            to = int(m.group(1), 16) // 16 - base
            if to > n:
                skips.append((len(path), to - n))
                n = to
    return path, skips


def addresses(insns, at=(0x10000000, 4)):
    for i in insns:
        if i.text.startswith("ULDC"):
            i.at = (256, 0)
        if re.search(r"\b(LD|ST|LDG|STG|LDS|STS|LDC|LDL|STL|ATOM|RED|LDGSTS)\b", i.text.split(";")[0]):
            i.at = i.at or at
    return insns


def start_of(insns, turn):
    return next(n for n in range(len(insns)) if insns[n] is turn[0])


WORDS = {}


def word(arch, opcode):
    """A word of ptxas for an opcode, to be changed: registers in all places."""
    if arch not in WORDS:
        ptx = HEAD % ("7.1", arch, "f32")
        ptx += """ld.param.f32 %f1, [seed]; cvt.rn.f32.s32 %f2, %r3; cvt.rn.f32.s32 %f3, %r1;
.shared .b32 sh[2048];
.const .b32 co[512];
fma.rn.f32 %f4, %f1, %f2, %f3; fma.rn.f32 %f5, %f2, %f3, %f2; fma.rn.f32 %f6, %f3, %f2, %f4; mul.f32 %f7, %f5, %f6;
add.f32 %f8, %f7, %f6; mul.wide.u32 %rd2, %r3, 16; add.u64 %rd3, %rd1, %rd2;
mov.u32 %r4, sh; mad.lo.u32 %r5, %r3, %r1, %r4; mov.u64 %rd4, co; 
ld.volatile.shared.b32 %r6, [%r5]; ld.volatile.shared.v2.b32 {%r7, %r8}, [%r5]; ld.volatile.shared.v4.b32 {%r9, %r10, %r11, %r12}, [%r5];
st.shared.b32 [%r5+256], %r6; st.shared.v2.b32 [%r5+512], {%r7, %r8}; st.shared.v4.b32 [%r5+1024], {%r9, %r10, %r11, %r12};
ld.global.b32 %r13, [%rd3]; ld.global.v2.b32 {%r14, %r15}, [%rd3+64]; ld.global.v4.b32 {%r16, %r17, %r18, %r19}, [%rd3+128];
st.global.b32 [%rd3+512], %r13; st.global.v2.b32 [%rd3+520], {%r14, %r15}; st.global.v4.b32 [%rd3+1024], {%r16, %r17, %r18, %r19};
cvta.const.u64 %rd4, %rd4; shl.b32 %r20, %r3, 2; cvt.u64.u32 %rd5, %r20;
mov.u32 %r21, co; add.u32 %r22, %r21, %r20; ld.const.b32 %r23, [%r22]; ld.const.v2.b32 {%r24, %r25}, [%r22];
add.u32 %r26, %r23, %r24; add.u32 %r26, %r26, %r25; st.global.u32 [%rd3+4], %r26; 
ex2.approx.ftz.f32 %f9, %f8; st.global.f32 [%rd3+8], %f9; mov.u32 %r27, %clock; st.global.u32 [%rd3+12], %r27;
xor.b32 %r28, %r13, %r26; st.global.u32 [%rd3+16], %r28; ret; }
"""
        WORDS[arch] = compiled(ptx, arch)
        if OPTIONS.verbose:
            sys.stderr.write("\n".join(i.text for i in WORDS[arch]) + "\n")
    for i in WORDS[arch]:
        if re.match(opcode, i.text):
            return i.copy().set(stall=1, yields=False, write=NONE, read=NONE, wait=0, reuse=0)
    sys.exit("ptxas made no %s" % opcode)


def clean(i):
    return i.copy().set(stall=1, yields=False, write=NONE, read=NONE, wait=0, reuse=0)


# ---- kernels ----

# Operations of a turn when the figures of a V100 were published; the benchmark's later versions have 1,024. With m
# chains it executes 128 / m * m of them and divides by 128.
OPERATIONS = 128


# Chains of DFMA; where they begin depends on thread, turn and chain.
DFMA = """extern "C" __global__ void dfma(double seed, double *out, int turns) {
    double x[%d];
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
        const int chains = %d;
#pragma unroll
        for (int c = 0; c < chains; c++) x[c] = seed + threadIdx.x + turn + c;
#pragma unroll
        for (int k = 0; k < chains * %d; k++) x[k %% chains] = x[k %% chains] * 0.9 + 0.5;
#pragma unroll
        for (int c = 0; c < chains; c++)
            if (x[c] > 22313.0) out[0] = x[c];
    }
}
"""


def incore():
    warps = (1, 2, 4, 8, 16, 32)
    for m in range(1, 9):
        runs = ["core-dfma-w%d-i%d v100 warps=%d turns=2:18 per=%d" % (w, m, w, OPERATIONS * w) for w in warps]
        kernel("dfma-%d" % m, "sm_70", addresses(turn_of(compiled_cuda(DFMA % (m, m, OPERATIONS // m), "sm_70"))), runs)
    for name, text, old in (("ddiv", "add.f64 %x, %x, 0d3FC999999999999A; div.rn.f64 %x, 0d3FB999999999999A, %x;", True),
                            ("dsqrt", "add.f64 %x, %x, 0d3FC999999999999A; sqrt.rn.f64 %x, %x;", True)):
        # A loop of 16 operations, the value goes on, inside of one over the turns. How far the measured code is
        # unrolled is not known: so far it fits the L0, and the figures show no misses of it.
        ptx = loop("f64", [text] * 16, "sm_70", "6.0")
        ptx = ptx.replace("cvt.rn.f64.s32 %fd10, %r2", "add.s32 %r9, %r2, %r3; cvt.rn.f64.s32 %fd10, %r9")  # by thread
        ptx = ptx.replace("%fd50;\n", "%fd50; mov.u32 %r8, 0;\nINNER:\n", 1)
        ptx = re.sub(r"setp.gt.f64.*\n", "add.s32 %r8, %r8, 16; setp.ne.s32 %p3, %r8, 1024; @%p3 bra INNER;\n"
                     "mul.wide.u32 %rd2, %r3, 8; add.u64 %rd2, %rd1, %rd2; st.global.f64 [%rd2], %fd10;\n", ptx)
        code = compiled(ptx, "sm_70", old)
        turn = turn_of(code)
        path, skips = taken(turn, start_of(code, turn))
        runs = []
        for m in range(1, 9):
            for w in warps:
                times = m if m > 5 else 1
                runs.append("core-%s-w%d-i%d v100 warps=%d turns=8:24 per=%g" % (name, w, m, w, 16 * w / times))
        kernel(name, "sm_70", addresses(path), runs, skips=skips)


CHAINS = {  # name: kind, operation
    "fadd": ("f32", "add.rn.f32 %x, %x, %s;"),
    "fmul": ("f32", "mul.rn.f32 %x, %x, %s;"),
    "ffma": ("f32", "fma.rn.f32 %x, %x, %s, %s;"),
    "iadd3": ("b32", "add.u32 %x, %x, %s; xor.b32 %x, %x, %r3;"),
    "imad": ("b32", "mad.lo.u32 %x, %x, %s, %s;"),
    "dadd": ("f64", "add.rn.f64 %x, %x, %s;"),
    "dmul": ("f64", "mul.rn.f64 %x, %x, %s;"),
    "dfma": ("f64", "fma.rn.f64 %x, %x, %s, %s;"),
    "hadd2": ("b32", "add.rn.f16x2 %x, %x, %s;"),
    "hmul2": ("b32", "mul.rn.f16x2 %x, %x, %s;"),
    "hfma2": ("b32", "fma.rn.f16x2 %x, %x, %s, %s;"),
}


def chains(arch, gpu, names, version="6.4"):
    for name in names:
        kind, text = CHAINS[name]
        operations = 64
        per = operations * (2 if name == "iadd3" else 1)
        code = compiled(loop(kind, [text] * operations, arch, version), arch)
        turn = turn_of(code)
        path, skips = taken(turn, start_of(code, turn))
        opcode = {"iadd3": "IADD3|LOP3|IMAD.IADD", "imad": "IMAD R"}.get(name, name.upper())
        marks = [i for i in path if re.match("(%s)" % opcode, i.text)]
        marks = marks[-per:]
        per = len(marks) - 1
        marks[0].timed = marks[-1].timed = True
        base = "core-%s-%s" % (gpu, name)
        kernel("%s-%s" % (gpu, name), arch, addresses(path),
               ["%s %s turns=2 per=%d" % (base, gpu, per), "%s-sb %s turns=2 per=%d control=0" % (base, gpu, per)],
               skips=skips)


def operand_caches():
    """FFMA of GA10x with sources in one bank or two, kept or not."""
    arch = "sm_86"
    ffma, iadd, bra = word(arch, r"FFMA R\d+, R\d+, R\d+, R\d+"), word(arch, r"IADD3 R\d+, R\d+, R\d+, R\d+|IMAD R\d+, R\d+, R\d+, R\d+"), None
    for a, b in ((8, 8), (8, 9), (8, 10), (9, 8), (9, 9), (9, 11)):
        for flags in ("--", "-R", "R-", "RR"):
            reuse = (1 if flags[0] == "R" else 0) | (2 if flags[1] == "R" else 0)
            body = [ffma.copy().set(d=5, a=a, b=b, c=5, reuse=reuse)]
            body += [ffma.copy().set(d=20 + i, a=a, b=b, c=16, reuse=reuse) for i in range(3)]
            code = named([i.copy() for i in body * 64] +
                         [iadd.copy().set(d=30, a=31, b=32, c=33) for _ in range(4)], arch)
            name = "reuse-%d-%d-%s" % (a, b, flags.replace("-", "n").lower())
            kernel(name, arch, code, ["core-%s ga10x warps=48 turns=4:12 per=%d" % (name, 64 * 12)])


def straight():
    """Straight FFMA of one warp: a pass over n KiB."""
    for arch, gpu in (("sm_70", "v100"), ("sm_86", "ga10x")):
        ffma = word(arch, r"FFMA R\d+, R\d+, R\d+, R\d+")
        body = named([ffma.copy().set(d=16 + i, a=14, b=15, c=16 + i, reuse=0) for i in range(4)], arch)
        for kib in (1, 4, 8, 16, 24, 32, 64, 96, 128, 256, 512, 1024):
            first, last = body[0].copy(), body[3].copy()
            first, last = named([first, last], arch)
            first.timed = last.timed = True
            n = kib * 16
            lines = [first] + body[1:] + body * (n - 2) + body[:3] + [last]
            per = 4 * n - 1
            name = "straight-%s-%d" % (gpu, kib)
            kernel(name, arch, lines, ["core-%s-first %s turns=1 per=%d" % (name, gpu, per),
                                       "core-%s-second %s turns=1 launch=2 per=%d" % (name, gpu, per),
                                       "core-%s-again %s turns=2 per=%d" % (name, gpu, per)])


def memory():
    """GA10x: issue of shared loads in a row, and when memory instructions read and write registers."""
    arch = "sm_86"
    lds = word(arch, r"LDS R\d+, \[R\d+")
    for nth in (2, 5, 6, 7, 8):
        code = named([lds.copy().set(d=40 + i, a=2) for i in range(nth)], arch)
        for i in code:
            i.at = (0, 4)
        code[0].timed = code[-1].timed = True
        runs = ["core-issue-1-%d ga10x" % nth] + (["core-issue-4-%d ga10x warps=4" % nth] if nth in (6, 7, 8) else [])
        kernel("issue-%d" % nth, arch, code, runs)
    mov = word(arch, r"IMAD R\d+, R\d+, R\d+, R\d+|IADD3 R\d+, R\d+, R\d+, R\d+")
    loads = (("lds", 32, r"LDS R\d+, \[R\d+"), ("lds", 64, r"LDS.64 R\d+, \[R\d+"), ("lds", 128, r"LDS.128 R\d+, \[R\d+"),
             ("ldg", 32, r"LDG.E R\d+, \[R\d+"), ("ldg", 64, r"LDG.E.64 R\d+, \[R\d+"),
             ("ldg", 128, r"LDG.E.128 R\d+, \[R\d+"), ("ldc", 32, r"LDC R\d+, c\[0x\d+\]\[R\d+"),
             ("sts", 32, r"STS \[R\d+"), ("sts", 64, r"STS.64 \[R\d+"), ("sts", 128, r"STS.128 \[R\d+"),
             ("stg", 32, r"STG.E \[R\d+"), ("stg", 64, r"STG.E.64 \[R\d+"), ("stg", 128, r"STG.E.128 \[R\d+"))
    for name, bits, opcode in loads:
        kinds = ("war", "raw") if name[0] == "l" else ("war",)
        for kind in kinds:
            op = word(arch, opcode)
            op.set(stall=2, **({"read": 0} if kind == "war" else {"write": 0}))
            use = mov.copy().set(d=60, a=61, b=62, c=63, wait=1, stall=15, yields=True)
            code = named([op, use], arch)
            code[0].at = (0 if name in ("lds", "sts", "ldc") else 0x10000000, 0 if name == "ldc" else bits // 8)
            code[0].timed = code[1].timed = True
            key = "%s-%s%d" % (kind, name, bits)
            kernel(key, arch, code, ["core-%s ga10x turns=3" % key])


def control():
    """What stall counts and the yield bit do, and registers' ports, between two instructions."""
    arch = "sm_86"
    ffma = word(arch, r"FFMA R\d+, R\d+, R\d+, R\d+")
    for stall, yields in ((1, 0), (4, 0), (11, 0), (12, 0), (1, 1), (4, 1), (12, 1), (0, 1)):
        code = named([ffma.copy().set(d=20, a=2, b=3, c=255, stall=stall, yields=bool(yields)),
                      ffma.copy().set(d=21, a=2, b=3, c=255)], arch)
        code[0].timed = code[1].timed = True
        name = "stall-%d-%s" % (stall, "y" if yields else "n")
        kernel(name, arch, code, ["core-%s ga10x turns=3" % name])
    for x, y in ((19, 21), (18, 21), (18, 20)):
        code = named([ffma.copy().set(d=30, a=35, b=36, c=37), ffma.copy().set(d=31, a=35, b=36, c=37),
                      ffma.copy().set(d=11, a=10, b=12, c=14), ffma.copy().set(d=13, a=16, b=x, c=y),
                      ffma.copy().set(d=32, a=255, b=255, c=255), ffma.copy().set(d=33, a=255, b=255, c=255)], arch)
        code[0].set(a=255, b=255, c=255), code[1].set(a=255, b=255, c=255)
        named(code, arch)
        code[0].timed = code[5].timed = True
        kernel("ports-%d-%d" % (x, y), arch, code, ["core-ports-%d-%d ga10x turns=3" % (x, y)])


def constants():
    """Loads from the constant cache by number of addresses, and a constant operand that its cache lacks."""
    for arch, gpu in (("sm_70", "v100"), ("sm_86", "ga10x")):
        ldc = word(arch, r"LDC R\d+, c\[0x\d+\]\[R\d+")
        mov = word(arch, r"IMAD R\d+, R\d+, R\d+, R\d+|IADD3 R\d+, R\d+, R\d+, R\d+")
        for name, stride in (("one", 0), ("all", 4)):
            code = named([ldc.copy().set(stall=2, write=0), mov.copy().set(d=60, a=61, b=62, c=63, wait=1, stall=2)], arch)
            code[0].at = (256, stride)
            code[0].timed = code[1].timed = True
            kernel("constant-%s-%s" % (gpu, name), arch, code, ["core-constant-%s-%s %s turns=3" % (gpu, name, gpu)])
        ptx = HEAD % ("7.1", arch, "f32")
        ptx += "ld.param.f32 %f1, [seed]; cvt.rn.f32.s32 %f2, %r3; mul.f32 %f3, %f2, %f1; st.global.f32 [%rd1], %f3; ret; }"
        op = next(i for i in compiled(ptx, arch) if i.text.startswith("FMUL"))
        ffma = word(arch, r"FFMA R\d+, R\d+, R\d+, R\d+")
        code = named([clean(op).set(d=20, a=21), ffma.copy().set(d=22, a=23, b=24, c=25)], arch)
        code[0].timed = code[1].timed = True
        # The first turn's wait is of the first instruction: from the one before it.
        before = named([ffma.copy().set(d=26, a=27, b=28, c=29)], arch)[0]
        before.timed, code[1].timed = True, False
        kernel("constant-operand-%s" % gpu, arch, [before, code[0]],
               ["core-constant-operand-%s-miss %s turns=1" % (gpu, gpu), "core-constant-operand-%s-hit %s turns=2" % (gpu, gpu)])


def depbar():
    """Three shared loads count in SB0; DEPBAR.LE SB0, n waits until n are left."""
    arch = "sm_86"
    ptx = HEAD % ("7.1", arch, "f32")
    ptx += """.shared .b32 sh[4096]; mov.u32 %r4, sh; 
cp.async.ca.shared.global [%r4], [%rd1], 4; cp.async.commit_group; cp.async.ca.shared.global [%r4+64], [%rd1+64], 4;
cp.async.commit_group; cp.async.wait_group 1; ld.shared.b32 %r5, [%r4]; cp.async.wait_group 0; ld.shared.b32 %r6, [%r4+64];
add.u32 %r5, %r5, %r6; st.global.u32 [%rd1+128], %r5; ret; }"""
    bar = [i for i in compiled(ptx, arch) if i.text.startswith("DEPBAR.LE SB0, 0x")]
    lds = word(arch, r"LDS R\d+, \[R\d+")
    for b in bar[:2]:
        level = int(re.search(r"SB0, 0x([0-9a-f]+)", b.text).group(1), 16)
        code = [lds.copy().set(d=40 + i, a=2, write=0, stall=2) for i in range(3)] + \
               [clean(b).set(stall=1), word(arch, r"FFMA R\d+, R\d+, R\d+, R\d+").set(d=20, a=21, b=22, c=23)]
        named(code, arch)
        for i in code[:3]:
            i.at = (0, 4)
        code[0].timed = code[4].timed = True
        kernel("depbar-%d" % level, arch, code, ["core-depbar-%d ga10x turns=3" % level])


def peers():
    """A chain of loads from the shared memory of the second CTA of a cluster."""
    arch = "sm_90"
    lds = word(arch, r"LDS R\d+, \[R\d+")
    code = named([lds.copy().set(d=2, a=2, stall=2, write=0, wait=1) for _ in range(62)], arch)
    for i in code:
        i.at = (2 << 24, 0)
    kernel("h100-peer", arch, code, ["core-h100-peer h100 turns=2:6 per=62 cluster=2"])


# ---- matrix instructions ----

# Type of sums, registers of sums, A, B.
MMA = {
    "m8n8k4.row.col.f32.f16.f16.f32": ("f32", 8, 2, 2), "m16n8k8.row.col.f32.f16.f16.f32": ("f32", 4, 2, 1),
    "m16n8k8.row.col.f16.f16.f16.f16": ("b32", 2, 2, 1), "m16n8k16.row.col.f32.f16.f16.f32": ("f32", 4, 4, 2),
    "m16n8k16.row.col.f16.f16.f16.f16": ("b32", 2, 4, 2), "m16n8k16.row.col.f32.bf16.bf16.f32": ("f32", 4, 4, 2),
    "m16n8k8.row.col.f32.tf32.tf32.f32": ("f32", 4, 4, 2), "m16n8k32.row.col.s32.s8.s8.s32": ("b32", 4, 4, 2),
    "m16n8k64.row.col.s32.s4.s4.s32": ("b32", 4, 4, 2), "m16n8k256.row.col.s32.b1.b1.s32.xor.popc": ("b32", 4, 4, 2),
    "sp m16n8k32.row.col.f32.f16.f16.f32": ("f32", 4, 4, 4), "sp m16n8k16.row.col.f32.f16.f16.f32": ("f32", 4, 2, 2),
    "sp m16n8k32.row.col.f16.f16.f16.f16": ("b32", 2, 4, 4), "sp m16n8k16.row.col.f16.f16.f16.f16": ("b32", 2, 2, 2),
    "sp m16n8k16.row.col.f32.tf32.tf32.f32": ("f32", 4, 4, 4), "sp m16n8k8.row.col.f32.tf32.tf32.f32": ("f32", 4, 2, 2),
    "sp m16n8k64.row.col.s32.s8.s8.s32": ("b32", 4, 4, 4), "sp m16n8k32.row.col.s32.s8.s8.s32": ("b32", 4, 2, 2),
    "wmma": ("f32", 8, 8, 8),
}


def mma_ptx(shape, arch, chains, count):
    kind, d, a, b = MMA[shape]
    names = lambda letter, n, first=0: "{" + ",".join("%%%s%d" % (letter, first + i) for i in range(n)) + "}"
    out = ".version 8.0\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 p) {\n" % arch
    out += ".reg .b32 %%a<9>, %%b<9>, %%t; .reg .%s %%c<99>; .reg .u64 %%d;\nmov.u32 %%t, %%tid.x;\n" % kind
    out += "".join("add.u32 %%a%d, %%t, %d; add.u32 %%b%d, %%t, %d;\n" % (i, i, i, i + 9) for i in range(9))
    for i in range(d * chains):  # different ones, so that no chain is another's copy
        out += "add.u32 %%b8, %%t, %d; %s %%c%d, %%b8;\n" % (i, KIND[kind][1], i)
    text = "mma.sp.sync.aligned." + shape[3:] if shape.startswith("sp ") else "mma.sync.aligned." + shape
    if shape == "wmma":
        text = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"
    for _ in range(count):
        for c in range(chains):
            sums = names("c", d, c * d)
            out += "%s %s, %s, %s, %s%s;\n" % (text, sums, names("a", a), names("b", b), sums,
                                              ", %t, 0" if shape.startswith("sp ") else "")
    out += "ld.param.u64 %d, [p];\n"
    out += "".join("st.global.%s [%%d+%d], %%c%d;\n" % (kind, 4 * i, i) for i in range(d * chains))
    return out + "ret; }\n"


def matrix(arch, gpu, name, shape, latency, rate, steps=1):
    """A chain of one warp, and eight warps of four chains each."""
    is_one = lambda i: re.match(r"[HIDBQ]MMA", i.text)
    if latency:
        code = compiled(mma_ptx(shape, arch, 1, 9), arch)
        at = [n for n, i in enumerate(code) if is_one(i)]
        code[at[0]].timed = code[at[-steps]].timed = True
        code = code[at[0]:at[-1] + 1]
        for i in code:
            if i.text.startswith("LDC"):  # of where results are stored
                i.set(write=NONE).bits = i.bits >> 105 << 105 | 0x7918
                i.text = "NOP"
        kernel("%s-%s-chain" % (gpu, name), arch, named(code, arch),
               ["tensor-%s-%s-latency %s turns=2 per=8" % (gpu, name, gpu)])
    if rate:
        code = compiled(mma_ptx(shape, arch, 4, 64), arch)
        at = [n for n, i in enumerate(code) if is_one(i)]
        code = code[at[16 * steps]:at[-16 * steps]]  # whole rounds of the compiler's order
        count = sum(1 for i in code if is_one(i)) / steps
        kernel("%s-%s" % (gpu, name), arch, code,
               ["tensor-%s-%s %s warps=8 turns=2:6 per=%g" % (gpu, name, gpu, 2 * count)])


def warpgroup(gpu, name, n, k, types, rate=True, latency=False):
    """HGMMA and its like by one warpgroup, operands in shared memory: a group of one, and groups of 128."""
    regs = n // 2
    kind = "b32" if types.startswith("s32") else "f32"
    sums = "{" + ",".join("%%c%d" % i for i in range(regs)) + "}"
    ptx = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 x) {\n"
    ptx += ".reg .%s %%c<129>; .reg .b32 %%t; .reg .b64 %%x, %%d; .reg .pred %%q;\n" % kind
    ptx += ".shared .align 1024 .b8 sm[1024];\nmov.u32 %t, %tid.x; st.shared.u32 [sm], %t; bar.sync 0;\n"
    ptx += "ld.param.u64 %x, [x]; ld.param.u64 %d, [p];\n"
    ptx += "".join("mov.%s %%c%d, %s;\n" % (kind, i, "0f00000000" if kind == "f32" else "0") for i in range(regs))
    tail = "" if "8" in types or "e4m3" in types else ", 1, 1, 0, 0" if "f16" in types else ", 1, 1"
    if "e4m3" in types:
        tail = ", 1, 1"
    ptx += "setp.ne.u32 %q, %t, 1000;\nwgmma.fence.sync.aligned;\n"
    for _ in range(2):
        ptx += "wgmma.mma_async.sync.aligned.m64n%dk%d.%s %s, %%x, %%x, %%q%s;\n" % (n, k, types, sums, tail)
    ptx += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
    ptx += "".join("st.global.%s [%%d+%d], %%c%d;\n" % (kind, 4 * i, i) for i in range(regs)) + "ret; }\n"
    code = compiled(ptx, "sm_90a")
    find = lambda what: [i for i in code if re.match(what, i.text)]
    one, last = find("[HIQB]GMMA")[0], find("[HIQB]GMMA")[-1]
    head, wait = find("WARPGROUP.ARRIVE")[0], find("WARPGROUP.DEPBAR")[0]
    after = named([clean(find("NOP")[0])], "sm_90a")[0]
    if latency:
        group = [i.copy() for i in (last, wait, after)]
        named(group, "sm_90a")
        group[0].timed = group[2].timed = True
        kernel("h100-%s-one" % name, "sm_90a", group, ["tensor-h100-%s-latency h100 warps=4 turns=2" % name])
    if rate:
        group = [i.copy() for i in [head] + [one] * 127 + [last, wait]]
        kernel("h100-%s" % name, "sm_90a", named(group, "sm_90a"),
               ["tensor-h100-%s h100 warps=4 turns=2:6 per=128" % name])


def tensor():
    matrix("sm_70", "v100", "wmma-f32", "wmma", True, False, 16)
    matrix("sm_70", "v100", "884-f32", "m8n8k4.row.col.f32.f16.f16.f32", False, True, 4)
    matrix("sm_75", "tu102", "1688-f32", "m16n8k8.row.col.f32.f16.f16.f32", True, False)
    matrix("sm_75", "t4", "1688-f16", "m16n8k8.row.col.f16.f16.f16.f16", True, True)
    for name, shape in (("16816-f32", "m16n8k16.row.col.f32.f16.f16.f32"), ("1688-f32", "m16n8k8.row.col.f32.f16.f16.f32"),
                        ("16816-f16", "m16n8k16.row.col.f16.f16.f16.f16"), ("1688-f16", "m16n8k8.row.col.f16.f16.f16.f16"),
                        ("1688-tf32", "m16n8k8.row.col.f32.tf32.tf32.f32"), ("16832-s8", "m16n8k32.row.col.s32.s8.s8.s32"),
                        ("16864-s4", "m16n8k64.row.col.s32.s4.s4.s32"),
                        ("168256-b1", "m16n8k256.row.col.s32.b1.b1.s32.xor.popc"),
                        ("sp16832-f32", "sp m16n8k32.row.col.f32.f16.f16.f32"),
                        ("sp16816-f32", "sp m16n8k16.row.col.f32.f16.f16.f32"),
                        ("sp16832-f16", "sp m16n8k32.row.col.f16.f16.f16.f16"),
                        ("sp16816-f16", "sp m16n8k16.row.col.f16.f16.f16.f16"),
                        ("sp16816-tf32", "sp m16n8k16.row.col.f32.tf32.tf32.f32"),
                        ("sp1688-tf32", "sp m16n8k8.row.col.f32.tf32.tf32.f32"),
                        ("sp16864-s8", "sp m16n8k64.row.col.s32.s8.s8.s32"),
                        ("sp16832-s8", "sp m16n8k32.row.col.s32.s8.s8.s32")):
        matrix("sm_80", "a100", name, shape, True, True)
    for name, shape in (("16816-f32", "m16n8k16.row.col.f32.f16.f16.f32"), ("16832-s8", "m16n8k32.row.col.s32.s8.s8.s32"),
                        ("sp16832-f32", "sp m16n8k32.row.col.f32.f16.f16.f32")):
        matrix("sm_90", "h100", name, shape, True, True)
    for name, shape in (("16816-f16", "m16n8k16.row.col.f16.f16.f16.f16"), ("16832-s8", "m16n8k32.row.col.s32.s8.s8.s32"),
                        ("sp16832-f16", "sp m16n8k32.row.col.f16.f16.f16.f16")):
        matrix("sm_89", "rtx4090", name, shape, True, False)
    for n in (8, 16, 32, 64, 128, 256):
        warpgroup("h100", "hgmma-n%d" % n, n, 16, "f32.f16.f16", True, n in (8, 16, 64, 256))
    warpgroup("h100", "hgmma-tf32-n256", 256, 8, "f32.tf32.tf32")
    warpgroup("h100", "qgmma-n256", 256, 32, "f32.e4m3.e4m3")
    warpgroup("h100", "igmma-n256", 256, 32, "s32.s8.s8")


def main():
    global OPTIONS
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", default="build/warpwatt")
    p.add_argument("--ptxas", required=True)
    p.add_argument("--old-ptxas", required=True, help="of CUDA 11.2 or before")
    p.add_argument("--nvcc", default="nvcc", help="of a toolkit that compiles for sm_70")
    p.add_argument("--verbose", action="store_true")
    p.add_argument("--tensor", action="store_true")
    OPTIONS = p.parse_args()
    if OPTIONS.tensor:
        print("""# Machine code of `warpwatt validate tensor`, written by scripts/core-listings.py --tensor; estimator/study/validate/core/core_int.h
# says what the lines mean. Texts behind the bits are those of `warpwatt disasm`.
gpu v100 v100
gpu a100 a100
gpu h100 h100
gpu tu102 rtx2080ti
gpu t4 rtx2080ti pipe.tensor.half_fp32=false
gpu rtx4090 rtx4090""")
        tensor()
        return
    print("""# Machine code of `warpwatt validate core`, written by scripts/core-listings.py; estimator/study/validate/core/core_int.h
# says what the lines mean. Texts behind the bits are those of `warpwatt disasm`.
gpu v100 v100
gpu a100 a100
gpu h100 h100
# Cores of Turing and of GA10x, as far as these microbenchmarks see them, with the caches of V100 and A100.
gpu tu10x v100 arch=sm_75 lsu.lanes=16
gpu ga10x a100 arch=sm_86 core.read_store_cycles=14 pipe.fp32.lanes=32 lsu.lanes=16 shared.latency=24 l1.latency=32 l1.bytes_per_cycle=64 const.latency=29 icache.miss_cycles=124""")
    incore()
    chains("sm_70", "v100", ("fadd", "fmul", "ffma", "iadd3", "imad", "hadd2", "hmul2", "hfma2", "dadd", "dmul",
                             "dfma"))
    chains("sm_75", "tu10x", ("fadd", "fmul", "ffma", "iadd3", "imad", "hadd2", "hmul2", "hfma2"))
    chains("sm_80", "a100", ("fadd", "fmul", "ffma", "iadd3", "imad", "hadd2", "hfma2", "dadd", "dfma"), "7.1")
    chains("sm_90", "h100", ("fadd", "ffma", "iadd3", "imad", "dfma"), "7.8")
    operand_caches()
    control()
    memory()
    depbar()
    constants()
    straight()
    peers()


main()
