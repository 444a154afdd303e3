"""The database of runs and sweeps, and exploring a design space."""
from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import warnings
from typing import Any, Optional

from . import _abi
from ._frame import frame
from ._library import Owner, Progress, Watch, call, captured, encode, lib, needed, plain, strings, text, utf8, whole, word
from ._run import Result, inline, page
from ._trace import _described


class Database:
    """A database that `run --db` and `sweep` write. Each call opens it anew, so that others can write in between."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def _open(self) -> "_Open":
        return _Open(self.path)

    def _rows(self, function: str, what: str, values: list[Optional[str]], named: dict[str, Optional[str]]) -> Any:
        words = [_placed(value) for value in values] + [f":{key}={value or ''}" for key, value in named.items()]
        array, count = strings(words)
        with self._open() as db, captured() as (stream, printed):
            call(function, db, utf8(what, "the query"), array, count, _abi.WW_FORMAT_JSON, stream)
        return frame(json.loads(printed() or "[]"))

    def query(self, sql: str, *values: Any, **named: Any) -> Any:
        """The rows of one read-only SQL statement. `values` are for its `?`, None is NULL; `named` for its `:name`."""
        return self._rows("ww_db_query", sql, [_bound(v, True) for v in values], {k: _bound(v, True) for k, v in named.items()})

    def named(self, name: str, *values: Any, **named: Any) -> Any:
        """The rows of a named query (named_queries())."""
        return self._rows("ww_db_query_named", name, [_bound(v) for v in values], {k: _bound(v) for k, v in named.items()})

    def runs(self) -> Any:
        """A row for each run."""
        return self.named("runs")

    def load(self, run: Optional[int] = None) -> Result:
        """A stored run, the last one without a number."""
        number, result = ctypes.c_int64(run or 0), ctypes.POINTER(_abi.ww_result)()
        with self._open() as db:
            if run is None:
                call("ww_db_last_run", db, ctypes.byref(number))
            call("ww_db_load", db, number.value, ctypes.byref(result))
        return Result(result, number.value)

    def sweep(self, number: Optional[int] = None) -> "Sweep":
        """A stored sweep, the last one without a number."""
        explored = ctypes.POINTER(_abi.ww_explored)()
        with self._open() as db:
            call("ww_db_load_sweep", db, number or 0, ctypes.byref(explored))
        return Sweep(explored, None)

    def __repr__(self) -> str:
        return f"<Database {self.path}>"


class _Open:
    def __init__(self, path: str) -> None:
        self._path, self._db = path, ctypes.POINTER(_abi.ww_db)()

    def __enter__(self) -> Any:
        call("ww_db_open", needed(self._path), False, ctypes.byref(self._db))
        return self._db

    def __exit__(self, *_: Any) -> None:
        lib.ww_db_close(self._db)


def _bound(value: Any, typed: bool = False) -> Optional[str]:
    """A value as the library reads it, which takes what looks like a number for one; `typed`: a str stays text."""
    value = plain(value)
    if value is not None and not isinstance(value, (str, int, float)):
        raise TypeError(f"a value of a query is {type(value).__name__} {value!r}, expected a number, a text or None")
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, str) and typed:
        return f"'{value}'"
    return None if value is None else word(value)


def _placed(bound: Optional[str]) -> Optional[str]:
    """The same for the parameter of its place."""
    if bound is not None and bound.startswith(":") and "=" in bound:
        raise ValueError(f'"{bound}" would be read as :name=value; give it by name')
    return bound


def named_queries() -> Any:
    """A row for each named query: name, meaning, SQL."""
    found = [lib.ww_db_named(i).contents for i in range(lib.ww_db_named_count())]
    return frame([{"name": text(q.name), "help": text(q.help), "sql": text(q.sql)} for q in found])


@dataclasses.dataclass(frozen=True)
class Summary:
    """What a call of sweep() did: points, replays, and why points are invalid."""
    points: int
    stored: int
    invalid: int
    infeasible: int
    computed: int
    reused: int
    causes: tuple[tuple[int, str], ...]
    warning: Optional[str]
    no_value: int
    """Points within the constraints that lack a finite value of an objective, so that no front has them."""


class Sweep(Owner):
    """A sweep as its database has it."""

    def __init__(self, pointer: Any, summary: Optional[Summary]) -> None:
        self._pointer, self.summary = pointer, summary

    @property
    def _s(self) -> Any:
        return self._pointer.contents

    @property
    def number(self) -> int:
        return int(self._s.sweep)

    @property
    def parameters(self) -> list[str]:
        return [text(self._s.key[i]) for i in range(self._s.key_count)]

    @property
    def objectives(self) -> dict[str, int]:
        """Name -> 1 if the least value is the best, -1 if the greatest."""
        return {text(self._s.objective[i].name): self._s.objective[i].sense for i in range(self._s.objective_count)}

    def points(self) -> Any:
        """A row for each point: parameters, time, energy, power, area, objectives, whether it is on the front.

        most_w: greatest mean power of a trace; board_w: what the board is built for, above_board: whether the former
        is above it.
        """
        rows = []
        keys, objectives = self.parameters, list(self.objectives)
        for i in range(self._s.point_count):
            p = self._s.point[i]
            rows.append({"point": p.ord, **{key: _value(p.value[k]) for k, key in enumerate(keys)},
                         "valid": p.feasible >= 0, "feasible": p.feasible == 1, "front": p.front,
                         "time_s": p.time_s, "energy_j": p.energy_j, "power_w": p.power_w, "most_w": p.most_w,
                         "board_w": p.board_w, "above_board": p.most_w > p.board_w, "area_mm2": p.area_mm2,
                         **{f"objective.{name}": p.objective[k] for k, name in enumerate(objectives)},
                         "reason": text(p.reason) or None})
        return frame(rows)

    def front(self) -> Any:
        """Points that no other beats in all objectives, by the first objective."""
        rows = self.points()
        first = f"objective.{list(self.objectives)[0]}"
        if hasattr(rows, "sort_values"):
            return rows[rows["front"]].sort_values(first)
        return frame(sorted((row for row in rows if row["front"]), key=lambda row: row[first]), rows.columns)

    def effects(self) -> Any:
        """What the regression says of each parameter, and of pairs of them, for each objective.

        Empty, with a warning, if there are too few points, or if parameters always change together."""
        if not self._s.effect_count:
            warnings.warn("no effects: there are too few points, or parameters always change together", stacklevel=2)
        names = list(self.objectives)
        rows = [self._s.effect[i] for i in range(self._s.effect_count)]
        return frame([{"objective": names[e.objective], "parameter": text(e.a), "with": text(e.b) or None,
                       "effect": e.effect, "error": e.error, "share": e.share} for e in rows],
                     ["objective", "parameter", "with", "effect", "error", "share"])

    def html(self) -> str:
        """The page of the sweep."""
        return page([], self._pointer)

    def plot_front(self, x: str = "time_s", y: str = "energy_j", ax: Any = None) -> Any:
        """Points and their front (matplotlib)."""
        from . import _plots  # pylint: disable=import-outside-toplevel
        return _plots.front(self, x, y, ax)

    def __repr__(self) -> str:
        return f"<Sweep {self.number}: {self._s.point_count} of {self._s.planned} points on {text(self._s.gpu)}>"

    def _repr_html_(self) -> str:
        return inline(self.html())

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            lib.ww_explored_free(self._pointer)


def _value(value: Optional[bytes]) -> Any:
    """A setting as the number or truth that it is."""
    word_ = text(value)
    if value is None or word_ in ("true", "false"):
        return None if value is None else word_ == "true"
    for kind in (int, float):
        try:
            return kind(word_)
        except ValueError:
            pass
    return word_


def sweep(space: dict[str, Any] | str | os.PathLike[str], db: str | os.PathLike[str], *, strategy: str = "grid",
          mode: str = "full", points: int = 0, budget: float = 0, seed: int = 1, jobs: int = 1,
          progress: bool | Progress = False) -> Sweep:
    """Replays every trace of a design space on every point that the strategy picks (docs/guide/sweep.md).

    `space` is a file, or what would be in it. Points are stored in `db` as they are done; a call that was interrupted
    is gone on with by the same call.
    """
    done = _abi.ww_sweep_summary()
    o = _abi.ww_sweep_options()
    o.db, o.strategy, o.mode = needed(db), utf8(strategy, "strategy"), utf8(mode, "mode")
    o.points, o.budget, o.seed, o.jobs = whole(points, "points", 64), budget, whole(seed, "seed", 64), whole(jobs, "jobs")
    with _described(space, "space") as path, Watch(progress) as watch:
        o.space, o.progress = needed(path), watch.function
        call("ww_sweep", ctypes.byref(o), ctypes.byref(done))
    causes = tuple((done.cause[i].points, text(done.cause[i].reason))
                   for i in range(min(done.causes, _abi.ww_sweep_summary.cause.size // ctypes.sizeof(_abi.ww_sweep_cause))))
    found = Database(db).sweep(done.sweep)
    found.summary = Summary(done.points, done.stored, done.invalid, done.infeasible, done.computed, done.reused, causes,
                            text(done.warning) or None, done.no_value)
    return found


def validate(suite: str, *, traces: Optional[str] = None, jobs: int = 1, progress: bool | Progress = False) -> Any:
    """The rows of a suite that compares estimates with published figures (docs/studies/validation.md), as `validate --json`."""
    o = _abi.ww_validate_options()
    o.jobs, o.traces = whole(jobs, "jobs"), encode(traces)
    made = ctypes.POINTER(_abi.ww_validation)()
    with Watch(progress) as watch:
        o.progress = watch.function
        call("ww_validate", utf8(suite, "suite"), ctypes.byref(o), ctypes.byref(made))
    try:
        with captured() as (stream, printed):
            call("ww_validation_print", ctypes.byref(made), 1, True, stream)
        return json.loads(printed())
    finally:
        lib.ww_validation_free(made)


