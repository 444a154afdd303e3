"""Recording traces, and looking at them."""
from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import subprocess
from typing import Any, Optional, Sequence

from . import _abi
from ._frame import frame
from ._library import (Owner, Progress, Watch, WarpwattError, call, encode, lib, needed, output, plain, program, shown,
                       strings, text, utf8, whole, word)

Path = "str | os.PathLike[str]"


@dataclasses.dataclass(frozen=True)
class Recorded:
    """What a recording wrote: counts over all launches, and whether the outputs equal their reference."""
    path: Optional[str]
    launches: int
    warp_instructions: int
    thread_instructions: int
    bytes: int
    host_seconds: float
    verified: bool
    messages: tuple[str, ...]


CODES = {"ptx": _abi.WW_RECORD_PTX, "auto": _abi.WW_RECORD_AUTO, "sass": _abi.WW_RECORD_SASS}


def _options(out: Any, arch: str, code: str, seed: int, ptxas_options: Optional[str], watch: Watch,
             messages: list[str], keep_source: bool) -> _abi.ww_record_options:
    if code not in CODES:
        raise ValueError(f"code is {code!r}, expected one of {', '.join(CODES)}")
    o = _abi.ww_record_options()
    o.out_path, o.arch, o.seed, o.code = encode(out), utf8(arch, "arch"), whole(seed, "seed", 64), CODES[code]
    o.ptxas_options = None if ptxas_options is None else utf8(ptxas_options, "ptxas_options")
    o.progress = watch.function
    o.keep_source = keep_source
    message = dict(_abi.ww_record_options._fields_)["message"]
    o.message = message(lambda _context, line: messages.append(text(line)))
    return o


def _recorded(out: Any, stats: _abi.ww_record_stats, messages: list[str]) -> Recorded:
    return Recorded(None if out is None else os.fspath(out), stats.launches, stats.warp_instructions,
                    stats.thread_instructions, stats.bytes, stats.host_seconds, stats.verified, tuple(messages))


def record(workload: str, out: Any = None, *, arch: str = "sm_70", code: str = "auto", seed: int = 1,
           ptxas_options: Optional[str] = None, progress: bool | Progress = False, keep_source: bool = False,
           **parameters: Any) -> Recorded:
    """Runs a built-in workload and records it into the file `out` (None: compute and verify only).

    `parameters` are the workload's (workloads()). `code`: "sass" is machine code by ptxas, "ptx" is PTX lowered by the
    library, "auto" the first if it can be had.
    """
    array, count = strings(f"{key}={word(value)}" for key, value in parameters.items())
    stats, messages = _abi.ww_record_stats(), []  # type: ignore[var-annotated]
    with Watch(progress) as watch:
        options = _options(out, arch, code, seed, ptxas_options, watch, messages, keep_source)
        call("ww_record_workload", utf8(workload, "workload"), array, count, ctypes.byref(options), ctypes.byref(stats))
    return _recorded(out, stats, messages)


def record_ptx(ptx: Any, launch: Any, out: Any = None, *, arch: str = "sm_70", code: str = "auto", seed: int = 1,
               ptxas_options: Optional[str] = None, progress: bool | Progress = False,
               keep_source: bool = False) -> Recorded:
    """Runs a PTX file under a launch description (docs/reference/launch.md; a path, or a dictionary) and records it.

    `keep_source`: the trace keeps the texts of source files that line information names, for reports.
    """
    stats, messages = _abi.ww_record_stats(), []  # type: ignore[var-annotated]
    file = needed(ptx)
    with _described(launch, "launch", ptx) as path, Watch(progress) as watch:
        options = _options(out, arch, code, seed, ptxas_options, watch, messages, keep_source)
        call("ww_record_ptx", file, needed(path), ctypes.byref(options), ctypes.byref(stats))
    return _recorded(out, stats, messages)


class _described:
    """A JSON file of a dictionary, in the folder of `beside`, since paths in it are relative to it; or a file that is there.

    Errors name the dictionary as `name`, since its file is gone.
    """

    def __init__(self, content: Any, name: str, beside: Any = None) -> None:
        self._name, self._content, self._folder = name, content, os.path.dirname(os.fspath(beside)) if beside is not None else None
        self._made: Optional[str] = None

    def __enter__(self) -> Any:
        if not isinstance(self._content, dict):
            return self._content
        import tempfile  # pylint: disable=import-outside-toplevel
        written = json.dumps(self._content, default=_as_json, allow_nan=False)
        with tempfile.NamedTemporaryFile("w", suffix=".json", dir=self._folder or None, delete=False) as file:
            file.write(written)
            self._made = file.name
        return self._made

    def __exit__(self, _kind: Any, raised: Any, _trace: Any) -> None:
        if not self._made:
            return
        os.unlink(self._made)
        if isinstance(raised, WarpwattError):
            raised.__init__(raised.code, raised.where.replace(self._made, self._name),  # type: ignore[misc]
                            raised.text.replace(self._made, self._name))


def _as_json(value: Any) -> Any:
    """What JSON has no kind for: paths, ranges, NumPy's numbers and arrays."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, range):
        return list(value)
    other = plain(value)
    if other is value:
        raise TypeError(f"{value!r} cannot be written as JSON; expected numbers, texts, lists, dictionaries")
    return other


def record_program(command: Sequence[str], out: Any, *options: str) -> str:
    """Runs a CUDA program whose runtime is linked shared and records it. `options` are those of `warpwatt trace record`.

    Returns what the program and the recorder printed to stderr; raises WarpwattError if it failed.
    """
    if isinstance(command, (str, bytes, os.PathLike)):
        raise TypeError(f"the command is {command!r}, expected a list of the program and its arguments")
    if not command:
        raise ValueError("the command is empty, expected the program and its arguments")
    words = [program(), "trace", "record", "-o", os.fspath(out), *options, "--", *command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise WarpwattError("program", command[0], done.stderr.strip() or f"exit status {done.returncode}")
    return done.stderr


class Trace(Owner):
    """An open trace file (.wwt)."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._trace = ctypes.POINTER(_abi.ww_trace)()
        self.path = os.fspath(path)
        call("ww_trace_open", needed(path), ctypes.byref(self._trace))

    def __len__(self) -> int:
        return int(lib.ww_trace_launch_count(self._trace))

    def launches(self) -> Any:
        """A row for each launch: kernel, grid, block, registers, shared memory, instructions."""
        rows = []
        info = _abi.ww_launch_info()
        for i in range(len(self)):
            call("ww_trace_launch_info", self._trace, i, ctypes.byref(info))
            rows.append({"launch": i, "kernel": shown(info.kernel), "mangled": text(info.kernel), "grid": tuple(info.grid), "block": tuple(info.block),
                         "registers": info.registers_per_thread, "shared_bytes": info.shared_static + info.shared_dynamic,
                         "warp_instructions": info.warp_instructions, "thread_instructions": info.thread_instructions,
                         "arch": text(info.arch)})
        return frame(rows)

    def info(self) -> Any:
        """What `trace info --json` prints."""
        return json.loads(output("ww_trace_print_info", self._trace, True))

    def profile(self, progress: bool | Progress = False) -> Any:
        """What `trace info --profile --json` prints: divergence, coalescing, conflicts, intensity, reuse."""
        from ._library import captured  # pylint: disable=import-outside-toplevel
        with Watch(progress) as watch:
            with captured() as (stream, printed):
                call("ww_trace_print_profile", self._trace, True, stream, watch.function, None)
        return json.loads(printed())

    def verify(self, progress: bool | Progress = False) -> None:
        """Checks every checksum and invariant of the file; raises WarpwattError."""
        with Watch(progress) as watch:
            call("ww_trace_verify", self._trace, watch.function, None)

    def __repr__(self) -> str:
        return f"<Trace {self.path}, {len(self)} launches>"

    def __del__(self) -> None:
        if getattr(self, "_trace", None):
            lib.ww_trace_close(self._trace)
