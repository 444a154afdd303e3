#!/usr/bin/env python3
"""Writes the Python declarations of the C interface: warpwatt/_abi.py from estimator/warpwatt.h.

usage: generate.py OUTPUT

The headers are preprocessed (CC, default cc), so that the lists in .def files are expanded, and read by a parser of
what they consist of: enumerations, structures, function pointers, functions. Anything else is an error with the text
that was met, so that nothing is left out in silence.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADERS = os.path.join(ROOT, "estimator")
PUBLIC = '__attribute__((visibility("default")))'
SCALARS = {
    "bool": "c_bool", "_Bool": "c_bool", "char": "c_char", "int": "c_int", "unsigned": "c_uint", "float": "c_float", "double": "c_double",
    "size_t": "c_size_t", "int8_t": "c_int8", "uint8_t": "c_uint8", "int16_t": "c_int16", "uint16_t": "c_uint16",
    "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64",
}
TOKEN = re.compile(r'\s*(?:(?P<word>[A-Za-z_]\w*)|(?P<number>\d\w*)|(?P<mark>\.\.\.|<<|>>|.))')


def preprocessed():
    """The declarations of our own headers, without those of the system's."""
    command = os.environ.get("CC", "cc").split() + ["-E", "-x", "c", os.path.join(HEADERS, "warpwatt.h")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    ours, kept = False, []
    for line in text.splitlines():
        place = re.match(r'# \d+ "([^"]*)"', line)
        if place:
            ours = os.path.realpath(place[1]).startswith(os.path.realpath(HEADERS) + os.sep)
        elif ours:
            kept.append(line)
    return "\n".join(kept)


def tokens(text):
    found = []
    for match in TOKEN.finditer(text.replace(PUBLIC, " WW_API ")):
        token = match.group("word") or match.group("number") or match.group("mark")
        if token.strip():
            found.append(token)
    return found


class Parser:
    def __init__(self, text):
        self.token, self.at = tokens(text), 0
        self.constant = {}   # of enumerations, in order
        self.enum = {}       # name: [constants]
        self.struct = {}     # name: [(field, type)], None if its members are private
        self.callback = {}   # name: (result, [arguments])
        self.function = {}   # name: (result, [arguments])

    # ---- tokens ----

    def next(self):
        self.at += 1
        return self.token[self.at - 1]

    def peek(self, ahead=0):
        return self.token[self.at + ahead] if self.at + ahead < len(self.token) else ""

    def accept(self, token):
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def expect(self, token):
        if not self.accept(token):
            self.fail(f"expected '{token}'")

    def fail(self, what):
        near = " ".join(self.token[max(0, self.at - 12):self.at + 6])
        raise SystemExit(f"generate.py: {what} near: {near}")

    # ---- types ----

    def number(self):
        """An integer expression up to ',', '}' or ']': names of constants, numbers, and sums or products of them."""
        words = []
        while self.peek() not in (",", "}", "]"):
            token = self.next()
            if re.fullmatch(r"\d+[uUlL]*", token):
                words.append(re.match(r"\d+", token)[0])
            elif token in self.constant:
                words.append(str(self.constant[token]))
            elif token in "+-*()<<>>":
                words.append(token)
            else:
                self.fail(f"'{token}' in a number")
        return eval(" ".join(words), {"__builtins__": {}})  # digits and operators only

    def base(self):
        """A type without its stars. Returns its ctypes text, or the pair ("void", ...) and such for pointers."""
        while self.accept("const"):
            pass
        kind = self.next()
        if kind == "struct":
            if self.peek() == "{":
                return self.anonymous()
            name = self.next()
            self.struct.setdefault(name, None)
            result = name
        elif kind == "enum":
            name = self.next()
            result = "c_int"
        elif kind == "unsigned" and self.peek() in ("int", "char", "long"):
            result = {"int": "c_uint", "char": "c_ubyte", "long": "c_ulong"}[self.next()]
        elif kind in ("void", "FILE"):
            result = kind
        elif kind in SCALARS:
            result = SCALARS[kind]
        elif kind in self.callback:
            result = kind
        else:
            self.fail(f"unknown type '{kind}'")
        while self.accept("const"):
            pass
        return result

    def anonymous(self):
        name = f"_anonymous_{len(self.struct)}"
        self.struct[name] = self.members()
        return name

    def stars(self, kind):
        while self.peek() in ("*", "const"):
            if self.next() == "*":
                kind = {"c_char": "c_char_p", "void": "c_void_p", "FILE": "c_void_p"}.get(kind, f"POINTER({kind})")
        return kind

    def declarator(self, kind):
        """Stars, name and array bounds of one declarator, or a function pointer. Returns (name, type)."""
        kind = self.stars(kind)
        if self.peek() == "(" and self.peek(1) == "*":
            self.at += 2
            name = self.next()
            self.expect(")")
            return name, f"CFUNCTYPE({', '.join([kind_of_result(kind)] + self.arguments())})"
        name = self.next()
        bounds = []
        while self.accept("["):
            bounds.append(self.number() if self.peek() != "]" else None)
            self.expect("]")
        for bound in reversed(bounds):
            kind = f"({kind} * {bound})" if bound is not None else f"POINTER({kind})"
        return name, kind

    def members(self):
        fields = []
        self.expect("{")
        while not self.accept("}"):
            base = self.base()
            while True:
                fields.append(self.declarator(base))
                if not self.accept(","):
                    break
            self.expect(";")
        return fields

    def arguments(self):
        self.expect("(")
        found = []
        if self.peek() == "void" and self.peek(1) == ")":
            self.at += 2
            return found
        while True:
            kind = self.stars(self.base())
            if self.peek() == "(":
                self.fail("a function pointer without a typedef as an argument")
            if self.peek() not in (",", ")"):
                self.next()
            if self.accept("["):  # an array as an argument is a pointer
                while not self.accept("]"):
                    self.at += 1
                kind = f"POINTER({kind})"
            found.append(kind)
            if self.accept(")"):
                return found
            self.expect(",")

    # ---- declarations ----

    def enumeration(self):
        name = self.next() if self.peek() != "{" else ""
        self.expect("{")
        value, own = 0, []
        while not self.accept("}"):
            constant = self.next()
            if self.accept("="):
                value = self.number()
            self.constant[constant] = value
            own.append(constant)
            value += 1
            self.accept(",")
        self.expect(";")
        if name:
            self.enum[name] = own

    def structure(self):
        name = self.next()
        self.struct.setdefault(name, None)
        if self.peek() == "{":
            self.struct[name] = self.members()
        self.expect(";")

    def typedef(self):
        result = self.stars(self.base())
        self.expect("(")
        self.expect("*")
        name = self.next()
        self.expect(")")
        self.callback[name] = (kind_of_result(result), self.arguments())
        self.expect(";")

    def declaration(self):
        result = self.stars(self.base())
        name = self.next()
        self.function[name] = (kind_of_result(result), self.arguments())
        self.expect(";")

    def parse(self):
        while self.peek():
            if self.accept("enum"):
                self.enumeration()
            elif self.accept("typedef"):
                self.typedef()
            elif self.accept("WW_API"):
                self.declaration()
            elif self.accept("struct"):
                self.structure()
            elif not self.accept(";"):
                self.fail("expected enum, struct, typedef or a public function")
        return self


def kind_of_result(kind):
    return "None" if kind == "void" else kind


def in_order(structs):
    """Structures so that those that another holds by value come before it."""
    done, order = set(), []

    def visit(name):
        if name in done:
            return
        done.add(name)
        for _, kind in structs[name] or []:
            by_value = re.sub(r"POINTER\((?:[^()]|\([^()]*\))*\)", "", kind)
            for other in re.findall(r"\b(?:ww_|_anonymous_)\w+", by_value):
                if other in structs:
                    visit(other)
        order.append(name)

    for name in structs:
        visit(name)
    return order


def text_of(p, version):
    out = ['"""Declarations of the C interface, made by python/generate.py from estimator/warpwatt.h."""',
           "# pylint: skip-file", "# mypy: ignore-errors",
           "from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int8,",
           "                    c_int16, c_int32, c_int64, c_size_t, c_ubyte, c_uint, c_uint8, c_uint16, c_uint32, c_uint64,",
           "                    c_ulong, c_void_p)", "", f'VERSION = "{version}"', ""]
    out += [f"{name} = {value}" for name, value in p.constant.items()]
    out += ["", "ENUMS = {"] + [f'    "{name}": {names!r},' for name, names in p.enum.items()] + ["}", ""]
    order = in_order(p.struct)
    out += [f"class {name}(Structure):\n    pass\n" for name in order]
    out += [f"{name} = CFUNCTYPE({', '.join([result] + arguments)})" for name, (result, arguments) in p.callback.items()]
    out.append("")
    for name in order:
        if p.struct[name] is not None:
            fields = "".join(f'\n    ("{field}", {kind}),' for field, kind in p.struct[name])
            out.append(f"{name}._fields_ = [{fields}\n]")
    sized = [name for name in order if p.struct[name] is not None and name.startswith("ww_")]
    out += ["", "STRUCTS = {"] + [f'    "{name}": {name},' for name in sized] + ["}", ""]
    out += ["FUNCTIONS = {"] + [f'    "{name}": ({result}, [{", ".join(arguments)}]),'
                                for name, (result, arguments) in p.function.items()] + ["}"]
    return "\n".join(out) + "\n"


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__.split("\n\n")[1])
    with open(os.path.join(HEADERS, "base", "error.h"), encoding="utf-8") as header:
        version = re.search(r'#define WW_VERSION "([^"]+)"', header.read())[1]
    text = text_of(Parser(preprocessed()).parse(), version)
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(text)


if __name__ == "__main__":
    main()
