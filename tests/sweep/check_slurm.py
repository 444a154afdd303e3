#!/usr/bin/env python3
"""A sweep on a Slurm cluster ends with the content of the same sweep on one machine, whatever is killed.

Starts a controller and four node daemons on this machine (slurm_cluster.py). Short: 24 points, one task killed.
With SLURM_LONG set: 10,000 points; tasks, a whole node and the driving program are killed in mid-sweep.

usage: check_slurm.py PROGRAM
"""
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from check_sweep import content
from slurm_cluster import Cluster, NotUp, missing

SHORT_SPACE = {
    "gpu": "gtx480",
    "traces": [{"workload": "saxpy", "parameters": ["n=200000"]}, {"workload": "spmv", "parameters": ["size=small"]}],
    "parameters": {"l1.mshrs": [16, 32], "sm.count": [2, 4, 8, 16], "sched": ["lrr", "gto", "two_level"]},
    "constraints": ["power_w <= 80"],
    "objectives": ["time", "edp"],
}
LONG_SPACE = {
    "gpu": "gtx480",
    "traces": [{"workload": "saxpy", "parameters": ["n=4096"]}],
    "parameters": {"sm.count": {"from": 1, "to": 10, "steps": 10}, "l1.mshrs": [4, 8, 16, 32, 64],
                   "sm.max_ctas": [2, 4, 6, 8], "clock.sm_mhz": {"from": 500, "to": 980, "step": 20},
                   "sched": ["lrr", "gto"]},
    "constraints": ["power_w <= 50"],
    "objectives": ["time", "edp"],
}


class Test:
    def __init__(self, program, folder, cluster):
        self.program, self.folder, self.cluster = program, folder, cluster
        self.passed = self.failed = 0
        self.env = dict(cluster.env, TMPDIR=os.path.join(folder, "node"))
        os.makedirs(self.env["TMPDIR"])
        self.log = open(os.path.join(folder, "driver.log"), "w+", encoding="utf-8")

    def expect(self, what, good):
        print("%s - %s" % ("ok" if good else "not ok", what), flush=True)
        self.passed += good
        self.failed += not good

    def path(self, name):
        return os.path.join(self.folder, name)

    def drive(self, db, points, *more):
        """Starts the program that drives a sweep."""
        return subprocess.Popen([self.program, "sweep", self.path("space.json"), "--engine", "slurm", "--db", self.path(db),
                                 "--poll", "1", "--shard-points", str(points), *more], env=self.env, cwd=self.folder,
                                stdout=self.log, stderr=self.log)

    def wait(self, p, db, seconds):
        try:
            p.wait(seconds)
        except subprocess.TimeoutExpired:
            p.kill()
            print("the sweep did not end; %d points are stored" % self.stored(db))
            print(self.cluster.logs())
        return p.returncode

    def stored(self, db):
        try:
            c = sqlite3.connect("file:%s?mode=ro" % self.path(db), uri=True, timeout=20)
            count = c.execute("SELECT count(*) FROM sweep_point").fetchone()[0]
            c.close()
            return count
        except sqlite3.Error:
            return 0

    def said(self):
        self.log.flush()
        with open(self.log.name, encoding="utf-8") as f:
            return f.read()

    def same(self, what, whole, db):
        a, b = content(self.path(whole)), content(self.path(db))
        self.expect(what, a == b)
        for table in a:
            if a[table] != b.get(table):
                print("%s differs: %d and %d rows" % (table, len(a[table]), len(b.get(table, []))))

    def alone(self, space):
        """The same sweep on this machine."""
        with open(self.path("space.json"), "w", encoding="utf-8") as f:
            json.dump(space, f)
        start = time.monotonic()
        subprocess.run([self.program, "sweep", self.path("space.json"), "--db", self.path("whole.db"), "-q"], check=True,
                       env=self.env)
        print("on this machine: %d points in %.1f s" % (self.stored("whole.db"), time.monotonic() - start), flush=True)

    def clean(self, db):
        self.expect("the shared folder is gone", not os.path.exists(self.path(db) + ".slurm"))
        left = [n for _, _, names in os.walk(self.env["TMPDIR"]) for n in names]
        return left


def until(holds, seconds):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)
    return holds()


def short(t):
    t.alone(SHORT_SPACE)
    start = time.monotonic()
    p = t.drive("r.db", 4)
    for _ in range(3): # a task may just have ended
        until(lambda: t.cluster.tasks(t.program), 20)
        t.cluster.kill(t.cluster.tasks(t.program)[:1])
        if until(lambda: "; again" in t.said(), 4):
            break
    code = t.wait(p, "r.db", 120)
    print("on the cluster: %.1f s" % (time.monotonic() - start))
    t.expect("the sweep ends although a task is killed", code == 0 and "; again" in t.said())
    t.expect("arrays are split by MaxArraySize", t.said().count("job array") >= 2)
    t.same("the same content as on one machine", "whole.db", "r.db")
    t.clean("r.db")
    refused(t)


def refused(t):
    p = t.drive("none.db", 8, "--partition", "there is none'")
    t.expect("what the cluster refuses is said in its words", t.wait(p, "none.db", 60) == 7 and "partition" in t.said())


def kill_some(t, p, chance, total, count, db):
    """Kills a task each time that another part of the points is stored; a node, and the driver, once."""
    done = {"tasks": 0}
    for i in range(count):
        if not until(lambda: p.poll() is not None or t.stored(db) >= total * (i + 0.5) / (count + 1), 900):
            break
        tasks = t.cluster.tasks(t.program)
        if p.poll() is not None:
            break
        for number in chance.sample(tasks, min(len(tasks), 2)):
            t.cluster.kill([number])
            done["tasks"] += 1
        if i == count // 3:
            t.cluster.kill_node("n2")
            print("node n2 killed with %d points stored" % t.stored(db), flush=True)
            done["node"] = 1
        if i == count // 2:
            p.send_signal(signal.SIGKILL)
            p.wait()
            print("driver killed with %d points stored" % t.stored(db), flush=True)
            done["driver"] = 1
            p = t.drive(db, 100)
    return p, done


def long(t):
    t.alone(LONG_SPACE)
    total = t.stored("whole.db")
    t.expect("10,000 points", total == 10000)
    start = time.monotonic()
    p, done = kill_some(t, t.drive("r.db", 100), random.Random(1), total, 10, "r.db")
    code = t.wait(p, "r.db", 3600)
    print("on the cluster: %.1f s; killed: %s" % (time.monotonic() - start, done))
    t.expect("the sweep ends", code == 0)
    t.expect("tasks, a node and the driver were killed in mid-sweep",
             done["tasks"] >= 5 and "node" in done and "driver" in done)
    t.expect("the killed node is down", "down" in t.cluster.ask("sinfo", "-h", "-n", "n2", "-o", "%T"))
    t.same("the same content as on one machine", "whole.db", "r.db")
    again = subprocess.run([t.program, "sweep", t.path("space.json"), "--db", t.path("r.db")], check=True, env=t.env,
                           stdout=subprocess.PIPE, text=True).stdout
    t.expect("nothing is left to compute", "replays: 0 computed" in again)
    print("left in nodes' folders:", len(t.clean("r.db")))


def main():
    program, gone = os.path.abspath(sys.argv[1]), missing()
    if gone:
        print("skipped: %s not installed (slurm-wlm, munge)" % ", ".join(gone))
        print("0 passed, 0 failed")
        return 0
    groups = "/sys/fs/cgroup"
    if not os.path.isdir(groups) or not os.listdir(groups):
        print("skipped: no control groups in %s, without which slurmd does not start" % groups)
        print("0 passed, 0 failed")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(folder, array=31 if os.environ.get("SLURM_LONG") else 5)
        try:
            cluster.__enter__()
        except NotUp as error:
            if os.environ.get("SLURM_LONG"):
                raise
            print("skipped: no cluster can be started here: %s\n0 passed, 0 failed" % error)
            return 0
        with contextlib.ExitStack() as end:
            end.push(cluster)
            t = Test(program, folder, cluster)
            (long if os.environ.get("SLURM_LONG") else short)(t)
            if t.failed or os.environ.get("SLURM_SHOW"):
                print(t.said()[-4000:])
            t.log.close()
    print("%d passed, %d failed" % (t.passed, t.failed))
    return 1 if t.failed else 0


if __name__ == "__main__":
    sys.exit(main())
