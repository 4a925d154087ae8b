"""Help of all commands, and the options that all of them have in the same way."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import gpusudoku
from gpusudoku import collection
from gpusudoku.cli import cli
from gpusudoku.cli.usage import SECTION_TITLES, Sectioned

ROOT = Path(gpusudoku.__file__).parents[1]
OPTIONS = [
    (name, option)
    for name, command in cli.commands.items()
    for option in command.params
    if option.name != "help" and not isinstance(option, click.Argument)
]
SHARED = {"device", "jobs", "gpu", "method", "memory", "strategy", "propagate", "cutoff",
          "cutoff_by", "box", "column", "keep_going", "quiet"}  # fmt: skip


@pytest.mark.parametrize("command", list(cli.commands))
def test_help_has_an_example_and_fits_a_terminal(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, err = run(command, "-h")
    assert (status, err) == (0, "")
    assert out.startswith(f"Usage: gpusudoku {command} ")
    assert "Example" in out
    assert max(map(len, out.splitlines())) <= 80
    assert run("help", command) == run(command, "--help") == (status, out, err)


@pytest.mark.parametrize("columns", [60, 80])
def test_the_list_of_commands_has_the_first_sentence_of_each(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    listed = " ".join(run("-h")[1].partition("\nCommands:\n")[2].split())
    for name, command in cli.commands.items():
        sentence = " ".join(command.help.split()).partition(". ")[0].removesuffix(".")
        assert f"{name} {sentence}." in listed


def test_every_option_has_help_and_a_variable_of_one_meaning():
    meanings = {}
    for name, option in OPTIONS:
        meaning = (option.opts, repr(option.type), option.help, option.default)
        assert option.help, (name, option.name)
        assert meanings.setdefault(option.envvar, meaning) == meaning, (name, option.name)
        short = option.envvar.removeprefix("GPUSUDOKU_").lower()
        assert short in SHARED or short.startswith(f"{name}_"), option.envvar


def test_the_help_of_the_program_names_the_variables_that_commands_share(run):
    text = " ".join(
        run("help")[1].partition("GPUSUDOKU_DEVICE")[2].partition("Options:")[0].split()
    )
    named = re.findall(r"_([A-Z_]+)\b", text)
    assert {name.lower() for name in named} | {"device"} == SHARED


@pytest.mark.parametrize(
    ("command", "common_count"), [("count", 6), ("solve", 6), ("enumerate", 8), ("generate", 7)]
)
def test_help_with_sections_has_every_option_once(run, monkeypatch, command, common_count):
    monkeypatch.setenv("COLUMNS", "80")
    _, title, sections = run("help", command)[1].partition("Common options:\n")
    assert title
    names = re.findall(r"^  (?:-\w, )?(--[\w-]+)", sections, re.MULTILINE)
    options = [max(option.opts, key=len) for name, option in OPTIONS if name == command]
    assert sorted(names) == sorted([*options, "--help"])
    common = sections.partition("\n\n")[0]
    assert len(re.findall(r"^  -", common, re.MULTILINE)) == common_count


def test_sections_have_the_same_titles_in_the_same_order():
    sectioned = [command for command in cli.commands.values() if isinstance(command, Sectioned)]
    assert len(sectioned) == 4
    for command in sectioned:
        titles = [*command.sections, "Other options"]
        assert titles == [title for title in SECTION_TITLES if title in titles]


@pytest.mark.parametrize("asked", ["--version", "help", "TAB"])
def test_what_needs_no_arrays_imports_none(asked):
    """NumPy takes longer to import than all that these do, and Numba even longer."""
    program = (
        "import sys\nfrom gpusudoku.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "assert not {'numpy', 'numba'} & {*sys.modules}"
    )
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    words = [asked]
    if asked == "TAB":
        words = []
        environment |= {"_GPUSUDOKU_COMPLETE": "fish_complete", "COMP_CWORD": "cou"}
        environment["COMP_WORDS"] = "gpusudoku cou"
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "count" in done.stdout or done.stdout == f"gpusudoku {gpusudoku.__version__}\n"


def test_the_page_of_boards_has_the_numbers_of_the_program(run):
    page = (ROOT / "boards" / "README.md").read_text(encoding="utf-8")
    found = 0
    lines = run("boards", "--long")[1].splitlines()
    assert len(lines) == 1 + len(collection.entries())
    assert len({len(line) for line in lines}) == 1  # all numbers end in line
    for line in lines[1:]:
        name, _, cells, empty, filling, solutions, space = line.split()
        if len(name) == 3 and name[1] in "12ab":
            row = f"| {name[1:]} | {cells} | {empty} | {filling} | {int(solutions):,} | {space} |"
            assert row in page
            found += 1
    assert found == 6 + 6 + 8 + 8


@pytest.mark.parametrize("name", ["box5x1-few", "25x25-few"])
def test_columns_of_tables_of_candidates_are_aligned(run, name):
    """Bars stand between the same columns in every row, and rules leave them free."""
    for table in run("info", f"@{name}", "--candidates")[1].split("\n\n")[1:]:
        lines = [line.ljust(table.index("\n")) for line in table.splitlines()[1:]]
        width = max(map(len, lines))
        rows = [line for line in lines if line.startswith("|")]
        (bars,) = {tuple(i for i, sign in enumerate(row) if sign == "|") for row in rows}
        rules = {line.ljust(width) for line in lines if line.startswith(" ")}
        assert rules == {"".join(" " if i in bars else "=" for i in range(bars[-1])).ljust(width)}
