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
from gpusudoku.cli.numbers import Part
from gpusudoku.cli.options import (
    Reading,
    boards_argument,
    devices,
    output_file,
    own_option,
    reading,
)
from gpusudoku.cli.output import Output
from gpusudoku.cli.parts import Parted, part_option, refuse_options
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import start_engine
from gpusudoku.cli.source import Source, conflict_in, place_of
from gpusudoku.errors import InputError, TooExpensive
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
@part_option("sample", "the sample, or of a batch")
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
    part: Part | None,
    form: str,
    output: str | None,
    force: bool,
    **fields: Any,
) -> None:
    """Draw random solutions of every BOARD, all equally likely.

    The draws are independent, so a solution may come twice, unless they are to be distinct.
    Solution number i depends on the board, the seed and i alone: more of them begin with the same
    ones, on any machine. All boards of a batch have the same seed, and N solutions each. One board
    is sampled in parts of the draws, a batch in parts of its boards, and parts need a seed.

    \b
    Examples:
      gpusudoku sample @empty                     a fair random grid
      gpusudoku sample board.txt -n 1000000 --seed 7 -o samples.txt
      gpusudoku sample puzzles.txt -n 10 --distinct --format csv -o samples.csv
      gpusudoku sample board.txt -n 1000000 --seed 7 --part 3/8 -o part3.txt
    """
    from gpusudoku.listing import Solutions
    from gpusudoku.orders.sampling import SEED_BITS

    options = Options(**fields)
    source, is_told = Source(boards, reading), seed is not None
    facts = {"number": number, "seed": str(seed), "distinct": distinct, "format": form}
    parted = part and Parted(part, "sample", source, facts, output, force)
    draws = _draws(number, seed, distinct, parted, source)
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    writer = solution_writer(form, Own({"seed": str(seed)}, "draw"))
    with Output(output, force, boards) as out, ProgressLine(listing=out.to_stdout) as line:
        engine = start_engine(options)
        out.write_header(writer.header)
        with out.telling_lines():
            for done, batch in enumerate(source.singles(writer.watched)):
                if not source.single:
                    line.boards(done, source.share)
                found = Solutions(batch[0], options, engine=engine, progress=line.update)
                first = draws.start
                for block in _drawn(found, batch, source, line, engine, (draws, seed, distinct)):
                    if not is_told:
                        note(f"seed {seed}")
                        is_told = True
                    with naming(place_of(batch, 0)):
                        text = writer.text(batch, block, numbers=count(first))
                    out.write(text)
                    first += len(block)
        if parted is None:
            source.finish()  # a file is not made for want of any answer
    if parted is not None:
        parted.record_lines(writer.header())
        source.finish()


def _draws(
    number: int, seed: int | None, distinct: bool, parted: Parted | None, source: Source
) -> range:
    """The draws from each board; those of a part are some from the only one, or all from others."""
    if parted is None:
        return range(number)
    if seed is None:
        raise InputError("--part needs a --seed: all parts are of one sample")
    if source.single:
        refuse_options(distinct=distinct)
        return parted.take(number, "draws")
    parted.take_boards()
    return range(number)


def _drawn(
    solutions: Solutions,
    batch: Batch,
    source: Source,
    line: ProgressLine,
    engine: Engine,
    asked: tuple[range, int, bool],
) -> Iterator[NDArray[np.uint8]]:
    """The blocks of a sample; if there can be none, why is said on stderr, and nothing else lost.

    ``asked`` are the numbers of the draws, the seed, and whether all are to be distinct.
    """
    draws, seed, distinct = asked
    if not draws:
        return
    try:
        with line.working():
            if not solutions:
                raise InputError(f"no solution to draw{conflict_in(batch[0])}")
            blocks = solutions.sample_blocks(draws.stop, seed, distinct=distinct, first=draws.start)
        if source.single:
            expect_sample(len(draws), engine)
        yield from blocks
    except (InputError, TooExpensive) as error:
        line.clear()
        source.unanswered(f"{place_of(batch, 0)}{error}")
