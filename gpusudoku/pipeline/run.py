"""The run of a command, from its input to its exit status.

A command is a loop in a block ``with run.open(header):``. It writes whole lines with ``run.write``
and then calls ``run.add_finished`` with the number of boards or solutions that these lines
complete. The run saves its progress in the checkpoint, reports the number of written lines when it
is interrupted, writes the record of a part, and exits with the status of the command.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, cast

from gpusudoku.board.batch import Batch
from gpusudoku.errors import ClusterError, DeviceError, InputError, Interrupted
from gpusudoku.iterating import Block, with_bad_boards
from gpusudoku.jobs.interrupts import held_interrupts, interrupt_grace
from gpusudoku.options import Options, checked_seed
from gpusudoku.pipeline.messages import print_note, several
from gpusudoku.pipeline.output import Output
from gpusudoku.pipeline.progress import Item, ProgressLine
from gpusudoku.pipeline.settings import (
    CommandFacts,
    InputOptions,
    OutputOptions,
    PartNumber,
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

# Keys of ``Run.notes``, which a checkpoint saves as JSON: their values never change.
_BAD_BOARDS = "bad"
"""The number of bad boards whose lines or records are written."""
_UNANSWERED = "unanswered"
"""True if a board has no answer."""
_SEED = "seed"
"""The seed that was drawn because the user gave none."""

CLOSING_SECONDS = 5.0
"""Time after Ctrl-C until all connections to a cluster are closed."""


class Run:
    """One run of a command."""

    output: Output
    line: ProgressLine
    _separator = b""
    """Text between the results of two boards."""
    _makes_empty_file = False
    """True if the output file is created even if no board has an answer."""

    def __init__(
        self,
        command: CommandFacts,
        boards: Iterable[str | Batch],
        reading: InputOptions,
        settings: OutputOptions,
        *,
        part: PartNumber | None = None,
        undivided: str = "",
        has_record: bool = False,
        has_columns: bool = True,
    ) -> None:
        """Open the input and select the boards of a part.

        Parameters
        ----------
        undivided
            The message of the error if there is a single board and the command cannot divide its
            work into parts; empty if it can.
        has_record
            True if the output for a part of a single board is a JSON record instead of lines.
        has_columns
            True if tables repeat the extra columns of the input.
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
            from gpusudoku.pipeline.parts import PartWriter  # few runs have parts

            if has_record:
                check_part_name(settings.output, is_record=self.single)
            if undivided and self.single:
                raise InputError(undivided)
            writes_lines = not (has_record and self.single)
            self.part_writer = PartWriter(command, part, source, settings, lines=writes_lines)

        self.checkpoint: OutputCheckpoint | None = None
        self.start_boards = 0
        """Boards that were finished before a resume."""
        self.start_solutions = 0
        """Solutions of the next board that were written before a resume."""
        self.notes: dict[str, Any] = {}
        """Further state that a resumed run needs, as JSON; commands write it."""
        self.boards = 0
        """Boards that are finished, including ``start_boards``."""
        self._solutions = 0
        """Solutions of the next board that are written, including ``start_solutions``."""

        self._expected_total: int | None = None
        """The number of solutions of a single board, if it is known."""
        self._noun = "solutions"
        """The name of solutions on the progress line."""
        self._start_time: float | None = None
        """The time of the call of ``expect``, if the progress line shows a rate."""
        self._unreported_seed: int | None = None

    def select_tasks(self, total: int, noun: str) -> range:
        """Return this part's tasks out of ``total``; all of them if the run has no part.

        ``noun`` names the tasks in a message.
        """
        if self.part_writer is None:
            return range(total)
        return self.part_writer.select_tasks(total, noun)

    def expect(self, total: int, noun: str = "solutions", *, shows_rate: bool = False) -> None:
        """Show the finished share of ``total`` solutions on the progress line, and their rate.

        The rate is measured from this call on.
        """
        self._expected_total = total
        self._noun = noun
        self._start_time = time.perf_counter() if shows_rate else None

    @contextmanager
    def blocks(
        self, work: Callable[[Iterator[Batch]], Generator[Block, None, None]]
    ) -> Iterator[Iterator[Block | BadBoard]]:
        """Call ``work`` with all boards; yield its blocks, with the bad boards in their places."""
        with closing(with_bad_boards(self.source.read(), work, "record")) as blocks:
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

        Parameters
        ----------
        header
            Returns the text before the first results. It is called when these are ready.
        facts
            Values on which the results depend besides the options of the command.
        portion
            All tasks of a search that is saved step by step.
        line
            The progress line, if it is not the usual one.
        reports_boards
            True if an interrupt reports the number of boards instead of lines.
        """
        self._reports_boards = reports_boards
        with self._opened_output(facts, portion):
            self.line = line or ProgressLine(listing=self.output.to_stdout)
            # A resumed run continues after the boards whose lines are written.
            self.source.skip(self.start_boards, self.notes.get(_BAD_BOARDS, 0))
            self.source.lacks_answers = bool(self.notes.get(_UNANSWERED))
            self.output.write_header(header)
            try:
                with self.line:
                    yield
            # The errors leave the block of the output, which saves the checkpoint on its way out.
            except (KeyboardInterrupt, Interrupted) as error:
                raise self._interrupted(error) from None
            except ClusterError as error:
                raise ClusterError(f"{error}{self._hint}") from None
            # If boards were bad or had no answer, the command exits here, by an exception: the
            # output then creates no empty file. A run with a checkpoint or a part needs its file,
            # and exits at the very end.
            keeps_file = self.part_writer is not None or self.checkpoint is not None
            if not keeps_file and not self._makes_empty_file:
                self.source.finish()
        # The record of a part has a digest of the output file, which is complete only now.
        if self.part_writer is not None:
            self.part_writer.record_lines(self._ending(), header(), self._separator)
        self._finish()

    @contextmanager
    def _opened_output(
        self, facts: Mapping[str, Any] | None, portion: Portion | None
    ) -> Iterator[None]:
        """Open the output, with its checkpoint if there is one, and restore the saved progress."""
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
        if not self._reports_boards:
            lines = self.output.lines
            return Interrupted(f"interrupted: {lines} lines written{self._hint}", lines)
        progress = "" if self.single else f": {self.boards} boards done"
        return Interrupted(f"interrupted{progress}{self._hint}", self.boards)

    def _ending(self) -> Ending:
        """Return the end of a part, for its record."""
        from gpusudoku.pipeline.summary import Ending  # few runs have parts

        return Ending(self.source.status, self.source.unreadable)

    def _finish(self) -> None:
        """Report the end of the command, and exit with its status if it is not 0."""
        self.source.finish()

    def seed(self, seed: int | None) -> int:
        """Return ``seed``, or a random one if it is None; a resumed run has the same one."""
        if seed is None:
            # A checkpoint saves the notes, and so a resumed run gets the same seed.
            seed = self.notes.setdefault(_SEED, checked_seed(None))
            self._unreported_seed = seed
        return seed

    def report_seed(self) -> None:
        """Print a random seed on stderr, once."""
        if self._unreported_seed is not None:
            print_note(f"seed {self._unreported_seed}")
            self._unreported_seed = None

    def waiting(self, blocks: Iterator[Item]) -> Iterator[Item]:
        """Yield blocks; show the elapsed time while one of a single board is computed."""
        return self.line.waiting(blocks) if self.single else blocks

    def report_unanswered(self, board: Batch, error: object) -> None:
        """Report on stderr why a board has no answer; the run continues with the next board."""
        self.line.clear()
        self.source.report_unanswered(f"{place_of(board, 0)}{error}")

    def write(self, text: bytes | memoryview, lines: int | None = None) -> None:
        """Write whole lines; ``lines`` is their number, if it is known."""
        self.line.clear()
        self.output.write(text, lines)

    def write_bad(self, text: bytes) -> None:
        """Write the line or record of a bad board, and count this board as finished."""
        with held_interrupts():  # the line and its count belong together in a checkpoint
            self.write(text)
            self._count_bad()

    def _count_bad(self) -> None:
        """Count a bad board as finished."""
        self.notes[_BAD_BOARDS] = self.notes.get(_BAD_BOARDS, 0) + 1
        self.add_finished()

    def add_finished(
        self, *, boards: int = 0, solutions: int = 0, count: int | None = None
    ) -> None:
        """Count further boards, or solutions of the next board, whose lines are all written.

        ``count`` is added to the total of solutions; None adds ``solutions``.
        """
        self.boards += boards
        self._solutions += solutions
        if not self.single:
            share = self.source.share_of(self.boards)
        elif self._expected_total:
            share = self._solutions / self._expected_total
        else:
            share = None

        # The lines are written before this: the checkpoint saves the present size of the output.
        if self.checkpoint is not None:
            self.notes[_UNANSWERED] = self.source.lacks_answers
            count = solutions if count is None else count
            self.checkpoint.advance(boards=boards, solutions=solutions, count=count, share=share)

        if not self.single:
            self.line.show_boards(self.boards, share)
        elif share is not None:
            self.line.share(share, f"{self._solutions:,} {self._noun}{self._rate()}")

    def _rate(self) -> str:
        """Return the solutions per second of this run as text; empty if it is not shown."""
        if self._start_time is None:
            return ""
        seconds = time.perf_counter() - self._start_time
        return f", {(self._solutions - self.start_solutions) / seconds:,.0f} a second"


@contextmanager
def open_engine(cluster: str | None, options: Options) -> Iterator[Engine]:
    """Create the engine of this machine, or connect to a cluster, which has the same interface."""
    if cluster is None:
        yield start_engine(options)
        return
    from gpusudoku.runs.cluster import connect_cluster, silence_dask

    silence_dask()
    with (
        interrupt_grace(CLOSING_SECONDS),
        connect_cluster(cluster, options.jobs, print_note) as engine,
    ):
        yield cast("Engine", engine)  # it has the methods that counts in tasks use


def start_engine(options: Options) -> Engine:
    """Create the engine, and print which device ``auto`` selected."""
    from gpusudoku.engines.make import engine_for

    engine = engine_for(options, fallback=warn_of_device)
    if options.device != "auto":
        return engine
    if engine.has_gpu:  # selected by --gpu
        print_note(f"device cuda ({', '.join(engine.gpu_names)})")
        return engine

    from gpusudoku.engines.cuda import availability

    gpu_hint = ""
    reason = availability.unusable_because()
    if availability.cards() and reason:  # there is a GPU, but a driver or library is missing
        gpu_hint = f"; cuda not usable: {reason}"
    elif engine.device == "auto":
        gpu_hint = "; cuda where it is faster"
    print_note(f"device cpu, {several(engine.workers, 'thread')}{gpu_hint}")
    return engine


def warn_of_device(error: DeviceError) -> None:
    """Print why ``auto`` does not use a GPU of this machine, or that a GPU was lost."""
    print_note(str(error))
