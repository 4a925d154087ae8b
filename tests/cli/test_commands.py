"""The command line, run in this process: results on stdout, all else on stderr, exit statuses."""

import json
import re
import sys
from dataclasses import replace

import pytest

from gpusudoku import Board, formats
from gpusudoku.cli import cli
from gpusudoku.engines.cuda import availability
from gpusudoku.formats import parse
from tests import naive

LINE_4X4 = "1....2....3....."  # six solutions
PUZZLE = "8..2.3..6.5.7....9..4...1..79..5...4...8.6...1...7..95..3...2..5....7.6.4..6.9..1"
COMMANDS = ["count", "solve", "enumerate", "simplify", "info", "convert", "boards", "devices"]


@pytest.fixture
def file(tmp_path):
    """Write a file; returns its path."""

    def write(content, name="board.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(run, command, flag):
    status, out, err = run(*command.split(), flag)
    assert (status, err) == (0, "")
    assert out.startswith("Usage: ")
    assert "Example" in out or command == "devices"


def test_every_option_has_help_and_a_variable():
    for name in COMMANDS:
        for parameter in cli.commands[name].params:
            if parameter.name in ("help", "boards"):
                continue
            assert parameter.help, (name, parameter.name)
            assert parameter.envvar.startswith("GPUSUDOKU_"), (name, parameter.name)


def test_version(run):
    assert run("--version")[:2] == (0, "gpusudoku 0.3.0\n")


def test_no_command_shows_help(run):
    status, out, err = run()
    assert (status, out) == (2, "")
    assert "Usage" in err


def test_variables_set_options(run, monkeypatch, file):
    monkeypatch.setenv("GPUSUDOKU_LIMIT", "2")
    assert run("count", file(LINE_4X4))[1] == "2+\n"


class TestCount:
    def test_one_board_prints_the_count_alone(self, run, file):
        expected = naive.count(parse(LINE_4X4))
        assert expected > 1
        assert run("count", file(LINE_4X4))[:2] == (0, f"{expected}\n")

    def test_a_batch_prints_lines_in_input_order(self, run, file):
        lines = [LINE_4X4, "." * 16, "11" + "." * 14]
        status, out, err = run("count", file("\n".join(lines)))
        assert status == 0
        expected = [f"{line}:{naive.count(parse(line))}" for line in lines]
        assert out.splitlines() == expected
        assert "r1c1 and r1c2 both hold 1" in err

    def test_several_files_are_a_batch(self, run, file):
        out = run("count", file(LINE_4X4, "a"), file("." * 16, "b"))[1]
        assert out.splitlines()[1] == "." * 16 + ":288"

    def test_project_board(self, run):
        assert run("count", "@1b")[1] == "4715\n"

    def test_stdin(self, run, monkeypatch, file):
        with file(LINE_4X4).open() as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            assert run("count", "-")[1] == f"{naive.count(parse(LINE_4X4))}\n"

    def test_limit(self, run, file):
        path = file("." * 16)
        assert run("count", path, "--limit", 288)[1] == "288+\n"
        assert run("count", path, "--limit", 289)[1] == "288\n"

    @pytest.mark.parametrize(
        ("only", "kept"), [("unique", [0]), ("multiple", [1, 3]), ("none", [2])]
    )
    def test_only(self, run, file, only, kept):
        unique = "1234341221434321".replace("4", ".", 1)
        lines = [unique, "." * 16, "11" + "." * 14, LINE_4X4]
        out = run("count", file("\n".join(lines)), "--only", only)[1]
        assert out.splitlines() == [lines[i] for i in kept]

    def test_json(self, run, file):
        status, out, _ = run("count", file(LINE_4X4), "--json", "-j", 2)
        record = json.loads(out)
        assert status == 0
        assert record["board"] == LINE_4X4
        assert record["count"] == str(naive.count(parse(LINE_4X4)))
        assert record["exact"] is True
        assert (record["method"], record["device"], record["jobs"]) == ("search", "cpu", 2)
        assert record["seconds"] > 0
        assert record["search_space"] == str(parse(LINE_4X4).search_space)
        assert len(record["utilisation"]) == 2

    def test_json_of_a_limited_count(self, run, file):
        record = json.loads(run("count", file("." * 16), "--json", "--limit", 5)[1])
        assert (record["count"], record["exact"]) == ("5", False)

    def test_stats_go_to_stderr(self, run, file):
        _, out, err = run("count", file(LINE_4X4), "--stats")
        assert out == f"{naive.count(parse(LINE_4X4))}\n"
        for label in ("search space", "filling factor", "frontier boards", "boards explored",
                      "nodes", "deepest stack", "cutoff", "seconds", "utilisation"):  # fmt: skip
            assert f"{label}: " in err

    def test_log_is_appended(self, run, file, tmp_path):
        log = tmp_path / "log"
        for _ in range(2):
            run("count", file(LINE_4X4), "--log", log)
        records = [json.loads(line) for line in log.read_text().splitlines()]
        assert [record["board"] for record in records] == [LINE_4X4] * 2

    def test_method(self, run):
        for method in ("auto", "search", "contraction"):
            status, out, err = run("count", "@2c", "--method", method, "--stats", "--memory", "1G")
            assert (status, out) == (0, "32128\n")
            wanted = method if method != "auto" else "contraction|search"
            assert re.search(rf"method: ({wanted})\n", err)

    def test_stats_show_both_estimates(self, run):
        _, _, err = run("count", "@2d", "--stats")
        assert re.search(r"search estimate: about \S+ s on one core\n", err)
        assert re.search(r"contraction est.: about \S+ s on one core\n", err)
        assert re.search(r"products: [\d,]+\n", err)

    def test_a_long_count_is_announced(self, run, monkeypatch):
        from gpusudoku.cli import report

        monkeypatch.setattr(report, "LONG_SECONDS", 1e-6)
        _, out, err = run("count", "@2d")
        assert out == "1014785\n"
        assert re.search(
            r"^gpusudoku: the contraction may take about \S+ s on one core$", err, re.M
        )

    def test_cross_check_of_a_batch(self, run, monkeypatch):
        monkeypatch.setattr(availability, "unusable_because", lambda: "there is none")
        status, _, err = run("count", "@2c", "@top-band-cyclic", "--cross-check")
        assert status == 0
        assert "cross-check by method contraction: the same count, 1 of 2 boards" in err
        assert "cross-check not done: no other way is affordable, 1 of 2 boards" in err

    def test_too_expensive(self, run, file):
        empty = file("\n".join(["." * 16] * 16))
        status, out, err = run("count", empty, "--box", "4x4", "--method", "contraction")
        assert (status, out) == (1, "")
        assert re.search(r"^gpusudoku: .*too expensive to contract: .*\d", err.splitlines()[-1])

    def test_cross_check_says_how(self, run, file):
        status, _, err = run("count", file(LINE_4X4), "--cross-check")
        assert status == 0
        assert "cross-check by " in err

    def test_cross_check_fails_loudly(self, run, file, monkeypatch):
        from gpusudoku import counting

        real = counting._count

        def wrong(board, settings, engine, *told):
            result = real(board, settings, engine, *told)
            first = engine.name == "cpu" and settings.method == "auto"
            return result if first else replace(result, count=0)

        monkeypatch.setattr(counting, "_count", wrong)
        status, _, err = run("count", file(LINE_4X4), "--cross-check")
        assert status == 1
        assert "cross-check failed" in err

    def test_keep_going(self, run, file):
        path = file(f"{LINE_4X4}\n1x..............\n{'.' * 16}\n")
        status, out, err = run("count", path, "--keep-going")
        assert status == 2
        assert [line.split(":")[0] for line in out.splitlines()] == [LINE_4X4, "." * 16]
        assert f"{path}:2" in err

    def test_results_before_a_bad_line_stand(self, run, file):
        path = file(f"{LINE_4X4}\n1x..............\n{'.' * 16}\n")
        status, out, err = run("count", path)
        assert status == 2
        assert [line.split(":")[0] for line in out.splitlines()] == [LINE_4X4]
        assert f"{path}:2" in err


class TestSolve:
    def test_pretty_by_default(self, run, file):
        status, out, err = run("solve", file(PUZZLE))
        solution = next(naive.solutions(parse(PUZZLE)))
        assert status == 0
        assert out == formats.write(Board(solution), "pretty") + "\n"
        assert "the only solution" in err

    def test_not_the_only_one(self, run, file):
        _, out, err = run("solve", file(LINE_4X4), "--format", "line")
        assert tuple(map(int, out.strip())) in set(naive.solutions(parse(LINE_4X4)))
        assert "not the only solution" in err

    def test_first(self, run, file):
        _, _, err = run("solve", file(LINE_4X4), "--first")
        assert "only" not in err

    def test_no_solution(self, run, file):
        status, out, err = run("solve", file("11" + "." * 14))
        assert (status, out) == (0, "")
        assert "no solution" in err
        assert "r1c1 and r1c2" in err

    def test_batch_ends_with_a_summary(self, run, file):
        _, out, err = run("solve", file(f"{PUZZLE}\n{PUZZLE}\n"))
        solution = "".join(map(str, next(naive.solutions(parse(PUZZLE)))))
        assert out.splitlines() == [solution] * 2
        assert "Solved       :  2/2" in err
        assert "Solved Cells :  56(input) 162(finally) 162(expected)" in err
        assert "Cell Hints   :  954(input) 0(finally)" in err

    def test_json(self, run, file):
        record = json.loads(run("solve", file(PUZZLE), "--json")[1])
        assert record["unique"] is True
        assert parse(record["solution"]).is_full


class TestEnumerate:
    def test_all_solutions(self, run, file):
        out = run("enumerate", file(LINE_4X4), "--sorted")[1]
        expected = sorted("".join(map(str, s)) for s in naive.solutions(parse(LINE_4X4)))
        assert out.splitlines() == expected

    def test_limit(self, run, file):
        assert len(run("enumerate", file("." * 16), "--limit", 5)[1].splitlines()) == 5

    def test_file_is_not_overwritten_unasked(self, run, file, tmp_path):
        output = tmp_path / "out.txt"
        assert run("enumerate", file(LINE_4X4), "-o", output)[:2] == (0, "")
        before = output.read_text()
        status, out, err = run("enumerate", file("." * 16), "-o", output)
        assert (status, out, output.read_text()) == (2, "", before)
        assert f"{output}: exists already" in err
        assert run("enumerate", file("." * 16), "-o", output, "--force")[0] == 0
        assert len(output.read_text().splitlines()) == 288

    @pytest.mark.parametrize("form", list(formats.FORMATS))
    def test_formats_read_back(self, run, file, form):
        if form == "hex":
            pytest.skip("is for 16x16 boards")
        out = run("enumerate", file(LINE_4X4), "--format", form)[1]
        back = {tuple(b.cells.tolist()) for b in formats.read_text(out)}
        assert back == set(naive.solutions(parse(LINE_4X4)))

    def test_wide_boards_are_comma_lines(self, run):
        out = run("enumerate", "@64x64-few", "--limit", 1)[1]
        assert len(out.split(",")) == 4096


class TestSimplify:
    def test_before_after_and_each_technique(self, run, file):
        status, out, _ = run("simplify", file(PUZZLE))
        assert status == 0
        assert "[status] solved=28 hints=477" in out
        assert "[status] SOLVED hints=0" in out
        assert "hidden-pair" in out

    def test_batch(self, run, file):
        _, out, err = run("simplify", file(f"{PUZZLE}\n{PUZZLE}\n"), "--technique", "none")
        assert out.splitlines() == [PUZZLE] * 2
        assert "Solved       :  0/2" in err

    def test_json(self, run, file):
        record = json.loads(run("simplify", file(PUZZLE), "--json")[1])
        assert (record["cells_before"], record["cells_after"]) == (28, 81)

    def test_contradiction(self, run, file):
        status, out, err = run("simplify", file("123....4" + "." * 8))
        assert status == 0
        assert "contradiction" in err
        assert "[status] solved=4" in out


class TestAbout:
    def test_info(self, run):
        _, out, _ = run("info", "@2e")
        assert "filling factor: 19.75%" in out
        assert "power of ten: " in out
        assert "conflicts: none" in out

    def test_info_shows_document_candidates(self, run):
        out = run("info", "@decomposition-matrix-9x9", "--candidates")[1]
        row = next(line for line in out.splitlines() if line.startswith(".") and "459" in line)
        assert row.split() == [".", "459", ".", "189", ".", "12489", "2489", "289", "2489"]

    def test_info_json(self, run, file):
        record = json.loads(run("info", file("11" + "." * 14), "--json", "--candidates")[1])
        assert record["conflicts"] == ["r1c1 and r1c2 both hold 1"]
        assert record["candidates"][15] == [1, 2, 3, 4]

    def test_convert(self, run, file, tmp_path):
        assert run("convert", file(LINE_4X4), "--format", "grid")[1] == "1...\n.2..\n..3.\n....\n"
        output = tmp_path / "x.csv"
        run("convert", file(f"{LINE_4X4}\n{'.' * 16}\n"), "--format", "csv", "-o", output)
        assert output.read_text().splitlines() == ["puzzle", LINE_4X4, "." * 16]

    def test_boards(self, run):
        out = run("boards")[1]
        assert "@2f" in out
        assert "48794239" in out
        records = [json.loads(line) for line in run("boards", "--json")[1].splitlines()]
        assert next(r["count"] for r in records if r["name"] == "2f") == "48794239"

    def test_devices(self, run):
        out = run("devices")[1]
        assert out.startswith("cpu ")
        assert "cuda" in out


BAD_FILES = {
    "empty": b"",
    "binary": b"\x00\x01\x02",
    "row length": b"1234\n341\n2143\n4321\n",
    "number of rows": b"1234\n3412\n2143\n",
    "character": b"1?..............\n",
    "range": b"15..............\n",
    "size": b"." * 25 + b"\n",
    "line length": b"." * 80 + b"\n",
}


class TestBadInput:
    def check(self, result, *words):
        status, out, err = result
        assert (status, out) == (2, "")
        assert err.startswith("gpusudoku: ")
        assert len(err.splitlines()) == 1
        assert "Traceback" not in err
        for word in words:
            assert str(word) in err

    @pytest.mark.parametrize(
        "command", ["count", "solve", "enumerate", "simplify", "info", "convert"]
    )
    @pytest.mark.parametrize("content", list(BAD_FILES))
    def test_bad_file(self, run, file, command, content):
        path = file(BAD_FILES[content])
        self.check(run(command, path), path)

    def test_missing_file_and_directory(self, run, tmp_path):
        self.check(run("count", tmp_path / "nothing"), tmp_path / "nothing")
        self.check(run("count", tmp_path), tmp_path)

    def test_unknown_project_board(self, run):
        self.check(run("count", "@2g"), "@2g", "@2f")

    @pytest.mark.parametrize(
        "options",
        [
            ["-j", "0"],
            ["-j", "x"],
            ["--limit", "0"],
            ["--cutoff", "0"],
            ["--cutoff", "nan"],
            ["--device", "tpu"],
            ["--method", "guess"],
            ["--memory", "1K"],
            ["--memory", "much"],
            ["--strategy", "max"],
            ["--propagate", "x-wing"],
            ["--propagate", "none,singles"],
            ["--box", "3"],
            ["--box", "0x4"],
            ["--box", "9x9"],
            ["--box", "3x3"],
            ["--gpu", "a"],
            ["--only", "some"],
            ["--only", "unique", "--limit", "1"],
            ["--log", "/nonexistent/folder/log"],
            ["--nonsense"],
        ],
        ids=" ".join,
    )
    def test_bad_option(self, run, file, options):
        self.check(run("count", file(LINE_4X4), *options))

    def test_unknown_command_and_no_board(self, run):
        self.check(run("guess"), "guess")
        self.check(run("count"), "BOARD")

    def test_output_that_cannot_be_written(self, run, file, tmp_path):
        target = tmp_path / "no" / "such" / "file"
        self.check(run("enumerate", file(LINE_4X4), "-o", target), target)
        self.check(run("convert", file(LINE_4X4), "-o", target), target)

    def test_gpu_out_of_range(self, run, file):
        status, out, err = run("count", file(LINE_4X4), "--device", "cuda", "--gpu", "99")
        assert status in (1, 2)  # 1 where there is no GPU at all
        assert out == ""
        assert len(err.splitlines()) == 1
