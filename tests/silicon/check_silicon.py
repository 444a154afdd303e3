#!/usr/bin/env python3
"""Tests of scripts/silicon.py: its arithmetic on small made-up tables, its inputs, and its whole path on a stand-in.

usage: check_silicon.py [WARPWATT]

Programs and lists are made up, and no nvcc is needed: a script that compiles tests/cuda/stub/host.c stands for it. The last line is
"N passed, N failed".
"""
import json
import os
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/warpwatt"))
SCRIPT = os.path.join(ROOT, "scripts", "silicon.py")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import silicon_compare  # noqa: E402
import silicon_programs  # noqa: E402

counts = {True: 0, False: 0}
HEAD = "app\tlaunch\thw_cycles\thw_warp_instructions\thw_l1_hit_percent\thw_l2_hit_percent\tother_cycles\n"
# Errors of a: k1 +10 % and -30 %, k2 +50 %; of nw: -40 %. The other simulator's: +20, 0, none, -10 %.
MEASURED = HEAD + ("a\t0\t1000\t100\t50\t60\t1200\n" "a\t1\t2000\t200\t50\t60\t2000\n" "a\t2\t4000\t400\t20\t\tNone\n"
                   "nw\t0\t100\t10\t0\t0\t90\n" "nw\t1\t100\t10\t0\t0\t90\n")
ESTIMATES = [("a", 0, "k1", 1100, 110, 60.0), ("a", 1, "k1", 1400, 200, 40.0), ("a", 2, "k2", 6000, 440, 20.0),
             ("nw", 0, "k", 60, 10, 0.0), ("b", 0, "k", 5, 5, 0.0)]


def check(name, good, detail=""):
    counts[bool(good)] += 1
    print(("ok      " if good else "FAILED  ") + name + ("" if good else ":\n" + str(detail)), flush=True)


def near(name, value, wanted):
    check(name, value is not None and abs(value - wanted) < 1e-9, "%s, expected %s" % (value, wanted))


def silicon(*words):
    p = subprocess.run([sys.executable, SCRIPT, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                       check=False)
    return p.returncode, p.stdout, p.stderr


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def estimates(path):
    names = ("app", "launch", "kernel", "cycles", "warp_instructions", "l1_hit_percent")
    return write(path, json.dumps({"rows": [dict(zip(names, e)) for e in ESTIMATES]}))


def tables():
    m, e = write("m.tsv", MEASURED), estimates("e.json")
    code, out, err = silicon("--measured", m, "--estimates", e, "--json")
    check("two tables are compared", code == 0, err)
    r = json.loads(out)
    s, other = r["summary"], r["other_summaries"]["other"]
    check("rows are those of both tables", [(x["app"], x["launch"]) for x in r["rows"]] ==
          [("a", 0), ("a", 1), ("a", 2), ("nw", 0)], r["rows"])
    near("error by launch", s["by_launch"], (0.1 + 0.3 + 0.5 + 0.4) / 4)
    near("kernels of a program count equally", r["programs"][0]["error"], (0.2 + 0.5) / 2)
    near("error by program", s["by_program"], (0.35 + 0.4) / 2)
    near("error without the repetitive programs", s["by_program_without"], 0.35)
    near("and by launch", s["by_launch_without"], 0.3)
    near("bias has a sign", s["bias_by_launch"], (0.1 - 0.3 + 0.5 - 0.4) / 4)
    near("bias by program", s["bias_by_program"], ((-0.1 + 0.5) / 2 - 0.4) / 2)
    near("another simulator's error, where it has one", other["by_launch"], (0.2 + 0 + 0.1) / 3)
    check("its launches are counted", other["launches"] == 3, other)
    near("ours on the rows that all have", r["summary_where_all_have_estimates"]["by_launch"], (0.1 + 0.3 + 0.4) / 3)
    near("ratio of warp instructions", r["programs"][0]["instruction_ratio"], 750 / 700)
    near("hit rates, in points", r["hit_rates"]["l1_hit_percent"]["points_by_program"], ((10 + 0) / 2 + 0) / 2)
    check("a hit rate that is not there is none", r["rows"][2]["hw_l2_hit_percent"] is None, r["rows"][2])
    near("rank correlation", s["rank_correlation"], 1)
    check("launches by their size", s["below 10,000 cycles"]["launches"] == 4, s)
    code, out, err = silicon("--measured", m, "--estimates", e, "--csv")
    check("CSV has a line a launch", code == 0 and len(out.splitlines()) == 5 and out.startswith("app,launch,kernel,"), out)
    code, out, err = silicon("--measured", m, "--estimates", e, "--worst", "1")
    check("text has the worst launch, by ratio", code == 0 and "a 2" not in out.split("worst launches")[1] and
          "nw 0" in out.split("worst launches")[1] and "4 of 5 measured" in out, out)


def suites():
    row = {"app": "backprop", "launch": -1, "kernel": "all", "cycles": 9092.9 * 1.1, "warp_instructions": 370711}
    e = write("suite.json", json.dumps({"rows": [row]}))
    code, out, err = silicon("--suite", "h100-apps", "--estimates", e, "--json")
    r = json.loads(out) if code == 0 else {"suite": err}
    check("a suite of the project's table", r["suite"] == "h100-apps" and r["gpu"] == "h100_nvl", r)
    near("a program's launches added up", round(r["summary"]["by_program"], 6), 0.1)
    near("Accel-Sim beside it", round(r["other_summaries"]["accelsim"]["by_program"], 4), 0.0858)


def lists():
    """What --programs takes, and what goes with it."""
    good = {"name": "a", "folder": "b", "sources": "c.cu"}
    for name, value, wanted in (("no list", {}, "an array of programs was expected"), ("no programs", [], "an array of programs"),
                                ("no object", [1], "each program is an object"), ("no sources", [{"name": "a"}], "name and sources"),
                                ("empty sources", [dict(good, sources=" ")], "name and sources"),
                                ("an unknown field", [dict(good, x=1)], "'x' is none of name, sources, folder"),
                                ("a path as a name", [dict(good, name="../a")], "a program's name has no '/'"),
                                ("a program twice", [good, good], "a appears twice"),
                                ("arguments that are no string", [dict(good, arguments=["5"])], "arguments: a string was expected"),
                                ("launches that are no count", [dict(good, first=-1)], "first: a count was expected"),
                                ("options that are no strings", [dict(good, options=[2])], "options: strings were expected"),
                                ("a path as an input", [dict(good, inputs={"/x": "keys"})], "an input's name has no '/'"),
                                ("an unknown input", [dict(good, inputs={"x": "vim"})],
                                 "no input is called 'vim'; there are graph, keys, queries, records, picture, temperatures, power"),
                                ("an input of no name", [dict(good, inputs={"x": ["keys"]})], "no input is called"),
                                ("no JSON", None, "no list of programs")):
        path = write("programs.json", "[" if value is None else json.dumps(value))
        code, _, err = silicon(".", "--programs", path)
        check("refused programs: " + name, code == 2 and wanted in err and "programs.json: no list" in err, "%d %s" % (code, err))
    path = write("programs.json", json.dumps([good, {"name": "d", "sources": "e.cu f.c"}]))
    for name, words, wanted in (("no list is given", ["."], "docs/studies/silicon.md"),
                                ("nor for another suite", [".", "--suite", "h100-apps"], "a JSON array with an object for each program"),
                                ("an unknown program", [".", "--programs", path, "--only", "d,vim"],
                                 "no program is called 'vim'; there are a, d"),
                                ("programs beside estimates", ["--estimates", estimates("e.json"), "--only", "a"], "with --estimates")):
        code, _, err = silicon(*words)
        check("refused: " + name, code == 2 and wanted in err and "Traceback" not in err, "%d %s" % (code, err))
    both = silicon_programs.read_programs(path)
    check("a program lies in the folder of sources, if none is named", [x.folder for x in both] == ["b", "."] and
          both[1].sources == ["e.cu", "f.c"] and both[1].described() != both[0].described(), both)


def arithmetic():
    c = silicon_compare
    check("equal values share a rank", c.ranks([5, 1, 5, 9]) == [2.5, 1, 2.5, 4], c.ranks([5, 1, 5, 9]))
    near("correlation of opposite", c.pearson([1, 2, 3], [3, 2, 1]), -1)
    check("no correlation of constants", c.pearson([1, 1], [2, 3]) is None)
    rows = [{"hw_cycles": 10 ** n, "cycles": 7 * 10 ** n} for n in range(1, 6)]
    near("logarithms of proportional figures correlate", c.correlations(rows, "cycles")["log_correlation"], 1)


def refused():
    e = estimates("e.json")
    for name, text, wanted in (
            ("no column", "app\tlaunch\thw_cycles\na\t0\t5\n", "bad.tsv:1: no column hw_warp_instructions"),
            ("no number", MEASURED.replace("2000\t200", "many\t200"), "bad.tsv:3: hw_cycles: a number was expected, not 'many'"),
            ("no finite number", MEASURED.replace("2000\t200", "nan\t200"), "bad.tsv:3: hw_cycles: 'nan' is not a count"),
            ("a row twice", MEASURED + "a\t0\t5\t5\t\t\t\n", "bad.tsv:7: a launch 0 appears twice"),
            ("no cycles", MEASURED.replace("4000\t", "0\t"), "bad.tsv:4: launch, hw_cycles"),
            ("a short line", MEASURED + "a\t9\n", "bad.tsv:7: launch, hw_cycles"),
            ("a long line", MEASURED + "a\t9\t5\t5\t1\t1\t1\t1\n", "bad.tsv:7: 7 columns were expected"),
            ("no rows", HEAD, "bad.tsv: no rows")):
        code, _, err = silicon("--measured", write("bad.tsv", text), "--estimates", e)
        check("refused: " + name, code == 2 and wanted in err, "%d %s" % (code, err))
    m = write("m.tsv", MEASURED)
    for name, words, wanted in (
            ("estimates that are none", ["--estimates", m], "m.tsv: the output of --json was expected"),
            ("no estimate of a measured launch", ["--estimates", write("none.json", '{"rows": []}')], "no launch is in both"),
            ("no such file", ["--estimates", "gone.json"], "gone.json"),
            ("neither sources nor estimates", [], "either the folder of sources or --estimates")):
        code, _, err = silicon("--measured", m, *words)
        check("refused: " + name, code == 2 and wanted in err, "%d %s" % (code, err))


def inputs():
    s = silicon_programs
    s.graph("g.txt", 500, 1)
    with open("g.txt", encoding="ascii") as f:
        v = [int(x) for x in f.read().split()]
    nodes, pairs, rest = v[0], v[1:1001], v[1001:]
    start, degree, edges = pairs[0::2], pairs[1::2], rest[2::2]
    out = [edges[start[n]:start[n] + degree[n]] for n in range(nodes)]
    check("the graph's counts fit together", nodes == 500 and rest[0] == 0 and rest[1] == len(edges) == sum(degree) and
          set(rest[3::2]) == {1}, rest[:4])
    check("each edge goes both ways", all(out[b].count(a) == out[a].count(b) for a in range(nodes) for b in out[a] if a != b))
    check("each node draws 2 to 4 edges", 4 <= sum(degree) / nodes <= 8 and min(degree) >= 2, sum(degree) / nodes)
    s.records("r.db", 300)
    with open("r.db", encoding="ascii") as f:
        records = f.read().splitlines()
    check("records are of 48 characters with numbers in their columns", len(records) == 300 and all(
        len(x) == 48 and 0 <= float(x[28:33]) <= 90 and 0 <= float(x[33:38]) <= 360 for x in records), records[:2])
    with open("filelist", encoding="ascii") as f:
        check("the list of files names them", f.read() == "r.db\n")
    s.keys("k.txt", 40)
    with open("k.txt", encoding="ascii") as f:
        v = [int(x) for x in f]
    check("keys: their count, then each once", v[0] == 40 and sorted(v[1:]) == list(range(1, 41)), v)
    s.grid("t.txt", 323, 343, 5, 1000)
    with open("t.txt", encoding="ascii") as f:
        v = [float(x) for x in f]
    check("a grid's values lie between its bounds", len(v) == 1000 and 323 <= min(v) < 324 and 342 < max(v) <= 343, (min(v), max(v)))


def made_inputs():
    """Files are made by what the list names, and made anew only if that changes."""
    os.makedirs("made")
    program = silicon_programs.Program("a", "a.cu", inputs={"x.txt": "queries"})
    program.make_inputs("made")
    with open("made/x.txt", encoding="ascii") as f:
        first = f.read()
    check("an input comes from the generator that the list names", first == "j 6000 3000\nk 10000\n", first)
    write("made/x.txt", "mine\n")
    program.make_inputs("made")
    check("an input is kept", os.path.getsize("made/x.txt") == 5)
    program.inputs["x.txt"] = "power"
    program.make_inputs("made")
    with open("made/x.txt", encoding="ascii") as f:
        check("another generator makes it anew", 0 <= float(f.readline()) <= 0.02)


NVCC = """#!/bin/sh
# Stands for nvcc: whatever is asked for, the test program of the recording runtime comes out.
for word; do case $last in -o) out=$word ;; esac; last=$word; done
case "$*" in *broken.cu*) echo 'broken.cu(1): error: no' >&2; exit 1 ;; esac
cc -std=gnu11 -O1 -Dmain=stub_main -c -o "$out.o" "%(root)s/tests/cuda/stub/host.c" &&
printf 'int stub_main(int, char **);\\nint main(void) { char *v[] = {"x", "%(root)s/tests/cuda/stub/kernels.ptx", "plain", 0};'\\
' return stub_main(3, v); }\\n' > "$out.c" &&
cc -O1 -o "$out" "$out.c" "$out.o" "%(cudart)s" -llz4 -lzstd
"""


def whole():
    """The program called one is the stub: five launches, the second to fourth of one kernel. Two has no sources."""
    cudart = os.path.join(os.path.dirname(PROGRAM), "cudart", "libcudart.so.13")
    write("nvcc", NVCC % {"root": ROOT, "cudart": cudart})
    os.chmod("nvcc", os.stat("nvcc").st_mode | stat.S_IXUSR)
    os.makedirs("sources/a/one")
    write("sources/a/one/one.cu", "// read by the stand-in only\n")
    one_of_two = [{"name": "one", "folder": "a/one", "sources": "one.cu", "inputs": {"t.txt": "temperatures"}},
                  {"name": "two", "folder": "two", "sources": "two.cu"}]
    programs = write("two.json", json.dumps(one_of_two))
    m = write("one.tsv", HEAD + "".join("one\t%d\t3000\t1000\t\t\t\n" % n for n in range(4)))
    words = ["sources", "--programs", programs, "--measured", m, "--program", PROGRAM, "--nvcc", os.path.abspath("nvcc"), "--work", "work"]
    code, out, err = silicon(*words, "--only", "one", "--json")
    check("a program is built, recorded, replayed", code == 0, err)
    rows = json.loads(out)["rows"] if code == 0 else []
    info = json.loads(subprocess.run([PROGRAM, "trace", "info", "work/one/default.wwt", "--json"], capture_output=True, check=True).stdout)
    check("its measured launches are compared, in order", [(x["launch"], x["kernel"]) for x in rows] ==
          list(enumerate(["saxpy", "count", "count", "count"])), rows)
    check("warp instructions are the trace's", [x["warp_instructions"] for x in rows] ==
          [x["warp_instructions"] for x in info["launches"]][:4], rows)
    check("its input is made", os.path.exists("work/one/t.txt"))
    check("cycles are not those of the table", rows and all(0 < x["cycles"] != 3000 for x in rows), rows)
    code, out, err = silicon(*words, "--only", "one", "--csv")
    check("the trace is used again", code == 0 and "recording" not in err, err)
    write("two.json", json.dumps([dict(one_of_two[0], options=["-lineinfo"])]))
    code, out, err = silicon(*words, "--csv")
    check("but not if the list says something else of the program", code == 0 and "recording" in err, err)
    write("two.json", json.dumps(one_of_two))
    code, out, err = silicon(*words, "--only", "one", "--launches", "1", "--json", "--record-again")
    again = json.loads(out)["rows"] if code == 0 else []
    check("or made again; launches are limited", "recording" in err and again == rows[:1], err + out)
    code, out, err = silicon(*words, "--only", "one", "--cache-control", "keep", "--json")
    keep = json.loads(out)["rows"] if code == 0 else []
    check("caches that are kept change later launches", len(keep) == 4 and keep[1:] != rows[1:], keep)
    code, out, err = silicon(*words, "--only", "one", "--set", "sm.count=1", "--json")
    one = json.loads(out)["rows"] if code == 0 else []
    check("settings reach the replay", one and one[0]["cycles"] != rows[0]["cycles"], err)
    code, out, err = silicon(*words, "--no-launches")
    check("a program whose sources are missing is named, the others are compared",
          code == 1 and "two: no two/two.cu below" in err and "4 of 4 measured" in out, err + out)
    code, out, err = silicon(*words, "--only", "one", "--record-again", "--nvcc-options", "broken.cu")
    check("the compiler's message is passed on", code == 2 and "error: no" in err, err)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        tables()
        arithmetic()
        suites()
        lists()
        refused()
        inputs()
        made_inputs()
        whole()
        os.chdir(ROOT)
    print("%d passed, %d failed" % (counts[True], counts[False]))
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
