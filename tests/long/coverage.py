#!/usr/bin/env python3
"""Fails unless `warpwatt validate sampling` finds that the intervals of sampled runs hold the full replay as often as
they say, over all programs and in each that is sampled with 100 seeds, and that long programs are replayed 20 times
less (docs/model/sampling.md). Takes minutes.

usage: coverage.py PROGRAM
"""
import json
import subprocess
import sys


def main(argv):
    text = subprocess.run([argv[1], "validate", "sampling", "--json"], check=True, stdout=subprocess.PIPE).stdout
    rows = {r["id"]: r for r in json.loads(text)}
    failed = 0
    for row in rows.values():
        if row["ours"] is None or row["paper"] is None:
            continue
        must = row["id"].endswith(("-coverage", "-varying", "-half", "-error")) or row["id"].startswith("smp-part-")
        must |= row["id"].endswith("-gtx480") and not row["id"].startswith("smp-long-")
        failed += must and not row["within"]
        print("%s %s: %.4g, goal %.4g" % ("ok" if row["within"] else "not ok", row["id"], row["ours"], row["paper"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
