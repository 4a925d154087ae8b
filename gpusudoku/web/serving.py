"""The server of the page: its socket, its thread, its limits, and its end."""

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
from gpusudoku.web.app import Permissions, PrintError, host_in_url, make_app
from gpusudoku.web.questions import question_of
from gpusudoku.web.request_queue import RequestQueue

USUAL_PORT = 6561
"""81 * 81."""
REQUEST_SECONDS = 10.0
"""The time in which a whole request must arrive, from its first byte or from the connection on."""
SEND_SECONDS = 30.0
"""A client that reads nothing of an answer for this time is disconnected."""
IDLE_SECONDS = 60
"""The time after which an idle connection is closed."""
GOODBYE_SECONDS = 5
"""The time that slow readers get when the server stops."""
MAX_CONNECTIONS = 256
"""The number of connections at a time; fewer if the process may have few file descriptors."""
QUIET_SECONDS = 60.0
"""The same message is not printed again within this time."""
BACKLOG = 16
"""The number of connections that are accepted before others can be closed. They need file
descriptors, too."""

_PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
_WARM_UP_QUESTIONS = [
    ("count", _PUZZLE),
    ("count", "." * 81),
    ("shares", "." * 81),
    ("sample", "." * 81),
]
"""The kinds and boards of questions whose answers load all kernels that usual questions need."""


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine and cannot be reached from other machines."""
    _, address = _resolve(host, 0)
    ip_address, _, _ = str(address[0]).partition("%")  # without the zone of an IPv6 address
    return ipaddress.ip_address(ip_address).is_loopback


def listen(host: str, port: int | None) -> socket.socket:
    """Open a listening socket; without a port at USUAL_PORT, or at a free one if that is in use."""
    ports = (USUAL_PORT, 0) if port is None else (port,)
    reason = ""
    for port_to_try in ports:
        family, address = _resolve(host, port_to_try)
        listening = None
        try:
            # asyncio disables Nagle's algorithm only if the protocol is named. With the algorithm,
            # small chunks of an answer would wait for 40 ms.
            listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            if os.name == "posix":  # on Windows it would let two servers use one port
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(BACKLOG)
            return listening
        except OSError as error:
            reason = error.strerror or "cannot be opened"
            if listening is not None:
                listening.close()
    name = host if port is None else f"port {port} of {host}"
    raise GpusudokuError(f"{name}: {reason}")


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    """Return the family and the address of a host, of IPv4 if it has one."""
    try:
        addresses = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InputError(f"--host {host}: there is no such host") from None
    addresses.sort(key=lambda info: info[0] != socket.AF_INET)
    family, _, _, _, address = addresses[0]
    return family, address


def max_connections() -> int:
    """Return the number of connections that the server accepts at a time."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
    except ImportError:  # Windows
        return MAX_CONNECTIONS
    limit = getrlimit(RLIMIT_NOFILE)[0]
    if limit == RLIM_INFINITY:
        return MAX_CONNECTIONS
    # The rest is for files, and for connections that are accepted and not yet closed.
    return min(MAX_CONNECTIONS, limit // 4)


class _Protocol(H11Protocol):
    """HTTP with limits of connections and time: uvicorn alone waits for slow clients for ever."""

    def __init__(self, max_connections: int, print_error: PrintError, **settings: Any) -> None:
        super().__init__(**settings)
        self._max_connections = max_connections
        self._print_error = print_error
        self._timers: dict[str, asyncio.TimerHandle] = {}
        """Timers that close the connection, by the name of what it waits for."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer("request", REQUEST_SECONDS)
        if len(self.connections) > self._max_connections:
            self._print_error(
                f"more than {self._max_connections} connections: closed idle and slow ones"
            )
            self._close_one()

    def _close_one(self) -> None:
        """Close an idle connection, or else the one that has waited longest for its request."""
        # There is always one that waits: this connection has just been made.
        protocols: list[Any] = list(self.connections)
        protocols = [protocol for protocol in protocols if not protocol.transport.is_closing()]
        idle_protocols = [
            protocol for protocol in protocols if protocol.timeout_keep_alive_task is not None
        ]
        slow_protocols = [protocol for protocol in protocols if "request" in protocol._timers]
        slowest = min(slow_protocols, key=lambda protocol: protocol._timers["request"].when())
        closed = idle_protocols[0] if idle_protocols else slowest
        closed.transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):  # the request is complete
            self._stop_timer("request")
        elif "request" not in self._timers:
            self._start_timer("request", REQUEST_SECONDS)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._start_timer("answer", SEND_SECONDS)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_timer("answer")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer("request")
        self._stop_timer("answer")
        super().connection_lost(exc)

    def _start_timer(self, name: str, seconds: float) -> None:
        """Close the connection after some seconds, unless the timer is stopped before."""
        self._timers[name] = self.loop.call_later(seconds, self.transport.abort)

    def _stop_timer(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()


class Server:
    """Serves the page from a thread of its own, until it is stopped. Then it closes ``listening``.

    It works on up to ``max_requests`` questions at a time, and ends each after ``seconds``. It
    answers no questions until ``warm_up`` has compiled the ``kernels``.
    """

    def __init__(
        self,
        answerer: Answerer,
        listening: socket.socket,
        *,
        max_requests: int,
        seconds: float,
        allowed: Permissions,
        print_error: PrintError,
        kernels: Sequence[Kernel] = (),
    ) -> None:
        self._kernels = kernels
        self._listening = listening
        self._queue = RequestQueue(
            max_requests, "gpusudoku-answer", is_open=all(kernel.is_cached for kernel in kernels)
        )
        self._printer = print_error
        self._printed_at = dict[str, float]()
        """The time at which each message was printed last."""
        app = make_app(
            answerer, self._queue, allowed, seconds=seconds, print_error=self._print_error
        )
        config = uvicorn.Config(
            app,
            http=partial(_Protocol, max_connections(), self._print_error),  # type: ignore[arg-type]
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
        self._has_ended = False
        self._end = SimpleQueue[None]()
        """Gets an entry when the server has ended."""

    def start(self) -> None:
        """Begin to serve."""
        start_thread(threading.Thread(target=self._run, name="gpusudoku-server", daemon=True))

    def warm_up(self, engine: Engine) -> bool:
        """Compile and load the kernels of usual questions; return whether questions had to wait."""
        had_to_wait = not self._queue.is_open
        compile_many.load_kernels(self._kernels)
        answerer = Answerer(engine)
        for kind, board in _WARM_UP_QUESTIONS:
            answerer.answer(question_of(kind, {"board": board}), lambda _: None, CancelToken())
        self._queue.open()
        return had_to_wait

    def wait(self) -> None:
        """Wait until the server has ended. Ctrl-C ends the waiting, not the server."""
        # Not by Thread.join: if it is interrupted, a thread that runs may be taken for ended.
        while not self._has_ended:
            with suppress(Empty):
                self._end.get(timeout=WAIT_SECONDS)

    def stop(self) -> None:
        """Stop all work, end all streams, and wait until that is done."""
        self._queue.close()
        # uvicorn stops only later: it would count this time as that of slow readers.
        deadline = time.monotonic() + GOODBYE_SECONDS
        while self._queue.working and not self._has_ended and time.monotonic() < deadline:
            time.sleep(0.01)
        self._server.should_exit = True
        self.wait()
        self._listening.close()

    def _run(self) -> None:
        """Run the event loop. uvicorn installs signal handlers only in the main thread."""

        def print_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            error = context.get("exception")
            self._print_error(f"{type(error).__name__}: {error}" if error else context["message"])

        async def serve() -> None:
            # asyncio would print a traceback for every connection that it cannot accept.
            asyncio.get_running_loop().set_exception_handler(print_loop_error)
            await self._server.serve([self._listening])

        try:
            asyncio.run(serve())
        except Exception as error:
            self._print_error(f"the server ended: {error}")
        finally:
            self._has_ended = True
            self._end.put(None)

    def _print_error(self, message: str) -> None:
        """Print an error on the terminal, the same message only once a minute."""
        now = time.monotonic()
        if now - self._printed_at.get(message, -inf) >= QUIET_SECONDS:
            self._printed_at[message] = now
            self._printer(message)


def addresses_of(host: str, listening: socket.socket, names: Sequence[str]) -> list[str]:
    """List the addresses of the page. ``names`` are those by which others reach this machine."""
    hosts = [host] if is_loopback(host) else names
    port = listening.getsockname()[1]
    unique_hosts = dict.fromkeys(map(host_in_url, hosts))
    return [f"http://{url_host}:{port}/" for url_host in unique_hosts]
