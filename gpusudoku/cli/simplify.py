"""``gpusudoku simplify``: what techniques make of a board."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click

from gpusudoku import formats
from gpusudoku.board.board import Board
from gpusudoku.cli.messages import note
from gpusudoku.cli.options import Reading, boards_argument, option, reading
from gpusudoku.cli.output import show
from gpusudoku.cli.report import announce_compiling
from gpusudoku.cli.source import Source, place_of, warn_conflict
from gpusudoku.cli.summary import Summary
from gpusudoku.search.techniques import (
    GROUPS,
    TECHNIQUES,
    parse_techniques,
    technique_names,
)

if TYPE_CHECKING:
    from gpusudoku.simplifying import Simplified


@click.command("simplify")
@boards_argument
@option(
    "--technique",
    "techniques",
    default="all",
    metavar="LIST",
    help=f"Comma-separated: {', '.join([*TECHNIQUES, *GROUPS])}.",
)
@option("--json", "as_json", is_flag=True, help="One JSON object per board.")
@reading
def simplify(
    boards: tuple[str, ...],
    reading: Reading,
    techniques: str,
    as_json: bool,
) -> None:
    """Simplify every BOARD by logic alone, without a guess.

    For one board prints it before and after, and what each technique achieves by itself and all
    of them together: cells solved and hints (candidates) left, of n for every empty cell. A
    batch prints the simplified boards, a line each, and ends with a summary on stderr. Any
    technique brings naked singles with it: a cell with one hint left is fixed at once.

    \b
    Examples:
      gpusudoku simplify board.txt
      gpusudoku simplify puzzles.txt --technique hidden-single,naked-pair
    """
    from gpusudoku.simplifying import simplify

    bits = parse_techniques(techniques)
    source = Source(boards, reading)
    announce_compiling()
    summary = Summary()
    for batch in source.singles():
        board, name = batch[0], "" if source.single else place_of(batch, 0)
        start = time.perf_counter()
        result = simplify(board, techniques)
        seconds = time.perf_counter() - start
        after = None if result.contradictory else result.board
        hints = board.n * board.empty_cells if after is None else result.hints
        summary.add(board, after, seconds, hints)
        if result.contradictory:
            warn_conflict(board, name)
            note(f"{name}the techniques find a contradiction")
        if as_json:
            show(json.dumps(_record(board, result, hints, bits)))
        elif source.single:
            _show(board, result, bits)
        else:
            show(str(result.board))
    if not source.single:
        summary.show()
    source.finish()


def _record(board: Board, result: Simplified, hints: int, bits: int) -> dict[str, object]:
    return {
        "board": str(board),
        "simplified": str(result.board),
        "techniques": technique_names(bits),
        "contradictory": result.contradictory,
        "cells_before": board.clues,
        "cells_after": result.board.clues,
        "hints_before": board.n * board.empty_cells,
        "hints_after": hints,
    }


def _show(board: Board, result: Simplified, bits: int) -> None:
    from gpusudoku.simplifying import simplify

    show(formats.write(board, "pretty"))
    show(f"[status] solved={board.clues} hints={board.n * board.empty_cells}")
    if result.contradictory:
        return
    show(formats.write(result.board, "pretty"))
    solved = "SOLVED" if result.board.is_full else f"solved={result.board.clues}"
    show(f"[status] {solved} hints={result.hints}")
    show(f"\n{'techniques':<70}{'cells solved':>13}{'hints left':>12}")
    sets = [name for name, bit in TECHNIQUES.items() if bits & bit]
    for name in dict.fromkeys(["none", *sets, technique_names(bits)]):
        one = simplify(board, name)
        show(f"{name:<70}{one.board.clues - board.clues:>13}{one.hints:>12}")
