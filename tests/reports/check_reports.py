#!/usr/bin/env python3
"""Checks reports of stored runs and sweeps: HTML by tidy and by rules of our own, CSV, Markdown, the timeline.

usage: check_reports.py PROGRAM
"""
import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

import pages
import trace_rules

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
passed = failed = 0


def claim(name, good, detail=""):
    global passed, failed
    passed += bool(good)
    failed += not good
    print("%s - %s%s" % ("ok" if good else "not ok", name, "" if good or not detail else ": %s" % str(detail)[:1500]))


def html(program, db, path, *what, **more):
    return pages.run(program, "report", "--db", db, "--html", path, *what, **more)


def check_page(name, path):
    problems = pages.page_problems(path)
    claim("%s: one small file that refers to nothing outside, headings in order" % name, not problems, problems[:5])
    found = pages.tidy(path)
    if found is None:
        print("skipped - %s: tidy is not installed (apt-get install tidy)" % name)
    else:
        claim("%s: tidy finds nothing" % name, not found, found[:5])
    with open(path, encoding="utf-8") as f:
        text = f.read()
    drawings = len(re.findall(r'<svg role="img"', text))
    claim("%s: drawings" % name, drawings > 0, drawings)
    return text


RUNS = ["--run", "1", "--run", "2", "--run", "3", "--run", "4", "--run", "5", "--run", "6"]


def check_pages(program, db, folder):
    path = os.path.join(folder, "p.html")
    for name, what in (("a run", ["--run", "1"]), ("a governed run", ["--run", "3"]), ("a sampled run", ["--run", "4"]),
                       ("a run without power table", ["--run", "5"]), ("an analytic run", ["--run", "6"]),
                       ("six runs and a sweep", RUNS + ["--sweep", "last"]), ("a sweep", ["--sweep", "1"])):
        result = html(program, db, path, *what)
        claim("%s is written" % name, result.returncode == 0 and not os.path.exists(path + ".part"), result.stderr)
        text = check_page(name, path)
        if name == "a sampled run":
            claim("a sampled run shows its intervals", "interval" in text and "replayed whole" in text)
        if name == "a governed run":
            claim("a governed run shows its clocks", "Clocks over time" in text)
    again = os.path.join(folder, "again.html")
    html(program, db, path, "--run", "1")
    html(program, db, again, "--run", "1")
    claim("the same report twice is the same file", open(path, "rb").read() == open(again, "rb").read())


def launch_cells(text, caption):
    """Rows of a table of launches: {launch: {heading: value}}."""
    table = re.search(r"<caption>%s.*?</table>" % caption, text, re.S).group(0)
    heads = re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", table)
    rows = re.findall(r"<tr>(<th scope=\"row\".*?)</tr>", table, re.S)
    cells = [re.findall(r"<t[hd][^>]*?(?: data-v=\"([^\"]*)\")?>", row) for row in rows]
    return {row[0]: {h: float(v) for h, v in zip(heads, row) if v} for row in cells}


def check_launches(program, db, folder):
    """What a launch reaches is computed from its own counters."""
    path = os.path.join(folder, "l.html")
    html(program, db, path, "--run", "1")
    text = open(path, encoding="utf-8").read()
    stored = {}
    for launch, time, name, value in sqlite3.connect(db).execute(
            "SELECT l.ord, l.time_ps, c.name, n.value FROM launch l JOIN launch_counter n USING(launch_id)"
            " JOIN counter c USING(counter_id) WHERE l.run_id = 1"):
        stored.setdefault(str(launch), {"seconds": time * 1e-12})[name] = value
    light, roof, memory = (launch_cells(text, c) for c in ("Speed of light by launch", "Roofline by launch", "Memory by launch"))
    claim("launches: each has its limits, roofline and memory", len(stored) == 2 and set(light) == set(roof) == set(memory) == set(stored), light)
    for n, c in stored.items():
        count = lambda *names: sum(c.get(name, 0) for name in names)
        operations = count("lane_fp32_add", "lane_fp32_mul") + 2 * count("lane_fp32_fma")
        dram = 32 * count("dram_sector_read", "dram_sector_write")
        near = lambda a, b: abs(a - b) <= 1e-5 * abs(b)
        claim("launch %s: operations a second, an fma being two" % n, near(roof[n]["operations a second"], operations / c["seconds"]), roof[n])
        claim("launch %s: operations per byte of DRAM" % n, not operations or near(roof[n]["per byte of DRAM"], operations / dram), roof[n])
        claim("launch %s: bytes that DRAM read" % n, near(memory[n]["DRAM read"], 32 * count("dram_sector_read")), memory[n])
        lanes = count("lane_int", "lane_fp32") / (32 * 15 * count("sm_active_cycles", "sm_idle_cycles") / 15)
        claim("launch %s: lanes that integers share with fp32 count both" % n, near(light[n]["fp32 lanes"], lanes), (light[n], lanes))


def check_sources(program, db, folder):
    """Run 3 is of spmv, whose source lies in traces/kernels."""
    path, kernels = os.path.join(folder, "s.html"), os.path.join(ROOT, "traces", "kernels")
    result = html(program, db, path, "--run", "3", "--sources", kernels)
    text = check_page("a run with sources", path)
    claim("sources: a line stands beside its counters", result.returncode == 0 and
          re.search(r'class="src">[^<]*for \(unsigned e = start\[r\]; e &lt; end; e\+\+\)[^<]*</td>'
                    r'<td class="src asm">[0-9a-f]{4} \w[^\n]*?</td><td class="n" data-v="0\.9', text), result.stderr)
    nowhere = os.path.join(folder, "nowhere")
    os.makedirs(os.path.join(nowhere, "below"), exist_ok=True)
    html(program, db, path, "--run", "3", "--sources", nowhere)
    claim("sources: a file that is not there is said to be missing", "not in the folder of sources" in open(path).read())
    bad = os.path.join(folder, "up.db")
    with open(db, "rb") as f, open(bad, "wb") as g:
        g.write(f.read())
    change = sqlite3.connect(bad)
    change.execute("UPDATE source_file SET path = '../secret.cu' WHERE path LIKE '%spmv.cu'")
    change.commit()
    with open(os.path.join(nowhere, "secret.cu"), "w") as f:
        f.write("kept secret\n" * 200)
    html(program, bad, path, "--run", "3", "--sources", os.path.join(nowhere, "below"))
    claim("sources: a stored name does not leave the folder", "kept secret" not in open(path).read())
    claim("sources: without a page they are refused",
          pages.run(program, "report", "--db", db, "--run", "3", "--sources", kernels).returncode == 2)


def check_planted(program, db, folder):
    """The checks can fail."""
    path = os.path.join(folder, "p.html")
    html(program, db, path, "--run", "1")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for name, old, new in (("an image from elsewhere", "<main>", '<main><img src="https://example.org/x.png" alt="x">'),
                           ("a heading of the wrong level", "<h3>", "<h5>"), ("an id twice", "<main>", '<main id="run-1">'),
                           ("a drawing without a title", "<title>", "<text>")):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(old, new) if old == "<title>" else text.replace(old, new, 1))
        claim("planted: %s is found" % name, pages.page_problems(path))
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace("</table>", "", 1))
    if pages.tidy(path) is not None:
        claim("planted: an unclosed table is found by tidy", pages.tidy(path))


def check_alone(program, db, folder):
    """No other program takes part in a page."""
    path, again = os.path.join(folder, "alone.html"), os.path.join(folder, "helped.html")
    result = html(program, db, path, "--run", "1", "--sweep", "1", env={**os.environ, "PATH": folder})
    html(program, db, again, "--run", "1", "--sweep", "1")
    claim("without any other program a page is the same", result.returncode == 0 and not result.stderr
          and open(path, "rb").read() == open(again, "rb").read(), result.stderr)


def check_drawn(program, db, folder):
    """Drawings show what their tables say."""
    path = os.path.join(folder, "drawn.html")
    html(program, db, path, "--run", "1", "--sweep", "1")
    with open(path, encoding="utf-8") as f:
        figures = re.findall(r"<figure>.*?</figure>", f.read(), re.S)

    def figure(title):
        return next(one for one in figures if "<figcaption>" + title in one)
    energy = figure("Energy by component")
    widths = [float(w) for w in re.findall(r'<rect [^>]*width="([0-9.]+)"', energy)]
    rows = re.findall(r"<tr><th.*?</tr>", energy, re.S)
    values = [float(v) for row in rows for v in re.findall(r'data-v="([^"]*)"', row)[-2:] if float(v) > 0]
    scale = max(widths) / max(values)
    claim("bars are as long as their values", len(widths) == len(values) > 5
          and all(abs(w - v * scale) < 0.1 for w, v in zip(widths, values)), (widths, values))
    found = re.findall(r"<title>point (\d+): [^<]*s, [^<]*J</title>", figure("Pareto front"))
    points = [str(n) for (n,) in sqlite3.connect(db).execute("SELECT ord FROM sweep_point WHERE sweep_id = 1 AND feasible >= 0")]
    claim("the front's drawing has each point once", sorted(found) == sorted(points), (found, points))


def check_parts(program, folder):
    """A sweep's points by workload, its candidates; a run's timeline."""
    db, path = os.path.join(folder, "parts.db"), os.path.join(folder, "parts.html")
    space = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "reports", "examples", "sweep.json")
    pages.must(pages.run(program, "sweep", "-q", space, "--strategy", "adaptive", "--budget", "50%", "--db", db, "-j2"))
    html(program, db, path, "--sweep", "1")
    text = check_page("an adaptive sweep", path)
    figure = text[text.index("<figcaption>Time of the front by workload"):]
    rows = re.findall(r'point (\d+)</th><td[^>]*data-v="([^"]*)"[^>]*>[^<]*</td><td[^>]*data-v="([^"]*)"', figure[:figure.index("</figure>")])
    whole = dict(sqlite3.connect(db).execute("SELECT point, time_s FROM v_sweep_point WHERE sweep_id = 1"))
    claim("parts by workload add up to the point's time", rows and
          all(abs(float(a) + float(b) - whole[int(n)]) < 1e-3 * whole[int(n)] for n, a, b in rows), (rows, whole))
    parts = sqlite3.connect(db).execute(
        "SELECT p.energy_j, e.instructions_j + e.lanes_j + e.load_store_j + e.l2_j + e.dram_j + e.pipeline_j + e.idle_j + e.constant_j"
        " FROM v_sweep_point p JOIN v_sweep_energy e USING(sweep_id, point)").fetchall()
    claim("groups of components add up to each point's energy", len(parts) == len(whole) and
          all(abs(a - b) < 1e-9 * a for a, b in parts), parts)
    claim("the front's energy is drawn by groups of components", "<figcaption>Energy of the front by groups of components" in text)
    table = text[text.index("<caption>Candidates and their bounds"):]
    table = table[:table.index("</table>")]
    bounded = sqlite3.connect(db).execute("SELECT count(DISTINCT point) FROM sweep_estimate WHERE low < high").fetchone()[0]
    told = sum(" to " in row for row in re.findall(r"<tr><th.*?</tr>", table, re.S))
    claim("a candidate that was not replayed has bounds", told == bounded > 0, (told, bounded))


def check_tracks(program, db, folder):
    path = os.path.join(folder, "tracks.html")
    html(program, db, path, "--run", "1")
    with open(path, encoding="utf-8") as f:
        spans = re.findall(r'<rect data-from="([^"]*)" data-to="([^"]*)"[^>]*><title>([^<]*)', f.read())
    ctas = sqlite3.connect(db).execute("SELECT count(*), max(start_us + time_us) FROM v_cta WHERE run_id = 1").fetchone()
    launches = [(float(a), float(b)) for a, b, name in spans if name.startswith("launch")]
    stored = [us * 1e-6 for (us,) in sqlite3.connect(db).execute("SELECT time_us FROM v_launch WHERE run_id = 1 ORDER BY launch")]
    claim("timeline of the page: a span for each launch and each CTA that was kept",
          len(launches) == len(stored) and sum(name.startswith("CTA") for _, _, name in spans) == ctas[0] > 0, (len(spans), ctas))
    claim("timeline of the page: launches take their time and follow one another",
          all(abs(b - a - t) < 1e-4 * t for (a, b), t in zip(launches, stored))
          and all(abs(a[1] - b[0]) < 1e-12 for a, b in zip(launches, launches[1:])), (launches, stored))


def check_hostile(program, db, folder):
    bad, path = os.path.join(folder, "bad.db"), os.path.join(folder, "bad.html")
    pages.make_hostile(db, bad)
    result = html(program, bad, path, *RUNS, "--sweep", "1", cwd=folder)
    claim("hostile names: a page is made", result.returncode == 0, result.stderr)
    text = check_page("hostile names", path)
    for name in ("<script>alert", "<img src=x", "</title></style>"):
        claim("hostile names: %s is text" % name, name not in text)
    claim("hostile names: long ones are cut", "x" * 200 not in text)
    claim("hostile names: nothing was run", not os.path.exists(os.path.join(folder, "x")))
    found = trace_rules.check(pages.must(pages.run(program, "report", "--db", bad, "--run", "1", "--timeline")).stdout)
    claim("hostile names: the timeline keeps the rules", not found, found[:3])
    return bad


def rows_of(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def check_csv(program, db, bad):
    text = pages.must(subprocess.run([program, "report", "--db", db, "--run", "1", "--run", "4", "--csv"], capture_output=True)).stdout
    rows = rows_of(text.decode())
    claim("csv: lines end with CR LF, all rows are as long as the head", text.endswith(b"\r\n") and len({len(r) for r in rows}) == 1)
    one = dict(zip(rows[0], rows[1]))
    stored = sqlite3.connect(db).execute("SELECT cycles, time_ps, energy_j FROM launch WHERE run_id = 1 AND ord = 0").fetchone()
    claim("csv: figures are those of the database", int(one["cycles"]) == stored[0] and float(one["time_s"]) * 1e12 == stored[1]
          and float(one["energy_j"]) == stored[2], one)
    sweep = rows_of(pages.must(pages.run(program, "report", "--db", db, "--sweep", "1", "--csv")).stdout)
    front = pages.must(pages.run(program, "query", "--db", db, "--named", "front", ":sweep=1", "--json")).stdout
    mine = {int(r[0]) for r in sweep[1:] if r[sweep[0].index("front")] == "1"}
    claim("csv: a sweep has a row for each point, and the front that the query finds",
          len(sweep) == 13 and mine == {p["point"] for p in json.loads(front)}, mine)
    for what in (["--run", "1", "--run", "2", "--run", "3"], ["--sweep", "1"]):
        raw = pages.must(subprocess.run([program, "report", "--db", bad, *what, "--csv"], capture_output=True)).stdout.decode()
        rows = rows_of(raw)
        cells = [c for r in rows for c in r]
        claim("csv: hostile names keep the table's shape (%s)" % what[0], len({len(r) for r in rows}) == 1)
        number = re.compile(r"-?[0-9][0-9.e+-]*$")
        claim("csv: no cell is a formula (%s)" % what[0],
              not [c for c in cells if c.strip() and c.strip()[0] in "=+-@" and not number.match(c)])


def check_markdown(program, db, bad):
    for name, base in (("markdown", db), ("markdown with hostile names", bad)):
        text = pages.must(pages.run(program, "report", "--db", base, "--run", "1", "--run", "4", "--sweep", "1", "--markdown")).stdout
        width = None
        good = True
        for line in text.splitlines():
            bars = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else None
            good = good and (bars is None or width is None or bars == width)
            width = bars
        claim("%s: tables have as many cells in each row" % name, good and "| run |" in text)
        claim("%s: no name is HTML" % name, not re.search(r"<[a-z/!]", text))


def check_timeline(program, db):
    for run in ("1", "2", "3", "4", "5"):
        text = pages.must(pages.run(program, "report", "--db", db, "--run", run, "--timeline")).stdout
        found = trace_rules.check(text)
        claim("timeline of run %s keeps the rules of trace events" % run, not found, found[:5])
    events = json.loads(pages.must(pages.run(program, "report", "--db", db, "--run", "3", "--timeline")).stdout)["traceEvents"]
    names = {e["name"] for e in events}
    claim("timeline: memory path, clocks and decisions are there",
          {"loads in flight", "traffic (GB/s)", "DRAM bus busy", "clocks (MHz)", "clocks change", "warps by state"} <= names, names)
    kept = sum(e["ph"] == "X" and e["pid"] == 2 for e in events)
    stored = sqlite3.connect(db).execute("SELECT count(*) FROM v_cta WHERE run_id = 3").fetchone()[0]
    claim("timeline: a slice for each CTA that was kept", kept == stored > 0, kept)
    good = {"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 2}]}
    claim("the rules pass what is right", not trace_rules.check(json.dumps(good)))
    for name, event in (("no phase", {"ph": "?"}), ("a slice without duration", {"ph": "X"}), ("a text as time", {"ph": "i", "ts": "1"}),
                        ("slices that overlap", {"ph": "X", "ts": 1, "dur": 5}), ("an end without begin", {"ph": "E", "tid": 9}),
                        ("a counter of texts", {"ph": "C", "args": {"a": "1"}}), ("a pid that is a text", {"ph": "i", "pid": "1"})):
        planted = {"traceEvents": good["traceEvents"] + [{"name": "b", "pid": 1, "tid": 1, "ts": 1, **event}]}
        claim("planted: %s is found" % name, trace_rules.check(json.dumps(planted)))


def check_big_sweep(program, db, folder):
    """10,000 points: the page stays small and says what it left out."""
    big, path = os.path.join(folder, "big.db"), os.path.join(folder, "big.html")
    source, target = sqlite3.connect(db), sqlite3.connect(big)
    source.backup(target)
    n = 10000
    target.execute("UPDATE sweep SET points = ? WHERE sweep_id = 1", (n,))
    config, = target.execute("SELECT config FROM sweep_point WHERE feasible = 1").fetchone()
    target.executemany("INSERT INTO sweep_point VALUES(1, ?, ?, ?, '', NULL)", [(i, config, i % 5 > 0) for i in range(12, n)])
    target.executemany("INSERT INTO sweep_setting VALUES(1, ?, 0, 'l1.size_kb', ?)", [(i, i) for i in range(12, n)])
    target.executemany("INSERT INTO sweep_value VALUES(1, ?, 0, ?)", [(i, 1e-5 + i * 1e-9) for i in range(12, n)])
    target.executemany("INSERT INTO sweep_value VALUES(1, ?, 1, ?)", [(i, 1e-2 / (1 + i % 997)) for i in range(12, n)])
    target.commit()
    result = html(program, big, path, "--sweep", "1", *RUNS)
    claim("10,000 points: a page is made", result.returncode == 0, result.stderr)
    text = open(path, encoding="utf-8").read()
    claim("10,000 points: below 2 MB, and it says what it left out", os.path.getsize(path) < pages.SIZE_MOST
          and "evenly picked" in text and "of 10000 points" in text, os.path.getsize(path))


def check_variants(program, folder):
    """A sweep over a program's variants, with measured times and without, hostile names, and no variant that has a time."""
    db, table = pages.make_variants(program, folder)
    path = os.path.join(folder, "v.html")
    for name, more in (("variants", []), ("variants beside measured ones", ["--measured", table])):
        result = html(program, db, path, "--sweep", "1", *more)
        text = check_page(name, path)
        claim("%s: a line for each that has a time, a point for each measured one" % name, result.returncode == 0 and
              len(re.findall(r"<path fill=\"none\" stroke=\"var\(--c\d\)\" stroke-width=[^>]*><title>\d+: ", text)) == 8 and
              len(re.findall(r"<circle [^>]*><title>TILE=", text)) == (8 if more else 0), result.stderr)
        claim("%s: the fastest, and why two cannot be" % name, "The fastest by estimates is <b>TILE=" in text and
              "Variants that do not build, launch or verify" in text and "<th scope=\"row\" class=\"n\" data-v=\"2\">2</th>" in text)
        claim("%s: %s" % (name, "how alike the ranks are" if more else "nothing measured"), ("Spearman" in text) == bool(more))
    bad, none = os.path.join(folder, "badv.db"), os.path.join(folder, "none.db")
    pages.make_hostile(db, bad)
    claim("variants with hostile names are written", html(program, bad, path, "--sweep", "1").returncode == 0)
    check_page("variants with hostile names", path)
    source, target = sqlite3.connect(db), sqlite3.connect(none)
    source.backup(target)
    target.execute("UPDATE sweep_point SET feasible = NULL, reason = 'no'")
    target.commit()
    target.close()
    claim("variants of which none has a time are written", html(program, none, path, "--sweep", "1").returncode == 0)
    found = pages.page_problems(path) + (pages.tidy(path) or [])
    claim("variants of which none has a time: tidy and our rules find nothing", not found, found[:5])
    for what in (["--measured", table], ["--sweep", "1", "--column", "time_us"]):
        claim("%s alone is refused" % what[-2], html(program, db, path, *what).returncode == 2)
    result = html(program, db, table, "--sweep", "1", "--measured", table)
    claim("the table of measured variants is not overwritten", result.returncode != 0, result.stderr)


def check_empty_sweep(program, db, folder):
    """A sweep of which no point is done yet, one whose points all break the constraints, and one whose points hold them."""
    for name, sql in (("no point outside the constraints", "UPDATE sweep_point SET feasible = 1 WHERE feasible = 0"),
                      ("all points outside the constraints", "UPDATE sweep_point SET feasible = 0 WHERE feasible = 1"),
                      ("no point done", "DELETE FROM sweep_setting; DELETE FROM sweep_value; DELETE FROM sweep_point;"
                       " DELETE FROM sweep_effect")):
        empty, path = os.path.join(folder, "empty.db"), os.path.join(folder, "empty.html")
        source, target = sqlite3.connect(db), sqlite3.connect(empty)
        source.backup(target)
        target.executescript(sql)
        target.commit()
        target.close()
        result = html(program, empty, path, "--sweep", "1")
        claim("%s: a page is made" % name, result.returncode == 0, result.stderr)
        found = pages.page_problems(path) + (pages.tidy(path) or [])
        claim("%s: tidy and our rules find nothing" % name, not found, found[:5])
        with open(path, encoding="utf-8") as f:
            text = f.read()
        wanted = name.startswith("all")
        claim("%s: constraints are spoken of if points break them" % name, ("hold the constraints" in text) == wanted
              and (">outside the constraints</li>" in text) == wanted)


def main(program):
    program = os.path.abspath(program)
    with tempfile.TemporaryDirectory() as folder:
        db = pages.make(program, folder)
        check_pages(program, db, folder)
        check_launches(program, db, folder)
        check_sources(program, db, folder)
        check_planted(program, db, folder)
        check_alone(program, db, folder)
        check_drawn(program, db, folder)
        check_parts(program, folder)
        check_tracks(program, db, folder)
        bad = check_hostile(program, db, folder)
        check_csv(program, db, bad)
        check_markdown(program, db, bad)
        check_timeline(program, db)
        check_big_sweep(program, db, folder)
        check_empty_sweep(program, db, folder)
        check_variants(program, folder)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
