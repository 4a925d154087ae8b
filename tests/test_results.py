"""Results besides the number: JSON, statistics, estimates."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gpusudoku import (
    BadBoard,
    Board,
    ContractionStats,
    Count,
    Geometry,
    InputError,
    ResultBlock,
    TooExpensive,
    count,
    count_many,
    solutions,
    solve_many,
)
from gpusudoku.board.batch import Batch
from gpusudoku.options import OptionFields
from gpusudoku.results import numbers_of
from tests import naive
from tests.boards import LINE_4X4, full_grid, puzzle, with_wrong_clue

BOARD = puzzle("2x3", 8, 1)
TOTAL = naive.count(BOARD)
SEARCH: OptionFields = {"device": "cpu", "method": "search"}


def test_a_search_as_json() -> None:
    result = count(BOARD, jobs=2, cutoff=100, limit=10**30, **SEARCH)
    fields = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert fields == result.as_dict()
    stats = result.stats
    assert fields["utilisation"] == [*stats.utilisation]
    assert len(stats.utilisation) == 2
    assert all(0 <= share <= 1.05 for share in stats.utilisation)
    # A board with two solutions need not be split.
    assert TOTAL / 2 <= stats.boards_explored <= stats.nodes <= 50 * TOTAL
    assert 0 <= stats.expansion_seconds <= stats.seconds
    for name in ("seconds", "expansion_seconds", "nodes", "deepest"):
        assert fields.pop(name) == getattr(stats, name)
    expected = {
        "board": str(BOARD),
        "box": "2x3",
        "count": str(TOTAL),
        "exact": True,
        "method": "search",
        "device": "cpu",
        "jobs": 2,
        "empty_cells": 28,
        "filling_factor": 8 / 36,
        "search_space": str(BOARD.search_space),
        "strategy": "min",
        "propagate": "naked-single,hidden-single",
        "cutoff": 100,
        "cutoff_by": "space",
        "cutoff_reached": True,
    }
    assert {name: fields[name] for name in expected} == expected
    # 9^81 is no number that JSON readers keep: it is text.
    fields = count(Board.empty(Geometry(3, 3)), jobs=1, limit=1, **SEARCH).as_dict()
    assert (fields["search_space"], fields["count"], fields["exact"]) == (str(9**81), "1", False)


@pytest.mark.parametrize("strategy", ["first", "min"])
def test_nodes_and_guesses_are_counted_once(strategy: str) -> None:
    """Cutoffs and threads do not change them."""
    nodes = set()
    explored = set()
    for jobs, cutoff in ((1, 1e300), (2, 10**5), (1, 100), (2, 1), (1, None)):
        stats = count(BOARD, jobs=jobs, cutoff=cutoff, strategy=strategy, **SEARCH).stats
        explored.add(stats.boards_explored)
        if cutoff and cutoff >= 100 and strategy == "first":
            # A frontier board is looked at when it is made and again when it is explored.
            nodes.add(stats.nodes - stats.frontier_boards)
    assert len(explored) == 1
    assert len(nodes) == (strategy == "first")


def test_full_and_dead_boards() -> None:
    full = Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))
    result = count(full, jobs=1, **SEARCH)
    fields = result.as_dict()
    assert (fields["empty_cells"], fields["filling_factor"], fields["search_space"]) == (
        0,
        1.0,
        "1",
    )
    assert (result.stats.frontier_boards, result.stats.boards_explored) == (1, 1)
    dead = count(with_wrong_clue(full, 1), jobs=2, **SEARCH)
    assert (dead.count, dead.exact, dead.stats.boards_explored) == (0, True, 1)


def test_a_contraction_as_json() -> None:
    result = count(puzzle("3x3", 24, 1), device="cpu", method="contraction", jobs=2)
    fields = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert fields == result.as_dict()
    assert (fields["method"], fields["count"]) == ("contraction", str(result.count))
    assert fields["products"] == result.stats.products > 0
    assert [type(share) for share in fields["utilisation"]] == [float, float]
    assert fields["contraction_estimate"] > 0
    assert fields["search_estimate"] is None


def test_counts_of_any_size_are_integers() -> None:
    """NumPy makes floats of integers below and above 2^63."""
    boards = Batch.of([Board.empty(Geometry(2, 2))] * 2)
    stats = ContractionStats(products=0, seconds=0.0, utilisation=())
    for counts in ([0, 1], [1, (1 << 63) + 1], [1, 1 << 99]):
        numbers = ResultBlock(boards, numbers_of(counts), None, "cpu", 1, stats).numbers
        assert numbers.tolist() == counts
        assert all(type(number) is int for number in numbers.tolist())


def of(number: int, exact: bool = True) -> Count:
    stats = ContractionStats(products=0, seconds=0.0, utilisation=())
    return Count(Board.empty(Geometry(2, 2)), number, exact, "cpu", 1, stats)


@pytest.mark.parametrize("number", [5, 5.0, np.int64(5), np.uint8(5), np.float32(5), of(5)])
def test_counts_are_compared_as_their_numbers(number: Any) -> None:
    assert of(5) == number
    assert number == of(5)
    assert (of(5) != number, number != of(5)) == (False, False)
    assert of(4) < number < of(6)
    assert of(5) <= number <= of(5)
    assert number > of(4)
    assert of(6) > number >= of(5)
    assert not of(5) < number
    assert len({number, of(5)}) == 1


def test_counts_are_used_as_their_numbers() -> None:
    counts = [of(3), of(1), of(2)]
    assert (float(of(5)), [0, 10, 20][of(1)], {of(5): "five"}[5]) == (5, 10, "five")
    assert sorted(counts) == [1, 2, 3]
    assert max(counts) == 3
    assert (of(1) + 2, 2 + of(1), of(1) + of(2), sum(counts)) == (3, 3, 3, 6)
    assert type(sum(counts)) is int
    assert np.array(counts, np.int64).tolist() == [3, 1, 2]
    assert (np.array(counts) == 1).tolist() == [False, True, False]
    assert of(5) != "5"
    assert of(5) != None  # noqa: E711
    with pytest.raises(TypeError):
        sorted([of(5), "5"])


@pytest.mark.parametrize("number", [7, 1234567890123456789])
def test_counts_have_the_arithmetic_of_their_numbers(number: int) -> None:
    for operation in (
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
        *(operator.mod, divmod),
    ):
        for operand in (3, -4, 2.5, Fraction(1, 3), Decimal(2)):
            for result, expected in (
                (operation(of(number), operand), operation(number, operand)),
                (operation(operand, of(number)), operation(operand, number)),
            ):
                assert (type(result), result) == (type(expected), expected)
        assert operation(of(number), of(3)) == operation(number, 3)
        assert operation(np.int64(3), of(7)) == operation(3, 7)
    assert (-of(number), abs(of(number)), of(number) ** 2, 2 ** of(7)) == (
        *(-number, number, number**2, 128),
    )
    assert (round(of(number)), round(of(number), -1)) == (number, round(number, -1))
    assert pow(of(number), 3, 10) == pow(number, 3, 10)
    assert (np.arange(1, 4) * of(7)).tolist() == [7, 14, 21]
    for refused in (lambda: of(7) - "1", lambda: [] / of(7), lambda: of(7) % None):
        with pytest.raises(TypeError, match=r"^unsupported operand"):
            refused()
    with pytest.raises(ZeroDivisionError):
        of(7) // of(0)


def test_formats_of_counts() -> None:
    for number, exact, spec, text in (
        (1234567, True, "", "1234567"),
        (1234567, True, "_", "1_234_567"),
        (1234567, True, "12,", "   1,234,567"),
        (1234567, False, ">12,", "  1,234,567+"),
        (1234567, False, "", "1234567+"),
        (12, True, "*^6", "**12**"),
        (12, False, "<6", "12+   "),
        (12, True, "06", "000012"),
        (12, True, "x", "c"),
        (12, True, "+.1f", "+12.0"),
        # Python makes no text of such integers.
        (10**5000, True, "", "1" + 5000 * "0"),
        (10**5000, True, ",", "100" + 1666 * ",000"),
        (10**5000, False, ">5005", "   1" + 5000 * "0" + "+"),
    ):
        assert format(of(number, exact), spec) == text


def test_comparisons_of_a_lower_bound() -> None:
    """The count is 5 or more: some comparisons are decided, all others raise an error."""
    limited = of(5, exact=False)
    assert bool(limited)
    assert limited != 5
    assert limited != of(5, exact=False)
    alias = limited
    assert (limited == alias, limited != alias, limited <= alias, limited < alias) == (
        *(True, False, True, False),
    )
    assert limited in {limited}
    assert limited > 4
    assert limited >= 5
    assert of(3) < limited
    assert not limited < 5
    assert not limited <= of(4)
    for ask in (
        lambda: limited < 6,
        lambda: limited > 5,
        lambda: limited >= np.int64(6),
        lambda: of(5) < limited,
        lambda: limited < of(7, exact=False),
        lambda: int(limited),
        lambda: limited + 1,
        lambda: sum([of(1), limited]),
        lambda: limited - limited,
        lambda: 10 // limited,
        lambda: -limited,
        lambda: round(limited, -1),
        lambda: f"{limited:x}",
    ):
        with pytest.raises(ValueError, match=r"^cannot .*5\+.*: the limit 5 was reached; count"):
            ask()


def test_what_a_limit_hides() -> None:
    for limit, unique in ((1, None), (2, False)):
        result = count(LINE_4X4, limit=limit, device="cpu", method="search")
        assert (result.unique, result.solvable) == (unique, True)
    assert [of(number).unique for number in (0, 1, 2)] == [False, True, False]
    assert [bool(of(number)) for number in (0, 1, 2)] == [False, True, True]
    assert of(0, exact=False).unique is None
    assert of(0, exact=False).solvable is None
    with pytest.raises(ValueError, match=r"^cannot tell whether there is a solution: "):
        bool(of(0, exact=False))


GIVEN = [None, LINE_4X4, "12", [5.5] * 16, *[LINE_4X4] * 40, "11" + 14 * ".", ""]
BAD = [0, 2, 3, 45]


@pytest.mark.parametrize(("function", "jobs"), [(count_many, 1), (solve_many, 2)])
def test_bad_boards_are_recorded_in_their_places(function: Any, jobs: int) -> None:
    """They are never skipped: results, numbers and blocks keep the positions of the boards."""
    options = {"on_error": "record", "device": "cpu", "jobs": jobs}
    results = list(function(iter(GIVEN), **options))
    assert len(results) == len(GIVEN)
    assert [result.index for result in results if isinstance(result, BadBoard)] == BAD
    assert [index for index, result in enumerate(results) if result.error] == BAD
    assert str(results[3].error) == (
        "board 3: r1c1 holds 5.5: cells must be integers, 0 for an empty one"
    )
    assert [bool(result) for result in results if result.error is None] == [True] * 41 + [False]

    good = 6 if function is count_many else 2
    numbers = [None, good, None, None, *[good] * 40, 0, None]
    results = function(GIVEN, **options).numbers()
    assert results.tolist() == numbers
    with pytest.raises(TypeError):
        results.sum()
    blocks = function(GIVEN, **options).blocks()
    assert [number for block in blocks for number in block.numbers.tolist()] == numbers
    assert function(GIVEN[4:-1], **options).numbers().dtype == np.int64


def test_bad_boards_are_no_numbers() -> None:
    [bad] = count_many([None], on_error="record", device="cpu")
    assert bad != 0
    for ask in (lambda: bad < 1, lambda: sum([bad]), lambda: int(bad)):
        with pytest.raises(TypeError):
            ask()
    with pytest.raises(InputError, match=r"^board 0: expected a board"):
        bool(bad)


def test_bad_boards_end_the_results_by_default() -> None:
    results = count_many([LINE_4X4, LINE_4X4, None, LINE_4X4], device="cpu")
    assert [next(results), next(results)] == [6, 6]
    with pytest.raises(InputError, match=r'^board 2: .* \(on_error="record" continues'):
        next(results)
    expected_repr = "<Results: 2 of 4 taken, ended by InputError: board 2: "
    assert repr(results).startswith(expected_repr)
    with pytest.raises(InputError, match=expected_repr):
        list(results)


def test_numbers_before_an_error_are_not_lost() -> None:
    results = count_many([LINE_4X4, LINE_4X4, None], device="cpu")
    with pytest.raises(InputError, match=r"^board 2: "):
        results.numbers()
    assert results.numbers().tolist() == [6, 6]


def test_a_board_that_is_too_expensive_is_named() -> None:
    boards = [LINE_4X4, 100 * ".", LINE_4X4]
    results = count_many(boards, method="contraction", device="cpu")
    assert next(results) == 6
    with pytest.raises(TooExpensive, match=r"^board 1: too expensive to contract"):
        next(results)


def test_results_of_an_iterator_have_no_known_length() -> None:
    results = count_many(iter([LINE_4X4] * 3), device="cpu")
    with pytest.raises(TypeError, match=r"^the number of boards is not known before"):
        len(results)
    assert results
    results.numbers()
    assert repr(results) == "<Results: 3 taken, consumed>"
    results = count_many(solutions(LINE_4X4, device="cpu"), device="cpu")
    assert repr(results) == "<Results: 0 taken>"
    assert results.numbers().tolist() == [1] * 6


def test_reading_results_twice_warns_or_fails() -> None:
    consumed = r"^<Results: 3 of 3 taken, consumed> is used up: results can be read once"
    consumers: tuple[Callable[[Any], Any], ...] = (
        lambda results: results.numbers(),
        lambda results: [*results.blocks()],
    )
    for consume in (list, *consumers):
        results = solve_many([LINE_4X4] * 3, device="cpu")
        assert len(results) == 3
        assert len(consume(results)) > 0
        assert next(results, None) is None
        with pytest.warns(RuntimeWarning, match=consumed):
            assert list(results) == []
        for ask in consumers:
            with pytest.raises(InputError, match=consumed):
                ask(results)


def test_results_that_are_closed() -> None:
    results = count_many([LINE_4X4] * 3, device="cpu")
    next(results)
    results.close()
    with pytest.raises(InputError, match="1 of 3 taken, closed> is used up: results can be read"):
        list(results)


def test_blocks_and_single_results_can_be_mixed() -> None:
    """No result is lost or repeated if only the first block is read."""
    boards = [BOARD] * 40
    for results_taken in (0, 1, 3):
        results = count_many(boards, device="cpu", jobs=1)
        for _ in range(results_taken):
            next(results)
        block_size = len(next(iter(results.blocks())))
        assert results_taken + block_size + len(results.numbers()) == 40
