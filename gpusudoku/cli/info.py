"""``gpusudoku info``, ``convert``, ``boards`` and ``devices``: nothing here searches."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from typing import Any

import click
import numpy as np

from gpusudoku import collection, formats
from gpusudoku.board.board import Board
from gpusudoku.cli.options import OwnOptions, boards_argument, command_facts, reading
from gpusudoku.cli.usage import Choice
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.device import import_packages
from gpusudoku.errors import DeviceError, InputError
from gpusudoku.jobs.threads import usable_cores
from gpusudoku.pipeline.output import Output, refuse_stdout, show
from gpusudoku.pipeline.settings import InputOptions, OutputOptions
from gpusudoku.pipeline.source import Source, place_of
from gpusudoku.pipeline.summary import power_of_ten
from gpusudoku.results import decimal_digits

MIN_BYTES = 1 << 19
"""Boards of files are written in blocks of this size, at least: each costs as much as hundreds."""


@click.command()
@boards_argument
@OwnOptions("info")(
    "--candidates", is_flag=True, help="Also the candidates of every cell, and their counts."
)
@OwnOptions("info")("--json", "as_json", is_flag=True, help="One JSON object per board.")
@reading
def info(boards: tuple[str, ...], reading: InputOptions, candidates: bool, as_json: bool) -> None:
    """Describe every BOARD: its size, its clues, and whether they clash.

    A candidate of an empty cell is a digit that stands nowhere in its row, column and box. A board
    with a cell without candidates, or with two equal clues in a row, column or box, has no
    solution.

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
            more = {"candidates": _candidate_lists(board)} if candidates else {}
            show(json.dumps({"board": str(board), **_facts_of(board), **more}))
            continue
        if number:
            show("")
        if not source.single:
            show(f"{place_of(batch, 0)}{board}")
        for name, value in _facts_of(board).items():
            if isinstance(value, list):  # reasons why there is no solution
                value = f"{', '.join(value)}: no solution" if value else "none"
            elif isinstance(value, float):
                value = f"{value:.2%}"
            show(f"{name.replace('_', ' '):>23}: {value}")
        if candidates:
            comma = "," if board.n > 9 else ""
            lists = _candidate_lists(board)
            tables = {
                "candidates of each cell (. for a clue, - for none)": [
                    comma.join(map(str, digits)) or "-" for digits in lists
                ],
                "number of candidates of each cell (. for a clue)": [
                    str(len(digits)) for digits in lists
                ],
            }
            for label, texts in tables.items():
                cells = [
                    "." if clue else text for clue, text in zip(board.cells, texts, strict=True)
                ]
                show(f"\n{label}:\n{formats.ruled(cells, board.geometry)}")
    source.finish()


def _facts_of(board: Board) -> dict[str, Any]:
    """Return the facts that need no search, by their names in JSON."""
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


def _candidate_lists(board: Board) -> list[list[int]]:
    digits = np.arange(board.n, dtype=np.uint64)
    possible = (board.candidates[:, None] >> digits) & np.uint64(1) == 1
    return [(np.flatnonzero(row) + 1).tolist() for row in possible]


@click.command()
@boards_argument
@OwnOptions("convert")(
    "--format",
    "form",
    type=Choice(list(formats.FORMATS)),
    help="The form to write.  [default: line, or as the name of FILE ends]",
)
@OwnOptions("convert").output()
@reading
def convert(boards: tuple[str, ...], reading: InputOptions, **given: Any) -> None:
    """Write every BOARD in another form."""
    settings = OutputOptions.take(given, command_facts())
    form = settings.form or "line"
    source = Source(boards, reading)
    between = formats.separator(form).encode()
    texts = _written(source, form, between)
    first = next(texts, None)  # before anything is opened: the form may not suit the board
    with Output(settings.output, settings.force, boards) as out:
        header = formats.header(form)
        out.write_header(lambda: f"{header}\n".encode() if header else b"")
        if first is not None:
            out.write(first)
        for text in texts:
            out.write(between + text)
    source.finish()


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


def _written(source: Source, form: str, between: bytes) -> Iterator[bytes]:
    """Yield all boards as text, many at a time; those of a stream as soon as they are there."""
    least = MIN_BYTES if source.share is not None else 0
    held: list[bytes] = []
    size, ending = 0, None
    try:
        for batch in source.batches():
            written = 0
            try:
                for text in formats.write_batch(batch, form):
                    held.append(text)
                    size += len(text)
                    written += 1
            except InputError as error:  # of the next board
                raise InputError(f"{source.place(batch, written)}{error}") from None
            if size >= least:
                yield between.join(held)
                held = []
                size = 0
    except InputError as error:
        ending = error
    if held:
        yield between.join(held)
    if ending is not None:
        raise ending


@click.command()
@OwnOptions("boards")(
    "--long", is_flag=True, help="Cells, filling factor and search space of each board."
)
@OwnOptions("boards")("--json", "as_json", is_flag=True, help="One JSON object per board.")
def boards(long: bool, as_json: bool) -> None:
    """List the boards that come with the program.

    \b
    What --long shows:
      cells           all cells of the board; of a 9x9 board there are 81
      empty           cells without a clue
      filling factor  the share of cells with a clue: 28 of 81 are 34.57 %
      solutions       the ways to fill all empty cells by the rules
      search space    the candidates of an empty cell are the digits that no clue
                      in its row, column and box has; their numbers, multiplied
                      over all empty cells; 0 if a cell has none

    \b
    Examples:
      gpusudoku boards --long
      gpusudoku count @2f
    """
    entries = collection.entries()
    facts = [_facts_of(collection.load(entry.name)) if long else {} for entry in entries]
    if as_json:
        for entry, more in zip(entries, facts, strict=True):
            record = {**vars(entry), "box": str(entry.box), "count": str(entry.count)}
            show(json.dumps({**record, **more}))
    elif long:
        _show_table(
            ("name", "box", "cells", "empty", "filling factor", "solutions", "search space"),
            *(
                (f"@{entry.name}", more["box"], more["cells"], more["empty_cells"],
                 f"{more['filling_factor']:.2%}", entry.count, more["power_of_ten"])
                for entry, more in zip(entries, facts, strict=True)
            ),
        )  # fmt: skip
    else:
        short = [(f"@{each.name}", each.box, each.clues, each.count, each.note) for each in entries]
        _show_table(("name", "box", "clues", "solutions", "what it is"), *short)


def _show_table(heads: Sequence[str], *rows: Sequence[object]) -> None:
    """Print rows under their heads; words begin in line, numbers end in line."""
    lines = [[str(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.ljust(width) if head in ("name", "box", "what it is") else cell.rjust(width)
            for head, cell, width in zip(heads, line, widths, strict=True)
        ]
        show("  ".join(cells).rstrip())


@click.command()
def devices() -> None:
    """Show the CPU cores and GPUs that counting can use.

    Below each GPU are what it and its driver can do, and the installed packages for CUDA. If it
    cannot be used, its line says why, and what to do.

    \b
    Example:
      gpusudoku devices
    """
    processor = platform.processor() or platform.machine()
    show(f"cpu   {usable_cores()} cores usable ({processor})")
    reason = availability.unusable_because()
    if availability.simulated():
        show("cuda  simulator (NUMBA_ENABLE_CUDASIM)")
    elif reason is None:
        try:
            import_packages()
        except DeviceError as error:
            reason = str(error)
    cards = availability.cards()
    card_reasons = [availability.unusable_card(card) for card in cards]
    for number, (card, card_reason) in enumerate(zip(cards, card_reasons, strict=True)):
        of_all = reason is not None and reason not in card_reasons
        _show_card(number, card, reason if of_all else card_reason)
    if reason and not cards:
        show(f"cuda  not usable: {reason}")


def _show_card(number: int, card: availability.Card, unusable: str | None) -> None:
    """Print the name of a GPU, what it and its driver can do, and the packages for CUDA."""
    show(f"cuda  {number}: {card.name}" + (f" (not usable: {unusable})" if unusable else ""))
    major, minor = card.capability
    memory = f"{card.memory / 2**30:.3g} GiB of memory"
    newest = f"driver for CUDA up to {availability.newest_cuda()}"
    show(f"      compute capability {major}.{minor}, {memory}, {newest}")
    packages = ", ".join(availability.installed_packages()) or "none for CUDA"
    show(f"      packages: {packages}" + ("" if unusable else "; they suit driver and GPU"))
