"""Options as environment variables: one for each meaning."""

from __future__ import annotations

import json

import pytest

from gpusudoku.cli import cli
from tests.boards import LINE_4X4

OPTIONS = [
    (name, parameter)
    for name, command in cli.commands.items()
    for parameter in command.params
    if getattr(parameter, "envvar", None)
]
SHARED = {"device", "jobs", "gpu", "method", "memory", "strategy", "propagate", "cutoff",
          "cutoff_by", "box", "column", "keep_going", "quiet"}  # fmt: skip


def test_no_variable_has_two_meanings():
    meanings = {}
    for name, parameter in OPTIONS:
        meaning = (parameter.opts, repr(parameter.type), parameter.help, parameter.default)
        known, first = meanings.setdefault(parameter.envvar, (meaning, name))
        assert known == meaning, f"{parameter.envvar} of {first} and {name}"


def test_what_belongs_to_a_command_has_its_name():
    for name, parameter in OPTIONS:
        short = parameter.envvar.removeprefix("GPUSUDOKU_").lower()
        if short not in SHARED:
            assert short.startswith(f"{name}_"), parameter.envvar


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["count", "@2f", "--limit", "x"], "--limit 'x': expected an integer from 1 up"),
        (["count", "@2f", "-j", "0"], "--jobs '0': expected an integer from 1 to 1024"),
        (["count", "@2f", "--device", "gpu"], "--device 'gpu': expected auto, cpu or cuda"),
        (["count", "@2f", "--cutoff", "x"], "--cutoff 'x': expected a number"),
        (["count", "@2f", "--box", "q"], "--box 'q': expected ROWSxCOLUMNS, such as 3x3"),
        (["count", "@2f", "--memory", "q"], "--memory 'q': expected bytes, such as 2G"),
        (
            ["serve", "--time-limit", "nan"],
            "--time-limit 'nan': expected seconds, more than 0 and at most 1e+07",
        ),
        (["completion", "tcsh"], "SHELL 'tcsh': expected bash, zsh or fish"),
        (["count"], "BOARD... is missing: see 'gpusudoku help count'"),
        (["count", "--limit"], "--limit needs a value: see 'gpusudoku help count'"),
        (["count", "@2f", "--json=1"], "--json takes no value: see 'gpusudoku help count'"),
        (["count", "@2f", "--quite"], "no option '--quite': did you mean --quiet or --cluster?"),
        (["--nonsense"], "no option '--nonsense': see 'gpusudoku help'"),
        (["devices", "x"], "unexpected argument 'x': see 'gpusudoku help devices'"),
    ],
)
def test_errors_of_usage(run, arguments, message):
    """They name the option, and no variable, as none is set."""
    assert run(*arguments) == (2, "", f"gpusudoku: {message}\n")


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("GPUSUDOKU_COUNT_LIMIT", "0", "'0': expected an integer from 1 up"),
        ("GPUSUDOKU_DEVICE", "gpu", "'gpu': expected auto, cpu or cuda"),
        ("GPUSUDOKU_QUIET", "maybe", "'maybe': expected 1 or 0"),
    ],
)
def test_errors_name_the_variable_that_is_set(run, monkeypatch, variable, value, message):
    monkeypatch.setenv(variable, value)
    assert run("count", LINE_4X4) == (2, "", f"gpusudoku: {variable} {message}\n")


@pytest.mark.usefixtures("uncompiled")
def test_a_variable_of_one_command_leaves_the_others_alone(run, file, monkeypatch):
    path = file(LINE_4X4)
    plain = run("solve", path, "-j", 1)[1]
    monkeypatch.setenv("GPUSUDOKU_COUNT_FORMAT", "jsonl")
    assert json.loads(run("count", path)[1])["board"] == LINE_4X4
    assert run("solve", path, "-j", 1)[1] == plain
    monkeypatch.setenv("GPUSUDOKU_QUIET", "1")
    assert run("solve", path)[2] == ""
