"""The 9x9 search in lanes: its packing, single steps, and its counts against all that can count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.counting import count, count_many
from gpusudoku.engines import cpu as cpu_engine
from gpusudoku.engines.cpu import CpuEngine, SearchWorker
from gpusudoku.formats import parse
from gpusudoku.kernels.bits import ZERO
from gpusudoku.kernels.lanes import LANES, nonzero
from gpusudoku.kernels.search import select as searches
from gpusudoku.kernels.search.arguments import Stack
from gpusudoku.kernels.search.nine import planes as nine_planes
from gpusudoku.kernels.search.nine.loop import can_search
from gpusudoku.kernels.search.nine.planes import (
    GUARDS,
    NINE,
    ROWS,
    WORDS,
    Lanes,
    boards_of,
)
from gpusudoku.kernels.search.nine.rows import ROW_WORDS, rows_of
from gpusudoku.kernels.search.nine.step import build_step
from gpusudoku.kernels.search.settings import FIRST, MIN, SearchSettings
from gpusudoku.options import Options
from gpusudoku.search.frontier import Frontier
from gpusudoku.search.techniques import parse_techniques
from gpusudoku.simplifying import simplify
from gpusudoku.streaming import Stream
from tests import naive
from tests.boards import as_it_is, full_grid, puzzle, run_uncompiled, searched, spoilt

TECHNIQUES = ["naked-single", "singles", "locked", "naked-single,locked-candidates"]


def packed(boards: list[Board], monkeypatch: pytest.MonkeyPatch) -> Frontier:
    run_uncompiled(monkeypatch)
    return Frontier.of(boards)


def memory_of(frontier: Frontier) -> NDArray[np.uint32]:
    """Working memory with a board of the frontier in every lane."""
    memory = Lanes.empty(len(frontier)).memory
    unpack = nine_planes.build_unpack(as_it_is)
    for lane in range(len(frontier)):
        unpack(frontier.boards[lane], memory, lane)
    return memory


def random_boards(clues: int, boards: int, seed: int) -> list[Board]:
    return [puzzle("3x3", clues, 1000 * seed + k) for k in range(boards)]


def test_lanes_begin_with_a_cache_line() -> None:
    """Wherever NumPy finds room for them."""
    made = [Lanes.empty(lanes).memory for lanes in (1, 16, LANES, 64) for _ in range(10)]
    assert all(memory.ctypes.data % nine_planes.CACHE_LINE == 0 for memory in made)
    assert all(memory.flags.c_contiguous and not memory.any() for memory in made)


def test_packing_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    frontier = packed(random_boards(25, 20, 1), monkeypatch)
    memory = memory_of(frontier)
    again = boards_of(memory[:WORDS].T)
    assert (again[:, : NINE.fixed] == frontier.boards[:, : NINE.fixed]).all()
    rows = rows_of(frontier.boards)
    assert rows.shape == (20, ROW_WORDS)
    assert (boards_of(rows[:, :WORDS]) == again).all()
    assert not (memory & GUARDS).any()
    assert int(np.bitwise_count(memory[0, 0])) <= int(ROWS).bit_count() == 27


def test_solutions_are_written_cell_by_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    boards = [Board(full_grid(puzzle("3x3", 0, 0).geometry, seed)) for seed in range(5)]
    memory = memory_of(packed(boards, monkeypatch))
    write_solution = nine_planes.build_write_solution(as_it_is)
    cells = np.zeros(81, np.uint8)
    for lane, board in enumerate(boards):
        write_solution(memory, lane, cells)
        assert cells.tolist() == board.cells.tolist()


@pytest.mark.parametrize("techniques", TECHNIQUES)
def test_steps_end_where_the_techniques_end(
    techniques: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    boards = random_boards(24, 30, 2) + random_boards(30, 30, 3) + random_boards(50, 5, 5)
    boards += [spoilt(board, seed) for seed, board in enumerate(random_boards(30, 30, 4))]
    frontier = packed(boards, monkeypatch)
    memory = memory_of(frontier)
    step = build_step(parse_techniques(techniques), as_it_is)
    dead, changed, steps = np.zeros(len(boards), bool), np.array(True), 0
    while (changed & ~dead).any():
        none, unsolved, changed = (lanes != 0 for lanes in step(memory))
        dead, steps = dead | none, steps + 1
    assert steps < 60
    left = Frontier(NINE, boards_of(memory[:WORDS].T), frontier.roots).candidates
    verdicts = set()
    for lane, board in enumerate(boards):
        is_dead, is_solved = bool(dead[lane]), not unsolved[lane] and not dead[lane]
        simplified = simplify(board, techniques)
        verdicts.add((is_dead, is_solved))
        # Naked singles alone do not see a unit without a place for a digit, and a step does.
        assert is_dead or not simplified.contradictory
        if is_dead:
            assert simplified.contradictory or naive.count(board, limit=1) == 0
        else:
            assert left[lane].tolist() == simplified.candidates.tolist()
            assert is_solved == simplified.board.is_full
    assert verdicts == {(False, False), (False, True), (True, False)}


def test_which_settings_it_knows() -> None:
    assert can_search(SearchSettings(parse_techniques("singles"), FIRST))
    assert can_search(SearchSettings(parse_techniques("naked-single"), MIN))
    for other in ("none", "pairs", "all"):
        assert not can_search(SearchSettings(parse_techniques(other)))
    assert isinstance(searches.search_for(NINE, SearchSettings()), searches.NineSearch)
    transposed = puzzle("2x2", 4, 0)
    layout = Frontier.of([transposed]).layout
    assert isinstance(searches.search_for(layout, SearchSettings()), searches.GeneralSearch)


@pytest.mark.parametrize("lanes", [1, 3, 32])
@pytest.mark.parametrize(
    ("strategy", "techniques"), [("first", "singles"), ("min", "naked-single")]
)
def test_any_number_of_lanes(
    lanes: int, strategy: str, techniques: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Uncompiled, on boards with several solutions and with none."""
    run_uncompiled(monkeypatch)
    monkeypatch.setattr(cpu_engine, "WIDTH", 2)
    search_for = searches.search_for
    for module in ("gpusudoku.engines.cpu", "tests.boards"):  # both make it
        monkeypatch.setattr(f"{module}.search_for", lambda *what: search_for(*what, lanes))
    for board in [puzzle("3x3", 29, 2), spoilt(puzzle("3x3", 30, 5), 1)]:
        expected = naive.count(board)
        for limit in (None, 3):
            found = count(
                board, device="cpu", jobs=1, strategy=strategy, propagate=techniques, limit=limit
            )
            assert found.count == min(expected, limit or expected)


def test_counts_equal_the_contraction() -> None:
    boards = [b for clues in (22, 24, 26, 28) for b in random_boards(clues, 60, clues)]
    boards += [spoilt(board, seed) for seed, board in enumerate(boards[:60])]
    searched = [result.count for result in count_many(boards, device="cpu", method="search")]
    summed = [result.count for result in count_many(boards, device="cpu", method="contraction")]
    assert searched == summed
    assert min(searched) == 0
    assert max(searched) > 10_000


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_boards_that_are_done_at_once(jobs: int) -> None:
    """More threads and lanes than there is to do."""
    solved = Board(full_grid(puzzle("3x3", 0, 0).geometry, 7))
    for board, expected in [(solved, 1), (spoilt(solved, 1), 0), (parse("11" + "." * 79), 0)]:
        for cutoff in (None, 1, 1e300):
            found = count(board, device="cpu", jobs=jobs, cutoff=cutoff, method="search")
            assert found.count == expected


def test_the_order_on_one_thread_is_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often the search is left and entered again, with boards in all lanes."""
    board = puzzle("3x3", 25, 12)
    listings = []
    for seconds, room in [(1e9, 1 << 20), (0.0, 1 << 20), (1e-4, 40 * 81)]:
        monkeypatch.setattr(cpu_engine, "CALL_SECONDS", seconds)
        monkeypatch.setattr(cpu_engine, "ROOM_BYTES", room)
        blocks = list(Stream(board, Options(device="cpu", jobs=1)))
        listings.append(np.concatenate(blocks))
    assert len(listings[0]) > 20 * LANES
    assert all((listing == listings[0]).all() for listing in listings)
    assert len({row.tobytes() for row in listings[0]}) == len(listings[0])


def test_a_board_shared_among_threads_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads leave the search all the time, and what they share comes from lanes and stack."""
    monkeypatch.setattr(cpu_engine, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(cpu_engine, "WIDTH", 1)
    board = puzzle("3x3", 23, 3)
    expected = count(board, device="cpu", method="contraction").count
    for jobs in (2, 5):
        found = count(board, device="cpu", jobs=jobs, method="search")
        assert found.count == expected > 1000


def test_nothing_at_hand() -> None:
    assert not nonzero(np.zeros(4, np.uint32))
    assert nonzero(np.array([0, 5, 0, 1], np.uint32)) == np.uint64(0b1010)
    assert nonzero(np.zeros(1, np.uint32)) == ZERO


def test_a_stack_that_is_too_low_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    low = 3 * LANES
    made, grow, grown = SearchWorker.__init__, SearchWorker._grow, []

    def init(self: SearchWorker, *arguments: Any) -> None:
        made(self, *arguments)
        boards, roots, *rest = self.stack
        self.stack = Stack(boards[:low].copy(), roots[:low].copy(), *rest)

    def watched(self: SearchWorker) -> None:
        grow(self)
        grown.append(len(self.stack.boards))

    monkeypatch.setattr(SearchWorker, "__init__", init)
    monkeypatch.setattr(SearchWorker, "_grow", watched)
    board = puzzle("3x3", 23, 3)
    expected = count(board, device="cpu", method="contraction").count
    [found] = searched([board], CpuEngine(1), Options(cutoff=1e300)).counts
    assert found == expected > 1000
    assert grown
    assert grown[0] == 2 * low
