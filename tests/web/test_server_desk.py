"""The desk in a server: limits of time, errors of ours, slow bodies, slow readers."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import TooExpensive
from gpusudoku.web import serving
from gpusudoku.web.app import Permissions
from gpusudoku.web.events import STREAM, News
from gpusudoku.web.questions import Question
from gpusudoku.web.serving import Server, listen
from tests.web.conftest import events_of, until

LARGE = 50_000_000


class Failing:
    """Answers with an error, or with megabytes if there is none."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    def about(self) -> dict[str, Any]:
        return {}

    def answer(self, question: Question, *_: Any) -> dict[str, Any]:
        if self._error is None:
            return {"count": "1" * LARGE}
        raise self._error


class Stubborn(Failing):
    """Answers only when it is told to: it cannot be cancelled."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def answer(self, question: Question, *_: Any) -> dict[str, Any]:
        self.go.wait()
        return {}


Run = Callable[..., tuple[http.client.HTTPConnection, list[str]]]
QUESTION = json.dumps({"board": "1" + "." * 80})


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    """Those that are stopped at the end of the test."""
    started: list[Server] = []
    yield started
    for server in started:
        server.stop()


@pytest.fixture
def run_with(servers: list[Server]) -> Run:
    """Run a server with some answers; a connection to it, and what it complains of."""

    def run(
        answers: Failing, seconds: float = 60, kernels: Any = ()
    ) -> tuple[http.client.HTTPConnection, list[str]]:
        said: list[str] = []
        listening = listen("127.0.0.1", 0)
        connection = http.client.HTTPConnection(*listening.getsockname(), timeout=300)
        servers.append(
            Server(
                answers,  # type: ignore[arg-type]
                listening,
                most=1,
                seconds=seconds,
                allowed=Permissions(),
                complain=said.append,
                kernels=kernels,
            )
        )
        servers[-1].start()
        return connection, said

    return run


@pytest.mark.parametrize(
    ("error", "status", "kind", "words"),
    [
        (ZeroDivisionError("secret"), 500, "failed", "the server's terminal says where"),
        (MemoryError(), 500, "failed", "out of memory"),
        (TooExpensive("too much"), 422, "expensive", "too much"),
    ],
)
def test_errors(run_with: Run, error: Exception, status: int, kind: str, words: str) -> None:
    connection, said = run_with(Failing(error))
    connection.request("POST", "/count", QUESTION)
    response = connection.getresponse()
    facts = json.load(response)
    assert (response.status, facts["status"], facts["kind"]) == (status, status, kind)
    assert words in facts["error"]
    ours = isinstance(error, (ZeroDivisionError, MemoryError))
    assert len(said) == ours
    assert "secret" not in f"{facts}{said}"
    if ours:
        assert type(error).__name__ in said[0]
        assert ":" in said[0]


@pytest.mark.parametrize("begin", [
    "GET /sta", "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
    "POST /count HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
    "PUT /count HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
    "POST /none HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n50\r\n",
])  # fmt: skip
def test_a_request_that_comes_slowly(
    run_with: Run, monkeypatch: pytest.MonkeyPatch, begin: str
) -> None:
    """Also where nobody reads its body; and the second one of a connection."""
    connection, _ = run_with(Failing(MemoryError()))
    connection.request("GET", "/status")
    connection.getresponse().read()
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 0.2)
    assert connection.sock is not None
    for slow in (connection.sock, socket.create_connection((connection.host, connection.port))):
        slow.settimeout(0.05)
        slow.sendall(begin.encode())

        def is_closed(slow: socket.socket = slow) -> bool:
            try:
                while slow.recv(1000):
                    pass
            except TimeoutError:
                slow.sendall(b"x")
                return False
            except OSError:
                pass
            return True

        with suppress(ConnectionError):
            until(is_closed)
        slow.close()


def test_more_connections_than_there_may_be(run_with: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are quick are answered, and what is wrong is said once."""
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 3)
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 300.0)
    connection, said = run_with(Failing(TooExpensive("too much")))
    place = connection.host, connection.port

    def is_answered(connection: http.client.HTTPConnection) -> bool:
        connection.request("GET", "/status")
        return bool(connection.getresponse().read())

    idle = [http.client.HTTPConnection(*place, timeout=300) for _ in range(3)]
    assert all(map(is_answered, idle))
    assert is_answered(connection)
    others = [socket.create_connection(place) for _ in range(20)]
    with closing(http.client.HTTPConnection(*place, timeout=300)) as new:
        assert is_answered(new)
    for other in others:
        other.settimeout(300)
    for other in others[:18]:
        with suppress(ConnectionError):
            assert other.recv(1) == b""
    for each in (*others, *idle):
        each.close()
    assert said == ["more than 3 connections: closed idle and slow ones"]


def test_an_error_in_no_answer_is_said(run_with: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Mock(side_effect=ZeroDivisionError("by nothing"))
    monkeypatch.setattr(serving._Protocol, "data_received", failing)
    connection, said = run_with(Failing(None))
    connection.request("GET", "/status")
    with pytest.raises(ConnectionError):
        connection.getresponse()
    assert said == ["ZeroDivisionError: by nothing"]


def test_errors_that_repeat_are_said_once(run_with: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    connection, said = run_with(Failing(ZeroDivisionError()))
    for quiet, times in ((60.0, 1), (0.0, 4)):
        monkeypatch.setattr(serving, "QUIET_SECONDS", quiet)
        for _ in range(3):
            connection.request("POST", "/count", QUESTION)
            assert connection.getresponse().read()
        assert len(said) == times


def test_a_question_that_waits_is_refused_in_time(run_with: Run, servers: list[Server]) -> None:
    answers = Stubborn()
    connection, said = run_with(answers)
    hard = http.client.HTTPConnection(connection.host, connection.port, timeout=300)
    hard.request("POST", "/count", QUESTION)
    until(lambda: servers[0]._desk.working == 1)
    small = json.dumps({"board": "1" + "." * 15, "seconds": 0.1})
    for accept in ("*/*", STREAM):
        connection.request("POST", "/count", small, {"Accept": accept})
        with connection.getresponse() as response:
            body = response.read()
        assert b"waited too long behind other questions" in body
        assert b'"kind":"busy","status":503' in body
    answers.go.set()
    assert hard.getresponse().status == 200
    assert said == []


def test_while_it_compiles_questions_wait_or_are_told_so(
    run_with: Run, servers: list[Server]
) -> None:
    missing = SimpleNamespace(kept=False, fetch=lambda: True)
    connection, _ = run_with(Failing(TooExpensive("too much")), kernels=[missing])
    connection.request("POST", "/count", QUESTION)
    with connection.getresponse() as response:
        facts = json.load(response)
    assert (response.status, facts["kind"]) == (503, "busy")
    assert facts["error"].startswith("still compiling")
    connection.request("POST", "/count", QUESTION, {"Accept": STREAM})
    with connection.getresponse() as response:
        events = events_of(response)
        name, facts = next(events)
        assert (name, facts["compiling"]) == ("progress", True)
        assert servers[0].warm_up(CpuEngine(1))
        assert list(events)[-1][1]["error"] == "too much"
    assert not servers[0].warm_up(CpuEngine(1))


def test_seconds_begin_once_it_has_compiled(run_with: Run, servers: list[Server]) -> None:
    """Those of the server, and those of a question, which then waits behind a hard one."""
    missing = SimpleNamespace(kept=False, fetch=lambda: True)
    answers = Stubborn()
    place, _ = run_with(answers, seconds=0.1, kernels=[missing])
    small = json.dumps({"board": "1" + "." * 15, "seconds": 0.05})
    responses = []
    for question in (QUESTION, small):
        connection = http.client.HTTPConnection(place.host, place.port, timeout=300)
        connection.request("POST", "/count", question, {"Accept": STREAM})
        responses.append(connection.getresponse())
        assert responses[-1].readline() == b"event: progress\n"  # after 0.25 s
        assert b"compiling" in responses[-1].readline()
    servers[0]._desk.open()
    ends = [response.read() for response in responses]
    assert b'"kind":"late"' in ends[0]
    assert b'"kind":"busy"' in ends[1]
    answers.go.set()


def test_one_who_reads_nothing_is_taken_for_gone(
    run_with: Run, servers: list[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "SEND_SECONDS", 1.0)
    connection, _ = run_with(Failing(None))
    connection.request("POST", "/count", QUESTION)
    response = connection.getresponse()
    until(lambda: not servers[0]._server.server_state.connections)
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        response.read()


def test_what_takes_longer_than_the_limit_is_given_up(run_with: Run) -> None:
    """Also while it waits for work that has been given up but does not end."""
    answers = Stubborn()
    connection, said = run_with(answers, seconds=0.05)
    connection.request("POST", "/count", QUESTION)
    with connection.getresponse() as response:
        facts = json.load(response)
    assert (response.status, facts["kind"]) == (504, "late")
    connection.request("POST", "/count", QUESTION, {"Accept": STREAM})
    with connection.getresponse() as response:
        name, facts = list(events_of(response))[-1]
    assert (name, facts["status"], facts["kind"]) == ("error", 504, "late")
    assert facts["error"] == "given up after 0.05 s, as the server is told to"

    def status() -> list[int]:
        connection.request("GET", "/status")
        return list(json.load(connection.getresponse()).values())

    assert status() == [1, 0, False]
    answers.go.set()
    until(lambda: status() == [0, 0, False])
    assert said == []


def test_progress_that_nobody_takes_is_replaced_by_newer() -> None:
    async def main() -> News:
        news = News()

        def work() -> None:
            news.tell({"method": "search"})
            for number in range(1000):
                news.tell({"done": number})

        await asyncio.to_thread(work)
        await news.wait(0.01)
        assert news.facts == {"method": "search", "done": 999}
        await asyncio.to_thread(news.wake)
        await news.wait()
        return news

    news = asyncio.run(asyncio.wait_for(main(), 60))
    news.wake()  # nobody wants to know any more
