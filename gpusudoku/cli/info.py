"""``gpusudoku info``, ``convert``, ``boards`` and ``devices``: commands without a search."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from typing import Any

import click
import numpy as np

from gpusudoku import collection, formats
from gpusudoku.board.board import Board
from gpusudoku.cli.options import CommandOptions, boards_argument, command_facts, reading_options
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

MIN_BLOCK_BYTES = 1 << 19
"""Minimum size of the blocks in which ``convert`` writes the boards of files: each write costs as
much as converting hundreds of boards."""
_NOTE = "what it is"
"""The heading of the notes on boards."""


@click.command()
@boards_argument
@CommandOptions("info")(
    "--candidates", is_flag=True, help="Add the candidates of every cell, and their numbers."
)
@CommandOptions("info")("--json", "as_json", is_flag=True, help="Print one JSON object per board.")
@reading_options
def info(
    boards: tuple[str, ...], input_options: InputOptions, candidates: bool, as_json: bool
) -> None:
    """Describe every BOARD: its size, its clues and its conflicts.

    A candidate of an empty cell is a digit that is not in its row, column and box. A board has no
    solution if a cell has no candidate, or if a row, column or box has two equal clues.

    \b
    Examples:
      gpusudoku info board.txt
      gpusudoku info @decomposition-9x9 --candidates
    """
    refuse_stdout(boards)
    source = Source(boards, input_options)
    for number, batch in enumerate(source.singles()):
        board = batch[0]
        if as_json:
            facts = {"board": str(board), **_facts_of(board)}
            if candidates:
                facts["candidates"] = _candidate_lists(board)
            show(json.dumps(facts))
            continue
        if number:  # an empty line separates the boards of a batch
            show("")
        if not source.single:
            show(f"{place_of(batch, 0)}{board}")
        for name, value in _facts_of(board).items():
            show(f"{name.replace('_', ' '):>23}: {_fact_text(value)}")
        if candidates:
            _show_candidates(board)
    source.finish()


def _fact_text(value: Any) -> str:
    """Write the value of a fact."""
    if isinstance(value, list):  # reasons why there is no solution
        return f"{', '.join(value)}: no solution" if value else "none"
    if isinstance(value, float):
        return f"{value:.2%}"
    return str(value)


def _show_candidates(board: Board) -> None:
    """Print the candidates of every cell, and their numbers, as two tables."""
    # Digits of two characters need a separator: 12 could be 1 and 2.
    separator = "," if board.n > 9 else ""
    lists = _candidate_lists(board)
    tables = {
        "candidates of each cell (. for a clue, - for none)": [
            separator.join(map(str, digits)) or "-" for digits in lists
        ],
        "number of candidates of each cell (. for a clue)": [str(len(digits)) for digits in lists],
    }
    for label, texts in tables.items():
        cells = ["." if clue else text for clue, text in zip(board.cells, texts, strict=True)]
        show(f"\n{label}:\n{formats.ruled(cells, board.geometry)}")


def _facts_of(board: Board) -> dict[str, Any]:
    """Return the facts that need no search, by their names in JSON."""
    is_without_candidate = (board.candidate_counts == 0) & (board.cells == 0)
    cells_without_candidate = np.flatnonzero(is_without_candidate).tolist()
    return {
        "box": str(board.geometry),
        "cells": board.geometry.cells,
        "clues": board.clues,
        "empty_cells": board.empty_cells,
        "filling_factor": board.filling_factor,
        "search_space": decimal_digits(board.search_space),
        "power_of_ten": power_of_ten(board.search_space),
        "conflicts": [conflict.describe(board.geometry) for conflict in board.conflicts],
        "cells_without_candidate": [
            board.geometry.cell_name(cell) for cell in cells_without_candidate
        ],
    }


def _candidate_lists(board: Board) -> list[list[int]]:
    """Return the candidates of each cell."""
    digits = np.arange(board.n, dtype=np.uint64)  # from 0, as the bits of a candidates mask
    is_candidate = (board.candidates[:, None] >> digits) & np.uint64(1) == 1
    return [(np.flatnonzero(row) + 1).tolist() for row in is_candidate]


@click.command()
@boards_argument
@CommandOptions("convert")(
    "--format",
    "form",
    type=Choice(list(formats.FORMATS)),
    help="Format to write.  [default: chosen by the ending of FILE, or line]",
)
@CommandOptions("convert").output()
@reading_options
def convert(boards: tuple[str, ...], input_options: InputOptions, **params: Any) -> None:
    """Write every BOARD in another format."""
    output_options = OutputOptions.from_params(params, command_facts())
    form = output_options.form or "line"
    source = Source(boards, input_options)
    separator = formats.separator(form).encode()
    blocks = _text_blocks(source, form, separator)
    # The first block is made before the output is opened: the format may not suit the board, and
    # the error must not leave an empty file.
    first_block = next(blocks, None)
    with Output(output_options.output, output_options.force, boards) as out:
        header = formats.header(form)
        out.write_header(lambda: f"{header}\n".encode() if header else b"")
        if first_block is not None:
            out.write(first_block)
        for block in blocks:
            out.write(separator + block)
    source.finish()


# A docstring cannot contain the list of formats, so it is added here.
convert.help = "\n".join(
    [
        convert.help or "",
        "\n\b\nFormats:",
        *(f"  {name:<9}{text}" for name, text in formats.FORMATS.items()),
        "\n\b\nExamples:",
        "  gpusudoku convert board.txt --format pretty",
        "  gpusudoku convert puzzles.csv -o puzzles.txt",
    ]
)


def _text_blocks(source: Source, form: str, separator: bytes) -> Iterator[bytes]:
    """Yield the texts of all boards in blocks; an error is raised after the boards before it.

    Boards of a stream are yielded as soon as they are read.
    """
    min_bytes = MIN_BLOCK_BYTES if source.share is not None else 0
    texts: list[bytes] = []
    size = 0
    error_at_end = None
    try:
        for batch in source.batches():
            written = 0
            try:
                for text in formats.write_batch(batch, form):
                    texts.append(text)
                    size += len(text)
                    written += 1
            except InputError as error:  # it is an error of the board after the written ones
                raise InputError(f"{source.place(batch, written)}{error}") from None
            if size >= min_bytes:
                yield separator.join(texts)
                texts = []
                size = 0
    except InputError as error:
        error_at_end = error
    if texts:
        yield separator.join(texts)
    if error_at_end is not None:
        raise error_at_end


@click.command()
@CommandOptions("boards")(
    "--long", is_flag=True, help="Show the cells, filling factor and search space of each board."
)
@CommandOptions("boards")(
    "--json", "as_json", is_flag=True, help="Print one JSON object per board."
)
def boards(long: bool, as_json: bool) -> None:
    """List the boards that come with the program.

    \b
    Columns of --long:
      cells           number of cells of the board, 81 for 9x9
      empty           number of cells without a clue
      filling factor  share of cells with a clue; 28 of 81 cells are 34.57 %
      solutions       number of solutions
      search space    product of the numbers of candidates of all empty cells. The
                      candidates of a cell are the digits that no clue in its row,
                      column and box has. 0 if a cell has no candidate

    \b
    Examples:
      gpusudoku boards --long
      gpusudoku count @2f
    """
    entries = collection.entries()
    facts = [_facts_of(collection.load(entry.name)) if long else {} for entry in entries]
    if as_json:
        for entry, board_facts in zip(entries, facts, strict=True):
            # JSON readers may round large numbers, so the count is a string.
            record = {**vars(entry), "box": str(entry.box), "count": str(entry.count)}
            show(json.dumps({**record, **board_facts}))
    elif long:
        rows = []
        for entry, board_facts in zip(entries, facts, strict=True):
            rows.append(
                (
                    f"@{entry.name}",
                    board_facts["box"],
                    board_facts["cells"],
                    board_facts["empty_cells"],
                    f"{board_facts['filling_factor']:.2%}",
                    entry.count,
                    board_facts["power_of_ten"],
                )
            )
        _show_table(
            ("name", "box", "cells", "empty", "filling factor", "solutions", "search space"), *rows
        )
    else:
        short_rows = [
            (f"@{entry.name}", entry.box, entry.clues, entry.count, entry.note) for entry in entries
        ]
        _show_table(("name", "box", "clues", "solutions", _NOTE), *short_rows)


def _show_table(heads: Sequence[str], *rows: Sequence[object]) -> None:
    """Print rows under their heads: words are aligned left, numbers are aligned right."""
    lines = [[str(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.ljust(width) if head in ("name", "box", _NOTE) else cell.rjust(width)
            for head, cell, width in zip(heads, line, widths, strict=True)
        ]
        show("  ".join(cells).rstrip())


@click.command()
def devices() -> None:
    """Show the CPU cores and GPUs that counting can use.

    For each GPU, the output contains the capabilities of the GPU and its driver, and the installed
    packages for CUDA. If a GPU cannot be used, its line gives the reason and what to do.

    \b
    Example:
      gpusudoku devices
    """
    processor = platform.processor() or platform.machine()
    show(f"cpu   {usable_cores()} cores usable ({processor})")
    reason = availability.unusable_because()
    if availability.simulated():  # Numba runs kernels for CUDA on the CPU, for tests
        show("cuda  simulator (NUMBA_ENABLE_CUDASIM)")
    elif reason is None:
        try:
            import_packages()
        except DeviceError as error:
            reason = str(error)
    cards = availability.cards()
    card_reasons = [availability.unusable_card(card) for card in cards]
    for number, (card, card_reason) in enumerate(zip(cards, card_reasons, strict=True)):
        # A reason that is not of one card, such as a missing package, is a reason for all cards.
        affects_all_cards = reason is not None and reason not in card_reasons
        _show_card(number, card, reason if affects_all_cards else card_reason)
    if reason and not cards:
        show(f"cuda  not usable: {reason}")


def _show_card(number: int, card: availability.Card, unusable: str | None) -> None:
    """Print the name of a GPU, what it and its driver can do, and the packages for CUDA."""
    show(f"cuda  {number}: {card.name}" + (f" (not usable: {unusable})" if unusable else ""))
    major, minor = card.capability
    memory = f"{card.memory / 2**30:.3g} GiB of memory"
    driver = f"driver for CUDA up to {availability.newest_cuda()}"
    show(f"      compute capability {major}.{minor}, {memory}, {driver}")
    packages = ", ".join(availability.installed_packages()) or "none for CUDA"
    show(f"      packages: {packages}" + ("" if unusable else "; they suit driver and GPU"))
