"""What a page may ask: every field checked, every error one line that names it."""

from __future__ import annotations

import json
from math import inf
from typing import Any

import pytest

from gpusudoku.errors import InputError
from gpusudoku.web.questions import KINDS, question_of, read_question
from tests.boards import LINE_4X4, PUZZLE


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "nth"])
def test_a_board_is_enough(kind: str) -> None:
    question = read_question(kind, json.dumps({"board": PUZZLE}))
    assert (question.kind, str(question.board)) == (kind, PUZZLE.replace("0", "."))
    assert (question.seconds, question.page) == (None, None)


def test_all_fields() -> None:
    big = 10**300 + 7
    given = {"board": LINE_4X4, "box": "1x4", "seconds": 2, "page": "p", "k": [str(big), 0, big]}
    question = read_question("nth", json.dumps(given).encode())
    assert (str(question.board.geometry), question.seconds, question.page) == ("1x4", 2.0, "p")
    assert question.fields == {"k": [big, 0, big]}
    assert question_of("sample", {"board": LINE_4X4}).fields == {
        "n": 1,
        "seed": None,
        "numbers": False,
    }
    assert question_of("sample", {"board": LINE_4X4, "seed": "12"}).fields["seed"] == 12


def test_more_seconds_than_a_timer_takes_are_as_good_as_no_limit() -> None:
    question = question_of("count", {"board": LINE_4X4, "seconds": 10**400})
    assert question.seconds is not None
    assert 1e8 < question.seconds < inf


WRONG: dict[str, tuple[Any, str]] = {
    "nothing": (b"", "no JSON: Expecting value, line 1, column 1"),
    "half": (b'{"board": "1', "no JSON: Unterminated string"),
    "more": (b"{} {}", "no JSON: Extra data, line 1, column 4"),
    "list": (b"[]", "expected a JSON object"),
    "null": (b"null", "expected a JSON object"),
    "latin-1": (b'{"board": "\xe9"}', "byte 11 is not UTF-8"),
    "utf-16": ('{"board": ""}'.encode("utf-16"), "byte 0 is not UTF-8"),
    "nan": (b'{"seconds": NaN}', "no JSON: NaN is no number"),
    "infinity": (b'{"seconds": -Infinity}', "no JSON: -Infinity is no number"),
    "bomb": (b"[" * 200_000, "no JSON that can be read: lists in lists in lists"),
    "objects": (b'{"a":' * 40_000, "no JSON that can be read: lists in lists in lists"),
    "digits": (b'{"k": 1' + b"0" * 100_000 + b"}", "an integer of 100001 digits: 4000 at most"),
    "twice": (b'{"box": "2x2", "board": "1", "box": "1x4"}', "'box' stands there more than once"),
    "unknown": ({"bord": "1"}, "unknown field 'bord'; did you mean 'board'?"),
    "control": ({"\x1b[2J": "1"}, "unknown field '\\x1b[2J': expected board, box, "),
    "no board": ({}, "board: expected text, found nothing"),
    "cells": ({"board": [1]}, "board: expected text, found [1]"),
    "bad board": ({"board": "12x"}, "board: 3 cells make no board"),
    "file": ({"board": "/etc/passwd"}, "board, column 1: unknown character '/'"),
    "name": ({"board": "\n@2f\n"}, "board, column 1: unknown character '@'"),
    "bad row": ({"board": "12..\n1.\n"}, "board, line 2: row 2 of a grid has 2 cells"),
    "bad cell": ({"board": "1...\n..2.\n3..@"}, "board, line 3, column 4: unknown character '@'"),
    "empty": ({"board": "\n \n"}, "board: no board found"),
    "two": ({"board": f"{LINE_4X4}\n{LINE_4X4}"}, "board: 2 boards where one was expected"),
    "box": ({"board": LINE_4X4, "box": 2}, 'box: expected text such as "3x3", found 2'),
    "other box": ({"board": LINE_4X4, "box": "3x3"}, "board: 16 cells, expected 81"),
    "bad box": ({"board": LINE_4X4, "box": "3"}, "box '3': expected ROWSxCOLUMNS"),
    "huge box": ({"board": LINE_4X4, "box": "9" * 5000 + "x2"}, "box '999"),
    "seconds": ({"board": LINE_4X4, "seconds": 0}, "seconds: expected a number above 0, found 0"),
    "true": ({"board": LINE_4X4, "seconds": True}, "seconds: expected a number above 0"),
    "1e999": (b'{"board": "%s", "seconds": 1e999}' % LINE_4X4.encode(), "seconds: expected"),
    "page": ({"board": LINE_4X4, "page": "p" * 65}, "page: expected text of up to 64 characters"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_questions(name: str) -> None:
    given, message = WRONG[name]
    text = given if isinstance(given, bytes) else json.dumps(given)
    with pytest.raises(InputError) as error:
        read_question("count", text)
    assert str(error.value).startswith(message)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("kind", "field", "value", "message"),
    [
        ("sample", "n", -1, "n: expected an integer from 0 to 1000, found -1"),
        ("sample", "n", 1001, "n: expected an integer from 0 to 1000, found 1001"),
        ("sample", "n", "1 ", "n: expected an integer from 0 to 1000, found '1 '"),
        ("sample", "n", 1.5, "n: expected an integer from 0 to 1000, found 1.5"),
        ("sample", "seed", "", "seed: expected an integer from 0 to 2^128 - 1, found ''"),
        ("sample", "numbers", 1, "numbers: expected true or false, found 1"),
        ("minimise", "seed", "٣", "seed: expected an integer from 0 to 2^128 - 1, found '٣'"),
        (
            "minimise",
            "seed",
            "9" * 4001,
            "seed: expected an integer from 0 to 2^128 - 1, found '999",
        ),
        ("nth", "k", None, "k: expected a list of numbers as text, found nothing"),
        ("nth", "k", "1", "k: expected a list of numbers as text, found '1'"),
        ("nth", "k", [0, "-"], "k[1]: expected an integer from 0 on, found '-'"),
        ("nth", "k", ["-1"], "k[0]: expected an integer from 0 on, found '-1'"),
        ("nth", "k", [True], "k[0]: expected an integer from 0 on, found true"),
        ("nth", "k", [0] * 1001, "k: expected 1000 numbers at most, found 1001"),
        ("count", "n", 1, "unknown field 'n'"),
    ],
)
def test_wrong_fields_of_a_kind(kind: str, field: str, value: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        question_of(kind, {"board": LINE_4X4, field: value})
    assert message in str(error.value)
