"""The loop of a long count on one machine: steps, saves, progress and interrupts."""

from __future__ import annotations

import pytest

from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import Cancelled, InputError, Interrupted
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.job import Progress
from gpusudoku.options import Options
from gpusudoku.planning.portion import Portion, Step
from gpusudoku.runs import local
from gpusudoku.runs.counting import Checkpoint, How, count_in_tasks
from gpusudoku.runs.kept import read_run
from gpusudoku.runs.ledger import Ledger
from gpusudoku.runs.local import Pace, work
from tests.planning.plans import GENERAL, NINE, total
from tests.runs.fakes import IDENTITY, SETUP, FakePlan


def worked(path, plan, **settings):
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, SETUP, plan.part())
        work(plan, None, ledger, **settings)
    return ledger.count


def test_until_nothing_is_left(path):
    plan = FakePlan()
    assert worked(path, plan) == plan.count
    assert worked(path, FakePlan(error_at=0)) == plan.count  # it is not worked at any more


@pytest.mark.parametrize("at", [1, 4])
def test_an_interrupted_step_is_saved_first(path, at):
    plan = FakePlan(interrupt_at=at)
    with pytest.raises(Interrupted) as error:
        worked(path, plan)
    state = read_run(path)[0].state
    assert len(state.history) == at + 1  # the first is that of the beginning
    assert str(error.value) == "interrupted"
    assert state.count > 0
    assert worked(path, FakePlan()) == plan.count


def test_an_error_leaves_what_was_saved(path):
    plan = FakePlan(error_at=3)
    with pytest.raises(RuntimeError, match="broken"):
        worked(path, plan)
    assert worked(path, FakePlan()) == plan.count


def test_progress_is_that_of_the_whole_run(path):
    told: list[Progress] = []
    plan = FakePlan(tells=[0.5, 1.0])
    worked(path, plan, progress=told.append)
    assert [each.done for each in told[:2]] == [0.5, 1.0]
    later = told[2:]
    assert [each.done for each in later] == sorted(each.done for each in later)
    assert [each.seconds for each in told] == sorted(each.seconds for each in told)
    assert later[-1].done < 1
    counts = [each.count for each in told]
    assert counts == sorted(counts)


def step(seconds, idle, workers=2):
    return Step((), Portion.of([]), seconds=seconds, idle_seconds=idle, workers=workers)


def test_steps_are_longer_where_stopping_costs_more():
    pace = Pace()
    assert pace.seconds == 2
    pace.took(step(2, 0.06), 0.001)
    assert pace.seconds == 4  # 31 ms of 2 s
    for _ in range(5):
        pace.took(step(pace.seconds, 2), 0.1)
    assert pace.seconds == 20
    pace.took(step(20, 0.1), 0.1)
    assert pace.seconds == 20  # neither dear nor cheap
    for _ in range(5):
        pace.took(step(pace.seconds, 0), 0)
    assert pace.seconds == 2


@pytest.mark.usefixtures("quick_steps")
@pytest.mark.parametrize("method", ["search", "contraction"])
@pytest.mark.parametrize("board", [NINE, GENERAL], ids=["3x3", "2x3"])
def test_a_count_is_that_without_a_file(path, method, board):
    options = Options(device="cpu", method=method)
    planned = []
    how = How(checkpoint=Checkpoint(path))
    first = count_in_tasks(board, options, CpuEngine(2), how, planned=planned.append).count
    assert first.count == total(board)
    assert first.method == method
    assert first.stats.seconds >= 0
    again = count_in_tasks(board, options, CpuEngine(1), how, planned=planned.append).count
    assert again.count == first.count
    assert len(planned) == 1  # the second had nothing to do


@pytest.fixture
def quick_steps(monkeypatch):
    monkeypatch.setattr(local, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(local, "MOST_SECONDS", 0.0)


@pytest.mark.usefixtures("quick_steps")
def test_a_cancelled_count_goes_on(path):
    """With another engine each time; whatever is done before it is cancelled is kept."""
    options = Options(device="cpu", method="search")
    for threads in (2, 1, 2):
        token = CancelToken()
        told = r"cancelled.*; 'gpusudoku resume .*' goes on"
        with token, pytest.raises(Cancelled, match=told):
            count_in_tasks(
                NINE,
                options,
                CpuEngine(threads),
                How(checkpoint=Checkpoint(path)),
                planned=lambda plan, token=token: token.cancel(),
            )
    how = How(checkpoint=Checkpoint(path))
    assert count_in_tasks(NINE, options, CpuEngine(1), how).count.count == total(NINE)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "contraction"}, "method search, not contraction"),
        ({"method": "search", "cutoff": 1000.0}, "cutoff none, not 1000.0"),
        ({"method": "search", "strategy": "first"}, "strategy min, not first"),
        (
            {"method": "search", "propagate": "none"},
            "propagate naked-single,hidden-single, not none",
        ),
    ],
)
def test_other_options_are_refused(path, options, words):
    search = Options(device="cpu", method="search")
    count_in_tasks(NINE, search, CpuEngine(1), How(checkpoint=Checkpoint(path)))
    before = path.read_bytes()
    with pytest.raises(InputError, match=f"holds another run: {words}"):
        count_in_tasks(
            NINE, Options(device="cpu", **options), CpuEngine(1), How(checkpoint=Checkpoint(path))
        )
    with pytest.raises(InputError, match="holds another run: box 3x3, not 2x3"):
        count_in_tasks(GENERAL, search, CpuEngine(1), How(checkpoint=Checkpoint(path)))
    assert path.read_bytes() == before


def test_a_limit_is_refused(path):
    with pytest.raises(InputError, match="limit 3: a count in tasks is of all solutions"):
        count_in_tasks(NINE, Options(limit=3), CpuEngine(1), How(checkpoint=Checkpoint(path)))
    assert not path.exists()
