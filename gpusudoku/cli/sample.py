"""``gpusudoku sample``: random solutions, each as likely as any other."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.expected import expect_sample
from gpusudoku.cli.grids import Own, Writer, solution_form, solution_writer
from gpusudoku.cli.journal import UNANSWERED, Journal, goes_on
from gpusudoku.cli.messages import naming, note
from gpusudoku.cli.numbers import WhichPart
from gpusudoku.cli.options import (
    Reading,
    boards_argument,
    checkpoint,
    devices,
    output_file,
    own_option,
    reading,
)
from gpusudoku.cli.parts import Parted, part_option, refuse_options
from gpusudoku.cli.progress import ProgressLine
from gpusudoku.cli.report import start_engine
from gpusudoku.cli.saving import journaled
from gpusudoku.cli.source import Source, conflict_in, place_of
from gpusudoku.cli.usage import Integer
from gpusudoku.errors import InputError, TooExpensive
from gpusudoku.options import Options

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gpusudoku.board.batch import Batch
    from gpusudoku.listing import Solutions

own = own_option("sample")

_SEED = "seed"
"""The note of a seed that nobody gave."""
_INSTEAD = "; with more clues it can be sampled, and enumerate --limit N lists N, not random ones"
"""What is possible with a board that is too expensive to sample."""


@click.command()
@boards_argument
@own(
    "-n",
    "--number",
    type=Integer(min=0),
    default=1,
    metavar="N",
    help="Draw N solutions of each board.",
)
@own(
    "--seed",
    type=Integer(0, (1 << 128) - 1),
    metavar="S",
    help="The same seed draws the same solutions.  [default: a new one, told on stderr and in"
    " csv, tsv and jsonl]",
)
@own("--distinct", is_flag=True, help="Draw no solution of a board twice.")
@part_option("sample", "the sample, or of a batch")
@solution_form("sample")
@output_file("sample")
@checkpoint("sample")
@devices
@reading
def sample(
    boards: tuple[str, ...],
    reading: Reading,
    number: int,
    seed: int | None,
    distinct: bool,
    part: WhichPart | None,
    form: str,
    output: str | None,
    force: bool,
    checkpoint: str | None,
    **fields: Any,
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
    options = Options(**fields)
    source = Source(boards, reading, kept=bool(checkpoint or part))
    facts = {"number": number, "seed": str(seed), "distinct": distinct, "format": form}
    replaces = force or goes_on(checkpoint)
    parted = part and Parted(part, "sample", source, facts, output, replaces)
    numbers = _numbers(number, seed, distinct, parted, source)
    with (
        journaled(checkpoint, (output, force), boards) as journal,
        ProgressLine(listing=journal.output.to_stdout) as line,
    ):
        draws = _Draws(numbers, _seed(seed, journal), distinct)
        writer = solution_writer(form, Own({"seed": str(draws.seed)}, "draw"))
        sampling = _Sampling(source, options, draws, journal, writer, line)
        journal.output.write_header(writer.header)
        with journal.output.telling_lines(journal.hint):
            sampling.write(tell_seed=seed is None)
        if parted is None and checkpoint is None:
            source.finish()  # a file is not made for want of any answer
    if parted is not None:
        parted.record_lines(writer.header())
    source.finish()


def _numbers(
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


def _seed(seed: int | None, journal: Journal) -> int:
    """The seed that is given, that of before, or a new one."""
    from gpusudoku.orders.sampling import SEED_BITS

    if seed is None:
        seed = journal.notes.setdefault(_SEED, secrets.randbits(SEED_BITS))
    return seed


@dataclass(frozen=True)
class _Draws:
    """What is drawn from each board."""

    numbers: range
    seed: int
    distinct: bool

    def blocks(self, solutions: Solutions, done: int) -> Iterator[NDArray[np.uint8]]:
        """The blocks of those after the first ``done``."""
        end, first = self.numbers.stop, self.numbers.start + done
        if self.distinct:
            return _after(solutions.sample_blocks(end, self.seed, distinct=True), first)
        return solutions.sample_blocks(end, self.seed, first=first)


def _after(blocks: Iterator[NDArray[np.uint8]], done: int) -> Iterator[NDArray[np.uint8]]:
    """The rows of some blocks without so many at the beginning."""
    for block in blocks:
        if done < len(block):
            yield block[done:]
        done = max(0, done - len(block))


class _Sampling:
    """Draws solutions of all boards, and writes them."""

    def __init__(
        self,
        source: Source,
        options: Options,
        draws: _Draws,
        journal: Journal,
        writer: Writer,
        line: ProgressLine,
    ) -> None:
        self._source, self._options, self._draws = source, options, draws
        self._journal, self._writer, self._line = journal, writer, line
        self._engine = start_engine(options)
        journal.share = self._share

    def write(self, *, tell_seed: bool) -> None:
        """Write what is left to draw; with the first, the seed may be told."""
        source, journal, line = self._source, self._journal, self._line
        source.lacks_answers = bool(journal.notes.get(UNANSWERED))
        boards, done = journal.start
        for board, batch in enumerate(source.singles(self._watched), boards):
            if not source.single:
                line.boards(board, source.share)
            number = self._draws.numbers.start + done
            for block in self._drawn(batch, done):
                if tell_seed:
                    note(f"seed {self._draws.seed}")
                    tell_seed = False
                with naming(place_of(batch, 0)):
                    text = self._writer.text(batch, block, numbers=count(number))
                journal.output.write(text)
                number += len(block)
                journal.found += len(block)
                journal.advance(solutions=len(block))
            journal.notes[UNANSWERED] = source.lacks_answers
            journal.advance(boards=1)
            done = 0

    def _drawn(self, batch: Batch, done: int) -> Iterator[NDArray[np.uint8]]:
        """The blocks of a board after so many draws.

        If there can be none, why is said on stderr, and nothing else lost.
        """
        from gpusudoku.listing import Solutions

        line, source = self._line, self._source
        left = len(self._draws.numbers) - done
        if not left:
            return
        solutions = Solutions(batch[0], self._options, engine=self._engine)
        try:
            with line.working():
                if not solutions:
                    raise InputError(f"no solution to draw{conflict_in(batch[0])}")
                blocks = self._draws.blocks(solutions, done)
            if source.single:
                expect_sample(left, self._engine)
            yield from blocks
        except (InputError, TooExpensive) as error:
            line.clear()
            hint = _INSTEAD if isinstance(error, TooExpensive) else ""
            source.unanswered(f"{place_of(batch, 0)}{error}{hint}")

    def _watched(self, batches: Iterable[Batch]) -> Iterable[Batch]:
        """The boards of all that are read that are not done."""
        return self._journal.rest(self._writer.watched(batches))

    def _share(self) -> float | None:
        """The share of the draws that is done, None where nobody knows."""
        if not self._source.single:
            return self._source.share
        return self._journal.found / max(1, len(self._draws.numbers))
