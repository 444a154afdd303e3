"""`python -m warpwatt`, and the command that pip installs: the program that belongs to this library."""
import os
import sys

from ._library import program


def main() -> None:
    path = program()
    try:
        os.execvp(path, ["warpwatt", *sys.argv[1:]])
    except OSError as reason:
        sys.exit(f"warpwatt: {path}: {reason.strerror}")


if __name__ == "__main__":
    main()
