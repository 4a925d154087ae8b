"""The desk: slots, waiting, overtaking, limits; errors of ours; slow bodies."""

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

from gpusudoku.errors import Cancelled, TooExpensive
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.web import guard, serving
from gpusudoku.web.answers import Tell
from gpusudoku.web.app import Permissions
from gpusudoku.web.desk import Case, Desk
from gpusudoku.web.failures import Failure
from gpusudoku.web.questions import Question
from gpusudoku.web.serving import Server, listen
from tests.web.conftest import until


def endless(tell: Tell, cancel: CancelToken) -> bytes:
    """Work that ends only if it is cancelled."""
    while not cancel.cancelled:
        threading.Event().wait(0.001)
    raise Cancelled("cancelled")


def quick(tell: Tell, cancel: CancelToken) -> bytes:
    return b"done"


async def failure_of(case: Case) -> str:
    """The kind of failure that a case ends with."""
    with pytest.raises(Failure) as failure:
        await case.answer
    return failure.value.kind


async def idle(desk: Desk) -> None:
    while desk.working or desk.waiting:
        await asyncio.sleep(0.001)


def test_slots_are_given_in_the_order_of_asking() -> None:
    async def main() -> None:
        desk = Desk(2, 60)
        cases = [desk.ask(endless, None, desk.ticket()) for _ in range(4)]
        assert [case.waiting for case in cases] == [False, False, True, True]
        desk.drop(cases[0])
        while cases[2].waiting:
            await asyncio.sleep(0.001)
        assert cases[3].waiting
        desk.close()
        assert await failure_of(cases[3]) == "busy"
        await idle(desk)

    asyncio.run(main())


def test_a_page_has_one_slot_and_begins_when_the_old_work_has_let_go() -> None:
    async def main() -> None:
        desk, let_go = Desk(4, 60), threading.Event()

        def slow(tell: Tell, cancel: CancelToken) -> bytes:
            let_go.wait()
            return b"too late"

        old = desk.ask(slow, "page", desk.ticket())
        between = desk.ask(quick, "page", desk.ticket())
        new = desk.ask(quick, "page", desk.ticket())
        assert await failure_of(old) == await failure_of(between) == "overtaken"
        assert (desk.working, desk.waiting, new.waiting) == (1, 1, True)
        assert await desk.ask(quick, "another", desk.ticket()).answer == b"done"
        let_go.set()
        assert await new.answer == b"done"
        await idle(desk)

    asyncio.run(main())


def test_who_came_first_does_not_overtake_though_he_asks_last() -> None:
    async def main() -> None:
        desk = Desk(4, 60)
        first, second = desk.ticket(), desk.ticket()
        new = desk.ask(endless, "page", second)
        with pytest.raises(Failure, match="newer question"):
            desk.ask(quick, "page", first)
        assert not new.answer.done()
        desk.drop(new)
        await idle(desk)

    asyncio.run(main())


def test_what_takes_longer_than_the_limit_is_given_up() -> None:
    async def main() -> None:
        desk = Desk(1, 0.01)
        assert await failure_of(desk.ask(endless, None, desk.ticket())) == "late"
        await idle(desk)

    asyncio.run(main())


def test_the_limit_holds_for_those_who_wait() -> None:
    async def main() -> None:
        desk, let_go = Desk(1, 0.01), threading.Event()
        desk.ask(lambda tell, cancel: bytes(let_go.wait()), None, desk.ticket())
        assert await failure_of(desk.ask(quick, None, desk.ticket())) == "late"
        assert desk.waiting == 0
        let_go.set()
        await idle(desk)

    asyncio.run(main())


def test_an_iterator_that_ends_where_it_should_not_holds_up_nobody() -> None:
    def ending(tell: Tell, cancel: CancelToken) -> bytes:
        return next(iter(()))

    async def main() -> None:
        desk = Desk(1, 60)
        one, other = (desk.ask(each, None, desk.ticket()) for each in (ending, quick))
        with pytest.raises(RuntimeError, match="StopIteration"):
            await one.answer
        assert await other.answer == b"done"

    asyncio.run(asyncio.wait_for(main(), 60))


def test_progress_that_nobody_takes_is_replaced_by_newer() -> None:
    async def main() -> None:
        def counting(tell: Tell, cancel: CancelToken) -> bytes:
            for number in range(1000):
                tell({"done": number})
            return b"done"

        desk = Desk(1, 60)
        case = desk.ask(counting, None, desk.ticket())
        await case.answer
        assert case.take_news() == {"done": 999}
        assert case.take_news() == {}

    asyncio.run(main())


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


Run = Callable[[Exception | None], tuple[http.client.HTTPConnection, list[str]]]


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    """Those that are stopped at the end of the test."""
    started: list[Server] = []
    yield started
    for server in started:
        server.stop()


@pytest.fixture
def failing(servers: list[Server]) -> Run:
    """Run a server that fails; a connection to it, and what it complains of."""

    def run(error: Exception | None) -> tuple[http.client.HTTPConnection, list[str]]:
        said: list[str] = []
        listening = listen("127.0.0.1", 0)
        connection = http.client.HTTPConnection(*listening.getsockname(), timeout=300)
        servers.append(
            Server(
                Failing(error),  # type: ignore[arg-type]
                listening,
                most=1,
                seconds=60,
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
def test_errors(failing: Run, error: Exception, status: int, kind: str, words: str) -> None:
    connection, said = failing(error)
    connection.request("POST", "/count", json.dumps({"board": "1" + "." * 80}))
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


def test_a_body_that_comes_slowly(failing: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "READ_SECONDS", 0.05)
    connection, _ = failing(MemoryError())
    connection.putrequest("POST", "/count")
    connection.putheader("Content-Length", "100")
    connection.endheaders(b"{")
    response = connection.getresponse()
    assert (response.status, "has not come" in json.load(response)["error"]) == (400, True)
    assert response.headers["Connection"] == "close"


def test_a_head_that_comes_slowly(failing: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the second one of a connection."""
    monkeypatch.setattr(serving, "HEADER_SECONDS", 1.0)
    connection, _ = failing(MemoryError())
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
    failing: Run, servers: list[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "SEND_SECONDS", 1.0)
    connection, _ = failing(None)
    connection.request("POST", "/count", json.dumps({"board": "1" + "." * 80}))
    response = connection.getresponse()
    until(lambda: not servers[0]._server.server_state.connections)
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        response.read()
