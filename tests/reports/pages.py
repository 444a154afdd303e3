"""pages.py: what the checks of reports share: databases to report on, and rules that a page keeps."""
import json
import os
import re
import sqlite3
import subprocess

SIZE_MOST = 2 * 1000 * 1000
# What tidy 5.6 says of valid HTML 5: none so far. A warning that is not here fails the check.
TIDY_ACCEPTED = ()

HOSTILE = ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "a\nb\r\n\tc\x07\x1b[31m",
           "</title></style></svg>", "\u202egnp.exe\u2066", "=cmd|' /C calc'!A0", "@SUM(A1)|x", "`set output \"/tmp/x\"`",
           "]]> & &amp; {curly} \\ %s%n", "x" * 5000, "wörk‑lößd ✓", "&#60;b&#62;", "$(touch x);\"; system 'touch x' #"]


def run(program, *arguments, **more):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300, **more)


def make(program, folder):
    """A database with full, sampled and governed runs of small programs, and a sweep."""
    db = os.path.join(folder, "r.db")
    trace = {}
    for name, parameters in (("kmeans", ["-p", "size=small"]), ("spmv", ["-p", "size=small"]),
                             ("stencil", ["-p", "nx=64", "-p", "ny=32", "-p", "nz=8", "-p", "iterations=20"])):
        trace[name] = os.path.join(folder, name + ".wwt")
        must(run(program, "trace", "record", "--code", "ptx", "-q", "-w", name, *parameters, "--arch", "sm_20", "-o", trace[name]))
    base = ["run", "-q", "--gpu", "gtx480", "--db", db, "--epoch", "512"]
    must(run(program, *base, "--trace", trace["kmeans"], "--timeline", "50"))
    must(run(program, *base, "--trace", trace["kmeans"], "--mech", "sched=mascar", "--timeline", "50"))
    must(run(program, *base, "--trace", trace["spmv"], "--mech", "governor=equalizer", "--timeline", "50"))
    must(run(program, *base, "--trace", trace["stencil"], "--mode", "sampled"))
    must(run(program, "run", "-q", "--gpu", "elastic-16", "--db", db, "--trace", trace["kmeans"]))
    must(run(program, *base, "--trace", trace["kmeans"], "--mode", "analytic"))
    space = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "reports", "examples", "sweep.json")
    must(run(program, "sweep", "-q", space, "--db", db, "-j2"))
    return db


def make_variants(program, folder):
    """A database with a sweep over a program's variants, two of which cannot be launched, and a table of measured ones."""
    db, space, table = (os.path.join(folder, n) for n in ("variants.db", "variants.json", "measured.tsv"))
    examples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "traces", "examples")
    with open(os.path.join(examples, "transpose-ptx.json"), encoding="utf-8") as f:
        what = json.load(f)
    del what["program"]["compare"]
    what["program"]["parameters"]["FOLD"] = [1, 2]
    what["program"]["constraints"].append("FOLD == 1 || TILE == 32 && PAD == 1")
    what["program"]["launch"]["block"][1] = "TILE / ROWS * (FOLD == 2 ? 1024 : 1)"
    with open(space, "w", encoding="utf-8") as f:
        f.write(json.dumps(what).replace("2048", "256"))
    must(run(program, "sweep", "-q", space, "--db", db, "-j2", cwd=examples))
    with open(table, "w", encoding="utf-8") as f:
        f.write("TILE\tPAD\tROWS\tFOLD\ttime_us\n")
        f.writelines("%d\t%d\t%d\t1\t%d\n" % (t, p, r, 20 + t - 8 * p - r) for t in (16, 32) for p in (0, 1) for r in (1, 4))
    return db, table


def must(result):
    if result.returncode != 0:
        raise RuntimeError("%s: exit %d: %s" % (" ".join(result.args[:6]), result.returncode, result.stderr))
    return result


def make_hostile(db, path):
    """A copy whose names are hostile, each in turn."""
    source, target = sqlite3.connect(db), sqlite3.connect(path)
    source.backup(target)
    names = iter(HOSTILE * 1000)
    for table, column in (("kernel", "name"), ("run", "trace_path"), ("gpu", "name"), ("trace", "program"),
                          ("run_setting", "value"), ("sweep_objective", "name"), ("sweep_trace", "workload"),
                          ("run_sampling", "reason"), ("sweep", "strategy")):
        for (row,) in target.execute("SELECT %s FROM %s" % (rowid(target, table), table)).fetchall():
            target.execute("UPDATE %s SET %s = ? WHERE %s = ?" % (table, column, rowid(target, table)),
                           (next(names) + (" %s" % row if column == "name" else ""), row))
    keys = {}
    for (key,) in target.execute("SELECT DISTINCT key FROM sweep_setting").fetchall():
        keys[key] = next(names) + key
    for key, new in keys.items():
        target.execute("UPDATE sweep_setting SET key = ? WHERE key = ?", (new, key))
        target.execute("UPDATE sweep_effect SET a = ? WHERE a = ?", (new, key))
        target.execute("UPDATE sweep_effect SET b = ? WHERE b = ?", (new, key))
    target.commit()
    target.close()


def make_long(db, path):
    """A copy with kernels of long names, as templates have."""
    source, target = sqlite3.connect(db), sqlite3.connect(path)
    source.backup(target)
    target.execute("UPDATE kernel SET name = 'a_kernel_whose_name_goes_on_and_on_for_seventy_characters_or_so_' || rowid")
    target.commit()
    target.close()


def rowid(connection, table):
    """A column, or an expression, that names one row; tables without rowid have their key."""
    sql = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
    if "WITHOUT ROWID" not in sql:
        return "rowid"
    keys = [k.strip() for k in re.search(r"PRIMARY KEY\(([^)]*)\)", sql).group(1).split(",")]
    return " || '/' || ".join(keys)


def tidy(path):
    """Complaints of tidy that are not accepted; None: there is no tidy."""
    try:
        result = subprocess.run(["tidy", "-q", "-e", "--show-warnings", "yes", path], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return [l for l in result.stderr.splitlines() if l.strip() and not any(a in l for a in TIDY_ACCEPTED)]


def page_problems(path):
    """What keeps a page from being one file that opens offline, small, with headings in order."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    problems = []
    if os.path.getsize(path) >= SIZE_MOST:
        problems.append("%d bytes, expected below %d" % (os.path.getsize(path), SIZE_MOST))
    for what in re.findall(r"(?:https?:)?//[a-z]|url\([^#)]|@import|<link|<img|<iframe|<object|\bsrc=|\bon[a-z]+=", tags(text)):
        problems.append("refers to something outside: %r" % what)
    if len(re.findall(r"<script", text)) != 1 or text.count("</script>") != 1:
        problems.append("not exactly one script")
    levels = [int(n) for n in re.findall(r"<h([1-6])", text)]
    if levels.count(1) != 1 or any(b > a + 1 for a, b in zip(levels, levels[1:])):
        problems.append("headings are not in order: %s" % levels)
    ids = re.findall(r'\bid="([^"]*)"', text)
    if len(ids) != len(set(ids)):
        problems.append("ids are not unique")
    for svg in re.findall(r"<svg.*?</svg>", text, re.S):
        if 'aria-hidden="true"' not in svg and ('role="img"' not in svg or "<title>" not in svg or "<desc>" not in svg):
            problems.append("a drawing without role, title or description")
    for used in set(re.findall(r'href=[\'"]#([^\'"]*)', text)):
        if used not in ids:
            problems.append("#%s is not there" % used)
    body = text[text.find("</style>"):text.find("<script>")]
    if "rgb(" in body:
        problems.append("a colour that is not the scheme's")
    for number in re.findall(r"\b(?:nan|inf)\b", "".join(re.findall(r"<(?:path|rect|text) [^>]*>", body))):
        problems.append("%s in a drawing" % number)
    for control in re.findall("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text):
        problems.append("control character %r" % control)
    return problems


def tags(text):
    """Only what stands in tags and in the style; texts and the page's own script may say what they like."""
    text = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    style = "".join(re.findall(r"<style>(.*?)</style>", text, re.S))
    return style + "".join(re.findall(r"<[a-zA-Z][^>]*>", re.sub(r"<style>.*?</style>", "", text, flags=re.S)))
