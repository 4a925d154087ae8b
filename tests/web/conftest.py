"""`gpusudoku serve` as a process of its own, with requests over HTTP."""

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
from gpusudoku.kernels.compile_many import load_kernels
from tests.waiting import until

pytest.importorskip("starlette", reason="the server needs the extra web")
pytest.importorskip("uvicorn", reason="the server needs the extra web")

ROOT = Path(__file__).resolve().parents[2]
SITE = "https://example.org"
"""A site whose pages may send requests to the server of all tests."""
EVENTS = "text/event-stream"
PROGRAM = """
from gpusudoku.jobs import interrupts
interrupts.MIN_GRACE_SECONDS = 120  # on a busy machine it may take long to stop
%s
from gpusudoku.__main__ import main
main()
"""


class Running:
    """A server that runs until ``stop``. Its process first runs the Python code ``first``."""

    def __init__(
        self, folder: Path, *options: object, compiled: bool = True, first: str = ""
    ) -> None:
        if compiled:  # in this process, where each kernel is compiled once for all servers
            load_kernels(usual_kernels(NINE))
        self._stderr_path = folder / "stderr"
        arguments = ["serve", "--device", "cpu", *options]
        if "--port" not in arguments:
            arguments += ["--port", 0]
        with self._stderr_path.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM % first, *map(str, arguments)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        assert self.process.stdout is not None
        self.printed = self.process.stdout.readline().rstrip("\n")
        assert self.printed, self.stderr
        self.address = self.printed.partition("#")[0]
        host, _, port = self.address.removeprefix("http://").rstrip("/").rpartition(":")
        self.host = host.strip("[]")
        self.port = int(port)
        if compiled:
            until(lambda: not self.state()["compiling"])

    @property
    def stderr(self) -> str:
        """Everything that the server has printed on stderr so far."""
        return self._stderr_path.read_text()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=300)

    def request(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> http.client.HTTPResponse:
        """Send a request over a new connection. A body that is not bytes is sent as JSON."""
        connection = self.connect()
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        header_fields = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, header_fields)
        return connection.getresponse()

    def ask(self, kind: str, board: Any, **fields: Any) -> dict[str, Any]:
        """Ask a question; return the answer, or the error."""
        return self.post(kind, {"board": board, **fields})

    def post(self, kind: str, body: Any) -> dict[str, Any]:
        """Ask a question with any body; return the answer, or the error."""
        with self.request("POST", f"/{kind}", body) as response:
            facts: dict[str, Any] = json.load(response)
            assert facts.get("status", 200) == response.status
            return facts

    def events(self, kind: str, board: str, **fields: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the events of an answer. Closing the generator cancels the question."""
        question = {"board": board, **fields}
        with self.request("POST", f"/{kind}", question, Accept=EVENTS) as response:
            assert response.status == 200, response.read()
            yield from events_of(response)

    def state(self) -> dict[str, Any]:
        """Return the status of the server."""
        with self.request("GET", "/status") as response:
            facts: dict[str, Any] = json.load(response)
            return facts

    def status(self) -> tuple[int, int]:
        """Return the numbers of questions that are worked on, and that wait."""
        facts = self.state()
        return facts["working"], facts["waiting"]

    def until_idle(self) -> None:
        """Wait until no question is worked on."""
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
    """Yield the events of a stream as they come."""
    while name := response.readline():
        data = response.readline()
        empty = response.readline()
        assert name.startswith(b"event: ")
        assert data.startswith(b"data: ")
        assert empty == b"\n"
        yield name[7:].decode().strip(), json.loads(data[6:])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a server for all tests, with a few further names and one allowed site."""
    names = "--allow-host", "Box.example", "--allow-host", "::2", "--allow-origin", SITE
    running = Running(tmp_path_factory.mktemp("server"), *names)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def searching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a server that only searches. A search of an empty board never ends."""
    running = Running(tmp_path_factory.mktemp("searching"), "--method", "search", "--most", 2)
    yield running
    running.stop()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Yield a function that starts a server with options. It is stopped after the test."""
    started: list[Running] = []

    def start(*options: object, **settings: Any) -> Running:
        folder = tmp_path / f"server{len(started)}"
        folder.mkdir()
        started.append(Running(folder, *options, **settings))
        return started[-1]

    yield start
    for running in started:
        running.stop()
