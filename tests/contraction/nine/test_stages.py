"""The stages of the 9x9 contraction: each writes the groups of the workspace that it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.sum import Nine, stages
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.kernels.contraction.nine.arrays import A, B, C, Workspace, make_workspace
from gpusudoku.kernels.contraction.nine.dot import narrow_enough
from gpusudoku.kernels.contraction.nine.slabs import make_slabs
from tests.boards import puzzle
from tests.contraction.nine.counted import NINE, candidates_of


def sums_of(workspace: Workspace) -> dict[str, int]:
    """A check sum of every group."""
    return {name: crc32(group.data) for name, group in workspace._asdict().items()}


def test_a_stage_writes_no_other_group() -> None:
    workspace, call = make_workspace(), stages()
    scratch, lists, numbering, roles, orthogonal, intermediate, tensors, *arranged = workspace
    operands, symmetries, orbits = arranged
    for group in intermediate, tensors, operands, symmetries, orbits:
        np.frombuffer(group.data, np.uint8).fill(254)  # -2 is what no stage writes
    tensors.largest[:] = 1  # not written by a stage, either
    before = sums_of(workspace)

    def written(stage: Callable[..., Any], *arguments: Any) -> set[str]:
        nonlocal before
        stage(*arguments)
        earlier, before = before, sums_of(workspace)
        return {name for name in before if before[name] != earlier[name]}

    candidates = candidates_of(puzzle(NINE, 15, 2))
    assert written(call.allow_permutations, candidates, tables(), lists) == {"lists"}
    surveyed = {"scratch", "lists", "numbering"}
    assert written(call.survey, tables(), scratch, lists, numbering) == surveyed
    assert written(call.choose_roles, lists, numbering, roles) == {"roles"}
    depth = int(roles.depth[0])
    row = int(roles.shape[A, 0] * roles.shape[B, 0])
    listed = written(call.list_orthogonal, 0, tables(), numbering, roles, orthogonal)
    assert listed == {"orthogonal"}
    known = lists, numbering, roles, orthogonal
    assert written(call.contract_ab, 0, 0, depth, *known, intermediate) == {"intermediate"}
    known = roles, orthogonal, intermediate
    assert written(call.contract_c, 0, 0, row, *known, tensors) == {"tensors"}
    arguments = True, tables(), lists, numbering, roles, *arranged
    assert written(call.arrange, *arguments) == {"operands", "symmetries", "orbits"}
    assert written(narrow_enough, lists, roles, tensors) == set()
    slabs = make_slabs(wide=False)
    summed = 0, 1, roles, operands, tensors, orbits, np.zeros(1, np.int64), slabs
    assert written(call.sum_narrow, *summed) == set()


def test_equal_tensors_are_made_once() -> None:
    assert Nine(candidates_of(Board.empty(NINE))).workspace.roles.tensor.tolist() == [0, 0, 0]
    assert Nine(candidates_of(puzzle(NINE, 15, 2))).workspace.roles.tensor.tolist() == [0, 1, 2]


@pytest.mark.parametrize("clues", [0, 7, 16, 24])
def test_operands_are_sorted_and_complete(clues: int) -> None:
    board = puzzle(NINE, clues, clues) if clues else Board.empty(NINE)
    nine = Nine(candidates_of(board))
    nine.prepare(1)
    lists, roles, operands = nine.workspace.lists, nine.workspace.roles, nine.workspace.operands
    for summed, line in enumerate(roles.summed):
        size, start = lists.size[line], operands.start[summed]
        entries = operands.entries[summed, :size]
        assert start[0] == 0
        assert start[-1] == size
        assert (np.sort(entries[:, 3]) == np.sort(lists.multiplicity[line, :size])).all()
        assert (np.diff(start) >= 0).all()
        sorting = entries[:, 1 if summed == C else 0]
        assert (sorting == np.repeat(np.arange(280), np.diff(start))).all()
        assert len(np.unique(entries[:, :3], axis=0)) == size


def test_a_stage_is_compiled_once() -> None:
    stage = stages().list_orthogonal
    stage.load()
    compiled = stage._compiled
    stage.load()
    assert stage._compiled is compiled


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("clues", [0, 7, 16, 24])
def test_what_a_few_boards_take_as_plain_python_comes_out_as_compiled(clues: int) -> None:
    candidates = candidates_of(puzzle(NINE, clues, clues) if clues else Board.empty(NINE))
    found = []
    for plain in True, False:
        work, call = make_workspace(), stages()
        allow, choose = call.allow_permutations, call.choose_roles
        assert not {allow, choose} & {*call.of_one_board()}
        (allow.python if plain else allow)(candidates, tables(), work.lists)
        assert call.survey(tables(), work.scratch, work.lists, work.numbering)
        price = (choose.python if plain else choose)(work.lists, work.numbering, work.roles)
        roles = work.roles
        arrays = work.lists.masks, roles.summed, roles.crossing, roles.shape, roles.tensor
        found.append([float(price), *(array.tolist() for array in arrays)])
    assert found[0] == found[1]
