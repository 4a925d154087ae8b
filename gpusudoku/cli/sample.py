"""``gpusudoku sample``: random solutions, all with the same probability."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.cli.options import (
    CommandOptions,
    boards_argument,
    command_facts,
    device_options,
    reading_options,
)
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.options import MAX_NUMBER, Options
from gpusudoku.pipeline.messages import prefixing_errors
from gpusudoku.pipeline.progress import DRAWN_PER_SECOND, expect_solutions
from gpusudoku.pipeline.run import Run, start_engine
from gpusudoku.pipeline.settings import InputOptions, OutputOptions, PartNumber, refuse_together
from gpusudoku.pipeline.source import conflict_in, place_of
from gpusudoku.pipeline.text_forms import SolutionWriter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpusudoku.board.batch import Batch
    from gpusudoku.engines.engine import Engine

sample_option = CommandOptions("sample")

_ALTERNATIVES = (
    "; add clues to sample it, or list N solutions that are not random by enumerate --limit N"
)
"""The end of the message for a board that is too expensive to sample."""


@click.command()
@boards_argument
@sample_option(
    "-n",
    "--number",
    type=Integer(0, MAX_NUMBER),
    default=1,
    metavar="N",
    help="Draw N solutions of each board.",
)
@sample_option.seed(
    "Random seed: the same seed draws the same solutions.",
)
@sample_option("--distinct", is_flag=True, help="Draw each solution of a board at most once.")
@sample_option.part("the draws of one board, or of the boards of a batch")
@sample_option.solution_forms()
@sample_option.output()
@sample_option.checkpoint()
@device_options
@reading_options
def sample(
    boards: tuple[str, ...],
    input_options: InputOptions,
    number: int,
    seed: int | None,
    distinct: bool,
    part: PartNumber | None,
    **params: Any,
) -> None:
    """Draw random solutions of every BOARD, with equal probability.

    Draws are independent: without --distinct, a solution may be drawn several times. The same seed
    draws the same solutions on any machine; a larger N appends draws. In a batch, every board has
    N draws with the same seed. --part requires --seed.

    \b
    Examples:
      gpusudoku sample @empty                     a random grid, exactly uniform
      gpusudoku sample board.txt -n 1000000 --seed 7 -o samples.txt
      gpusudoku sample puzzles.txt -n 10 --distinct --format csv -o samples.csv
      gpusudoku sample board.txt -n 1000000 --seed 7 --part 3/8 -o part3.txt
      gpusudoku sample board.txt -n 1000000000 -o all.txt --checkpoint all.run
    """
    command = command_facts()
    output_options = OutputOptions.from_params(params, command)
    options = Options(**params)
    # All parts must use the same seed, and cannot agree on a random one.
    if part is not None and seed is None:
        raise InputError("--part needs a --seed: all parts are of one sample")
    run = Run(command, boards, input_options, output_options, part=part)
    numbers = range(number)
    if run.single:
        if part is not None:
            refuse_together("--part", {"--distinct": distinct})
        numbers = run.select_tasks(number, "draws")
    writer = SolutionWriter(
        output_options.form or "line", run.source.input_source, ("seed", "draw")
    )
    with run.open(writer.header):
        seed = run.seed(seed)
        engine = start_engine(options)
        if run.single:
            run.expect(len(numbers))
        skipped = run.start_solutions  # of the first board, written before a resume
        for board in run.source.singles():
            # Draw i depends on the board, the seed and i only, so a resumed run begins anywhere.
            draws = numbers[skipped:]
            try:
                for solutions in _draw_blocks(run, board, draws, seed, distinct, options, engine):
                    run.report_seed()
                    draw_numbers = np.arange(draws.start, draws.start + len(solutions))
                    draws = draws[len(solutions) :]
                    with prefixing_errors(place_of(board, 0)):
                        columns = {"seed": str(seed), "draw": draw_numbers}
                        text = writer.text(board, solutions, values=columns)
                    run.write(text)
                    run.add_finished(solutions=len(solutions))
            except InputError as error:
                run.report_unanswered(board, error)
            except TooExpensive as error:
                run.report_unanswered(board, f"{error}{_ALTERNATIVES}")
            run.add_finished(boards=1)
            skipped = 0


def _draw_blocks(
    run: Run,
    board: Batch,
    draws: range,
    seed: int,
    distinct: bool,
    options: Options,
    engine: Engine,
) -> Iterator[NDArray[np.uint8]]:
    """Return an iterator over blocks of the solutions that these draws give, uint8 (k, cells).

    Raises
    ------
    InputError
        At once, if the board has no solution, or too few distinct ones.
    TooExpensive
        At once, if the board cannot be sampled in reasonable time.
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
