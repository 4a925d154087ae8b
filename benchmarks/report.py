"""The whole CPU report: all scripts in turn, results, figures and the tables of the documentation.

    python benchmarks/report.py               under 20 minutes on two cores, with progress
    python benchmarks/report.py speed peers   some parts only
    python benchmarks/report.py --long        with the parts that take longer: 11 minutes more

What a part records takes the place of what was there when the whole part is done. The last two
parts always run: they draw the figures and write the tables. Some parts need lists of puzzles that
cannot be redistributed, or programs that a person builds; options name the files, variables of the
environment the programs. A part without them is left out, and a part whose packages are missing
fails. Commit before: results of changed sources name no commit.

Scripts alone measure more often, and more boards. Here the sum has to stay below 20 minutes, and
what is left out costs the least knowledge: repeats of what hardly varies, and in speed.py the board
2f, whose rates are those of 2e. Most of the time goes to `gpusudoku bench`, whose spread is drawn,
and to the virtual cores.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from machine import RESULTS
from script import command
from speed import LARGE, SERIES

from gpusudoku.bench.suite import commit, machine
from gpusudoku.errors import GpusudokuError, InputError
from gpusudoku.jobs.cores import usable_cores
from gpusudoku.jobs.interrupts import held_interrupts

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SUITE = [sys.executable, "-m", "gpusudoku", "bench"]
ALL_BOARDS = ("--include", "*", "--method", "search,contraction")
CUTOFFS = ("@1d", "@1e", "@2d", "@2e", "--method", "search", "--repeats", "2", "-j")
PROGRAMS = ("GPUSUDOKU_TDOKU", "GPUSUDOKU_RUST_SUDOKU", "GPUSUDOKU_SCHOKU")
LONG = ("contraction", "shares")
"""Parts that are run only if asked for: 6 and 5 minutes."""
TOGETHER = {"bench", "cutoff", "simulated"}
"""Parts of which none runs alone: figures and tables compare what they record."""
LAST = ("figures", "readme")
"""Parts that always run, as they show what others record."""
NEEDED = {
    "techniques": "its lists of puzzles were not given",
    "one_core": f"no variable names a program: {', '.join(PROGRAMS)}",
}
"""Why a part is left out that has no commands."""

Commands = list[list[str]]
FILE = click.Path(exists=True, dir_okay=False)


def suite(folder: Path, name: str, *options: str) -> list[str]:
    """A run of ``gpusudoku bench`` whose results go to a folder."""
    files = ["--json", str(folder / f"{name}.json"), "--csv", str(folder / f"{name}.csv")]
    return [*SUITE, *options, *files]


def script(name: str, *options: str) -> list[str]:
    """A run of a script beside this one."""
    return [sys.executable, str(HERE / f"{name}.py"), *options]


def commands(
    folder: Path, batches: Sequence[str], lists: dict[str, str | None]
) -> dict[str, Commands]:
    """The commands of every part, in their order: the last ones read what others record.

    ``folder`` is where results go, and ``lists`` are the files of techniques.py by its options.
    """

    def recording(name: str, *options: str) -> list[str]:
        return script(name, *options, "--output", str(folder / f"{name}.json"))

    given = [word for name, path in lists.items() if path for word in (f"--{name}", path)]
    jobs = f"1,{usable_cores()}"
    without_2f = [name for name in (*SERIES, *LARGE) if name != "2f"]
    lines = [] if batches else ["--lines", "500000"]  # with lists it takes longer in any case
    named = any(os.environ.get(name) for name in PROGRAMS)
    return {
        "bench": [suite(folder, "bench", *ALL_BOARDS, "--patience", "2")],
        "cutoff": [
            suite(folder, "cutoff-space", *CUTOFFS, jobs, "--cutoff",
                  "1e15,1e20,1e25,1e30,1e35,1e40"),
            suite(folder, "cutoff-empty", *CUTOFFS, jobs, "--cutoff", "20,25,30,35,40,45,50,55",
                  "--cutoff-by", "empty"),
        ],
        "speed": [recording("speed", *without_2f, "--repeats", "1")],
        "scaling": [recording("scaling", "--repeats", "3")],
        "simulated": [recording("simulated")],
        "batches": [recording("batches", *lines, "--repeats", "1", *batches)],
        "reading": [recording("reading")],
        "waits": [recording("waits")],
        "by_number": [recording("by_number", "--boards", "1")],
        "listing": [recording("listing", "--repeats", "1")],
        "making": [recording("making", "--repeats", "2")],
        "knowing": [recording("knowing", "--repeats", "2")],
        "techniques": [recording("techniques", *given)] if given else [],
        "documents": [recording("documents", "--repeats", "5")],
        "peers": [recording("peers", "--limit", "8", "--repeats", "1")],
        "one_core": [recording("one_core", "@1f", "@2f", *batches)] if named else [],
        "contraction": [recording("contraction")],
        "shares": [recording("shares")],
        "figures": [script("figures", "--plots", str(folder / "plots"))],
        "readme": [script("readme")],
    }  # fmt: skip


def succeeds(words: list[str], scratch: str) -> bool:
    """Run a command with a folder for what it writes on the way; an interrupt ends it at once.

    It is in a session of its own, so that Ctrl-C reaches this process alone. That ends whatever the
    command has started, too, which so neither goes on nor has a word to say.
    """
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    process = None
    try:
        with held_interrupts():
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": paths, "TMPDIR": scratch},
                start_new_session=True,
            )
        return process.wait() == 0
    finally:
        if process is not None and process.poll() is None:
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:  # Windows
                process.kill()
            process.wait()


def keep(folder: Path, results: Path) -> None:
    """Put what a part has recorded into the place of what was there; a folder of figures whole."""
    with held_interrupts():
        for path in [*folder.glob("*.*"), *folder.glob("plots/*")]:
            old = results / path.relative_to(folder)
            old.parent.mkdir(exist_ok=True)
            if old.is_dir():
                shutil.rmtree(old)
            path.replace(old)


def done(part: str, batches: Sequence[str], lists: dict[str, str | None]) -> bool:
    """Run a part; false if one of its commands failed, and then everything is as before."""
    with (
        TemporaryDirectory(prefix=".report-", dir=RESULTS) as folder,
        TemporaryDirectory() as scratch,
    ):
        for words in commands(Path(folder), batches, lists)[part]:
            if not succeeds(words, scratch):
                return False
        keep(Path(folder), RESULTS)
    return True


def run(
    parts: Sequence[str], batches: Sequence[str], lists: dict[str, str | None]
) -> tuple[dict[str, float], list[str]]:
    """Run parts; returns how long each took, and which failed."""
    seconds: dict[str, float] = {}
    failed = []
    for number, part in enumerate(parts, start=1):
        click.echo(f"[{number}/{len(parts)}] {part} ...", err=True)
        if not commands(RESULTS, batches, lists)[part]:
            click.echo(f"    left out: {NEEDED[part]}", err=True)
            continue
        start = time.perf_counter()
        if not done(part, batches, lists):
            failed.append(part)
        seconds[part] = time.perf_counter() - start
        click.echo(f"    {seconds[part]:.0f} s", err=True)
    return seconds, failed


def warn() -> None:
    """Say it if no commit can be named beside the results."""
    name = commit(ROOT)
    if name is None:
        click.echo("report.py: warning: no git checkout, so results name no commit", err=True)
    elif name.endswith("-dirty"):
        text = "uncommitted changes, so results name no commit that exists"
        click.echo(f"report.py: warning: {text}", err=True)


def show(seconds: dict[str, float], failed: Sequence[str]) -> None:
    """Print how long the parts took, and all together."""
    click.echo(f"\n{machine()['processor']}, {usable_cores()} cores", err=True)
    for part, took in seconds.items():
        click.echo(f"    {part:<12}{took:6.0f} s{'  failed' * (part in failed)}", err=True)
    minutes, rest = divmod(round(sum(seconds.values())), 60)
    click.echo(f"report.py: {minutes} min {rest} s in all", err=True)


def end_cleanly() -> None:
    """Let other signals that end a program do what Ctrl-C does, and only the first one do it."""
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [getattr(signal, name) for name in names]
    heeded = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]

    def end(number: int, frame: object) -> None:
        for each in heeded:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in heeded:  # under nohup SIGHUP is ignored
        signal.signal(number, end)


@command("report")
@click.argument("parts", nargs=-1)
@click.option("--long", is_flag=True, help=f"Run {', '.join(LONG)}, too: 11 minutes more.")
@click.option("--batch", "batches", multiple=True, type=FILE,
              help="List for batches.py and one_core.py; may be repeated.")  # fmt: skip
@click.option("--easy", type=FILE, help="List for techniques.py: its easy puzzles.")
@click.option("--hard", type=FILE, help="List for techniques.py: its hard puzzles.")
@click.option("--hardest", type=FILE, help="List for techniques.py: its hardest puzzles.")
def main(parts: tuple[str, ...], long: bool, batches: tuple[str, ...], **lists: str | None) -> None:
    """Run all PARTS of the report, or some."""
    known = commands(RESULTS, batches, lists)
    unknown = [part for part in parts if part not in known]
    if unknown:
        raise InputError(f"no part {unknown[0]!r}: expected {', '.join(known)}")
    wanted = {*(parts or [part for part in known if long or part not in LONG]), *LAST}
    if wanted & TOGETHER:
        wanted |= TOGETHER
    warn()
    try:
        seconds, failed = run([part for part in known if part in wanted], batches, lists)
    except KeyboardInterrupt:
        click.echo("\nreport.py: interrupted; what is not done is as it was before", err=True)
        sys.exit(128 + signal.SIGINT)
    show(seconds, failed)
    if failed:
        raise GpusudokuError(f"not done: {', '.join(failed)}")


if __name__ == "__main__":
    end_cleanly()
    main()
