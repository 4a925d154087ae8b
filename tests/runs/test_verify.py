"""Tasks that are counted again in another way: right ones pass, and a wrong one stops the run."""

from __future__ import annotations

import json

import pytest

from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import InputError, MismatchError
from gpusudoku.options import Options
from gpusudoku.planning.portion import Found
from gpusudoku.runs.identity import Identity, board_of_identity, identity_of_board
from gpusudoku.runs.verify import Verifier
from tests import naive
from tests.boards import puzzle
from tests.planning.plans import GENERAL, NINE, contraction, in_parts, search

WIDE = puzzle("2x4", 24, 1)
PLANS = {
    "search": (search, NINE, "strategy first"),
    "parts": (in_parts, GENERAL, "method search"),
    "9x9 contraction": (contraction, NINE, "wider numbers"),
    "contraction": (contraction, WIDE, "wider numbers"),
}
pytestmark = pytest.mark.usefixtures("small_parts")
every = pytest.mark.parametrize(("make", "board", "way"), PLANS.values(), ids=list(PLANS))


@pytest.fixture
def verifier(tmp_path):
    def make(plan, board, share, **more):
        identity = Identity("count", identity_of_board(board), {"tasks": plan.tasks()})
        options, beside = Options(device="cpu"), str(tmp_path / "run.sqlite")
        return Verifier(identity, plan, options, CpuEngine(2), share, beside=beside, **more)

    return make


def found_of(plan):
    return list(plan.step(CpuEngine(2), plan.part(1, 1)).found)


@every
def test_right_tasks_pass_and_a_wrong_one_stops_the_run(make, board, way, verifier, tmp_path):
    plan = make(board)
    found, verify = found_of(plan), verifier(plan, board, 1.0)
    verify.take(found, ())
    assert verify.ways == {way: plan.tasks()}
    assert verify.told().endswith(f"tasks counted again by {way}: the same count")
    assert not list(tmp_path.iterdir())
    *others, (tasks, solutions) = found
    for turn in range(2):  # no file is overwritten
        with pytest.raises(MismatchError, match=rf"^task {tasks.start}\b.*{way}; its board is in "):
            verifier(plan, board, 1.0).take([*others, Found(tasks, solutions + 1)], ())
        assert len(list(tmp_path.iterdir())) == turn + 1
    record = json.loads((tmp_path / f"run.sqlite.mismatch-{tasks.start}.json").read_text())
    assert record["solutions"] == str(solutions + 1)
    assert board_of_identity(record["run"]["boards"]) == board
    if plan.board_of(tasks.start) is not None:
        assert naive.count(board_of_identity(record["board"])) == solutions


@every
def test_one_task_is_checked_however_small_the_share_is(make, board, way, verifier):
    """It is one of the last, of which nothing is kept yet, and a wrong one stops the run."""
    plan = make(board)
    [first, *others] = found_of(plan)
    verify = verifier(plan, board, 1e-9)
    verify.take(others, {first.tasks.start})
    assert not verify.ways
    for found in ([first], []):
        verify.take(found, ())
        assert verify.ways == {way: len(first.tasks)}
    with pytest.raises(MismatchError):
        verifier(plan, board, 1e-9).take([Found(first.tasks, first.solutions + 1)], ())


def test_a_task_that_takes_several_steps_is_checked_whole(verifier):
    plan = search(GENERAL)
    [first, *others] = found_of(plan)
    half = Found(first.tasks, first.solutions // 2)
    rest = Found(first.tasks, first.solutions - half.solutions)
    verify = verifier(plan, GENERAL, 1.0)
    verify.take([half, *others], {first.tasks.start})
    assert sum(verify.ways.values()) == len(others)
    verify.take([rest], ())
    again = verifier(plan, GENERAL, 1.0, found=[half])  # as after a resume
    again.take([rest], ())
    assert sum(again.ways.values()) == 1


def test_a_share_of_the_tasks(verifier):
    plan, tasks = search(GENERAL), range(400)
    chosen = {}
    for share in (1e-9, 0.1, 0.5, 1.0):
        verify = verifier(plan, GENERAL, share)
        chosen[share] = {task for task in tasks if verify.chooses(range(task, task + 1))}
    assert chosen[1e-9] == set()
    assert 20 < len(chosen[0.1]) < 60
    assert chosen[0.1] < chosen[0.5] < chosen[1.0] == {*tasks}
    for share in (0.0, -1.0, 1.1, float("nan")):
        with pytest.raises(InputError, match="expected more than 0, at most 1"):
            verifier(plan, GENERAL, share)
