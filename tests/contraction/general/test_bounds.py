"""What is too expensive is refused quickly, with little memory, and with the figures."""

import tracemalloc

import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.boxes import allowed_lines, list_maps, pruned
from gpusudoku.contraction.general.join import Join
from gpusudoku.errors import TooExpensive
from tests.contraction.general.boards import after_singles, clues_only


@pytest.mark.parametrize("shape", ["4x4", "5x5", "8x8", "1x64", "64x1", "3x4", "2x6", "1x9"])
def test_too_expensive(shape):
    """Said quickly, and with little memory."""
    geometry = Geometry.parse(shape)
    candidates = clues_only(Board.empty(geometry))
    Join(clues_only(Board.empty(Geometry(1, 1))), Geometry(1, 1))  # compiles
    tracemalloc.start()
    try:
        with pytest.raises(
            TooExpensive, match=r"^too expensive to contract: (stack|band) 1 has [\d,]+ "
        ):
            Join(candidates, geometry)
        assert tracemalloc.get_traced_memory()[1] < 1 << 29
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"most_maps": 1000}, r"(stack|band) \d has [\d,]+ maps, more than 1,000"),
        ({"memory": 300_000}, r"(stack|band) \d has [\d,]+ maps, and not the memory to list them"),
        ({"memory": 100}, r"(stack|band) \d needs a graph of more than 100 bytes"),
    ],
)
def test_bounds(bounds, message):
    board = collection.load("1f")
    with pytest.raises(TooExpensive, match=f"^too expensive to contract: {message}"):
        Join(after_singles(board), board.geometry, **bounds)


def test_memory_for_the_sum():
    candidates = clues_only(Board.empty(Geometry(2, 4)))
    with pytest.raises(
        TooExpensive, match=r"^too expensive to contract: [\d,]+ bytes of memory, more than"
    ):
        Join(candidates, Geometry(2, 4), memory=150_000_000)
    sides = allowed_lines(candidates, Geometry(2, 4))
    maps = list_maps(*sides, 1 << 22, 1 << 31)
    with pytest.raises(
        TooExpensive, match=r"^too expensive to contract: [\d,]+ pairs of partitions meet"
    ):
        pruned(*maps, 1000)
