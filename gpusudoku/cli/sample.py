"""``gpusudoku sample``: random solutions, all with the same probability or with weights."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
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
from gpusudoku.pipeline.messages import prefixing_errors, print_note, several
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
    "; draw weighted solutions by --nearly, or list N solutions that are not random by"
    " enumerate --limit N"
)
"""The end of the message for a board that is too expensive to sample."""
_WEIGHTED = "weighted draws, not uniform: means need the column weight of csv, tsv or jsonl"
_SUMS = "sums"
"""The key of ``Run.notes`` for the present board: the sum of its weights, the sum of their squares,
and the number of draws without a solution."""


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
@sample_option("--nearly", is_flag=True, help="Draw weighted solutions of any board up to 25x25.")
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
    nearly: bool,
    part: PartNumber | None,
    **params: Any,
) -> None:
    """Draw random solutions of every BOARD, with equal probability.

    Draws are independent: without --distinct, a solution may be drawn several times. The same seed
    draws the same solutions on any machine; a larger N appends draws. In a batch, every board has
    N draws with the same seed. --part requires --seed.

    With --nearly, draws are random walks, which prefer some solutions. The column weight of csv,
    tsv and jsonl corrects this in weighted means. A draw that finds no solution has the weight 0,
    and no line.

    \b
    Examples:
      gpusudoku sample @empty                     a random grid, exactly uniform
      gpusudoku sample board.txt -n 1000000 --seed 7 -o samples.txt
      gpusudoku sample puzzles.txt -n 10 --distinct --format csv -o samples.csv
      gpusudoku sample large.txt --nearly -n 1000 --seed 7 -o weighted.csv
      gpusudoku sample board.txt -n 1000000 --seed 7 --part 3/8 -o part3.txt
      gpusudoku sample board.txt -n 1000000000 -o all.txt --checkpoint all.run
    """
    command = command_facts()
    output_options = OutputOptions.from_params(params, command)
    options = Options(**params)
    refuse_together("--nearly", {"--distinct": nearly and distinct})
    # All parts must use the same seed, and cannot agree on a random one.
    if part is not None and seed is None:
        raise InputError("--part needs a --seed: all parts are of one sample")
    run = Run(command, boards, input_options, output_options, part=part)
    numbers = range(number)
    if run.single:
        if part is not None:
            refuse_together("--part", {"--distinct": distinct})
        numbers = run.select_tasks(number, "draws")
    columns = ("seed", "draw", "weight") if nearly else ("seed", "draw")
    writer = SolutionWriter(output_options.form or "line", run.source.input_source, columns)
    with run.open(writer.header):
        seed = run.seed(seed)
        engine = start_engine(options)
        if nearly:
            print_note(_WEIGHTED)
        if run.single:
            run.expect(len(numbers))
        skipped = run.start_solutions  # of the first board, written before a resume
        for board in run.source.singles():
            # Draw i depends on the board, the seed and i only, so a resumed run begins anywhere.
            draws = numbers[skipped:]
            try:
                for solutions, weights in _draw_blocks(
                    run, board, draws, seed, distinct, nearly, options, engine
                ):
                    run.report_seed()
                    draw_numbers = np.arange(draws.start, draws.start + len(solutions))
                    draws = draws[len(solutions) :]
                    values = {"seed": str(seed), "draw": draw_numbers}
                    if weights is not None:
                        is_solved = weights > 0
                        solutions = solutions[is_solved]
                        values |= {"draw": draw_numbers[is_solved], "weight": weights[is_solved]}
                    with prefixing_errors(place_of(board, 0)):
                        text = writer.text(board, solutions, values=values)
                    run.write(text)
                    if weights is not None:
                        _add_weights(run, weights)
                    run.add_finished(solutions=len(draw_numbers))
                if nearly and numbers:
                    _report_weights(run, board, len(numbers))
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
    nearly: bool,
    options: Options,
    engine: Engine,
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.float64] | None]]:
    """Return an iterator over blocks of the solutions that these draws give, uint8 (k, cells).

    Each block comes with the weights, float64 (k), or None for uniform draws.

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
    if nearly and not board[0].conflicts:
        from gpusudoku.weighted_samples import unit_exponent, weighted_blocks

        if exponent := unit_exponent(board[0]):
            print_note(f"{place_of(board, 0)}the unit of the weights is 2^{exponent}")
        weighted = weighted_blocks(board[0], draws, seed, engine)
        return ((block.grids, block.weights) for block in weighted)
    solutions = Solutions(board[0], options, engine=engine)
    with run.line.working():
        if not solutions:
            raise InputError(f"no solution to draw{conflict_in(board[0])}")
        blocks = solutions.sample_blocks(draws.stop, seed, distinct=distinct, first=draws.start)
    if run.single:
        expect_solutions(len(draws), "draw", DRAWN_PER_SECOND, engine)
    return zip(blocks, repeat(None))


def _add_weights(run: Run, weights: NDArray[np.float64]) -> None:
    """Add the weights of draws to the sums, which a checkpoint saves."""
    sums = np.array([weights.sum(), (weights**2).sum(), (weights == 0).sum()])
    run.notes[_SUMS] = (run.notes.get(_SUMS, np.zeros(3)) + sums).tolist()


def _report_weights(run: Run, board: Batch, draws: int) -> None:
    """Print the effective sample size of a board, or raise an InputError if it is 0."""
    total, squares, empty_draws = run.notes.pop(_SUMS)
    if not total:
        raise InputError(f"none of {several(draws, 'draw')} found a solution")
    note = f"effective sample size {total**2 / squares:,.1f} of {several(draws, 'draw')}"
    if empty_draws:
        note += f"; {empty_draws:,.0f} found no solution"
    print_note(f"{place_of(board, 0)}{note}")
