"""``gpusudoku info``, ``convert`` and ``devices``: nothing here searches."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from gpusudoku import formats
from gpusudoku.board.board import Board
from gpusudoku.cli.options import InputOptions, boards_argument, output_file, own_option, reading
from gpusudoku.cli.output import Output, refuse_stdout, show
from gpusudoku.cli.source import Source, place_of
from gpusudoku.cli.summary import power_of_ten
from gpusudoku.cli.usage import Choice
from gpusudoku.engines.cuda import availability
from gpusudoku.errors import InputError
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.results import decimal_digits

LEAST_BYTES = 1 << 19
"""Boards of files are written in blocks of this size, at least: each costs as much as hundreds."""


@click.command()
@boards_argument
@own_option("info")(
    "--candidates", is_flag=True, help="Also the candidates of every cell, and their counts."
)
@own_option("info")("--json", "as_json", is_flag=True, help="One JSON object per board.")
@reading
def info(
    boards: tuple[str, ...],
    reading: InputOptions,
    candidates: bool,
    as_json: bool,
) -> None:
    """Describe every BOARD: its size, its clues, and whether they clash.

    A candidate of an empty cell is a digit that stands in none of its units. A cell without any,
    or two equal clues in a unit, show that there is no solution.

    \b
    Examples:
      gpusudoku info board.txt
      gpusudoku info @decomposition-9x9 --candidates
    """
    refuse_stdout(boards)
    source = Source(boards, reading)
    for number, batch in enumerate(source.singles()):
        board = batch[0]
        if as_json:
            lists = {"candidates": _candidate_lists(board)} if candidates else {}
            show(json.dumps({"board": str(board), **facts_of(board), **lists}))
            continue
        if number:
            show("")
        if not source.single:
            show(f"{place_of(batch, 0)}{board}")
        _show_facts(facts_of(board))
        if candidates:
            _show_candidates(board)
    source.finish()


def facts_of(board: Board) -> dict[str, Any]:
    """What is known of a board without a search, by its name in JSON."""
    without = np.flatnonzero((board.candidate_counts == 0) & (board.cells == 0)).tolist()
    return {
        "box": str(board.geometry),
        "cells": board.geometry.cells,
        "clues": board.clues,
        "empty_cells": board.empty_cells,
        "filling_factor": board.filling_factor,
        "search_space": decimal_digits(board.search_space),
        "power_of_ten": power_of_ten(board.search_space),
        "conflicts": [conflict.describe(board.geometry) for conflict in board.conflicts],
        "cells_without_candidate": [board.geometry.cell_name(cell) for cell in without],
    }


def _show_facts(facts: dict[str, Any]) -> None:
    """Print a line for each fact; what is listed, is a reason why there is no solution."""
    for name, value in facts.items():
        if isinstance(value, list):
            value = f"{', '.join(value)}: no solution" if value else "none"
        elif isinstance(value, float):
            value = f"{value:.2%}"
        show(f"{name.replace('_', ' '):>23}: {value}")


def _candidate_lists(board: Board) -> list[list[int]]:
    digits = np.arange(board.n, dtype=np.uint64)
    possible = (board.candidates[:, None] >> digits) & np.uint64(1) == 1
    return [(np.flatnonzero(row) + 1).tolist() for row in possible]


def _show_candidates(board: Board) -> None:
    """Draw two tables: the candidates of every cell, and how many they are."""
    comma = "," if board.n > 9 else ""
    lists = _candidate_lists(board)
    texts = [comma.join(map(str, digits)) or "-" for digits in lists]
    numbers = [str(len(digits)) for digits in lists]
    for label, cells in (
        ("candidates of each cell (. for a clue, - for none)", texts),
        ("number of candidates of each cell (. for a clue)", numbers),
    ):
        shown = ["." if clue else text for clue, text in zip(board.cells, cells, strict=True)]
        show(f"\n{label}:\n{formats.ruled(shown, board.geometry)}")


@click.command()
@boards_argument
@own_option("convert")(
    "--format",
    "form",
    type=Choice(list(formats.FORMATS)),
    default="line",
    help="The form to write.",
)
@output_file("convert")
@reading
def convert(
    boards: tuple[str, ...],
    reading: InputOptions,
    form: str,
    output: str | None,
    force: bool,
) -> None:
    """Write every BOARD in another form."""
    source = Source(boards, reading)
    between = formats.separator(form).encode()
    texts = _written(source, form, between)
    first = next(texts, None)  # before anything is opened: the form may not suit the board
    with Output(output, force, boards) as out:
        header = formats.header(form)
        out.write_header(lambda: f"{header}\n".encode() if header else b"")
        if first is not None:
            out.write(first)
        for text in texts:
            out.write(between + text)
    source.finish()


def _written(source: Source, form: str, between: bytes) -> Iterator[bytes]:
    """All boards as text, many at a time; those of a stream as soon as they are there."""
    least = LEAST_BYTES if source.share is not None else 0
    held: list[bytes] = []
    size, error = 0, None
    try:
        for batch in source.batches():
            for text in formats.write_batch(batch, form):
                held.append(text)
                size += len(text)
            if size >= least:
                yield between.join(held)
                held, size = [], 0
    except InputError as caught:
        error = caught
    if held:
        yield between.join(held)
    if error is not None:
        raise error


convert.help = "\n".join(
    [
        convert.help or "",
        "\n\b\nForms:",
        *(f"  {name:<9}{text}" for name, text in formats.FORMATS.items()),
        "\n\b\nExamples:",
        "  gpusudoku convert board.txt --format pretty",
        "  gpusudoku convert puzzles.csv -o puzzles.txt",
    ]
)


@click.command()
def devices() -> None:
    """Show what counting can run on here.

    \b
    Example:
      gpusudoku devices
    """
    processor = platform.processor() or platform.machine()
    show(f"cpu   {usable_cores()} cores usable ({processor})")
    reason = availability.unusable_because()
    if availability.simulated():
        show("cuda  simulator (NUMBA_ENABLE_CUDASIM)")
    for number, name in enumerate(availability.gpu_names()):
        show(f"cuda  {number}: {name}" + (f" (not usable: {reason})" if reason else ""))
    if reason and not availability.gpu_names():
        show(f"cuda  not usable: {reason}")
