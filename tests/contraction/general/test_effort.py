"""What may be spent on finding out what a contraction takes is counted, and never passed."""

from math import inf

import pytest

from gpusudoku.contraction.general import effort as effort_module
from gpusudoku.contraction.general import join as join_module
from gpusudoku.contraction.general import parts
from gpusudoku.contraction.general.boxes import allowed_lines
from gpusudoku.contraction.general.effort import Effort
from gpusudoku.contraction.general.graph import Graph
from gpusudoku.contraction.general.join import Join
from gpusudoku.contraction.general.orientation import Orientation
from gpusudoku.contraction.general.parts import Parts
from gpusudoku.contraction.prepare import MOST_LOOK, worth_looking
from gpusudoku.errors import TooExpensive
from tests.boards import puzzle
from tests.contraction.general.boards import after_singles, clues_only, summed

WHOLE = TooExpensive("too expensive to contract: said for a test")


def test_a_step_that_is_too_much_is_not_begun():
    effort = Effort(1.0)
    effort.spend(6, 0.1)
    assert effort.covers(3, 0.1)
    with pytest.raises(TooExpensive, match="to find out what it takes would take more than 1 s"):
        effort.spend(5, 0.1)
    assert effort.spent == pytest.approx(0.6)


def test_a_long_look_is_told_once_and_before(monkeypatch):
    monkeypatch.setattr(effort_module, "LONG_SECONDS", 1.0)
    told = []
    effort = Effort(inf, lambda: told.append(effort.spent))
    for _ in range(4):
        effort.spend(1, 0.4)
    assert told == [pytest.approx(1.2)]


@pytest.mark.parametrize(("shape", "clues"), [("2x3", 8), ("3x3", 28), ("4x4", 130)])
def test_a_join_stops_at_the_bound_and_always_at_the_same_step(shape, clues):
    """Whatever the bound: so all of the work is counted, and counted alike."""
    board = puzzle(shape, clues, 2)
    whole = Effort()
    join = Join(after_singles(board), board.geometry, effort=whole)
    assert 0 < whole.spent < 1
    for share in (0.1, 0.5):
        spent = []
        for _ in range(2):
            bounded = Effort(share * whole.spent)
            with pytest.raises(TooExpensive, match="to find out what it takes"):
                Join(after_singles(board), board.geometry, effort=bounded)
            spent.append(bounded.spent)
        assert spent[0] == spent[1] <= share * whole.spent
    enough = Join(after_singles(board), board.geometry, effort=Effort(whole.spent))
    assert (enough.steps, enough.tasks) == (join.steps, join.tasks)


def test_one_orientation_is_enough(monkeypatch):
    """Where the other one is not covered any more, the count is the same."""
    made = []

    def orientation(*arguments):
        made.append(Orientation(*arguments))
        return made[-1]

    monkeypatch.setattr(join_module, "Orientation", orientation)
    board = puzzle("3x3", 16, 2)
    both = Effort()
    first = Join(clues_only(board), board.geometry, effort=both)
    assert len(made) == 2
    join = Join(clues_only(board), board.geometry, effort=Effort(both.spent * (1 - 1e-9)))
    assert len(made) == 3
    assert summed(join) == summed(first) > 0


def test_a_graph_counts_its_layers():
    board = puzzle("4x4", 100, 2)
    stacks, _ = allowed_lines(after_singles(board), board.geometry)
    effort = Effort()
    graph = Graph(stacks[0], "it", 1 << 22, effort)
    before = effort.spent
    assert before > 16 * 1e-4  # its layers
    graph.listed()
    assert effort.spent > before


def looked(monkeypatch, **bounds):
    """How many parts were tried until the estimate of a board in parts ended, and how it ended."""
    tried = []
    contracted = Parts._contracted

    def counting(self, part, effort):
        tried.append(part)
        return contracted(self, part, effort)

    with monkeypatch.context() as patch:
        patch.setattr(Parts, "_contracted", counting)
        try:
            Parts(puzzle("3x3", 24, 3), 1 << 28, WHOLE, **bounds)
        except TooExpensive as error:
            return len(tried), str(error)
    return len(tried), ""


def test_parts_stop_at_what_they_are_worth(monkeypatch):
    monkeypatch.setattr(parts, "PART_MAPS", 10)
    everything, _ = looked(monkeypatch)
    few, error = looked(monkeypatch, worth=1.0)
    assert few < everything
    assert "in parts it would take more than" in error
    few, error = looked(monkeypatch, effort=Effort(0.01))
    assert few < everything
    assert "to find out what it takes would take more than 0.01 s" in error


def test_a_look_is_a_small_part_of_what_it_may_save():
    assert worth_looking(0.1) == 0.05
    assert worth_looking(5) == 1
    assert worth_looking(30) == 3
    assert worth_looking(1e9) == MOST_LOOK
    assert worth_looking(inf) == inf
