"""The server of the page: its port, the thread that it runs in, and its end."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from gpusudoku.engines.engine import Engine
from gpusudoku.errors import GpusudokuError, InputError
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.interrupts import WAIT_SECONDS
from gpusudoku.jobs.threads import start_thread
from gpusudoku.kernels import compile_many
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.web.answers import Answerer
from gpusudoku.web.app import Complain, Permissions, in_address, make_app
from gpusudoku.web.questions import question_of
from gpusudoku.web.request_queue import RequestQueue

USUAL_PORT = 6561
"""81 * 81."""
REQUEST_SECONDS = 10.0
"""The time in which a request must arrive whole, after its first byte or the connection."""
SEND_SECONDS = 30.0
"""A client that takes nothing of an answer for so long is disconnected."""
IDLE_SECONDS = 60
"""An idle connection is closed after this time."""
GOODBYE_SECONDS = 5
"""The time that slow readers get when the server stops."""
MAX_CONNECTIONS = 256
"""Connections at a time; fewer where a process may have few descriptors."""
QUIET_SECONDS = 60.0
"""The same message is not printed again within this time."""
BACKLOG = 16
"""Connections that are accepted before any can be closed: they have descriptors, too."""

_PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
_WARMING = [("count", _PUZZLE), *((kind, "." * 81) for kind in ("count", "shares", "sample"))]


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine and cannot be reached from others."""
    return ipaddress.ip_address(str(_resolved(host, 0)[1][0]).partition("%")[0]).is_loopback


def listen(host: str, port: int | None) -> socket.socket:
    """Open a socket that listens; without a port at the usual one, or at any if that is taken."""
    where = host if port is None else f"port {port} of {host}"
    why = ""
    for wanted in (USUAL_PORT, 0) if port is None else (port,):
        family, address = _resolved(host, wanted)
        listening = None
        try:
            # asyncio sends small pieces at once only where the protocol is named; else they wait
            # for 40 ms.
            listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            if os.name == "posix":  # elsewhere it would let two servers have one port
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(BACKLOG)
            return listening
        except OSError as error:
            why = error.strerror or "it cannot be had"
            if listening is not None:
                listening.close()
    raise GpusudokuError(f"{where}: {why}")


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InputError(f"--host {host}: there is no such host") from None
    found.sort(key=lambda each: each[0] != socket.AF_INET)
    return found[0][0], found[0][4]


def most_connections() -> int:
    """Return the number of connections that there may be."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
    except ImportError:  # Windows
        return MAX_CONNECTIONS
    limit = getrlimit(RLIMIT_NOFILE)[0]
    return MAX_CONNECTIONS if limit == RLIM_INFINITY else min(MAX_CONNECTIONS, limit // 4)


class _Protocol(H11Protocol):
    """HTTP with limits of connections and time: uvicorn waits for slow clients for ever."""

    def __init__(self, most: int, complain: Complain, **settings: Any) -> None:
        super().__init__(**settings)
        self._most = most
        self._complain = complain
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch("request", REQUEST_SECONDS)
        if len(self.connections) > self._most:
            self._complain(f"more than {self._most} connections: closed idle and slow ones")
            others: list[Any] = list(self.connections)
            others = [each for each in others if not each.transport.is_closing()]
            idle = [each for each in others if each.timeout_keep_alive_task is not None]
            slow = [each for each in others if "request" in each._timers]
            oldest = min(slow, key=lambda each: each._timers["request"].when())
            (idle or [oldest])[0].transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):  # the request is complete
            self._unwatch("request")
        elif "request" not in self._timers:
            self._watch("request", REQUEST_SECONDS)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch("answer", SEND_SECONDS)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unwatch("answer")

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch("request")
        self._unwatch("answer")
        super().connection_lost(exc)

    def _watch(self, what: str, seconds: float) -> None:
        self._timers[what] = self.loop.call_later(seconds, self.transport.abort)

    def _unwatch(self, what: str) -> None:
        if timer := self._timers.pop(what, None):
            timer.cancel()


class Server:
    """Serves the page from a thread of its own, until it is stopped; then it closes ``listening``.

    It works on up to ``most`` questions at a time, gives each up ``seconds`` after it came, and
    answers none until ``warm_up`` has compiled the ``kernels``.
    """

    def __init__(
        self,
        answerer: Answerer,
        listening: socket.socket,
        *,
        most: int,
        seconds: float,
        allowed: Permissions,
        complain: Complain,
        kernels: Sequence[Kernel] = (),
    ) -> None:
        self._kernels = kernels
        self._listening = listening
        self._queue = RequestQueue(
            most, "gpusudoku-answer", is_open=all(kernel.kept for kernel in kernels)
        )
        self._print, self._printed = complain, dict[str, float]()
        config = uvicorn.Config(
            make_app(answerer, self._queue, allowed, seconds=seconds, complain=self._complain),
            http=partial(_Protocol, most_connections(), self._complain),  # type: ignore[arg-type]
            backlog=BACKLOG,
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=GOODBYE_SECONDS,
        )
        self._server = uvicorn.Server(config)
        self._has_ended, self._end = False, SimpleQueue[None]()

    def start(self) -> None:
        """Begin to answer."""
        start_thread(threading.Thread(target=self._run, name="gpusudoku-server", daemon=True))

    def warm_up(self, engine: Engine) -> bool:
        """Compile and load the kernels of usual questions; return whether questions had to wait."""
        waiting = not self._queue.is_open
        compile_many.ready(self._kernels)
        answerer = Answerer(engine)
        for kind, board in _WARMING:
            answerer.answer(question_of(kind, {"board": board}), lambda _: None, CancelToken())
        self._queue.open()
        return waiting

    def wait(self) -> None:
        """Wait until the server has ended; Ctrl-C ends the waiting, not the server."""
        # Not by a join: an interrupt of one can make a thread that still runs look ended.
        while not self._has_ended:
            with suppress(Empty):
                self._end.get(timeout=WAIT_SECONDS)

    def stop(self) -> None:
        """Stop all work, end all streams, and wait until that is done."""
        self._queue.close()
        end = time.monotonic() + GOODBYE_SECONDS
        while self._queue.working and not self._has_ended and time.monotonic() < end:
            time.sleep(0.01)  # uvicorn would count this time as that of slow readers
        self._server.should_exit = True
        self.wait()
        self._listening.close()

    def _run(self) -> None:
        """Run the event loop; uvicorn handles signals only in the main thread."""

        def complain(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            error = context.get("exception")
            self._complain(f"{type(error).__name__}: {error}" if error else context["message"])

        async def serve() -> None:
            # asyncio would write a traceback for every connection that it cannot accept
            asyncio.get_running_loop().set_exception_handler(complain)
            await self._server.serve([self._listening])

        try:
            asyncio.run(serve())
        except Exception as error:
            self._complain(f"the server ended: {error}")
        finally:
            self._has_ended = True
            self._end.put(None)

    def _complain(self, message: str) -> None:
        """Print an error on the terminal, the same one only once a minute."""
        now = time.monotonic()
        if now - self._printed.get(message, -inf) >= QUIET_SECONDS:
            self._printed[message] = now
            self._print(message)


def addresses_of(host: str, listening: socket.socket, names: Sequence[str]) -> list[str]:
    """List the addresses of the page; ``names`` are those that others have for this machine."""
    found = dict.fromkeys(map(in_address, [host] if is_loopback(host) else names))
    return [f"http://{name}:{listening.getsockname()[1]}/" for name in found]
