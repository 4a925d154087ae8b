"""``gpusudoku boards``: the boards that come with the program."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from gpusudoku import collection
from gpusudoku.cli.about import facts_of
from gpusudoku.cli.options import own_option
from gpusudoku.cli.output import show
from gpusudoku.collection import CollectionBoard

boards_option = own_option("boards")

WORDS = ("name", "box", "what it is")
"""The columns that begin in line; numbers end in line."""


@click.command()
@boards_option("--long", is_flag=True, help="Cells, filling factor and search space of each board.")
@boards_option("--json", "as_json", is_flag=True, help="One JSON object per board.")
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
    if as_json:
        for entry in entries:
            record = {**vars(entry), "box": str(entry.box), "count": str(entry.count)}
            show(json.dumps({**record, **(facts_of(collection.load(entry.name)) if long else {})}))
    elif long:
        _show_table(
            ["name", "box", "cells", "empty", "filling factor", "solutions", "search space"],
            [_long(entry) for entry in entries],
        )
    else:
        heads = ["name", "box", "clues", "solutions", "what it is"]
        short = [[f"@{e.name}", str(e.box), str(e.clues), str(e.count), e.note] for e in entries]
        _show_table(heads, short)


def _long(entry: CollectionBoard) -> list[str]:
    facts = facts_of(collection.load(entry.name))
    return [
        f"@{entry.name}",
        facts["box"],
        str(facts["cells"]),
        str(facts["empty_cells"]),
        f"{facts['filling_factor']:.2%}",
        str(entry.count),
        facts["power_of_ten"],
    ]


def _show_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under their heads."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        cells = [
            cell.ljust(width) if head in WORDS else cell.rjust(width)
            for head, cell, width in zip(heads, row, widths, strict=True)
        ]
        show("  ".join(cells).rstrip())
