"""Records by the thousand and one by one: the same bytes as the csv and json modules write."""

from __future__ import annotations

import csv
import json
import re
from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusudoku.board import rows
from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.fields import Fields
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Origin, Places
from gpusudoku.cli import records
from gpusudoku.cli.objects import JsonLines
from gpusudoku.cli.records import Answers, Writer
from gpusudoku.cli.tables import Table
from gpusudoku.results import ContractionStats, Counts, numbers_of
from tests.boards import full_grid

SHAPES = ["2x2", "2x3", "3x2", "3x3", "3x4", "4x4", "5x5", "6x6"]
STATS = ContractionStats(0, 0.0, ())
HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of characters that stand for no byte."""
TEXTS = st.text(st.sampled_from('ab "#,\t\\\r\n\x00\x1f\x7fä€😀\udce9\ud800'), max_size=6)
NAMES = st.text(st.sampled_from('ab,"#ä\r'), min_size=1, max_size=3)
COUNTS = st.one_of(st.integers(0, 3), st.sampled_from([2**63 - 1, 2**63, 10**40]))


def answers_of(
    shape: str,
    counts: list[int],
    origins: list[Origin],
    others: list[list[str]],
    *,
    limit: int | None = None,
    solve: bool = False,
) -> Answers:
    """Answers for made-up boards, which take turns to come from the origins."""
    geometry = Geometry.parse(shape)
    full = np.array(full_grid(geometry, 1), np.uint8).ravel()
    cells = np.stack([full * (np.arange(geometry.cells) % 3 != index % 4) for index in
                      range(len(counts))]).astype(np.uint8)  # fmt: skip
    which = np.arange(len(counts)) % len(origins)
    lines = np.where(which == 2, 0, np.arange(len(counts)) * 37 + 1)
    places = Places(tuple(origins), which, lines, Fields.of(others))
    batch = Batch(geometry, cells, places=places)
    solutions = np.stack([full] * len(counts)) if solve else None
    return Answers(Counts(batch, numbers_of(counts), limit, "cpu", 1, STATS), solutions)


def facts(answers: Answers) -> list[dict[str, object]]:
    """All that a record says, for every board."""
    results, places = answers.results, answers.places
    found = []
    for index, count in enumerate(results.counts):
        exact = results.limit is None or count < results.limit
        board = Board(results.boards.cells[index], results.boards.geometry)
        solved = answers.solutions is not None and count
        assert answers.solutions is not None or not solved
        found.append({
            "board": str(board), "box": str(board.geometry), "count": str(count), "exact": exact,
            "unique": None if count == results.limit == 1 else count == 1,
            "method": "contraction", "device": "cpu",
            "solution": str(Board(answers.solutions[index], board.geometry)) if solved else None,
            "source": places.origin(index).name, "line": int(places.lines[index]) or None,
            "columns": dict(zip(places.origin(index).columns, places.beside(index), strict=True)),
        })  # fmt: skip
    return found


def as_json(answers: Answers) -> bytes:
    """What is asked of JSON lines, by the json module."""
    lines = []
    for fact in facts(answers):
        if answers.solutions is None:
            del fact["solution"]
        if not fact["columns"]:
            del fact["columns"]
        lines.append(json.dumps(fact) + "\n")
    return "".join(lines).encode()


def as_table(answers: Answers, delimiter: str, errors: bool = False) -> bytes:
    """What is asked of rows, by the csv module."""
    text = StringIO()
    for fact in facts(answers):
        columns = fact["columns"]
        assert isinstance(columns, dict)
        row = [
            str(fact["source"]), str(fact["line"] or ""), str(fact["board"]),
            f"{fact['count']}{'' if fact['exact'] else '+'}",
            {True: "true", False: "false", None: ""}[fact["unique"]],  # type: ignore[index]
            *([] if answers.solutions is None else [str(fact["solution"] or "")]),
            *([""] if errors else []), *columns.values(),
        ]  # fmt: skip
        odd = any("\r" in field or "\n#" in field for field in row) or row[0].startswith("#")
        quoting = csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL
        csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerow(row)
    return HALF.sub("\ufffd", text.getvalue()).encode(errors="surrogateescape")


def written(writer: Writer, answers: Answers, few: int) -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "FEW", few)
        patch.setattr(records, "TOGETHER", 5)
        return writer.text(answers)


def check(answers: Answers, table: bool = True) -> None:
    """Compare all forms, many at a time and one by one; the parts of answers are those of all."""
    half = np.arange(len(answers)) % 2 == 1
    for few in (0, 1 << 30):
        for part in (answers, answers.chosen(half)):
            if len(part):
                assert written(JsonLines(False), part, few) == as_json(part)
            for delimiter in ",\t" if table and len(part) else "":
                for errors in (False, True):
                    writer = Table(delimiter, answers.solutions is not None, errors)
                    assert written(writer, part, few) == as_table(part, delimiter, errors)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solve", [False, True])
@pytest.mark.parametrize("limit", [None, 1, 2])
def test_shapes_and_counts(shape, solve, limit):
    counts = [0, 1, 2, 1, 0, 288, 2**63 - 1] if limit is None else [0, 1, min(limit, 2), 0, 1]
    counts = [0, *counts]
    origins = [Origin("a.txt"), Origin("#b,c"), Origin('@"own"')]
    others = [[] for _ in counts]
    check(answers_of(shape, counts, origins, others, limit=limit, solve=solve))


@given(st.data(), st.lists(COUNTS, min_size=1, max_size=12), st.booleans())
def test_columns_of_one_input(data, counts, solve):
    names = tuple(data.draw(st.lists(NAMES, max_size=3, unique=True)))
    origins = [Origin(data.draw(TEXTS.filter(lambda name: "\ud800" not in name)), names)]
    row = st.lists(TEXTS, min_size=len(names), max_size=len(names))
    others = [data.draw(row) for _ in counts]
    check(answers_of("2x2", counts, origins, others, solve=solve))


@given(st.data(), st.lists(COUNTS, min_size=1, max_size=12), st.booleans())
def test_inputs_of_different_columns(data, counts, solve):
    """As objects, which take them all; a row has as many texts as the most columns."""
    columns = st.lists(NAMES, max_size=3, unique=True)
    origins = [Origin(name, tuple(data.draw(columns))) for name in ("a", "ä", "c")]
    most = max(len(origin.columns) for origin in origins)
    others = [
        [data.draw(TEXTS) if column < len(origins[index % 3].columns) else ""
         for column in range(most)]
        for index in range(len(counts))
    ]  # fmt: skip
    check(answers_of("2x2", counts, origins, others, solve=solve), table=False)


def test_some_rows_of_many_need_a_closer_look():
    counts = [1, 2, 0] * 1700
    others = [[f"note {index}", ["", 'a"b', "a,b", "ä", "x"][index % 5]] for index in range(5100)]
    origins = [Origin("a", ("c0", "c1")), Origin("b", ("c0", "c1"))]
    answers = answers_of("2x3", counts, origins, others, solve=True)
    assert JsonLines(False).text(answers) == as_json(answers)
    assert Table(",", solution=True).text(answers) == as_table(answers, ",")


def test_the_header_is_apart():
    """It depends on what is read, and texts on nothing that was written before."""
    answers = answers_of("2x2", [1], [Origin("a", ("line", "x,y"))], [["1", "2"]])
    writer = Table(",")
    assert list(writer.watched([answers.results.boards])) == [answers.results.boards]
    assert writer.header() == writer.header() == (
        b'source,line,puzzle,count,unique,input_line,"x,y"\n'
    )  # fmt: skip
    assert writer.text(answers) == writer.text(answers) == Table(",").text(answers)
    assert Table("\t").header() == b"source\tline\tpuzzle\tcount\tunique\n"
    more = Table(",", solution=True, errors=True).header()
    assert more == b"source,line,puzzle,count,unique,solution,error\n"
    assert JsonLines(False).header() == b""
