"""What ``count`` and ``solve`` share besides the form: exit status, summary, log, statistics."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.boards import LINE_4X4

UNIQUE, SEVERAL, NONE = "123434122143432.", "." * 16, "11" + "." * 14
SUMMARY = re.compile(
    r"gpusudoku: (?P<boards>[\d,]+) boards: (?:(?P<one>\d+) unique, (?P<several>\d+) several"
    r"|(?P<some>\d+) solvable), (?P<none>\d+) none, (?P<bad>\d+) unreadable; "
    r"\d+\.\d\d s, [\d,]+ boards a second"
)


def lines(text):
    return [line for line in text.splitlines() if "compiling" not in line]


@pytest.mark.usefixtures("uncompiled")
class TestExitCode:
    @pytest.mark.parametrize("command", ["count", "solve"])
    @pytest.mark.parametrize(
        ("boards", "status"),
        [
            ([UNIQUE], 0),
            ([SEVERAL], 3),
            ([NONE], 4),
            ([UNIQUE, UNIQUE], 0),
            ([UNIQUE, SEVERAL, UNIQUE], 3),
            ([SEVERAL, NONE, UNIQUE], 4),
            ([NONE, SEVERAL], 4),
        ],
    )
    def test_status(self, run, file, command, boards, status):
        path = file("\n".join(boards))
        assert run(command, path, "--exit-code")[0] == status
        assert run(command, path)[0] == 0

    @pytest.mark.parametrize("command", ["count", "solve"])
    def test_a_bad_board_ends_with_2(self, run, file, command):
        path = file(f"{NONE}\n1x\n{SEVERAL}")
        assert run(command, path, "--exit-code", "--keep-going")[0] == 2

    def test_it_implies_a_limit(self, run, file):
        assert run("count", file(SEVERAL), "--exit-code")[1] == "2+\n"
        assert run("count", file(SEVERAL), "--exit-code", "--limit", 5)[:2] == (3, "5+\n")

    @pytest.mark.parametrize("options", [["count", "--limit", 1], ["solve", "--first"]])
    def test_a_limit_of_one_is_refused(self, run, file, options):
        status, out, err = run(*options, file(SEVERAL), "--exit-code")
        assert (status, out, len(err.splitlines())) == (2, "", 1)
        assert "--exit-code" in err


@pytest.mark.usefixtures("uncompiled")
class TestSummary:
    BOARDS = f"{UNIQUE}\n{SEVERAL}\n1x\n{NONE}\n{UNIQUE}\n"

    @pytest.mark.parametrize("options", [[], ["--json"], ["--format", "csv"]])
    @pytest.mark.parametrize("command", ["count", "solve"])
    def test_a_batch_ends_with_a_line(self, run, file, command, options):
        path = file(self.BOARDS)
        _, _, err = run(command, path, "--keep-going", *options)
        found = SUMMARY.fullmatch(lines(err)[-1])
        assert found, err
        assert found.groupdict() == {
            "boards": "5", "one": "2", "several": "1", "some": None, "none": "1", "bad": "1"
        }  # fmt: skip
        assert len(lines(err)) == 3  # the bad board, and the clues that contradict each other
        assert all(f"{path}:" in line for line in lines(err)[:-1])

    @pytest.mark.parametrize("options", [["count", "--limit", 1], ["solve", "--first"]])
    def test_without_a_second_solution(self, run, file, options):
        found = SUMMARY.fullmatch(lines(run(*options, file(f"{UNIQUE}\n{NONE}\n{SEVERAL}"))[2])[-1])
        assert (found["some"], found["none"]) == ("2", "1")

    @pytest.mark.parametrize("command", ["count", "solve"])
    def test_none_after_one_board_or_an_error(self, run, file, command):
        assert "boards" not in run(command, file(UNIQUE))[2]
        status, _, err = run(command, file(f"{UNIQUE}\n{UNIQUE}\n1x\n"))
        assert status == 2
        assert len(lines(err)) == 1


@pytest.mark.usefixtures("uncompiled")
class TestQuiet:
    @pytest.mark.parametrize("command", ["count", "solve", "enumerate", "simplify", "info"])
    def test_nothing_is_said(self, run, file, monkeypatch, command):
        monkeypatch.setenv("GPUSUDOKU_JOBS", "1")
        for boards in (NONE, f"{UNIQUE}\n{NONE}\n{SEVERAL}\n"):
            path = file(boards)
            loud = run(command, path)
            assert run(command, path, "--quiet") == (loud[0], loud[1], "")
            assert run(command, path, "-q")[2] == ""

    def test_statistics_are_not_shown_either(self, run, file):
        for command in ("count", "solve", "enumerate"):
            assert run(command, file(UNIQUE), "-q", "--stats")[2] == ""

    def test_errors_and_bad_boards_are(self, run, file):
        path = file(f"{UNIQUE}\n1x\n{UNIQUE}\n")
        [bad] = run("count", path, "-q", "--keep-going")[2].splitlines()
        assert f"{path}:2" in bad
        assert len(run("count", path, "-q")[2].splitlines()) == 1

    def test_the_next_command_is_not_quiet(self, run, file):
        run("count", file(NONE), "-q")
        assert "no solution" in run("count", file(NONE))[2]


class TestLog:
    @pytest.mark.parametrize("command", ["count", "solve"])
    @pytest.mark.parametrize("options", [[], ["--stats"]])
    def test_it_has_what_json_prints(self, run, file, tmp_path, uncompiled, command, options):
        path, log = file(f"{UNIQUE}\n{NONE}\n"), tmp_path / "log"
        plain = run(command, path, "-j", 1)[1]
        for _ in range(2):
            assert run(command, path, "-j", 1, "--log", log, *options)[1] == plain
        printed = run(command, path, "-j", 1, "--json", *options)[1].splitlines()
        logged = log.read_text().splitlines()
        assert len(logged) == 2 * len(printed)
        same = ("board", "count", "unique", "source", "line", "solution", "nodes", "jobs")
        for first, second in zip(logged, printed * 2, strict=True):
            first, second = json.loads(first), json.loads(second)
            assert first.keys() == second.keys()
            assert [first.get(name) for name in same] == [second.get(name) for name in same]


class TestMessagesNameTheBoard:
    def test_too_expensive(self, run, file):
        boards = f"{'.' * 256}\n{'.' * 256}\n"
        for options in ([], ["--cross-check"], ["--json", "--stats"]):
            path = file(f"# a comment\n{boards}")
            status, _, err = run("count", path, "--method", "contraction", *options)
            assert status == 1
            assert lines(err)[-1].startswith(f"gpusudoku: {path}:2: ")
            assert "too expensive to contract" in err

    def test_a_cross_check_that_fails(self, run, file, monkeypatch, uncompiled):
        from gpusudoku import checking

        real = checking.run_plan
        monkeypatch.setattr(
            checking,
            "run_plan",
            lambda *arguments, **options: replace(real(*arguments, **options), count=0),
        )
        path = file(f"{LINE_4X4}\n{LINE_4X4}\n")
        status, _, err = run("count", path, "--cross-check")
        assert status == 1
        assert lines(err)[-1].startswith(f"gpusudoku: {path}:1: cross-check failed: ")


@pytest.mark.usefixtures("uncompiled")
class TestStatistics:
    @pytest.mark.parametrize("command", ["count", "solve", "enumerate"])
    def test_a_batch_has_one_block(self, run, file, command):
        _, _, err = run(command, file(f"{UNIQUE}\n{SEVERAL}\n{NONE}\n"), "--stats", "-j", 2)
        labels = [line.partition(":")[0].strip() for line in lines(err)]
        for label in ("device", "boards", "searched", "nodes", "boards explored",
                      "seconds of blocks", "frontier boards"):  # fmt: skip
            assert labels.count(label) == 1, label
        assert re.search(r" device: cpu, 2 threads\n", err)
        assert re.search(r" boards: 3\n", err)

    def test_sums_are_those_of_the_boards(self, run, file):
        path = file(f"{UNIQUE}\n{SEVERAL}\n{NONE}\n")
        _, out, err = run("count", path, "--stats", "--json", "-j", 1)
        nodes = sum(json.loads(line)["nodes"] for line in out.splitlines())
        assert f" nodes: {nodes:,}\n" in err


def test_a_batch_counted_both_ways_has_both_sums(run):
    _, out, err = run("count", "@1a", "@2c", "@2a", "--stats")
    assert [line.rpartition(":")[2] for line in out.splitlines()] == ["1", "32128", "1"]
    assert re.search(r" boards: 3\n +searched: 2 boards\n", err)
    assert re.search(r" contracted: 1 boards?\n", err)


class TestTerminal:
    def test_solve_shows_the_board_and_the_status(self, run, file, monkeypatch, uncompiled):
        from gpusudoku import formats

        plain = run("solve", file(UNIQUE))[1]
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        status, out, err = run("solve", file(UNIQUE))
        given = formats.write(formats.parse(UNIQUE), "pretty")
        assert (status, lines(err)) == (0, [])
        assert re.fullmatch(
            re.escape(f"{given}\n\n{plain}\n") + r"the only solution, \d+\.\d{6} s\n", out
        )

    def test_so_too_without_a_solution(self, run, file, monkeypatch, uncompiled):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        _, out, err = run("solve", file(NONE))
        assert re.search(r"\n\nno solution, \d+\.\d{6} s\n$", out)
        assert "both hold 1" in err

    @pytest.mark.parametrize("boards", [UNIQUE, f"{UNIQUE}\n{UNIQUE}"])
    def test_what_is_asked_for_comes_as_ever(self, run, file, monkeypatch, uncompiled, boards):
        path = file(boards)
        plain = run("solve", path, "--format", "line")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        assert run("solve", path, "--format", "line")[:2] == plain[:2]
        if "\n" in boards:
            assert run("solve", path)[:2] == plain[:2]

    @pytest.mark.skipif(os.name == "nt", reason="terminals are POSIX")
    def test_a_real_one(self, file):
        screen, terminal = os.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "gpusudoku", "solve", str(file(UNIQUE))],
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, "GPUSUDOKU_DEVICE": "cpu"},
            stdout=terminal,
            stderr=subprocess.PIPE,
        )
        _, err = process.communicate(timeout=300)
        os.close(terminal)
        shown = os.read(screen, 1 << 16).decode()
        os.close(screen)
        assert process.returncode == 0, err
        assert "the only solution, " in shown
        assert shown.count("=====") == 12
