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
    OwnOptions,
    box_option,
    command_facts,
    compose,
    jobs_option,
    quiet_option,
    text_of,
)
from gpusudoku.cli.usage import Integer, Seconds
from gpusudoku.errors import InputError, shown
from gpusudoku.formats import FORMATS
from gpusudoku.options import MAX_NUMBER
from gpusudoku.pipeline.messages import note, quietly
from gpusudoku.pipeline.puzzle_forms import puzzle_writer
from gpusudoku.pipeline.records import FORMS as RECORDS
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import CommandFacts, InputOptions, OutputOptions, WhichPart

if TYPE_CHECKING:
    from gpusudoku.puzzles.generate import PuzzleOptions, Puzzles

_MOMENTS = "moments"
"""The note of the moments of ``ClueStatistics``."""


def _clues(ctx: click.Context, param: click.Parameter, value: str | None) -> int | list[int] | None:
    """Parse N or A-B, for click: a list, as which JSON gives it back when a run is resumed."""
    if value is None:
        return None
    match = re.fullmatch(r"\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?", value, re.ASCII)
    if match is None:
        raise click.BadParameter(f"{shown(value)}: expected a number, or two as in 24-26")
    return [int(match[1]), int(match[2])] if match[2] else int(match[1])


def puzzle_options(own: OwnOptions) -> Callable[[Command], Command]:
    """Make the options of a command that say which random puzzles are wanted."""
    return compose(
        box_option,
        own("--minimal", is_flag=True, help="Only puzzles without any redundant clue."),
        own(
            "--clues",
            callback=_clues,
            metavar="N|A-B",
            help="N clues, or from A to B.  [default: until none is redundant]",
        ),
        own(
            "--symmetry",
            metavar="LIST",
            help="Comma-separated: rotational, quarter-turn, left-right, top-bottom, diagonal,"
            " antidiagonal, or all.",
        ),
        own(
            "--pattern",
            callback=text_of,
            metavar="FILE|TEXT",
            help="Clues in these cells, all and no others: a character a cell, a dot for an empty"
            " one.",
        ),
        own(
            "--difficulty",
            metavar="LIST",
            help="Comma-separated: easy, medium, hard, expert, extreme.",
        ),
        own(
            "--unbiased",
            is_flag=True,
            help="Minimal puzzles with weights, which make all count alike.",
        ),
        own.seed("The same seed makes the same puzzles."),
        own(
            "--seconds",
            "patience",
            type=Seconds(),
            default=60.0,
            metavar="S",
            help="Give up after so long without another puzzle.",
        ),
    )


own = OwnOptions("generate")


@click.command()
@own(
    "-n",
    "--number",
    type=Integer(0, MAX_NUMBER),
    default=1,
    metavar="N",
    help="Make N puzzles, no two of them equal.",
)
@puzzle_options(own)
@own.part("the puzzles")
@own.forms(
    (*FORMATS, "jsonl"),
    "How to write puzzles; csv, tsv and jsonl have solution, clues and difficulty, too."
    "  [default: line]",
)
@own.output()
@own.checkpoint()
@jobs_option
@quiet_option
def generate(
    number: int,
    box: Geometry | None,
    seed: int | None,
    part: WhichPart | None,
    jobs: int | None,
    patience: float,
    quiet: bool,
    **given: Any,
) -> None:
    """Make random puzzles, each with exactly one solution.

    A random grid loses its clues in a random order, until none is redundant or --clues says so.
    9x9 grids are exactly uniform. The same seed makes the same puzzles on any machine, and more of
    them begin with the same ones.

    \b
    --difficulty, by the techniques that a puzzle needs:
      easy      naked and hidden singles
      medium    locked candidates, too
      hard      naked and hidden pairs, too
      expert    up to ten guesses
      extreme   more

    --unbiased writes a weight behind each puzzle, and what the weights say of all minimal puzzles
    to stderr: removing clues favours puzzles with few of them, weights make up for that.

    If no more puzzles are found in time, the exit status is 5.

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
    from gpusudoku.jobs.threads import usable_cores
    from gpusudoku.puzzles.generate import PuzzleOptions, Puzzles
    from gpusudoku.puzzles.weighted import ClueStatistics

    command = command_facts()
    settings = OutputOptions.take(given, command)
    form = settings.form or "line"
    unbiased = given["unbiased"]
    with quietly(quiet):
        if unbiased and form not in (*RECORDS, "line"):
            raise InputError(f"--format {form} has no place for the weights of --unbiased")
        options = PuzzleOptions(box, **given)
        if part is not None:
            if seed is None:
                raise InputError("--part needs a --seed: all parts are of one run")
            if unbiased:
                raise InputError("--part cannot be combined with --unbiased")
            if options.is_small:
                raise InputError("--part is for larger boards: parts of these could have the same")
        run = puzzle_run(command, options, settings, part)
        numbers = run.take(number, "puzzles")
        writer = puzzle_writer(form, weighted=unbiased)
        with run.open(writer.header):
            statistics = ClueStatistics(run.notes.get(_MOMENTS))
            puzzles = Puzzles(
                numbers.stop,
                options,
                run.seed(seed),
                first=numbers.start,
                done=run.start_solutions,
                batches=statistics.batches,
                seconds=patience,
                threads=jobs or usable_cores(),
            )
            note_walks(puzzles)
            run.expect(len(numbers), "puzzles", shows_rate=True)
            with closing(puzzles.blocks()) as blocks:
                for block in run.waiting(blocks):
                    run.report_seed()
                    run.write(writer.text(block, statistics.batches))
                    if unbiased and block.whole:
                        statistics.add(np.count_nonzero(block.puzzles, axis=1), block.weights)
                        run.notes[_MOMENTS] = statistics.moments.tolist()
                    run.done(solutions=len(block))
            if unbiased:
                summary = statistics.summary()
                note(summary or "fewer than two batches of puzzles: too few for statistics")


def puzzle_run(
    command: CommandFacts,
    options: PuzzleOptions,
    settings: OutputOptions,
    part: WhichPart | None = None,
) -> Run:
    """Return the run of a command that makes puzzles: its input is an empty board."""
    places = SourceLocations.of(InputSource(""), [0])
    empty = Batch(options.geometry, Board.empty(options.geometry).cells[None], places=places)
    reading = InputOptions(options.geometry)
    return Run(command, [empty], reading, settings, part=part)


def note_walks(puzzles: Puzzles) -> None:
    """Say if not all grids have the same chance."""
    if not puzzles.uniform:
        note("grids of this shape come from random walks, and are not exactly uniform")
