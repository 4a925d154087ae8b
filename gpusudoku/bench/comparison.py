"""The table that compares devices: one line for each board, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from gpusudoku.bench.suite import Row, numbers_of_runs

EXACT = 10**15
"""A count with more digits is shown with four of them."""
GPU = None
"""The number of threads of rows of a GPU."""


def varies_by_device_only(rows: Sequence[Row]) -> bool:
    """Tell whether the rows of a board differ in the device and the number of threads only."""
    places = {(row["board"], row["device"], row["jobs"]) for row in rows}
    return len(places) == len(rows)


def comparison(rows: Sequence[Row], cores: int) -> list[str]:
    """Return a caption, an empty line, and the lines of the table, for a machine's cores.

    ``varies_by_device_only`` must hold.
    """
    boards: dict[str, dict[int | None, Row]] = {}
    for row in rows:
        boards.setdefault(row["board"], {})[row["jobs"]] = row
    jobs = sorted({row["jobs"] for row in rows} - {GPU})
    most = max(jobs, default=GPU)
    devices: list[int | None] = [*jobs]
    if any(row["jobs"] is GPU for row in rows):
        devices.append(GPU)
    compared = []  # with one core
    if 1 in jobs:
        compared = [device for device in (most, GPU) if device in devices and device != 1]
    has_ratio = GPU in devices and most not in (GPU, 1)  # else a speed-up says as much

    head = ["board", "solutions", *(_device_name(device, cores) for device in devices)]
    head.append("solutions/s")
    head += [f"speed-up, {_device_name(device, cores)}" for device in compared]
    if has_ratio:
        head.append(f"GPU against {_device_name(most, cores)}")
    table = [head]
    for board, by_device in boards.items():
        counts = [row["solutions"] for row in by_device.values() if row["solutions"] is not None]
        rates = [row["solutions_per_second"] or 0.0 for row in by_device.values()]
        # Boards that are given as text may have line ends.
        name = " ".join(board.split()).replace("|", "\\|")
        line = [name, _count(counts[0]) if counts else ""]
        line += [_seconds(by_device.get(device)) for device in devices]
        line.append(_rate(max(rates)) if counts else "")
        line += [_speed_up(by_device.get(device)) for device in compared]
        if has_ratio:
            line.append(_ratio(by_device.get(most), by_device.get(GPU)))
        table.append(line)
    numbers = numbers_of_runs(rows)
    runs = f"medians of {numbers} run{'' if numbers == '1' else 's'}"
    return [f"{_setting(rows[0])}: {runs}", "", *_markdown(table)]


def _device_name(jobs: int | None, cores: int) -> str:
    if jobs is GPU:
        return "GPU"
    if jobs > cores:
        return f"{jobs} threads"
    return "1 core" if jobs == 1 else f"{jobs} cores"


def _setting(row: Row) -> str:
    """Return the setting without the device, as a few words."""
    method, *rest = re.sub(r" (cpu -j \d+|cuda)\b", "", row["setting"]).split()
    return f"{method} ({', '.join(rest)})" if rest else str(method)


def _count(solutions: int) -> str:
    return f"{solutions:,}" if solutions < EXACT else f"{Decimal(solutions):.3e}"


def _seconds(row: Row | None) -> str:
    """Return the time of a row and the reason why it was measured no more."""
    if row is None:
        return ""
    time = "" if row["median"] is None else _duration(row["median"]) + "?" * row["starved"]
    return ", ".join(filter(None, [time, row["note"]]))


def _duration(seconds: float) -> str:
    """Return seconds with three significant digits, below one second as ms or us."""
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def _rate(solutions_per_second: float) -> str:
    """Return a rate with three significant digits, not as a power of ten."""
    if solutions_per_second < 100:
        return f"{solutions_per_second:.3g}"
    return f"{float(f'{solutions_per_second:.3g}'):,.0f}"


def _speed_up(row: Row | None) -> str:
    if row is None or row["speed_up"] is None:
        return ""
    return f"{_factor(row['speed_up'])}{'?' if row['starved'] else ''}"


def _ratio(slower: Row | None, faster: Row | None) -> str:
    """Return how many times as fast the second row is."""
    if slower is None or faster is None or not slower["median"] or not faster["median"]:
        return ""
    return f"{_factor(slower['median'] / faster['median'])}{'?' if slower['starved'] else ''}"


def _factor(number: float) -> str:
    """Return a factor with two decimals, or two significant digits if it is small."""
    return f"{number:.2f}" if number >= 0.1 else f"{number:.2g}"


def _markdown(table: Sequence[Sequence[str]]) -> list[str]:
    """Return a table, whose columns are also aligned as plain text; numbers are on the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for cells in table:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        padded[0] = cells[0].ljust(widths[0])
        lines.append(f"| {' | '.join(padded)} |")
    dashes = ["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]
    lines.insert(1, f"|{'|'.join(dashes)}|")
    return lines
