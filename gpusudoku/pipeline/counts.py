"""What ``count`` does besides counting boards in blocks.

``--cross-check``, ``--solution``, and the count of a single board in tasks, for ``--checkpoint``,
``--part`` and ``--cluster``.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from gpusudoku.checking import Checker
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import InputError, Interrupted
from gpusudoku.options import Options
from gpusudoku.pipeline.checkpoint import refuse_same
from gpusudoku.pipeline.identity import place_facts, setup_of_command
from gpusudoku.pipeline.messages import note
from gpusudoku.pipeline.output import Output, refuse
from gpusudoku.pipeline.progress import CountLine
from gpusudoku.pipeline.run import Run, machine_of, warn_of_device
from gpusudoku.pipeline.settings import OutputOptions, WhichPart
from gpusudoku.pipeline.summary import show_stats
from gpusudoku.pipeline.text_forms import count_writer
from gpusudoku.planning.count import find_solutions
from gpusudoku.results import ResultBlock, decimal_digits
from gpusudoku.runs.counting import merged
from gpusudoku.runs.store import RunStore
from gpusudoku.runs.tasks import count_in_tasks


class CrossCheck:
    """Counts boards again in another way."""

    def __init__(self, options: Options) -> None:
        self._checker = Checker(options, warn_of_device)
        self.ways: dict[str, int] = {}
        """The number of boards for each way, in words."""

    def __call__(self, results: ResultBlock) -> dict[str, int]:
        """Count again, and return the ways; raises a MismatchError if two counts differ."""
        ways = Counter(self.ways)
        for result in results.counts():
            way = self._checker.check(result)
            outcome = "the same count" if result.exact else "as many solutions, and maybe more"
            ways[f"by {way}: {outcome}" if way else "not done: no other way is affordable"] += 1
        self.ways = dict(ways)
        return self.ways

    def show(self) -> None:
        """Say on stderr how boards were counted again."""
        total = sum(self.ways.values())
        for way, boards in self.ways.items():
            of = "" if total == 1 else f", {boards} of {total} boards"
            note(f"cross-check {way}{of}")


def with_solutions(results: ResultBlock, options: Options) -> ResultBlock:
    """Find a solution of every board that has one."""
    boards = results.boards
    solutions = np.zeros_like(boards.cells)
    solvable = np.flatnonzero(results.numbers > 0)
    if len(solvable):
        one_solution = replace(options, limit=1)
        rows, roots, _ = find_solutions(boards.chosen(solvable), one_solution, CpuEngine(1))
        solutions[solvable[roots]] = rows
    return replace(results, solutions=solutions)


def count_single_board(
    run: Run,
    options: Options,
    part: WhichPart | None,
    cluster: str | None,
    check: CrossCheck | None,
) -> None:
    """Count the only board of a run in tasks; write the count, or the record of a part of it.

    It is written once, at the end, also to stdout. So after a finished count the same command only
    checks the output file, or writes it again, if it is missing; an ``OutputCheckpoint`` needs the
    file that it began.
    """
    settings = run.settings
    source = run.source
    checkpoint = settings.checkpoint
    output = settings.output
    if checkpoint is not None and not settings.to_stdout:
        refuse_same(str(output), checkpoint)
    [board] = source.singles()
    facts = None if part is None else {"format": settings.form, "keep_going": settings.errors}
    with RunStore(checkpoint) as store, machine_of(cluster, options) as machine:
        is_written = _is_written(settings, store)
        # A file that is there has the answer, or is empty, as this run has made it.
        is_there = not settings.to_stdout and Path(str(output)).is_file()
        force = settings.force or (checkpoint is not None and is_there)
        refuse(output, force, source.files)
        parts = 1 if part is None else part.parts
        line = CountLine(source, options, machine, settings.stats, parts)
        with line, line.working_on(board):
            count, record = count_in_tasks(
                board[0],
                options,
                machine,
                store,
                part=part or (1, 1),
                setup=setup_of_command(run.command, source),
                facts=facts,
                place=place_facts(board),
            )
        results = ResultBlock.of(board, count, None)
        if part is None:
            source.warn_conflicts(board)
        if check is not None:
            try:
                check(results)
            except Interrupted as error:  # it tells of the second count, which is not saved
                solutions = f"{decimal_digits(count.count)} solutions"
                message = f"interrupted in the cross-check of {solutions}{store.hint}"
                raise type(error)(message, count.count) from None
        if part is None:
            writer = count_writer(settings, source.origin, single=True)
            text = writer.header() + writer.text(results)
        else:
            if not record.tasks:
                tasks = f"there are {record.identity.options['tasks']} tasks"
                note(f"part {part.number} of {part.parts} has nothing to do: {tasks}")
            text = f"{record}\n".encode()
            count = merged([record])
        if not is_written:
            facts_kept = {} if part is None else {"record": str(record)}
            if not settings.to_stdout:  # before it is there: a process may end right then
                facts_kept[f"written {settings.form}"] = hashlib.sha256(text).hexdigest()
            store.keep(facts_kept)
            with Output(output, force, source.files) as out:
                out.write(text)
        if settings.stats:
            show_stats([count])
        if check is not None:
            check.show()


def _is_written(settings: OutputOptions, store: RunStore) -> bool:
    """Tell whether the output file has the answer of this count, finished before.

    An InputError for a file that has something else: it is the user's.
    """
    output = str(settings.output)
    if settings.to_stdout or settings.checkpoint is None or not Path(output).is_file():
        return False
    written = store.written(settings.form)
    try:
        content = Path(output).read_bytes()
    except OSError as error:
        raise InputError(f"{output}: cannot be read: {error.strerror}") from None
    if hashlib.sha256(content).hexdigest() == written:
        return True
    if not (settings.force or (written is not None and not content)):
        more = "move it, or give the whole command again with --force"
        raise InputError(f"{output}: exists already; {more}")
    return False
