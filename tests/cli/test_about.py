"""What the command line says of itself, of boards and of devices: help, info, convert, devices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import gpusudoku
from gpusudoku import formats
from gpusudoku.cli import about, cli
from gpusudoku.engines.cuda import availability
from tests.boards import LINE_4X4

COMMANDS = list(cli.commands)
SUMMARY = "Count all solutions of every BOARD, exactly."
"""Of ``gpusudoku count``."""


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(run, command, flag):
    status, out, err = run(*command.split(), flag)
    assert (status, err) == (0, "")
    assert out.startswith("Usage: gpusudoku ")
    assert "Example" in out


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_terminal(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    for line in run(*command.split(), "-h")[1].splitlines():
        assert len(line) <= 80, line


@pytest.mark.parametrize("columns", [60, 80])
def test_the_list_of_commands_is_not_cut(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    listed = " ".join(run("-h")[1].partition("\nCommands:\n")[2].split())
    for name, command in cli.commands.items():
        sentence = " ".join(command.help.split()).partition(". ")[0].removesuffix(".")
        assert f"{name} {sentence}." in listed


def test_every_command_has_its_name():
    assert [command.name for command in cli.commands.values()] == COMMANDS


@pytest.mark.parametrize("asked", ["--version", "--help", "help", "TAB cou"])
def test_what_needs_no_arrays_imports_none(asked):
    """NumPy takes longer to import than all that these do, and Numba even longer."""
    program = (
        "import sys\nfrom gpusudoku.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "assert not {'numpy', 'numba'} & {*sys.modules}"
    )
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    if asked.startswith("TAB"):
        word = asked.split()[-1]
        environment |= {"_GPUSUDOKU_COMPLETE": "fish_complete", "COMP_CWORD": word}
        environment["COMP_WORDS"] = f"gpusudoku {word}"
    words = [] if asked.startswith("TAB") else asked.split()
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=Path(gpusudoku.__file__).parents[1],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "gpusudoku" in done.stdout or done.stdout == "plain,count\t" + SUMMARY + "\n"


def test_help_as_a_command(run):
    assert run("help") == run("--help")
    both = "\n".join(run(name, "--help")[1] for name in ("count", "sample"))
    assert run("help", "count", "sample") == (0, both, "")
    for name in COMMANDS:
        assert run("help", name) == run(name, "--help")


@pytest.mark.parametrize(
    ("arguments", "guess"),
    [
        (["cuont"], "'cuont': did you mean 'count'?"),
        (["help", "cuont"], "'cuont': did you mean 'count'?"),
        (["Solve"], "'Solve': did you mean 'solve'?"),
        (["@2f"], "'@2f': did you mean 'count @2f'?"),
        (["-"], "'-': did you mean 'count -'?"),
        (["." * 4096], f"'{'.' * 39}…': did you mean 'count {'.' * 33}…'?"),
        (["qqq"], "'qqq': 'gpusudoku help' lists them"),
        *(([name], f"'{name}': did you mean 'enumerate'?") for name in ("list", "all")),
        *(([name], f"'{name}': did you mean 'solve'?") for name in ("unique", "check", "Valid")),
        *(([name], f"'{name}': did you mean 'sample'?") for name in ("random", "generate", "new")),
    ],
)
def test_a_name_that_is_no_command(run, arguments, guess):
    assert run(*arguments) == (2, "", f"gpusudoku: no command {guess}\n")


@pytest.mark.parametrize(
    ("name", "function"),
    [
        *(("minimise", "minimise"), ("minimize", "minimise"), ("explain", "explain")),
        *(("hint", "explain"), ("rate", "explain")),
    ],
)
def test_what_is_no_command_is_elsewhere(run, name, function):
    status, out, err = run(name, "@2f")
    assert (status, out) == (2, "")
    assert err.startswith(f"gpusudoku: no command '{name}': gpusudoku.{function}(board) in Python ")
    assert callable(getattr(gpusudoku, function))


def test_a_file_is_no_command(run, file):
    path = file(LINE_4X4)
    assert f"did you mean 'count {path}'?" in run(path)[2]


def test_every_option_has_help_and_a_variable():
    for name in COMMANDS:
        for parameter in cli.commands[name].params:
            if parameter.name == "help" or isinstance(parameter, click.Argument):
                continue
            assert parameter.help, (name, parameter.name)
            assert parameter.envvar.startswith("GPUSUDOKU_"), (name, parameter.name)


def test_version(run):
    assert run("--version")[:2] == (0, f"gpusudoku {gpusudoku.__version__}\n")
    assert run("-V") == run("--version")


def test_no_command_shows_help(run):
    status, out, err = run()
    assert (status, out) == (2, "")
    assert "Usage" in err


def test_variables_set_options(run, monkeypatch, file):
    monkeypatch.setenv("GPUSUDOKU_COUNT_LIMIT", "2")
    assert run("count", file(LINE_4X4))[1] == "2+\n"


class TestInfo:
    def test_facts(self, run):
        _, out, _ = run("info", "@2e")
        assert "filling factor: 19.75%" in out
        assert "power of ten: " in out
        assert "conflicts: none" in out
        assert "cells without candidate: none" in out
        assert "no solution" not in out

    def test_why_there_is_no_solution(self, run, file):
        assert "cells without candidate: r1c9: no solution\n" in run("info", "@no-candidate")[1]
        out = run("info", file("123....4........"))[1]
        assert "cells without candidate: r1c4: no solution\n" in out
        out = run("info", file("11" + "." * 14))[1]
        assert "conflicts: r1c1 and r1c2 both hold 1: no solution\n" in out

    def test_candidates_of_a_document(self, run):
        out = run("info", "@decomposition-matrix-9x9", "--candidates")[1]
        row = next(line for line in out.splitlines() if line.startswith("| .") and "459" in line)
        cells = [".", "459", ".", "189", ".", "12489", "2489", "289", "2489"]
        assert row.replace("|", "").split() == cells

    def test_tables(self, run, file):
        out = run("info", file("123....4........"), "--candidates")[1]
        assert (
            out.partition("\n\n")[2]
            == """\
candidates of each cell (. for a clue, - for none):
 ========= =========
| .   .   | .   -   |
| 3   3   | 12  .   |
 ========= =========
| 234 134 | 124 123 |
| 234 134 | 124 123 |
 ========= =========

number of candidates of each cell (. for a clue):
 ===== =====
| . . | . 0 |
| 1 1 | 2 . |
 ===== =====
| 3 3 | 3 3 |
| 3 3 | 3 3 |
 ===== =====
"""
        )

    @pytest.mark.parametrize("name", ["box2x3-few", "box1x5-many", "box5x1-few", "25x25-few"])
    def test_columns_of_tables_are_aligned(self, run, name):
        """Bars stand between the same columns in every row, and rules leave them free."""
        for table in run("info", f"@{name}", "--candidates")[1].split("\n\n")[1:]:
            lines = [line.ljust(table.index("\n")) for line in table.splitlines()[1:]]
            width = max(map(len, lines))
            rows = [line for line in lines if line.startswith("|")]
            (bars,) = {tuple(i for i, sign in enumerate(row) if sign == "|") for row in rows}
            rules = {line.ljust(width) for line in lines if line.startswith(" ")}
            assert rules == {
                "".join(" " if i in bars else "=" for i in range(bars[-1])).ljust(width)
            }

    def test_boards_of_a_batch_have_their_place(self, run, file):
        path = file(f"# two boards\n{LINE_4X4}\n{'.' * 16}\n")
        out = run("info", path)[1]
        assert out.startswith(f"{path}:2: {LINE_4X4}\n")
        assert f"\n\n{path}:3: {'.' * 16}\n" in out

    def test_json(self, run, file):
        record = json.loads(run("info", file("11" + "." * 14), "--json", "--candidates")[1])
        assert record["conflicts"] == ["r1c1 and r1c2 both hold 1"]
        assert record["candidates"][15] == [1, 2, 3, 4]
        assert record["cells_without_candidate"] == []
        record = json.loads(run("info", "@no-candidate", "--json")[1])
        assert record["cells_without_candidate"] == ["r1c9"]


def test_convert(run, file, tmp_path):
    assert run("convert", file(LINE_4X4), "--format", "grid")[1] == "1...\n.2..\n..3.\n....\n"
    output = tmp_path / "x.csv"
    run("convert", file(f"{LINE_4X4}\n{'.' * 16}\n"), "--format", "csv", "-o", output)
    assert output.read_text().splitlines() == ["puzzle", LINE_4X4, "." * 16]


@pytest.mark.parametrize("least", [0, 100, 1 << 19])
@pytest.mark.parametrize("form", list(formats.FORMATS))
def test_convert_joins_boards_to_blocks(run, file, monkeypatch, form, least):
    """Boards of several shapes, each a batch, are written as they are one by one."""
    monkeypatch.setattr(about, "LEAST_BYTES", least)
    lines = [LINE_4X4, "." * 16, "." * 36, LINE_4X4, LINE_4X4]
    status, out, err = run("convert", file("\n".join(lines)), "--format", form)
    assert (status, err != "") == ((2, True) if form == "hex" else (0, False))
    boards = [] if status else [formats.write(formats.parse(line), form) for line in lines]
    header = f"{formats.header(form)}\n" if formats.header(form) and boards else ""
    assert out == header + formats.separator(form).join(f"{board}\n" for board in boards)


def test_convert_writes_what_comes_before_an_error(run, file):
    status, out, err = run("convert", file(f"{LINE_4X4}\n{LINE_4X4}\n1x\n"))
    assert (status, out) == (2, f"{LINE_4X4}\n" * 2)
    assert ":3" in err


def test_devices(run):
    out = run("devices")[1]
    assert out.startswith("cpu ")
    assert "cuda" in out


def test_no_gpu_says_what_to_do_next(run, monkeypatch):
    """Without a driver, and with one whose packages are missing."""
    monkeypatch.setattr(availability, "simulated", lambda: False)
    for driver, gpus, what in (
        ("no driver: install one", (), "no driver: install one"),
        (None, ("A100",), "pip install '.[cuda13]' in a checkout"),
    ):
        monkeypatch.setattr(availability, "_asked", lambda found=(gpus, driver): found)
        monkeypatch.setattr(availability, "find_spec", lambda name: None)
        status, out, err = run("count", LINE_4X4, "--device", "cuda")
        assert (status, out, err.count("\n")) == (1, "", 1)
        assert what in err
        assert what in run("devices")[1]
