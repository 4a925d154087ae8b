"""Rows as text: for a terminal, as CSV, and as JSON that can be read back."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

from gpusudoku.bench.machine import heading
from gpusudoku.bench.summary import COLUMNS, Row, marked
from gpusudoku.errors import InputError
from gpusudoku.results import decimal_digits

SHOWN = {
    "board": 18, "solutions": 12, "setting": 40, "median": 10, "min": 10, "max": 10, "dev": 8,
    "speed-up": 8, "solutions/s": 11, "nodes/s": 10, "busy": 6,
    "got": 6,
}  # fmt: skip
"""The columns on a terminal, by their widths.

``busy`` is the share of the time in which the threads worked, and ``got`` the share of that for
which they had a core."""


def head() -> str:
    """The heading on a terminal."""
    return "  ".join(_cell(name, width) for name, width in SHOWN.items())


def line(row: Row) -> str:
    """A row on a terminal."""
    texts = [
        row["board"],
        _number(row["solutions"]),
        row.setting,
        *(_seconds(row[name]) for name in ("median", "minimum", "maximum", "deviation")),
        "" if row["speed_up"] is None else f"{row['speed_up']:.2f}{'?' * bool(row['starved'])}",
        _rate(row["solutions_per_second"]),
        _rate(row["nodes_per_second"]),
        *("" if row[name] is None else f"{row[name]:.1%}" for name in ("utilisation", "got")),
    ]
    cells = [_cell(text, width) for text, width in zip(texts, SHOWN.values(), strict=True)]
    note = row["note"] or ("starved" if row["starved"] else "")
    return "  ".join([*cells, note]).rstrip()


def as_csv(rows: Sequence[Row]) -> str:
    """All columns as CSV, one line for every row."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow("" if row[name] is None else row[name] for name in COLUMNS)
    return text.getvalue()


def as_json(rows: Sequence[Row], machine: dict[str, object]) -> str:
    """All columns and the time of every run as JSON, with the description of the machine.

    The number of solutions is a string, because it may exceed 2^53.
    """
    records = []
    for row in rows:
        solutions = None if row["solutions"] is None else decimal_digits(row["solutions"])
        record = {**row.values, "solutions": solutions}
        records.append({**record, "setting": row.setting, "times": row.times})
    return json.dumps({"machine": machine, "rows": records}, indent=1) + "\n"


def read_json(path: str) -> tuple[list[Row], dict[str, Any]]:
    """Read the rows and the description of the machine that ``as_json`` wrote.

    Raises
    ------
    InputError
        If the file cannot be read, or was not written by ``as_json``.
    """
    try:
        recorded = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = []
        for record in recorded["rows"]:
            setting, times = record.pop("setting"), tuple(record.pop("times"))
            if record["solutions"] is not None:
                record["solutions"] = int(record["solutions"])
            rows.append(Row({name: record.get(name) for name in COLUMNS}, setting, times))
        described = dict(recorded["machine"])
        heading(described)  # complains if a field is missing
        return marked(rows), described
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}, expected a file that can be read") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: not a result of gpusudoku bench --json") from None


def _cell(text: str, width: int) -> str:
    return text.ljust(width) if width > 12 else text.rjust(width)


def _number(value: int | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if value < 10**9 else f"{Decimal(value):.3e}"


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3g} s"


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
