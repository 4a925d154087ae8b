"""``gpusudoku solve``: a solution of every board, and whether it is the only one."""

from __future__ import annotations

import sys
from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gpusudoku import formats
from gpusudoku.board.board import Board
from gpusudoku.cli.answering import Delivery, Prepared
from gpusudoku.cli.answers import Answers, Writer
from gpusudoku.cli.asked import Asked, answering
from gpusudoku.cli.messages import naming, note
from gpusudoku.cli.numbers import WhichPart
from gpusudoku.cli.options import Reading, boards_argument, own_option, reading, searching
from gpusudoku.cli.parts import part_option, parted_answers
from gpusudoku.cli.records import as_bytes
from gpusudoku.cli.report import show_search, start_engine
from gpusudoku.cli.source import Source, place_of
from gpusudoku.errors import BadEntry, InputError
from gpusudoku.options import Options
from gpusudoku.results import Counts
from gpusudoku.runs.parts.records import search_facts

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.solving import Solved


@click.command()
@boards_argument
@searching
@own_option("solve")(
    "--first",
    "first_only",
    is_flag=True,
    help="Stop at the first solution, without looking for another.",
)
@part_option("solve", "a batch")
@answering(
    "solve", [*formats.FORMATS, "jsonl"], "[default: pretty for one board, line for a batch]"
)
@reading
def solve(
    boards: tuple[str, ...],
    reading: Reading,
    asked: Asked,
    first_only: bool,
    part: WhichPart | None,
    **fields: Any,
) -> None:
    """Find a solution of every BOARD and say whether it is the only one.

    The search stops at the second solution (with --first at the first).

    \b
    One board:  stdout has a solution; a terminal shows the given board, too.
                stderr says whether there is another solution.
    A batch:    stdout has a line a board, an empty one if it has no solution.
                With --keep-going, a bad board has an empty line, too, or a
                record in csv, tsv and jsonl. stderr ends with a summary.

    \b
    Examples:
      gpusudoku solve board.txt
      gpusudoku solve puzzles.txt > solutions.txt
      gpusudoku solve puzzles.csv --format csv -o solutions.csv
      gpusudoku solve puzzles.txt --part 3/100 -o part3.txt
      gpusudoku solve @techniques-16x16 --stats
    """
    if first_only and asked.exit_code:
        raise InputError("--exit-code needs to know whether there is another solution: no --first")
    options = Options(**fields, limit=1 if first_only else 2)
    asked.refuse(boards)
    asked = replace(asked, solution=True, errors=reading.keep_going)
    source = Source(boards, reading, kept=bool(asked.checkpoint or part))
    if part is not None and source.single:
        raise InputError("--part is for batches here: one solution has no parts")
    parted = parted_answers(part, "solve", source, asked, search_facts(options))
    engine = start_engine(options)
    is_read = asked.to_stdout and sys.stdout is not None and sys.stdout.isatty()
    shown = source.single and asked.form is None and is_read
    form = asked.form or ("pretty" if source.single else "line")
    plain = _Shown() if shown else _Solutions(form, source.single)
    delivery = Delivery(asked, source, engine, plain, parted=parted)
    found = _solved(source, options, engine, delivery, not shown, asked.stats)
    delivery.deliver(found, boards, "solved")


def _solved(
    source: Source,
    options: Options,
    engine: Engine,
    delivery: Delivery,
    tell: bool,
    stats: bool,
) -> Generator[Prepared, None, None]:
    """Solve the boards in blocks, or each alone; after a single board say what came of it."""
    from gpusudoku.solving import Solved, solve_board, solve_work

    watched, check_unique = delivery.watched, options.limit != 1
    if not delivery.alone:
        work = solve_work(options, engine, check_unique=check_unique)
        prepare = work.then(lambda solved: delivery.prepare(_answers(solved, options, engine)))
        yield from prepare.on(watched(source.batches()))
        return
    for board in source.singles(watched):
        solution = solve_board(board[0], options, engine, check_unique=check_unique)
        answers = _answers(Solved.of(board, solution), options, engine)
        yield delivery.prepare(answers)
        if source.single and tell:
            note(_verdict(answers))
        if source.single and stats:
            show_search(board[0], solution.stats)


def _answers(solved: Solved, options: Options, engine: Engine) -> Answers:
    """What was solved, as numbers of solutions up to the limit."""
    results = Counts(
        solved.boards, solved.numbers, options.limit, engine.name, engine.workers, solved.stats
    )
    return Answers(results, solved.solutions)


def _verdict(answers: Answers) -> str:
    """What the solution of a single board does not show."""
    [count] = answers.results.counts
    if count == 0:
        return "no solution"
    unique = answers.results.is_unique(count)
    return "a solution" if unique is None else f"{'' if unique else 'not '}the only solution"


class _Solutions(Writer):
    """Solutions in one of the text forms."""

    def __init__(self, form: str, single: bool) -> None:
        self._form, self._single = form, single

    @property
    def between(self) -> bytes:
        """See ``Writer``."""
        return formats.separator(self._form).encode()

    def text(self, answers: Answers) -> bytes:
        """Every solution; lines of a batch stand beside its boards, empty if there is none."""
        boards, counts = answers.results.boards, answers.results.counts
        solutions = answers.solutions
        assert solutions is not None
        if self._form == "line" and all(counts):
            return formats.write_lines(solutions)
        texts, separator = [], formats.separator(self._form)
        for index, count in enumerate(counts):
            if count:
                with naming("" if self._single else place_of(boards, index)):
                    text = formats.write(Board(solutions[index], boards.geometry), self._form)
                texts.append(f"{text}\n")
            elif not (self._single or separator):
                texts.append("\n")
        return as_bytes(separator.join(texts))

    @property
    def has_unreadable(self) -> bool:
        """See ``Writer``: where a line stands beside every board."""
        return not (self._single or formats.separator(self._form))

    def unreadable(self, board: BadEntry) -> bytes:
        """See ``Writer``: an empty line."""
        return b"\n" if self.has_unreadable else b""


class _Shown(Writer):
    """A single board for somebody who looks: what was given, the solution, and what it took."""

    def text(self, answers: Answers) -> bytes:
        """Both boards and a line."""
        [board], [count] = answers.results.boards, answers.results.counts
        assert answers.solutions is not None
        found = [Board(answers.solutions[0], board.geometry)] if count else []
        parts = [formats.write(each, "pretty") for each in (board, *found)]
        seconds = answers.results.stats.seconds
        return as_bytes("\n\n".join([*parts, f"{_verdict(answers)}, {seconds:.6f} s"]) + "\n")
