#!/usr/bin/env python3
"""Tests of the recording CUDA runtime on programs.

usage: check_cuda.py [WARPWATT]

Without nvcc, stub/host.c stands for a compiled program: it registers stub/kernels.ptx as nvcc's host code does. Where
nvcc is found, every NAME.cu of this folder is compiled and run, too (NAME_*.cu belong to the same program). The last
line is "N passed, N failed".

PTX is lowered by our own rules here (WARPWATT_CODE=ptx), so that results do not depend on a CUDA toolkit; with nvcc
the programs run once more as machine code, on an architecture that they hold code for and on one that ptxas compiles
their PTX for.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/warpwatt"))
CUDART = os.path.join(os.path.dirname(PROGRAM), "cudart")
PTX = os.path.join(HERE, "stub", "kernels.ptx")
counts = {True: 0, False: 0}


def check(name, good, detail=""):
    counts[bool(good)] += 1
    print(("ok      " if good else "FAILED  ") + name + ("" if good else ":\n" + str(detail)))


def run(words, env=None, timeout=300):
    r = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
                       env=dict(os.environ, **{"WARPWATT_CODE": "ptx", **(env or {})}))
    return r.returncode, r.stdout, r.stderr


def record(program, options=(), env=None):
    return run([PROGRAM, "trace", "record", *options, "--", *program], env)


def expect(name, result, code=0, out=None, err=None):
    text = "exit %d\n%s%s" % result
    good = result[0] == code and (out is None or re.search(out, result[1])) and \
        (err is None or re.search(err, result[2]))
    check(name, good, text)


def launches(path):
    code, out, _ = run([PROGRAM, "trace", "info", path, "--json"])
    return [x["kernel"] for x in json.loads(out)["launches"]] if code == 0 else None


def left(folder):
    return [n for n in os.listdir(folder) if ".wwt" in n]


# ---- without nvcc ----

def build_host(version):
    path = os.path.abspath("host-" + version)
    subprocess.run(["cc", "-std=gnu11", "-O1", "-o", path, os.path.join(HERE, "stub", "host.c"),
                    os.path.join(CUDART, "libcudart.so." + version), "-llz4", "-lzstd"], check=True)
    return path


def stub_versions():
    for version in ("11.0", "12", "13"):
        host = build_host(version)
        number = version.split(".")[0]
        for form in ("plain", "lz4", "zstd"):
            expect("interface of version %s, PTX %s" % (version, form), record([host, PTX, form], ["-q"]), 0,
                   r"version %s, 80 SMs\nPASS" % number, "cudaIpcGetMemHandle is not supported")


def stub_static():
    """A runtime that is linked into the program is replaced, in the version that it is of."""
    sources = [os.path.join(HERE, "stub", n) for n in ("host.c", "runtime.c")]
    for version in ("11", "12", "13"):
        subprocess.run(["cc", "-std=gnu11", "-O1", "-DVERSION=" + version, "-o", "static", *sources, "-llz4", "-lzstd"],
                       check=True)
        expect("a runtime of version %s that is linked in is replaced" % version,
               record([os.path.abspath("static"), PTX, "zstd"], ["-q"]), 0, r"version %s, 80 SMs\nPASS" % version)
    script = os.path.abspath("static.sh")
    with open(script, "w") as f:
        f.write("#!/bin/sh\nexec %s %s zstd\n" % (os.path.abspath("static"), PTX))
    os.chmod(script, 0o755)
    expect("also in a program that a script starts", record([script], ["-q"]), 0, "PASS")
    with open(script, "w") as f:
        f.write("#!/bin/sh\n%s %s zstd && %s %s zstd\n" % ((os.path.abspath("static"), PTX) * 2))
    expect("two processes, a trace of each", record([script], ["-o", "each.%p.wwt"]), 0, "PASS", "10 launches")
    each = [n for n in left(".") if n.startswith("each.")]
    check("both are whole", len(each) == 2 and all(len(launches(n) or []) == 5 for n in each), each)
    for name in each:
        os.unlink(name)
    follow_children(script)
    subprocess.run(["strip", "static"], check=True)
    expect("without a symbol table it stays", record([os.path.abspath("static"), PTX, "zstd"], ["-q"]), 99, None,
           "the program's own __cudaRegisterFatBinary was called")


def follow_children(script):
    """--follow-children: a trace of each process that a script starts, also of one that outlives it."""
    result = record([script], ["-o", "each.wwt", "--follow-children"])
    expect("children are followed", result, 0, "PASS", "10 launches")
    each = sorted(n for n in left(".") if n.startswith("each."))
    check("each has a trace with its number", len(each) == 2 and all(re.match(r"each\.\d+\.wwt$", n) for n in each), each)
    check("and is named, by no pattern", all(n in result[2] for n in each) and "%p" not in result[2], result[2])
    for name in each:
        os.unlink(name)
    killed = os.path.abspath("killed.sh")
    with open(killed, "w") as f:
        f.write("#!/bin/sh\n%s %s zstd; kill -9 $$\n" % (os.path.abspath("static"), PTX))
    os.chmod(killed, 0o755)
    expect("of a script that is killed, what its children have recorded is told", record([killed], ["-o", "k.wwt", "--follow-children"]),
           137, "PASS", r"k\.\d+\.wwt\n.*ended by signal 9 .*the trace of 1 other process was written\n$")
    for name in [n for n in left(".") if n.startswith("k.")]:
        os.unlink(name)
    late = os.path.abspath("late.sh")
    with open(late, "w") as f:
        f.write("#!/bin/sh\n(sleep 1; exec %s %s zstd) &\n" % (os.path.abspath("static"), PTX))
    os.chmod(late, 0o755)
    code, out, _ = record([late], ["-o", "late.%p.wwt", "--follow-children", "--json"])
    after = [n for n in left(".") if n.startswith("late.")]
    traces = json.loads(out[out.index("{"):])["traces"] if code == 0 and "{" in out else None
    check("a child that outlives its parent is waited for", after == traces and len(after) == 1, (code, out, after))
    check("its trace is whole", after and len(launches(after[0]) or []) == 5, after)
    for name in after:
        os.unlink(name)
    expect("without a file there is nothing to follow", record([late], ["--follow-children"]), 2, None, "--follow-children needs -o")


def stub_archive():
    """Without a symbol table the runtime's functions are found by the code of the archive that they came from."""
    stub = os.path.join(HERE, "stub")
    for version in ("11", "12", "13"):
        subprocess.run(["cc", "-std=gnu11", "-O2", "-fPIC", "-DVERSION=" + version, "-c", "-o", "runtime.o",
                        os.path.join(stub, "runtime.c")], check=True)
        subprocess.run(["ar", "rcs", "archive-%s.a" % version, "runtime.o"], check=True)
    subprocess.run(["cc", "-std=gnu11", "-O1", "-DSECTION=1", "-s", "-o", "hidden", os.path.join(stub, "host.c"), "archive-13.a",
                    "-llz4", "-lzstd"], check=True)
    hidden = [os.path.abspath("hidden"), PTX, "zstd"]
    expect("a runtime without symbols is found by its archive", record(hidden, ["-q"], {"WARPWATT_CUDART_STATIC":
           "archive-13.a"}), 0, r"version 13, 80 SMs\nPASS")
    expect("not by an archive of another version", record(hidden, ["-q"], {"WARPWATT_CUDART_STATIC": "archive-12.a"}), 4,
           None, "has no symbol table.*WARPWATT_CUDART_STATIC")
    with open("archive-13.a", "rb") as f:
        whole = f.read()
    for name, damaged in (("cut", whole[:len(whole) // 2]), ("empty", b""), ("text", b"!<arch>\n" + b"x" * 500)):
        with open("damaged.a", "wb") as f:
            f.write(damaged)
        expect("an archive that is damaged finds nothing: " + name,
               record(hidden, ["-q"], {"WARPWATT_CUDART_STATIC": "damaged.a"}), 4, None, "has no symbol table")


def stub_plugin():
    """A library with a runtime of its own, opened by a program that has none."""
    sources = [os.path.join(HERE, "stub", n) for n in ("host.c", "runtime.c")]
    subprocess.run(["cc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-DVERSION=12", "-Dmain=plugin_main",
                    "-Wl,-Bsymbolic", "-o", "plugin.so", *sources, "-llz4", "-lzstd"], check=True)
    with open("opener.c", "w") as f:
        f.write("#include <dlfcn.h>\nint main(int n, char **v) { void *p = dlopen(\"./plugin.so\", RTLD_NOW); "
                "int (*f)(int, char **) = p ? (int (*)(int, char **))dlsym(p, \"plugin_main\") : 0; return f ? f(n, v) : 9; }\n")
    subprocess.run(["cc", "-o", "opener", "opener.c", "-ldl"], check=True)
    expect("a library that is opened later has its runtime replaced",
           record([os.path.abspath("opener"), PTX, "zstd"], ["-q"]), 0, r"version 12, 80 SMs\nPASS")


LINK_A = """.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) twice (.param .b32 a);
.visible .entry store(.param .u64 p)
{
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
mov.u32 %r1, %tid.x;
{
.param .b32 a;
.param .b32 b;
st.param.b32 [a], %r1;
call.uni (b), twice, (a);
ld.param.b32 %r2, [b];
}
ld.param.u64 %rd1, [p];
mad.wide.u32 %rd2, %r1, 4, %rd1;
st.global.u32 [%rd2], %r2;
ret;
}
"""
LINK_B = """.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 r) twice (.param .b32 a)
{
.reg .b32 %r<4>;
ld.param.b32 %r1, [a];
add.u32 %r2, %r1, %r1;
st.param.b32 [r], %r2;
ret;
}
"""


def check_links(driver):
    for name, text in ("a.ptx", LINK_A), ("b.ptx", LINK_B):
        with open(name, "w") as f:
            f.write(text)
    expect("cuLinkComplete links modules of PTX", record([driver, "a.ptx", "link", "b.ptx"], ["-q"]), 0, "PASS")
    expect("two definitions are named", record([driver, "a.ptx", "link", "b.ptx", "b.ptx"], ["-q"]), 1, None,
           "b.ptx: symbol twice is also defined in b.ptx")


# A kernel that adds OWN and a variable to each word; both images have the same names.
PUT = """.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 bias;
.visible .entry put(.param .u64 p)
{
.reg .b32 %r<8>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd1, %rd1;
mov.u32 %r1, %tid.x;
mad.wide.u32 %rd2, %r1, 4, %rd1;
ld.global.u32 %r2, [%rd2];
ld.global.u32 %r3, [bias];
add.u32 %r2, %r2, %r3;
add.u32 %r2, %r2, OWN;
st.global.u32 [%rd2], %r2;
ret;
}
"""


def put_texts():
    for name, own in ("put-a.ptx", "1"), ("put-b.ptx", "10"):
        with open(name, "w") as f:
            f.write(PUT.replace("OWN", own))


def build_modules():
    subprocess.run(["cc", "-std=gnu11", "-O1", "-o", "modules", os.path.join(HERE, "stub", "modules.c"),
                    os.path.join(CUDART, "libcuda.so.1")], check=True)
    return os.path.abspath("modules")


def check_modules(form, images, options, wanted):
    """Six modules of two images at a time; then all but one once more."""
    expect("several modules at a time, " + form, record([build_modules(), *images], ["-q", "-o", "modules.wwt", *options]), 0, "PASS")
    check("all their launches are recorded, " + form, launches("modules.wwt") == ["put"] * 11, launches("modules.wwt"))
    check("the trace of several modules is sound, " + form, run([PROGRAM, "trace", "verify", "modules.wwt"])[0] == 0)
    check("where the code comes from, " + form, codes("modules.wwt") == [wanted], codes("modules.wwt"))
    os.unlink("modules.wwt")


def stub_modules():
    put_texts()
    check_modules("PTX", ["put-a.ptx", "put-b.ptx"], [], "lowered PTX")


def stub_driver():
    """A program of the driver's interface."""
    driver = os.path.abspath("driver")
    subprocess.run(["cc", "-std=gnu11", "-O1", "-o", driver, os.path.join(HERE, "stub", "driver.c"),
                    os.path.join(CUDART, "libcuda.so.1")], check=True)
    for how in ("text", "file", "library"):
        expect("the driver's interface, PTX by " + how, record([driver, PTX, how], ["-q", "-o", "driver.wwt"]), 0,
               r"80 SMs\nPASS")
        check("its launches are recorded: " + how, launches("driver.wwt") == ["saxpy"] * 4, launches("driver.wwt"))
    os.unlink("driver.wwt")
    check_links(driver)
    expect("the driver's copies, fills and arrays", record([driver, PTX, "copies"], ["-q"]), 0, "PASS")
    expect("captures and graphs of the driver", record([driver, PTX, "graph"], ["-q", "-o", "graph.wwt"]), 0, "PASS")
    check("each launch of a graph is recorded", launches("graph.wwt") == ["saxpy"] * 3, launches("graph.wwt"))
    os.unlink("graph.wwt")
    expect("streams, events and a graph", record([driver, PTX, "order"], ["-q", "-o", "order.wwt"]), 0, "PASS")
    info = json.loads(run([PROGRAM, "trace", "info", "order.wwt", "--json"])[1])["launches"]
    got = [(x.get("stream", 0), x.get("waits_for", [])) for x in info]
    wanted = [(1, []), (2, []), (2, [0]), (1, [2]), (0, [2]), (3, [4]), (1, []), (4, [3, 2]), (1, [7])]
    check("the trace says which launches wait for which", got == wanted, got)
    check("the trace with an order is sound", run([PROGRAM, "trace", "verify", "order.wwt"])[0] == 0)
    os.unlink("order.wwt")
    expect("the driver's errors", record([driver, PTX, "errors"], ["-q"]), 0, "PASS",
           "cuMemCreate is not supported by the recording CUDA driver; it returned CUDA_ERROR_NOT_SUPPORTED")


def stub_options(host):
    trace = "a.wwt"
    expect("a trace is written", record([host, PTX, "zstd"], ["-o", trace]), 0, None, "5 launches")
    check("all launches are recorded", launches(trace) == ["saxpy", "count", "count", "count", "fields"],
          launches(trace))
    check("the trace is sound", run([PROGRAM, "trace", "verify", trace])[0] == 0)
    copies = [[(c["kind"], c["bytes"]) for c in x.get("copies", [])]
              for x in json.loads(run([PROGRAM, "trace", "info", trace, "--json"])[1])["launches"]]
    check("copies from the host are kept for the launch that follows",
          len(copies[0]) == 3 and all(kind == "host" for kind, _ in copies[0]) and copies[2:4] == [[], []], copies)
    first = open(trace, "rb").read()
    record([host, PTX, "zstd"], ["-o", trace])
    check("a second recording is the same, byte by byte", open(trace, "rb").read() == first)
    for options, wanted in ((["-k", "co*"], ["count"] * 3), (["--first", "1"], ["saxpy", "count", "fields"]),
                            (["--every", "2", "-k", "count"], ["count"] * 2)):
        result = record([host, PTX, "zstd"], ["-o", trace, *options])
        check("recorded with " + " ".join(options), result[0] == 0 and launches(trace) == wanted, launches(trace))
    expect("instructions are said to be those of recorded launches",
           record([host, PTX, "zstd"], ["-o", trace, "-k", "count"]), 0, None,
           r"5 launches, 3 recorded: \d+ warp instructions")
    expect("no launch recorded, no instructions", record([host, PTX, "zstd"], ["--no-record"]), 0, None,
           "5 launches, none recorded\n$")
    expect("without a file nothing is recorded, and that is said", record([host, PTX, "zstd"]), 0, "PASS",
           "5 launches, none recorded: no -o FILE was given\n$")
    os.unlink(trace)
    result = record([host, PTX, "plain"], ["-o", trace, "--no-record", "--json", "-q"])
    stats = json.loads(result[1][result[1].index("{"):])
    check("--no-record computes and records nothing",
          "PASS" in result[1] and stats["launches"] == 5 and stats["recorded_launches"] == 0 and not left("."), result)
    expect("another GPU is seen", record([host, PTX, "plain"], ["-q", "--gpu", "gtx480"]), 0, "15 SMs\nPASS")
    expect("another architecture is lowered to, and the message names a GPU of it",
           record([host, PTX, "plain"], ["-o", trace, "--arch", "sm_20"]), 0, err="ran code of sm_20.*--gpu gtx480")
    check("its launches say so", "sm_20" in run([PROGRAM, "trace", "info", trace])[1])
    os.unlink(trace)


def stub_failures(host):
    trace = ["-q", "-o", "f.wwt"]
    expect("machine code only", record([host, PTX, "cubin"], trace), 5, "launch: 209", "code=compute_70")
    expect("damaged PTX", record([host, PTX, "broken"], trace), 5, "launch: 218", "damaged compressed PTX")
    expect("a bad access is the program's error 700", record([host, PTX, "zstd", "fault"], trace), 5, "PASS",
           r"out-of-bounds store.* behind the start of the nearest allocation, 0x\w+ of 64 bytes")
    expect("the program's exit status is passed on", record([host, PTX, "zstd", "exit", "7"], trace[:1]), 7)
    expect("a crash is said, with the shells' status", record([host, PTX, "zstd", "abort"], trace), 134, None,
           "ended by signal 6 .*before its recording was finished; no trace was written")
    check("nothing is left behind by failures", not left("."), left("."))
    expect("an instruction limit", record([host, PTX, "zstd"], trace + ["--instruction-limit", "100"]), 1, None, "limit")
    expect("the limit is the program's error 702", record([host, PTX, "zstd", "endless"], trace + ["--instruction-limit", "100"]),
           5, "launch: 702", "the limit of 100 thread instructions")
    expect("a program that is not there", record(["./none"], trace), 7)
    expect("a program without CUDA", record(["true"], trace), 4, None, "no call of the CUDA runtime")
    expect("options that do not go with a program", record([host], ["--workload", "saxpy"]), 2)
    expect("options that need a program", run([PROGRAM, "trace", "record", "-w", "saxpy", "--first", "2"]), 2)
    expect("an unknown GPU is refused before the program starts", record([host, PTX, "zstd"], ["-q", "-g", "nothing"]),
           2, "^$", 'GPU "nothing" not found.*warpwatt gpu list')
    expect("an unknown architecture, too", record([host, PTX, "zstd"], ["-q", "--arch", "sm_999"]), 2, "^$",
           "expected sm_20 to sm_200")
    expect("a program without a name", record([""], ["-q"]), 2, "^$", "name behind -- is empty")
    expect("a bad variable in the environment", run([host, PTX, "zstd"],
           {"LD_LIBRARY_PATH": CUDART, "WARPWATT_CUDA_EVERY": "x"}), 1, None, "WARPWATT_CUDA_EVERY: expected a whole")
    for name in "EVERY", "FIRST", "LIMIT":
        for value in "0", "18446744073709551616":
            expect("WARPWATT_CUDA_%s=%s is out of range" % (name, value), run([host, PTX, "zstd"],
                   {"LD_LIBRARY_PATH": CUDART, "WARPWATT_CUDA_" + name: value}), 1, None,
                   "WARPWATT_CUDA_%s: expected a whole number" % name)


def stub_models(host):
    """A folder of models is searched before the installed ones, not instead of them."""
    os.mkdir("models")
    with open("models/mine.json", "w") as f:
        f.write('{"inherits": "v100", "sm.count": 3}')
    env = {"WARPWATT_MODELS": os.path.abspath("models")}
    trace = ["-q", "-o", "m.wwt"]
    expect("WARPWATT_MODELS does not hide the default GPU", record([host, PTX, "plain"], trace, env), 0, "80 SMs\nPASS")
    expect("nor another of the installed ones", record([host, PTX, "plain"], trace + ["--gpu", "gtx480"], env), 0,
           "15 SMs\nPASS")
    expect("its models inherit from them", record([host, PTX, "plain"], trace + ["--gpu", "mine"], env), 0, "3 SMs\nPASS")
    os.rename("models/mine.json", "models/v100.json")
    with open("models/v100.json", "w") as f:
        f.write('{"inherits": "gtx480", "sm.count": 4}')
    expect("it is searched first", record([host, PTX, "plain"], trace, env), 0, "4 SMs\nPASS")
    os.unlink("m.wwt")


def stub_locale(host):
    """A program that has set a locale in which numbers have a comma."""
    with open("comma.src", "w") as f:
        f.write('comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point ","\nthousands_sep "."\n'
                'grouping 3;3\nEND LC_NUMERIC\n')
    with open("ascii.map", "w") as f:  # a bare machine has no character maps
        f.write('<code_set_name> ASCII\n<comment_char> %\n<escape_char> /\n<mb_cur_min> 1\n<mb_cur_max> 1\nCHARMAP\n'
                '<U0000>..<U007F> /x00 ASCII\nEND CHARMAP\n')
    subprocess.run(["localedef", "-c", "-i", "comma.src", "-f", "./ascii.map", "./comma"],
                   env=dict(os.environ, I18NPATH="/nowhere"), capture_output=True, check=False)
    with open("comma.c", "w") as f:
        f.write('#include <locale.h>\n#include <stdlib.h>\n'
                '__attribute__((constructor)) static void set(void) { if (!setlocale(LC_ALL, "comma")) abort(); }\n'
                '__attribute__((destructor)) static void look(void)'
                ' { if (*localeconv()->decimal_point != \',\') abort(); }\n')
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "comma.so", "comma.c"], check=True)
    expect("a program with a decimal comma computes the same", run([host, PTX, "zstd"],
           {"LD_LIBRARY_PATH": CUDART, "LD_PRELOAD": os.path.abspath("comma.so"), "LOCPATH": os.path.abspath(".")}),
           0, "PASS")


def stub_descriptors(host):
    trace = ["-q", "-o", "d.wwt"]

    def own():  # own-1 is the program's stdout
        return [n for n in sorted(os.listdir(".")) if n.startswith("own-") and n != "own-1" and open(n).read() != "own"]

    for when in ("close", "early"):
        expect(when + ": descriptors 0 to 255 may be closed", record([host, PTX, "zstd", when, "256"], trace))
        check(when + ": all launches are in the trace", len(launches("d.wwt") or []) == 5, launches("d.wwt"))
        check(when + ": the program's files are its own", not own(), own())
        os.unlink("d.wwt")
    for when, text in (("close", "closed descriptors that are not its own"), ("early", "closed all descriptors")):
        result = record([host, PTX, "zstd", when, "65536"], trace)
        check(when + ": closing all of them ends the recording with a message", result[0] in (4, 5) and text in result[2],
              result)
        check(when + ": nothing is left, and the program's files are its own", not own() and not left("."),
              own() + left("."))
    expect("_exit() is named", record([host, PTX, "zstd", "quick"], trace), 5, None, r"ended without exit\(\)")
    check("its file is removed", not left("."), left("."))


def stub_names(host):
    odd = os.path.abspath("a\nb\x1b[31mc")
    os.symlink(host, odd)
    result = record([odd, PTX, "zstd"], ["-o", odd + ".wwt"])
    check("names cannot steer the terminal", result[0] == 0 and "\x1b" not in result[2] and
          "a?b?[31mc: 5 launches" in result[2] and "a?b?[31mc.wwt: 5 launches" in result[2], result)
    os.unlink(odd + ".wwt")


def stub_damage(host):
    trace = ["-q", "-o", "h.wwt"]
    for form, text in (("size", "expected a size within the data"), ("header", "expected a header size"),
                       ("linked", "expected a header of 16 bytes")):
        expect("a damaged fat binary: " + form, record([host, PTX, form], trace), 5, "launch: 200", text)
    check("nothing is left of them", not left("."), left("."))


def stub_launches(host):
    trace = ["-q", "-o", "l.wwt"]
    result = record([host, PTX, "zstd"], trace + ["--json"])
    stats = json.loads(result[1][result[1].index("{"):])
    check("launches that are refused do not count", stats["launches"] == 5, stats)
    old = open("l.wwt", "rb").read()
    for status, wanted in (("0", 5), ("1", 1)):
        expect("no kernel ran, the program ends with " + status, record([host, PTX, "zstd", "none", status], trace), wanted,
               None, "launched no kernel.*no trace was written; the file of that name is the old one")
    expect("no kernel matches", record([host, PTX, "zstd"], trace + ["-k", "nothing"]), 5, None,
           "no launch of 5 was recorded")
    check("an older trace stays", open("l.wwt", "rb").read() == old)
    os.unlink("l.wwt")
    expect("without one it is not mentioned", record([host, PTX, "zstd", "none", "1"], trace), 1, None,
           "no trace was written\n")
    check("no empty trace is left", not left("."), left("."))
    expect("limits that make no sense are refused", record([host, PTX, "zstd", "limits"], ["-q"]), 0, "PASS")
    expect("each kind of memory may be touched slightly outside", record([host, PTX, "zstd", "around"], ["-q"]), 0,
           "around 0: 0\naround 1: 0\naround 2: 0")
    expect("not so with --strict", record([host, PTX, "zstd", "around"], ["-q", "--strict"]), 5, "around 0: 700")


def stub_symbols():
    out = run(["readelf", "-W", "--dyn-syms", os.path.join(CUDART, "libcuda.so.1")])[1]
    defined = [w[7] for w in (l.split() for l in out.splitlines()) if len(w) > 7 and w[6] not in ("UND", "ABS", "Ndx")]
    odd = [n for n in defined if not re.match(r"cu[A-Z]|ww_rt", n)]
    check("libcuda.so.1 defines names of the driver and our own only", len(defined) > 600 and not odd, odd)
    for version in ("11.0", "12", "13"):
        out = run(["readelf", "-W", "--dyn-syms", os.path.join(CUDART, "libcudart.so." + version)])[1]
        defined = [w[7] for w in (l.split() for l in out.splitlines()) if len(w) > 7 and w[6] not in ("UND", "ABS", "Ndx")]
        mark = "@@libcudart.so." + version
        odd = [n for n in defined if not n.endswith(mark) or not re.match(r"(__)?cuda|cuTensorMap", n)]
        check("libcudart.so.%s defines versioned cuda* and cuTensorMap* names only" % version, len(defined) > 350 and not odd, odd)


# ---- with nvcc ----

WANTED = {"assert_kernel": (5, r"assertion '\(int\)threadIdx.x < limit' failed"),
          "printf_kernel": (0, None),
          "device_info": (5, "launched no kernel.*no trace was written")}


VARIES = ("shared_memory_with_host",)  # registers host memory, whose address changes from run to run


def programs():
    names = sorted(os.path.splitext(os.path.basename(p))[0] for p in glob.glob(os.path.join(HERE, "*.cu")))
    for name in names:
        if not any(name.startswith(other + "_") for other in names if other != name):
            yield name, [os.path.join(HERE, n + ".cu") for n in names if n == name or n.startswith(name + "_")]


def nvcc_program(nvcc, name, sources):
    flags = ["-arch=sm_90a"] if name in NEEDS_90 else ["-arch=sm_80"] if name in NEEDS_80 else []
    gpu = ["-g", "h100"] if name in NEEDS_90 else []
    built = run([nvcc, "-std=c++17", "-cudart", "shared", *flags, "-o", name, *sources], None, 600)
    if built[0] != 0:
        check(name, False, built)
        return
    code, err = WANTED.get(name, (0, None))
    result = record(["./" + name], ["-o", name + ".wwt", "-q", *gpu])
    expect(name, result, code, r"PASS\n$", err)
    if code == 0:
        check(name + ": its trace is sound", run([PROGRAM, "trace", "verify", name + ".wwt"])[0] == 0)
        shared = open(name + ".wwt", "rb").read()
        run([nvcc, "-std=c++17", *flags, "-o", name, *sources], None, 600)
        record(["./" + name], ["-o", name + ".wwt", "-q", *gpu])
        if name not in VARIES:
            check(name + ": the same trace with the runtime linked in", open(name + ".wwt", "rb").read() == shared)
    if name == "printf_kernel":
        order = re.sub(r"thread \d+", "thread", result[1]).split("\n")[:6]
        line = "thread of block %d: x  1.50 c 1099511627776 %%"
        check("output of kernels comes in its place",
              order == ["before", line % 0, line % 0, line % 1, line % 1, "after"], result[1])


def codes(path):
    code, out, _ = run([PROGRAM, "trace", "info", path, "--json"])
    return sorted({x["code"] for x in json.loads(out)["launches"]}) if code == 0 else None


# The GPU, what the compiled program holds, where the recorded code has to come from.
MACHINES = (("a100", ["-gencode", "arch=compute_80,code=sm_80"], "sm_80 of the program"),
            ("a100", ["-gencode", "arch=compute_75,code=compute_75"], r"ptxas [0-9.]+ -arch sm_80"),
            ("v100", ["-gencode", "arch=compute_80,code=compute_80"], r"ptxas [0-9.]+ -arch sm_7[05]"),
            ("h100", ["-gencode", "arch=compute_90a,code=sm_90a"], "sm_90 of the program"))
NEEDS_80 = ("features",)
NEEDS_90 = ("tensor_map", "gemm")
OF_GPU = ("device_info",)  # names the GPU it expects


def machine_programs(nvcc):
    if run([PROGRAM, "trace", "record", "-w", "vectoradd", "-p", "size=small", "--arch", "sm_80"], {"WARPWATT_CODE": "sass"})[0]:
        print("skipped - programs as machine code: no ptxas is found that knows sm_80")
        return
    for gpu, flags, origin in MACHINES:
        for name, sources in programs():
            if name in OF_GPU or (name in NEEDS_90) != (gpu == "h100") or (name in NEEDS_80 and gpu == "v100") or (name in NEEDS_80 and "75" in flags[1]):
                continue
            label = "%s as machine code, %s of %s" % (name, gpu, flags[1])
            built = run([nvcc, "-std=c++17", "-cudart", "shared", *flags, "-o", "machine", *sources], None, 600)
            if built[0] != 0:
                check(label, False, built)
                continue
            code, err = WANTED.get(name, (0, None))
            result = record(["./machine"], ["-o", "machine.wwt", "-q", "--code", "sass", "--gpu", gpu])
            expect(label, result, code, r"PASS\n$", err)
            if code == 0 and result[0] == 0:
                got = codes("machine.wwt")
                check(label + ": where its code comes from", len(got) == 1 and re.match(origin, got[0]), got)
                check(label + ": its trace is sound", run([PROGRAM, "trace", "verify", "machine.wwt"])[0] == 0)
                os.unlink("machine.wwt")


def machine_choices(nvcc):
    """What programs without PTX, with code of another GPU, or of separate compilation come to."""
    source = os.path.join(HERE, "vector_add.cu")
    run([nvcc, "-cudart", "shared", "-gencode", "arch=compute_80,code=sm_80", "-o", "only", source], None, 600)
    expect("machine code only is recorded on a later one of its kind", record(["./only"], ["-o", "o.wwt", "-q", "--arch", "sm_86",
           "--code", "auto"]), 0, "PASS")
    check("its code is named", codes("o.wwt") == ["sm_80 of the program"], codes("o.wwt"))
    os.unlink("o.wwt")
    expect("machine code of another GPU is refused", record(["./only"], ["-q", "--code", "auto"]), 1, None,
           r"machine code for sm_80 and no PTX; it does not run on the chosen GPU \(sm_70\)")
    run([nvcc, "-arch=sm_80", "-o", "deadlock", os.path.join(HERE, "toolkit", "deadlock.cu")], None, 600)
    for code in "sass", "ptx":
        expect("polls of a flag that nobody sets end with its address, --code " + code,
               record(["./deadlock"], ["-o", "dead.wwt", "-q", "--gpu", "a100", "--code", code]), 5, "PASS",
               "wait_for_ever.*all 4 resident CTAs wait in loops.*the loop that ends here polls address 0x2000")
    two = [os.path.join(HERE, n) for n in ("two_modules.cu", "two_modules_other.cu")]
    run([nvcc, "-std=c++17", "-rdc=true", "-cudart", "shared", "-arch=sm_80", "-o", "linked", *two], None, 600)
    expect("linked device code is recorded as machine code", record(["./linked"], ["-q", "--code", "sass", "--gpu", "a100"]), 0,
           "PASS")
    for gpu, code in (("a100", "ptx"), ("h100", "auto")):
        expect("modules of relocatable PTX are linked, %s, --code %s" % (gpu, code),
               record(["./linked"], ["-q", "--code", code, "--gpu", gpu]), 0, "PASS")
    run([nvcc, "-std=c++17", "-rdc=true", "-gencode", "arch=compute_75,code=compute_75", "-o", "linked", *two], None, 600)
    expect("relocatable PTX alone, runtime static", record(["./linked"], ["-q", "--code", "ptx", "--gpu", "a100"]), 0, "PASS")


def nvcc_linking(nvcc):
    source = os.path.join(HERE, "vector_add.cu")
    run([nvcc, "-o", "static", source], None, 600)
    expect("a program built with nvcc's defaults is recorded", record(["./static"], ["-q"]), 0, "PASS")
    record(["./static"], ["-q", "-o", "static.wwt"])
    run(["strip", "static"])
    expect("without a symbol table it is refused, if its archive is not found",
           record(["./static"], (), {"WARPWATT_CUDART_STATIC": "none"}), 4, None,
           "has no symbol table.*NVCC_APPEND_FLAGS='-cudart shared'")
    expect("stripped, it is recorded", record(["./static"], ["-q", "-o", "stripped.wwt"]), 0, "PASS")
    check("the trace is the same as with symbols", open("static.wwt", "rb").read() == open("stripped.wwt", "rb").read())
    for name in "static.wwt", "stripped.wwt":
        os.unlink(name)
    plugin = os.path.join(HERE, "toolkit", "plugin.cu")
    run([nvcc, "-Xcompiler", "-fPIC", "-shared", "-o", "plugin.so", plugin], None, 600)
    run([nvcc, "-DHOST", "-o", "host", plugin, "-ldl"], None, 600)
    expect("a plugin with kernels and a runtime of its own", record(["./host"], ["-q", "-o", "plugin.wwt"]), 0, "PASS")
    check("its launches are recorded beside the program's", launches("plugin.wwt") == ["_Z7in_hostPi", "_Z9in_pluginPi"], launches("plugin.wwt"))
    os.unlink("plugin.wwt")
    run([nvcc, "-o", "appended", source], {"NVCC_APPEND_FLAGS": "-cudart shared"}, 600)
    expect("NVCC_APPEND_FLAGS helps", record(["./appended"], ["-q"]), 0, "PASS")
    toolkit = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), "lib64")
    run([nvcc, "-cudart", "shared", "-o", "rpath", source, "-Xlinker", "--disable-new-dtags", "-Xlinker",
         "-rpath=" + toolkit], None, 600)
    expect("an RPATH to the toolkit does not hide the runtime", record(["./rpath"], ["-q"]), 0, "PASS")
    run([nvcc, "-cudart", "shared", "-gencode", "arch=compute_80,code=sm_80", "-o", "sass", source], None, 600)
    expect("machine code only names the option", record(["./sass"], ["-q"]), 1, None, "leave out --code ptx.*arch=compute_80,code=compute_80")
    for mode in ("none", "speed", "balance", "size"):
        run([nvcc, "-cudart", "shared", "-Xfatbin", "-compress-mode=" + mode, "-o", mode, source], None, 600)
        expect("nvcc -compress-mode=" + mode, record(["./" + mode], ["-q"]), 0, "PASS")


def cublas(nvcc, root):
    """A closed library with a stripped runtime of its own."""
    if not glob.glob(os.path.join(root, "lib64", "libcublas.so*")):
        print("skipped - cuBLAS: it is not installed")
        return
    for way in ("static", "shared"):
        built = run([nvcc, "-cudart", way, "-o", "blas", os.path.join(HERE, "toolkit", "cublas.cu"), "-lcublas"], None, 600)
        check("a program of cuBLAS compiles, runtime " + way, built[0] == 0, built)
        expect("cuBLAS multiplies matrices, runtime " + way,
               record(["./blas"], ["-q", "-g", "a100", "-o", "blas.wwt", "--code", "auto"]), 0, "PASS")
        check("its kernels are recorded, runtime " + way, len(launches("blas.wwt") or []) >= 2)
        os.unlink("blas.wwt")


def refusals(nvcc):
    """What a kernel asks for and does not get is named, with the error that the program gets."""
    source = os.path.join(HERE, "toolkit", "refused.cu")
    for name, flags, gpu, text in (("nested", ["-DNESTED", "-arch=sm_80"], "a100", r"a launch from a kernel \(dynamic parallelism\)"),
                                   ("conditional", ["-arch=sm_90"], "h100", "a conditional node of a graph")):
        for way in "static", "shared":
            built = run([nvcc, "-rdc=true", "-cudart", way, *flags, "-o", name, source, "-lcudadevrt"], None, 600)
            if built[0] != 0 and name == "conditional":
                print("skipped - conditional nodes: this toolkit has none")
                break
            check("a program with %s, runtime %s, compiles" % (name, way), built[0] == 0, built)
            for code in "sass", "ptx":
                expect("refused: %s, runtime %s, --code %s" % (name, way, code),
                       record(["./" + name], ["-q", "-g", gpu, "--code", code, "-o", "refused.wwt"]), 5, "PASS",
                       text + ", which is not supported")
    check("nothing is left of what was refused", not os.path.exists("refused.wwt"))


def cubin_programs(nvcc):
    """Cubins and fat binaries that a program loads by itself."""
    ptxas = os.path.join(os.path.dirname(os.path.realpath(nvcc)), "ptxas")
    if not os.path.exists(ptxas):
        print("skipped - cubins: ptxas is not beside nvcc")
        return
    put_texts()
    for name in "put-a", "put-b":
        for made in ([ptxas, "-arch=sm_80", "-o", name + ".cubin", name + ".ptx"],
                     [nvcc, "-fatbin", "-gencode", "arch=compute_80,code=sm_80", "-o", name + ".fatbin", name + ".ptx"]):
            result = run(made, None, 600)
            check("made: " + made[made.index("-o") + 1], result[0] == 0, result)
    machine = ["--code", "sass", "-g", "a100"]
    for form, images in (("cubins", ["put-a.cubin", "put-b.cubin"]), ("fat binaries", ["put-a.fatbin", "put-b.fatbin"]),
                         ("a cubin and a fat binary", ["put-a.cubin", "put-b.fatbin"])):
        check_modules(form, images, machine, "sm_80 of the program")
    triton(ptxas)


def triton(ptxas):
    """A cubin as Triton makes it, launched as Triton's launcher does."""
    text = os.path.join(HERE, "toolkit", "triton.ptx")
    run(["cc", "-O1", "-o", "triton", os.path.join(HERE, "toolkit", "triton.c"), "-ldl"])
    for gpu, arch, shared, options in (("a100", "sm_80", 16, []), ("a100", "sm_80", 70000, []), ("h100", "sm_90", 16, []),
                                       ("h100", "sm_90", 70000, ["cluster"])):
        label = "%s, %d bytes of dynamic shared memory%s" % (gpu, shared, ", in clusters" if options else "")
        built = run([ptxas, "-lineinfo", "--gpu-name=" + arch, "-o", "triton.cubin", text], None, 600)
        check("made: triton.cubin of " + arch, built[0] == 0, built)
        expect("a cubin that Triton's launcher launches: " + label, record([os.path.abspath("triton"), "triton.cubin", str(shared),
               *options], ["-q", "-g", gpu, "--code", "sass", "-o", "triton.wwt"]), 0, "PASS")
        info = json.loads(run([PROGRAM, "trace", "info", "triton.wwt", "--json"])[1])["launches"]
        got = [(x["kernel"], x["shared_static"], x["shared_dynamic"], x["code"], x.get("cluster")) for x in info]
        wanted = ("center", 0, shared, arch + " of the program", [2, 1, 1] if options else None)
        check("what the trace says of it: " + label, got == [wanted] * 2, got)
        check("its trace is sound: " + label, run([PROGRAM, "trace", "verify", "triton.wwt"])[0] == 0)
        os.unlink("triton.wwt")
    expect("a cubin of another GPU is refused", record([os.path.abspath("triton"), "triton.cubin", "16"],
           ["-q", "-g", "a100", "--code", "sass", "-o", "triton.wwt"]), 1, None, "machine code for sm_90: it does not run on the chosen GPU")


def toolkit_programs(nvcc):
    """Programs that need more of the toolkit than nvcc."""
    root = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    for way in ("static", "shared"):
        built = run([nvcc, "-arch=sm_80", "-cudart", way, "-o", "both", os.path.join(HERE, "toolkit", "both.cu"), "-lcuda",
                     "-L" + os.path.join(root, "lib64", "stubs")], None, 600)
        check("a program of both interfaces compiles, runtime " + way, built[0] == 0, built)
        expect("a program of both interfaces, runtime " + way, record(["./both"], ["-q", "-o", "both.wwt"]), 0, "PASS")
        check("its launches through both are recorded, runtime " + way, len(launches("both.wwt") or []) == 2)
    cublas(nvcc, root)
    if not os.path.exists(os.path.join(root, "include", "nvrtc.h")):
        print("skipped - NVRTC: it is not installed")
        return
    lib = os.path.join(root, "lib64")
    built = run(["cc", "-I", os.path.join(root, "include"), "-o", "nvrtc", os.path.join(HERE, "toolkit", "nvrtc.c"),
                 os.path.join(CUDART, "libcuda.so.1"), "-L" + lib, "-lnvrtc", "-Wl,-rpath," + lib], None, 600)
    check("a program of NVRTC compiles", built[0] == 0, built)
    expect("a kernel that NVRTC compiles to PTX", record(["./nvrtc", "compute_80"], ["-q", "-g", "a100", "-o", "nvrtc.wwt"]), 0, "PASS")
    check("its trace is sound, and has the launch", run([PROGRAM, "trace", "verify", "nvrtc.wwt"])[0] == 0 and
          launches("nvrtc.wwt") == ["twice"], launches("nvrtc.wwt"))
    os.unlink("nvrtc.wwt")
    for code, wanted in (("sass", 0), ("ptx", 1)):
        expect("a kernel that NVRTC compiles to machine code, --code " + code,
               record(["./nvrtc", "sm_80"], ["-q", "-g", "a100", "--code", code]), wanted,
               "PASS" if wanted == 0 else None, "PTX is what is to be recorded" if wanted else None)


def replayed(trace, *options):
    r = json.loads(run([PROGRAM, "run", "--gpu", "a100", "--trace", trace, "--power", "none", "--json", "-q", *options])[1])
    return r["cycles"], r["time_s"]


def side_by_side(nvcc):
    """A graph takes as long as its streams, and launches beside one another less than one after the other."""
    run([nvcc, "-std=c++17", "-arch=sm_80", "-o", "side", os.path.join(HERE, "toolkit", "side.cu")], None, 600)
    expect("two streams that join are recorded", record(["./side"], ["-q", "-o", "streams.wwt"]), 0, "PASS")
    expect("the same as a graph", record(["./side", "graph"], ["-q", "-o", "graph.wwt"]), 0, "PASS")
    for path in "streams.wwt", "graph.wwt":
        info = json.loads(run([PROGRAM, "trace", "info", path, "--json"])[1])["launches"]
        got = [x.get("waits_for", []) for x in info]
        check("the third launch waits for both, " + path, got == [[], [], [1]], got)
    streams, graph, row = replayed("streams.wwt"), replayed("graph.wwt"), replayed("streams.wwt", "--serialize")
    check("a graph takes as long as its streams", streams == graph, (streams, graph))
    check("launches run beside one another", streams[1] < 0.85 * row[1], (streams, row))
    os.unlink("streams.wwt")
    os.unlink("graph.wwt")


def copies(nvcc):
    """Copies of two streams that take turns run beside kernels; those of one stream do not."""
    run([nvcc, "-std=c++17", "-arch=sm_80", "-o", "buffers", os.path.join(HERE, "toolkit", "buffers.cu")], None, 600)
    times = []
    for streams in "1", "2":
        expect("buffers of %s streams are recorded" % streams,
               record(["./buffers", streams], ["-q", "-g", "a100", "-o", "buffers.wwt"]), 0, "PASS")
        for option in [], ["--serialize"]:
            r = json.loads(run([PROGRAM, "run", "--gpu", "a100", "--trace", "buffers.wwt", "--json", "-q", *option])[1])
            times.append(r["with_copies_s"])
    info = json.loads(run([PROGRAM, "trace", "info", "buffers.wwt", "--json"])[1])
    got = [(c["way"], c["pageable"], c["stream"], c["launches_before"]) for c in info["program_copies"][:4]]
    check("each copy is kept with its stream and place",
          got == [("to device", False, 1, 0), ("from device", False, 1, 1), ("to device", False, 2, 1),
                  ("from device", False, 2, 2)] and len(info["program_copies"]) == 16, got)
    check("the host's memory is not among what copies wrote", all(c["kind"] == "host" for x in info["launches"]
                                                                for c in x.get("copies", [])), info["launches"])
    check("one stream takes the sum", abs(times[0] - times[1]) < 1e-10, times)
    check("two streams overlap", times[2] < 0.7 * times[3], times)
    os.unlink("buffers.wwt")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        stub_symbols()
        stub_versions()
        stub_static()
        stub_archive()
        stub_plugin()
        stub_driver()
        stub_modules()
        host = os.path.abspath("host-13")
        stub_options(host)
        stub_failures(host)
        stub_models(host)
        stub_locale(host)
        stub_descriptors(host)
        stub_names(host)
        stub_damage(host)
        stub_launches(host)
        check("the committed PTX is its source's", run([os.path.join(HERE, "stub", "build.sh"), "--check"])[0] == 0)
        nvcc = shutil.which(os.environ.get("NVCC", "nvcc"))
        if nvcc:
            for name, sources in programs():
                nvcc_program(nvcc, name, sources)
            nvcc_linking(nvcc)
            refusals(nvcc)
            cubin_programs(nvcc)
            toolkit_programs(nvcc)
            side_by_side(nvcc)
            copies(nvcc)
            machine_programs(nvcc)
            machine_choices(nvcc)
        else:
            print("skipped - programs of nvcc: it is not installed")
        os.chdir(ROOT)
    print("%d passed, %d failed" % (counts[True], counts[False]))
    return 1 if counts[False] else 0


sys.exit(main())
