"""``gpusudoku sample``: random solutions, each as likely as any other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.cli.options import OwnOptions, boards_argument, command_facts, devices, reading
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.options import MAX_NUMBER, Options
from gpusudoku.pipeline.messages import naming
from gpusudoku.pipeline.progress import DRAWN_PER_SECOND, expect_solutions
from gpusudoku.pipeline.run import Run, start_engine
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, WhichPart, refuse_together
from gpusudoku.pipeline.source import conflict_in, place_of
from gpusudoku.pipeline.text_forms import SolutionWriter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gpusudoku.board.batch import Batch
    from gpusudoku.engines.engine import Engine

own = OwnOptions("sample")

_INSTEAD = "; with more clues it can be sampled, and enumerate --limit N lists N, not random ones"
"""A way out for a board that is too expensive to sample."""


@click.command()
@boards_argument
@own(
    "-n",
    "--number",
    type=Integer(0, MAX_NUMBER),
    default=1,
    metavar="N",
    help="Draw N solutions of each board.",
)
@own.seed(
    "The same seed draws the same solutions.",
)
@own("--distinct", is_flag=True, help="Draw no solution of a board twice.")
@own.part("the sample, or of a batch")
@own.solution_forms()
@own.output()
@own.checkpoint()
@devices
@reading
def sample(
    boards: tuple[str, ...],
    reading: InputOptions,
    number: int,
    seed: int | None,
    distinct: bool,
    part: WhichPart | None,
    **given: Any,
) -> None:
    """Draw random solutions of every BOARD, all equally likely.

    Draws are independent: a solution may come twice, unless --distinct is given. The same seed
    draws the same solutions on any machine, and more of them begin with the same ones. Every board
    of a batch has the same seed, and N solutions. --part, which needs --seed, splits the draws of
    one board, or a batch by boards.

    \b
    Examples:
      gpusudoku sample @empty                     a fair random grid
      gpusudoku sample board.txt -n 1000000 --seed 7 -o samples.txt
      gpusudoku sample puzzles.txt -n 10 --distinct --format csv -o samples.csv
      gpusudoku sample board.txt -n 1000000 --seed 7 --part 3/8 -o part3.txt
      gpusudoku sample board.txt -n 1000000000 -o all.txt --checkpoint all.run
    """
    command = command_facts()
    settings = OutputOptions.take(given, command)
    options = Options(**given)
    if part is not None and seed is None:
        raise InputError("--part needs a --seed: all parts are of one sample")
    run = Run(command, boards, reading, settings, part=part)
    numbers = range(number)
    if run.single:
        if part is not None:
            refuse_together("--part", {"--distinct": distinct})
        numbers = run.take(number, "draws")
    writer = SolutionWriter(settings.form or "line", run.source.origin, ("seed", "draw"))
    with run.open(writer.header):
        seed = run.seed(seed)
        engine = start_engine(options)
        skipped = run.start_solutions
        if run.single:
            run.expect(len(numbers))
        for board in run.source.singles():
            draws = numbers[skipped:]
            try:
                for rows in _blocks(run, board, draws, seed, distinct, options, engine):
                    run.report_seed()
                    drawn = np.arange(draws.start, draws.start + len(rows))
                    draws = draws[len(rows) :]
                    with naming(place_of(board, 0)):
                        text = writer.text(board, rows, values={"seed": str(seed), "draw": drawn})
                    run.write(text)
                    run.done(solutions=len(rows))
            except InputError as error:
                run.unanswered(board, error)
            except TooExpensive as error:
                run.unanswered(board, f"{error}{_INSTEAD}")
            run.done(boards=1)
            skipped = 0


def _blocks(
    run: Run,
    board: Batch,
    draws: range,
    seed: int,
    distinct: bool,
    options: Options,
    engine: Engine,
) -> Iterator[NDArray[np.uint8]]:
    """Draw solutions of a board, in blocks.

    Errors come at once: an InputError if there are none, or not enough distinct ones, or a
    TooExpensive.
    """
    from gpusudoku.enumeration.solutions import Solutions

    if not draws:
        return iter(())
    solutions = Solutions(board[0], options, engine=engine)
    with run.line.working():
        if not solutions:
            raise InputError(f"no solution to draw{conflict_in(board[0])}")
        blocks = solutions.sample_blocks(draws.stop, seed, distinct=distinct, first=draws.start)
    if run.single:
        expect_solutions(len(draws), "draw", DRAWN_PER_SECOND, engine)
    return blocks
