#!/usr/bin/env python3
"""Checks that tables of figures in the documents say where the figures come from.

A table of which a quarter of the cells, and at least four, are numbers must name its origin in its section (from one
heading to the next), or at the head of the page for all of the page's tables. An origin is one of

    Made by: ...  Source: ...  Source of ...: ...   in words
    `make TARGET`, `make figures NAME=TABLE`, `scripts/FILE`, `tests/FILE`, `warpwatt validate SUITE`
    <!-- ... -->                              a table that a script writes
    $ warpwatt ...                            the output of an example that check-docs.py runs

    <!-- Below: ... -->                       the rest of a page that the program writes

Targets, tables of scripts/figures.py and suites that a page names must exist; files, where they are an origin. The
last line printed is 'N passed, M failed': a page is one claim.

usage: check-figures.py [--program PATH] PATH...   Markdown files, or folders of them
       check-figures.py --self-test
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
NUMBER = re.compile(r"[-+~<>]?\s*(about )?\d[\d,.]*(\s?(%|x|[a-zA-Z/]{1,10}))?( (to|and|of|\() ?[\d,. %)]+)?\*?")
ORIGIN = re.compile(r"\bMade by\b|\b[Ss]ources?( of [^:|]*)?:|`make [a-z]|`scripts/\w|`tests/\w|\bvalidate [a-z]|^<!-- |^\$ warpwatt")
RULE = re.compile(r"\|[-:| ]+\|$")
# what a name must be found in
TARGET = re.compile(r"`make ([a-z][a-z-]*)(?: NAME=([a-z0-9-]+))?[ `]")
FILE = re.compile(r"`((?:scripts|tests)/[\w./-]+\w)[` ]")
SUITE = re.compile(r"warpwatt validate ([a-z][a-z ]*[a-z])`")


def is_number(cell):
    return NUMBER.fullmatch(cell.strip().strip("*")) is not None


def sections(lines):
    """Lines (number, text, inside a fenced block) from one heading to the next."""
    part, fenced = [], False
    for number, text in enumerate(lines, 1):
        if text.lstrip().startswith("```"):
            fenced = not fenced
        if not fenced and re.match(r"#{1,6} ", text):
            yield part
            part = []
        part.append((number, text, fenced))
    yield part


def tables(part):
    """(line number, head, cells) of each table."""
    at = 0
    while at + 1 < len(part):
        number, text, fenced = part[at]
        if fenced or not text.startswith("|") or not RULE.match(part[at + 1][1]):
            at += 1
            continue
        at += 2
        cells = []
        while at < len(part) and part[at][1].startswith("|"):
            cells += part[at][1].strip().strip("|").split("|")
            at += 1
        yield number, text, cells


def of_figures(part):
    """(line number, head) of the tables of figures."""
    for number, head, cells in tables(part):
        figures = sum(is_number(cell) for cell in cells)
        if figures >= 4 and figures * 4 >= len(cells):
            yield number, head


def without_origin(lines):
    """(line number, head) of tables of figures whose section names no origin."""
    whole_page = False
    for part in sections(lines):
        found = list(of_figures(part))
        named = any(ORIGIN.search(text) for _, text, _ in part)
        if part and part[0][1].startswith("# "):
            whole_page = named and not found
        whole_page = whole_page or any(text.startswith("<!-- Below: ") for _, text, _ in part)
        if not named and not whole_page:
            yield from found


def names(program):
    """What exists: make's targets, tables of figures.py, suites of validate."""
    with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as f:
        text = f.read()
    targets = {t for line in re.findall(r"^([a-z][a-z -]*):(?!=)", text, re.M) for t in line.split()}
    targets |= {t for line in re.findall(r"^\.PHONY: (.*)$", text, re.M) for t in line.split()}
    with open(os.path.join(ROOT, "scripts", "figures.py"), encoding="utf-8") as f:
        made = set(re.findall(r"^    ([a-z0-9-]+) +docs/", f.read(), re.M))
    suites = None
    if program:
        suites = set(subprocess.run([program, "validate", "--names"], stdout=subprocess.PIPE, text=True, check=True).stdout.split())
    return targets, made, suites


def wrong_names(lines, known):
    targets, made, suites = known
    for number, text in enumerate(lines, 1):
        for target, table in TARGET.findall(text):
            if target not in targets:
                yield number, "there is no target %s" % target
            if table and table not in made:
                yield number, "scripts/figures.py has no table %s" % table
        for words in SUITE.findall(text):
            for word in words.split():
                if suites is not None and word not in suites:
                    yield number, "validate has no suite %s" % word
    for part in sections(lines):
        for number, text, _ in part if list(of_figures(part)) else ():
            for path in FILE.findall(text):
                if not os.path.exists(os.path.join(ROOT, path)):
                    yield number, "there is no %s" % path


def pages(paths):
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, _, files in sorted(os.walk(path)):
            for name in sorted(files):
                if name.endswith(".md"):
                    yield os.path.join(folder, name)


def check(paths, known):
    passed = failed = 0
    for path in pages(paths):
        with open(path, encoding="utf-8") as f:
            lines = f.read().split("\n")
        wrong = [(n, "no origin of these figures: %s" % head) for n, head in without_origin(lines)]
        wrong += list(wrong_names(lines, known))
        for number, text in wrong:
            print("%s:%d: %s" % (path, number, text))
        failed += bool(wrong)
        passed += not wrong
    return passed, failed


def self_test():
    table = ["| a | b |", "|---|---|", "| 1 | 2 |", "| 3 | 4 |"]
    words = ["| a | b |", "|---|---|", "| x | y |", "| z | 4 |"]
    known = ({"check"}, {"grid-sync"}, {"models"})
    cases = [
        ("a table without origin fails", ["# t", ""] + table, 1),
        ("a table of words passes", ["# t", ""] + words, 0),
        ("an origin in the section passes", ["# t", ""] + table + ["", "Source: a paper."], 0),
        ("an origin in another section does not count", ["# t", "## a", "Source: a paper.", "## b"] + table, 1),
        ("an origin at the page's head counts for all", ["# t", "Made by: x.", "## b"] + table, 0),
        ("a fenced block is no table", ["# t", "```"] + table + ["```"], 0),
        ("a target that is missing fails", ["# t", "`make nothing`"], 1),
        ("a table that figures.py lacks fails", ["# t", "`make figures NAME=grid-sinc`"], 1),
        ("a script that is missing fails", ["# t", "`scripts/none.sh` prints"] + table, 1),
        ("a suite that is missing fails", ["# t", "`warpwatt validate model`"], 1),
        ("what exists passes", ["# t", "`make check`, `scripts/check.sh`, `warpwatt validate models`"], 0),
    ]
    passed = failed = 0
    for name, lines, want in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.md")
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(lines))
            got = check([path], (known[0] | {"figures"}, known[1], known[2]))[1]
        if got != want:
            print("%s: %d pages fail, expected %d" % (name, got, want))
        passed += got == want
        failed += got != want
    return passed, failed


def main(argv):
    args, program = argv[1:], None
    if args and args[0] == "--self-test":
        passed, failed = self_test()
    else:
        if args and args[0] == "--program":
            program, args = args[1], args[2:]
        if not args:
            print(__doc__)
            return 2
        passed, failed = check(args, names(program))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
