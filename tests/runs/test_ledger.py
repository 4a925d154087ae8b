"""The file of a long run: whatever happens, what was found and what is left stay together."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from gpusudoku.planning.portion import Found, Portion, Step
from gpusudoku.runs.identity import Identity
from gpusudoku.runs.kept import Position, read_run
from gpusudoku.runs.ledger import Ledger
from tests.runs.fakes import IDENTITY, SETUP, FakePlan, worked


def begun(path, plan):
    ledger = Ledger(path)
    ledger.begin(IDENTITY, SETUP, plan.part())
    return ledger


def same(one, other):
    return (
        one.tasks == other.tasks
        and np.array_equal(one.boards, other.boards)
        and one.boards.dtype == other.boards.dtype
        and np.array_equal(one.task_of, other.task_of)
        and one.task_of.dtype == other.task_of.dtype
    )


def test_a_new_file_holds_all_that_is_to_be_done(path):
    plan = FakePlan()
    with Ledger(path) as ledger:
        assert ledger.identity is None
        ledger.begin(IDENTITY, {**SETUP, "form": None}, plan.part())
        assert (ledger.count, ledger.seconds, ledger.done, ledger.finished) == (0, 0.0, 0.0, False)
    with Ledger(path) as ledger:
        assert ledger.identity == IDENTITY
        assert read_run(path)[0].setup == {"kind": "count", "form": None}
        [portion] = ledger.deal().values()
        assert same(portion, plan.part())


def test_counts_of_any_size_add_up_over_steps_and_processes(path):
    plan = FakePlan(scale=10**4400, calls=40)
    for _ in range(1000):
        with begun(path, plan) as ledger:
            worked(ledger, plan, 7)
            if ledger.finished:
                break
    assert ledger.count == plan.count
    kept, working = read_run(path)
    assert not working
    assert kept.state.count == plan.count == sum(kept.found.values())
    assert kept.finished_tasks == kept.state.tasks == 40
    assert kept.state.done == 1.0
    assert len(kept.found) == 40


def test_what_goes_in_comes_out(path):
    plan = FakePlan(calls=60)
    with begun(path, plan) as ledger:
        [(number, portion)] = ledger.deal().items()
        step = plan.step(None, portion, seconds=1.0)
        ledger.save(number, step, 0.25)
    with Ledger(path) as ledger:
        assert ledger.done == 0.25
        assert ledger.seconds == 1.0
        [left] = ledger.deal().values()
        assert same(left, step.left)
        assert len(left.boards) > 1


def test_portions_are_done_in_any_order(path):
    plan = FakePlan(calls=25)
    with begun(path, plan) as ledger:
        hands = ledger.deal(5)
        assert len(hands) == 5
        turns = list(hands)
        while turns:
            number = turns.pop(plan._random.randrange(len(turns)))
            step = plan.step(None, hands[number], seconds=1.0)
            ledger.save(number, step)
            if step.left:
                hands[number] = step.left
                turns.append(number)
                if len(turns) == 2:  # some are idle: the others' work is dealt anew
                    hands = ledger.deal(5, turns)
                    turns = list(hands)
        assert ledger.finished
        assert ledger.count == plan.count


def test_a_task_is_never_found_twice(path):
    plan = FakePlan()
    with begun(path, plan) as ledger:
        [first, second] = ledger.deal(2)
        ledger.save(first, Step((Found(range(0, 1), 5),), Portion.of([range(2, 3)])))
        with pytest.raises(ValueError, match="finished, or not of this portion"):
            ledger.save(first, Step((Found(range(0, 1), 5),), Portion.of([])))
        with pytest.raises(ValueError, match="not of this portion"):
            ledger.save(second, Step((Found(range(2, 3), 5),), Portion.of([])))
        with pytest.raises(ValueError, match="as if nobody"):
            ledger.save(first, Step((Found(range(2, 3), 5),), Portion.of([range(2, 3)])))
        with pytest.raises(ValueError, match="not in this portion"):
            ledger.save(first, Step((), Portion.of([range(2, 4)])))
        boards = Portion((), np.ones((1, 2), np.uint64), np.array([2]))
        ledger.save(first, Step((Found(range(2, 3), 7),), boards))
        with pytest.raises(ValueError, match="left whole"):
            ledger.save(first, Step((), Portion.of([range(2, 3)])))
        ledger.save(first, Step((Found(range(2, 3), 8),), Portion.of([])))
        with pytest.raises(KeyError):
            ledger.save(first, Step((), Portion.of([])))
        assert ledger.count == 20
    kept, _ = read_run(path)
    assert kept.found == {range(0, 1): 5, range(2, 3): 15}
    assert kept.finished_tasks == 20


def test_one_without_anything_to_do_is_finished(path):
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, SETUP, Portion.of([]))
        assert ledger.finished
        assert ledger.deal() == {}
    assert read_run(path)[0].state.finished


def test_one_that_is_finished_stays_as_it_is(path):
    """Who finished it, and when, is not who only asks for the count again."""
    plan = FakePlan()
    with begun(path, plan) as ledger:
        while not ledger.finished:
            worked(ledger, plan, 7)
    before = path.read_bytes()
    with begun(path, plan) as ledger:
        assert ledger.deal() == {}
        assert ledger.count == plan.count
    assert path.read_bytes() == before


def test_ordered_output_has_a_position(path):
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, SETUP)
        assert ledger.position == Position()
        position = Position(3, 10**30, 1 << 40, {"tally": [1, 2]})
        ledger.move(position, count=10**40, seconds=2.5, done=0.5)
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, SETUP)
        assert ledger.position == position
        assert (ledger.count, ledger.seconds, ledger.done) == (10**40, 2.5, 0.5)
        ledger.move(dataclasses.replace(position, boards=4), count=10**41, seconds=1, finished=True)
    state = read_run(path)[0].state
    assert state.finished
    assert state.history[-1] == (3.5, 1.0, 10**41)


def test_a_part_has_tasks_that_do_not_begin_at_0(path):
    plan = FakePlan(calls=1000)
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, SETUP, plan.part(2, 2))
        worked(ledger, plan)
        assert ledger.count == sum(plan.size + task for task in range(20, 40))
    kept, _ = read_run(path)
    assert kept.finished_tasks == kept.state.tasks == 20


def test_the_clock_may_be_set_back(path, monkeypatch):
    plan, clock = FakePlan(), iter([5e9, 4e9, 3e9, 2e9, 1e9, *[0.0] * 99])
    monkeypatch.setattr("time.time", lambda: next(clock))
    for _ in range(3):
        with begun(path, plan) as ledger:
            worked(ledger, plan, 2)
    assert ledger.seconds == 6.0
    assert read_run(path)[0].state.saved == 0.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": "0.0.1"}, "version .*, not 0.0.1"),
        ({"command": "enumerate"}, "command count, not enumerate"),
        ({"options": {"tasks": 41}}, "tasks 40, not 41"),
        ({"options": {"tasks": 40, "cutoff": 3}}, "cutoff none, not 3"),
        ({"boards": {**IDENTITY.boards, "cells": [1] + [0] * 80}}, "another board"),
    ],
)
def test_another_run_is_refused_and_the_file_untouched(path, change, words):
    with begun(path, FakePlan()):
        pass
    before = path.read_bytes()
    other: Identity = dataclasses.replace(IDENTITY, **change)
    with Ledger(path) as ledger, pytest.raises(ValueError, match=f"holds another run: {words}"):
        ledger.begin(other, SETUP, FakePlan().part())
    assert path.read_bytes() == before
