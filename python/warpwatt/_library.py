"""Finds libwarpwatt, checks that it has the interface that these bindings were made from, and calls it."""
from __future__ import annotations

import contextlib
import ctypes
import operator
import os
import sys
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence

from . import _abi

PACKAGE = os.path.dirname(os.path.abspath(__file__))
NAME = "libwarpwatt.so." + _abi.VERSION.split(".", maxsplit=1)[0]
Progress = Callable[[float, int, str], Any]


class WarpwattError(Exception):
    """An error of the library: `code` ("input", "usage", "unsupported", "db", ...), `where` (file and place in it), `text`."""

    def __init__(self, code: str, where: str, text: str) -> None:
        super().__init__(f"{where}: {text}" if where else text)
        self.code, self.where, self.text = code, where, text


WarpwattError.__module__ = "warpwatt"

def _candidates() -> Iterator[str]:
    given = os.environ.get("WARPWATT_LIBRARY")
    if given:
        yield given
        return
    yield os.path.join(PACKAGE, "prefix", "lib", NAME)                    # installed by pip
    build = os.path.dirname(os.path.dirname(PACKAGE))
    yield os.path.join(build, NAME)                                        # build/python/warpwatt of the source tree
    yield NAME                                                             # where the system looks


def _open() -> ctypes.CDLL:
    tried = []
    for path in _candidates():
        if "/" in path and not os.path.exists(path):
            tried.append(f"{path}: no such file")
            continue
        try:
            return ctypes.CDLL(path)
        except OSError as reason:
            tried.append(str(reason))
    raise ImportError("libwarpwatt was not found: " + "; ".join(tried)
                      + ". Build it with make, or name it in WARPWATT_LIBRARY")


def _check(library: ctypes.CDLL) -> None:
    """The same version, and the same size of every structure: else calls would read and write the wrong places."""
    library.ww_version.restype = ctypes.c_char_p
    version = library.ww_version().decode()
    if version != _abi.VERSION:
        raise ImportError(f"libwarpwatt has version {version}, these bindings are of {_abi.VERSION}")
    try:
        size_of = library.ww_struct_size
    except AttributeError:
        raise ImportError("libwarpwatt has no ww_struct_size: it is older than these bindings") from None
    size_of.restype, size_of.argtypes = ctypes.c_size_t, [ctypes.c_char_p]
    for name, struct in _abi.STRUCTS.items():
        size = size_of(name.encode())
        if size != ctypes.sizeof(struct):
            raise ImportError(f"struct {name} has {size} bytes in libwarpwatt and {ctypes.sizeof(struct)} in these bindings: "
                              "they are of different builds")


def _declare(library: ctypes.CDLL) -> None:
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


lib = _open()
_check(lib)
_declare(lib)
_libc = ctypes.CDLL(None)
_libc.open_memstream.restype = ctypes.c_void_p
_libc.open_memstream.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t)]
_libc.fclose.argtypes = [ctypes.c_void_p]
_libc.free.argtypes = [ctypes.c_void_p]


def text(value: Optional[bytes]) -> str:
    return value.decode("utf-8", "replace") if value else ""


def _whole_text(encoded: bytes) -> bytes:
    """C would read a text up to its first NUL, and so another one."""
    if b"\0" in encoded:
        raise ValueError(f"{encoded!r} has a NUL character, which no path and no text of the library can have")
    return encoded


def encode(value: Optional[str | os.PathLike[str]]) -> Optional[bytes]:
    """A path that may be left out."""
    return None if value is None else needed(value)


def needed(value: str | os.PathLike[str]) -> bytes:
    """A path, or a name."""
    return _whole_text(os.fsencode(value))


def utf8(value: str, name: str) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}, expected a text")
    return _whole_text(value.encode())


def strings(values: Iterable[Optional[str]]) -> tuple[Any, int]:
    """An array of C strings, and its length. The array keeps its strings alive; None becomes NULL."""
    encoded = [None if value is None else _whole_text(value.encode()) for value in values]
    return (ctypes.c_char_p * max(1, len(encoded)))(*encoded), len(encoded)


def whole(value: int, name: str, bits: int = 32) -> int:
    """A number that C keeps without a sign in so many bits; ctypes would cut it off silently."""
    number = operator.index(value)
    if not 0 <= number < 1 << bits:
        raise ValueError(f"{name} is {number}, expected a whole number of at least 0 and below 2**{bits}")
    return number


class Owner:
    """Holds memory of the library, and frees it. It does not change, so that a copy is the object itself."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _memo: Any) -> Any:
        return self

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled: it is memory of this process; "
                        "store results in a database and load them there")


def call(name: str, *arguments: Any) -> None:
    """Calls a function whose last argument is the error, and raises what it reports."""
    error = _abi.ww_error()
    code = getattr(lib, name)(*arguments, ctypes.byref(error))
    if code != 0:
        raise WarpwattError(text(lib.ww_code_name(code)).lower(), text(error.where), text(error.text))


@contextlib.contextmanager
def captured() -> Iterator[tuple[Any, Callable[[], str]]]:
    """A FILE * for a call that prints, and a function that gives what it has printed once the block has ended."""
    buffer, size = ctypes.c_void_p(), ctypes.c_size_t()
    stream = _libc.open_memstream(ctypes.byref(buffer), ctypes.byref(size))
    if not stream:
        raise MemoryError("no stream in memory")
    printed: list[str] = []
    try:
        yield stream, lambda: printed[0]
    finally:
        _libc.fclose(stream)
        printed.append(ctypes.string_at(buffer.value, size.value).decode("utf-8", "replace") if buffer.value else "")
        _libc.free(buffer)


def output(name: str, *arguments: Any) -> str:
    """What a function prints that takes a stream and the error last."""
    with captured() as (stream, printed):
        call(name, *arguments, stream)
    return printed()


class Watch:
    """A progress callback for the library: draws a bar, or calls a function; carries exceptions (Ctrl-C too) through C."""

    def __init__(self, progress: bool | Progress | None) -> None:
        self._show = progress
        self._raised: Optional[BaseException] = None
        self._drawn = False
        self.function = _abi.ww_progress_fn(self._called)

    def _called(self, _context: Any, part: float, done: int, unit: bytes) -> bool:
        try:
            if callable(self._show):
                return self._show(part, done, text(unit)) is not False
            if self._show:
                known = f"{100 * part:3.0f} %  " if part >= 0 else ""
                print(f"\r{known}{done} {text(unit)}  ", end="", file=sys.stderr, flush=True)
                self._drawn = True
            return True
        except BaseException as raised:  # pylint: disable=broad-except
            self._raised = raised
            return False

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if self._drawn:
            print(file=sys.stderr)
        if self._raised is not None:
            raise self._raised


def settings(values: Optional[dict[str, Any] | Sequence[str]]) -> list[str]:
    """"key=value" words of a dictionary, or such words as they are."""
    if not values:
        return []
    if isinstance(values, str):
        raise TypeError("expected a dictionary or a list of \"key=value\", not a text")
    if isinstance(values, dict):
        for key, value in values.items():
            if value is None:
                raise TypeError(f"{key} has no value (None)")
        return [f"{key}={word(value)}" for key, value in values.items()]
    return list(values)


def plain(value: Any) -> Any:
    """Python's own kind of a number or an array of NumPy's; anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def shown(kernel: bytes) -> str:
    """A kernel's name as reports show it: demangled and short."""
    out = ctypes.create_string_buffer(80)
    return text(lib.ww_kernel_shown(kernel, False, out, len(out)))


def word(value: Any) -> str:
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def program() -> str:
    """The path of the warpwatt program that belongs to this library."""
    for path in (os.path.join(PACKAGE, "prefix", "bin", "warpwatt"),
                 os.path.join(os.path.dirname(os.path.dirname(PACKAGE)), "warpwatt")):
        if os.access(path, os.X_OK):
            return path
    return "warpwatt"
