"""The page of ``gpusudoku serve``: the time from a key press to the exact count on the screen.

A browser without a window opens boards that lack one clue, and that digit is typed, as a person
does. The page itself notes when the key went down, when the new count stood there, and when the
candidates had their shares. Every number is compared with the library's.

    python benchmarks/page.py           two minutes; needs Chromium and its driver
    python benchmarks/page.py --show    the table of what was recorded before
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any

import click
from chromium import Server, Tracer, chromium, missing, serving
from machine import record, recorded
from screen import DRAWN, NUMBER, SECONDS, SETTLED, Screen, link, number
from script import Run, check, grouped, script, table

import gpusudoku
from gpusudoku import Board
from gpusudoku.errors import InputError

CLUES = {20: 30, 8: 15}
"""Clues of the boards once the digit is typed, and how many boards there are of each."""
TRACED = 5
"""Boards of each kind that are typed once more while the browser records its tasks."""
SEED = 17

WATCH = """
const [selector, ...ends] = arguments;
const times = [];
let began = null;
const since = () => performance.now() - began;
const note = () => {
  if (began === null) return;
  const entry = { text: document.querySelector(selector)?.textContent ?? "", changed: since() };
  times.push(entry);
  requestAnimationFrame(() => scheduler.postTask(() => { entry.drawn = since(); }));
};
const all = { subtree: true, childList: true, characterData: true, attributes: true };
new MutationObserver(note).observe(document.getElementById("app"), all);
addEventListener("keydown", (event) => { began = event.timeStamp; }, { capture: true, once: true });
window.watched = () => new Promise((go) => {
  const look = () => {
    if (began === null || ends.some((each) => document.querySelector(each) === null)) return;
    requestAnimationFrame(() => scheduler.postTask(() =>
      go(times.filter(({ drawn }) => drawn !== undefined))));
  };
  new MutationObserver(look).observe(document.getElementById("app"), all);
  look();
});
"""
"""Notes, from a key press on, which number stands there whenever anything of the page changes.

A change is on the screen once the frame after it is drawn. The page itself waits for the end: it is
asked nothing meanwhile, because to answer takes the processor from whoever counts.
"""


def boards(clues: int, many: int) -> list[tuple[Board, int]]:
    """Random cells of random grids, and the cell of each whose digit is typed last."""
    rng = Random(f"{SEED} {clues}")
    found = []
    for grid in gpusudoku.solutions("." * 81, device="cpu").sample(many, SEED).tolist():
        *kept, last = rng.sample(range(81), clues)
        board = Board([grid[cell] if cell in (*kept, last) else 0 for cell in range(81)])
        found.append((board, last))
    return found


def without(board: Board, cell: int) -> Board:
    """A board with a cell emptied."""
    cells = board.cells.copy()
    cells[cell] = 0
    return Board(cells, board.geometry)


def type_last(screen: Screen, board: Board, cell: int, tracer: Tracer | None = None) -> Run:
    """Open a board but for one digit, type that, and note when what it leaves stands there.

    With a ``tracer`` note the longest task of the page instead, by the clock and by the processor.

    Raises
    ------
    MismatchError
        If the number on the page is not the library's.
    """
    screen.open(link(without(board, cell)))
    screen.focus(cell)
    screen.js(WATCH, NUMBER, SETTLED, DRAWN)
    if tracer:
        tracer.start()
    screen.press(str(board.cells[cell]))
    times = screen.js("return window.watched()")
    if tracer:
        task, cpu = map(max, zip(*tracer.stop(), strict=True))
        return {"clues": board.clues, "task": task, "task_cpu": cpu}
    start = time.perf_counter()
    result = gpusudoku.count(board, device="cpu")
    alone = time.perf_counter() - start
    check(str(board), number(times[-1]["text"]), result.count)
    stood = next(each for each in times if each["text"] == times[-1]["text"])
    return {
        "clues": board.clues,
        "count": str(result.count),
        "seconds": stood["drawn"] / 1000,
        "shares_seconds": times[-1]["drawn"] / 1000,
        "library_seconds": alone,
    }


def measure(driver: Any, server: Server, cases: dict[int, int], traced: int) -> list[Run]:
    """Type into all boards; then into some of them with the browser's tasks recorded."""
    driver.set_script_timeout(SECONDS)
    screen = Screen(driver, server.url)
    runs = []
    for clues, many in cases.items():
        found = boards(clues, many)
        type_last(screen, *found[0])  # warms up
        for at, (board, cell) in enumerate(found):
            click.echo(f"\r{clues} clues: {at + 1}/{many} ", nl=False, err=True)
            runs.append(type_last(screen, board, cell))
        tracer = Tracer(driver)
        for board, cell in found[:traced]:
            runs.append(type_last(screen, board, cell, tracer))
        tracer.close()
    click.echo("", err=True)
    return runs


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    rows = []
    for (clues,), runs in grouped(recorded(path)["runs"], "clues").items():
        timed = [run for run in runs if "seconds" in run]
        tasks = [run["task_cpu"] for run in runs if "task_cpu" in run]
        row = [f"{clues}", f"{len(timed)}", f"{median(int(run['count']) for run in timed):,.3g}"]
        for name in ("library_seconds", "seconds", "shares_seconds"):
            values = [1000 * run[name] for run in timed]
            row += [
                f"{median(values):.0f}",
                f"{quantiles(values, n=10, method='inclusive')[-1]:.0f}",
            ]
        rows.append([*row, f"{1000 * max(tasks):.0f}"])
    heads = ["clues", "boards", "solutions"]
    for what in ("count alone", "key to count", "key to shares"):
        heads += [f"{what}, ms", "90 %"]
    print("Medians, and what 90 % of the boards stay below.\n")
    table([*heads, "longest task, CPU ms"], rows)


@script("page", show)
@click.option("--boards", "many", type=click.IntRange(min=2), help="Boards of each kind.")
def main(path: Path, many: int | None) -> None:
    """Type into the page, and see how soon the right numbers stand there."""
    if (reason := missing()) is not None:
        raise InputError(f"the page cannot be measured: {reason}")
    cases = {clues: many or usual for clues, usual in CLUES.items()}
    with (
        tempfile.TemporaryDirectory() as folder,
        serving() as server,
        chromium(Path(folder), logged=False) as driver,
    ):
        runs = measure(driver, server, cases, min(TRACED, many or TRACED))
        version = driver.capabilities["browserVersion"]
    record(path, runs, browser=f"Chromium {version}")


if __name__ == "__main__":
    main()
