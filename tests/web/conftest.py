"""`gpusudoku serve` as a process of its own, asked over HTTP."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpusudoku.board.geometry import NINE
from gpusudoku.cli.compile import usual_kernels
from gpusudoku.kernels.compile_many import ready
from tests.waiting import until

pytest.importorskip("starlette", reason="the server needs the extra web")
pytest.importorskip("uvicorn", reason="the server needs the extra web")

ROOT = Path(__file__).resolve().parents[2]
SITE = "https://example.org"
"""A site whose pages may ask the server of all tests."""
EVENTS = "text/event-stream"
PROGRAM = """
from gpusudoku.jobs import interrupts
interrupts.PATIENCE_SECONDS = 120  # on a busy machine it may take long to end
%s
from gpusudoku.__main__ import main
main()
"""


class Running:
    """A server that runs until ``stop``, and Python code that its process runs ``first``."""

    def __init__(
        self, folder: Path, *options: object, compiled: bool = True, first: str = ""
    ) -> None:
        if compiled:  # here, where each kernel is compiled once for all processes
            ready(usual_kernels(NINE))
        self._said = folder / "stderr"
        arguments = ["serve", "--device", "cpu", *options]
        if "--port" not in arguments:
            arguments += ["--port", 0]
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM % first, *map(str, arguments)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )
        assert self.process.stdout is not None
        self.printed = self.process.stdout.readline().rstrip("\n")
        assert self.printed, self.said
        self.address = self.printed.partition("#")[0]
        host, _, port = self.address.removeprefix("http://").rstrip("/").rpartition(":")
        self.host, self.port = host.strip("[]"), int(port)
        if compiled:
            until(lambda: not self.state()["compiling"])

    @property
    def said(self) -> str:
        """What it has said on stderr so far."""
        return self._said.read_text()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=300)

    def request(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> http.client.HTTPResponse:
        """Ask by a connection of its own; what is no bytes is sent as JSON."""
        connection = self.connect()
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, {k.replace("_", "-"): v for k, v in headers.items()})
        return connection.getresponse()

    def ask(self, kind: str, board: Any, **fields: Any) -> dict[str, Any]:
        """Ask a question; return the answer, be it an error."""
        return self.post(kind, {"board": board, **fields})

    def post(self, kind: str, body: Any) -> dict[str, Any]:
        """Ask with any body."""
        with self.request("POST", f"/{kind}", body) as response:
            facts: dict[str, Any] = json.load(response)
            assert facts.get("status", 200) == response.status
            return facts

    def events(self, kind: str, board: str, **fields: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give the events of an answer; the question is cancelled when this is closed."""
        with self.request("POST", f"/{kind}", {"board": board, **fields}, Accept=EVENTS) as answer:
            assert answer.status == 200, answer.read()
            yield from events_of(answer)

    def state(self) -> dict[str, Any]:
        """Return what the server says of itself."""
        with self.request("GET", "/status") as response:
            facts: dict[str, Any] = json.load(response)
            return facts

    def status(self) -> tuple[int, int]:
        """Return how many questions are worked at, and how many wait."""
        facts = self.state()
        return facts["working"], facts["waiting"]

    def until_idle(self) -> None:
        """Wait until nothing is worked at."""
        until(lambda: self.status() == (0, 0))

    def stop(self) -> int:
        """End the server as Ctrl-C does; return its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(300)
        finally:
            self.process.kill()
            self.process.wait()
            if self.process.stdout is not None:
                self.process.stdout.close()


def events_of(response: http.client.HTTPResponse) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the events of a stream, as they come."""
    while name := response.readline():
        data = response.readline()
        empty = response.readline()
        assert name.startswith(b"event: ")
        assert data.startswith(b"data: ")
        assert empty == b"\n"
        yield name[7:].decode().strip(), json.loads(data[6:])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a server for all tests, which goes by a few names, and which one site may ask."""
    names = "--allow-host", "Box.example", "--allow-host", "::2", "--allow-origin", SITE
    running = Running(tmp_path_factory.mktemp("server"), *names)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def searching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a server that searches only: it never comes to the end of an empty board."""
    running = Running(tmp_path_factory.mktemp("searching"), "--method", "search", "--most", 2)
    yield running
    running.stop()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Start a server with options; it does not outlive the test."""
    started: list[Running] = []

    def start(*options: object, **settings: Any) -> Running:
        folder = tmp_path / f"server{len(started)}"
        folder.mkdir()
        started.append(Running(folder, *options, **settings))
        return started[-1]

    yield start
    for running in started:
        running.stop()
