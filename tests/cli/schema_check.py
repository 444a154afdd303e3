#!/usr/bin/env python3
"""Checks JSON files against a JSON Schema (draft 2020-12) of reports/schema/.

    schema_check.py SCHEMA [JSON...]     without JSON: reads standard input

The schema must itself be valid. Keys given twice in one object are refused, as are NaN and Infinity.
Exit code 0 if all files hold, 1 if one does not, 2 for a bad call."""
import json
import sys

import jsonschema


def no_duplicates(pairs):
    keys = [k for k, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("a key is given twice: " + ", ".join(sorted(k for k in set(keys) if keys.count(k) > 1)))
    return dict(pairs)


def no_constant(name):
    raise ValueError(name + " is not JSON")


def check(validator, name, stream):
    try:
        value = json.load(stream, object_pairs_hook=no_duplicates, parse_constant=no_constant)
    except ValueError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return False
    errors = sorted(validator.iter_errors(value), key=lambda e: list(map(str, e.absolute_path)))
    for error in errors[:10]:
        place = "$" + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path)
        print(f"{name}: {place}: {error.message[:300]}", file=sys.stderr)
    return not errors


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as stream:
        schema = json.load(stream)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    if len(arguments) == 1:
        return 0 if check(validator, "standard input", sys.stdin) else 1
    good = True
    for path in arguments[1:]:
        with open(path, encoding="utf-8") as stream:
            good &= check(validator, path, stream)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
