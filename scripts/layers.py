#!/usr/bin/env python3
"""Checks that includes and calls follow the layers, and the rules of names that go with them.

    base < result < config < {power, mech, traces < wwt < ..., core: time < memory < sm < launch} < fast < run
         < {db, reports} < study < program

Calls are read from object files (nm), so that a declaration written by hand hides nothing. Calls through function
pointers are not seen; --unseen lists where headers hold such pointers. A folder belongs to the layer of the longest
prefix in LAYERS: a new folder inside a layer needs no line here.

usage: layers.py [--root DIR] [--objects DIR] [--unseen] | --self-test
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

# layer, path prefixes, what it may use besides itself; what those may use it may use, too
LAYERS = [
    ("base", ["estimator/base/"], []),
    ("result", ["estimator/result/"], ["base"]),
    ("api", ["estimator/api/", "estimator/warpwatt.h"], ["result"]),  # headers only: declarations of all layers
    ("config", ["estimator/config/"], ["result", "api"]),
    ("power", ["power/"], ["config"]),
    ("mech", ["estimator/mech/"], ["config"]),
    # traces: what a trace is, its container, what reads and makes it
    ("traces", ["traces/"], ["config"]),
    ("wwt", ["traces/wwt/"], ["traces"]),
    ("accelsim", ["traces/accelsim/"], ["wwt"]),
    ("transform", ["traces/transform/"], ["wwt"]),
    ("micro", ["traces/micro/"], ["wwt"]),
    ("profile", ["traces/profile/"], ["wwt"]),
    ("tool", ["traces/tool/"], ["profile"]),
    ("ptx front", ["traces/ptx/", "traces/ptx/front/"], ["traces"]),
    ("ptx execution", ["traces/ptx/exec/"], ["ptx front", "wwt"]),
    ("ptx lowering", ["traces/ptx/lower/"], ["ptx front"]),
    # machine code: what a cubin holds and what makes one, instructions, their execution on the same devices
    ("cubins", ["traces/sass/", "traces/sass/cubin/"], ["traces"]),
    ("machine code", ["traces/sass/code/"], ["traces"]),
    ("machine code execution", ["traces/sass/exec/"], ["cubins", "machine code", "ptx execution"]),
    ("machine code recording", ["traces/sass/record/"], ["machine code execution"]),
    ("ptx recording", ["traces/ptx/record/"], ["ptx execution", "ptx lowering", "machine code recording"]),
    ("disassembly", ["traces/disasm/"], ["cubins", "machine code"]),
    ("workloads", ["traces/workloads/"], ["ptx recording"]),
    ("cuda", ["traces/cuda/"], ["ptx recording"]),
    ("recording", ["traces/record/"], ["workloads"]),
    # the engine, from what is shared to what drives it; it reads traces and asks mechanisms
    ("core time", ["estimator/core/", "estimator/core/time/"], ["config"]),
    ("core memory", ["estimator/core/memory/"], ["core time"]),
    ("core sm", ["estimator/core/sm/"], ["core memory", "mech", "traces"]),
    ("core launch", ["estimator/core/launch/"], ["core sm", "wwt"]),
    ("fast", ["estimator/fast/"], ["core launch"]),
    ("run", ["estimator/run/"], ["fast", "power", "micro"]),
    ("db", ["db/"], ["config"]),
    ("reports", ["reports/"], ["config"]),
    # what uses runs to answer questions
    ("study", ["estimator/study/"], ["run", "db", "reports", "recording", "transform", "tool"]),
    ("dissect", ["estimator/study/dissect/"], ["study"]),
    ("hardware", ["estimator/study/hardware/"], ["dissect"]),
    ("validation rows", ["estimator/study/validate/rows/"], ["study"]),
    ("validation", ["estimator/study/validate/"], ["validation rows", "dissect"]),
    ("calibrate", ["estimator/study/calibrate/"], ["hardware", "validation"]),
    ("sweep", ["estimator/study/sweep/"], ["study"]),
    ("program", ["estimator/cmd/", "estimator/main.c"], ["api"]),
]
# library header -> where it may be included
LIBRARIES = {
    "sqlite3.h": ["db/"],
    "cjson/": ["estimator/config/", "estimator/study/hardware/", "estimator/study/sweep/", "reports/",
               "traces/ptx/record/launch_json"],
    "zstd.h": ["traces/"],
    "lz4": ["traces/"],
    "lzma.h": ["traces/"],
    "zlib.h": ["traces/"],
    "gsl/": ["estimator/base/lsq", "estimator/result/", "power/", "estimator/study/", "estimator/fast/"],
}
# A base name stands once within a wing.
WINGS = ["estimator/base/", "estimator/result/", "estimator/api/", "estimator/config/", "estimator/core/",
         "estimator/mech/", "estimator/fast/", "estimator/run/", "estimator/study/", "estimator/cmd/", "estimator/",
         "traces/", "power/", "db/", "reports/"]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
POINTER = re.compile(r'\(\*\s*(\w+)\)\s*\(')
PUBLIC = re.compile(r'(ww_|WW_|cuda|__cuda|cu[A-Z]|main$)')


def by_prefix(path, prefixes):
    return max((p for p in prefixes if path.startswith(p)), key=len, default=None)


PREFIX = {p: name for name, prefixes, _ in LAYERS for p in prefixes}


def layer_of(path):
    best = by_prefix(path, PREFIX)
    return PREFIX[best] if best else None


def closure():
    uses = {name: set(below) for name, _, below in LAYERS}
    for name, _, _ in LAYERS:  # rows stand below what they use
        for below in list(uses[name]):
            uses[name] |= uses[below]
    return uses


USES = closure()


def allowed(path, target):
    a, b = layer_of(path), layer_of(target)
    if a == "mech" and b == "mech":
        return mech_allowed(path, target)
    if a == "program" and target.endswith(".h") and b == "config":
        return False
    return a == b or b in USES[a]


def mech_allowed(path, target):
    """A mechanism sees mech.h and its own kind; mech.c, which lists them all, sees every kind."""
    here, there = os.path.dirname(path), os.path.dirname(target)
    return here == "estimator/mech" or there in ("estimator/mech", here)


def sources(root):
    for top in ("estimator", "traces", "power", "db", "reports"):
        for folder, _, files in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(files):
                if name.endswith((".c", ".h", ".def")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def lines_of(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read().split("\n")


def check_includes(root):
    problems, graph, count = [], collections.defaultdict(list), 0
    for path in sources(root):
        if layer_of(path) is None:
            problems.append("%s: belongs to no layer: give its folder a line in LAYERS of scripts/layers.py" % path)
            continue
        for number, text in enumerate(lines_of(root, path), 1):
            m = INCLUDE.match(text)
            if not m:
                continue
            where, name = "%s:%d" % (path, number), m.group(2)
            if m.group(1) == "<":
                problems += ["%s: %s may be included only in %s" % (where, name, ", ".join(places))
                             for prefix, places in LIBRARIES.items()
                             if name.startswith(prefix) and not any(path.startswith(p) for p in places)]
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), name))
            if not os.path.exists(os.path.join(root, target)):
                problems.append("%s: \"%s\" is not a file of the tree (paths are relative)" % (where, name))
                continue
            count += 1
            graph[path].append(target)
            if layer_of(target) is None or not allowed(path, target):
                problems.append("%s: %s may not include %s (%s -> %s)"
                                % (where, path, target, layer_of(path), layer_of(target)))
    return problems + circles(graph), count


def circles(graph):
    problems, state = [], {}

    def visit(node, trail):
        state[node] = 1
        for target in graph.get(node, ()):
            if state.get(target) == 1 and target.endswith(".h"):
                problems.append("%s: circle: %s" % (node, " -> ".join(trail + [node, target])))
            elif target not in state:
                visit(target, trail + [node])
        state[node] = 2

    for node in sorted(graph):
        if node not in state:
            visit(node, [])
    return problems


def symbols(root, objects):
    """Symbol -> source that defines it, and source -> symbols that it asks for."""
    defined, wanted = {}, {}
    paths = [p for p in sources(root) if p.endswith(".c") and os.path.exists(os.path.join(objects, p[:-2] + ".o"))]
    if not paths:
        return defined, wanted
    out = subprocess.run(["nm", "-A", "-g"] + [os.path.join(objects, p[:-2] + ".o") for p in paths],
                         capture_output=True, text=True, check=False).stdout
    prefix = os.path.join(objects, "")
    for text in out.split("\n"):
        file, _, rest = text.partition(":")
        words = rest.split()
        if len(words) < 2:
            continue
        path = file[len(prefix):-2] + ".c"
        if words[-2] == "U":
            wanted.setdefault(path, set()).add(words[-1])
        elif words[-2] in "TDBRVWC":
            defined.setdefault(words[-1], path)
    return defined, wanted


def public_names(root):
    """What the public headers declare: all that the program may call of the layers above base."""
    return {name for path in sources(root) if path.endswith(".h")
            for name in re.findall(r"^WW_API [^;(]*?\**(ww_\w+)\(", "\n".join(lines_of(root, path)), re.M)}


def check_symbols(root, objects):
    defined, wanted = symbols(root, objects)
    public = public_names(root)
    problems, count = [], 0
    for path in sorted(wanted):
        for name in sorted(wanted[path]):
            target = defined.get(name)
            if not target or target == path:
                continue
            count += 1
            if allowed(path, target) or layer_of(path) == "program" and name in public:
                continue
            problems.append("%s: calls or reads %s of %s (%s -> %s)"
                            % (path, name, target, layer_of(path), layer_of(target)))
    for name, path in sorted(defined.items()):
        if not PUBLIC.match(name):
            problems.append("%s: %s is visible to every file: call it ww_%s, or make it static" % (path, name, name))
    return problems, count


def check_files(root):
    problems, seen = [], {}
    for path in sources(root):
        if path.endswith(".c") and not lines_of(root, path)[0].startswith("/*"):
            problems.append("%s:1: opens with no line that says what it is" % path)
        key = (by_prefix(path, WINGS), os.path.basename(path))
        if key in seen:
            problems.append("%s: %s has this name, too" % (path, seen[key]))
        seen[key] = path
    return problems


def unseen(root):
    """Function pointers that headers declare: calls through them have no symbol."""
    for path in sources(root):
        if path.endswith(".h"):
            for number, text in enumerate(lines_of(root, path), 1):
                for name in POINTER.findall(text):
                    yield "%s:%d: %s" % (path, number, name)


def check(root, objects=None):
    problems, includes = check_includes(root)
    problems += check_files(root)
    calls = 0
    if objects:
        found, calls = check_symbols(root, objects)
        problems += found
    return problems, includes, calls


# What the checker must find, and what it must let pass: path -> text, and a part of the complaint (or None).
# Cases with ".c" files of functions are compiled, so that their calls are read.
CASES = [
    ("core may not see db", {"estimator/core/sm/a.h": '#include "../../../db/x.h"', "db/x.h": ""}, "core sm -> db"),
    ("memory may not see the SM", {"estimator/core/memory/a.h": '#include "../sm/x.h"',
                                   "estimator/core/sm/x.h": ""}, "core memory -> core sm"),
    ("base may not see config", {"estimator/base/a.h": '#include "../config/x.h"',
                                 "estimator/config/x.h": ""}, "base -> config"),
    ("base may not see the public header", {"estimator/base/a.h": '#include "../warpwatt.h"',
                                            "estimator/warpwatt.h": ""}, "base -> api"),
    ("mech may not see core", {"estimator/mech/sched/a.h": '#include "../../core/sm/x.h"',
                               "estimator/core/sm/x.h": ""}, "mech -> core"),
    ("a mechanism may not see another kind", {"estimator/mech/sched/a.h": '#include "../fetch/b.h"',
                                              "estimator/mech/fetch/b.h": ""}, "mech -> mech"),
    ("reports may not see db", {"reports/a.h": '#include "../db/x.h"', "db/x.h": ""}, "reports -> db"),
    ("core may see trace.h only", {"estimator/core/sm/a.h": '#include "../../../traces/ptx/record/device.h"',
                                   "traces/ptx/record/device.h": ""}, "core sm -> ptx recording"),
    ("sqlite is db's", {"reports/a.h": "#include <sqlite3.h>"}, "sqlite3.h may be included only"),
    ("cJSON is config's", {"power/a.h": "#include <cjson/cJSON.h>"}, "cjson/cJSON.h may be included only"),
    ("circles", {"db/a.h": '#include "b.h"', "db/b.h": '#include "a.h"'}, "circle"),
    ("a header that is not there", {"db/a.h": '#include "gone.h"'}, "not a file of the tree"),
    ("indented includes count", {"db/a.h": '#  include "../power/x.h"', "power/x.h": ""}, "db -> power"),
    ("reports may not see validation", {"reports/a.h": '#include "../estimator/study/validate/x.h"',
                                        "estimator/study/validate/x.h": ""}, "reports -> validation"),
    ("a folder that no layer holds", {"estimator/new/a.h": ""}, "belongs to no layer"),
    ("a new folder inside a layer needs no line", {"estimator/study/new/a.h": '#include "../../run/x.h"',
                                                   "estimator/run/x.h": ""}, None),
    ("a call upwards without an include", {
        "estimator/base/a.c": "/* a */\nvoid ww_run(void);\nvoid ww_a(void);\nvoid ww_a(void) { ww_run(); }",
        "estimator/run/b.c": "/* b */\nvoid ww_run(void);\nvoid ww_run(void) {}"}, "calls or reads ww_run"),
    ("a call downwards passes", {
        "estimator/base/a.c": "/* a */\nvoid ww_a(void);\nvoid ww_a(void) {}",
        "estimator/run/b.c": "/* b */\nvoid ww_a(void);\nvoid ww_b(void);\nvoid ww_b(void) { ww_a(); }"}, None),
    ("a name without the prefix", {"db/a.c": "/* a */\nvoid helper(void);\nvoid helper(void) {}"},
     "helper is visible to every file"),
    ("a file that does not say what it is", {"db/a.c": "static int x;\nint ww_x(void);\nint ww_x(void) { return x; }"},
     "opens with no line"),
    ("two files of one name in a wing", {"estimator/study/sweep/a.h": "", "estimator/study/dissect/a.h": ""},
     "has this name, too"),
    ("what is allowed passes", {"estimator/core/sm/a.h": '#include "../../../traces/trace.h"\n#include "../../base/x.h"',
                                "traces/trace.h": "", "estimator/base/x.h": "", "db/a.h": "#include <sqlite3.h>"}, None),
]


def try_case(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                f.write(text + "\n")
            if path.endswith(".c"):
                obj = os.path.join(root, "obj", path[:-2] + ".o")
                os.makedirs(os.path.dirname(obj), exist_ok=True)
                subprocess.run(["cc", "-c", "-o", obj, os.path.join(root, path)], check=True)
        return check(root, os.path.join(root, "obj"))[0]


def self_test():
    failed = 0
    for name, files, expected in CASES:
        problems = try_case(files)
        good = not problems if expected is None else any(expected in p for p in problems)
        failed += not good
        print("%s - %s" % ("ok" if good else "not ok", name))
        for p in problems if not good else ():
            print("    " + p)
    print("%d passed, %d failed" % (len(CASES) - failed, failed))
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description="Checks layers and names.")
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--objects", help="folder of object files, built without LTO")
    parser.add_argument("--unseen", action="store_true", help="list function pointers")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    pointers = list(unseen(args.root))
    if args.unseen:
        print("\n".join(pointers))
    problems, includes, calls = check(args.root, args.objects)
    print("\n".join(problems), end="\n" if problems else "")
    print("layers: %d includes, %d symbols across files, %d function pointers not seen (--unseen lists them); "
          "%d problems" % (includes, calls, len(pointers), len(problems)))
    if args.objects and not calls:
        print("layers: no symbols in %s: build without LTO first" % args.objects)
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
