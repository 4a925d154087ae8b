"""The desk in a server: limits of time, errors of ours, slow bodies, slow readers."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from gpusudoku.errors import TooExpensive
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.web import guard, serving
from gpusudoku.web.answers import Tell
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

    def answer(self, question: Question, tell: Tell, cancel: CancelToken) -> dict[str, Any]:
        if self._error is None:
            return {"count": "1" * LARGE}
        raise self._error


class Stubborn(Failing):
    """Answers only when it is told to: it cannot be cancelled."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def answer(self, question: Question, tell: Tell, cancel: CancelToken) -> dict[str, Any]:
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

    def run(answers: Failing, seconds: float = 60) -> tuple[http.client.HTTPConnection, list[str]]:
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


def test_a_body_that_comes_slowly(run_with: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "READ_SECONDS", 0.05)
    connection, _ = run_with(Failing(MemoryError()))
    connection.putrequest("POST", "/count")
    connection.putheader("Content-Length", "100")
    connection.endheaders(b"{")
    response = connection.getresponse()
    assert (response.status, "has not come" in json.load(response)["error"]) == (400, True)
    assert response.headers["Connection"] == "close"


def test_a_head_that_comes_slowly(run_with: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the second one of a connection."""
    monkeypatch.setattr(serving, "HEADER_SECONDS", 1.0)
    connection, _ = run_with(Failing(MemoryError()))
    connection.request("GET", "/status")
    connection.getresponse().read()
    assert connection.sock is not None
    for slow in (connection.sock, socket.create_connection((connection.host, connection.port))):
        slow.settimeout(300)
        slow.sendall(b"GET /sta")
        with suppress(ConnectionResetError):
            assert slow.recv(100) == b""
        slow.close()


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

    assert status() == [1, 0]
    answers.go.set()
    until(lambda: status() == [0, 0])
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
