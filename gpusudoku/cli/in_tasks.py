"""``count`` of one board in numbered tasks: a part of them, on a cluster, or saved in a file.

The answer is written once, at the end, so a file of progress and an output file go together as a
whole: after a finished count the same command only checks the output.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpusudoku.cli.messages import note
from gpusudoku.cli.options import InputOptions, OutputOptions, machine_of
from gpusudoku.cli.output import Output, refuse
from gpusudoku.cli.parts import place_facts, placed
from gpusudoku.cli.progress import CountLine
from gpusudoku.cli.records import FORMS
from gpusudoku.cli.saving import is_resumed
from gpusudoku.cli.sink import open_answer_sink
from gpusudoku.cli.source import Source
from gpusudoku.cli.summary import show_stats
from gpusudoku.cli.usage import WhichPart
from gpusudoku.cli.writers import AnswerRecords, AnswerWriter, PlainCounts
from gpusudoku.errors import InputError
from gpusudoku.options import Options
from gpusudoku.results import ResultBlock

if TYPE_CHECKING:
    from gpusudoku.board.batch import Batch
    from gpusudoku.cli.resume import Settings
    from gpusudoku.runs.counting import Checkpoint, Counted
    from gpusudoku.runs.kept import Kept

FROM_PYTHON = {"source": "<python>", "line": 0, "columns": [], "beside": []}
"""The place of a board that was not read by a command."""
MEASURED = frozenset(
    (
        *("seconds", "expansion_seconds", "utilisation", "device", "jobs", "stats", "seal"),
        *("search_estimate", "contraction_estimate"),
    )
)
"""Fields of an answer in JSON that depend on the machine, and differ from run to run."""
MOST_MEASURED = 1 << 20
"""The most bytes of these fields."""


def count_and_write(
    source: Source,
    options: Options,
    asked: OutputOptions,
    part: WhichPart | None,
    cluster: str | None,
    inputs: Sequence[str],
) -> None:
    """Count the only board of a source, and write the count, or the record of a part of it."""
    from gpusudoku.runs.counting import How, count_in_tasks

    [board] = source.singles()
    how = How(
        part=part or (1, 1),
        checkpoint=_checkpoint_of(board, options, asked, part),
        facts=None if part is None else {"format": asked.form, "keep_going": asked.errors},
    )
    is_written = asked.checkpoint is not None and _is_written(asked)
    asked = replace(asked, checkpoint=None)  # the run saves itself, and the answer comes at once
    with machine_of(cluster, options) as machine:
        line = CountLine(source, options, machine, asked.stats, how.part[1])
        writer: AnswerWriter = PlainCounts(True)
        if asked.form is not None:
            writer = AnswerRecords.of(asked, source.origin, single=True)
        if part is None and not is_written:
            with open_answer_sink(
                source, machine, asked, inputs, writer, "counted", line=line
            ) as sink:
                with line.working_on(board):
                    found = count_in_tasks(board[0], options, machine, how)
                results = ResultBlock.of(board, found.count, None)
                sink.write(results)
                if asked.stats:
                    show_stats(results.counts())
            return
        with line, line.working_on(board):
            found = count_in_tasks(board[0], options, machine, how)
        if part is None:
            text = writer.header() + writer.text(ResultBlock.of(board, found.count, None))
        else:
            text = _record(place_facts(board), found, part, asked)
    if is_written:
        _check_written(str(asked.output), text)
    else:
        with Output(asked.output, asked.force, inputs) as out:
            out.write(text)


def resume_count(path: str, kept: Kept, settings: Settings) -> None:
    """Resume a count of one board that a file holds; see ``cli.resume``."""
    from gpusudoku.runs.counting import kept_count

    setup, before = kept.setup, kept_count(path, kept, settings.given)
    form, output, place = setup.get("form"), setup.get("output"), setup.get("place", FROM_PYTHON)
    if form not in (None, *FORMS) or not isinstance(output, str | None):
        raise InputError(f"{path}: damaged: it does not tell where the count goes")
    if not isinstance(place, dict):
        raise InputError(f"{path}: damaged: it does not tell where the board was read")
    try:
        board = placed(before.board, place)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    force, errors = (setup.get(name) is True for name in ("force", "errors"))
    asked = OutputOptions(form, output, force, path, errors=errors)
    part = None if before.part is None else WhichPart(*before.part)
    source = Source([board], InputOptions())
    count_and_write(source, before.options, asked, part, settings.cluster, ())


def _checkpoint_of(
    board: Batch, options: Options, asked: OutputOptions, part: WhichPart | None
) -> Checkpoint | None:
    """Describe the file in which a count is saved, with all that ``resume`` needs."""
    from gpusudoku.runs.counting import Checkpoint, setup_of_count

    if asked.checkpoint is None:
        return None
    setup: dict[str, Any] = {
        **setup_of_count(options),
        "place": place_facts(board),
        "form": asked.form,
        "errors": asked.errors,
        "output": _real(asked.output),
        "force": asked.force,
        "part": part,
    }
    return Checkpoint(asked.checkpoint, setup)


def _is_written(asked: OutputOptions) -> bool:
    """Tell whether the output file has the answer of this count, finished before."""
    from gpusudoku.runs.kept import read_run

    assert asked.checkpoint is not None
    if asked.to_stdout:
        return False
    output = str(asked.output)
    if is_resumed(asked.checkpoint):
        is_there, (kept, _) = Path(output).is_file(), read_run(asked.checkpoint)
        if is_there and kept.state.finished and kept.setup.get("output") == _real(output):
            return True
        if is_there and not asked.force:
            more = "move it, or give the whole command again with --force"
            raise InputError(f"{output}: exists already; {more}")
    refuse(output, asked.force, [asked.checkpoint])
    return False


def _check_written(output: str, text: bytes) -> None:
    """Complain of an output file that has another answer than this one."""
    try:
        with Path(output).open("rb") as file:
            found = file.read(2 * len(text) + MOST_MEASURED)
    except OSError as error:
        raise InputError(f"{output}: cannot be read: {error.strerror}") from None
    if _without_measured(found) != _without_measured(text):
        raise InputError(
            f"{output}: is not what was written; delete it, and the same command writes it again"
        )


def _without_measured(text: bytes) -> Any:
    """Return the fields of an answer that are the same whenever it is given."""
    try:
        facts = json.loads(text) if text.startswith(b"{") else None
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        return text
    return {name: value for name, value in facts.items() if name not in MEASURED}


def _real(output: str | None) -> str | None:
    """Return the real path of a file; None for stdout."""
    return None if output in (None, "-") else os.path.realpath(str(output))


def _record(
    place: Mapping[str, Any], done: Counted, part: WhichPart, asked: OutputOptions
) -> bytes:
    """Write the record of a part of a count, a line of JSON."""
    from gpusudoku.runs.parts.counts import merged, part_of_count

    found = part_of_count(done, part.number)
    if not found.tasks:
        tasks = found.identity.options["tasks"]
        note(f"part {part.number} of {part.parts} has nothing to do: there are {tasks} tasks")
    if asked.stats:
        show_stats([merged([found])])
    return f"{replace(found, place=place)}\n".encode()
