#!/usr/bin/env python3
"""Writes tables of the models' parameters into the documents, or checks that they are as they would be written.

A table stands below a line of one of these forms; keys are parameters of GPUs (gpu show), models names of gpu list:

    <!-- model-tables by gpu: MODEL... ; KEY... -->     a row for each model, a column for each key
    <!-- model-tables by value: KEY -->                 a row for each value of the key, with the models that have it
    <!-- model-tables by parameter: PREFIX... -->       a row for each parameter whose key begins with one of the texts

The page docs/reference/parameters.md must have a row for every parameter.

usage: model-tables.py write|check PROGRAM
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
FOLDERS = ("docs/model", "docs/reference")
PARAMETERS = "docs/reference/parameters.md"
MARKER = re.compile(r"<!-- model-tables by (gpu|value|parameter): (.*) -->$")


class Models:
    def __init__(self, program):
        self.program, self.known = program, {}

    def get(self, name):
        if name not in self.known:
            self.known[name] = json.loads(self.run("gpu", "show", name, "--json"))
        return self.known[name]

    def run(self, *words):
        return subprocess.run([self.program, *words], stdout=subprocess.PIPE, check=True).stdout.decode()

    def names(self):
        """Models of NVIDIA's GPUs: those whose names have no suffix of a study."""
        all_names = [m["gpu"] for m in json.loads(self.run("gpu", "list", "--json"))]
        return [n for n in all_names if "-" not in n]


def shown(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value == "" else str(value)


def by_gpu(models, text):
    names, keys = (part.split() for part in text.split(";"))
    lines = ["| GPU | %s |" % " | ".join("`%s`" % k for k in keys), "|---|" + "---|" * len(keys)]
    for name in names:
        lines.append("| `%s` | %s |" % (name, " | ".join(shown(models.get(name)[k]) for k in keys)))
    return lines


def by_value(models, key):
    key, groups = key.strip(), {}
    for name in models.names():
        groups.setdefault(models.get(name)[key], []).append(name)
    lines = ["| `%s` | GPUs |" % key, "|---|---|"]
    for value in sorted(groups, key=lambda v: (isinstance(v, str), v)):
        lines.append("| %s | %s |" % (shown(value), ", ".join("`%s`" % n for n in sorted(groups[value]))))
    return lines


def parameters(models):
    """(key, bounds, unit, meaning) of every parameter, from the columns of gpu show."""
    lines = models.run("gpu", "show", models.names()[0]).split("\n")
    at = [lines[0].index(w) for w in ("parameter", "value", "bounds", "unit", "meaning", "source")]
    for line in filter(None, lines[1:]):
        cell = [line[a:b].strip() for a, b in zip(at, at[1:] + [None])]
        yield cell[0], cell[2], cell[3], cell[4]


def by_parameter(models, text):
    prefixes = tuple(text.split())
    lines = ["| parameter | unit | bounds | meaning |", "|---|---|---|---|"]
    for key, bounds, unit, meaning in parameters(models):
        if key.startswith(prefixes):
            row = (key, unit or "-", bounds.replace("|", ", "), meaning.replace("|", "\\|"))
            lines.append("| `%s` | %s | %s | %s |" % row)
    return lines


TABLES = {"gpu": by_gpu, "value": by_value, "parameter": by_parameter}


def rewritten(text, models):
    out, lines, at = [], text.split("\n"), 0
    while at < len(lines):
        out.append(lines[at])
        m = MARKER.match(lines[at])
        at += 1
        if not m:
            continue
        while at < len(lines) and not lines[at].strip():
            at += 1
        while at < len(lines) and lines[at].startswith("|"):
            at += 1
        while at < len(lines) and not lines[at].strip():
            at += 1
        out += [""] + TABLES[m.group(1)](models, m.group(2)) + [""]
    return "\n".join(out)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "check"):
        print(__doc__)
        return 2
    models, status, tables = Models(sys.argv[2]), 0, 0
    for folder in FOLDERS:
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            path = os.path.join(ROOT, folder, name)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            wanted = rewritten(text, models)
            tables += wanted.count("<!-- model-tables by ")
            if wanted == text:
                continue
            if sys.argv[1] == "write":
                with open(path, "w", encoding="utf-8") as f:
                    f.write(wanted)
            else:
                print("%s/%s: a table is not what the models say; run scripts/model-tables.py write" % (folder, name))
                status = 1
    with open(os.path.join(ROOT, PARAMETERS), encoding="utf-8") as f:
        text = f.read()
    for key, _, _, _ in parameters(models):
        if text.count("| `%s` |" % key) != 1:
            print("%s: %s must have one row there" % (PARAMETERS, key))
            status = 1
    if not tables:
        print("no table was found")
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
