"""The step is written once: compiled by LLVM it does the same as on NumPy, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from gpusudoku.board.geometry import Geometry
from gpusudoku.kernels.kernel import register_all
from gpusudoku.kernels.search.choose import narrow
from gpusudoku.kernels.search.shape import Shape
from gpusudoku.kernels.search.step import step
from gpusudoku.kernels.search.techniques import apply_pairs, find_conflicts
from gpusudoku.kernels.search.tracing import traced
from gpusudoku.search.frontier import Frontier
from tests.boards import puzzle, with_wrong_clue

NONE, SINGLES, ALL = 0, 3, 31
SHAPES = ["1x1", "2x3", "3x3", "2x5", "4x4", "2x7"]


def boards_of(shape: str, lanes: int) -> NDArray[Any]:
    """Return a memory with a different board in each lane, from nearly full to nearly empty."""
    geometry = Geometry.parse(shape)
    clues = np.linspace(geometry.cells, geometry.cells // 4, lanes).astype(int).tolist()
    boards = [puzzle(geometry, number, seed) for seed, number in enumerate(clues)]
    boards = [with_wrong_clue(board, i) if i % 4 == 3 else board for i, board in enumerate(boards)]
    packing = Shape(geometry.box_rows, geometry.box_columns)
    memory = packing.memory(lanes)
    memory[: packing.planes] = Frontier.of(boards).boards[:, : packing.planes].T
    return memory


@pytest.mark.parametrize("techniques", [NONE, SINGLES, ALL])
@pytest.mark.parametrize("name", SHAPES)
def test_vectors_do_the_same_as_numpy(name: str, techniques: int) -> None:
    shape = Shape(*map(int, name.split("x")))
    with_lasting = techniques != NONE
    functions = [
        traced(step, 4 if with_lasting else 3, shape, shape.lanes, techniques, with_lasting),
        traced(find_conflicts, 1, shape, shape.lanes),
        traced(apply_pairs, 1, shape, shape.lanes, techniques),
        traced(narrow, 1, shape, shape.lanes),
    ]
    advance, conflicting_lanes, remove_pairs, keep_best = functions
    register_all()

    @njit
    def compiled(memory: Any) -> Any:
        advanced = advance(memory)
        conflicting = conflicting_lanes(memory)
        return advanced, conflicting, remove_pairs(memory), keep_best(memory)

    memory = boards_of(name, shape.lanes)
    numpy_memory = memory.copy()
    outcomes = set()
    for _ in range(12):
        outcome = compiled(memory)
        with np.errstate(over="ignore"):
            expected = tuple(function(numpy_memory) for function in functions)
        assert outcome == expected
        assert (memory == numpy_memory).all()
        outcomes.add(outcome)
    assert len(outcomes) > 1 or name == "1x1" or not techniques
