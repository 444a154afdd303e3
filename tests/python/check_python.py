#!/usr/bin/env python3
"""Tests of the Python package against the program. Needs build/python (make python).

usage: check_python.py [WARPWATT]

The last line is "N passed, N failed".
"""
import ctypes
import doctest
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/warpwatt"))
PACKAGE = os.path.join(os.path.dirname(PROGRAM), "python")
sys.path.insert(0, PACKAGE)
counts = {True: 0, False: 0}


def check(name, good, detail=""):
    counts[bool(good)] += 1
    print(("ok      " if good else "FAILED  ") + name + ("" if good else f":\n{detail}"))


def raised(kind, work, *arguments, **named):
    try:
        work(*arguments, **named)
    except kind as found:
        return found
    return None


def program(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def python(code, **env):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False,
                          env=dict(os.environ, PYTHONPATH=PACKAGE, **env))


# ---- the interface ----

def check_interface(ww):
    from warpwatt import _abi, _library
    exported = subprocess.run(["nm", "-D", "--defined-only", _library.lib._name], capture_output=True, text=True, check=True)
    public = {line.split()[-1] for line in exported.stdout.splitlines() if line.split()[-1].startswith("ww_")}
    check("every exported function is declared", public == set(_abi.FUNCTIONS), public ^ set(_abi.FUNCTIONS))
    sizes = {name: _library.lib.ww_struct_size(name.encode()) for name in _abi.STRUCTS}
    check("the library knows the size of every structure", all(sizes.values()), [n for n, s in sizes.items() if not s])
    check("names of states are distinct and known", len(set(ww.STATES)) == _abi.WW_STATE_COUNT and all(ww.STATES), ww.STATES)


def check_other_builds():
    other = os.path.join(os.getcwd(), "other")
    shutil.copytree(os.path.join(PACKAGE, "warpwatt"), os.path.join(other, "warpwatt"))
    abi = os.path.join(other, "warpwatt", "_abi.py")
    with open(abi, encoding="utf-8") as file:
        text = file.read()
    library = os.path.join(os.path.dirname(PROGRAM), "libwarpwatt.so")

    def imported(changed):
        with open(abi, "w", encoding="utf-8") as file:
            file.write(changed)
        return subprocess.run([sys.executable, "-c", "import warpwatt"], capture_output=True, text=True, check=False,
                              env=dict(os.environ, PYTHONPATH=other, WARPWATT_LIBRARY=library))
    grown = imported(text.replace('("epoch_cycles", c_uint32),', '("epoch_cycles", c_uint32), ("more", c_uint64),'))
    check("a structure of another size is refused", "ww_run_options has" in grown.stderr or "ww_result has" in grown.stderr,
          grown.stderr)
    older = imported(text.replace('VERSION = "', 'VERSION = "0.9.'))
    check("another version is refused", "libwarpwatt has version" in older.stderr, older.stderr)
    absent = python("import warpwatt", WARPWATT_LIBRARY="/nowhere/lib.so")
    check("a library that is not there is named", "/nowhere/lib.so: no such file" in absent.stderr, absent.stderr)


# ---- results ----

def check_results(ww):
    ww.record("saxpy", "t.wwt", code="ptx", n=4096)
    _, text, _ = program("run", "--gpu", "gtx480", "--trace", "t.wwt", "--json", "-q")
    theirs, ours = json.loads(text), ww.run("t.wwt", "gtx480")
    check("cycles and energy are the program's", theirs["cycles"] == ours.cycles and theirs["energy_j"] == ours.energy_j,
          (theirs.get("cycles"), ours.cycles, theirs.get("energy_j"), ours.energy_j))
    launch = ours._r.launch[0]
    check("warp-cycles by state add up", sum(ours.states().values()) == launch.resident_warp_cycles)
    energy = ours.energy()
    total = sum(energy["dynamic_j"]) + sum(energy["static_j"])
    check("energies of components add up", abs(total - ours.energy_j) <= 1e-9 * ours.energy_j, (total, ours.energy_j))
    changed = ww.run("t.wwt", "gtx480", overrides={"sm.count": 4}, mechanisms={"sched": "lrr"})
    check("overrides and mechanisms reach the run", changed.overrides == {"sm.count": ("4", "15"), "sched": ("lrr", "gto")}
          and changed.mechanisms["sched"] == "lrr", (changed.overrides, changed.mechanisms))
    check("a report names them", "sm.count=4" in ours.compare(changed), ours.compare(changed)[:400])
    clocked = ww.run("t.wwt", "v100", clock_control="1000")
    check("clock control sets the clocks", clocked.time_s > ww.run("t.wwt", "v100").time_s)
    check("a page holds no link to elsewhere", "<html" in ours.html() and "src=\"http" not in ours.html())
    check("a notebook's cell frames it", ours._repr_html_().startswith("<iframe srcdoc="))
    check("the JSON report is the program's schema", ours.to_dict()["launches"][0]["cycles"] == launch.cycles,
          list(ours.to_dict()))


def check_rows(ww):
    """Names of kernels, and source lines as rows."""
    source = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry _Z3addIfEvPT_()\n{\nret;\n}\n"
    with open("m.ptx", "w", encoding="utf-8") as file:
        file.write(source)
    ww.record_ptx("m.ptx", {"launches": [{"kernel": "_Z3addIfEvPT_", "grid": [1, 1, 1], "block": [32, 1, 1]}]}, "m.wwt", code="ptx")
    for what, rows in (("a replay", ww.run("m.wwt", "v100").launches()), ("a trace", ww.Trace("m.wwt").launches())):
        check("launches of %s: the kernel's name, and the mangled one" % what,
              (list(rows["kernel"]), list(rows["mangled"])) == (["add<float>"], ["_Z3addIfEvPT_"]), rows)
    result = ww.run("t.wwt", "gtx480")
    rows = result.source(3)
    text = json.loads(program("report", "--run", str(result.store("t.db")), "--db", "t.db", "--source", "--json", "--most", "3")[1])
    check("source() has a row for each line", list(rows["stall_warp_cycles"]) == [l["stall_warp_cycles"] for l in text["lines"]]
          and len(rows) == 3, rows)
    check("with cycles by state", all(list(rows[s])[0] == text["lines"][0]["warp_cycles"].get(s, 0) for s in ww.STATES), rows)


def check_database(ww):
    result = ww.run("t.wwt", "gtx480", db="t.db")
    db = ww.Database("t.db")
    rows = db.query("SELECT 1.5 AS a, NULL AS b, 'x' AS c, :v AS d", v=7)
    check("values keep their types", list(rows["a"]) == [1.5] and list(rows["c"]) == ["x"], rows)
    rows = db.query("SELECT typeof(:a) AS a, typeof(:b) AS b, :c AS c, typeof(:t) AS t, typeof(:n) AS n", a="12", b=12, c="'q'", t=True, n=1.5)
    check("a str is bound as text, a number as a number", [list(rows[k])[0] for k in "abctn"] == ["text", "integer", "'q'", "integer", "real"], rows)
    rows = db.query("SELECT typeof(?) AS a, typeof(?) AS b", "12", 12)
    check("so it is by place", list(rows["a"]) == ["text"] and list(rows["b"]) == ["integer"], rows)
    check("a named query takes a number as text", len(db.named("stalls", run="1")) == len(db.named("stalls", run=1)) > 0)
    check("a stored run is read back", db.load().cycles == result.cycles and db.load(1).states() == result.states())
    wrong = raised(ww.WarpwattError, db.query, "SELECT nothing")
    check("an error of SQL names the place", wrong is not None and wrong.code == "db" and "nothing" in wrong.text, wrong)
    check("a run that is not there", raised(ww.WarpwattError, db.load, 99) is not None)
    wrong = raised(ww.WarpwattError, ww.run, "t.wwt", "gtx480", db="/nowhere/x.db")
    check("a database that cannot be made is told before the run", wrong is not None and wrong.code in ("io", "db"), wrong)


def check_sweep(ww):
    space = {"gpu": "gtx480", "traces": ["t.wwt"], "parameters": {"sm.count": [4, 8], "sched": ["gto", "lrr"]}}
    found = ww.sweep(space, "s.db", jobs=2)
    rows = found.points()
    check("a sweep has its points", len(rows) == 4 and set(rows["sm.count"]) == {4, 8}, rows)
    alone = ww.run("t.wwt", "gtx480", overrides={"sm.count": 4}, mechanisms={"sched": "gto"})
    times = {(a, b): t for a, b, t in zip(rows["sm.count"], rows["sched"], rows["time_s"])}
    check("a point is the run of its settings", abs(times[(4, "gto")] - alone.time_s) < 1e-15, (times, alone.time_s))
    front = list(found.front()["time_s"])
    check("the front holds the fastest point, first", front[0] == min(rows["time_s"]) and front == sorted(front), front)
    again = ww.sweep(space, "s.db", jobs=2)
    check("the same sweep computes nothing twice", again.summary.computed == 0, again.summary)
    none = ww.sweep(dict(space, objectives=[{"name": "none", "sql": "NULL"}]), "none.db")
    check("points without an objective are counted", none.summary.no_value == 4 and not len(none.front()), none.summary)
    bad = ww.sweep(dict(space, parameters={"sm.shared_kb": [16], "sm.shared_per_cta_kb": [48]}), "bad.db")
    check("invalid points give their cause", bad.summary.invalid == 1 and bad.summary.causes[0][1], bad.summary)
    wrong = raised(ww.WarpwattError, ww.sweep, dict(space, parameters={"sm.cont": [4]}), "bad.db")
    check("an unknown parameter is refused", wrong is not None and "sm.cont" in str(wrong), wrong)


# ---- errors, progress, threads ----

def check_errors(ww):
    wrong = raised(ww.WarpwattError, ww.run, "nothing.wwt", "gtx480")
    check("a trace that is not there", wrong is not None and wrong.code == "io" and "nothing.wwt" in wrong.where, wrong)
    wrong = raised(ww.WarpwattError, ww.record, "saxpy", None, nn=3)
    check("an unknown parameter of a workload", wrong is not None and "nn" in str(wrong), wrong)
    check("an unknown code", raised(ValueError, ww.record, "saxpy", None, code="asm") is not None)
    check("overrides beside a Gpu", raised(TypeError, ww.run, "t.wwt", ww.Gpu("gtx480"), overrides={"sm.count": 4}) is not None)
    check("a text in place of settings", raised(TypeError, ww.Gpu, "gtx480", "sm.count=4") is not None)
    with open("junk.wwt", "wb") as file:
        file.write(b"\0" * 4096)
    wrong = raised(ww.WarpwattError, ww.Trace, "junk.wwt")
    check("a file that is no trace", wrong is not None and wrong.code == "input", wrong)


def check_misuse(ww):
    """Each in a process of its own: a crash must not end the tests."""
    def said(code, kind, text=""):
        done = python("import warpwatt as ww\n" + code)
        last = done.stderr.strip().splitlines()[-1:] or [""]
        check(code.replace("\n", "; "), done.returncode == 1 and kind in last[0] and text in last[0], (done.returncode, last))

    def works(code):
        done = python("import copy\nimport warpwatt as ww\n" + code)
        check(code.replace("\n", "; "), done.returncode == 0, (done.returncode, done.stderr))
    said("ww.Gpu(None)", "TypeError")
    said("ww.run('t.wwt', None)", "TypeError")
    said("ww.run('t.wwt\\0x', 'gtx480')", "ValueError", "NUL")
    said("ww.record('saxpy\\0x')", "ValueError", "NUL")
    said("ww.record_ptx(None, {})", "TypeError")
    said("ww.sweep(None, 'x.db')", "TypeError")
    said("ww.run('t.wwt', 'gtx480', threads=-1)", "ValueError", "threads")
    said("ww.run('t.wwt', 'gtx480', threads=10**30)", "ValueError", "threads")
    said("ww.run('t.wwt', 'gtx480', seed=-1)", "ValueError", "seed")
    said("ww.run('t.wwt', 'gtx480', mode=None)", "TypeError", "mode")
    said("ww.record('saxpy', seed=-1)", "ValueError", "seed")
    said("ww.sweep({'gpu': 'gtx480'}, 'x.db', jobs=-3)", "ValueError", "jobs")
    said("ww.sweep({'gpu': 'gtx480'}, 'x.db', points=2**70)", "ValueError", "points")
    said("ww.Gpu('gtx480', {'sm.count': None})", "TypeError", "sm.count")
    said("ww.record_program('./app', 'x.wwt')", "TypeError", "list")
    said("ww.record_program([], 'x.wwt')", "ValueError")
    said("ww.Database('t.db').query('SELECT ?', b'a')", "TypeError", "bytes")
    said("ww.Database('t.db').named('stalls', ':a=1')", "ValueError", ":a=1")
    works("rows = ww.Database('t.db').query('SELECT ? AS a', ':a=1')\nassert list(rows['a']) == [':a=1']")
    said("import pickle\npickle.dumps(ww.Gpu('gtx480'))", "TypeError", "Gpu")
    works("a = copy.copy(ww.Gpu('gtx480'))\nb = copy.deepcopy(a)\ndel a\nassert b.name == 'gtx480'")
    works("r = ww.run('t.wwt', 'gtx480')\nc = copy.copy(r)\ndel r\nassert c.cycles > 0")
    works("t = copy.copy(ww.Trace('t.wwt'))\nassert len(t) == 1")
    works("rows = ww.Database('t.db').query('SELECT ? IS NULL AS a', None)\nassert list(rows['a']) == [1]")
    works("rows = ww.Database('t.db').named('workloads')\nassert len(rows)")
    space = {"gpu": "gtx480", "traces": ["t.wwt"], "parameters": {"sm.count": [1.5]}}
    wrong = raised(ww.WarpwattError, ww.sweep, space, "misuse.db")
    check("an error in a space that is a dictionary names no file", wrong is not None and "tmp" not in str(wrong)
          and 'sm.count' in str(wrong), wrong)
    space["parameters"] = {"sm.count": range(4, 9, 4)}
    check("a range is a list of levels", len(ww.sweep(space, "misuse.db").points()) == 2)


def check_progress(ww):
    calls = []
    ww.record("saxpy", "long.wwt", code="ptx", n=1 << 20)
    ww.run("long.wwt", "gtx480", progress=lambda part, done, unit: calls.append((part, done, unit)))
    parts = [part for part, _, _ in calls if part >= 0]
    check("progress is told and never falls", parts and parts == sorted(parts) and parts[-1] <= 1, calls[:3])
    stopped = raised(ww.WarpwattError, ww.run, "long.wwt", "gtx480", progress=lambda *_: False)
    check("a callback that returns False stops the work", stopped is not None and stopped.code == "fail", stopped)

    def interrupt(*_):
        raise KeyboardInterrupt
    check("Ctrl-C in a replay is raised", raised(KeyboardInterrupt, ww.run, "long.wwt", "gtx480", progress=interrupt) is not None)


def check_threads(ww):
    gpu, cycles = ww.Gpu("gtx480"), []
    work = [threading.Thread(target=lambda: cycles.append(ww.run("t.wwt", gpu).cycles)) for _ in range(4)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    check("threads that share a GPU agree", len(cycles) == 4 and len(set(cycles)) == 1, cycles)


# ---- documents ----

def check_documents():
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    with open(os.path.join(ROOT, "docs", "guide", "python.md"), encoding="utf-8") as file:
        text = "\n".join(line for line in file.read().splitlines() if not line.startswith("```"))
    runner, printed = doctest.DocTestRunner(verbose=False, optionflags=flags), []
    runner.run(doctest.DocTestParser().get_doctest(text, {}, "docs/guide/python.md", "docs/guide/python.md", 0), out=printed.append)
    check(f"{runner.tries} examples of docs/guide/python.md", runner.failures == 0 and runner.tries > 15, "".join(printed))


def check_notebook():
    with open(os.path.join(ROOT, "python", "examples", "front.ipynb"), encoding="utf-8") as file:
        cells = ["".join(cell["source"]) for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
    try:
        import matplotlib
        matplotlib.use("Agg")
    except ImportError:
        cells = [cell for cell in cells if "plot_" not in cell]
        print("skipped - plots of the notebook: no matplotlib")
    cells.append("assert len(sweep.front()) > 1 and len(sweep.effects()) > 0")
    done = python("\n".join(cells))
    check(f"{len(cells)} cells of the notebook", done.returncode == 0, done.stdout + done.stderr)


def check_install():
    """pip builds a wheel, without a network, and what it installs works away from the source tree."""
    made = subprocess.run([sys.executable, "-m", "venv", "env"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        print("skipped - pip install: python3-venv is not installed")
        return
    pip = subprocess.run(["env/bin/pip", "install", "--no-index", "--disable-pip-version-check", ROOT], capture_output=True,
                         text=True, check=False)
    check("pip install builds and installs", pip.returncode == 0, pip.stdout[-2000:] + pip.stderr[-2000:])
    code = "import warpwatt as ww; r = ww.run('t.wwt', 'gtx480'); print(ww.program().startswith(ww.__path__[0]), r.cycles)"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WARPWATT", "PYTHONPATH"))}
    done = subprocess.run(["env/bin/python", "-c", code], capture_output=True, text=True, check=False, env=env)
    import warpwatt as ww
    check("what it installs replays to the same cycles", done.stdout.split() == ["True", str(ww.run("t.wwt", "gtx480").cycles)],
          done.stdout + done.stderr)
    shown = subprocess.run(["env/bin/warpwatt", "gpu", "list"], capture_output=True, text=True, check=False, env=env)
    check("the installed program finds its models", "gtx480" in shown.stdout, shown.stdout + shown.stderr)


def main():
    import warpwatt as ww
    check("the package is the build's", os.path.realpath(ww.__file__).startswith(os.path.realpath(PACKAGE)), ww.__file__)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_interface(ww)
        check_other_builds()
        check_results(ww)
        check_database(ww)
        check_rows(ww)
        check_sweep(ww)
        check_errors(ww)
        check_misuse(ww)
        check_progress(ww)
        check_threads(ww)
        check_documents()
        check_notebook()
        check_install()
        os.chdir("/")
    print(f"{counts[True]} passed, {counts[False]} failed")
    sys.exit(1 if counts[False] else 0)


if __name__ == "__main__":
    main()
