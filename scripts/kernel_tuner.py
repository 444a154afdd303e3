#!/usr/bin/env python3
"""Files of Kernel Tuner and of the auto-tuning community's benchmarks, in and out: T1 (a kernel and its space) and T4
(results). docs/tune.md shows a session.

usage: kernel_tuner.py space T1.json --gpu GPU -o space.json      a space file of warpwatt sweep
       kernel_tuner.py t1 space.json -o T1.json                   the other way
       kernel_tuner.py t4 --db r.db [--sweep N] [--program warpwatt] -o T4.json    estimates as results
       kernel_tuner.py table T4.json -o measured.tsv              results as the table of warpwatt correlate --space
"""
import argparse
import ast
import json
import subprocess
import sys

TYPES = {"float": "f32", "double": "f64", "half": "f16", "int": "s32", "int32": "s32", "uint": "u32", "unsigned int": "u32",
         "uint32": "u32", "int64": "s64", "long": "s64", "uint64": "u64", "char": "s8", "uint8": "u8", "int8": "s8",
         "float32": "f32", "float64": "f64"}


def fail(text):
    sys.exit("kernel_tuner.py: " + text)


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def values(parameter):
    """Levels: a list, or the text of one."""
    v = parameter["Values"]
    if isinstance(v, str):
        v = ast.literal_eval(v)
    return list(v)


def dimensions(size):
    """X, Y, Z as texts."""
    return [str(size.get(k, 1)) for k in ("X", "Y", "Z")]


def argument(a):
    """An argument of a launch description, and the buffer that it needs or None."""
    base = a["Type"].rstrip("1234")
    parts = int(a["Type"][len(base):] or 1)
    kind = TYPES.get(base) or fail("argument %s: type %s is not known" % (a["Name"], a["Type"]))
    if a["MemoryType"] == "Scalar":
        return {kind: a["FillValue"]}, None
    buffer = {"type": kind, "count": a["Size"] if parts == 1 else "(%s) * %d" % (a["Size"], parts)}
    fill = a.get("FillType", "Constant")
    if fill == "Random":
        buffer["fill"] = {"random": {"min": a.get("FillMin", -1), "max": a.get("RandomMax", a.get("FillValue", 1) or 1)}}
    elif fill == "Constant" and a.get("FillValue"):
        buffer["fill"] = {"value": a["FillValue"]}
    elif fill == "BinaryRaw":
        buffer["fill"] = {"file": a["DataSource"]}
    return {"buffer": a["Name"]}, buffer


def to_space(t1, gpu):
    spec, space = t1["KernelSpecification"], t1["ConfigurationSpace"]
    args = [argument(a) for a in spec.get("Arguments", [])]
    block = dimensions(spec["LocalSize"])
    grid = dimensions(spec.get("GlobalSize") or spec.get("ProblemSize"))
    if spec.get("GlobalSizeType", "CUDA") != "CUDA":  # threads, not CTAs
        grid = ["ceil_div(%s, %s)" % pair for pair in zip(grid, block)]
    launch = {"kernel": spec["KernelName"], "grid": grid, "block": block, "args": [a for a, _ in args],
              "buffers": {a["buffer"]: b for a, b in args if b}}
    if spec.get("SharedMemory"):
        launch["shared"] = str(spec["SharedMemory"])
    return {"description": "of Kernel Tuner's %s" % t1.get("General", {}).get("BenchmarkName", spec["KernelName"]),
            "gpu": gpu,
            "program": {"source": spec["KernelFile"], "as": "header", "options": spec.get("CompilerOptions", []),
                        "parameters": {p["Name"]: values(p) for p in space["TuningParameters"]},
                        "constraints": [c["Expression"] for c in space.get("Conditions", [])],
                        "launch": launch}}


def plain_levels(v):
    v = v["values"] if isinstance(v, dict) and "values" in v else v
    if isinstance(v, list):
        return v
    out, x = [], v["from"]
    if "steps" in v:
        return [v["from"] + k * (v["to"] - v["from"]) // (v["steps"] - 1) for k in range(v["steps"])]
    while x <= v["to"]:
        out.append(x)
        x = x + v["step"] if "step" in v else x * v.get("factor", 2)
    return out


def to_t1(space):
    program = space["program"]
    launch = program["launch"]
    names = {v: k for k, v in TYPES.items() if k in ("float", "double", "half", "int", "uint32", "int64", "uint64", "int8", "uint8")}

    def size(key):
        v = launch[key] if isinstance(launch[key], list) else [launch[key]]
        return dict(zip("XYZ", [str(e) for e in v] + ["1"] * (3 - len(v))))
    arguments = []
    for i, a in enumerate(launch.get("args", [])):
        if "buffer" in a:
            b = launch["buffers"][a["buffer"]]
            arguments.append({"Name": a["buffer"], "Type": names[b.get("type", "u8")], "MemoryType": "Vector",
                              "Size": b.get("count", b.get("bytes")), "FillType": "Random" if "random" in b.get("fill", {}) else "Constant",
                              "FillValue": b.get("fill", {}).get("value", 1 if "random" in b.get("fill", {}) else 0)})
        else:
            kind = next(iter(a))
            arguments.append({"Name": "arg%d" % i, "Type": names.get(kind, kind), "MemoryType": "Scalar", "FillValue": a[kind]})
    return {"General": {"BenchmarkName": launch["kernel"], "OutputFormat": "JSON"},
            "ConfigurationSpace": {
                "TuningParameters": [{"Name": k, "Type": "int", "Values": str(plain_levels(v))} for k, v in program["parameters"].items()],
                "Conditions": [{"Expression": c, "Parameters": [p for p in program["parameters"] if p in c]}
                               for c in program.get("constraints", [])]},
            "KernelSpecification": {"Language": "CUDA", "CompilerOptions": program.get("options", []), "KernelName": launch["kernel"],
                                    "KernelFile": program["source"], "GlobalSizeType": "CUDA", "LocalSize": size("block"),
                                    "GlobalSize": size("grid"), "Arguments": arguments}}


def rows_of(options):
    sql = ("SELECT settings, time_s, reason, point FROM v_sweep_variant WHERE sweep_id = "
           "coalesce(?, (SELECT max(sweep_id) FROM sweep)) ORDER BY point")
    command = [options.program, "query", sql] + ([str(options.sweep)] if options.sweep else []) + ["--db", options.db, "--json"]
    if not options.sweep:
        command[2] = sql.replace("coalesce(?, (SELECT max(sweep_id) FROM sweep))", "(SELECT max(sweep_id) FROM sweep)")
    p = subprocess.run(command, capture_output=True, text=True, check=False)
    if p.returncode:
        fail(p.stderr.strip())
    return json.loads(p.stdout)


def number(text):
    try:
        return int(text)
    except ValueError:
        return text


def invalidity(reason):
    if not reason:
        return "correct"
    return "compile" if "compile" in reason or "ptxas" in reason else "correctness" if "reference" in reason else "runtime"


def to_t4(rows):
    results = []
    for r in rows:
        good = not r["reason"]
        results.append({"configuration": {k: number(v) for k, v in (s.split("=", 1) for s in r["settings"].split())},
                        "objectives": ["time"], "invalidity": invalidity(r["reason"]), "correctness": 1 if good else 0,
                        "times": {"compilation_time": 0, "framework": 0, "search_algorithm": 0, "validation": 0,
                                  "runtimes": [1e3 * r["time_s"]] if good else []},
                        "measurements": [{"name": "time", "value": 1e3 * r["time_s"], "unit": "ms"}] if good else []})
    return {"schema_version": "1.0.0", "results": results}


def to_table(t4):
    results = t4["results"]
    names = sorted({k for r in results for k in r["configuration"]})
    lines = ["\t".join(names + ["time_ms", "status"])]
    for r in results:
        time = next((m["value"] for m in r.get("measurements", []) if m["name"] == "time"), "")
        good = r.get("invalidity", "correct") == "correct"
        lines.append("\t".join([str(r["configuration"].get(k, "")) for k in names] +
                               [str(time) if good else "", "ok" if good else r["invalidity"]]))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("space", "t1", "t4", "table"))
    parser.add_argument("file", nargs="?")
    parser.add_argument("--gpu", default="v100")
    parser.add_argument("--db")
    parser.add_argument("--sweep", type=int)
    parser.add_argument("--program", default="warpwatt")
    parser.add_argument("-o", dest="out", required=True)
    options = parser.parse_args()
    if options.what == "t4" and not options.db:
        fail("t4 needs --db")
    if options.what != "t4" and not options.file:
        fail("%s needs a file" % options.what)
    if options.what == "space":
        text = json.dumps(to_space(load(options.file), options.gpu), indent=2) + "\n"
    elif options.what == "t1":
        text = json.dumps(to_t1(load(options.file)), indent=2) + "\n"
    elif options.what == "t4":
        text = json.dumps(to_t4(rows_of(options)), indent=2) + "\n"
    else:
        text = to_table(load(options.file))
    write(options.out, text)


if __name__ == "__main__":
    main()
