"""``gpusudoku status``: the progress of a run that is saved in a file."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.options import own_option
from gpusudoku.cli.output import show
from gpusudoku.errors import printable
from gpusudoku.jobs.watch import duration
from gpusudoku.results import decimal_digits

if TYPE_CHECKING:
    from gpusudoku.runs.kept import Kept

LEAST_DONE = 0.001
"""If less is done, the time left cannot be estimated."""
LEAST_SECONDS = 1.0
"""The last saves must be so far apart to tell a rate."""

own = own_option("status")


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
    from gpusudoku.runs.kept import read_run

    kept, working = read_run(file)
    facts = _facts(kept, working)
    if as_json:
        show(json.dumps(facts))
        return
    lines = _lines(kept, facts)
    width = max(map(len, lines))
    show(*(f"{name:>{width}}: {printable(text)}" for name, text in lines.items()))


def _facts(kept: Kept, working: bool | None) -> dict[str, Any]:
    """Return all of it as JSON types; integers that may exceed 2^53 are strings."""
    state, rate, left = kept.state, None, None
    if state.history:
        (start, _, before), (end, _, now) = state.history[0], state.history[-1]
        found = max(0, now - before)
        if end - start >= LEAST_SECONDS and found.bit_length() <= 1000:  # else it is no float
            rate = found / (end - start)
    if state.finished:
        left = 0.0
    elif state.done > LEAST_DONE:
        left = state.seconds * (1 - state.done) / state.done
    facts: dict[str, Any] = {
        "command": kept.identity.command,
        "version": kept.identity.version,
        "boards": dict(kept.identity.boards),
        "options": dict(kept.identity.options),
        "finished": state.finished,
        "done": state.done,
        "count": decimal_digits(state.count),
        "exact": state.finished,
        "solutions_per_second": rate,
        "seconds": state.seconds,
        "seconds_left": left,
        "working": working,
        "host": kept.owner.host,
        "pid": kept.owner.pid,
        "since": kept.owner.since,
        "began": state.began,
        "saved": state.saved,
    }
    if state.tasks:
        facts |= {"tasks": state.tasks, "tasks_finished": kept.finished_tasks}
    if state.position is not None:
        facts |= {
            "boards_done": state.position.boards,
            "solutions_done": decimal_digits(state.position.solutions),
            "bytes": state.position.size,
        }
    return facts


def _lines(kept: Kept, facts: dict[str, Any]) -> dict[str, str]:
    """Return the same in words."""
    state, count = kept.state, facts["count"]
    lines = {"run": _what(kept)}
    if state.tasks:
        tasks = f"{facts['tasks_finished']:,} of {state.tasks:,} tasks finished"
        lines["done"] = f"{state.done:.1%}, {tasks}"
    elif state.position is not None:
        lines["done"] = f"{state.position.boards:,} boards, {state.position.size:,} bytes written"
        if state.done and not state.finished:
            lines["done"] = f"{state.done:.1%}, {lines['done']}"
    else:
        lines["done"] = f"{state.done:.1%}"
    lines["solutions"] = count if state.finished else f"at least {count}"
    rate, left = facts["solutions_per_second"], facts["seconds_left"]
    if rate and not state.finished:
        lines["rate"] = f"{rate:.3g} solutions a second".replace("e+", "e")
    lines["worked"] = duration(state.seconds).removeprefix("about ")
    if left is not None and not state.finished:
        lines["left"] = duration(left)
    who, when = str(kept.owner), _time(kept.owner.since)
    if state.finished and not facts["working"]:
        lines["state"] = f"finished at {_time(state.saved)} by {who}"
    elif facts["working"]:
        lines["state"] = f"{who} has been running it since {when}"
    else:
        gone = "not running" if facts["working"] is False else "not known whether it runs"
        lines["state"] = f"{gone}; last saved at {_time(state.saved)} by {who}"
    return lines


def _what(kept: Kept) -> str:
    """Describe the run in a few words."""
    identity = kept.identity
    method = identity.options.get("method")
    by = f" by {method}" if isinstance(method, str) else ""
    box = identity.boards.get("box")
    of = f" of one board of boxes {box}" if isinstance(box, str) else ""
    part, parts = (identity.options.get(name) for name in ("part", "parts"))
    # Of a command it is what stands on the command line, of a count of one board two numbers.
    which = str(part).replace("/", " of ") if parts is None else f"{part} of {parts}"
    told = "" if part is None else f", part {which}"
    return f"{identity.command}{of}{by}{told}, version {identity.version}"


def _time(seconds: float) -> str:
    """Write a moment in local time."""
    try:
        return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")
    except (OverflowError, ValueError, OSError):  # by a clock that is wrong
        return "an unknown time"
