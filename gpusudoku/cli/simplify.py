"""``gpusudoku simplify``: boards simplified by logical techniques."""

from __future__ import annotations

import json
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gpusudoku import formats
from gpusudoku.board.board import Board
from gpusudoku.cli.completing import complete_techniques
from gpusudoku.cli.options import CommandOptions, boards_argument, reading_options
from gpusudoku.pipeline.messages import print_info, print_note
from gpusudoku.pipeline.output import refuse_stdout, show
from gpusudoku.pipeline.settings import InputOptions
from gpusudoku.pipeline.source import Source
from gpusudoku.search.techniques import GROUPS, TECHNIQUES, parse_techniques, technique_names

if TYPE_CHECKING:
    from gpusudoku.logic import Simplified

simplify_option = CommandOptions("simplify")


@click.command("simplify")
@boards_argument
@simplify_option(
    "--technique",
    "techniques",
    default="all",
    metavar="LIST",
    shell_complete=complete_techniques,
    help=f"Techniques, comma-separated: {', '.join([*TECHNIQUES, *GROUPS])}.",
)
@simplify_option("--json", "as_json", is_flag=True, help="Print one JSON object per board.")
@reading_options
def simplify(
    boards: tuple[str, ...], input_options: InputOptions, techniques: str, as_json: bool
) -> None:
    """Simplify every BOARD by logical techniques, without guesses.

    \b
    One board:  the board before and after, and the effect of each technique by
                itself and of all together.
    A batch:    one line per simplified board; stderr ends with a summary.

    Every technique includes naked singles: a cell with one remaining candidate is filled at once.

    The candidates of an empty cell are at first the digits that are not in its row, column and box;
    techniques remove some of them. Counts of candidates are totals over all empty cells.

    \b
    Examples:
      gpusudoku simplify board.txt
      gpusudoku simplify puzzles.txt --technique hidden-single,naked-pair
    """
    from gpusudoku.logic import simplify

    bits = parse_techniques(techniques)
    refuse_stdout(boards)
    source = Source(boards, input_options)
    totals = _BatchTotals()
    seconds = 0.0
    # This imports Numba, which takes long and must not count as time of the first board.
    import_module("gpusudoku.search.frontier")
    for batch in source.singles():
        board = batch[0]
        # Only the techniques are timed, not reading and writing.
        start = time.perf_counter()
        simplified = simplify(board, techniques)
        seconds += time.perf_counter() - start
        totals = totals.plus(board, simplified)
        if simplified.contradictory:
            # Conflicts between clues explain most contradictions.
            source.warn_conflicts(batch)
            print_note(f"{source.place(batch)}the techniques find a contradiction: no solution")
        if as_json:
            show(json.dumps(_record_of(board, simplified, bits)))
        elif source.single:
            _show(board, simplified, bits)
        else:
            show(str(simplified.board))
    if not source.single:
        _show_totals(totals, seconds)
    source.finish()


class _BatchTotals(NamedTuple):
    """Sums over the boards of a batch."""

    boards: int = 0
    solved: int = 0
    filled_before: int = 0
    filled_after: int = 0
    cells: int = 0
    candidates_before: int = 0
    candidates_after: int = 0

    def plus(self, board: Board, simplified: Simplified) -> _BatchTotals:
        """Add a board."""
        return _BatchTotals(
            self.boards + 1,
            self.solved + (simplified.board.is_full and not simplified.contradictory),
            self.filled_before + board.clues,
            self.filled_after + simplified.board.clues,
            self.cells + board.geometry.cells,
            self.candidates_before + _count_candidates(board),
            self.candidates_after + simplified.candidates_left,
        )


def _show_totals(totals: _BatchTotals, seconds: float) -> None:
    """Print the summary of a batch on stderr."""
    milliseconds = 1e3 * seconds
    milliseconds_per_board = milliseconds / max(1, totals.boards)
    for label, text in {
        "solved": f"{totals.solved} of {totals.boards} boards",
        "filled cells": f"{totals.filled_before} before, {totals.filled_after} after,"
        f" of {totals.cells}",
        "candidates": f"{totals.candidates_before} before, {totals.candidates_after} after",
        "time": f"{milliseconds:.3f} ms, {milliseconds_per_board:.6f} ms a board",
    }.items():
        print_info(f"{label:>12}: {text}")


def _record_of(board: Board, simplified: Simplified, technique_bits: int) -> dict[str, Any]:
    """Return the JSON object of a board. The techniques are those that the command may apply."""
    return {
        "board": str(board),
        "simplified": str(simplified.board),
        "techniques": technique_names(technique_bits),
        "contradictory": simplified.contradictory,
        "cells_before": board.clues,
        "cells_after": simplified.board.clues,
        "candidates_before": _count_candidates(board),
        "candidates_after": simplified.candidates_left,
    }


def _count_candidates(board: Board) -> int:
    """Count the candidates of all empty cells of a board that is not simplified."""
    return int(board.candidate_counts.sum())


def _show(board: Board, simplified: Simplified, bits: int) -> None:
    """Print a board before and after, and a table of the effects of its techniques."""
    from gpusudoku.logic import simplify

    show("before:")
    _show_board(board, _count_candidates(board))
    if simplified.contradictory:
        return
    show("\nafter:")
    _show_board(simplified.board, simplified.candidates_left)

    # The rows: no technique, each technique by itself, and all of them if there are several.
    rows = {"none": "none"}
    rows |= {name: name for name, bit in TECHNIQUES.items() if bits & bit}
    if bits.bit_count() > 1:
        rows["all together"] = technique_names(bits)
    show(f"\n{'technique':<17}  cells filled  candidates left")
    for label, names in rows.items():
        row = simplify(board, names)
        filled_cells = row.board.clues - board.clues
        show(f"{label:<17}  {filled_cells:>12}  {row.candidates_left:>15}")


def _show_board(board: Board, candidate_count: int) -> None:
    """Print a board, and how many cells are filled."""
    # Only the form line can show a cell without candidates.
    show(formats.write(board, "pretty" if board.given_candidates is None else "line"))
    if board.is_full:
        show("all cells are filled")
    else:
        show(
            f"{board.clues} of {board.geometry.cells} cells are filled,"
            f" {candidate_count} candidates in the others"
        )
