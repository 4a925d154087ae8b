"""Counts in parts: they add up to the count, by any method, on any threads; records of parts."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import cycle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpusudoku
from gpusudoku import (
    Board,
    Geometry,
    InputError,
    PartRecord,
    count_part,
    merge,
)
from gpusudoku.results import decimal_digits
from tests import naive
from tests.runs.stopped import BOARD, TOTAL

SOME = "1....2....3....."


def partials(board, parts, **options):
    """All parts of a count, each with another number of threads."""
    jobs = cycle((1, 2, 3))
    return [
        count_part(board, number, parts, device="cpu", jobs=next(jobs), **options)
        for number in range(1, parts + 1)
    ]


@cache
def some_part():
    return count_part(SOME, 1, 2, device="cpu")


@st.composite
def boards(draw):
    """Small boards with clues that may contradict each other, and candidates at times."""
    shape = Geometry.parse(draw(st.sampled_from(["1x1", "2x2", "1x4"])))
    lists = st.lists(st.integers(1, 4 * shape.n), min_size=shape.cells, max_size=shape.cells)
    cells = [digit if digit <= shape.n else 0 for digit in draw(lists)]
    masks = [
        1 << cell - 1 if cell else (1 << shape.n) - 1 & ~(1 << digit)
        for cell, digit in zip(cells, draw(lists), strict=True)
    ]
    return Board(cells, shape, candidates=masks if draw(st.booleans()) else None)


@given(boards(), st.integers(1, 9))
def test_parts_of_any_board_add_up(board, parts):
    found = partials(board, parts)
    assert sum(part.found for part in found) == merge(found[::-1]).count == naive.count(board)


@pytest.mark.parametrize(
    ("board", "method", "parts"),
    [
        ("." * 16, "search", 50),
        ("." * 16, "auto", 50),
        ("12" + "." * 34, "search", 5),
        ("12" + "." * 34, "contraction", 5),
        (BOARD, "search", 3),
        ("1" + "." * 80, "contraction", 3),
    ],
)
def test_by_search_and_by_contraction(board, method, parts):
    count = merge(map(str, partials(board, parts, method=method)))
    assert count.count == gpusudoku.count(board, device="cpu").count
    assert (count.exact, count.device) == (True, "cpu")
    assert method in ("auto", count.method)


def test_a_part_is_of_the_same_tasks_on_every_machine():
    found = partials(BOARD, 7, method="search")
    again = count_part(BOARD, 3, 7, device="cpu", jobs=1, method="search", memory=1 << 30)
    assert (again.tasks, again.found) == (found[2].tasks, found[2].found)
    tasks = sorted(task for part in found for run in part.tasks for task in run)
    assert tasks == [*range(len(tasks))]
    assert min(part.found for part in found) > 0
    assert merge(found).count == TOTAL


def test_statistics_add_up():
    whole = gpusudoku.count("." * 16, method="search", device="cpu").stats
    for parts in (1, 7):
        merged = merge(partials("." * 16, parts, method="search"))
        assert merged.stats.boards_explored == whole.boards_explored == 192
        assert merged.stats.seconds > 0
        assert merged.jobs == sum((1, 2, 3)[part % 3] for part in range(parts))


def test_parts_that_there_are_not():
    for part in ((0, 2), (3, 2), (1, 65537), (1, 10**30), ("1", 2), (1.0, 2), (True, 2)):
        with pytest.raises(
            InputError, match=r"part .+ of .+: expected a number from 1 to the number of parts"
        ):
            count_part(SOME, *part, device="cpu")
    with pytest.raises(InputError, match="limit 5"):
        count_part(SOME, 1, 2, device="cpu", limit=5)


@pytest.mark.parametrize("given", ["{}", b"", 5, None])
def test_what_is_no_list_of_parts_is_refused(given):
    with pytest.raises(InputError, match="expected all parts of a count, such as a list"):
        merge(given)


def test_what_is_not_all_of_one_run_is_refused():
    one, two, three = partials(SOME, 3)
    many = partials(SOME, 30)
    [_, other, _] = partials("2" + SOME[1:], 3)
    first = count_part(SOME, 2, 3, device="cpu", strategy="first")
    twice = (*two.tasks, one.tasks[0])
    missing = one.tasks[0].start
    for words, parts in {
        "^no parts, expected all of a run$": [],
        "^part 2 of 3 is missing$": [one, three],
        "^parts 1, 3 of 3 are missing$": [two],
        r"^parts 2, 3, .*, 11, \.\.\. of 30 are missing$": [many[0], many[29]],
        r"^parts 1, 3, .*, 19, \.\.\. of 30 are missing$": many[1::2],
        "^part 2 and part 2: both are part 2 of 3$": [one, two, two, three],
        "^part 2: of another run than part 1: another board$": [one, other, three],
        "of another run than part 1: parts 2, not 3$": [one, partials(SOME, 2)[1]],
        "of another run than part 1: strategy first, not min$": [one, first],
        "^part 2: no record of a part|^no record of a part$": [str(one), "{}"],
        f"both have task {missing}$": [one, replace(two, tasks=twice), three],
        f"task {missing} is in no part$": [replace(one, tasks=one.tasks[1:]), two, three],
        "statistics are": [replace(one, stats={}), two, three],
        "of a part: no count of a board": [
            replace(part, found=np.zeros((16, 4), object)) for part in (one, two, three)
        ],
    }.items():
        with pytest.raises(InputError, match=words):
            merge(parts)


def test_a_record_is_read_back():
    part = some_part()
    for text in (str(part), str(part).encode()):
        again = PartRecord.parse(text)
        assert str(again) == str(part)
        assert (again.number, again.parts) == (part.number, part.parts)
        assert (again.tasks, again.found) == (part.tasks, part.found)


def test_a_record_cannot_change_unseen():
    text = str(some_part())
    for before, after in {
        '"partial": "': '"partial": "1',
        '"tasks": [[0': '"tasks": [[1',
        '"place": {}': '"place": {"a": 1}',
        '"device": "cpu"': '"device": "gpu"',
        '"cutoff": null': '"cutoff": 3',
        '"number": 1': '"number": 2',
    }.items():
        assert before in text
        with pytest.raises(InputError, match=r"^a damaged record of a part: it was changed$"):
            PartRecord.parse(text.replace(before, after))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda it: it.update(schema=1), "a record of another version of gpusudoku: schema 1"),
        (lambda it: it.update(kind="x"), "no record of a part"),
        (lambda it: it.pop("seal"), "something is missing"),
    ],
)
def test_damages_of_a_record_are_told(change, words):
    record = json.loads(str(some_part()))
    change(record)
    with pytest.raises(InputError, match=words):
        PartRecord.parse(json.dumps(record))


def test_records_of_numbers_of_more_digits_than_python_reads():
    part = replace(some_part(), found=10**9_999 + 7)
    assert PartRecord.parse(str(part)).found == 10**9_999 + 7
    assert decimal_digits(10**9_999 + 7) in str(part)


@given(st.integers(0, 10**6), st.integers(0, 255))
def test_a_damaged_record_is_an_error_or_says_the_same(place, byte):
    part = some_part()
    data = bytearray(str(part).encode())
    data[place % len(data)] = byte
    try:
        found = PartRecord.parse(bytes(data))
    except InputError as error:
        assert "record" in str(error)  # noqa: PT017
    else:
        assert str(found) == str(part)
