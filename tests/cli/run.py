#!/usr/bin/env python3
"""Command-line goldens: runs tests/cli/NAME.sh and compares its stdout with NAME.out (scripts/glob_match.py).

Each script runs in an empty directory of its own under `bash -u`, with warpwatt on the PATH, lib.sh sourced,
and $DATA naming tests/cli/data. It has to end with status 0; commands that must fail go through `fails`. A test
that cannot run here ends with status 77 through `skip`: it counts as skipped, not as passed.

usage: run.py --program PATH [--update] [--jobs N] [--without "NAME ..."] [NAME...]
"""
import argparse
import concurrent.futures
import glob
import os
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.normpath(os.path.join(HERE, "..", ".."))  # stands as a gap in what is written
sys.path.insert(0, os.path.join(HERE, "..", "..", "scripts"))
from glob_match import explain, matches  # noqa: E402


def run_script(name, program):
    env = dict(os.environ, PATH=os.path.dirname(program) + ":" + os.environ["PATH"], LC_ALL="C.UTF-8",
               DATA=os.path.join(HERE, "data"), SOURCE=SOURCE)
    env.pop("WARPWATT_MODELS", None)
    env.pop("WARPWATT_DATA", None)
    env["WARPWATT_CODE"] = "ptx"  # the same on machines with and without a CUDA toolkit
    script = '. "%s/lib.sh"; . "%s/%s.sh"' % (HERE, HERE, name)
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(["bash", "-u", "-c", script], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, check=False)


def one(name, args):
    p = run_script(name, args.program)
    if p.returncode == SKIPPED:
        return None, p.stderr.decode("utf-8", "replace").strip()
    actual = p.stdout.decode("utf-8", "replace").splitlines()
    golden = os.path.join(HERE, name + ".out")
    if args.update and p.returncode == 0:
        # Keep a hand-written golden with gaps as long as it still holds.
        old = open(golden, encoding="utf-8").read().splitlines() if os.path.exists(golden) else None
        if old is None or matches(old, actual) is not None:
            with open(golden, "w", encoding="utf-8") as f:
                f.write("".join(x.replace(SOURCE, "...") + "\n" for x in actual))
    expected = open(golden, encoding="utf-8").read().splitlines() if os.path.exists(golden) else []
    place = matches(expected, actual)
    if place is None and p.returncode == 0:
        return True, ""
    text = "%s: exit %d\n" % (name, p.returncode)
    if place is not None:
        text += explain(expected, actual, place) + "\n"
    return False, text + "".join("    stderr: %s\n" % x for x in p.stderr.decode("utf-8", "replace").splitlines()[:20])


def timed(name, args):
    begin = time.monotonic()
    return (*one(name, args), time.monotonic() - begin)


def main():
    parser = argparse.ArgumentParser(description="command-line goldens")
    parser.add_argument("--program", default="build/warpwatt", type=os.path.abspath)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--without", default="")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    every = sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(HERE, "*.sh")))
    left_out = ["lib", *args.without.split()]
    unknown = [n for n in args.names + left_out if n not in every]
    if unknown:
        parser.error("no test is called " + ", ".join(unknown))
    names = args.names or [n for n in every if n not in left_out]
    words = {True: "ok", False: "not ok", None: "skipped"}
    count = dict.fromkeys(words, 0)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, (good, text, seconds) in zip(names, pool.map(lambda n: timed(n, args), names)):
            count[good] += 1
            print("%s - %s (%.1f s)%s" % (words[good], name, seconds, ": " + text if good is None else ""), flush=True)
            if good is False:
                print(text, end="")
    print("%d passed, %d failed" % (count[True], count[False]))
    return 1 if count[False] or not count[True] else 0


if __name__ == "__main__":
    sys.exit(main())
