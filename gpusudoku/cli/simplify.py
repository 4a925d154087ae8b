"""``gpusudoku simplify``: what techniques make of a board."""

from __future__ import annotations

import json
import time
from importlib import import_module
from typing import TYPE_CHECKING

import click
import numpy as np

from gpusudoku import formats
from gpusudoku.board.board import Board
from gpusudoku.cli.completing import complete_techniques
from gpusudoku.cli.options import OwnOptions, boards_argument, reading
from gpusudoku.pipeline.messages import note, tell
from gpusudoku.pipeline.output import refuse_stdout, show
from gpusudoku.pipeline.settings import InputOptions
from gpusudoku.pipeline.source import Source
from gpusudoku.search.techniques import GROUPS, TECHNIQUES, parse_techniques, technique_names

if TYPE_CHECKING:
    from gpusudoku.logic import Simplified

own = OwnOptions("simplify")


@click.command("simplify")
@boards_argument
@own(
    "--technique",
    "techniques",
    default="all",
    metavar="LIST",
    shell_complete=complete_techniques,
    help=f"Comma-separated: {', '.join([*TECHNIQUES, *GROUPS])}.",
)
@own("--json", "as_json", is_flag=True, help="One JSON object per board.")
@reading
def simplify(
    boards: tuple[str, ...], reading: InputOptions, techniques: str, as_json: bool
) -> None:
    """Simplify every BOARD by logic alone, without a guess.

    \b
    One board:  the board before and after, and the effect of each technique by
                itself and of all together.
    A batch:    the simplified boards, a line each; stderr ends with a summary.

    Every technique includes naked singles: a cell with one candidate left is filled at once.

    Candidates are the digits that are possible in an empty cell: before, those that stand in none
    of its units; after, those that are left of them. Counted are the candidates of all empty cells.

    \b
    Examples:
      gpusudoku simplify board.txt
      gpusudoku simplify puzzles.txt --technique hidden-single,naked-pair
    """
    from gpusudoku.logic import simplify

    bits = parse_techniques(techniques)
    refuse_stdout(boards)
    source = Source(boards, reading)
    totals = np.zeros(7, np.int64)
    seconds = 0.0
    import_module("gpusudoku.search.frontier")  # brings in Numba, which is no time of a board
    for batch in source.singles():
        board = batch[0]
        name = source.place(batch)
        start = time.perf_counter()
        result = simplify(board, techniques)
        seconds += time.perf_counter() - start
        solved = result.board.is_full and not result.contradictory
        filled = board.clues, result.board.clues, board.geometry.cells
        totals += (1, solved, *filled, _candidates(board), result.candidates_left)
        if result.contradictory:
            source.warn_conflicts(batch)
            note(f"{name}the techniques find a contradiction: no solution")
        if as_json:
            record = {
                "board": str(board),
                "simplified": str(result.board),
                "techniques": technique_names(bits),
                "contradictory": result.contradictory,
                "cells_before": board.clues,
                "cells_after": result.board.clues,
                "candidates_before": _candidates(board),
                "candidates_after": result.candidates_left,
            }
            show(json.dumps(record))
        elif source.single:
            _show(board, result, bits)
        else:
            show(str(result.board))
    if not source.single:
        _show_totals(totals.tolist(), seconds)
    source.finish()


def _show_totals(totals: list[int], seconds: float) -> None:
    """Print on stderr what became of the boards of a batch."""
    boards, solved, before, after, cells, candidates, left = totals
    milliseconds = 1e3 * seconds
    for label, text in {
        "solved": f"{solved} of {boards} boards",
        "filled cells": f"{before} before, {after} after, of {cells}",
        "candidates": f"{candidates} before, {left} after",
        "time": f"{milliseconds:.3f} ms, {milliseconds / max(1, boards):.6f} ms a board",
    }.items():
        tell(f"{label:>12}: {text}")


def _candidates(board: Board) -> int:
    """Count the candidates of all empty cells of a board as it was given."""
    return int(board.candidate_counts.sum())


def _show(board: Board, result: Simplified, bits: int) -> None:
    from gpusudoku.logic import simplify

    show("before:")
    _draw(board, _candidates(board))
    if result.contradictory:
        return
    show("\nafter:")
    _draw(result.board, result.candidates_left)
    together = technique_names(bits)
    sets = {name: name for name, bit in TECHNIQUES.items() if bits & bit}
    if len(sets) > 1:
        sets["all together"] = together
    show(f"\n{'technique':<17}  cells filled  candidates left")
    for label, names in {"none": "none", **sets}.items():
        one = simplify(board, names)
        filled = one.board.clues - board.clues
        show(f"{label:<17}  {filled:>12}  {one.candidates_left:>15}")


def _draw(board: Board, candidates: int) -> None:
    # Only a line can show a cell without candidates.
    show(formats.write(board, "pretty" if board.given_candidates is None else "line"))
    if board.is_full:
        show("all cells are filled")
    else:
        show(
            f"{board.clues} of {board.geometry.cells} cells are filled,"
            f" {candidates} candidates in the others"
        )
