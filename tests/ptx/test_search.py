"""The search kernels as NVIDIA's compiler makes them, run by the executor under the engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda import search as search_module
from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.search import DeviceSearch
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.shape import SearchSettings
from gpusudoku.options import Options
from gpusudoku.search.frontier import Frontier
from tests import naive
from tests.boards import puzzle, search_boards, stream_solutions, with_wrong_clue
from tests.engines.cuda.simulator import limit_memory, short_launches
from tests.ptx.card import Card
from tests.ptx.compiled import DIALECTS, WAITING

pytestmark = WAITING
Insert = Callable[..., Card]
BOARD = collection.load("1b")
COUNT = collection.entry("1b").count
SMALL = puzzle("3x3", 27, 1)
OF_SMALL = 337
ALONE = 1e300
"""A cutoff that leaves all of a 9x9 board to one thread."""
EACH_DIALECT = pytest.mark.parametrize("capability", DIALECTS, ids=str)


def counted(board: Board, **options: object) -> int:
    return count(board, device="cuda", method="search", **options).count  # type: ignore[arg-type]


@EACH_DIALECT
def test_counts(capability: tuple[int, int], insert: Insert) -> None:
    for seed in (4, 0):  # memory and registers that were never written hold other garbage
        card = insert(*capability, seed=seed)
        assert counted(BOARD) == COUNT
    assert (
        counted(with_wrong_clue(BOARD, 3), cutoff=ALONE)
        == count(with_wrong_clue(BOARD, 3), device="cpu").count
    )
    assert card.launches


@EACH_DIALECT
def test_rounds_one_by_one(
    capability: tuple[int, int], insert: Insert, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads stop and go on a hundred times, in either order."""
    card = insert(*capability, seed=capability[0] % 2)
    short_launches(monkeypatch)
    assert counted(SMALL, cutoff=ALONE) == OF_SMALL
    assert len(card.launches) > 100


def in_tree(board: Board, levels: int) -> set[bytes]:
    """All boards that the CPU's expansion makes, level by level, simplified."""
    settings = SearchSettings()
    level = Frontier.of([board])
    tree_boards = set[bytes]()
    for _ in range(levels):
        tree_boards |= {row.tobytes() for row in level.simplified(settings).boards}
        _, level = level.split(settings)
    return tree_boards


@EACH_DIALECT
def test_expansion_on_the_card(
    capability: tuple[int, int], insert: Insert, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card's frontier is of the CPU's tree, and none of it is missing or there twice."""
    insert(*capability, blocks=4, threads=32)
    board = collection.load("2c")
    settings = SearchSettings()
    job = Job(1, dtype=np.uint64)
    search = DeviceSearch(Gpu(0), Frontier.of([board]), settings, job)
    sizes = [search.boards]
    while search.boards < search.threads:
        assert search.launch()
        sizes.append(search.boards)
    assert len(sizes) < 25, sizes
    transfer = search.transfer()
    assert len(transfer.remaining) >= 128
    mine = {row.tobytes() for row in transfer.remaining.simplified(settings).boards}
    assert mine <= in_tree(board, 25)
    CpuEngine(1).explore(transfer.remaining, settings, job)
    assert int(transfer.counts[0]) + job.total == collection.entry("2c").count


@EACH_DIALECT
def test_short_stacks(
    capability: tuple[int, int], insert: Insert, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hardly any memory: threads stop at a full stack of two rows."""
    insert(*capability)
    limit_memory(0 if capability == (9, 0) else 16, Geometry(3, 3), monkeypatch)
    board = puzzle("3x3", 28, 7)
    assert counted(board, cutoff=ALONE) == count(board, device="cpu").count


@EACH_DIALECT
def test_no_room_for_solutions(
    capability: tuple[int, int], insert: Insert, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that find no room wait; every solution is written once."""
    insert(*capability)
    monkeypatch.setattr(search_module, "ROOM_BYTES", 3 * 81)
    board = puzzle("3x3", 25, 1)
    cuda_solutions, cpu_solutions = (
        sorted(stream_solutions(board, device=device)) for device in ("cuda", "cpu")
    )
    assert cuda_solutions == cpu_solutions
    assert len(cpu_solutions) > 100


def test_limits(insert: Insert) -> None:
    insert(10, 0)
    for limit in (1, COUNT - 1, COUNT, COUNT + 1):
        assert counted(BOARD, limit=limit) == min(limit, COUNT)


def test_many_owners(insert: Insert) -> None:
    insert(10, 0)
    boards = [puzzle("3x3", 27 + seed % 9, seed) for seed in range(20)]
    boards[3], boards[12] = with_wrong_clue(boards[3], 1), with_wrong_clue(boards[12], 2)
    expected = [count(board, device="cpu").count for board in boards]
    for cutoff in (None, ALONE):
        assert search_boards(boards, CudaEngine(), Options(cutoff=cutoff)).counts == expected
    assert 0 in expected


@pytest.mark.usefixtures("uncompiled")
@EACH_DIALECT
def test_boards_of_2x3(
    capability: tuple[int, int], insert: Insert, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert(*capability)
    short_launches(monkeypatch)
    for seed in range(4):
        board = puzzle("2x3", 8, seed)
        assert counted(board, cutoff=1e30) == naive.count(board)


@pytest.mark.usefixtures("uncompiled")
def test_boards_of_4x4(insert: Insert, monkeypatch: pytest.MonkeyPatch) -> None:
    insert(9, 0)
    short_launches(monkeypatch)
    board_with_many = collection.load("16x16-many")
    board_with_few = puzzle("4x4", 158, 1)
    assert counted(board_with_many, cutoff=ALONE, limit=200) == 200
    assert counted(board_with_few, cutoff=ALONE) == naive.count(board_with_few)


@pytest.mark.slow
@EACH_DIALECT
def test_boards_of_the_collection(capability: tuple[int, int], insert: Insert) -> None:
    insert(*capability, blocks=4, threads=64)
    for entry in collection.entries():
        if str(entry.box) == "3x3" and entry.count < 10**6:
            assert counted(collection.load(entry.name)) == entry.count, entry.name


def test_blocks_side_by_side(insert: Insert) -> None:
    """Threads of the CPU share the boards by atomic additions, as blocks of a card do."""
    card = insert(9, 0, workers=4, blocks=8, threads=32)
    assert counted(collection.load("1c")) == collection.entry("1c").count
    assert max(card.launches).blocks == 8
