"""Limits of time and of connections, and errors of ours: servers whose library has faults."""

import json
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

from gpusudoku import collection
from tests.boards import LINE_4X4, PUZZLE
from tests.waiting import until
from tests.web.conftest import EVENTS, Running

FAULTS = """
import os, time
import gpusudoku.logic as library

def explain(board, real=library.explain):
    if board.n == 4:
        raise ZeroDivisionError("a secret")
    if board.n == 6:
        raise MemoryError
    while not os.path.exists({go!r}):  # work that cannot be cancelled
        time.sleep(0.005)
    return real(board)

library.explain = explain
"""
"""The steps of logic of a board fail, or take until a file is there."""
QUICK = """
from gpusudoku.web import serving
serving.REQUEST_SECONDS, serving.SEND_SECONDS = 0.3, 1.0
"""
FEW_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
"""
MOST = 128 // 4
"""Connections where a process may have so many files."""


class Faulty(Running):
    """A server one of whose questions takes until it is told to go."""

    def __init__(self, folder: Path, *options, first):
        self._go = folder / "go"
        first = FAULTS.format(go=str(self._go)) + first
        super().__init__(folder, "--most", 1, *options, first=first)

    def hold(self):
        """Let work that cannot be cancelled not end from now on."""
        self._go.unlink(missing_ok=True)

    def go(self):
        """Let all such work end."""
        self._go.touch()

    def stop(self):
        self.go()
        return super().stop()


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    running = Faulty(tmp_path_factory.mktemp("faulty"), first=QUICK)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limited")
    running = Faulty(folder, "--time-limit", 0.3, first=FEW_FILES)
    yield running
    running.stop()


def test_what_an_error_of_ours_was_is_said_on_the_terminal_once(faulty):
    for board, name, words in [
        (LINE_4X4, "ZeroDivisionError", "an unexpected error occurred; the server's terminal"),
        ("." * 36, "MemoryError", "out of memory"),
    ]:
        for _ in range(3):
            facts = faulty.ask("simplify", board)
            assert (facts["status"], facts["kind"]) == (500, "failed")
            assert facts["error"].startswith(words)
        assert "secret" not in f"{facts}{faulty.stderr}"
        [said] = [line for line in faulty.stderr.splitlines() if name in line]
        assert said.startswith(f"gpusudoku: a question (simplify) failed: {name} in ")


def test_a_question_that_waits_is_refused_in_its_time(faulty):
    faulty.hold()
    with ThreadPoolExecutor() as pool:
        hard = pool.submit(faulty.ask, "simplify", PUZZLE, page="a")
        until(lambda: faulty.status() == (1, 0))
        for accept in ("*/*", EVENTS):
            question = {"board": LINE_4X4, "seconds": 0.1}
            with faulty.request("POST", "/count", question, Accept=accept) as response:
                body = response.read()
            assert b"waited too long behind other questions" in body
            assert b'"kind":"busy","status":503' in body
        # But a page waits for what it has overtaken itself, however long that takes.
        new = faulty.events("count", PUZZLE, page="a", seconds=0.3)
        for _ in range(3):  # longer than its seconds
            name, facts = next(new)
            assert (name, facts["waiting"], facts["own"]) == ("progress", True, True)
        assert hard.result()["kind"] == "overtaken"
        assert faulty.status() == (1, 1)
        faulty.go()
        assert list(new)[-1][1]["count"] == "1"


def test_after_the_limit_of_the_server_a_question_is_given_up(limited):
    """Also while it waits for work that has been given up but does not end."""
    limited.hold()
    facts = limited.ask("simplify", PUZZLE)
    assert (facts["status"], facts["kind"]) == (504, "late")
    assert facts["error"] == "ended after 0.3 s, the time limit of the server"
    name, facts = list(limited.events("count", PUZZLE))[-1]
    assert (name, facts["status"], facts["kind"]) == ("error", 504, "late")
    assert limited.status() == (1, 0)
    limited.go()
    limited.until_idle()
    assert limited.stderr == ""


@pytest.mark.parametrize("begin", [
    "", "GET /sta", "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
    "POST /count HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
    "POST /none HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n50\r\n",
])  # fmt: skip
def test_a_request_that_comes_slowly_is_not_waited_for(faulty, begin):
    """Also where nobody reads its body, and after another one."""
    slow = faulty.connect()
    slow.connect()
    if begin:  # without a second request it may stay
        slow.request("GET", "/status")
        slow.getresponse().read()
    slow.sock.settimeout(0.05)

    def is_closed():
        try:
            while slow.sock.recv(1000):
                pass
        except TimeoutError:
            if begin:
                slow.sock.sendall(b"x")
            return False
        return True

    with suppress(ConnectionError):
        slow.sock.sendall(begin.encode())
        until(is_closed)
    slow.close()


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_one_who_reads_nothing_is_taken_for_gone(faulty):
    def sockets():
        links = Path(f"/proc/{faulty.process.pid}/fd").iterdir()
        return {str(each.readlink()) for each in links if each.is_symlink()}

    board = str(collection.load("16x16-two"))
    body = json.dumps({"board": board, "k": ["0"] * 1000}).encode()
    head = b"POST /nth HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    times = 40  # more than the system keeps for him
    with closing(socket.socket()) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        before = sockets()
        deaf.connect((faulty.host, faulty.port))
        deaf.sendall(times * (head + body))
        assert deaf.recv(1, socket.MSG_PEEK)  # the answer has begun
        his = sockets() - before
        assert his
        until(lambda: not his & sockets())


def test_of_too_many_connections_idle_and_slow_ones_are_closed(limited):
    """Those that are quick are answered, and what is wrong is said once."""
    idle = [limited.connect() for _ in range(MOST)]
    for connection in idle:
        connection.request("GET", "/status")
        assert connection.getresponse().read()
    slow = [socket.create_connection((limited.host, limited.port)) for _ in range(2 * MOST)]
    limited.until_idle()
    for each in slow[:MOST]:
        each.settimeout(300)
        with suppress(ConnectionError):
            assert each.recv(1) == b""
    for each in (*slow, *idle):
        each.close()
    words = f"gpusudoku: more than {MOST} connections: closed idle and slow ones\n"
    assert limited.stderr == words
