"""Every kind of answer is what the library says."""

from __future__ import annotations

import json
import threading
from typing import Any
from unittest.mock import Mock

import pytest

import gpusudoku
from gpusudoku import collection, minimising
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import Cancelled, InputError
from gpusudoku.explaining import explain
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.minimising import minimise
from gpusudoku.options import Options
from gpusudoku.planning.batch import search_block
from gpusudoku.results import decimal_digits
from gpusudoku.web import answers as module
from gpusudoku.web.answers import Answers, Expensive
from gpusudoku.web.questions import KINDS, question_of
from tests.boards import LINE_4X4, PUZZLE

BOARDS = {
    "1x1": ".",
    "1x1 full": "1",
    "4x4": LINE_4X4,
    "4x4 empty": "." * 16,
    "one solution": PUZZLE,
    "some": PUZZLE[:54] + "." * 27,
    "9x9 empty": "." * 81,
    "full": str(gpusudoku.solve(PUZZLE).board),
    "clash": "11" + "." * 79,
    "none": "12345678." + "." * 17 + "9" + "." * 54,
    "16x16": str(collection.load("16x16-two")),
}
UNIQUE = ("1x1", "1x1 full", "one solution", "full")
EMPTY = ("clash", "none")
TIMES = ("seconds", "expansion_seconds", "utilisation")


@pytest.fixture(scope="module")
def answers() -> Answers:
    return Answers(CpuEngine(2))


def ask(answers: Answers, kind: str, board: str, **fields: Any) -> dict[str, Any]:
    """An answer, which is JSON."""
    question = question_of(kind, {"board": board, **fields})
    facts = answers.answer(question, lambda _: None, CancelToken())
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    return facts


def plain(facts: dict[str, Any]) -> dict[str, Any]:
    """A count without the times that it took."""
    return {name: value for name, value in facts.items() if name not in TIMES}


@pytest.mark.parametrize("name", BOARDS)
class TestLikeTheLibrary:
    def test_read(self, answers: Answers, name: str) -> None:
        board = gpusudoku.parse(BOARDS[name])
        facts = ask(answers, "read", BOARDS[name])
        assert facts == {
            "board": str(board),
            "box": str(board.geometry),
            "cells": board.grid.ravel().tolist(),
        }

    def test_count(self, answers: Answers, name: str) -> None:
        expected = gpusudoku.count(BOARDS[name], jobs=2, device="cpu").as_dict()
        assert plain(ask(answers, "count", BOARDS[name])) == plain(expected)

    def test_shares(self, answers: Answers, name: str) -> None:
        found = gpusudoku.solutions(BOARDS[name], device="cpu")
        facts = ask(answers, "shares", BOARDS[name])
        shares = [[int(text) for text in row] for row in facts["shares"]]
        assert shares == found.shares().tolist()
        assert facts["count"] == decimal_digits(found.count)

    def test_sample(self, answers: Answers, name: str) -> None:
        if name in EMPTY:
            with pytest.raises(InputError, match="no solution"):
                ask(answers, "sample", BOARDS[name])
            return
        facts = ask(answers, "sample", BOARDS[name], n=3, seed="7")
        found = gpusudoku.solutions(BOARDS[name], device="cpu")
        assert facts["seed"] == "7"
        assert facts["solutions"] == [str(gpusudoku.Board(grid)) for grid in found.sample(3, 7)]
        drawn = ask(answers, "sample", BOARDS[name])
        again = ask(answers, "sample", BOARDS[name], seed=drawn["seed"])
        assert drawn == again

    def test_numbers_of_a_sample(self, answers: Answers, name: str) -> None:
        if name in EMPTY or name == "9x9 empty":  # see below
            return
        facts = ask(answers, "sample", BOARDS[name], n=5, seed=7, numbers=True)
        assert facts["solutions"] == ask(answers, "nth", BOARDS[name], k=facts["k"])["solutions"]
        del facts["k"]
        assert facts == ask(answers, "sample", BOARDS[name], n=5, seed=7, numbers=False)

    def test_nth(self, answers: Answers, name: str) -> None:
        if name == "9x9 empty":
            name = "4x4 empty"  # its solutions are numbered by many counts, which take long
        found = gpusudoku.solutions(BOARDS[name], device="cpu")
        with pytest.raises(InputError):
            ask(answers, "nth", BOARDS[name], k=[decimal_digits(found.count)])
        if name in EMPTY:
            return
        last = decimal_digits(found.count - 1)
        facts = ask(answers, "nth", BOARDS[name], k=[0, last])
        assert facts["solutions"] == [str(found[0]), str(found[found.count - 1])]
        assert (facts["count"], facts["k"]) == (decimal_digits(found.count), ["0", last])

    def test_simplify(self, answers: Answers, name: str) -> None:
        assert ask(answers, "simplify", BOARDS[name]) == explain(BOARDS[name]).as_dict()

    def test_minimise(self, answers: Answers, name: str) -> None:
        if name not in UNIQUE:
            with pytest.raises(InputError):
                ask(answers, "minimise", BOARDS[name])
            return
        facts = ask(answers, "minimise", BOARDS[name], seed="5")
        assert facts == minimise(BOARDS[name], seed=5).as_dict()
        assert gpusudoku.solve(facts["board"], box=facts["box"]).unique


def test_about_has_every_board(answers: Answers) -> None:
    facts = answers.about()
    assert facts["version"] == gpusudoku.__version__
    assert (facts["device"], facts["threads"]) == ("cpu", 2)
    assert {"name", "note", "count", "box", "board"} == set(facts["boards"][0])
    names = [entry["name"] for entry in facts["boards"]]
    assert {"2f", "empty"} <= set(names)
    assert "box2x5-empty" not in names  # nothing here can count it


def test_progress_is_told(answers: Answers) -> None:
    told: list[dict[str, Any]] = []
    answers.answer(question_of("count", {"board": "." * 81}), told.append, CancelToken())
    assert told[0]["method"] == "contraction"
    assert told[0]["estimate"] > 0
    told.clear()
    answers.answer(question_of("minimise", {"board": PUZZLE}), told.append, CancelToken())
    assert told[-1]["done"] == 1


@pytest.fixture
def searching() -> Answers:
    """It is never done with an empty board."""
    return Answers(CpuEngine(2), Options(method="search"))


def test_what_should_take_too_long_is_not_begun(searching: Answers) -> None:
    with pytest.raises(Expensive, match="should take longer") as error:
        ask(searching, "count", "." * 81, seconds=50)
    assert error.value.seconds is not None
    assert error.value.seconds > 50


def test_what_has_taken_too_long_is_given_up(answers: Answers) -> None:
    """The estimate knows nothing of a sample."""
    with pytest.raises(Expensive, match=r"takes longer than .* s; how long is not known") as error:
        ask(answers, "shares", "1" + "." * 255, seconds=0.01)
    assert error.value.seconds is None


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "read"])
def test_a_cancelled_question_is_not_answered(answers: Answers, kind: str) -> None:
    fields = {"k": ["0"]} if kind == "nth" else {}
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        answers.answer(question_of(kind, {"board": PUZZLE, **fields}), lambda _: None, cancel)


def test_one_cancels_from_another_thread(searching: Answers) -> None:
    cancel, told = CancelToken(), threading.Event()

    def tell(facts: dict[str, Any]) -> None:
        if "at_least" in facts:
            told.set()
            cancel.cancel()

    with pytest.raises(Cancelled):
        searching.answer(question_of("count", {"board": "." * 81}), tell, cancel)
    assert told.is_set()


def test_minimising_takes_no_more_threads_than_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []

    def search(batch: Any, options: Options, engine: CpuEngine) -> Any:
        threads.append(engine.threads)
        return search_block(batch, options, engine)

    monkeypatch.setattr(minimising, "search_block", search)
    ask(Answers(CpuEngine(1)), "minimise", str(gpusudoku.solve(LINE_4X4).board))
    assert set(threads) == {1}


def test_compiling_is_told_and_does_not_count_among_the_seconds(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, happened = Mock(**{"fetch.return_value": False}), []
    monkeypatch.setattr(module, "search_kernels", lambda *given: [kernel])
    monkeypatch.setattr(module, "ready", lambda kernels: happened.append(kernels))

    def timer(*given: Any) -> threading.Timer:
        happened.append("the seconds begin")
        return threading.Timer(*given)

    monkeypatch.setattr(module, "threading", Mock(Timer=timer))
    question = question_of("count", {"board": "1....2....3.....", "seconds": 60})
    assert answers.answer(question, happened.append, CancelToken())["count"] == "6"
    compiled = [{"compiling": True}, [kernel], {"compiling": False}, "the seconds begin"]
    assert happened[:4] == compiled


def test_who_has_waited_is_told_the_seconds_he_asked_for(answers: Answers) -> None:
    question = question_of("count", {"board": "." * 144, "seconds": 1e6})
    with pytest.raises(Expensive, match="longer than 1e\\+06 s"):
        answers.answer(question, lambda _: None, CancelToken(), 1e6 - 0.1)


def test_few_boards_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    some = Answers(CpuEngine(1))
    for first in "1231":
        facts = ask(some, "shares", first + LINE_4X4[1:])
        assert facts["box"] == "2x2"
    assert len(some._kept) == 2
