"""The programs that silicon.py builds, records and replays: the list that names them, their building, their inputs.

The list is the user's (docs/studies/silicon.md). Sources are read from a folder and compiled elsewhere. Inputs are generated
here, where the list asks for them; values are pseudorandom from a fixed seed.
"""
import hashlib
import json
import os
import random
import shlex
import subprocess
from array import array

NVCC_OPTIONS = "-O2 -cudart shared -arch=compute_75 -code=compute_75 -w"
C_OPTIONS = ("-O2", "-w", "-std=gnu89")


class Failure(Exception):
    """What could not be built, recorded or replayed, in words."""


# ---- inputs ----

def lines(path, values):
    with open(path + ".new", "w", encoding="ascii") as f:
        f.writelines(values)
    os.rename(path + ".new", path)


def graph(path, nodes=1000000, seed=73):
    """Each node draws 2 to 4 neighbours; each edge goes both ways. Offsets and degrees, source, edges with a cost.

    With this seed a search from node 0 meets about as many nodes in each level as the measured one."""
    rng = random.Random(seed).random
    ends, degree = array("i"), array("i", bytes(4 * nodes))
    for node in range(nodes):
        for _ in range(2 + int(3 * rng())):
            other = int(nodes * rng())
            ends.append(node)
            ends.append(other)
            degree[node] += 1
            degree[other] += 1
    start, total = array("i", bytes(4 * nodes)), 0
    for node in range(nodes):
        start[node] = total
        total += degree[node]
    place, edges = array("i", start), array("i", bytes(4 * total))
    for at in range(0, len(ends), 2):
        a, b = ends[at], ends[at + 1]
        edges[place[a]] = b
        place[a] += 1
        edges[place[b]] = a
        place[b] += 1

    def text():
        yield "%d\n" % nodes
        for node in range(nodes):
            yield "%d %d\n" % (start[node], degree[node])
        yield "\n0\n\n%d\n" % total
        for other in edges:
            yield "%d 1\n" % other
    lines(path, text())


def keys(path, count=1000000):
    """A count and as many keys, one a line: 1 to count, in ascending order."""
    lines(path, ["%d\n" % count] + ["%d\n" % (key + 1) for key in range(count)])


def queries(path):
    """Commands of a search tree: 6000 ranges of 3000 keys, then 10,000 single keys."""
    lines(path, ["j 6000 3000\n", "k 10000\n"])


def records(path, count=42764, seed=3):
    """Records of 48 characters: latitude in columns 28 to 32, longitude in 33 to 37; and the list of files beside it."""
    rng = random.Random(seed).random
    lines(path, ("%-28s%5.1f%5.1f%-10d\n" % ("record", 7 + 63 * rng(), 358 * rng(), at) for at in range(count)))
    lines(os.path.join(os.path.dirname(path), "filelist"), [os.path.basename(path) + "\n"])


def grid(path, low, high, seed, count=512 * 512):
    rng = random.Random(seed).random
    lines(path, ("%.6f\n" % (low + (high - low) * rng()) for _ in range(count)))


def picture(path, size=1024 * 1024 * 3, seed=4):
    with open(path + ".new", "wb") as f:
        f.write(random.Random(seed).getrandbits(8 * size).to_bytes(size, "little"))
    os.rename(path + ".new", path)


# What the list may name as a file's generator.
GENERATORS = {"graph": graph, "keys": keys, "queries": queries, "records": records, "picture": picture,
              "temperatures": lambda path: grid(path, 323, 343, 5), "power": lambda path: grid(path, 0, 0.02, 6)}


# ---- programs ----

class Program:
    """One program of the list. The first source must be there; inputs: a generator's name by the file's name."""

    def __init__(self, name, sources, folder=".", arguments="", inputs=None, first=0, options=()):
        self.name, self.folder, self.sources, self.options = name, folder, sources.split(), list(options)
        self.arguments, self.inputs, self.first = arguments.split(), inputs or {}, first

    def described(self):
        """All that the list says of it, as text."""
        return json.dumps(vars(self), sort_keys=True)

    def find(self, root):
        path = os.path.normpath(os.path.join(root, self.folder))
        if not os.path.isfile(os.path.join(path, self.sources[0])):
            raise Failure("no %s below %s" % (os.path.normpath(os.path.join(self.folder, self.sources[0])), root))
        return path

    def build(self, root, work, nvcc, options):
        """Compiles into work; the path of the program."""
        source = os.path.abspath(self.find(root))
        out, objects = os.path.join(work, self.name), []
        for name in self.sources:
            path = os.path.join(source, name)
            if name.endswith(".c"):
                objects.append(os.path.join(work, name.replace("/", "_")[:-2] + ".o"))
                call([os.environ.get("CC", "cc"), *C_OPTIONS, "-c", "-o", objects[-1], path], work)
            else:
                objects.append(path)
        include = ["-I" + os.path.join(source, x) for x in (".", "..", "common", "../common")]
        call([nvcc, *shlex.split(options), *self.options, *include, "-o", out, *objects, "-lm"], work)
        return out

    def make_inputs(self, work):
        """Each file has another beside it that says what it was made by."""
        for name, generator in self.inputs.items():
            path, made_by, stamp = os.path.join(work, name), generator + " " + digest(), None
            if os.path.exists(path) and os.path.exists(path + ".by"):
                with open(path + ".by", encoding="ascii") as f:
                    stamp = f.read()
            if stamp != made_by:
                GENERATORS[generator](path)
                lines(path + ".by", [made_by])


def digest():
    """Of this file, which says how programs are built and inputs are made."""
    with open(__file__, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def call(words, folder):
    """Runs a command; its output goes into the message if it fails."""
    p = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       check=False)
    if p.returncode:
        text = p.stdout.decode(errors="replace").strip().splitlines()
        raise Failure("%s ended with %d: %s" % (os.path.basename(words[0]), p.returncode, " / ".join(text[-4:]) or "no message"))
    return p.stdout.decode(errors="replace")


# ---- the list ----

TYPES = {str: "a string", int: "a count", list: "an array", dict: "an object"}


def is_file_name(text):
    return text not in ("", ".", "..") and "/" not in text


def check_entry(entry):
    """A ValueError says what is wrong with an object of the list."""
    known = {"name": str, "sources": str, "folder": str, "arguments": str, "first": int, "options": list, "inputs": dict}
    if not isinstance(entry, dict) or not all(str(entry.get(k, "")).strip() for k in ("name", "sources")):
        raise ValueError("each program is an object that has name and sources, and may have " + ", ".join(list(known)[2:]))
    for key, value in entry.items():
        if key not in known:
            raise ValueError("'%s' is none of %s" % (key, ", ".join(known)))
        if type(value) is not known[key] or (key == "first" and value < 0):
            raise ValueError("%s: %s was expected" % (key, TYPES[known[key]]))
    if not is_file_name(entry["name"]):
        raise ValueError("a program's name has no '/'")
    if not all(isinstance(x, str) for x in entry.get("options", [])):
        raise ValueError("options: strings were expected")
    for name, generator in entry.get("inputs", {}).items():
        if not is_file_name(name):
            raise ValueError("an input's name has no '/'")
        if generator not in list(GENERATORS):
            raise ValueError("no input is called '%s'; there are %s" % (generator, ", ".join(GENERATORS)))


def read_programs(path):
    """Programs that a file describes (docs/studies/silicon.md): a JSON array of objects with the parameters of Program."""
    try:
        with open(path, encoding="utf-8") as f:
            found = json.load(f)
        if not isinstance(found, list) or not found:
            raise ValueError("an array of programs was expected")
        for entry in found:
            check_entry(entry)
        names = [entry["name"] for entry in found]
        twice = [name for at, name in enumerate(names) if name in names[:at]]
        if twice:
            raise ValueError("%s appears twice" % twice[0])
        return [Program(**entry) for entry in found]
    except (ValueError, RecursionError) as e:
        raise Failure("%s: no list of programs (%s)" % (path, e)) from None
