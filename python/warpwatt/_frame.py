"""Rows of results: pandas DataFrames where pandas is installed, else a list of dictionaries that prints as a table."""
from __future__ import annotations

import html
from typing import Any, Iterable, Sequence

try:
    import pandas
except ImportError:
    pandas = None  # type: ignore[assignment]

SHOWN = 60


class Table(list):  # type: ignore[type-arg]
    """A list of dictionaries with the same keys. `table["column"]` is a list; `str(table)` is aligned text."""

    def __init__(self, rows: Iterable[dict[str, Any]], columns: Sequence[str] | None = None) -> None:
        super().__init__(rows)
        self.columns = list(columns) if columns is not None else list(self[0]) if self else []

    def __getitem__(self, key: Any) -> Any:
        return [row[key] for row in self] if isinstance(key, str) else super().__getitem__(key)

    def _cells(self) -> list[list[str]]:
        return [[_shown(row.get(column)) for column in self.columns] for row in self[:SHOWN]]

    def __repr__(self) -> str:
        cells = [self.columns] + self._cells()
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in cells]
        more = [f"... {len(self) - SHOWN} more rows"] if len(self) > SHOWN else []
        return "\n".join(lines + more)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(column)}</th>" for column in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
                       for row in self._cells())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def frame(rows: Sequence[dict[str, Any]], columns: Sequence[str] | None = None) -> Any:
    """A pandas.DataFrame if there is pandas, else a Table."""
    if pandas is not None:
        return pandas.DataFrame(rows, columns=columns)
    return Table(rows, columns)
