"""Replaying traces, and what a replay says."""
from __future__ import annotations

import ctypes
import html
import json
import math
import os
from typing import Any, Optional, Sequence

from . import _abi
from ._frame import frame
from ._gpu import Gpu, Overrides, gpu_of
from ._library import (Owner, Progress, Watch, call, captured, encode, lib, needed, output, settings, shown, strings, text,
                       utf8, whole)


def _names(function: str, count: int) -> list[str]:
    return [text(getattr(lib, function)(i)) for i in range(count)]


STATES = _names("ww_state_name", _abi.WW_STATE_COUNT)
SLOTS = _names("ww_slot_name", _abi.WW_SLOT_COUNT)
COUNTERS = _names("ww_counter_name", _abi.WW_COUNTER_COUNT)
COMPONENTS = _names("ww_component_name", _abi.WW_COMPONENT_COUNT)


def run(trace: str | os.PathLike[str], gpu: str | os.PathLike[str] | Gpu, *, overrides: Overrides = None,
        mechanisms: Overrides = None, mode: str = "full", launches: Optional[str] = None, power: Optional[str] = None,
        target_error: float = 0, confidence: float = 0, cache_control: Optional[str] = None,
        clock_control: Optional[str] = None, seed: int = 1, threads: int = 1, timeline: bool = False, per_pc: bool = True, serialize: bool = False,
        db: Optional[str | os.PathLike[str]] = None, progress: bool | Progress = False) -> "Result":
    """Replays a trace on a GPU.

    `gpu` is a name, a .json file, or a Gpu; `overrides` are its parameters ({"sm.count": 40}), `mechanisms` those of the
    run ({"sched": "lrr"}). `mode` is "full", "fast", "sampled", "analytic" or "auto". `db` stores the result in a database. `serialize` replays launches of
    several streams one after the other.
    """
    target = gpu_of(gpu, overrides)
    words = settings(overrides) if not isinstance(gpu, Gpu) else []
    if clock_control is not None:
        target = _clocked(target, gpu, words, clock_control)
    array, count = strings(settings(mechanisms))
    o = _abi.ww_run_options()
    o.gpu, o.trace_path, o.launches = target._gpu, needed(trace), encode(launches)
    o.mechanisms, o.mechanism_count = array, count
    o.mode, o.target_error, o.confidence = utf8(mode, "mode"), target_error, confidence
    o.power_table, o.cache_control, o.clock_control = encode(power), encode(cache_control), encode(clock_control)
    o.seed, o.threads = whole(seed, "seed", 64), whole(threads, "threads")
    o.timeline, o.per_pc, o.serialize = timeline, per_pc, serialize
    if db is not None:
        call("ww_db_check_path", encode(db))
    result = ctypes.POINTER(_abi.ww_result)()
    with Watch(progress) as watch:
        o.progress = watch.function
        call("ww_run", ctypes.byref(o), ctypes.byref(result))
    done = Result(result, -1)
    if db is not None:
        done.store(db)
    return done


def _clocked(gpu: Gpu, given: Any, words: Sequence[str], control: str) -> Gpu:
    if isinstance(given, Gpu):
        raise TypeError("clock_control needs the GPU's name, not a Gpu: the clocks are parameters of it")
    sm, l2 = ctypes.c_double(), ctypes.c_double()
    call("ww_gpu_clock_control", gpu._gpu, utf8(control, "clock_control"), ctypes.byref(sm), ctypes.byref(l2))
    return Gpu(given, [*words, f"clock.sm_mhz={sm.value!r}", f"clock.l2_mhz={l2.value!r}"])


class Result(Owner):
    """What a replay produced. Cycles are of the SM clock, times in seconds, energies in joules."""

    def __init__(self, pointer: Any, run_id: int) -> None:
        self._pointer, self.run_id = pointer, run_id

    @property
    def _r(self) -> Any:
        return self._pointer.contents

    # ---- the run ----

    @property
    def gpu(self) -> str:
        return text(self._r.gpu)

    @property
    def trace(self) -> str:
        return text(self._r.trace)

    @property
    def mode(self) -> str:
        return text(self._r.mode)

    @property
    def warning(self) -> Optional[str]:
        """What limits the figures, None if nothing is known to."""
        return text(self._r.warning) or None

    @property
    def mechanisms(self) -> dict[str, str]:
        return {text(self._r.mechanism[i].key): text(self._r.mechanism[i].value) for i in range(self._r.mechanism_count)}

    @property
    def overrides(self) -> dict[str, tuple[str, str]]:
        """What differs from the GPU's model and its defaults: parameter or setting -> (value, value without)."""
        o = self._r.override
        return {text(o[i].key): (text(o[i].value), text(o[i].base)) for i in range(self._r.override_count)}

    # ---- totals ----

    @property
    def cycles(self) -> int:
        return int(self._r.cycles)

    @property
    def time_s(self) -> float:
        return self._r.time_ps * 1e-12

    @property
    def warp_instructions(self) -> int:
        return int(self._r.warp_instructions)

    @property
    def thread_instructions(self) -> int:
        return int(self._r.thread_instructions)

    @property
    def ipc(self) -> float:
        """Warp instructions a cycle, of the whole GPU."""
        return self.warp_instructions / self.cycles if self.cycles else math.nan

    @property
    def energy_j(self) -> float:
        """NaN if the GPU has no power table."""
        return float(self._r.energy_j) if self._r.energy_known else math.nan

    @property
    def power_w(self) -> float:
        return self.energy_j / self.time_s if self.time_s else math.nan

    @property
    def cycles_interval(self) -> tuple[float, float]:
        """Both ends are equal where the estimate is exact."""
        return self._r.cycles_interval.lo, self._r.cycles_interval.hi

    @property
    def energy_interval(self) -> tuple[float, float]:
        return self._r.energy_interval.lo, self._r.energy_interval.hi

    # ---- rows ----

    def _launch(self, i: int) -> Any:
        return self._r.launch[i]

    def launches(self) -> Any:
        """A row for each launch that was replayed whole. `kernel` is its name as reports show it, `mangled` as the code has it."""
        rows = []
        for i in range(self._r.launch_count):
            l = self._launch(i)
            rows.append({"launch": l.index, "kernel": shown(l.kernel), "mangled": text(l.kernel), "grid": tuple(l.grid), "block": tuple(l.block),
                         "cycles": l.cycles, "time_s": l.time_ps * 1e-12, "warp_instructions": l.warp_instructions,
                         "ipc": l.warp_instructions / l.cycles if l.cycles else math.nan,
                         "ctas_per_sm": l.ctas_per_sm, "limited_by": text(l.occupancy_limiter),
                         "energy_j": l.energy.total_j if l.energy.known else math.nan,
                         "code": text(l.code) or None})
        return frame(rows)

    def _sums(self, field: str, names: Sequence[str]) -> dict[str, int]:
        launches = range(self._r.launch_count)
        return {name: sum(getattr(self._launch(i), field)[k] for i in launches) for k, name in enumerate(names)}

    def states(self) -> dict[str, int]:
        """Warp-cycles by state, over all launches."""
        return self._sums("warp_cycles", STATES)

    def slots(self) -> dict[str, int]:
        """Issue slots: issued, or lost to which cause."""
        return self._sums("slot", SLOTS)

    def counters(self) -> dict[str, int]:
        """Event counters, over all launches. What a fast replay does not model is 0 here, null in to_dict()."""
        return self._sums("counter", COUNTERS)

    def energy(self) -> Any:
        """A row for each component: joules that are dynamic, and static."""
        launches = [self._launch(i).energy for i in range(self._r.launch_count)]
        return frame([{"component": name, "dynamic_j": sum(e.dynamic_j[k] for e in launches),
                       "static_j": sum(e.static_j[k] for e in launches)} for k, name in enumerate(COMPONENTS)])

    def epochs(self) -> Any:
        """Warp-cycles by state over time: a row for each epoch of each launch."""
        rows = []
        for i in range(self._r.launch_count):
            l = self._launch(i)
            for k in range(l.epoch_count):
                e = l.epoch[k]
                rows.append({"launch": l.index, "first_cycle": e.first_cycle, "cycles": e.cycles,
                             "warp_instructions": e.warp_instructions, **dict(zip(STATES, e.warp_cycles))})
        return frame(rows, ["launch", "first_cycle", "cycles", "warp_instructions", *STATES])

    def source(self, most: int = 20) -> Any:
        """A row for each of the source lines where warps stalled most: cycles, sectors, conflicts, and by warp state.

        A row without a line is one instruction, `kernel` at `pc`; `share` is of all stall cycles.
        """
        lines = json.loads(output("ww_report_source", self._pointer, whole(most, "most"), True))["lines"]
        rows = []
        for line in lines:
            states, mnemonics = line.pop("warp_cycles"), line.pop("mnemonics")
            line["kernel"] = shown(line["kernel"].encode())
            rows.append({**line, "mnemonics": " ".join(mnemonics), **{state: states.get(state, 0) for state in STATES}})
        return frame(rows)

    # ---- reports ----

    def report(self) -> str:
        """The text report."""
        return output("ww_report_text", self._pointer, self.run_id)

    def to_dict(self) -> Any:
        """The JSON report (reports/schema/report.json)."""
        return json.loads(output("ww_report_json", self._pointer, self.run_id))

    def html(self, *others: "Result") -> str:
        """The page of this run, compared with others."""
        return page([self, *others])

    def compare(self, other: "Result") -> str:
        """Speed-up and energy of `other` against this run, and where cycles and joules went."""
        return output("ww_report_compare", self._pointer, self.run_id, other._pointer, other.run_id, False)

    def store(self, db: str | os.PathLike[str]) -> int:
        """Stores it in a database and returns its run number."""
        run_id = ctypes.c_int64()
        call("ww_db_store_at", needed(db), self._pointer, ctypes.byref(run_id))
        self.run_id = run_id.value
        return self.run_id

    def plot_states(self, ax: Any = None) -> Any:
        """Where the warps' cycles went, as bars (matplotlib)."""
        from . import _plots  # pylint: disable=import-outside-toplevel
        return _plots.bars(self.states(), "warp-cycles", ax)

    def plot_energy(self, ax: Any = None) -> Any:
        """Joules by component, as bars (matplotlib)."""
        from . import _plots  # pylint: disable=import-outside-toplevel
        rows = self.energy()
        return _plots.bars({name: d + s for name, d, s in zip(rows["component"], rows["dynamic_j"], rows["static_j"])},
                           "joules", ax)

    def __repr__(self) -> str:
        number = f" {self.run_id}" if self.run_id > 0 else ""
        watts = "" if math.isnan(self.energy_j) else f", {self.energy_j:.3g} J, {self.power_w:.1f} W"
        return (f"<Result{number}: {os.path.basename(self.trace)} on {self.gpu}, {self.mode}: {self.cycles} cycles, "
                f"{self.time_s * 1e6:.2f} us, IPC {self.ipc:.2f}{watts}>")

    def _repr_html_(self) -> str:
        return inline(self.html())

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            lib.ww_result_free(self._pointer)


def page(results: Sequence[Result], sweep: Any = None) -> str:
    """The HTML page of runs and, or, a sweep."""
    runs = (ctypes.POINTER(_abi.ww_result) * max(1, len(results)))(*[r._pointer for r in results])
    ids = (ctypes.c_int64 * max(1, len(results)))(*[r.run_id for r in results])
    each = _abi.ww_report_set()
    each.run, each.run_id, each.run_count = runs, ids, len(results)
    if sweep is not None:
        each.sweep = sweep
    with captured() as (stream, printed):
        call("ww_report_html", ctypes.byref(each), stream)
    return printed()


def inline(whole: str) -> str:
    """A page inside a notebook's cell: a frame of its own, so that neither's styles meet the other's."""
    return (f'<iframe srcdoc="{html.escape(whole, quote=True)}" sandbox="allow-scripts" '
            'style="width: 100%; height: 40em; border: 1px solid #888"></iframe>')
