"""GPUs by name or file, and what a run can choose: mechanisms and workloads."""
from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Optional, Sequence

from . import _abi
from ._frame import frame
from ._library import Owner, call, lib, needed, settings, strings, text

Overrides = Optional["dict[str, Any] | Sequence[str]"]


def gpus() -> list[str]:
    """Names of all GPU models."""
    names = _abi.ww_names()
    call("ww_gpu_names", ctypes.byref(names))
    found = [text(names.name[i]) for i in range(names.count)]
    lib.ww_names_free(ctypes.byref(names))
    return found


class Gpu(Owner):
    """A GPU's resolved parameters.

    `name` is one of gpus(), or the path of a .json file. `overrides` changes parameters: {"sm.count": 40}.
    """

    def __init__(self, name: str | os.PathLike[str], overrides: Overrides = None) -> None:
        self._gpu = ctypes.POINTER(_abi.ww_gpu)()
        array, count = strings(settings(overrides))
        call("ww_gpu_load", needed(name), array, count, ctypes.byref(self._gpu))
        self._values: dict[str, Any] = json.loads(text(lib.ww_gpu_json(self._gpu)))

    @property
    def name(self) -> str:
        return text(lib.ww_gpu_name(self._gpu))

    @property
    def overrides(self) -> dict[str, tuple[str, str]]:
        """What overrides changed: key -> (value, value without them), as texts."""
        count = ctypes.c_size_t()
        changed = lib.ww_gpu_overrides(self._gpu, ctypes.byref(count))
        return {text(changed[i].key): (text(changed[i].value), text(changed[i].base)) for i in range(count.value)}

    def json(self) -> str:
        """Canonical JSON of all parameters: equal texts mean equal GPUs."""
        return text(lib.ww_gpu_json(self._gpu))

    def __getitem__(self, key: str) -> Any:
        value: Any = self._values
        if key in value:
            return value[key]
        for part in key.split("."):
            value = value[part]
        return value

    def parameters(self) -> Any:
        """A row for each parameter: key, value, unit, bounds, meaning, source."""
        rows = []
        view = _abi.ww_param_view()
        for i in range(lib.ww_gpu_param_count()):
            call("ww_gpu_param", self._gpu, i, ctypes.byref(view))
            rows.append({"key": text(view.key), "value": text(view.value), "unit": text(view.unit),
                         "bounds": text(view.bounds), "help": text(view.help), "source": text(view.source)})
        return frame(rows)

    def __repr__(self) -> str:
        changed = ", ".join(f"{key}={value}" for key, (value, _) in self.overrides.items())
        return f"<Gpu {self.name}{' with ' + changed if changed else ''}>"

    def __del__(self) -> None:
        if getattr(self, "_gpu", None):
            lib.ww_gpu_free(self._gpu)


def gpu_of(gpu: str | os.PathLike[str] | Gpu, overrides: Overrides) -> Gpu:
    if not isinstance(gpu, Gpu):
        return Gpu(gpu, overrides)
    if overrides:
        raise TypeError("give overrides where the Gpu is made, not in addition to it")
    return gpu


def mechanisms() -> Any:
    """A row for each mechanism that a run may choose: kind, name, whether it is the default, meaning, paper."""
    rows = []
    view = _abi.ww_mech_view()
    for i in range(lib.ww_mech_count()):
        call("ww_mech", i, ctypes.byref(view))
        rows.append({"kind": text(view.kind), "name": text(view.name), "default": view.is_default,
                     "help": text(view.help), "paper": text(view.paper)})
    return frame(rows)


def workloads() -> Any:
    """A row for each built-in workload: name, meaning, its parameters."""
    rows = []
    view = _abi.ww_workload_view()
    for i in range(lib.ww_workload_count()):
        call("ww_workload", i, ctypes.byref(view))
        rows.append({"name": text(view.name), "help": text(view.help), "parameters": text(view.parameters),
                     "arch": text(view.arch)})
    return frame(rows)
