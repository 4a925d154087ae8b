"""``count`` of one board in numbered tasks: a part of them, on a cluster, or saved in a file.

The answer is written once, at the end. So after a finished count the same command only checks the
output file, or writes it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gpusudoku.cli.messages import naming, note
from gpusudoku.cli.options import OutputOptions, machine_of
from gpusudoku.cli.output import Output, refuse
from gpusudoku.cli.progress import CountLine
from gpusudoku.cli.resume import place_facts, setup_of_command
from gpusudoku.cli.source import Source
from gpusudoku.cli.summary import show_stats
from gpusudoku.cli.usage import WhichPart
from gpusudoku.cli.writers import AnswerRecords, AnswerWriter, PlainCounts
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.results import ResultBlock

if TYPE_CHECKING:
    from gpusudoku.runs.store import RunStore


def count_and_write(
    source: Source,
    options: Options,
    asked: OutputOptions,
    part: WhichPart | None,
    cluster: str | None,
    check: Callable[[ResultBlock], None] | None,
) -> None:
    """Count the only board of a source, and write the count, or the record of a part of it."""
    from gpusudoku.runs.counting import count_in_tasks, merged
    from gpusudoku.runs.store import RunStore

    [board] = source.singles()
    facts = None if part is None else {"format": asked.form, "keep_going": asked.errors}
    with RunStore(asked.checkpoint) as store, machine_of(cluster, options) as machine:
        is_written = _is_written(asked, store)
        refuse(asked.output, asked.force or is_written, source.files)
        line = CountLine(source, options, machine, asked.stats, 1 if part is None else part.parts)
        with line, line.working_on(board):
            done = count_in_tasks(
                *(board[0], options, machine, store),
                part=part or (1, 1), setup=setup_of_command(source), facts=facts,
            )  # fmt: skip
        results, stats = ResultBlock.of(board, done.count, None), [done.count]
        if part is None:
            source.warn_conflicts(board)
        if check is not None:
            with naming(source.place(board)):
                check(results)
        if part is None:
            writer: AnswerWriter = PlainCounts(True)
            if asked.form is not None:
                writer = AnswerRecords.of(asked, source.origin, single=True)
            text = writer.header() + writer.text(results)
        else:
            record = done.record(part.number, place_facts(board))
            if not record.tasks:
                tasks = f"there are {record.identity.options['tasks']} tasks"
                note(f"part {part.number} of {part.parts} has nothing to do: {tasks}")
            text, stats = f"{record}\n".encode(), [merged([record])]
        if not is_written:
            if part is not None:
                store.keep(record=str(record))
            if not asked.to_stdout:  # before it is there: a process that ends then has it known
                store.keep(written=hashlib.sha256(text).hexdigest())
            with Output(asked.output, asked.force, source.files) as out:
                out.write(text)
        if asked.stats:
            show_stats(stats)


def _is_written(asked: OutputOptions, store: RunStore) -> bool:
    """Tell whether the output file has the answer of this count, finished before.

    An InputError for a file that has something else: it is the user's.
    """
    if asked.to_stdout or asked.checkpoint is None or not Path(str(asked.output)).is_file():
        return False
    output = str(asked.output)
    try:
        with Path(output).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{output}: cannot be read: {error.strerror}") from None
    if found == store.written:
        return True
    if store.written is not None and not Path(output).stat().st_size:
        Path(output).unlink()  # the process ended when it had made the file
    elif not asked.force:
        more = "move it, or give the whole command again with --force"
        raise InputError(f"{output}: exists already; {more}")
    return False
