"""Compares replays with measurements of a real GPU, launch by launch: the figures and tables of silicon.py.

A program's error is the mean over its kernels, a kernel's the mean over its launches: kernels of a program count
equally, whatever the number of their launches. Errors are (estimate - measured) / measured.
"""
import csv
import io
import math
from collections import OrderedDict

REPETITIVE = ("3DConvolution", "lud", "nw")
NEEDED = ("app", "launch", "hw_cycles", "hw_warp_instructions")
RATES = ("l1_hit_percent", "l2_hit_percent")
CLASSES = ((10000, "below 10,000 cycles"), (100000, "10,000 to 100,000"), (math.inf, "100,000 and more"))


class BadTable(Exception):
    """What is wrong with a table: file, line, what was expected."""


# ---- the measured table ----

def number(text, where):
    """None for an empty or missing value."""
    if text is None or text in ("", "None", "-"):
        return None
    try:
        value = float(text)
    except ValueError:
        raise BadTable("%s: a number was expected, not '%s'" % (where, text)) from None
    if not math.isfinite(value) or value < 0:
        raise BadTable("%s: '%s' is not a count" % (where, text))
    return value


def read_measured(path):
    """Rows by (program, launch), and the names of the other simulators whose cycles the table has."""
    with open(path, encoding="utf-8", newline="") as f:
        reader = csv.DictReader(f, delimiter="\t")
        names = reader.fieldnames or []
        missing = [n for n in NEEDED if n not in names]
        if missing:
            raise BadTable("%s:1: no column %s" % (path, ", ".join(missing)))
        others = [n[:-len("_cycles")] for n in names if n.endswith("_cycles") and n != "hw_cycles"]
        rows = OrderedDict()
        for line, text in enumerate(reader, 2):
            if None in text:
                raise BadTable("%s:%d: %d columns were expected" % (path, line, len(names)))
            row = {n: number(text[n], "%s:%d: %s" % (path, line, n)) for n in names if n != "app"}
            if row["launch"] is None or not row["hw_cycles"] or not row["hw_warp_instructions"]:
                raise BadTable("%s:%d: launch, hw_cycles and hw_warp_instructions are needed" % (path, line))
            key = (text["app"], int(row["launch"]))
            if key in rows:
                raise BadTable("%s:%d: %s launch %d appears twice" % ((path, line) + key))
            rows[key] = row
    if not rows:
        raise BadTable("%s: no rows" % path)
    return rows, others


def read_suite(path, suite):
    """The rows of one suite of reports/silicon.csv, in the form of read_measured; launch -1: all of a program's."""
    rows = OrderedDict()
    with open(path, encoding="utf-8", newline="") as f:
        for line, text in enumerate(csv.DictReader(f), 2):
            if text["suite"] != suite:
                continue
            value = {n: number(v, "%s:%d: %s" % (path, line, n)) for n, v in text.items() if n not in ("suite", "program")}
            launch = -1 if value["launch"] is None else int(value["launch"])
            row = {("" if n == "accelsim_cycles" else "hw_") + n: v for n, v in value.items() if n != "launch"}
            rows[(text["program"], launch)] = dict(row, launch=launch)
    if not rows:
        raise BadTable("%s: no rows of the suite '%s'" % (path, suite))
    return rows, ["accelsim"]


# ---- joining ----

def join(measured, others, estimates):
    """One row for each launch that both sides have, in the estimates' order."""
    out = []
    for e in estimates:
        m = measured.get((e["app"], e["launch"]))
        if m is None:
            continue
        row = OrderedDict((k, e[k]) for k in ("app", "launch", "kernel"))
        row["hw_cycles"], row["cycles"] = m["hw_cycles"], e["cycles"]
        row["error"] = e["cycles"] / m["hw_cycles"] - 1
        row["hw_warp_instructions"], row["warp_instructions"] = m["hw_warp_instructions"], e["warp_instructions"]
        row["instruction_ratio"] = e["warp_instructions"] / m["hw_warp_instructions"]
        for rate in RATES:
            row["hw_" + rate], row[rate] = m.get("hw_" + rate), e.get(rate)
        for extra in ("dram_read_bytes", "dram_write_bytes"):
            row[extra] = e.get(extra)
        for name in others:
            cycles = m[name + "_cycles"]
            row[name + "_cycles"] = cycles
            row[name + "_error"] = cycles / m["hw_cycles"] - 1 if cycles else None
        out.append(row)
    return out


# ---- figures ----

def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def by_kernel(rows, value):
    """Program -> kernel -> mean of value(row) over the kernel's launches."""
    found = OrderedDict()
    for row in rows:
        v = value(row)
        if v is not None:
            found.setdefault(row["app"], OrderedDict()).setdefault(row["kernel"], []).append(v)
    return OrderedDict((a, OrderedDict((k, mean(v)) for k, v in ks.items())) for a, ks in found.items())


def by_program(rows, value):
    return OrderedDict((a, mean(ks.values())) for a, ks in by_kernel(rows, value).items())


def ranks(values):
    """Ranks from 1; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    out, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for i in order[at:end + 1]:
            out[i] = (at + end) / 2 + 1
        at = end + 1
    return out


def pearson(x, y):
    if len(x) < 2:
        return None
    mx, my = mean(x), mean(y)
    sx, sy = sum((a - mx) ** 2 for a in x), sum((b - my) ** 2 for b in y)
    if not sx or not sy:
        return None
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / math.sqrt(sx * sy)


def correlations(rows, cycles):
    pairs = [(row["hw_cycles"], row[cycles]) for row in rows if row[cycles]]
    x, y = [p[0] for p in pairs], [p[1] for p in pairs]
    return {"rank_correlation": pearson(ranks(x), ranks(y)),
            "log_correlation": pearson([math.log(v) for v in x], [math.log(v) for v in y])}


def figures(rows, prefix=""):
    """The summary of one estimator (prefix "" is ours) over the rows that it has."""
    cycles, error = prefix + "cycles", prefix + "error"
    rows = [r for r in rows if r[error] is not None]
    rest = [r for r in rows if r["app"] not in REPETITIVE]

    def size(r):
        return abs(r[error])

    out = {"launches": len(rows),
           "by_launch": mean(map(size, rows)), "by_program": mean(by_program(rows, size).values()),
           "by_launch_without": mean(map(size, rest)), "by_program_without": mean(by_program(rest, size).values()),
           "bias_by_launch": mean(r[error] for r in rows),
           "bias_by_program": mean(by_program(rows, lambda r: r[error]).values())}
    out.update(correlations(rows, cycles))
    low = 0
    for high, name in CLASSES:
        some = [r for r in rows if low <= r["hw_cycles"] < high]
        out[name] = {"launches": len(some), "by_launch": mean(map(size, some)), "bias_by_launch": mean(r[error] for r in some)}
        low = high
    return out


def rates(rows):
    """Mean distance of hit rates in points, by program."""
    out = {}
    for rate in RATES:
        def apart(r, rate=rate):
            return None if r[rate] is None or r["hw_" + rate] is None else r[rate] - r["hw_" + rate]
        programs = by_program(rows, lambda r, f=apart: None if f(r) is None else abs(f(r)))
        out[rate] = {"points_by_program": mean(programs.values()), "bias_by_program": mean(by_program(rows, apart).values())}
    return out


def programs(rows, others):
    """A row for each program."""
    out = []
    for app in OrderedDict.fromkeys(r["app"] for r in rows):
        some = [r for r in rows if r["app"] == app]
        row = {"app": app, "launches": len(some), "kernels": len({r["kernel"] for r in some}),
               "instruction_ratio": sum(r["warp_instructions"] for r in some) / sum(r["hw_warp_instructions"] for r in some),
               "error": by_program(some, lambda r: abs(r["error"]))[app],
               "bias": by_program(some, lambda r: r["error"])[app]}
        for rate in RATES:
            row[rate] = by_program(some, lambda r, k=rate: r[k]).get(app)
            row["hw_" + rate] = by_program(some, lambda r, k=rate: r["hw_" + k]).get(app)
        for name in others:
            row[name + "_error"] = by_program(
                some, lambda r, k=name + "_error": None if r[k] is None else abs(r[k])).get(app)
        out.append(row)
    return out


def compare(measured, others, estimates):
    """Everything that is printed, as one object."""
    rows = join(measured, others, estimates)
    if not rows:
        raise BadTable("no launch is in both tables")
    shared = [r for r in rows if all(r[n + "_error"] is not None for n in others)]
    return {"rows": rows, "programs": programs(rows, others), "hit_rates": rates(rows), "others": list(others),
            "measured_launches": len(measured), "summary": figures(rows),
            "other_summaries": {n: figures(rows, n + "_") for n in others},
            "summary_where_all_have_estimates": figures(shared) if len(shared) < len(rows) else None}


# ---- printing ----

def percent(value, sign=False):
    return "-" if value is None else ("%+.1f" if sign else "%.1f") % (100 * value)


def figure(value, form="%.3f"):
    return "-" if value is None else form % value


def table(head, body):
    """Columns as wide as need be; the first two to the left."""
    width = [max(len(r[i]) for r in [head] + body) for i in range(len(head))]
    text = []
    for row in [head] + body:
        text.append("  ".join(c.ljust(w) if i < 1 else c.rjust(w) for i, (c, w) in enumerate(zip(row, width))).rstrip())
    return "\n".join(text) + "\n"


def launch_table(rows, others):
    body = [["%s %d" % (r["app"], r["launch"]), r["kernel"][:28], "%.0f" % r["hw_cycles"], "%.0f" % r["cycles"],
             percent(r["error"], True)] + [percent(r[n + "_error"], True) for n in others] +
            ["%.0f" % r["hw_warp_instructions"], figure(r["instruction_ratio"])] +
            [figure(r[k], "%.1f") for k in ("hw_l1_hit_percent", "l1_hit_percent", "hw_l2_hit_percent", "l2_hit_percent")]
            for r in rows]
    return table(["launch", "kernel", "measured", "ours", "error %"] + [n + " %" for n in others] +
                 ["instructions", "ours/measured", "L1 %", "ours", "L2 %", "ours"], body)


def program_table(rows, others):
    body = [[r["app"], str(r["launches"]), str(r["kernels"]), figure(r["instruction_ratio"]), percent(r["error"]),
             percent(r["bias"], True)] + [percent(r[n + "_error"]) for n in others] +
            [figure(r[k], "%.1f") for k in ("hw_l1_hit_percent", "l1_hit_percent", "hw_l2_hit_percent", "l2_hit_percent")]
            for r in rows]
    return table(["program", "launches", "kernels", "instructions", "error %", "bias %"] + [n + " %" for n in others] +
                 ["L1 %", "ours", "L2 %", "ours"], body)


SUMMARY = (("error by program, %", "by_program", percent), ("error by launch, %", "by_launch", percent),
           ("  without " + ", ".join(REPETITIVE) + ": by program", "by_program_without", percent),
           ("  by launch", "by_launch_without", percent),
           ("bias by program, %", "bias_by_program", lambda v: percent(v, True)),
           ("bias by launch, %", "bias_by_launch", lambda v: percent(v, True)),
           ("rank correlation", "rank_correlation", figure), ("correlation of logarithms", "log_correlation", figure),
           ("launches", "launches", str))


def summary_table(result):
    columns = [("ours", result["summary"])]
    if result["summary_where_all_have_estimates"]:
        columns.append(("ours, rows of all", result["summary_where_all_have_estimates"]))
    columns += [(n, result["other_summaries"][n]) for n in result["others"]]
    body = [[name] + [form(c[key]) for _, c in columns] for name, key, form in SUMMARY]
    for _, name in CLASSES:
        body.append(["error by launch, " + name + " (%d)" % result["summary"][name]["launches"]] +
                    [percent(c[name]["by_launch"]) for _, c in columns])
    return table([""] + [n for n, _ in columns], body)


def text(result, worst=10, launches=True):
    out = []
    if launches:
        out.append(launch_table(result["rows"], result["others"]))
    out.append(program_table(result["programs"], result["others"]))
    out.append(summary_table(result))
    hits = result["hit_rates"]
    out.append("hit rates: L1 %s points from the measured ones on the mean over programs (bias %s), L2 %s (bias %s)\n" % tuple(
        figure(hits[k][w], f) for k in RATES for w, f in (("points_by_program", "%.1f"), ("bias_by_program", "%+.1f"))))
    order = sorted(result["rows"], key=lambda r: -abs(math.log(max(r["cycles"], 1) / r["hw_cycles"])))[:worst]
    if order:
        out.append("worst launches\n" + launch_table(order, result["others"]))
    out.append("%d of %d measured launches compared\n" % (len(result["rows"]), result["measured_launches"]))
    return "\n".join(out)


def csv_text(result):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(result["rows"][0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: "" if v is None else v for k, v in r.items()} for r in result["rows"])
    return out.getvalue()
