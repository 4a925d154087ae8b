"""``gpusudoku sample``: random solutions, each as likely as any other."""

from __future__ import annotations

import secrets
from contextlib import closing
from typing import Any

import click

from gpusudoku.cli.grids import as_text, solution_form
from gpusudoku.cli.messages import complain, note
from gpusudoku.cli.options import (
    Reading,
    boards_argument,
    devices,
    output_file,
    own_option,
    reading,
)
from gpusudoku.cli.output import Output
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import start_engine
from gpusudoku.cli.source import Source, place_of
from gpusudoku.errors import InputError, Interrupted, TooExpensive
from gpusudoku.options import Options

own = own_option("sample")

DRAWN_BITS = 32
"""Of a seed that nobody gave: it is shown, and short enough to be typed."""


@click.command()
@boards_argument
@own(
    "-n",
    "--number",
    type=click.IntRange(min=0),
    default=1,
    metavar="N",
    help="Draw N solutions of each board.",
)
@own(
    "--seed",
    type=click.IntRange(0, (1 << 128) - 1),
    metavar="S",
    help="The same seed draws the same solutions.  [default: a new one, told on stderr]",
)
@own("--distinct", is_flag=True, help="Draw no solution of a board twice.")
@solution_form("sample")
@output_file("sample")
@devices
@reading
def sample(
    boards: tuple[str, ...],
    reading: Reading,
    number: int,
    seed: int | None,
    distinct: bool,
    form: str,
    output: str | None,
    force: bool,
    **fields: Any,
) -> None:
    """Draw random solutions of every BOARD, all equally likely.

    The draws are independent, so a solution may come twice, unless they are to be distinct.
    Solution number i depends on the board, the seed and i alone: more of them begin with the same
    ones, on any machine. All boards of a batch have the same seed, and N solutions each.

    \b
    Examples:
      gpusudoku sample @empty                     a fair random grid
      gpusudoku sample board.txt -n 1000000 --seed 7 -o samples.txt
      gpusudoku sample puzzles.txt -n 10 --distinct
    """
    from gpusudoku.listing import Solutions

    options = Options(**fields)
    source = Source(boards, reading)
    failed = False
    with Output(output, force, boards) as out, ProgressLine(listing=output is None) as line:
        engine = start_engine(options)
        if seed is None:
            seed = secrets.randbits(DRAWN_BITS)
            note(f"seed {seed}")
        out.write_header(form)
        try:
            for batch in source.singles():
                drawn = Solutions(batch[0], options, engine=engine, progress=line.update)
                try:
                    if not drawn:
                        source.warn_conflicts(batch)
                        raise InputError("no solution to draw")
                    with closing(drawn.sample_blocks(number, seed, distinct=distinct)) as blocks:
                        for block in blocks:
                            line.clear()
                            out.write(as_text(block, batch.geometry, form))
                except (InputError, TooExpensive) as error:
                    line.clear()
                    complain(f"{place_of(batch, 0)}{error}")
                    failed = True
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted(f"interrupted: {out.lines} lines written", out.lines) from None
    source.finish()
    if failed:
        click.get_current_context().exit(1)
