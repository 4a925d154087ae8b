"""Every kind of answer is what the library says, as one JSON object and as a stream of events."""

import json
from pathlib import Path
from typing import Any

import pytest

import gpusudoku
from gpusudoku import collection
from gpusudoku.logic import explain
from gpusudoku.puzzles.minimise import minimise
from tests.boards import LINE_4X4, PUZZLE
from tests.web.conftest import EVENTS

EMPTY = "." * 81
HARD = "1" + "." * 255
"""A board of which nobody knows the shares."""
BOARDS = {
    "1x1": ".",
    "4x4": LINE_4X4,
    "one solution": PUZZLE,
    "full": str(gpusudoku.solve(PUZZLE).board),
    "clash": "11" + "." * 79,
    "none": "12345678." + "." * 17 + "9" + "." * 54,
    "empty": EMPTY,
    "16x16": str(collection.load("16x16-two")),
}
SAME = ("board", "box", "count", "exact", "empty_cells", "search_space")


@pytest.mark.parametrize("name", BOARDS)
def test_count(server, name):
    facts = server.ask("count", BOARDS[name])
    expected = gpusudoku.count(BOARDS[name], device="cpu").as_dict()
    assert facts.keys() == expected.keys()
    assert {each: facts[each] for each in SAME} == {each: expected[each] for each in SAME}
    assert facts["seconds"] > 0


@pytest.mark.parametrize("name", ["1x1", "4x4", "clash", "empty"])
def test_shares(server, name):
    found = gpusudoku.solutions(BOARDS[name], device="cpu")
    facts = server.ask("shares", BOARDS[name])
    assert [list(map(int, row)) for row in facts["shares"]] == found.shares().tolist()
    assert facts["count"] == str(found.count)


@pytest.mark.parametrize("name", ["1x1", "4x4", "16x16"])
def test_solutions_by_number_and_at_random(server, name):
    board = BOARDS[name]
    found = gpusudoku.solutions(board, device="cpu")
    facts = server.ask("nth", board, k=[str(found.count - 1), 0])
    assert facts["solutions"] == [str(found[found.count - 1]), str(found[0])]
    assert (facts["count"], facts["k"]) == (str(found.count), [str(found.count - 1), "0"])
    assert server.ask("nth", board, k=[str(found.count)])["kind"] == "input"

    drawn = server.ask("sample", board)
    assert server.ask("sample", board, seed=drawn["seed"]) == drawn
    assert server.ask("sample", board)["seed"] != drawn["seed"]
    drawn = server.ask("sample", board, n=3, seed="7")
    assert drawn["solutions"] == [str(gpusudoku.Board(grid)) for grid in found.sample(3, 7)]
    assert (drawn["board"], drawn["seed"]) == (board, "7")
    numbered = server.ask("sample", board, n=3, seed=7, numbers=True)
    assert [str(found[int(k)]) for k in numbered.pop("k")] == drawn["solutions"]
    assert numbered == drawn


def test_no_solution_has_a_number_and_none_is_drawn(server):
    assert server.ask("sample", BOARDS["none"])["error"] == "the board has no solution"
    assert server.ask("sample", BOARDS["none"], n=0)["solutions"] == []
    assert server.ask("nth", BOARDS["clash"], k=[0])["kind"] == "input"
    assert server.ask("nth", BOARDS["clash"], k=[])["solutions"] == []


@pytest.mark.parametrize("name", ["one solution", "none", "16x16"])
def test_steps_of_logic(server, name):
    assert server.ask("simplify", BOARDS[name]) == explain(BOARDS[name]).as_dict()


def test_fewer_clues(server):
    full = BOARDS["full"]
    assert server.ask("minimise", full, seed="5") == minimise(full, seed=5).as_dict()
    facts = server.ask("minimise", full)
    assert minimise(full, seed=int(facts["seed"])).as_dict() == facts
    facts = server.ask("minimise", LINE_4X4)
    assert facts["kind"] == "input"
    assert "solution" in facts["error"]


class TestEstimates:
    def test_they_improve_up_to_the_answer(self, server):
        *progress, (name, facts) = server.events("estimate", EMPTY)
        exact = 6670903752021072936960
        assert name == "result"
        assert 0.9 * exact < float(facts["estimate"]) < 1.1 * exact
        assert float(facts["low"]) < float(facts["estimate"]) < float(facts["high"])
        assert (facts["board"], facts["box"], facts["confidence"]) == (EMPTY, "3x3", 0.95)
        sizes = [facts["so_far"]["samples"] for _, facts in progress if "so_far" in facts]
        assert sorted([16, *sizes, facts["samples"]]) == [16, *sizes, facts["samples"]]

    def test_numbers_of_small_trees_are_exact(self, server):
        facts = server.ask("estimate", "." * 16)
        assert (facts["estimate"], facts["low"], facts["high"]) == ("288", "288", "288")
        assert facts["samples"] == 0
        assert server.ask("estimate", BOARDS["none"])["estimate"] == "0"

    def test_a_time_limit_ends_them_without_failure(self, server):
        facts = server.ask("estimate", EMPTY, seconds=0.001)
        assert (facts["samples"], facts["is_reliable"]) == (16, True)


class TestReading:
    GRID_6X6 = ".2.4.6" + "." * 30

    def test_the_board_comes_back_with_its_shape(self, server):
        facts = server.ask("read", "1...\n.2..\n....\n...4", box="1x4")
        cells = [1, 0, 0, 0, 0, 2] + [0] * 9 + [4]
        assert facts == {"board": "1....2.........4", "box": "1x4", "cells": cells}

    def test_the_shape_that_is_near_is_meant_if_the_text_tells_none(self, server):
        for near in ("2x3", "3x2", "1x6"):
            assert server.ask("read", self.GRID_6X6, near=near)["box"] == near
        assert server.ask("read", self.GRID_6X6, near="3x3")["box"] == "2x3"
        assert server.ask("read", self.GRID_6X6, near="1x6", box="3x2")["box"] == "3x2"

    def test_candidates_are_counted_but_not_edited(self, server):
        text = "12.." + "1234" * 15
        assert server.ask("count", text)["count"] == "144"
        [*_, (name, facts)] = server.events("read", text)
        assert (name, facts["status"]) == ("error", 400)
        assert facts["error"].endswith("given candidates: only a board without them can be edited")


class TestEvents:
    @pytest.mark.parametrize("board", [PUZZLE, EMPTY])
    def test_progress_and_then_the_answer(self, server, board):
        events = list(server.events("count", board))
        assert [name for name, _ in events] == ["progress"] * (len(events) - 1) + ["result"]
        assert events[-1][1]["count"] == server.ask("count", board)["count"]

    def test_what_is_found_so_far(self, searching):
        elapsed = []
        for name, facts in searching.events("count", EMPTY):
            assert name == "progress"
            elapsed.append(facts["elapsed"])
            if int(facts.get("at_least", 0)) > 0 and len(elapsed) > 1:
                assert facts["method"] == "search"
                assert facts["estimate"] > elapsed[-1] > elapsed[0] > 0
                assert 0 <= facts["done"] < 1
                break
        searching.until_idle()

    def test_errors(self, server):
        for kind, board, fields in [("nth", LINE_4X4, {"k": [6]}), ("read", "12345", {})]:
            name, facts = list(server.events(kind, board, **fields))[-1]
            assert (name, facts["status"], facts["kind"]) == ("error", 400, "input")
            assert server.ask(kind, board, **fields) == facts
        with server.request("POST", "/count", {"board": "12"}, Accept=EVENTS) as response:
            assert response.status == 400  # of a question that is none
            assert response.headers["Content-Type"] == "application/json"
        with server.request(
            "POST", "/count", {"board": "1"}, Accept=f"text/html, {EVENTS.upper()};q=0.5"
        ) as response:
            assert response.headers["Content-Type"] == f"{EVENTS}; charset=utf-8"
            assert response.headers["X-Accel-Buffering"] == "no"


class TestSeconds:
    def test_what_should_take_longer_is_not_begun(self, searching):
        facts = searching.ask("count", EMPTY, seconds=100)
        assert (facts["status"], facts["kind"], facts["at_least"]) == (422, "expensive", "0")
        assert facts["error"] == "it should take longer than the question allows"
        assert facts["seconds"] > 1e6

    def test_what_a_count_costs_is_said_if_planning_it_takes_longer(self, server):
        facts = server.ask("count", "." * 256, seconds=3)
        assert facts["error"] == "it should take longer than the question allows"
        assert (facts["kind"], facts["status"], facts["at_least"]) == ("expensive", 422, "0")
        assert facts["seconds"] > 1e9

    def test_what_has_taken_longer_is_given_up(self, server):
        facts = server.ask("shares", HARD, seconds=0.1)
        assert facts.pop("error") == "it takes longer than 0.1 s; how long is not known"
        assert facts == {"kind": "expensive", "status": 422, "seconds": None, "at_least": "0"}

    def test_the_timer_of_an_answer_ends_with_it(self, server):
        threads = Path(f"/proc/{server.process.pid}/task")
        if not threads.exists():
            pytest.skip("it is not shown which threads a process has")
        for _ in range(30):
            server.ask("count", LINE_4X4, seconds=1000)
        assert len(list(threads.iterdir())) < 30

    def test_what_nobody_can_do_is_not_tried(self, server):
        facts = server.ask("sample", HARD)
        assert (facts["kind"], facts["final"], facts["at_least"]) == ("expensive", True, "0")
        assert facts["seconds"] > 1e6

    def test_more_than_a_timer_takes_are_as_good_as_no_limit(self, server):
        assert server.ask("count", LINE_4X4, seconds=10**400)["count"] == "6"


def test_about(server):
    with server.request("GET", "/about") as response:
        facts: dict[str, Any] = json.load(response)
    assert (facts["version"], facts["device"]) == (gpusudoku.__version__, "cpu")
    assert facts["threads"] >= 1
    boards = {each["name"]: each for each in facts["boards"]}
    entry = collection.entry("2f")
    board = str(collection.load("2f"))
    shown = {"note": entry.note, "count": str(entry.count), "board": board, "box": "3x3"}
    assert boards["2f"] == {"name": "2f", **shown}
    assert "box2x5-empty" not in boards  # nothing here can count it
