"""The run of a command, from its input to its exit status.

A command is a loop in a block ``with run.open(header):``. It writes whole lines with ``run.write``
and tells ``run.done`` which boards or solutions they complete. The run saves its progress in the
checkpoint, reports what was written at an interrupt, writes the record of a part, and exits with
the status of the command.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, cast

from gpusudoku.board.batch import Batch
from gpusudoku.errors import ClusterError, DeviceError, InputError, Interrupted
from gpusudoku.iterating import Block, with_bad_boards
from gpusudoku.jobs.interrupts import held_interrupts, patient_interrupts
from gpusudoku.options import Options
from gpusudoku.pipeline.messages import note, several
from gpusudoku.pipeline.output import Output
from gpusudoku.pipeline.progress import Item, ProgressLine
from gpusudoku.pipeline.settings import (
    CommandFacts,
    InputOptions,
    OutputOptions,
    WhichPart,
    check_part_name,
)
from gpusudoku.pipeline.source import Source, place_of
from gpusudoku.results import BadBoard

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.pipeline.checkpoint import OutputCheckpoint
    from gpusudoku.pipeline.parts import PartWriter
    from gpusudoku.pipeline.summary import Ending
    from gpusudoku.planning.plan import Portion

BAD_BOARDS = "bad"
"""The note of how many bad boards are done."""
_UNANSWERED = "unanswered"
"""The note that there is a board without an answer."""
_SEED = "seed"
"""The note of a seed that was not given."""
_SEED_BITS = 128
"""As of ``Uniform``."""


CLOSING_SECONDS = 5.0
"""Time after Ctrl-C until all connections to a cluster are closed."""


class Run:
    """One run of a command."""

    output: Output
    line: ProgressLine
    _between = b""
    """Text between the results of two boards."""
    _makes_empty_file = False
    """True if the output file is made even if no board has an answer."""

    def __init__(
        self,
        command: CommandFacts,
        boards: Iterable[str | Batch],
        reading: InputOptions,
        settings: OutputOptions,
        *,
        part: WhichPart | None = None,
        undivided: str = "",
        has_record: bool = False,
        has_columns: bool = True,
    ) -> None:
        """Open the input, and select the boards of a part.

        ``undivided`` is the error of a part of a single board, if it has none. The part of a single
        board may be a JSON record instead of lines (``has_record``). Tables have the other columns
        of the input (``has_columns``).
        """
        self.command = command
        self.settings = settings
        self.source = source = Source(
            boards,
            reading,
            is_table=has_columns and settings.form in ("csv", "tsv"),
            gives_errors=settings.errors,
            saved=part is not None or settings.checkpoint is not None,
        )
        self.single = source.single
        self.part_writer: PartWriter | None = None
        if part is not None:
            from gpusudoku.pipeline.parts import PartWriter  # few runs are of a part

            if has_record:
                check_part_name(settings.output, is_record=self.single)
            if undivided and self.single:
                raise InputError(undivided)
            lines = not (has_record and self.single)
            self.part_writer = PartWriter(command, part, source, settings, lines=lines)
        self.checkpoint: OutputCheckpoint | None = None
        self.start_boards = self.start_solutions = 0
        """Boards that were done before a resume, and solutions of the next."""
        self.notes: dict[str, Any] = {}
        """Further state that a resumed run needs, as JSON; commands write it."""
        self.boards = 0
        """Boards that are done now."""
        self._total: int | None = None
        """The number of solutions of a single board, if it is known."""
        self._noun = "solutions"
        """The name of solutions in the line of progress."""
        self._start_time: float | None = None
        """The time when the first began, if the line of progress shows their rate."""
        self._solutions = 0
        self._unreported_seed: int | None = None

    def take(self, total: int, what: str) -> range:
        """Return this part's tasks out of ``total``; all of them if the run has no part.

        ``what`` names the tasks in a message.
        """
        return range(total) if self.part_writer is None else self.part_writer.take(total, what)

    def expect(self, total: int, noun: str = "solutions", *, shows_rate: bool = False) -> None:
        """Show the finished share of ``total`` solutions in the line of progress, and their rate.

        The rate is measured from this call on.
        """
        self._total = total
        self._noun = noun
        self._start_time = time.perf_counter() if shows_rate else None

    @contextmanager
    def blocks(
        self, work: Callable[[Iterator[Batch]], Generator[Block, None, None]]
    ) -> Iterator[Iterator[Block | BadBoard]]:
        """Work on all boards in blocks, with the bad boards in their places."""
        with closing(with_bad_boards(self.source.found(), work, "record")) as blocks:
            yield blocks

    @contextmanager
    def open(
        self,
        header: Callable[[], bytes],
        *,
        facts: Mapping[str, Any] | None = None,
        portion: Portion | None = None,
        line: ProgressLine | None = None,
        reports_boards: bool = False,
    ) -> Iterator[None]:
        """Open the output, and finish the command when everything is written.

        ``header`` is called when the first results are ready, and returns the text before them.
        ``facts`` are values besides the options of the command on which the results depend;
        ``portion`` has all tasks of a search that is saved step by step. An interrupt reports the
        number of lines, or of boards (``reports_boards``).
        """
        self._reports_boards = reports_boards
        with self._opened_output(facts, portion):
            self.line = line or ProgressLine(listing=self.output.to_stdout)
            self.source.skip(self.start_boards, self.notes.get(BAD_BOARDS, 0))
            self.source.lacks_answers = bool(self.notes.get(_UNANSWERED))
            self.output.write_header(header)
            try:
                with self.line:
                    yield
            except (KeyboardInterrupt, Interrupted) as error:
                raise self._interrupted(error) from None
            except ClusterError as error:
                raise ClusterError(f"{error}{self._hint}") from None
            is_final = self.part_writer is None and self.checkpoint is None
            if is_final and not self._makes_empty_file:
                self.source.finish()
        if self.part_writer is not None:
            self.part_writer.record_lines(self._ending(), header(), self._between)
        self._finish()

    @contextmanager
    def _opened_output(
        self, facts: Mapping[str, Any] | None, portion: Portion | None
    ) -> Iterator[None]:
        settings = self.settings
        source = self.source
        if settings.checkpoint is None:
            with Output(settings.output, settings.force, source.files) as self.output:
                yield
            return
        from gpusudoku.pipeline.checkpoint import open_checkpoint  # SQLite takes long to load

        with open_checkpoint(self.command, settings, source, facts, portion) as checkpoint:
            self.checkpoint = checkpoint
            self.output = checkpoint.output
            self.notes = checkpoint.notes
            self.boards = self.start_boards = checkpoint.boards
            self._solutions = self.start_solutions = checkpoint.solutions
            yield

    @property
    def _hint(self) -> str:
        """The end of the message of an interrupt: how to resume."""
        return "" if self.checkpoint is None else self.checkpoint.hint

    def _interrupted(self, error: BaseException) -> Interrupted:
        """Return the error that reports what was written before an interrupt."""
        number = self.output.lines
        text = f": {self.output.lines} lines written"
        if self._reports_boards:
            number = self.boards
            text = "" if self.single else f": {self.boards} boards done"
        return Interrupted(f"interrupted{text}{self._hint}", number)

    def _ending(self) -> Ending:
        """Return the end of a part, for its record."""
        from gpusudoku.pipeline.summary import Ending  # few runs are of a part

        return Ending(self.source.status, self.source.unreadable)

    def _finish(self) -> None:
        """Report the end of the command, and exit with its status if it is not 0."""
        self.source.finish()

    def seed(self, given: int | None) -> int:
        """Return the seed that is given, or else a new one, the same after a resume."""
        if given is None:
            given = self.notes.setdefault(_SEED, secrets.randbits(_SEED_BITS))
            self._unreported_seed = given
        return given

    def report_seed(self) -> None:
        """Print the seed on stderr, once, if it was not given."""
        if self._unreported_seed is not None:
            note(f"seed {self._unreported_seed}")
            self._unreported_seed = None

    def waiting(self, blocks: Iterator[Item]) -> Iterator[Item]:
        """Give blocks, and show the time while one of a single board is made."""
        return self.line.waiting(blocks) if self.single else blocks

    def unanswered(self, board: Batch, error: object) -> None:
        """Report on stderr why a board has no answer; the others are answered."""
        self.line.clear()
        self.source.unanswered(f"{place_of(board, 0)}{error}")

    def write(self, text: bytes | memoryview, lines: int | None = None) -> None:
        """Write whole lines; ``lines`` is their number, if it is known."""
        self.line.clear()
        self.output.write(text, lines)

    def write_bad(self, text: bytes) -> None:
        """Write the line or record of a bad board, and note that it is done."""
        with held_interrupts():
            self.write(text)
            self._count_bad()

    def _count_bad(self) -> None:
        self.notes[BAD_BOARDS] = self.notes.get(BAD_BOARDS, 0) + 1
        self.done()

    def done(self, *, boards: int = 0, solutions: int = 0, count: int | None = None) -> None:
        """Report that what was written completes so many boards, or solutions of the next.

        ``count`` is added to the total of solutions; None adds ``solutions``.
        """
        self.boards += boards
        self._solutions += solutions
        share = self.source.share_of(self.boards)
        if self.single:
            share = self._solutions / self._total if self._total else None
        if self.checkpoint is not None:
            self.notes[_UNANSWERED] = self.source.lacks_answers
            count = solutions if count is None else count
            self.checkpoint.advance(boards=boards, solutions=solutions, count=count, share=share)
        if not self.single:
            self.line.boards(self.boards, share)
        elif share is not None:
            rate = ""
            if self._start_time is not None:
                seconds = time.perf_counter() - self._start_time
                rate = f", {(self._solutions - self.start_solutions) / seconds:,.0f} a second"
            self.line.share(share, f"{self._solutions:,} {self._noun}{rate}")


@contextmanager
def machine_of(cluster: str | None, options: Options) -> Iterator[Engine]:
    """Make the engine of this machine, or connect to a cluster, which has the same properties."""
    if cluster is None:
        yield start_engine(options)
        return
    from gpusudoku.runs.cluster import connected, silence_dask

    silence_dask()
    with patient_interrupts(CLOSING_SECONDS), connected(cluster, options.jobs, note) as machine:
        yield cast("Engine", machine)


def start_engine(options: Options) -> Engine:
    """Make the engine, and say which device ``auto`` took."""
    from gpusudoku.engines.make import engine_for

    engine = engine_for(options, fallback=warn_of_device)
    if options.device != "auto":
        return engine
    if engine.has_gpu:  # by --gpu
        note(f"device cuda ({', '.join(engine.gpu_names)})")
    else:
        from gpusudoku.engines.cuda import availability

        rest = "; cuda where that is quicker" if engine.device == "auto" else ""
        reason = availability.unusable_because()
        if availability.cards() and reason:  # the GPU is there, and something else is not
            rest = f"; cuda not usable: {reason}"
        note(f"device cpu, {several(engine.workers, 'thread')}{rest}")
    return engine


def warn_of_device(error: DeviceError) -> None:
    """Say why ``auto`` did not take a GPU that is there, or that a GPU was lost."""
    note(str(error))
