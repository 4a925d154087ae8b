"""``gpusudoku generate``: random puzzles, each with one solution."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gpusudoku.board.batch import Batch, InputSource, SourceLocations
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.options import (
    Command,
    CommandOptions,
    box_option,
    command_facts,
    compose,
    jobs_option,
    quiet_option,
    read_text,
)
from gpusudoku.cli.usage import Integer, Seconds, Sectioned
from gpusudoku.errors import InputError, shown
from gpusudoku.formats import FORMATS
from gpusudoku.options import MAX_NUMBER
from gpusudoku.pipeline.messages import print_note, quietly
from gpusudoku.pipeline.puzzle_forms import puzzle_writer
from gpusudoku.pipeline.records import FORMS as RECORDS
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import CommandFacts, InputOptions, OutputOptions, PartNumber
from gpusudoku.pipeline.text_forms import Writer

if TYPE_CHECKING:
    from gpusudoku.puzzles.generate import PuzzleOptions, Puzzles

_MOMENTS = "moments"
"""The note of a run that keeps ``ClueStatistics.moments`` for a resume."""


def _parse_clues(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> int | list[int] | None:
    """Parse N or A-B, as a callback of click.

    A range is a list: a run file keeps parameters as JSON, which would turn a tuple into a list.
    """
    if value is None:
        return None
    match = re.fullmatch(r"\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?", value, re.ASCII)
    if match is None:
        raise click.BadParameter(f"{shown(value)}: expected a number, or two as in 24-26")
    return [int(match[1]), int(match[2])] if match[2] else int(match[1])


def puzzle_options(command_option: CommandOptions) -> Callable[[Command], Command]:
    """Make the options of a command that describe the puzzles to make."""
    return compose(
        box_option,
        command_option(
            "--minimal", is_flag=True, help="Make only puzzles without a redundant clue."
        ),
        command_option(
            "--clues",
            callback=_parse_clues,
            metavar="N|A-B",
            help="Number of clues, or its range.  [default: remove all redundant clues]",
        ),
        command_option(
            "--symmetry",
            metavar="LIST",
            help="Symmetries of the clues, comma-separated: rotational, quarter-turn, left-right,"
            " top-bottom, diagonal, antidiagonal, or all.",
        ),
        command_option(
            "--pattern",
            callback=read_text,
            metavar="FILE|TEXT",
            help="Cells of the clues: one character per cell, a dot for an empty cell.",
        ),
        command_option(
            "--difficulty",
            metavar="LIST",
            help="Difficulties, comma-separated: easy, medium, hard, expert, extreme.",
        ),
        command_option(
            "--unbiased",
            is_flag=True,
            help="Make minimal puzzles, with weights that correct the bias of removing clues.",
        ),
        command_option.seed("Random seed: the same seed makes the same puzzles."),
        command_option(
            "--seconds",
            "patience",
            type=Seconds(),
            default=60.0,
            metavar="S",
            help="Give up if no puzzle is found for S seconds.",
        ),
    )


SECTIONS = {
    "Common options": (
        "--number", "--difficulty", "--clues", "--symmetry", "--format", "--output", "--jobs"
    ),
    "Puzzles": ("--box", "--minimal", "--pattern", "--unbiased", "--seed"),
    "Output": ("--json", "--force", "--quiet"),
    "Long runs": ("--seconds", "--checkpoint", "--part"),
}  # fmt: skip
"""The options in the help, by section."""

generate_option = CommandOptions("generate")


@click.command(cls=Sectioned, sections=SECTIONS)
@generate_option(
    "-n",
    "--number",
    type=Integer(0, MAX_NUMBER),
    default=1,
    metavar="N",
    help="Make N different puzzles.",
)
@puzzle_options(generate_option)
@generate_option.part("the puzzles")
@generate_option.forms(
    (*FORMATS, "jsonl"),
    "Format of puzzles; csv, tsv and jsonl add solution, clues and difficulty.  [default: line]",
)
@generate_option.output()
@generate_option.checkpoint()
@jobs_option
@quiet_option
def generate(
    number: int,
    box: Geometry | None,
    seed: int | None,
    part: PartNumber | None,
    jobs: int | None,
    patience: float,
    quiet: bool,
    **params: Any,
) -> None:
    """Make random puzzles, each with exactly one solution.

    A puzzle is made from a random grid: clues are removed in random order until none is redundant,
    or --clues is reached. Grids of 9x9 cells are exactly uniform. The same seed makes the same
    puzzles on any machine; a larger N appends puzzles.

    \b
    --difficulty is the hardest technique that a puzzle needs:
      easy      naked and hidden singles
      medium    locked candidates
      hard      naked and hidden pairs
      expert    up to ten guesses
      extreme   more than ten guesses

    Removing clues favours puzzles with few clues. --unbiased writes after each puzzle a weight that
    corrects this, and prints weighted statistics of all minimal puzzles on stderr.

    The exit status is 5 if too few puzzles are found in time.

    \b
    Examples:
      gpusudoku generate
      gpusudoku generate --symmetry rotational --clues 26 --format pretty
      gpusudoku generate -n 1000 --difficulty easy --format csv -o easy.csv
      gpusudoku generate --pattern heart.txt
      gpusudoku generate --box 4x4 -n 10
      gpusudoku generate --unbiased -n 10000 --format csv -o weighted.csv
      gpusudoku generate -n 1000000 --seed 7 -o all.txt --checkpoint all.run
    """
    from gpusudoku.puzzles.generate import PuzzleOptions

    command = command_facts()
    output_options = OutputOptions.from_params(params, command)
    form = output_options.form or "line"
    is_weighted = params["unbiased"]
    with quietly(quiet):
        if is_weighted and form not in (*RECORDS, "line"):
            raise InputError(f"--format {form} has no place for the weights of --unbiased")
        options = PuzzleOptions(box, **params)
        if part is not None:
            # All parts must use the same seed, and cannot agree on a random one.
            if seed is None:
                raise InputError("--part needs a --seed: all parts are of one run")
            if is_weighted:
                raise InputError("--part cannot be combined with --unbiased")
            # Small boards have so few puzzles that a run leaves out repetitions. Parts on different
            # machines could not do that.
            if options.is_small:
                raise InputError(
                    "--part is for larger boards: for this box shape, two parts could have the"
                    " same puzzle"
                )
        # Puzzle k depends on the seed and k only, so a part makes the puzzles with its numbers.
        run = puzzle_run(command, options, output_options, part)
        numbers = run.select_tasks(number, "puzzles")
        writer = puzzle_writer(form, weighted=is_weighted)
        with run.open(writer.header):
            _write_puzzles(run, writer, options, numbers, run.seed(seed), patience, jobs)


def _write_puzzles(
    run: Run,
    writer: Writer,
    options: PuzzleOptions,
    numbers: range,
    seed: int,
    patience: float,
    jobs: int | None,
) -> None:
    """Make and write the puzzles with these numbers, and their statistics if they have weights."""
    from gpusudoku.jobs.threads import usable_cores
    from gpusudoku.puzzles.generate import Puzzles
    from gpusudoku.puzzles.weighted import ClueStatistics

    statistics = ClueStatistics(run.notes.get(_MOMENTS))
    puzzles = Puzzles(
        numbers.stop,
        options,
        seed,
        first=numbers.start,
        done=run.start_solutions,
        batches=statistics.batches,
        seconds=patience,
        threads=jobs or usable_cores(),
    )
    note_random_walks(puzzles)
    run.expect(len(numbers), "puzzles", shows_rate=True)
    with closing(puzzles.blocks()) as blocks:
        for block in run.waiting(blocks):
            run.report_seed()
            run.write(writer.text(block, statistics.batches))
            if options.unbiased and block.whole:
                # The estimates need whole batches: a part of one would bias them.
                statistics.add(np.count_nonzero(block.puzzles, axis=1), block.weights)
                run.notes[_MOMENTS] = statistics.moments.tolist()
            run.add_finished(solutions=len(block))
    if options.unbiased:
        summary = statistics.summary()
        print_note(summary or "fewer than two batches of puzzles: too few for statistics")


def puzzle_run(
    command: CommandFacts,
    options: PuzzleOptions,
    output_options: OutputOptions,
    part: PartNumber | None = None,
) -> Run:
    """Return the run of a command that makes puzzles.

    A run needs boards as its input, which checkpoints and parts compare. Here it is an empty board.
    """
    locations = SourceLocations.of(InputSource(""), [0])
    empty_cells = Board.empty(options.geometry).cells
    empty_batch = Batch(options.geometry, empty_cells[None], locations=locations)
    input_options = InputOptions(options.geometry)
    return Run(command, [empty_batch], input_options, output_options, part=part)


def note_random_walks(puzzles: Puzzles) -> None:
    """Print a note if grids do not all have the same probability."""
    if not puzzles.uniform:
        print_note("grids of this shape come from random walks, and are not exactly uniform")
