"""Questions by messages, and what is told of them."""

from __future__ import annotations

import json
import threading

import pytest

import gpusudoku
from gpusudoku.web.conversation import Conversation
from tests.web.conversing import SMALL, Browser, Waiting, threads, until

LONG = "." * 81
"""No search ends with this one."""


@pytest.fixture
def browser():
    made = Browser()
    yield made
    made.conversation.close()
    until(lambda: not threads())


@pytest.fixture
def waiting():
    return Waiting()


@pytest.fixture
def slow(waiting):
    made = Browser(waiting)
    yield made
    made.conversation.close()
    until(lambda: not threads())


class TestAnswers:
    """They are what the library says."""

    def test_count(self, browser):
        facts = browser.answer(1, "count")
        assert facts["count"] == str(gpusudoku.count(SMALL).count)
        assert facts["exact"] is True

    def test_shares(self, browser):
        shares = gpusudoku.solutions(SMALL).shares().tolist()
        facts = browser.answer(1, "shares")
        assert [list(map(int, row)) for row in facts["shares"]] == shares

    def test_solutions_by_number(self, browser):
        found = gpusudoku.solutions(SMALL)
        facts = browser.answer(1, "nth", k=["4", "0"])
        assert facts["solutions"] == [str(found[4]), str(found[0])]

    def test_random_solutions(self, browser):
        grids = gpusudoku.solutions(SMALL).sample(3, seed=7)
        facts = browser.answer(1, "sample", n=3, seed="7")
        assert facts["solutions"] == [str(gpusudoku.Board(grid)) for grid in grids]

    def test_logic(self, browser):
        facts = browser.answer(1, "simplify")
        assert facts["result"] == str(gpusudoku.simplify(SMALL).board)

    def test_fewer_clues(self, browser):
        puzzle = str(gpusudoku.solutions(SMALL)[0])
        facts = browser.answer(1, "minimise", board=puzzle, seed="1")
        assert gpusudoku.solve(facts["board"]).unique
        assert len(facts["removed"]) == puzzle.count("1") * 4 - facts["clues"]

    def test_other_boxes(self, browser):
        facts = browser.answer(1, "count", board="123456" + "." * 30, box="3x2")
        assert (facts["box"], facts["count"]) == ("3x2", str(28_200_960 // 720))

    def test_several_at_a_time(self, browser):
        for number in range(20):
            browser.ask(number, "nth", k=[number % 6])
        found = gpusudoku.solutions(SMALL)
        for number in range(20):
            assert browser.last(number)["data"]["solutions"] == [str(found[number % 6])]

    def test_all_that_is_told_is_json(self, browser):
        for number, kind in enumerate(("count", "shares", "simplify", "sample")):
            browser.answer(number, kind)
        assert json.loads(json.dumps(browser.told)) == browser.told

    def test_whoever_made_it_knows_the_answers(self, browser):
        facts = browser.answer(1, "count")
        assert browser.counted == [facts]


class TestProgress:
    def test_it_is_told_at_once_and_then_what_is_found(self, browser):
        browser.ask(1, "count", board=LONG)
        until(lambda: any(int(each["data"].get("at_least", 0)) for each in list(browser.told)))
        first = browser.told[0]
        assert first == {"id": 1, "event": "progress", "data": {}}

    def test_it_ends_with_the_answer(self, browser):
        browser.answer(1, "count")
        assert browser.events(1)[-1] == "result"
        assert set(browser.events(1)[:-1]) == {"progress"}


class TestCancelling:
    def test_work_ends_and_nothing_more_is_told(self, browser):
        browser.ask(1, "count", board=LONG)
        until(lambda: len(browser.told) > 2)
        browser.cancel(1)
        until(lambda: not threads())
        assert set(browser.events(1)) == {"progress"}
        assert browser.answer(2, "count")["count"] == "6"
        assert set(browser.events(1)) == {"progress"}

    def test_others_go_on(self, slow, waiting):
        slow.ask(1)
        slow.ask(2)
        until(lambda: waiting.working == 2)
        slow.cancel(1)
        until(lambda: waiting.working == 1)
        waiting.go.set()
        assert slow.last(2)["event"] == "result"
        assert slow.events(1) == ["progress"]

    def test_what_nobody_works_at(self, browser):
        browser.cancel(7)
        browser.answer(1, "count")
        browser.cancel(1)
        assert browser.events(1)[-1] == "result"


class TestOvertaking:
    def test_a_newer_question_of_the_page_takes_the_place(self, browser):
        browser.ask(1, "count", board=LONG, page="a")
        until(lambda: len(browser.told) > 1)
        assert browser.answer(2, "count", page="a")["count"] == "6"
        error = browser.error(1)
        assert (error["kind"], error["status"]) == ("overtaken", 409)

    def test_it_begins_when_the_older_one_has_let_go(self, slow, waiting):
        for number in range(100):
            slow.ask(number, page="a")
        until(lambda: len(threads()) == 1)
        until(lambda: waiting.working == 1)
        assert waiting.most == 1
        waiting.go.set()
        assert slow.last(99)["event"] == "result"
        assert {slow.error(number)["kind"] for number in range(99)} == {"overtaken"}

    def test_other_pages_are_left_alone(self, slow, waiting):
        slow.ask(1, page="a")
        slow.ask(2, page="b")
        slow.ask(3)
        slow.ask(4)
        until(lambda: waiting.working == 4)
        waiting.go.set()
        assert [slow.last(number)["event"] for number in (1, 2, 3, 4)] == ["result"] * 4

    def test_what_was_cancelled_before_is_not_told(self, slow, waiting):
        slow.ask(1, page="a")
        until(lambda: waiting.working == 1)
        slow.cancel(1)
        slow.ask(2, page="a")
        waiting.go.set()
        slow.last(2)
        assert slow.events(1) == ["progress"]

    def test_the_error_is_the_last_that_is_told(self):
        class Telling:
            def answer(self, question, tell, cancel):
                while not cancel.cancelled:
                    tell({"done": 0})
                    threading.Event().wait(0.001)
                tell({"done": 1})
                raise KeyError("too late")

        browser = Browser(Telling())
        for number in range(10):
            browser.ask(number, page="a")
            until(lambda number=number: browser.events(number))
        browser.conversation.close()
        until(lambda: not threads())
        for number in range(9):
            assert set(browser.events(number)[:-1]) == {"progress"}
            assert browser.error(number)["kind"] == "overtaken"
            assert browser.events(number)[-1] == "error"


class TestErrors:
    @pytest.mark.parametrize(
        ("kind", "fields", "status", "words"),
        [
            ("count", {"board": "12x"}, 400, "board: 3 cells make no board"),
            ("count", {"board": None}, 400, "board: expected text, found nothing"),
            ("count", {"borad": SMALL}, 400, "unknown field 'borad'; did you mean 'board'?"),
            ("nth", {"k": ["6"]}, 400, "6"),
            ("sample", {"board": "11.............."}, 400, "the board has no solution"),
            ("nothing", {}, 404, "unknown kind of question: 'nothing'"),
            (["count"], {}, 404, "unknown kind of question: ['count']"),
        ],
    )
    def test_one_line_that_names_the_place(self, browser, kind, fields, status, words):
        browser.ask(1, kind, **fields)
        error = browser.error(1)
        assert error["status"] == status
        assert words in error["error"]
        assert "\n" not in error["error"]

    def test_no_object(self, browser):
        browser.conversation.receive({"id": 1, "kind": "count", "question": [SMALL]})
        assert browser.error(1)["error"] == "expected a JSON object"

    @pytest.mark.parametrize("message", [None, [], "count", {}, {"id": "1"}, {"kind": "count"}])
    def test_what_cannot_be_answered_is_let_pass(self, browser, message):
        browser.conversation.receive(message)
        browser.answer(1, "count")
        assert {each["id"] for each in browser.told} == {1}

    def test_two_questions_with_one_number(self, slow, waiting):
        slow.ask(1, page="a")
        until(lambda: waiting.working == 1)
        slow.ask(1, page="a")
        assert slow.error(1)["kind"] == "input"
        slow.ask(2, page="a")
        until(lambda: waiting.working == 1 and len(threads()) == 1)
        slow.ask(1, page="b")  # nobody works at the first one any more
        waiting.go.set()
        assert slow.last(2)["event"] == "result"
        until(lambda: "result" in slow.events(1))

    def test_what_takes_too_long(self, browser):
        browser.ask(1, "count", board=LONG, seconds=5)
        error = browser.error(1)
        assert (error["kind"], error["status"]) == ("expensive", 422)
        assert error["seconds"] > 5

    def test_what_nobody_has_foreseen(self):
        class Broken:
            def answer(self, *_):
                raise KeyError("a secret")

        browser = Browser(Broken())
        browser.ask(1)
        error = browser.error(1)
        assert (error["kind"], error["status"]) == ("failed", 500)
        assert "KeyError" in error["error"]
        assert "secret" not in error["error"]


class TestClosing:
    def test_all_threads_end_and_nothing_more_is_told(self, browser):
        for number in range(3):
            browser.ask(number, "count", board=LONG)
        until(lambda: len(browser.told) > 6)
        browser.conversation.close()
        told = len(browser.told)
        until(lambda: not threads())
        browser.ask(9)
        assert threads() == []
        assert len(browser.told) == told

    def test_when_the_thread_that_took_the_question_has_ended(self, browser):
        """In marimo every page that is open has a kernel, which is a thread."""
        kernel = threading.Thread(target=browser.ask, args=(1,), kwargs={"board": LONG})
        kernel.start()
        kernel.join()
        until(lambda: not threads())

    def test_when_nobody_takes_messages(self, waiting):
        def gone(message):
            raise ConnectionError

        conversation = Conversation(waiting, gone)
        for number in range(3):
            conversation.receive({"id": number, "kind": "count", "question": {"board": SMALL}})
        until(lambda: not threads())
        conversation.receive({"id": 4, "kind": "count", "question": {"board": SMALL}})
        assert threads() == []
