#!/usr/bin/env python3
"""How much of the exhaustive front an adaptive sweep finds, and that it goes on where it was killed.

Sweeps a small space in full and adaptively, each in a database of its own, and compares the hypervolume of the two
fronts of full replays. The hypervolume is computed here, apart from the program's: objectives are costs, the
reference lies behind the front's worst values by 10 % of its extent (and, printed beside it, behind those of all
points). Points picked at random, as many as the adaptive sweep replayed, are there to compare: the mean of 200 draws.

With --long, the three spaces of docs/guide/sweep.md at a budget of 5 %: several minutes.

usage: check_adaptive.py PROGRAM [--long]
"""
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SMALL = {
    "gpu": "gtx480",
    "traces": [{"workload": "spmv", "parameters": ["size=small"]}, {"workload": "stencil", "parameters": ["size=small"]}],
    "parameters": {"sm.count": [1, 2, 4, 8], "l1.mshrs": [8, 16, 64], "l2.size_kb": [192, 384, 768],
                   "clock.sm_mhz": [700, 1050, 1401], "sched": ["lrr", "gto"]},
    "objectives": ["time", "energy", "area"],
}
# Launches enough for samples to pay: of 200, a design whose interval stays too wide is replayed in full.
SAMPLED = {
    "gpu": "gtx480",
    "traces": [{"workload": "stencil", "parameters": ["nx=64", "ny=32", "nz=8", "iterations=400"]}],
    "parameters": {"sm.count": [8, 15], "clock.sm_mhz": [700, 1050, 1401], "l2.size_kb": [192, 768], "l1.mshrs": [16, 64]},
    "objectives": ["time", "energy"],
}
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "reports", "examples")
LONG = ("caches", "cores", "memory")
LEAST = 0.95


def points(path):
    """Costs of each valid point that holds the constraints."""
    db = sqlite3.connect(path)
    sense = [r[0] for r in db.execute("SELECT sense FROM sweep_objective WHERE sweep_id = 1 ORDER BY ord")]
    found = {}
    for point, objective, value in db.execute(
            "SELECT v.point, v.objective, v.value FROM sweep_value v JOIN sweep_point p ON p.sweep_id = v.sweep_id"
            " AND p.ord = v.point WHERE v.sweep_id = 1 AND p.feasible = 1"):
        found.setdefault(point, [None] * len(sense))[objective] = value * sense[objective]
    db.close()
    return {p: tuple(v) for p, v in found.items() if None not in v}


def beats(a, b):
    return a != b and all(x <= y for x, y in zip(a, b))


def front(costs):
    costs = list(set(costs))
    return [p for p in costs if not any(beats(q, p) for q in costs)]


def hypervolume(costs, reference):
    costs = front([p for p in costs if all(x < y for x, y in zip(p, reference))])
    if not costs:
        return 0.0
    if len(reference) == 1:
        return reference[0] - min(p[0] for p in costs)
    costs.sort(key=lambda p: p[-1])
    ends = [p[-1] for p in costs[1:]] + [reference[-1]]
    return sum((end - p[-1]) * hypervolume([q[:-1] for q in costs[:i + 1]], reference[:-1])
               for i, (p, end) in enumerate(zip(costs, ends)) if end > p[-1])


def references(costs):
    best = front(costs.values())
    low, high = [min(c) for c in zip(*best)], [max(c) for c in zip(*best)]
    far = [max(c) for c in zip(*costs.values())]
    return ([h + 0.1 * (h - l) for l, h in zip(low, high)], [f + 0.0001 * abs(f) for f in far])


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Space:
    def __init__(self, program, folder, path):
        self.program, self.folder, self.path = program, folder, path

    def command(self, db, *more, jobs=2):
        return [self.program, "sweep", self.path, "-j%d" % jobs, "--db", os.path.join(self.folder, db), *more]

    def sweep(self, db, *more, jobs=2):
        before = cpu()
        subprocess.run(self.command(db, *more, jobs=jobs), check=True, stdout=subprocess.DEVNULL)
        return cpu() - before


def compare(space, name, budget):
    whole_cpu = space.sweep("whole.db")
    part_cpu = space.sweep("part.db", "--strategy", "adaptive", "--budget", budget)
    whole, part = points(os.path.join(space.folder, "whole.db")), points(os.path.join(space.folder, "part.db"))
    db = sqlite3.connect(os.path.join(space.folder, "part.db"))
    cost, rounds = db.execute("SELECT cost, rounds FROM sweep_adaptive").fetchone()
    replayed = db.execute("SELECT count(*) FROM sweep_point WHERE reason = ''").fetchone()[0]
    total = db.execute("SELECT count(*) FROM sweep_candidate").fetchone()[0]
    db.close()
    near, far = references(whole)
    share = [hypervolume(part.values(), r) / hypervolume(whole.values(), r) for r in (near, far)]
    chance, drawn = random.Random(1), []
    for _ in range(200):
        keys = chance.sample(sorted(whole), min(replayed, len(whole)))
        drawn.append(hypervolume([whole[k] for k in keys], near) / hypervolume(whole.values(), near))
    print("%s: %d of %d points in %d rounds, cost %.2f %% (%.0f %% of the processor time: %.1f of %.1f s)"
          % (name, replayed, total, rounds, 100 * cost, 100 * part_cpu / whole_cpu, part_cpu, whole_cpu))
    print("  front of %d: hypervolume %.2f %%, from the worst of all points %.2f %%; random points %.1f %%"
          % (len(front(whole.values())), 100 * share[0], 100 * share[1], 100 * sum(drawn) / len(drawn)))
    same = all(part[p] == whole[p] for p in part if p in whole)
    return [("%s: %.0f %% of the front's hypervolume at least" % (name, 100 * LEAST), share[0] >= LEAST),
            ("%s: no more than the budget" % name, cost <= float(budget.rstrip("%")) / 100 + 1e-9),
            ("%s: what is reported are full replays" % name, same and len(part) > 0)]


def content(path):
    db = sqlite3.connect(path)
    rows = {}
    for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall():
        columns = [c[1] for c in db.execute("PRAGMA table_info(%s)" % table) if c[1] not in ("stored_at", "host_seconds")]
        rows[table] = sorted(map(repr, db.execute("SELECT %s FROM %s" % (", ".join(columns), table))))
    db.close()
    return rows


def kill(space, kills):
    """Kills an adaptive sweep, each time after another time, and lets it end."""
    more = ("--strategy", "adaptive", "--budget", "10%")
    start = time.monotonic()
    space.sweep("left.db", *more)
    whole, chance = time.monotonic() - start, random.Random(2)
    for _ in range(kills):
        p = subprocess.Popen(space.command("killed.db", *more), stdout=subprocess.DEVNULL)
        time.sleep(whole * chance.uniform(0.2, 0.9))
        p.send_signal(signal.SIGKILL)
        p.wait()
    space.sweep("killed.db", *more)
    left, killed = (content(os.path.join(space.folder, name)) for name in ("left.db", "killed.db"))
    for table in left:
        if left[table] != killed.get(table):
            print("%s differs: %d and %d rows" % (table, len(left[table]), len(killed.get(table, []))))
    return [("the same content after %d kills" % kills, left == killed)]


def sample(space):
    """Samples are used, cost what they say, and are told apart from full replays."""
    more = ("--strategy", "adaptive", "--budget", "20%")
    space.sweep("one.db", *more, jobs=1)
    space.sweep("two.db", *more)
    one, two = (content(os.path.join(space.folder, name)) for name in ("one.db", "two.db"))
    db = sqlite3.connect(os.path.join(space.folder, "two.db"))
    kinds = dict(db.execute("SELECT fidelity, count(*) FROM sweep_candidate GROUP BY 1"))
    cost, = db.execute("SELECT cost FROM sweep_adaptive").fetchone()
    share, = db.execute("SELECT avg(replayed) FROM sweep_sampled").fetchone()
    wrong, = db.execute("SELECT count(*) FROM sweep_point p JOIN sweep_candidate c ON c.point = p.ord"
                        " WHERE c.fidelity <> 'full'").fetchone()
    db.close()
    print("samples: %s, %.0f %% of a replay each, cost %.1f %%" % (kinds, 100 * (share or 0), 100 * cost))
    return [("samples are taken where they pay", kinds.get("sampled", 0) > 0 and 0 < share < 0.34),
            ("points are full replays all the same", wrong == 0 and kinds.get("full", 0) > 0),
            ("samples count in the cost", 0 < cost <= 0.2 + 0.34 / 24),
            ("one thread samples what two do", one == two)]


def main():
    program, checks = os.path.abspath(sys.argv[1]), []
    long = "--long" in sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        path = os.path.join(folder, "small.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(SMALL, f)
        small = Space(program, folder, path)
        if not long:
            checks += compare(small, "small", "10%")
            checks += kill(small, 3)
            path = os.path.join(folder, "sampled.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(SAMPLED, f)
            checks += sample(Space(program, folder, path))
        for name in LONG if long else ():
            space = Space(program, os.path.join(folder, name), os.path.join(EXAMPLES, "adaptive_%s.json" % name))
            os.mkdir(space.folder)
            checks += compare(space, name, "5%")
    for what, good in checks:
        print("%s - %s" % ("ok" if good else "not ok", what))
    passed = sum(good for _, good in checks)
    print("%d passed, %d failed" % (passed, len(checks) - passed))
    return 0 if passed == len(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
