from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gpusudoku.board.board import Board
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import InputError, MismatchError
from gpusudoku.formats import parse
from gpusudoku.options import Options
from gpusudoku.planning.plan import Plan
from gpusudoku.planning.portion import Found
from gpusudoku.runs.identity import Identity, board_of_identity, identity_of_board
from gpusudoku.runs.verify import Verifier
from tests import naive
from tests.boards import puzzle
from tests.planning.plans import GENERAL, NINE, contraction, in_parts, search

WIDE = puzzle("2x4", 24, 1)
PLANS: dict[str, tuple[Callable[[], Plan], Board, str]] = {
    "search": (lambda: search(NINE), NINE, "strategy first"),
    "parts": (lambda: in_parts(GENERAL), GENERAL, "method search"),
    "9x9 contraction": (lambda: contraction(NINE), NINE, "wider numbers"),
    "contraction": (
        lambda: contraction(puzzle("2x4", 24, 1)),
        puzzle("2x4", 24, 1),
        "wider numbers",
    ),
}
pytestmark = pytest.mark.usefixtures("small_parts")
every = pytest.mark.parametrize(("make", "board", "way"), PLANS.values(), ids=list(PLANS))


def verifier(plan: Plan, board: Board, share: float, folder: Path, **more: object) -> Verifier:
    identity = Identity("count", identity_of_board(board), {"tasks": plan.tasks()})
    options, beside = Options(device="cpu"), str(folder / "run.sqlite")
    return Verifier(identity, plan, options, CpuEngine(2), share, beside=beside, **more)  # type: ignore[arg-type]


@every
def test_all_tasks_of_a_right_count_pass(
    make: Callable[[], Plan], board: Board, way: str, tmp_path: Path
) -> None:
    plan = make()
    verify, step = verifier(plan, board, 1.0, tmp_path), plan.step(CpuEngine(2), plan.part(1, 1))
    verify.take(step.found, ())
    assert verify.ways == {way: plan.tasks()}
    assert verify.told().endswith(f"tasks counted again by {way}: the same count")
    assert not list(tmp_path.iterdir())


@every
def test_one_wrong_task_stops_the_run(
    make: Callable[[], Plan], board: Board, way: str, tmp_path: Path
) -> None:
    plan = make()
    step = plan.step(CpuEngine(2), plan.part(1, 1))
    tasks, solutions = step.found[-1]
    step = replace(step, found=(*step.found[:-1], Found(tasks, solutions + 1)))
    for turn in range(2):  # no file is overwritten
        with pytest.raises(MismatchError, match=rf"^task {tasks.start}\b.*{way}; its board is in "):
            verifier(plan, board, 1.0, tmp_path).take(step.found, ())
        assert len(list(tmp_path.iterdir())) == turn + 1
    record = json.loads((tmp_path / f"run.sqlite.mismatch-{tasks.start}.json").read_text())
    assert record["solutions"] == str(solutions + 1)
    assert board_of_identity(record["run"]["boards"]) == board
    if plan.board_of(tasks.start) is not None:
        assert naive.count(board_of_identity(record["board"])) == solutions


@every
def test_one_task_is_checked_however_small_the_share_is(
    make: Callable[[], Plan], board: Board, way: str, tmp_path: Path
) -> None:
    """It is one of the last, of which nothing is kept yet, and a wrong one stops the run."""
    plan = make()
    [first, *others] = plan.step(CpuEngine(2), plan.part(1, 1)).found
    verify = verifier(plan, board, 1e-9, tmp_path)
    verify.take(others, {first.tasks.start})
    assert not verify.ways
    verify.take([first], ())
    assert verify.ways == {way: len(first.tasks)}
    verify.take([], ())
    assert verify.ways == {way: len(first.tasks)}
    wrong = verifier(plan, board, 1e-9, tmp_path)
    with pytest.raises(MismatchError):
        wrong.take([Found(first.tasks, first.solutions + 1)], ())


def test_nothing_to_check(tmp_path: Path) -> None:
    plan = search(parse("11.............."))
    verify = verifier(plan, GENERAL, 1e-9, tmp_path)
    verify.take((), ())
    assert verify.told() == "there are no tasks, so none was counted again"


def test_boards_of_tasks_have_their_solutions() -> None:
    for plan in (search(GENERAL), in_parts(GENERAL)):
        for tasks, solutions in plan.step(CpuEngine(1), plan.part(1, 1)).found:
            board = plan.board_of(tasks.start)
            assert board is not None
            assert naive.count(board) == solutions


def test_a_task_that_takes_several_steps_is_checked_whole(tmp_path: Path) -> None:
    plan = search(GENERAL)
    [first, *others] = plan.step(CpuEngine(1), plan.part(1, 1)).found
    half = Found(first.tasks, first.solutions // 2)
    rest = Found(first.tasks, first.solutions - half.solutions)
    verify = verifier(plan, GENERAL, 1.0, tmp_path)
    verify.take([half, *others], {first.tasks.start})
    assert sum(verify.ways.values()) == len(others)
    verify.take([rest], ())
    again = verifier(plan, GENERAL, 1.0, tmp_path, found=[half])  # as after a resume
    again.take([rest], ())
    assert sum(again.ways.values()) == 1


def test_a_share_of_the_tasks(tmp_path: Path) -> None:
    plan = search(NINE)
    chosen = {
        share: {
            task
            for task in range(1000)
            if verifier(plan, NINE, share, tmp_path).chooses(range(task, task + 1))
        }
        for share in (1e-9, 0.1, 0.5, 1.0)
    }
    assert chosen[1e-9] == set()
    assert 50 < len(chosen[0.1]) < 150
    assert chosen[0.1] < chosen[0.5] < chosen[1.0] == set(range(1000))
    for share in (0.0, -1.0, 1.1, float("nan")):
        with pytest.raises(InputError, match="expected more than 0, at most 1"):
            verifier(plan, NINE, share, tmp_path)


def test_a_file_that_cannot_be_written_does_not_hide_the_mismatch(tmp_path: Path) -> None:
    plan = search(GENERAL)
    step = plan.step(CpuEngine(1), plan.part(1, 1))
    wrong = replace(step, found=(Found(step.found[0].tasks, 10**30),))
    with pytest.raises(MismatchError, match=r"10{30}.*cannot be written: No such file"):
        verifier(plan, GENERAL, 1.0, tmp_path / "none").take(wrong.found, ())
