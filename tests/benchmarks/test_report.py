"""The report runs its parts in order, says what failed, and keeps what is whole; the laws hold."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import model
import pytest
import readme
import report
from click.testing import CliRunner

from tests.benchmarks.processes import ROOT


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would be run; the other programs fail."""
    run: list[list[str]] = []

    def note(words: list[str], scratch: str) -> bool:
        assert Path(scratch).is_dir()
        run.append(words)
        return "peers.py" not in " ".join(words)

    monkeypatch.setattr(report, "succeeds", note)
    for name in report.PROGRAMS:
        monkeypatch.delenv(name, raising=False)
    return run


def names(commands: list[list[str]]) -> list[str]:
    return [Path(words[1]).stem if words[1] != "-m" else "bench" for words in commands]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results of before."""
    folder = tmp_path / "results"
    monkeypatch.setattr(report, "RESULTS", folder)
    (folder / "plots" / "one").mkdir(parents=True)
    for name in ("one.json", "two.json", "plots/model.svg", "plots/one/a.svg", "plots/one/b.svg"):
        (folder / name).write_text("before")
    return folder


def texts(folder: Path) -> dict[str, str]:
    """All files of a folder."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def part_of(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let the only part have commands, each a line of Python that knows the folder ``new``."""

    def commands(folder: Path, *_: object) -> dict[str, list[list[str]]]:
        start = f"import pathlib, sys, time; new = pathlib.Path({str(folder)!r})"
        return {"one": [[sys.executable, "-c", f"{start}\n{line}"] for line in lines]}

    monkeypatch.setattr(report, "commands", commands)


class TestParts:
    def test_all(self, commands: list[list[str]]) -> None:
        done = CliRunner().invoke(report.main, [])
        assert done.exit_code == 1
        assert done.stderr.endswith("report.py: not done: peers\n")
        assert "techniques ...\n    left out: its lists of puzzles were not given" in done.stderr
        assert "one_core ...\n    left out: no variable names a program: GPUSUDOKU_" in done.stderr
        assert names(commands) == [
            "bench", "bench", "bench", "speed", "scaling", "simulated", "batches", "reading",
            "writing", "first_day", "by_number", "listing", "documents", "peers",
            "figures", "readme",
        ]  # fmt: skip

    def test_some(self, commands: list[list[str]]) -> None:
        """They run in the order of the report, whatever they are asked for in."""
        arguments = ["techniques", "scaling", "scaling", "--easy", __file__]
        done = CliRunner().invoke(report.main, arguments)
        assert done.exit_code == 0
        assert names(commands) == ["scaling", "techniques", "figures", "readme"]
        assert commands[1][2:4] == ["--easy", __file__]

    @pytest.mark.parametrize("part", ["bench", "cutoff", "simulated"])
    def test_what_is_compared_is_recorded_together(
        self, commands: list[list[str]], part: str
    ) -> None:
        CliRunner().invoke(report.main, [part])
        assert names(commands) == ["bench"] * 3 + ["simulated", "figures", "readme"]

    def test_long(self, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(report, "find_spec", lambda name: None)
        monkeypatch.setattr(report, "missing", lambda: "no Chromium")
        CliRunner().invoke(report.main, ["--long"])
        assert names(commands)[-7:] == [
            "contraction", "shares", "checkpoints", "cancelling", "streams", "figures", "readme",
        ]  # fmt: skip
        commands.clear()
        CliRunner().invoke(report.main, ["shares"])
        assert names(commands) == ["shares", "figures", "readme"]

    def test_a_program_is_named(
        self, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GPUSUDOKU_SCHOKU", "schoku")
        CliRunner().invoke(report.main, ["one_core", "--batch", __file__])
        assert names(commands) == ["one_core", "figures", "readme"]
        assert commands[0][2:5] == ["@1f", "@2f", __file__]

    def test_lists_that_are_not_there(self, commands: list[list[str]]) -> None:
        """They are missed before anything is measured."""
        for option in ("--batch", "--easy", "--hard", "--hardest"):
            done = CliRunner().invoke(report.main, [option, "nowhere.txt"])
            assert done.exit_code == 2
            assert "File 'nowhere.txt' does not exist" in done.output
        assert commands == []

    def test_no_others(self, commands: list[list[str]]) -> None:
        done = CliRunner().invoke(report.main, ["nothing"])
        assert done.exit_code == 2
        assert "no part 'nothing': expected bench, cutoff" in done.output
        assert commands == []

    def test_every_table_of_the_documents_has_a_part(self) -> None:
        known = report.commands(Path("new"), ["list.txt"], {"easy": "easy.txt"})
        for page in readme.PAGES:
            for _, marker, _ in readme.TABLE.findall((ROOT / page).read_text(encoding="utf-8")):
                name = marker.partition(".")[0]
                path = ROOT / "benchmarks" / "results" / f"{name}.json"
                assert name in known or not path.exists(), "it is made from others' results"

    def test_times_are_told(
        self, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(report, "time", SimpleNamespace(perf_counter=lambda: 0.0))
        done = CliRunner().invoke(report.main, ["speed", "peers"])
        *_, processor, speed, peers, _, _, whole, failed = done.stderr.splitlines()
        assert processor.endswith(" cores")
        assert speed.split() == ["speed", "0", "s"]
        assert peers.split() == ["peers", "0", "s", "failed"]
        assert whole == "report.py: 0 min 0 s in all"
        assert failed == "report.py: not done: peers"
        assert done.stdout == ""

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("0123456789ab", ""),
            ("0123456789ab-dirty", "uncommitted changes, so results name no commit that exists"),
            (None, "no git checkout, so results name no commit"),
        ],
    )
    def test_results_that_will_name_no_commit(
        self,
        commands: list[list[str]],
        monkeypatch: pytest.MonkeyPatch,
        name: str | None,
        words: str,
    ) -> None:
        monkeypatch.setattr(report, "commit", lambda folder: name)
        first = CliRunner().invoke(report.main, ["speed"]).stderr.splitlines()[0]
        assert first == (f"report.py: warning: {words}" if words else "[1/3] speed ...")


class TestResults:
    def test_those_of_a_part_take_the_place_of_others(
        self, results: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A figure that is not drawn any more goes."""
        part_of(
            monkeypatch,
            "(new / 'plots' / 'one').mkdir(parents=True)",
            "for x in 'one.json', 'plots/model.svg', 'plots/one/a.svg': (new/x).write_text('new')",
        )
        assert CliRunner().invoke(report.main, []).exit_code == 0
        assert texts(results) == {
            "one.json": "new", "two.json": "before",
            "plots/model.svg": "new", "plots/one/a.svg": "new",
        }  # fmt: skip

    def test_those_of_a_part_that_fails_are_as_before(
        self, results: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = texts(results)
        part_of(monkeypatch, "(new / 'one.json').write_text('new')", "sys.exit(1)")
        assert CliRunner().invoke(report.main, []).exit_code == 1
        assert texts(results) == before
        assert [path.name for path in results.iterdir() if path.name.startswith(".")] == []


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_what_was_there(results: Path, number: signal.Signals) -> None:
    """The command is ended with all that it has started, and one line is said."""
    before = texts(results)
    told = results.parent / "pids"
    child = "import time; time.sleep(1000)"
    line = (
        "import os, pathlib, subprocess, sys, tempfile;"
        f"other = subprocess.Popen([sys.executable, '-c', {child!r}]);"
        "pathlib.Path(tempfile.gettempdir(), 'left').write_text('');"
        "pathlib.Path(folder, 'one.json').write_text('new');"
        f"new = pathlib.Path({str(told)!r} + '.new');"
        "new.write_text(f'{os.getpid()} {other.pid} {tempfile.gettempdir()}');"
        f"new.rename({str(told)!r});"
        "other.wait()"
    )
    program = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(ROOT / "benchmarks")!r})
import report
report.RESULTS = Path({str(results)!r})
line = {line!r}
report.commands = lambda folder, *_: {{
    "one": [[sys.executable, "-c", f"folder = {{str(folder)!r}};" + line]], "two": [[]]
}}
report.end_cleanly()
report.main([])
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        until(told.exists)
        process.send_signal(number)
        _, said = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 130
    assert said.splitlines()[-1] == "report.py: interrupted; what is not done is as it was before"
    assert [line for line in said.splitlines() if "interrupted" in line] == said.splitlines()[-1:]
    assert texts(results) == before
    *pids, scratch = told.read_text().split()
    assert not Path(scratch).exists()
    for pid in pids:
        until(lambda pid=pid: ended(int(pid)))


def until(what: Any) -> None:
    """Wait until something holds."""
    end = time.monotonic() + 300
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def ended(pid: int) -> bool:
    """Whether a process is no more, or only waits to be noted by the one that started it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_the_law_of_the_contraction_is_found() -> None:
    runs = [(k, d, 3.0 * 0.8**k * 1.1**d) for k in range(4, 30) for d in (5, 7, 9)]
    runs[0] = (4, 5, 1000.0)  # fewer clues than the law speaks of
    assert model.contraction_law(runs) == pytest.approx((3.0, 0.8, 1.1, 1.0))
