"""Special counts of the command ``count``, besides those of boards in blocks.

These are ``--cross-check``, ``--solution``, and the count of a single board in tasks, for
``--checkpoint``, ``--part`` and ``--cluster``.
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
from gpusudoku.pipeline.messages import print_note
from gpusudoku.pipeline.output import Output, refuse
from gpusudoku.pipeline.progress import CountLine
from gpusudoku.pipeline.run import Run, open_engine, warn_of_device
from gpusudoku.pipeline.settings import OutputOptions, PartNumber
from gpusudoku.pipeline.summary import show_stats
from gpusudoku.pipeline.text_forms import count_writer
from gpusudoku.planning.count import find_solutions
from gpusudoku.results import ResultBlock, decimal_digits
from gpusudoku.runs.counting import merge_records
from gpusudoku.runs.store import RunStore
from gpusudoku.runs.tasks import count_in_tasks


class CrossCheck:
    """Counts boards a second time in another way, and compares the counts."""

    def __init__(self, options: Options) -> None:
        self._checker = Checker(options, warn_of_device)
        self.ways: dict[str, int] = {}
        """The number of boards for each way and outcome, in words."""

    def __call__(self, results: ResultBlock) -> dict[str, int]:
        """Count boards again, and return ``ways`` with these boards included.

        Raises
        ------
        MismatchError
            If two counts of a board differ.
        """
        ways = Counter(self.ways)
        for result in results.counts():
            way = self._checker.check(result)
            if way is None:
                ways["not done: no other way is affordable"] += 1
                continue
            outcome = "the same count" if result.exact else "as many solutions, and maybe more"
            ways[f"by {way}: {outcome}"] += 1
        self.ways = dict(ways)
        return self.ways

    def show(self) -> None:
        """Print on stderr how boards were counted again."""
        total = sum(self.ways.values())
        for way, boards in self.ways.items():
            share = "" if total == 1 else f", {boards} of {total} boards"
            print_note(f"cross-check {way}{share}")


def with_solutions(results: ResultBlock, options: Options) -> ResultBlock:
    """Find a solution of every board that has one."""
    boards = results.boards
    solutions = np.zeros_like(boards.cells)
    solvable = np.flatnonzero(results.numbers > 0)
    if len(solvable):
        one_solution = replace(options, limit=1)
        # `roots` are the indices of the boards to which the solutions in `rows` belong.
        rows, roots, _ = find_solutions(boards.select(solvable), one_solution, CpuEngine(1))
        solutions[solvable[roots]] = rows
    return replace(results, solutions=solutions)


def count_single_board(
    run: Run,
    options: Options,
    part: PartNumber | None,
    cluster: str | None,
    check: CrossCheck | None,
) -> None:
    """Count the only board of a run in tasks; write the count, or the record of a part of it.

    The result is written once, at the end, even to stdout. After a finished count, the same command
    only checks the output file, or writes it again if it is missing. (An ``OutputCheckpoint``, in
    contrast, needs the file that it has begun.)
    """
    settings = run.settings
    source = run.source
    checkpoint = settings.checkpoint
    if checkpoint is not None and not settings.to_stdout:
        refuse_same(str(settings.output), checkpoint)
    [board] = source.singles()
    facts = None if part is None else {"format": settings.form, "keep_going": settings.errors}
    with RunStore(checkpoint) as store, open_engine(cluster, options) as engine:
        is_written = _is_written(settings, store)
        # `_is_written` refuses a file with other contents. The file that remains has the result, or
        # is an empty one that this run has created: both may be overwritten without --force.
        file_exists = not settings.to_stdout and Path(str(settings.output)).is_file()
        force = settings.force or (checkpoint is not None and file_exists)
        refuse(settings.output, force, source.files)  # before the work, which may take days

        parts = 1 if part is None else part.parts
        line = CountLine(source, options, engine, settings.stats, parts)
        with line, line.working_on(board):
            count, record = count_in_tasks(
                board[0],
                options,
                engine,
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
            _cross_check(check, results, store)

        saved_facts = {}
        if part is None:
            writer = count_writer(settings, source.input_source, single=True)
            text = writer.header() + writer.text(results)
        else:
            if not record.tasks:
                tasks = f"there are {record.identity.options['tasks']} tasks"
                print_note(f"part {part.number} of {part.parts} has nothing to do: {tasks}")
            text = f"{record}\n".encode()
            count = merge_records([record])
            saved_facts["record"] = str(record)
        if not is_written:
            # The digest is saved before the file is written: if the process is killed in between or
            # right after, the same command recognises the file as its own.
            if not settings.to_stdout:
                saved_facts[f"written {settings.form}"] = hashlib.sha256(text).hexdigest()
            store.save_facts(saved_facts)
            with Output(settings.output, force, source.files) as out:
                out.write(text)
        if settings.stats:
            show_stats([count])
        if check is not None:
            check.show()


def _cross_check(check: CrossCheck, results: ResultBlock, store: RunStore) -> None:
    """Count a single board again; an interrupt reports the first count, which is saved."""
    try:
        check(results)
    except Interrupted as error:
        # Its own message has the unfinished second count, which is not saved.
        [count] = results.counts()
        solutions = f"{decimal_digits(count.count)} solutions"
        message = f"interrupted in the cross-check of {solutions}{store.hint}"
        raise type(error)(message, count.count) from None


def _is_written(settings: OutputOptions, store: RunStore) -> bool:
    """Tell whether the output file has the result of this count, which was finished before.

    Raises
    ------
    InputError
        If the file has other contents: it belongs to the user.
    """
    output = str(settings.output)
    if settings.to_stdout or settings.checkpoint is None or not Path(output).is_file():
        return False
    saved_digest = store.saved_digest(settings.form)
    try:
        content = Path(output).read_bytes()
    except OSError as error:
        raise InputError(f"{output}: cannot be read: {error.strerror}") from None
    if hashlib.sha256(content).hexdigest() == saved_digest:
        return True
    # A run that was killed while it wrote the result may leave an empty file.
    is_own_empty_file = saved_digest is not None and not content
    if not settings.force and not is_own_empty_file:
        advice = "move it, or give the whole command again with --force"
        raise InputError(f"{output}: exists already; {advice}")
    return False
