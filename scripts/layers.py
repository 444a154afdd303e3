#!/usr/bin/env python3
"""Checks that every #include follows the layers; an edge that is not listed here fails.

    base < config < {traces, core, power} < run < {db, reports, dissect} < {measured, sweep, validate} < main (main.c, cmd/)

mech/ sees base, config and the headers of its own kind. traces, power, db and reports never include one
another. Libraries are seen only where LIBRARIES says. Headers may not include one another in a circle.

usage: layers.py [--root DIR] | --self-test
"""
import os
import re
import sys
import tempfile

# directory -> layer; the longest prefix counts
LAYERS = [
    ("estimator/base/", "base"), ("estimator/config/", "config"), ("estimator/core/", "core"),
    ("estimator/mech/", "mech"), ("estimator/fast/", "fast"), ("estimator/dissect/", "dissect"),
    ("estimator/measured/", "measured"), ("estimator/validate/", "validate"), ("estimator/sweep/", "sweep"),
    ("estimator/run", "run"),
    ("estimator/run/check.c", "run"), ("estimator/bench.", "run"),
    ("estimator/cmd/", "main"), ("estimator/main.c", "main"), ("estimator/cmd/cmd.def", "main"),
    ("estimator/warpwatt.h", "api"), ("estimator/result/result.h", "api"), ("estimator/result/measured.h", "api"),
    ("estimator/result/explored.h", "api"),
    ("traces/", "traces"), ("power/", "power"), ("db/", "db"), ("reports/", "reports"),
]
# layer -> layers that it may include besides itself
ALLOWED = {
    "api": {"base"},  # the .def files only, see below
    "base": {"api"},
    "config": {"base", "api"},
    "traces": {"base", "config", "api"},
    "core": {"base", "config", "api", "mech"},
    "mech": {"base", "config", "api"},
    "fast": {"base", "config", "api"},
    "power": {"base", "config", "api"},
    "run": {"base", "config", "api", "core", "mech", "fast", "traces", "power"},
    "db": {"base", "config", "api"},
    "reports": {"base", "config", "api"},
    "dissect": {"base", "config", "api", "core", "mech", "fast", "traces", "power", "run"},
    "measured": {"base", "config", "api", "core", "mech", "fast", "traces", "power", "run", "dissect"},
    "validate": {"base", "config", "api", "core", "mech", "fast", "traces", "power", "run", "db", "reports", "dissect"},
    "sweep": {"base", "config", "api", "mech", "fast", "traces", "power", "run", "db"},
    "main": {"base", "api"},
}
# single headers that a layer may include although it may not include their layer
EXTRA = {
    "core": {"traces/trace.h", "traces/opclass.def", "traces/dma.h"},
    "fast": {"traces/trace.h", "traces/opclass.def", "estimator/core/launch/engine.h", "estimator/core/memory/addrmap.h"},
}
# library header -> where it may be included
LIBRARIES = {
    "sqlite3.h": ["db/"],
    "cjson/": ["estimator/config/", "estimator/measured/", "estimator/sweep/", "reports/", "traces/launch_json"],
    "zstd.h": ["traces/"],
    "lz4": ["traces/"],
    "lzma.h": ["traces/"],
    "zlib.h": ["traces/"],
    "gsl/": ["estimator/base/lsq", "power/", "estimator/measured/", "estimator/sweep/", "estimator/fast/"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(path):
    best = max((p for p, _ in LAYERS if path.startswith(p)), key=len, default=None)
    return dict(LAYERS)[best] if best else None


def sources(root):
    for top in ("estimator", "traces", "power", "db", "reports"):
        for folder, _, files in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(files):
                if name.endswith((".c", ".h", ".def")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def includes(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        for number, text in enumerate(f, 1):
            m = INCLUDE.match(text)
            if m:
                yield number, m.group(1), m.group(2)


def edge_allowed(path, target):
    a, b = layer_of(path), layer_of(target)
    if a == b or target in EXTRA.get(a, ()):
        return not (a == "mech" and not mech_allowed(path, target))
    if a == "api":
        return b == "base" and target.endswith(".def")
    return b in ALLOWED[a]


def mech_allowed(path, target):
    """A mechanism sees mech.h and headers of kinds, never another mechanism's source."""
    return target.endswith((".h", "mech.def"))


def library_problem(path, name):
    for prefix, places in LIBRARIES.items():
        if name.startswith(prefix) and not any(path.startswith(p) for p in places):
            return "%s may be included only in %s" % (name, ", ".join(places))
    return None


def check_circles(graph):
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


def check(root):
    problems, graph, edges = [], {}, 0
    for path in sources(root):
        if layer_of(path) is None:
            problems.append("%s: belongs to no layer" % path)
            continue
        for number, kind, name in includes(root, path):
            where = "%s:%d" % (path, number)
            if kind == "<":
                problem = library_problem(path, name)
                if problem:
                    problems.append("%s: %s" % (where, problem))
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), name))
            if not os.path.exists(os.path.join(root, target)):
                problems.append("%s: \"%s\" is not a file of the tree (paths are relative)" % (where, name))
                continue
            edges += 1
            graph.setdefault(path, []).append(target)
            if layer_of(target) is None or not edge_allowed(path, target):
                problems.append("%s: %s may not include %s (%s -> %s)"
                                % (where, path, target, layer_of(path), layer_of(target)))
    return problems + check_circles(graph), edges


# What the checker must find, and what it must let pass: path -> text, and a part of the complaint (or None).
CASES = [
    ("core may not see db", {"estimator/core/a.c": '#include "../../db/x.h"', "db/x.h": ""}, "core -> db"),
    ("base may not see config", {"estimator/base/a.c": '#include "../config/x.h"',
                                 "estimator/config/x.h": ""}, "base -> config"),
    ("mech may not see core", {"estimator/mech/a.c": '#include "../core/x.h"',
                               "estimator/core/x.h": ""}, "mech -> core"),
    ("a mechanism may not see another", {"estimator/mech/a.c": '#include "b.c"', "estimator/mech/b.c": ""},
     "mech -> mech"),
    ("reports may not see db", {"reports/a.c": '#include "../db/x.h"', "db/x.h": ""}, "reports -> db"),
    ("core may see trace.h only", {"estimator/core/a.c": '#include "../../traces/device.h"',
                                   "traces/device.h": ""}, "core -> traces"),
    ("sqlite is db's", {"reports/a.c": "#include <sqlite3.h>"}, "sqlite3.h may be included only"),
    ("cJSON is config's", {"power/a.c": "#include <cjson/cJSON.h>"}, "cjson/cJSON.h may be included only"),
    ("the public header sees no struct of base", {"estimator/warpwatt.h": '#include "base/x.h"',
                                                  "estimator/base/x.h": ""}, "api -> base"),
    ("circles", {"db/a.h": '#include "b.h"', "db/b.h": '#include "a.h"'}, "circle"),
    ("a header that is not there", {"db/a.c": '#include "gone.h"'}, "not a file of the tree"),
    ("indented includes count", {"db/a.c": '#  include "../power/x.h"', "power/x.h": ""}, "db -> power"),
    ("reports may not see validate", {"reports/a.c": '#include "../estimator/validate/x.h"',
                                      "estimator/validate/x.h": ""}, "reports -> validate"),
    ("what is allowed passes", {"estimator/core/a.c": '#include "../../traces/trace.h"\n#include "../base/x.h"',
                                "traces/trace.h": "", "estimator/base/x.h": "",
                                "db/a.c": "#include <sqlite3.h>"}, None),
]


def self_test():
    failed = 0
    for name, files, expected in CASES:
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                    f.write(text + "\n")
            problems, _ = check(root)
        good = not problems if expected is None else any(expected in p for p in problems)
        failed += not good
        print("%s - %s" % ("ok" if good else "not ok", name))
        for p in problems if not good else ():
            print("    " + p)
    print("%d passed, %d failed" % (len(CASES) - failed, failed))
    return 1 if failed else 0


def main(argv):
    if argv[1:] == ["--self-test"]:
        return self_test()
    root = argv[2] if len(argv) == 3 and argv[1] == "--root" else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    problems, edges = check(root)
    for p in problems:
        print(p)
    print("layers: %d includes, %d that no layer allows" % (edges, len(problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
