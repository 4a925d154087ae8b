"""``gpusudoku sample``: random solutions, each as likely as any other."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.expected import expect_sample
from gpusudoku.cli.grids import Own, solution_form, solution_writer
from gpusudoku.cli.messages import naming, note
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
from gpusudoku.cli.source import Source, conflict_in, place_of
from gpusudoku.errors import InputError, Interrupted, TooExpensive
from gpusudoku.options import Options

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gpusudoku.board.batch import Batch
    from gpusudoku.engines.engine import Engine
    from gpusudoku.listing import Solutions

own = own_option("sample")


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
    help="The same seed draws the same solutions.  [default: a new one, told on stderr and in"
    " csv, tsv and jsonl]",
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
      gpusudoku sample puzzles.txt -n 10 --distinct --format csv -o samples.csv
    """
    from gpusudoku.listing import Solutions
    from gpusudoku.orders.sampling import SEED_BITS

    options = Options(**fields)
    source, is_told = Source(boards, reading), seed is not None
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    writer = solution_writer(form, Own({"seed": str(seed)}, "draw"))
    with Output(output, force, boards) as out, ProgressLine(listing=out.to_stdout) as line:
        engine = start_engine(options)
        out.write_header(writer.header)
        try:
            for done, batch in enumerate(writer.watched(source.singles())):
                if not source.single:
                    line.boards(done, source.share)
                found = Solutions(batch[0], options, engine=engine, progress=line.update)
                first = 0
                asked = number, seed, distinct
                for block in _drawn(found, batch, source, line, engine, asked):
                    if not is_told:
                        note(f"seed {seed}")
                        is_told = True
                    with naming(place_of(batch, 0)):
                        text = writer.text(batch, block, numbers=count(first))
                    out.write(text)
                    first += len(block)
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted(f"interrupted: {out.lines} lines written", out.lines) from None
        source.finish()


def _drawn(
    solutions: Solutions,
    batch: Batch,
    source: Source,
    line: ProgressLine,
    engine: Engine,
    asked: tuple[int, int, bool],
) -> Iterator[NDArray[np.uint8]]:
    """The blocks of a sample; if there can be none, why is said on stderr, and nothing else lost.

    ``asked`` is the number of draws, the seed, and whether all are to be distinct.
    """
    number, seed, distinct = asked
    if not number:
        return
    try:
        with line.working():
            if not solutions:
                raise InputError(f"no solution to draw{conflict_in(batch[0])}")
            blocks = solutions.sample_blocks(number, seed, distinct=distinct)
        if source.single:
            expect_sample(number, engine)
        yield from blocks
    except (InputError, TooExpensive) as error:
        line.clear()
        source.unanswered(f"{place_of(batch, 0)}{error}")
