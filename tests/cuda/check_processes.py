#!/usr/bin/env python3
"""Tests of recording programs that are killed, fork, have threads, or are several processes.

usage: check_processes.py [WARPWATT]

No toolkit is needed: stub/processes.c is a program of the driver's interface. The last line is "N passed, N failed".
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/warpwatt"))
CUDART = os.path.join(os.path.dirname(PROGRAM), "cudart")
PTX = os.path.join(HERE, "stub", "kernels.ptx")
ENV = dict(os.environ, WARPWATT_CODE="ptx")
LAUNCHES = 5
counts = {True: 0, False: 0}


def check(name, good, detail=""):
    counts[bool(good)] += 1
    print(("ok      " if good else "FAILED  ") + name + ("" if good else ":\n" + str(detail)[:2000]))


def run(words, env=None):
    r = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, env=dict(ENV, **(env or {})))
    return r.returncode, r.stdout, r.stderr


def program(*words):
    return [os.path.abspath("processes"), PTX, str(LAUNCHES), *[str(w) for w in words]]


def record(words, out, options=(), env=None):
    return run([PROGRAM, "trace", "record", "-o", out, *options, "--", *words], env)


def left():
    return sorted(n for n in os.listdir(".") if ".wwt" in n)


def clean():
    for name in left():
        os.unlink(name)


def launches(path):
    code, out, _ = run([PROGRAM, "trace", "info", path, "--json"])
    return json.loads(out)["launches"] if code == 0 else None


def sound(path):
    return run([PROGRAM, "trace", "verify", path])[0] == 0


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def script(name, *lines):
    with open(name, "w") as f:
        f.write("#!/bin/sh\n" + "".join(line + "\n" for line in lines))
    os.chmod(name, 0o755)
    return [os.path.abspath(name)]


def shell(*words):
    return " ".join(program(*words))


# ---- killed ----

def by_itself():
    record(program("plain"), "k.wwt")
    with open("k.wwt", "rb") as f:
        old = f.read()
    check("a program that ends well leaves a whole trace", sound("k.wwt") and len(launches("k.wwt")) == LAUNCHES)
    for number in signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV:
        code, _, err = record(program("raise", int(number)), "k.wwt")
        check("ended by %s: the shells' status, and a message" % number.name, code == 128 + number and
              re.search("ended by signal %d .*before its recording was finished; no trace was written; the file of that name is "
                        "the old one" % number, err), (code, err))
        with open("k.wwt", "rb") as f:
            check("ended by %s: the old trace stays, nothing else is left" % number.name, left() == ["k.wwt"] and f.read() == old)
    clean()
    code, _, err = record(program("handler", int(signal.SIGTERM)), "k.wwt")
    check("a handler that calls exit() while a kernel runs", code == 3 and not left() and
          "while kernel 'saxpy' was running, so that its recording is not whole" in err, (code, err, left()))


def start_and_wait():
    """The command, the program's id, and the file that it writes into, in the middle of its launches."""
    if os.path.exists("ready"):
        os.unlink("ready")
    p = subprocess.Popen([PROGRAM, "trace", "record", "-o", "k.wwt", "--", *program("wait", "ready")], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENV)
    until(lambda: os.path.exists("ready") and left() and os.path.getsize(left()[0]) > 0)
    names = left()
    return p, int(names[0].rsplit("-", 1)[1]) if len(names) == 1 else 0, names


def from_outside():
    p, child, names = start_and_wait()
    check("what is written has another name until it is whole", names == ["k.wwt.tmp-ww-%d" % child] and child != p.pid, names)
    half = "half.copy"
    shutil.copyfile(names[0], half)
    for words in (["trace", "verify", half], ["trace", "info", half], ["run", "--gpu", "v100", "--trace", half]):
        code, _, err = run([PROGRAM, *words])
        check("half a file is refused: " + words[0] + " " + words[1], code == 3 and half in err, (code, err))
    os.kill(child, signal.SIGKILL)
    err = p.communicate(timeout=60)[1]
    check("the program is killed: nothing is left", p.returncode == 137 and not left() and "ended by signal 9" in err,
          (p.returncode, err, left()))
    p, child, names = start_and_wait()
    p.terminate()
    err = p.communicate(timeout=60)[1]
    check("SIGTERM to the command ends the program: nothing is left", p.returncode == 143 and not left() and not alive(child),
          (p.returncode, err, left()))
    p, child, names = start_and_wait()
    p.kill()
    p.communicate(timeout=60)
    check("the command is killed: the program ends, too", until(lambda: not alive(child)))
    check("no trace is there", left() == names, left())
    record(program("plain"), "k.wwt")
    check("the next recording takes away what was left", left() == ["k.wwt"] and sound("k.wwt"), left())
    clean()


# ---- threads ----

def threads():
    """Launches of several threads: the order is that of the calls, in each stream that of its thread."""
    count = 8
    for round_ in range(3):
        code, out, err = record(program("threads", count), "t.wwt")
        check("threads compute what they should, round %d" % round_, code == 0 and "PASS" in out, (code, out, err))
        check("the trace of threads is sound, round %d" % round_, sound("t.wwt"))
        all_ = launches("t.wwt") or []
        of = {}
        for n, x in enumerate(all_):
            of.setdefault(x["stream"], []).append((n, x))
        check("each thread's launches are in its stream, round %d" % round_,
              sorted(of) == list(range(1, count + 1)) and all(len(v) == LAUNCHES for v in of.values()), sorted(of))
        check("a launch waits for earlier ones of other streams only, round %d" % round_,
              all(n < k and all_[n]["stream"] != x["stream"] for k, x in enumerate(all_) for n in x["waits_for"]), all_)
        same = {json.dumps({k: x[k] for k in ("kernel", "grid", "block", "warp_instructions") if k in x}) for x in all_}
        check("launches of one kernel are alike, round %d" % round_, len(same) == 1, same)
    clean()


# ---- processes ----

def children():
    code, out, err = record(program("fork"), "f.wwt")
    check("a child made by fork() computes, and is not recorded", code == 0 and "PASS" in out and left() == ["f.wwt"] and
          len(launches("f.wwt")) == 2 * LAUNCHES and "processes used CUDA" not in err, (code, out, err, left()))
    clean()
    code, out, err = record(program("early"), "f.wwt")
    check("a child made before the first call is a process of its own", code == 0 and len(launches("f.wwt")) == LAUNCHES and
          "2 processes used CUDA; the trace is of the one that ended last" in err, (code, err))
    clean()
    code, out, err = record(program("early"), "f.%p.wwt")
    check("with %p each has a trace", code == 0 and len(left()) == 2 and all(len(launches(n)) == LAUNCHES for n in left()),
          (code, err, left()))
    clean()
    code, out, err = record(program("spawn"), "f.wwt")
    check("another program in between does no harm", code == 0 and len(launches("f.wwt") or []) == 2 * LAUNCHES, (code, err))
    clean()


def several():
    count = 6
    words = script("several.sh", *[shell("threads", 2) + " &"] * count, "wait")
    code, out, err = record(words, "s.%p.wwt")
    check("processes side by side, a trace of each", code == 0 and out.count("PASS") == count and len(left()) == count and
          all(sound(n) and len(launches(n)) == 2 * LAUNCHES for n in left()), (code, err, left()))
    check("launches are counted together", "%d launches" % (count * 2 * LAUNCHES) in err, err)
    clean()
    plain = shell("plain")
    for name, first, second in (("first", shell("raise", 9), plain), ("last", plain, shell("raise", 9))):
        words = script("lost.sh", first, second, "exit 0")
        for out_name in "l.%p.wwt", "l.wwt":
            code, out, err = record(words, out_name, ["--json"])
            stats = json.loads(out[out.index("{"):])
            check("the %s of two processes is killed, %s: it is said" % (name, out_name), code == 0 and stats["processes_lost"] == 1 and
                  "1 of 2 processes that used CUDA ended by a signal, _exit() or quick_exit(); nothing of it was recorded" in err,
                  (code, out, err))
            check("the trace of the other is whole", len(left()) == 1 and len(launches(left()[0])) == LAUNCHES, left())
            clean()
    words = script("failing.sh", plain, shell("handler", int(signal.SIGTERM)), "exit 0")
    code, _, err = record(words, "l.%p.wwt")
    check("the recording of one of two fails", code == 5 and "a process was not recorded: see the message above; 1 other finished, "
          "and left its trace" in err and len(left()) == 1 and sound(left()[0]), (code, err, left()))
    clean()


def outlive():
    os.mkfifo("gate")
    words = script("early.sh", "(read x < gate; exec %s) > /dev/null 2>&1 &" % shell("plain"))
    code, _, err = record(words, "o.wwt")
    check("a process that has not begun when its parent ends", code == 4 and "--follow-children waits for them" in err, (code, err))
    with open("gate", "w") as f:
        f.write("go\n")
    check("it writes its trace all the same", until(lambda: left() == ["o.wwt"]) and sound("o.wwt"), left())
    clean()
    words = script("running.sh", "%s > /dev/null 2>&1 &" % shell("wait", "ready"), "while ! [ -e ready ]; do sleep 0.01; done")
    if os.path.exists("ready"):
        os.unlink("ready")
    code, _, err = record(words, "o.wwt")
    check("a process that runs when its parent ends", code == 5 and re.search(
          "ended before 1 process of its own that uses CUDA; .*--follow-children waits", err), (code, err))
    for name in left():
        os.kill(int(name.rsplit("-", 1)[1]), signal.SIGKILL)
    clean()
    words = script("follow.sh", "(sleep 0.3; exec %s) &" % shell("plain"), shell("plain"))
    code, _, err = record(words, "o.wwt", ["--follow-children"])
    check("--follow-children waits for both", code == 0 and len(left()) == 2 and all(n in err for n in left()), (code, err, left()))
    clean()


# ---- the program's own LD_PRELOAD ----

OWN = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static long blocks;
void *malloc(size_t n) {
    static void *(*real)(size_t);
    if (!real) real = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    blocks++;
    return real(n);
}
__attribute__((destructor)) static void report(void) {
    extern char *program_invocation_short_name;
    dprintf(2, "own library in %s: %s\n", program_invocation_short_name, blocks > 10 ? "used" : "not used");
}
"""


def preload():
    with open("own.c", "w") as f:
        f.write(OWN)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", "own.so", "own.c", "-ldl"], check=True)
    record(program("plain"), "p.wwt")
    with open("p.wwt", "rb") as f:
        without = f.read()
    code, out, err = record(program("plain"), "p.wwt", env={"LD_PRELOAD": os.path.abspath("own.so")})
    check("a library that the user preloads is used", code == 0 and "PASS" in out and "own library in processes: used" in err, (code, out, err))
    with open("p.wwt", "rb") as f:
        check("the trace is the same", f.read() == without)
    clean()


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run(["cc", "-std=gnu11", "-O1", "-pthread", "-o", "processes", os.path.join(HERE, "stub", "processes.c"),
                        os.path.join(CUDART, "libcuda.so.1")], check=True)
        by_itself()
        from_outside()
        threads()
        children()
        several()
        outlive()
        preload()
        os.chdir(ROOT)
    print("%d passed, %d failed" % (counts[True], counts[False]))
    return 1 if counts[False] else 0


sys.exit(main())
