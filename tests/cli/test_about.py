"""What the command line says of itself, of boards and of devices: help, info, convert, devices."""

from __future__ import annotations

import json

import pytest

import gpusudoku
from gpusudoku.cli import cli
from tests.boards import LINE_4X4

COMMANDS = ["count", "solve", "enumerate", "simplify", "info", "convert", "boards", "devices"]


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
    assert run("--version")[:2] == (0, f"gpusudoku {gpusudoku.__version__}\n")


def test_no_command_shows_help(run):
    status, out, err = run()
    assert (status, out) == (2, "")
    assert "Usage" in err


def test_variables_set_options(run, monkeypatch, file):
    monkeypatch.setenv("GPUSUDOKU_COUNT_LIMIT", "2")
    assert run("count", file(LINE_4X4))[1] == "2+\n"


def test_info(run):
    _, out, _ = run("info", "@2e")
    assert "filling factor: 19.75%" in out
    assert "power of ten: " in out
    assert "conflicts: none" in out


def test_info_shows_document_candidates(run):
    out = run("info", "@decomposition-matrix-9x9", "--candidates")[1]
    row = next(line for line in out.splitlines() if line.startswith(".") and "459" in line)
    assert row.split() == [".", "459", ".", "189", ".", "12489", "2489", "289", "2489"]


def test_info_json(run, file):
    record = json.loads(run("info", file("11" + "." * 14), "--json", "--candidates")[1])
    assert record["conflicts"] == ["r1c1 and r1c2 both hold 1"]
    assert record["candidates"][15] == [1, 2, 3, 4]


def test_convert(run, file, tmp_path):
    assert run("convert", file(LINE_4X4), "--format", "grid")[1] == "1...\n.2..\n..3.\n....\n"
    output = tmp_path / "x.csv"
    run("convert", file(f"{LINE_4X4}\n{'.' * 16}\n"), "--format", "csv", "-o", output)
    assert output.read_text().splitlines() == ["puzzle", LINE_4X4, "." * 16]


def test_boards(run):
    out = run("boards")[1]
    assert "@2f" in out
    assert "48794239" in out
    records = [json.loads(line) for line in run("boards", "--json")[1].splitlines()]
    assert next(r["count"] for r in records if r["name"] == "2f") == "48794239"


def test_devices(run):
    out = run("devices")[1]
    assert out.startswith("cpu ")
    assert "cuda" in out
