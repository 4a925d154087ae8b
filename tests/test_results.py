"""What a count says besides the number: JSON, statistics, estimates."""

from __future__ import annotations

import json
from math import inf

import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count, count_many
from gpusudoku.errors import InputError
from gpusudoku.formats import parse
from gpusudoku.options import OptionFields
from gpusudoku.results import ContractionStats, Counts, numbers_of
from tests import naive
from tests.boards import full_grid, puzzle, spoilt

BOARD = puzzle("2x3", 8, 1)
TOTAL = naive.count(BOARD)
SEARCH: OptionFields = {"device": "cpu", "method": "search"}


def test_types_as_json() -> None:
    result = count(BOARD, jobs=2, cutoff=100, limit=10**30, **SEARCH)
    found = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert found == result.as_dict()
    texts = {"board", "box", "count", "method", "device", "search_space", "strategy"}
    texts |= {"no_contraction", "cutoff_by"}
    numbers = {"empty_cells", "frontier_width", "frontier_boards", "boards_explored", "nodes"}
    numbers |= {"deepest", "jobs"}
    times = {"seconds", "expansion_seconds", "filling_factor", "cutoff"}
    assert {name for name, value in found.items() if isinstance(value, str)} == texts | {
        "propagate"
    }
    assert {name for name, value in found.items() if type(value) is int} - times == numbers
    assert all(isinstance(found[name], (int, float)) for name in times)
    assert found["exact"] is True
    assert found["cutoff_reached"] is True
    assert [type(share) for share in found["utilisation"]] == [float, float]
    assert found["box"] == "2x3"
    assert parse(found["board"], box="2x3") == BOARD
    assert found["count"] == str(TOTAL)
    assert found["search_space"] == str(BOARD.search_space)
    assert found["propagate"] == "naked-single,hidden-single"
    assert (found["method"], found["device"], found["jobs"]) == ("search", "cpu", 2)
    assert (found["strategy"], found["cutoff"]) == ("min", 100)


def test_work_that_is_done_before_any_worker_begins_is_counted_in_integers() -> None:
    found = count("11..............", **SEARCH).as_dict()
    assert [type(found[name]) for name in ("nodes", "boards_explored")] == [int, int]


def test_a_board_without_clues_has_a_huge_search_space() -> None:
    """9^81 is no number that JSON readers keep: it is text."""
    found = count(Board.empty(Geometry(3, 3)), jobs=1, limit=1, **SEARCH).as_dict()
    assert found["search_space"] == str(9**81)
    assert (found["count"], found["exact"]) == ("1", False)


@pytest.mark.parametrize("cutoff", [None, 1, 500])
@pytest.mark.parametrize("jobs", [1, 2])
def test_statistics_are_plausible(jobs: int, cutoff: float | None) -> None:
    result = count(BOARD, jobs=jobs, cutoff=cutoff, **SEARCH)
    stats, found = result.stats, result.as_dict()
    assert found["empty_cells"] == result.board.empty_cells == 28
    assert found["filling_factor"] == result.board.filling_factor == 8 / 36
    assert found["search_space"] == str(BOARD.search_space)
    assert stats.frontier_width > 0
    assert stats.frontier_boards >= 1
    assert TOTAL <= stats.boards_explored <= stats.nodes <= 50 * TOTAL
    assert 0 <= stats.deepest <= 36
    assert 0 <= stats.expansion_seconds <= stats.seconds
    assert len(stats.utilisation) == jobs
    assert all(0 <= share <= 1.05 for share in stats.utilisation)


def test_a_long_job_keeps_its_workers_busy() -> None:
    stats = count(Board.empty(Geometry(2, 3)), jobs=2, **SEARCH).stats
    assert all(0.5 <= share <= 1.05 for share in stats.utilisation)
    # One board for each solution, and those that came to nothing.
    assert 28200960 <= stats.boards_explored <= stats.nodes


def test_every_node_is_counted_once() -> None:
    """However the tree is cut, the same boards are looked at."""
    nodes = set()
    for cutoff in [1e300, 10**5, 100]:
        stats = count(BOARD, jobs=1, cutoff=cutoff, strategy="first", **SEARCH).stats
        nodes.add(stats.nodes - stats.frontier_boards)
    # A frontier board is looked at when it is made and again when it is explored.
    assert len(nodes) == 1


@pytest.mark.parametrize("strategy", ["first", "min"])
def test_every_guess_is_counted_once(strategy: str) -> None:
    """The root and a board for every guess, whether it is made in the widening or later."""
    explored = [
        count(BOARD, jobs=jobs, cutoff=cutoff, strategy=strategy, **SEARCH)
        for jobs in [1, 2]
        for cutoff in [1e300, 10**5, 100, 1, None]
    ]
    assert len({result.stats.boards_explored for result in explored}) == 1


def test_full_and_dead_boards() -> None:
    full = Board(full_grid(Geometry(2, 3), 1), Geometry(2, 3))
    result = count(full, jobs=1, **SEARCH)
    stats, found = result.stats, result.as_dict()
    assert (found["empty_cells"], found["filling_factor"], found["search_space"]) == (0, 1.0, "1")
    assert (stats.frontier_boards, stats.boards_explored) == (1, 1)
    dead = count(spoilt(full, 1), jobs=2, **SEARCH)
    assert (dead.count, dead.exact, dead.stats.frontier_boards) == (0, True, 0)
    assert dead.stats.boards_explored == 1


def test_a_contraction_as_json() -> None:
    result = count(puzzle("3x3", 24, 1), device="cpu", method="contraction", jobs=2)
    found = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert found == result.as_dict()
    assert (found["method"], found["device"], found["jobs"]) == ("contraction", "cpu", 2)
    assert found["count"] == str(result.count)
    assert found["products"] == result.stats.products > 0
    assert [type(share) for share in found["utilisation"]] == [float, float]
    assert found["contraction_estimate"] > 0
    assert found["search_estimate"] is None
    assert "nodes" not in found


def test_an_infinite_cutoff_is_json_too() -> None:
    """Either it is refused, or what comes of it can be written."""
    try:
        result = count(BOARD, device="cpu", jobs=1, cutoff=inf)
    except InputError:
        return
    json.dumps(result.as_dict(), allow_nan=False)


def test_counts_of_any_size_are_integers() -> None:
    """NumPy makes floats of integers below and above 2^63."""
    boards = Batch.of([Board.empty(Geometry(2, 2))] * 2)
    stats = ContractionStats(products=0, seconds=0.0, utilisation=())
    for counts in ([0, 1], [1, (1 << 63) + 1], [1, 1 << 99]):
        numbers = Counts(boards, numbers_of(counts), None, "cpu", 1, stats).numbers
        assert numbers.tolist() == counts
        assert all(type(number) is int for number in numbers.tolist())


def test_blocks_may_be_asked_for_one_by_one() -> None:
    """Nobody who stops asking for blocks loses the others, and none comes twice."""
    boards = [BOARD] * 40
    for taken in (0, 1, 3):
        results = count_many(boards, device="cpu", jobs=1)
        for _ in range(taken):
            next(results)
        first = len(next(iter(results.blocks())))
        assert taken + first + len(results.numbers()) == 40
