#!/usr/bin/env python3
"""Compares `warpwatt disasm` with NVIDIA's disassembler, instruction by instruction.

Compiles PTX for each architecture with the ptxas that supports it, and compares the text of every instruction with
what `cuobjdump -sass` prints. Where no toolkit is installed it says so and exits with 77 (skipped).

    disassembly.py --program build/warpwatt [--arch 75,80] [--ptx FILE...] [--cubin FILE...] [--show N]
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
LINE = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*/\* 0x([0-9a-f]{16}) \*/")


def tools(name):
    """Every file of that name where toolkits are, newest first."""
    found = [shutil.which(name)] if shutil.which(name) else []
    for pattern in ("/usr/local/cuda*/bin/", "/opt/cuda*/bin/", "/usr/lib/nvidia-cuda-toolkit/bin/"):
        found += sorted(glob.glob(pattern + name), reverse=True)
    return list(dict.fromkeys(os.path.realpath(f) for f in found))


def oracle():
    """The newest cuobjdump that has its nvdisasm beside it."""
    for path in tools("cuobjdump"):
        if os.path.exists(os.path.join(os.path.dirname(path), "nvdisasm")):
            return path
    return None


def highest_version(ptxas):
    text = subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout
    m = re.search(r"release (\d+)\.", text)
    return {11: "7.8", 12: "8.4", 13: "9.0"}.get(int(m.group(1)), "7.8") if m else "7.8"


def compile_ptx(path, arch, out):
    with open(path) as f:
        text = f.read()
    for ptxas in tools("ptxas"):
        changed = re.sub(r"^\.version .*", ".version " + highest_version(ptxas), text, flags=re.M)
        changed = re.sub(r"^\.target .*", ".target sm_" + arch, changed, flags=re.M)
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
            f.write(changed)
            f.flush()
            if subprocess.run([ptxas, "-arch=sm_" + arch, "-o", out, f.name], capture_output=True).returncode == 0:
                return True
    return False


def theirs(cuobjdump, cubin):
    """{kernel: {offset: text}} of the vendor's disassembler."""
    env = dict(os.environ, PATH=os.path.dirname(cuobjdump) + os.pathsep + os.environ["PATH"])
    text = subprocess.run([cuobjdump, "-sass", cubin], capture_output=True, text=True, env=env).stdout
    result, code = {}, None
    for line in text.split("\n"):
        if "Function :" in line:
            code = result.setdefault(line.split("Function :")[1].strip(), {})
        m = LINE.match(line)
        if m and code is not None:
            words = re.sub(r"\s+", " ", m.group(2)).strip(" {}").rstrip(";").strip()
            code[int(m.group(1), 16)] = words
    return result


def ours(program, cubin):
    run = subprocess.run([program, "disasm", cubin], capture_output=True, text=True)
    result, code = {}, None
    for line in run.stdout.split("\n"):
        m = re.match(r"sm_\d+ (?:kernel|function) (.*): \d+ instructions", line)
        if m:
            code = result.setdefault(m.group(1), {})
        m = re.match(r"  ([0-9a-f]{4,})  \S{6} R. W. . .. +(.*)", line)
        if m and code is not None:
            code[int(m.group(1), 16)] = m.group(2).strip()
    return result, run.stderr.strip()


def compare(name, a, b, why, show):
    total = equal = 0
    for kernel, code in a.items():
        for offset, text in code.items():
            total += 1
            mine = b.get(kernel, {}).get(offset, "(nothing: %s)" % why)
            if mine == text:
                equal += 1
            elif show[0] > 0:
                show[0] -= 1
                print("%s %s+0x%x\n  theirs %s\n  ours   %s" % (name, kernel, offset, text, mine))
    return total, equal


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=os.path.join(SOURCE, "build/warpwatt"))
    parser.add_argument("--arch", default="70,75,80,86,89,90,90a")
    parser.add_argument("--ptx", nargs="*", default=None)
    parser.add_argument("--cubin", nargs="*", default=[])
    parser.add_argument("--show", type=int, default=20, help="differences to print")
    args = parser.parse_args()
    cuobjdump = oracle()
    if not cuobjdump or not tools("ptxas"):
        print("skipped: no cuobjdump with nvdisasm, or no ptxas")
        return 77
    ptx = args.ptx if args.ptx is not None else sorted(glob.glob(SOURCE + "/traces/kernels/*.ptx") +
                                                       glob.glob(SOURCE + "/tests/kernels/*.ptx") +
                                                       glob.glob(HERE + "/*.ptx"))
    show, bad = [args.show], 0
    for arch in args.arch.split(","):
        total = equal = files = 0
        with tempfile.TemporaryDirectory() as work:
            cubins = [c for c in args.cubin if ("sm_" + arch + ".") in c]
            for path in ptx:
                out = os.path.join(work, os.path.basename(path) + ".cubin")
                if compile_ptx(path, arch, out):
                    cubins.append(out)
            for cubin in cubins:
                code, why = ours(args.program, cubin)
                t, e = compare(os.path.basename(cubin), theirs(cuobjdump, cubin), code, why, show)
                total, equal, files = total + t, equal + e, files + 1
        print("sm_%s: %d files, %d instructions, %d equal" % (arch, files, total, equal))
        bad += total != equal
    return 1 if bad else 0


sys.exit(main())
