"""Clients that change their mind, go away, are slow, or many."""

from __future__ import annotations

import json
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.boards import PUZZLE
from tests.web.conftest import Running, until

EMPTY = "." * 81


def working(running: Running) -> bool:
    return running.status()[0] > 0


def test_a_newer_question_overtakes(searching: Running) -> None:
    """The older one is told so, its cores are free, and the newer one is answered."""
    with ThreadPoolExecutor() as pool:
        old = pool.submit(searching.ask, "count", EMPTY, page="a")
        until(lambda: working(searching))
        assert searching.ask("count", PUZZLE, page="a")["count"] == "1"
        facts = old.result()
    assert (facts["status"], facts["kind"]) == (409, "overtaken")
    searching.until_idle()


def test_an_overtaken_stream_ends_with_an_error(searching: Running) -> None:
    events = searching.events("count", EMPTY, page="b")
    next(events)
    assert searching.ask("count", PUZZLE, page="b")["count"] == "1"
    name, facts = list(events)[-1]
    assert (name, facts["status"], facts["kind"]) == ("error", 409, "overtaken")


def test_of_many_questions_of_a_page_the_last_is_answered(searching: Running) -> None:
    """All but the last have no end; two pages do not disturb each other."""
    with ThreadPoolExecutor(40) as pool:
        other = pool.submit(searching.ask, "count", EMPTY, page="other")
        asked = [pool.submit(searching.ask, "count", EMPTY, page="c") for _ in range(30)]
        until(lambda: sum(each.done() for each in asked) == 29)
        assert searching.ask("count", PUZZLE, page="c")["count"] == "1"
        assert all(each.result()["kind"] == "overtaken" for each in asked)
        assert not other.done()
        assert searching.status() == (1, 0)
        searching.ask("count", PUZZLE, page="other")
    searching.until_idle()


@pytest.mark.parametrize("accept", ["*/*", "text/event-stream"])
def test_a_connection_that_is_cut_cancels(searching: Running, accept: str) -> None:
    """While it is worked at, and while it waits for those."""
    body = json.dumps({"board": EMPTY}).encode()
    connections = []
    for _ in range(3):
        connection = searching.connect()
        connection.request("POST", "/count", body, {"Accept": accept})
        connections.append(connection)
    until(lambda: searching.status() == (2, 1))
    for connection in connections:
        assert connection.sock is not None
        connection.sock.shutdown(socket.SHUT_RDWR)
        connection.close()
    searching.until_idle()


def test_those_who_wait_are_told_so(searching: Running) -> None:
    streams = [searching.events("count", EMPTY) for _ in range(2)]
    for stream in streams:
        next(stream)
    third = searching.events("count", PUZZLE)
    name, facts = next(third)
    assert (name, facts["waiting"], facts["own"]) == ("progress", True, False)
    streams[0].close()
    assert list(third)[-1][1]["count"] == "1"
    streams[1].close()
    searching.until_idle()


def test_too_many_wait(searching: Running) -> None:
    body = json.dumps({"board": EMPTY}).encode()
    connections = [searching.connect() for _ in range(66)]
    for connection in connections:
        connection.request("POST", "/count", body)
    until(lambda: searching.status() == (2, 64))
    with searching.request("POST", "/count", {"board": PUZZLE}) as response:
        assert (response.status, json.load(response)["kind"]) == (503, "busy")
        assert int(response.headers["Retry-After"]) > 0
    for connection in connections:
        connection.close()
    searching.until_idle()


def test_one_who_does_not_read_is_in_nobodys_way(searching: Running) -> None:
    """His stream goes nowhere; others are answered, and when he goes his work ends."""
    deaf = socket.create_connection((searching.host, searching.port))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    body = json.dumps({"board": EMPTY}).encode()
    deaf.sendall(
        b"POST /count HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    )
    until(lambda: working(searching))
    assert searching.ask("count", PUZZLE)["count"] == "1"
    deaf.close()
    searching.until_idle()


def threads_and_memory(running: Running) -> tuple[int, int]:
    """Threads of the server, and the KiB that it has in memory."""
    lines = Path(f"/proc/{running.process.pid}/status").read_text(encoding="ascii").splitlines()
    facts = dict(line.split(":", 1) for line in lines)
    return int(facts["Threads"]), int(facts["VmRSS"].split()[0])


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_a_thousand_questions(server: Running) -> None:
    """Memory stays, and threads end; boards differ, so that what is kept of them changes."""

    def ask(some: range) -> None:
        connection = server.connect()
        for number in some:
            board = list(PUZZLE)
            board[number % 81] = "."
            kind = ("count", "shares", "sample", "read", "none")[number % 5]
            accept = ("*/*", "text/event-stream")[number // 5 % 2]
            given: dict[str, Any] = {"board": "".join(board)}
            connection.request("POST", f"/{kind}", json.dumps(given), {"Accept": accept})
            with connection.getresponse() as response:
                assert response.status == (404 if kind == "none" else 200)
                text = response.read()
            assert b'"error"' not in text or kind == "none"
        connection.close()

    def four(some: range) -> None:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(ask, [some[start::4] for start in range(4)]))

    four(range(400))
    server.until_idle()
    threads, memory = threads_and_memory(server)
    four(range(400, 1400))
    server.until_idle()
    until(lambda: threads_and_memory(server)[0] <= threads)
    assert threads_and_memory(server)[1] < memory + (32 << 10)


def test_half_a_request_does_not_stop_the_server(server: Running) -> None:
    head = b"POST /count HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\n"
    for part in (b"", b"POST /cou", head[:50], head, head + b"{"):
        half = socket.create_connection((server.host, server.port))
        half.sendall(part)
        assert server.ask("count", PUZZLE)["count"] == "1"
        half.close()
    for bad in (b"\x16\x03\x01\x02\n\n", b"GET / HTTP/9.9\r\n\r\n", b"\0" * 70_000):
        with socket.create_connection((server.host, server.port)) as broken:
            broken.sendall(bad)
            assert server.ask("count", PUZZLE)["count"] == "1"
    server.until_idle()
    assert "Traceback" not in server.said
