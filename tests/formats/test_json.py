"""JSON of any layout: what is read, by commands and in Python, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku.formats import ReadOptions, read_text_batches
from tests.formats.samples import report

A = "1....2....3....."
B = ".4......2....1.."
FULL = "1342421324313124"


def grid(line: str, empty: Any = 0) -> list[list[Any]]:
    return [[int(c) if c != "." else empty for c in line[i : i + 4]] for i in range(0, 16, 4)]


OBJECTS = [{"id": 1, "puzzle": A}, {"id": 2, "puzzle": B}]
WRAPPED = {
    "newboard": {
        "grids": [
            {"value": grid(A), "solution": grid(FULL), "difficulty": "Easy"},
            {"value": grid(B), "solution": grid(FULL), "difficulty": "Hard"},
        ],
        "results": 2,
        "message": "All Ok",
    }
}
FORMS = {
    "array on a line": json.dumps(OBJECTS),
    "array": json.dumps(OBJECTS, indent=2),
    "array with the first object beside its bracket": json.dumps(OBJECTS).replace("}, ", "},\n "),
    "objects on several lines": "\n".join(json.dumps(each, indent=2) for each in OBJECTS),
    "objects and commas": ",\n".join(map(json.dumps, OBJECTS)),
    "objects around objects": json.dumps(WRAPPED),
    "objects around objects on several lines": json.dumps(WRAPPED, indent=1),
    "an object around each": "\n".join(json.dumps({"data": each}) for each in OBJECTS),
    "an array in each": "\n".join(json.dumps({"meta": {}, "all": [each]}) for each in OBJECTS),
    "names of columns": f'{{"question": "{A}", "answer": "x"}}\n{{"Quiz": "{B}"}}',
    "-1": "\n".join(json.dumps({"puzzle": grid(line, -1)}) for line in (A, B)),
    "null": "\n".join(json.dumps({"puzzle": grid(line, None)}) for line in (A, B)),
    "NaN": "\n".join(json.dumps({"puzzle": grid(line, float("nan"))}) for line in (A, B)),
    "decimals": json.dumps([{"board": np.array(grid(line), float).tolist()} for line in (A, B)]),
    "grids in texts": "\n".join(
        json.dumps({"puzzle": "\n".join(line[i : i + 4] for i in range(0, 16, 4))})
        for line in (A, B)
    ),
    "lists in texts": "\n".join(json.dumps({"puzzle": str(grid(line))}) for line in (A, B)),
}


@pytest.mark.parametrize("name", FORMS)
def test_json(name, run, tmp_path, without_cuda) -> None:
    path = tmp_path / "boards.json"
    path.write_text(FORMS[name])
    assert run("convert", path)[:2] == (0, f"{A}\n{B}\n")
    assert run("count", path)[:2] == (0, f"{A}:6\n{B}:6\n")
    assert run("solve", path)[0] == 0
    boards = [
        board for batch in read_text_batches(FORMS[name], ReadOptions("f")) for board in batch
    ]
    assert [str(board) for board in boards] == [A, B]


def test_one_board_in_python() -> None:
    assert str(gpusudoku.parse(json.dumps(OBJECTS[:1], indent=1))) == A
    assert gpusudoku.count(json.dumps({"grid": grid(A)}, indent=1)).count == 6


def test_places() -> None:
    """An object has the line of its first bracket; those around others have one line."""
    assert report(json.dumps(OBJECTS, indent=2)) == ["board 2", "board 6"]
    assert report(json.dumps(WRAPPED, indent=2)) == ["board 1", "board 1"]


REFUSED = {
    "no comma in an object": (f'[\n {{"puzzle": "{A}"}},\n {{"puzzle": "{B}" "x": 3}}\n]',
        ["board 2", "f:3:32: JSON that cannot be read: Expecting ',' delimiter"]),
    "a bracket too many": (f'[{{"puzzle": "{A}"}}]]',
        ["board 1", "f:1: a JSON array that does not begin or end"]),
    "no bracket at the end": (f'[{{"puzzle": "{A}"}}', ["board 1", "f:1: a JSON array that"]),
    "an object that breaks off": (f'{{\n"puzzle": "{A}"', ["f:2:29: JSON that cannot be read: "]),
    "quotes of Python": (f"[{{'puzzle': '{A}'}}]",
        ["f:1:3: JSON that cannot be read: Expecting property name"]),
    "names of JavaScript": (f'{{puzzle: "{A}"}}',
        ["f:1:2: JSON that cannot be read: Expecting property name"]),
    "a name twice": (f'[\n{{"a": 1, "puzzle": "{A}", "a": 2}}]',
        ["f:2: JSON that cannot be read: a JSON object with two values of 'a'"]),
    "no object in an array": (f'[{{"puzzle": "{A}"}}, 5]',
        ["board 1", "f:1: a JSON object with no board, expected one name such as"]),
    "no board in one of them": (f'[{{"puzzle": "{A}"}},\n{{"x": 1}},\n{{"puzzle": "{B}"}}]',
        ["board 1", "f:2: a JSON object with no board, expected one name such as", "board 3"]),
    "no board in one of those within": (f'{{"grids": [{{"puzzle": "{A}"}}, {{"x": 1}}]}}',
        ["board 1", "f:1: a JSON object with no board, expected one name such as"]),
    "no board at all": ('{"meta": {"count": 0}}', ["f:1: a JSON object with no board"]),
    "two names": (f'{{"puzzle": "{A}", "board": "{B}"}}', ["f:1: a JSON object with two boards"]),
    "a wrong digit": (json.dumps([{"puzzle": grid(A.replace("3", "9"))}], indent=1),
        ["f:2: r3c3 holds '9', expected a number from 0 to 4"]),
    "a short row": ('{"puzzle": [[1, 2], [3]]}', ["f:1: 2 rows, not all of 2 cells"]),
    "a long number": (f'[{{"puzzle": {"9" * 5000}}}]', ["f:1: JSON that cannot be read: "]),
    "many brackets": (f'{{"a":\n{"[" * 5000}', ["f:1: JSON that cannot be read: "]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, run, tmp_path) -> None:
    text, expected = REFUSED[name]
    found = report(text)
    assert len(found) == len(expected)
    assert all(entry.startswith(start) for entry, start in zip(found, expected, strict=True)), found
    path = tmp_path / "f"
    path.write_text(text)
    status, _, errors = run("count", path)
    assert status == 2
    assert "Traceback" not in errors


def test_the_column_that_is_asked_for() -> None:
    text = json.dumps({"all": [{"a": A, "puzzle": B}, {"a": B, "puzzle": A}]}, indent=1)
    boards = [
        board for batch in read_text_batches(text, ReadOptions("f", column="a")) for board in batch
    ]
    assert [str(board) for board in boards] == [A, B]
