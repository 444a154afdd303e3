#!/usr/bin/env python3
"""A sweep that is killed at random times ends with the same database content as one that is left alone.

Kills `warpwatt sweep` with SIGKILL SWEEP_KILLS times (5), each time after another part of what an undisturbed run
takes, then lets it end. Compares every table but for times, and asks that no replay was done twice.

usage: check_sweep.py PROGRAM
"""
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SPACE = {
    "gpu": "gtx480",
    "traces": [{"workload": "saxpy", "parameters": ["n=4096"]}, {"workload": "spmv", "parameters": ["size=small"]}],
    "parameters": {"l1.ways": [2, 4], "sm.count": [2, 4, 8, 16], "sched": ["lrr", "gto", "two_level"],
                   "l1.mshrs": [16, 32]},
    "constraints": ["power_w <= 80"],
    "objectives": ["time", "edp"],
}
TIMES = {"stored_at", "host_seconds"}


def content(path):
    """Every row of every table, without times."""
    db = sqlite3.connect(path)
    rows = {}
    for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall():
        columns = [c[1] for c in db.execute("PRAGMA table_info(%s)" % table) if c[1] not in TIMES]
        rows[table] = sorted(map(repr, db.execute("SELECT %s FROM %s" % (", ".join(columns), table))))
    db.close()
    return rows


def stored(path):
    try:
        db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        count = db.execute("SELECT count(*) FROM sweep_point").fetchone()[0]
        db.close()
        return count
    except sqlite3.Error:
        return 0


def main():
    program, kills = os.path.abspath(sys.argv[1]), int(os.environ.get("SWEEP_KILLS", "5"))
    passed = failed = 0
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, TMPDIR=folder)
        space = os.path.join(folder, "space.json")
        with open(space, "w", encoding="utf-8") as f:
            json.dump(SPACE, f)

        def sweep(db, jobs):
            return [program, "sweep", space, "-j%d" % jobs, "--db", os.path.join(folder, db)]

        start = time.monotonic()
        subprocess.run(sweep("whole.db", 1), check=True, env=env, stdout=subprocess.DEVNULL)
        whole = time.monotonic() - start
        met = set()
        for i in range(kills):
            p = subprocess.Popen(sweep("killed.db", 1 + i % 2), env=env, stdout=subprocess.DEVNULL)
            time.sleep(chance.random() * min(whole, 1 + 2 * whole / kills))
            p.send_signal(signal.SIGKILL)
            p.wait()
            met.add(stored(os.path.join(folder, "killed.db")))
        subprocess.run(sweep("killed.db", 2), check=True, env=env, stdout=subprocess.DEVNULL)
        a, b = content(os.path.join(folder, "whole.db")), content(os.path.join(folder, "killed.db"))
        again = subprocess.run(sweep("killed.db", 2), check=True, env=env, stdout=subprocess.PIPE, text=True).stdout
        for what, good in (("the same content", a == b),
                           ("all points", len(a["sweep_point"]) == 48),
                           ("nothing left to compute", "replays: 0 computed" in again)):
            print("%s - %s after %d kills" % ("ok" if good else "not ok", what, kills))
            passed += good
            failed += not good
        for table in a:
            if a[table] != b.get(table):
                print("%s differs: %d and %d rows" % (table, len(a[table]), len(b.get(table, []))))
        print("points stored at kills:", sorted(met))
        subprocess.run(sweep("three.db", 3), check=True, env=env, stdout=subprocess.DEVNULL)
        good = content(os.path.join(folder, "three.db")) == a
        print("%s - three threads store what one does" % ("ok" if good else "not ok"))
        passed += good
        failed += not good
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
