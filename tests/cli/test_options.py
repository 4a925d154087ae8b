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


@pytest.mark.usefixtures("uncompiled")
def test_a_variable_of_one_command_leaves_the_others_alone(run, file, monkeypatch):
    path = file(LINE_4X4)
    plain = run("solve", path, "-j", 1)[1]
    monkeypatch.setenv("GPUSUDOKU_COUNT_FORMAT", "jsonl")
    assert json.loads(run("count", path)[1])["board"] == LINE_4X4
    assert run("solve", path, "-j", 1)[1] == plain
    monkeypatch.setenv("GPUSUDOKU_QUIET", "1")
    assert run("solve", path)[2] == ""
