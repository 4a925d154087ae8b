"""The Markdown table that compares devices, with a line for each board."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from gpusudoku.bench.suite import Row, describe_run_counts

MAX_EXACT_COUNT = 10**15
"""A count from here on is shown with four digits."""
GPU = None
"""The number of threads (``jobs``) in rows of a GPU."""

Device = int | None
"""A number of CPU threads, or GPU."""


def varies_by_device_only(rows: Sequence[Row]) -> bool:
    """Return whether rows of the same board differ only in the device and number of threads."""
    devices = {(row["board"], row["device"], row["jobs"]) for row in rows}
    return len(devices) == len(rows)


def comparison(rows: Sequence[Row], cores: int) -> list[str]:
    """Return a caption, an empty line, and the lines of the table, for a machine's cores.

    ``varies_by_device_only`` must hold.
    """
    boards: dict[str, dict[Device, Row]] = {}
    for row in rows:
        boards.setdefault(row["board"], {})[row["jobs"]] = row
    jobs = sorted({row["jobs"] for row in rows} - {GPU})
    max_jobs = max(jobs, default=GPU)
    devices: list[Device] = [*jobs]
    has_gpu = any(row["jobs"] is GPU for row in rows)
    if has_gpu:
        devices.append(GPU)

    # Speed-ups are over one core, so they need times on one core.
    speed_up_devices: list[Device] = []
    if 1 in jobs:
        speed_up_devices = [device for device in (max_jobs, GPU) if device in devices]
        if max_jobs == 1:
            speed_up_devices.remove(1)
    # Compared with one core, the GPU has a speed-up already.
    has_ratio = has_gpu and max_jobs not in (GPU, 1)

    heads = ["board", "solutions", *(_device_name(device, cores) for device in devices)]
    heads.append("solutions/s")
    heads += [f"speed-up, {_device_name(device, cores)}" for device in speed_up_devices]
    if has_ratio:
        heads.append(f"GPU against {_device_name(max_jobs, cores)}")

    table = [heads]
    for board, row_by_device in boards.items():
        # Cases that were left out have neither a count nor a rate.
        board_rows = row_by_device.values()
        counts = [row["solutions"] for row in board_rows if row["solutions"] is not None]
        max_rate = max(row["solutions_per_second"] or 0.0 for row in board_rows)
        cells = [_board_name(board), _count(counts[0]) if counts else ""]
        cells += [_seconds(row_by_device.get(device)) for device in devices]
        cells.append(_rate(max_rate) if counts else "")  # of the fastest device
        cells += [_speed_up(row_by_device.get(device)) for device in speed_up_devices]
        if has_ratio:
            cells.append(_ratio(row_by_device.get(max_jobs), row_by_device.get(GPU)))
        table.append(cells)

    run_counts = describe_run_counts(rows)
    runs = f"medians of {run_counts} run{'' if run_counts == '1' else 's'}"
    return [f"{_setting(rows[0])}: {runs}", "", *_markdown(table)]


def _board_name(board: str) -> str:
    """Return the name of a board as a cell; boards that are texts may have line ends."""
    return " ".join(board.split()).replace("|", "\\|")


def _device_name(jobs: Device, cores: int) -> str:
    if jobs is GPU:
        return "GPU"
    if jobs > cores:
        return f"{jobs} threads"
    return "1 core" if jobs == 1 else f"{jobs} cores"


def _setting(row: Row) -> str:
    """Return the setting without the device, such as "search (min, singles)"."""
    method, *options = re.sub(r" (cpu -j \d+|cuda)\b", "", row["setting"]).split()
    return f"{method} ({', '.join(options)})" if options else str(method)


def _count(solutions: int) -> str:
    return f"{solutions:,}" if solutions < MAX_EXACT_COUNT else f"{Decimal(solutions):.3e}"


def _seconds(row: Row | None) -> str:
    """Return the time of a row, and the reason if its case was not measured any more."""
    if row is None:
        return ""
    parts = []
    if row["median"] is not None:
        parts.append(_duration(row["median"]) + _doubt(row))
    if row["note"]:
        parts.append(row["note"])
    return ", ".join(parts)


def _doubt(row: Row) -> str:
    """Return the mark of starved rows."""
    return "?" if row["starved"] else ""


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
    return _factor(row["speed_up"]) + _doubt(row)


def _ratio(cpu: Row | None, gpu: Row | None) -> str:
    """Return the time of a CPU row over the time of a GPU row."""
    if cpu is None or gpu is None or not cpu["median"] or not gpu["median"]:
        return ""
    return _factor(cpu["median"] / gpu["median"]) + _doubt(cpu)


def _factor(number: float) -> str:
    """Return a factor with two decimals, or two significant digits if it is small."""
    return f"{number:.2f}" if number >= 0.1 else f"{number:.2g}"


def _markdown(table: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose columns are also aligned as plain text."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for cells in table:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        padded[0] = cells[0].ljust(widths[0])
        lines.append(f"| {' | '.join(padded)} |")
    dashes = ["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]
    lines.insert(1, f"|{'|'.join(dashes)}|")
    return lines
