"""Plots in notebooks. matplotlib is imported only here."""
from __future__ import annotations

from typing import Any


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise ImportError("plots need matplotlib: apt-get install python3-matplotlib, or pip install matplotlib") from None
    return pyplot.subplots()[1]


def bars(values: dict[str, Any], unit: str, ax: Any) -> Any:
    ax = _axes(ax)
    shown = sorted(((value, name) for name, value in values.items() if value), key=lambda pair: pair[0])
    ax.barh([name for _, name in shown], [value for value, _ in shown])
    ax.set_xlabel(unit)
    return ax


def front(sweep: Any, x: str, y: str, ax: Any) -> Any:
    ax = _axes(ax)
    rows, best = sweep.points(), sweep.front()
    ax.scatter(list(rows[x]), list(rows[y]), s=12, label="points")
    ax.plot(list(best[x]), list(best[y]), marker="o", color="tab:red", label="front")
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.legend()
    return ax
