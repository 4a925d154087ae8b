"""``gpusudoku status``: the progress of a run that is saved in a file."""

from __future__ import annotations

import json
import shlex
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.options import CommandOptions
from gpusudoku.errors import printable
from gpusudoku.jobs.watch import duration
from gpusudoku.pipeline.messages import several
from gpusudoku.pipeline.output import show
from gpusudoku.results import decimal_digits

if TYPE_CHECKING:
    from gpusudoku.runs.store import RunSnapshot

_PUZZLE_COMMANDS = ("dataset", "generate", "minimise", "neighbours")
"""The commands whose lines are puzzles, not solutions."""
MIN_DONE = 0.001
"""Share of the work below which the remaining time cannot be estimated."""
MIN_SECONDS = 1.0
"""Time of work below which no rate is shown."""
_MAX_RATE_BITS = 1000
"""Longer counts may not fit into a float, whose exponent has a maximum of 1023."""


@click.command()
@click.argument("file", metavar="FILE", shell_complete=complete_files)
@CommandOptions("status")("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(file: str, as_json: bool) -> None:
    """Show the progress of a run saved with --checkpoint FILE.

    The output contains the command, the finished work, the results so far, the speed, the remaining
    time, and the process that runs the command now, if any. The running process is not affected.

    \b
    Examples:
      gpusudoku status run.sqlite
      gpusudoku status run.sqlite --json
    """
    from gpusudoku.runs.store import is_running, read_run

    run = read_run(file)
    facts = _facts(run, is_running(file))
    if as_json:
        show(json.dumps(facts))
        return
    lines = _lines(run, facts)
    width = max(map(len, lines))
    show(*(f"{name:>{width}}: {printable(text)}" for name, text in lines.items()))


def _facts(run: RunSnapshot, is_working: bool | None) -> dict[str, Any]:
    """Return the facts of a run as JSON types.

    Integers that may exceed 2^53 are strings, as JSON readers may turn them into floats.
    ``is_working`` is None if it is unknown whether a process works on the run.
    """
    state = run.state
    rate = None
    if state.seconds >= MIN_SECONDS and state.count.bit_length() <= _MAX_RATE_BITS:
        rate = state.count / state.seconds

    # The rest is estimated to take as long per share of the work as the finished part.
    remaining_seconds = None
    if state.finished:
        remaining_seconds = 0.0
    elif state.done > MIN_DONE:
        remaining_seconds = state.seconds * (1 - state.done) / state.done

    facts: dict[str, Any] = {
        "command": run.identity.command,
        "arguments": run.setup.get("arguments"),
        "version": run.identity.version,
        "boards": dict(run.identity.boards),
        "options": dict(run.identity.options),
        "finished": state.finished,
        "done": state.done,
        "count": decimal_digits(state.count),
        "exact": state.finished,
        "solutions_per_second": rate,
        "seconds": state.seconds,
        "seconds_left": remaining_seconds,
        "working": is_working,
        "host": run.owner.host,
        "pid": run.owner.pid,
        "since": run.owner.since,
        "began": state.began,
        "saved": state.saved,
    }
    if state.tasks:
        facts |= {"tasks": state.tasks, "tasks_finished": state.tasks - state.tasks_left}
    if state.position is not None:
        facts |= {
            "boards_done": state.position.boards,
            "solutions_done": decimal_digits(state.position.solutions),
            "bytes": state.position.size,
        }
    return facts


def _lines(run: RunSnapshot, facts: dict[str, Any]) -> dict[str, str]:
    """Return the lines of text for the facts of a run, by their labels."""
    state = run.state
    lines = {"run": f"{_describe_run(run)}, version {run.identity.version}"}
    if facts["arguments"]:
        lines["command"] = shlex.join(["gpusudoku", *facts["arguments"]])

    # A count has tasks; a run that writes lines has a position in its output.
    progress = []
    if state.done or not state.position:
        progress.append(f"{state.done:.1%}")
    if state.tasks:
        progress.append(f"{facts['tasks_finished']:,} of {state.tasks:,} tasks finished")
    if state.position:
        boards = several(state.position.boards, "board")
        progress.append(f"{boards}, {state.position.size:,} bytes written")
    lines["done"] = ", ".join(progress)

    count = facts["count"]
    noun = "puzzles" if run.identity.command in _PUZZLE_COMMANDS else "solutions"
    lines[noun] = count if state.finished else f"at least {count}"
    rate = facts["solutions_per_second"]
    if rate and not state.finished:
        # 2.38e+07 is written as 2.38e07.
        lines["rate"] = f"{rate:.3g} {noun} a second".replace("e+", "e")
    lines["worked"] = duration(state.seconds).removeprefix("about ")
    remaining_seconds = facts["seconds_left"]
    if remaining_seconds is not None and not state.finished:
        lines["left"] = duration(remaining_seconds)

    is_working = facts["working"]
    if is_working:
        lines["state"] = f"running since {_time(run.owner.since)} by {run.owner}"
    elif state.finished:
        lines["state"] = f"finished at {_time(state.saved)} by {run.owner}"
    else:
        activity = "unknown whether it runs" if is_working is None else "not running"
        lines["state"] = f"{activity}; last saved at {_time(state.saved)} by {run.owner}"
    return lines


def _describe_run(run: RunSnapshot) -> str:
    """Describe the command of a run, its board, its method and its part."""
    options = run.identity.options
    text = run.identity.command
    if box := run.identity.boards.get("box"):
        text += f" of one board of boxes {box}"
    if method := options.get("method"):
        text += f" by {method}"
    if part := options.get("part"):
        text += f", part {part} of {options['parts']}"
    return text


def _time(seconds: float) -> str:
    """Write seconds since 1970 as a local time."""
    return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")
