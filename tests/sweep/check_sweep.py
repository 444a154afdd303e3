#!/usr/bin/env python3
"""A sweep that is killed at random times ends with the same database content as one that is left alone.

Kills `warpwatt sweep` with SIGKILL SWEEP_KILLS times (5), each time a random moment after another part of the points is
stored, and every fifth time while it starts; then lets it end. Compares every table but for times.

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
    "parameters": {"sm.count": [2, 4, 8, 16], "sched": ["lrr", "gto", "two_level"], "l1.mshrs": [16, 32],
                   "clock.sm_mhz": [500, 700], "l1.ways": [2, 4]},  # of 2 ways there is no such cache
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
        met = []
        for i in range(kills):
            p = subprocess.Popen(sweep("killed.db", 1 + i % 2), env=env, stdout=subprocess.DEVNULL)
            if i % 5 != 2:
                end = time.monotonic() + 60 + whole
                while stored(os.path.join(folder, "killed.db")) < 96 * (i + 0.5) / (kills + 1) and p.poll() is None:
                    if time.monotonic() > end:
                        break
                    time.sleep(0.001)
            time.sleep(chance.random() * whole / 100)
            p.send_signal(signal.SIGKILL)
            p.wait()
            met.append(stored(os.path.join(folder, "killed.db")))
        subprocess.run(sweep("killed.db", 2), check=True, env=env, stdout=subprocess.DEVNULL)
        a, b = content(os.path.join(folder, "whole.db")), content(os.path.join(folder, "killed.db"))
        again = subprocess.run(sweep("killed.db", 2), check=True, env=env, stdout=subprocess.PIPE, text=True).stdout
        for what, good in (("the same content", a == b),
                           ("all points", len(a["sweep_point"]) == 96),
                           ("nothing left to compute", "replays: 0 computed" in again),
                           ("kills all over the run", met[0] < 32 and met[-1] >= 64 and any(32 <= m < 64 for m in met))):
            print("%s - %s after %d kills" % ("ok" if good else "not ok", what, kills))
            passed += good
            failed += not good
        for table in a:
            if a[table] != b.get(table):
                print("%s differs: %d and %d rows" % (table, len(a[table]), len(b.get(table, []))))
        print("points stored at kills:", met)
        subprocess.run(sweep("three.db", 3), check=True, env=env, stdout=subprocess.DEVNULL)
        good = content(os.path.join(folder, "three.db")) == a
        print("%s - three threads store what one does" % ("ok" if good else "not ok"))
        passed += good
        failed += not good
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
