"""The step is written once: what LLVM makes of it does the same as NumPy, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.kernels.kernel import register_all
from gpusudoku.kernels.search.choose import narrow
from gpusudoku.kernels.search.machine import traced
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.kernels.search.step import step
from gpusudoku.kernels.search.techniques import conflicts, pairs
from gpusudoku.search.frontier import Frontier
from tests.boards import puzzle, spoilt

NONE, SINGLES, ALL = 0, 3, 31
SHAPES = ["1x1", "2x3", "3x3", "2x5", "4x4", "2x7"]


def boards_of(shape: str, lanes: int) -> NDArray[Any]:
    """A memory with another board in each lane, from nearly full to nearly empty."""
    geometry = Geometry.parse(shape)
    clues = np.linspace(geometry.cells, geometry.cells // 4, lanes).astype(int).tolist()
    boards = [puzzle(geometry, number, seed) for seed, number in enumerate(clues)]
    boards = [spoilt(board, i) if i % 4 == 3 else board for i, board in enumerate(boards)]
    packing = Shape(geometry.box_rows, geometry.box_columns)
    memory = packing.memory(lanes)
    memory[: packing.planes] = Frontier.of(boards).boards[:, : packing.planes].T
    return memory


@pytest.mark.parametrize("techniques", [NONE, SINGLES, ALL])
@pytest.mark.parametrize("name", SHAPES)
def test_vectors_do_what_numpy_does(name: str, techniques: int) -> None:
    shape = Shape(*map(int, name.split("x")))
    with_lasting = techniques != NONE
    made = [
        traced(step, 4 if with_lasting else 3, shape, shape.lanes, techniques, with_lasting),
        traced(conflicts, 1, shape, shape.lanes),
        traced(pairs, 1, shape, shape.lanes, techniques),
        traced(narrow, 1, shape, shape.lanes),
    ]
    advance, find_conflicts, find_pairs, keep_best = made
    register_all()

    @njit
    def compiled(memory: Any) -> Any:
        found = advance(memory)
        wrong = find_conflicts(memory)
        return found, wrong, find_pairs(memory), keep_best(memory)

    memory = boards_of(name, shape.lanes)
    other = memory.copy()
    outcomes = set()
    for _ in range(12):
        done = compiled(memory)
        with np.errstate(over="ignore"):
            expected = (advance(other), *(function(other) for function in made[1:]))
        assert done == expected
        assert (memory == other).all()
        outcomes.add(done)
    assert len(outcomes) > 1 or name == "1x1" or not techniques
