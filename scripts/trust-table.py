#!/usr/bin/env python3
"""Writes the table of docs/trust.md from reports/bands.csv, or checks that it is there as it would be written.

usage: trust-table.py write|check
"""
import csv
import os
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = os.path.join(ROOT, "docs", "trust.md")
MARKER = "<!-- Below: scripts/trust-table.py"


def kind(row):
    if row["of"] != "launches":
        return row["of"]
    low, high = int(row["from_cycles"]), int(row["to_cycles"])
    if not low:
        return "launches below %s cycles" % format(high, ",")
    return "launches of %s cycles and more" % format(low, ",") if not high else \
        "launches of %s to %s cycles" % (format(low, ","), format(high, ","))


def table():
    lines = ["| GPU | kind | rows | error | bias | 9 of 10 within | measured |", "|---|---|---|---|---|---|---|"]
    with open(os.path.join(ROOT, "reports", "bands.csv"), encoding="utf-8") as f:
        for row in csv.DictReader(f):
            lines.append("| `%s` | %s | %s | %s | %+.1f | %s | %s |" % (
                row["gpu"], kind(row), row["launches"], row["error_percent"], float(row["bias_percent"]),
                row["p90_percent"], row["date"]))
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("write", "check"):
        print(__doc__)
        return 2
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    end = text.index("\n", text.index(MARKER)) + 1
    wanted = text[:end] + "\n" + table()
    if sys.argv[1] == "write":
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(wanted)
        return 0
    if wanted != text:
        print("docs/trust.md is not what reports/bands.csv says; run scripts/trust-table.py write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
