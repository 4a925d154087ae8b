"""Clients that change their mind, go away, are slow, or many."""

import json
import random
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.boards import PUZZLE, puzzle
from tests.waiting import until
from tests.web.conftest import EVENTS

EMPTY = "." * 81
"""No search of it ends."""
ROUGH = str(puzzle("4x4", 90, 2))
"""Its estimate takes minutes to reach a relative error of 1 %."""


def send(running, board, accept="*/*", **fields):
    """Ask for a count, and do not wait for the answer."""
    connection = running.connect()
    body = json.dumps({"board": board, **fields})
    connection.request("POST", "/count", body, {"Accept": accept})
    return connection


def test_of_many_questions_of_a_page_the_last_is_answered(searching):
    """Two pages do not disturb each other."""
    with ThreadPoolExecutor(40) as pool:
        other = pool.submit(searching.ask, "count", EMPTY, page="other")
        asked = [pool.submit(searching.ask, "count", EMPTY, page="c") for _ in range(30)]
        until(lambda: sum(each.done() for each in asked) == 29)
        assert searching.ask("count", PUZZLE, page="c")["count"] == "1"
        words = "the page has a newer question", "a newer question of the page is being answered"
        for each in asked:
            facts = each.result()
            assert facts.pop("error") in words
            assert facts == {"kind": "overtaken", "status": 409}
        assert not other.done()
        assert searching.status() == (1, 0)
        searching.ask("count", PUZZLE, page="other")
    searching.until_idle()


class TestWaiting:
    @pytest.mark.parametrize("accept", ["*/*", EVENTS])
    def test_a_connection_that_is_cut_cancels(self, searching, accept):
        """While it is worked at, and while it waits for those."""
        connections = [send(searching, EMPTY, accept) for _ in range(3)]
        until(lambda: searching.status() == (2, 1))
        for connection in connections:
            connection.sock.shutdown(socket.SHUT_RDWR)
            connection.close()
        searching.until_idle()

    def test_who_came_first_is_answered_first(self, searching):
        first, second, third, fourth = (searching.events("count", EMPTY) for _ in range(4))
        next(first), next(second)
        for stream in (third, fourth):
            name, facts = next(stream)
            assert (name, facts["waiting"], facts["own"]) == ("progress", True, False)
        first.close()
        until(lambda: "method" in next(third)[1])
        next(fourth)
        assert next(fourth)[1]["waiting"] is True
        assert searching.status() == (2, 1)
        for stream in (second, third, fourth):
            stream.close()
        searching.until_idle()

    def test_too_many(self, searching):
        working = [send(searching, EMPTY) for _ in range(2)]
        until(lambda: searching.status() == (2, 0))
        waiting = [send(searching, EMPTY, page=f"{number}") for number in range(64)]
        until(lambda: searching.status() == (2, 64))
        with searching.request("POST", "/count", {"board": PUZZLE}) as response:
            facts = json.load(response)
            assert (response.status, facts["kind"]) == (503, "busy")
            assert facts["error"] == "64 questions are waiting: ask again later"
            assert int(response.headers["Retry-After"]) > 0
        instead = send(searching, EMPTY, page="7")  # in place of one that waits
        with waiting[7].getresponse() as response:
            assert json.load(response)["kind"] == "overtaken"
        until(lambda: searching.status() == (2, 64))
        for connection in (*working, *waiting, instead):
            connection.close()
        searching.until_idle()

    def test_many_ask_and_go_as_they_like(self, searching):
        """Everybody gets an answer, or is overtaken; no more are worked at than there may be."""
        most = []

        def somebody(seed):
            chance = random.Random(seed)
            for _ in range(25):
                page = chance.choice([None, "a", "b", "c"])
                if chance.random() < 0.4:
                    send(searching, EMPTY, chance.choice(["*/*", EVENTS]), page=page).close()
                    continue
                facts = searching.ask("count", PUZZLE, page=page)
                ends = facts.get("count"), facts.get("kind")
                assert ends == ("1", None) or (page is not None and ends == (None, "overtaken"))
                most.append(searching.status()[0])

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(somebody, range(6)))
        assert max(most) <= 2
        searching.until_idle()
        assert searching.ask("count", PUZZLE, page="a")["count"] == "1"


def test_an_estimate_waits_for_all_others_and_continues(searching):
    estimate = searching.events("estimate", ROUGH, seconds=3600)
    samples = next(facts["so_far"]["samples"] for _, facts in estimate if "so_far" in facts)
    count = searching.events("count", EMPTY)
    until(lambda: "method" in next(count)[1])
    until(lambda: next(estimate)[1].get("waiting"))
    assert searching.status() == (1, 1)  # though there is room for two
    count.close()
    until(lambda: next(estimate)[1].get("so_far", {}).get("samples", 0) > samples)
    assert searching.status() == (1, 0)
    estimate.close()
    searching.until_idle()


def test_half_a_request_does_not_stop_the_server(server):
    head = b"POST /count HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\n"
    bad = b"\x16\x03\x01\x02\n\n", b"GET / HTTP/9.9\r\n\r\n", b"\0" * 70_000
    for part in (b"", b"POST /cou", head[:50], head, head + b"{", *bad):
        with socket.create_connection((server.host, server.port)) as half:
            half.sendall(part)
            assert server.ask("count", PUZZLE)["count"] == "1"
    server.until_idle()
    assert "Traceback" not in server.stderr


def threads_and_memory(running):
    """Return the server's threads, and the KiB that it has in memory."""
    lines = Path(f"/proc/{running.process.pid}/status").read_text(encoding="ascii").splitlines()
    facts = dict(line.split(":", 1) for line in lines)
    return int(facts["Threads"]), int(facts["VmRSS"].split()[0])


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_a_thousand_questions(server):
    """Memory stays, and threads end; boards differ, so that what is kept of them changes."""

    def ask(some):
        connection = server.connect()
        for number in some:
            board = list(PUZZLE)
            board[number % 81] = "."
            kind = ("count", "shares", "sample", "read")[number % 4]
            accept = ("*/*", EVENTS)[number // 4 % 2]
            given = json.dumps({"board": "".join(board)})
            connection.request("POST", f"/{kind}", given, {"Accept": accept})
            with connection.getresponse() as response:
                assert b'"error"' not in response.read()
        connection.close()

    def four(some):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(ask, [some[start::4] for start in range(4)]))

    four(range(400))
    server.until_idle()
    threads, memory = threads_and_memory(server)
    four(range(400, 1400))
    server.until_idle()
    until(lambda: threads_and_memory(server)[0] <= threads)
    assert threads_and_memory(server)[1] < memory + (32 << 10)
