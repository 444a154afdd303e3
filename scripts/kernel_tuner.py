#!/usr/bin/env python3
"""Files of Kernel Tuner and of the auto-tuning community's benchmarks, in and out: T1 (a kernel and its space) and T4
(results). docs/guide/tune.md shows a session.

usage: kernel_tuner.py space T1.json --gpu GPU -o space.json      a space file of warpwatt sweep
       kernel_tuner.py t1 space.json -o T1.json                   the other way
       kernel_tuner.py t4 --db r.db [--sweep N] [--program warpwatt] -o T4.json    estimates as results
       kernel_tuner.py table T4.json -o measured.tsv              results as the table of warpwatt correlate --space
"""
import argparse
import ast
import json
import os
import re
import stat
import subprocess
import sys

TYPES = {"float": "f32", "double": "f64", "half": "f16", "int": "s32", "int32": "s32", "uint": "u32", "unsigned int": "u32",
         "uint32": "u32", "int64": "s64", "long": "s64", "uint64": "u64", "char": "s8", "uint8": "u8", "int8": "s8",
         "float32": "f32", "float64": "f64"}


def fail(text):
    sys.exit("kernel_tuner.py: " + text)


def load(path):
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a FIFO may never have a writer
            fail("%s: expected a regular file" % path)
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError) as e:
        fail("%s: %s" % (path, e))


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


# ---- Python's expressions, of which T1 files are made ----

ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
COMPARISON = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


STEPS = 1000000  # operations and elements of lists, of all expressions of a file
TEXT = 65536  # characters of an expression of a space


class Work:
    """What is left for the expressions of a file."""

    def __init__(self):
        self.left = STEPS

    def take(self, n):
        self.left -= n
        if self.left < 0:
            raise ValueError("takes more than %d steps" % STEPS)

    def elements(self, source):
        """A list of numbers, taken one after another."""
        out = []
        for e in source:
            self.take(1)
            out.append(single(e))
        return out


WORK = Work()


def single(value):
    """A number of at most 64 bits; nothing grows beyond them."""
    if not isinstance(value, (int, float)) or (isinstance(value, int) and value.bit_length() > 64):
        raise ValueError("expected a number of at most 64 bits")
    return value


def operation(op, a, b):
    if isinstance(op, ast.Pow):
        if not (isinstance(b, int) and 0 <= b <= 64) or (abs(a) > 1 and abs(a).__ceil__().bit_length() * b > 128):
            raise ValueError("a power of more than 64 bits")
        return a ** b
    if isinstance(op, ast.Div):
        return a / b
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "//": lambda: a // b,
            "%": lambda: a % b}[ARITHMETIC[type(op)]]()


def called(name, a):
    """One of the functions that are known; None: it is none."""
    if name == "range":
        return range(*[single(e) for e in a])
    if name == "int" and len(a) == 1:
        return int(single(a[0]))
    if name == "len" and len(a) == 1:
        return len(a[0])
    if name in ("list", "sorted", "min", "max"):
        a = WORK.elements(a[0]) if len(a) == 1 else WORK.elements(a)
        return {"list": list, "sorted": sorted, "min": min, "max": max}[name](a)
    return None


def computed(node, names):
    """The value of a Python expression of numbers, lists of them, range, min, max and comprehensions; nothing else is
    executed. ValueError: it has something else, or does not end soon."""
    WORK.take(1)

    def go(n):
        return computed(n, names)
    if isinstance(node, ast.Constant):
        return single(node.value)
    if isinstance(node, (ast.List, ast.Tuple)):
        return WORK.elements(go(e) for e in node.elts)
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -single(go(node.operand))
    if isinstance(node, ast.Subscript):
        return go(node.value)[go(node.slice)]
    if isinstance(node, ast.BinOp):
        a, b = go(node.left), go(node.right)
        if isinstance(node.op, ast.Add) and isinstance(a, (list, range)):
            return WORK.elements(a) + WORK.elements(b)
        if isinstance(node.op, (ast.Pow, ast.Div)) or type(node.op) in ARITHMETIC:
            return single(operation(node.op, single(a), single(b)))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        value = called(node.func.id, [go(e) for e in node.args])
        if value is not None:
            return value
    if isinstance(node, ast.ListComp) and len(node.generators) == 1 and isinstance(node.generators[0].target, ast.Name):
        g = node.generators[0]
        out = []
        for v in go(g.iter):
            WORK.take(1)
            inner = {**names, g.target.id: v}
            if all(computed(c, inner) for c in g.ifs):
                out.append(single(computed(node.elt, inner)))
        return out
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISON:
        a, b = single(go(node.left)), single(go(node.comparators[0]))
        return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[COMPARISON[type(node.ops[0])]]
    raise ValueError(ast.unparse(node))


def parse(text):
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        fail("\"%.200s\" is not a Python expression" % text)


def values(parameter):
    """Levels: a list, or the text of one, such as "list(range(1, 9))"."""
    v = parameter["Values"]
    try:
        v = WORK.elements(computed(parse(v), {}) if isinstance(v, str) else v)
    except (ValueError, TypeError) as e:
        fail("parameter %s: values %.200s: cannot be computed: %.200s" % (parameter["Name"], parameter["Values"], e))
    if not all(isinstance(e, int) for e in v):
        fail("parameter %s: expected whole numbers, met %.200s" % (parameter["Name"], parameter["Values"]))
    return [int(e) for e in v]


def joined(op, parts):
    if sum(map(len, parts)) > TEXT:
        raise ValueError("longer than %d characters" % TEXT)
    return "(" + (" %s " % op).join(parts) + ")"


def compared(left, op, right):
    """A comparison as ours. Python's / has fractions: a / b < c is a < c * b, where b is positive, as sizes are."""
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, (ast.List, ast.Tuple)):
        one = ours(left)
        equal = joined("||", ["%s == %s" % (one, ours(e)) for e in right.elts])
        return equal if isinstance(op, ast.In) else "!" + equal
    if type(op) not in COMPARISON:
        raise ValueError("a comparison other than < <= > >= == != in")
    a, b, factors = left, right, ["", ""]
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Div):
        a, factors[1] = left.left, " * (%s)" % ours(left.right)
    if isinstance(right, ast.BinOp) and isinstance(right.op, ast.Div):
        b, factors[0] = right.left, " * (%s)" % ours(right.right)
    wrap = ["(%s)%s" % (ours(e), f) if f else ours(e) for e, f in ((a, factors[0]), (b, factors[1]))]
    return "%s %s %s" % (wrap[0], COMPARISON[type(op)], wrap[1])


def ours(node):
    """An expression of Python as one of a space; ValueError: it has something that spaces do not."""
    if isinstance(node, ast.BoolOp):
        return joined("&&" if isinstance(node.op, ast.And) else "||", [ours(v) for v in node.values])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        return ("!" if isinstance(node.op, ast.Not) else "-") + "(%s)" % ours(node.operand)
    if isinstance(node, ast.Compare):
        terms = [node.left] + node.comparators
        return joined("&&", [compared(a, op, b) for a, op, b in zip(terms, node.ops, terms[1:])])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and 0 < node.right.value < 8:
        return joined("*", [ours(node.left)] * node.right.value)
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        return joined(ARITHMETIC[type(node.op)], [ours(node.left), ours(node.right)])
    if isinstance(node, ast.IfExp):
        return "(%s ? %s : %s)" % (ours(node.test), ours(node.body), ours(node.orelse))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "ceil" and len(node.args) == 1 and isinstance(node.args[0], ast.BinOp) and isinstance(node.args[0].op, ast.Div):
            return "ceil_div(%s, %s)" % (ours(node.args[0].left), ours(node.args[0].right))
        if node.func.id in ("min", "max", "ceil_div"):
            return "%s(%s)" % (node.func.id, ", ".join(ours(a) for a in node.args))
        if node.func.id == "int" and len(node.args) == 1:
            inner = node.args[0]
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div):
                return joined("//", [ours(inner.left), ours(inner.right)])
            return ours(inner)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return str(int(node.value))
    if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value.is_integer():
        return str(int(node.value))
    raise ValueError(ast.unparse(node))


def translated(text, what):
    """An expression of a T1 file as one of a space."""
    try:
        node = parse(str(text))
        out = ours(node)
        return out[1:-1] if isinstance(node, (ast.Compare, ast.BinOp, ast.BoolOp)) and out.startswith("(") else out
    except ValueError as e:
        fail("%s: \"%.200s\": cannot be carried over: %.200s" % (what, text, e))


def python(text):
    """An expression of a space in Python's words: whole divisions."""
    text = re.sub(r"(?<!/)/(?!/)", "//", str(text))
    text = text.replace("&&", " and ").replace("||", " or ")
    return re.sub(r"\s+", " ", re.sub(r"!(?!=)", " not ", text)).strip()


# ---- spaces ----

def dimensions(size):
    """X, Y, Z as expressions of a space."""
    return [translated(size.get(k, 1), "size") for k in ("X", "Y", "Z")]


def grid_of(spec, block, names):
    """CTAs: the problem's size over the parameters that divide it, as Kernel Tuner has it; else the global size."""
    problem = spec.get("ProblemSize")
    if problem is None or isinstance(problem, dict):
        size = spec.get("GlobalSize") or problem or fail("there is neither ProblemSize nor GlobalSize")
        grid = dimensions(size)
        if spec.get("GlobalSizeType", "CUDA") != "CUDA":  # threads, not CTAs
            grid = ["ceil_div(%s, %s)" % pair for pair in zip(grid, block)]
        return grid
    problem = problem if isinstance(problem, list) else [problem]
    grid = []
    for k, size in zip("XYZ", problem + [1] * (3 - len(problem))):
        usual = "block_size_" + k.lower()
        by = spec.get("GridDiv" + k) or ([usual] if usual in names else [])
        size = translated(size, "ProblemSize")
        grid.append("ceil_div(%s, %s)" % (size, " * ".join("(%s)" % translated(b, "GridDiv" + k) for b in by)) if by else size)
    return grid


def buffer_size(size, levels, problem):
    """A number, or an expression: of the problem's size and of all values of parameters, or of the variant's."""
    if not isinstance(size, str):
        return size
    if not re.search(r"ProblemSize|max\(|min\(", size):
        return translated(size, "Size")
    try:
        return int(computed(parse(size), {**levels, "ProblemSize": problem}))
    except (ValueError, TypeError) as e:
        fail("Size \"%.200s\" cannot be computed: %.200s" % (size, e))


def argument(a, levels, problem):
    """An argument of a launch description, and the buffer that it needs or None."""
    base = a["Type"].rstrip("1234")
    parts = int(a["Type"][len(base):] or 1)
    kind = TYPES.get(base) or fail("argument %s: type %s is not known" % (a["Name"], a["Type"]))
    if a["MemoryType"] == "Scalar":
        return {kind: a["FillValue"]}, None
    count = buffer_size(a["Size"], levels, problem)
    buffer = {"type": kind, "count": count if parts == 1 else "(%s) * %d" % (count, parts)}
    fill = a.get("FillType", "Constant")
    if fill == "Random":
        buffer["fill"] = {"random": {"min": a.get("FillMin", -1), "max": a.get("RandomMax", a.get("FillValue", 1) or 1)}}
    elif fill == "Constant" and a.get("FillValue"):
        buffer["fill"] = {"value": a["FillValue"]}
    elif fill == "BinaryRaw":
        buffer["fill"] = {"file": a["DataSource"]}
    return {"buffer": a["Name"]}, buffer


# A space is trusted as a makefile is; a T1 file is exchanged, so that no option of it may name a program or a file.
SAFE_OPTION = re.compile(r"-(D\w+(=[\w.+-]*)?|U\w+|O[0-4]|std=c\+\+\d\d|-use_fast_math|use_fast_math|-?maxrregcount=\d+|-fmad=(true|false)|fmad=(true|false)|lineinfo|restrict)")


# Kernel Tuner defines this macro in each build; sources that also compile by themselves have their own values of the
# parameters where it is not defined.
UNDER_TUNER = "-Dkernel_tuner=1"


def options_of(spec):
    options = spec.get("CompilerOptions", [])
    for option in options:
        if not isinstance(option, str) or not SAFE_OPTION.fullmatch(option):
            fail("the compiler option %r is not taken over: expected -D, -U, -O, -std, -use_fast_math, -fmad, -maxrregcount" % (option,))
    if str(spec["KernelFile"]).endswith(".ptx"):
        return options
    return [UNDER_TUNER] + [o for o in options if o != UNDER_TUNER]


def to_space(t1, gpu):
    spec, space = t1["KernelSpecification"], t1["ConfigurationSpace"]
    if spec.get("Language", "CUDA") != "CUDA":
        fail("the kernel is in %s: expected CUDA" % spec["Language"])
    levels = {p["Name"]: values(p) for p in space["TuningParameters"]}
    args = [argument(a, levels, spec.get("ProblemSize")) for a in spec.get("Arguments", [])]
    block = dimensions(spec["LocalSize"])
    grid = grid_of(spec, block, levels)
    launch = {"kernel": spec["KernelName"], "grid": grid, "block": block, "args": [a for a, _ in args],
              "buffers": {a["buffer"]: b for a, b in args if b}}
    if spec.get("SharedMemory"):
        launch["shared"] = str(spec["SharedMemory"])
    return {"description": "of Kernel Tuner's %s" % t1.get("General", {}).get("BenchmarkName", spec["KernelName"]),
            "gpu": gpu,
            "program": {"source": spec["KernelFile"], "as": "header", "options": options_of(spec),
                        "parameters": levels,
                        "constraints": [translated(c["Expression"], "condition") for c in space.get("Conditions", [])],
                        "launch": launch}}


def plain_levels(v):
    v = v["values"] if isinstance(v, dict) and "values" in v else v
    if isinstance(v, list):
        return v
    if "steps" in v:
        return WORK.elements(v["from"] + k * (v["to"] - v["from"]) // (v["steps"] - 1) for k in range(v["steps"]))
    return WORK.elements(rising(v["from"], v["to"], v.get("step"), v.get("factor", 2)))


def rising(x, to, step, factor):
    """Levels from x: by a step, or by a factor."""
    while x <= to:
        yield x
        after = x + step if step is not None else x * factor
        if after <= x:
            fail("levels from %s do not rise to %s" % (x, to))
        x = after


def to_t1(space):
    program = space["program"]
    launch = program["launch"]
    names = {v: k for k, v in TYPES.items() if k in ("float", "double", "half", "int32", "uint32", "int64", "uint64", "int8", "uint8")}

    def size(key):
        v = launch[key] if isinstance(launch[key], list) else [launch[key]]
        return dict(zip("XYZ", [python(e) for e in v] + ["1"] * (3 - len(v))))

    def counted(b):  # a number where it is one
        text = python(b.get("count", b.get("bytes")))
        try:
            return int(computed(parse(text), {}))
        except ValueError:
            return text
    arguments = []
    for i, a in enumerate(launch.get("args", [])):
        if "buffer" in a:
            b = launch["buffers"][a["buffer"]]
            arguments.append({"Name": a["buffer"], "Type": names[b.get("type", "u8")], "MemoryType": "Vector",
                              "Size": counted(b), "FillType": "Random" if "random" in b.get("fill", {}) else "Constant",
                              "FillValue": b.get("fill", {}).get("value", 1 if "random" in b.get("fill", {}) else 0)})
        else:
            kind = next(iter(a))
            arguments.append({"Name": "arg%d" % i, "Type": names.get(kind, kind), "MemoryType": "Scalar", "FillValue": a[kind]})
    return {"General": {"BenchmarkName": launch["kernel"], "OutputFormat": "JSON"},
            "ConfigurationSpace": {
                "TuningParameters": [{"Name": k, "Type": "int", "Values": str(plain_levels(v))} for k, v in program["parameters"].items()],
                "Conditions": [{"Expression": python(c), "Parameters": [p for p in program["parameters"] if re.search(r"\b%s\b" % p, c)]}
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
    if "had not ended" in reason:
        return "timeout"
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


UNITS = {"s": 1e3, "ms": 1, "us": 1e-3, "ns": 1e-6, "": 1}


def time_ms(result):
    """The time of a result: its measurement of that name, or the mean of its runs; None: it has none."""
    for m in result.get("measurements", []):
        if m["name"].lower() in ("time", "duration", "kernel_time") and isinstance(m["value"], (int, float)):
            return m["value"] * UNITS.get(m.get("unit", "ms").lower(), 1)
    runs = [r for r in result.get("times", {}).get("runtimes", []) if isinstance(r, (int, float))]
    return sum(runs) / len(runs) if runs else None


def to_table(t4):
    results = t4["results"]
    names = sorted({k for r in results for k in r["configuration"]})
    lines = ["\t".join(names + ["time_ms", "status"])]
    for r in results:
        time = time_ms(r)
        good = r.get("invalidity", "correct") == "correct" and time is not None
        lines.append("\t".join([str(r["configuration"].get(k, "")) for k in names] +
                               [str(time) if good else "", "ok" if good else r.get("invalidity", "no time")]))
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
    try:
        main()
    except (ArithmeticError, AttributeError, LookupError, MemoryError, OverflowError, RecursionError, TypeError, ValueError) as error:
        fail("%s: %s: %s" % (" ".join(sys.argv[1:3]), type(error).__name__, error))
