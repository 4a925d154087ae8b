"""How much to do at a time: sizes that follow the time that work takes."""

from __future__ import annotations

import pytest

from gpusudoku.jobs.pace import Cost, Pace


def sizes(pace: Pace, *seconds: float, full: bool = True) -> list[int]:
    """The size at first, and after each piece of work."""
    found = [pace.size]
    for each in seconds:
        pace.took(each, full=full)
        found.append(pace.size)
    return found


def test_quick_work_doubles_and_slow_work_halves() -> None:
    assert sizes(Pace(8, 1.0), 0.1, 0.1, 3.0, 3.0, 3.0) == [8, 16, 32, 16, 8, 4]


@pytest.mark.parametrize("seconds", [0.5, 1.0, 2.0])
def test_half_or_twice_the_time_is_all_right(seconds: float) -> None:
    assert sizes(Pace(8, 1.0), seconds, seconds) == [8, 8, 8]


def test_just_beyond() -> None:
    assert sizes(Pace(8, 1.0), 0.499) == [8, 16]
    assert sizes(Pace(8, 1.0), 2.001) == [8, 4]


def test_the_size_is_at_least_one() -> None:
    assert sizes(Pace(3, 1.0), 9.0, 9.0, 9.0) == [3, 1, 1, 1]
    assert sizes(Pace(1, 1.0), 9.0, 0.1) == [1, 1, 2]


def test_the_size_is_at_most_what_is_said() -> None:
    assert sizes(Pace(30, 1.0, 100), 0.1, 0.1, 0.1, 9.0) == [30, 60, 100, 100, 50]
    assert Pace(30, 1.0, 20).size == 20
    assert sizes(Pace(1 << 60, 1.0), 0.1) == [1 << 60, 1 << 61]


def test_a_piece_that_was_not_full_says_nothing_of_larger_ones() -> None:
    assert sizes(Pace(8, 1.0), 0.1, full=False) == [8, 8]


def test_a_slow_piece_that_was_not_full_halves_all_the_same() -> None:
    assert sizes(Pace(8, 1.0), 9.0, full=False) == [8, 4]


def test_a_cost_follows_what_was_last() -> None:
    cost = Cost()
    assert cost.of(5) == 0.0
    cost.took(6.0, 3)
    assert cost.of(5) == 10.0
    for _ in range(60):
        cost.took(8.0, 2)
    assert cost.of(5) == pytest.approx(20.0)


def test_a_cost_is_that_of_many_more_than_that_of_few() -> None:
    """However long the few took for each."""
    cost = Cost()
    cost.took(1.0, 10_000)
    cost.took(1.0, 1)
    assert cost.of(10_000) < 4.0
