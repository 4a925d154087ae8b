"""``gpusudoku status``: the progress of a run that is saved in a file."""

from __future__ import annotations

import json
import shlex
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.options import OwnOptions
from gpusudoku.errors import printable
from gpusudoku.jobs.watch import duration
from gpusudoku.pipeline.messages import several
from gpusudoku.pipeline.output import show
from gpusudoku.results import decimal_digits

if TYPE_CHECKING:
    from gpusudoku.runs.store import RunSnapshot

_OF_PUZZLES = ("dataset", "generate", "minimise", "neighbours")
"""The commands whose lines are puzzles."""
MIN_DONE = 0.001
"""If less is done, the time left cannot be estimated."""
MIN_SECONDS = 1.0
"""After less work, no rate is told."""

own = OwnOptions("status")


@click.command()
@click.argument("file", metavar="FILE", shell_complete=complete_files)
@own("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(file: str, as_json: bool) -> None:
    """Show the progress of a run saved with --checkpoint FILE.

    Shows the command, the work done, the results so far, the speed, the time that is left, and the
    process that runs it now, if there is one. That is not disturbed.

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


def _facts(run: RunSnapshot, working: bool | None) -> dict[str, Any]:
    """Return all of it as JSON types; integers that may exceed 2^53 are strings."""
    state = run.state
    rate = None
    left = None
    if state.seconds >= MIN_SECONDS and state.count.bit_length() <= 1000:  # else it is no float
        rate = state.count / state.seconds
    if state.finished:
        left = 0.0
    elif state.done > MIN_DONE:
        left = state.seconds * (1 - state.done) / state.done
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
        "seconds_left": left,
        "working": working,
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
    """Return the same in words."""
    state = run.state
    options = run.identity.options
    count = facts["count"]
    what = run.identity.command
    if box := run.identity.boards.get("box"):
        what += f" of one board of boxes {box}"
    if method := options.get("method"):
        what += f" by {method}"
    if part := options.get("part"):
        what += f", part {part} of {options['parts']}"
    lines = {"run": f"{what}, version {run.identity.version}"}
    if facts["arguments"]:
        lines["command"] = shlex.join(["gpusudoku", *facts["arguments"]])
    done = [f"{state.done:.1%}"] if state.done or not state.position else []
    if state.tasks:
        done.append(f"{facts['tasks_finished']:,} of {state.tasks:,} tasks finished")
    if state.position:
        boards = several(state.position.boards, "board")
        done.append(f"{boards}, {state.position.size:,} bytes written")
    lines["done"] = ", ".join(done)
    noun = "puzzles" if run.identity.command in _OF_PUZZLES else "solutions"
    lines[noun] = count if state.finished else f"at least {count}"
    rate = facts["solutions_per_second"]
    left = facts["seconds_left"]
    if rate and not state.finished:
        lines["rate"] = f"{rate:.3g} {noun} a second".replace("e+", "e")
    lines["worked"] = duration(state.seconds).removeprefix("about ")
    if left is not None and not state.finished:
        lines["left"] = duration(left)
    if facts["working"]:
        lines["state"] = f"{run.owner} has been running it since {_time(run.owner.since)}"
    elif state.finished:
        lines["state"] = f"finished at {_time(state.saved)} by {run.owner}"
    else:
        gone = "not running" if facts["working"] is False else "not known whether it runs"
        lines["state"] = f"{gone}; last saved at {_time(state.saved)} by {run.owner}"
    return lines


def _time(seconds: float) -> str:
    """Write a moment in local time."""
    return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")
