"""The server as an ASGI application: routes, access, and answers as JSON or as events.

A page of a foreign site can send requests to this machine. It can also make its own host name point
to this machine (DNS rebinding). So a request needs a known ``Host``, and no other ``Origin`` than
that host. Every response forbids browsers everything that the page does not need.
"""

from __future__ import annotations

import asyncio
import json
import mimetypes
import re
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gpusudoku.errors import Cancelled, GpusudokuError, shown
from gpusudoku.web.answers import Answerer, Failure, Json, Report, failure_of, place_of_error
from gpusudoku.web.questions import BACKGROUND_KIND, KINDS, Question, read_question
from gpusudoku.web.request_queue import PendingRequest, RequestQueue

PrintError = Callable[[str], None]
"""Prints an error of the server on its terminal."""

MAX_BODY_BYTES = 256 << 10
"""A board of 25x25 cells with all its candidates has 16 KB."""
BUSY_SECONDS = 5
"""The time after which a refused client should ask again, if the server was busy."""
PROGRESS_SECONDS = 0.25
"""The time between two progress events. They may only report the elapsed time."""
# Reading a question takes up to a second, if a large body is not one.
_readers = ThreadPoolExecutor(2, "gpusudoku-reader")

JSON = "application/json"
EVENTS = "text/event-stream"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]/@\s]+)(?::\d{1,5})?", re.ASCII)
_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
}
# Some systems have another type for .js, with which browsers do not run it.
mimetypes.add_type("text/javascript", ".js")


class Permissions(NamedTuple):
    """Further names of the server, and further origins whose pages may send requests."""

    hosts: Collection[str] = ()
    origins: Collection[str] = ()
    """Such as ``https://example.org``."""


def make_app(
    answerer: Answerer,
    queue: RequestQueue,
    allowed: Permissions,
    *,
    seconds: float,
    print_error: PrintError,
) -> ASGIApp:
    """Make the application. A question ends after ``seconds``, whatever its own time limit is."""
    about = _to_json(answerer.about())

    async def send_about(request: Request) -> Response:
        return Response(about, media_type=JSON)

    async def send_status(request: Request) -> Response:
        facts = {
            "working": queue.working,
            "waiting": queue.waiting,
            "compiling": not queue.is_open,
        }
        return Response(_to_json(facts), media_type=JSON)

    page = _Page(directory=Path(__file__).with_name("page"))
    routes = [
        Route("/about", send_about),
        Route("/status", send_status),
        Route("/", page),
        Route("/page/{name}", page),
    ]
    for kind in KINDS:
        endpoint = _Endpoint(kind, answerer, queue, seconds, print_error)
        routes.append(Route(f"/{kind}", endpoint, methods=["POST"]))
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refuse_path})
    app.router.redirect_slashes = False
    cors = CORSMiddleware(
        app,
        allow_origins=allowed.origins,
        allow_methods=["GET", "POST"],
        allow_headers=["Accept", "Content-Type"],
        allow_private_network=True,  # public sites may send requests to a private address
    )
    return _Guard(cors, allowed)


class _Guard:
    """Refuses requests that use an unknown host name, or come from pages of foreign sites."""

    def __init__(self, app: ASGIApp, allowed: Permissions) -> None:
        self._app = app
        self._origins = frozenset(allowed.origins)
        self._hosts = frozenset([*LOOPBACK, *map(host_in_url, allowed.hosts)])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        readers = "cross-origin" if headers.get("origin") in self._origins else "same-origin"

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                response_headers = MutableHeaders(raw=list(message.get("headers", ())))
                response_headers.update(
                    {**_SECURITY_HEADERS, "Cross-Origin-Resource-Policy": readers}
                )
                response_headers.setdefault("Cache-Control", "no-store")
                message = {**message, "headers": response_headers.raw}
            await send(message)

        app = self._app
        try:
            self._check(scope, headers)
        except Failure as failure:
            app = _failure_response(failure)
        await app(scope, receive, send_with_headers)

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise a Failure if the request may not be answered."""
        hosts = headers.getlist("host")
        host = _HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        if host is None or host[1] not in self._hosts:
            name = shown(hosts[0]) if hosts else "an empty name"
            raise Failure("foreign", f"{name} is not a name of this server (see --allow-host)")
        origins = headers.getlist("origin")
        for origin in origins:
            if origin not in self._origins and origin.lower() != f"http://{host[0]}":
                message = f"pages of {shown(origin)} may not send requests (see --allow-origin)"
                raise Failure("foreign", message)
        # Browsers send no origin with simple GET requests. A link from another site to the page is
        # fine, but not in a frame.
        if headers.get("sec-fetch-site") == "cross-site" and not origins:
            mode = headers.get("sec-fetch-mode")
            destination = headers.get("sec-fetch-dest")
            request = (scope["method"], scope["path"], mode, destination)
            if request != ("GET", "/", "navigate", "document"):
                raise Failure("foreign", "pages of other sites may not send requests")


class _Page(StaticFiles):
    """The files of the page. A browser asks each time whether they have changed."""

    def get_path(self, scope: Scope) -> str:
        name: str = scope["path_params"].get("name", "index.html")
        return name

    def file_response(self, *args: Any, **settings: Any) -> Response:
        response = super().file_response(*args, **settings)
        response.headers["Cache-Control"] = "no-cache"
        return response


@dataclass(frozen=True)
class _Endpoint:
    """Answers questions of one kind: with one JSON object, or with events, the last one the answer.

    A question is not answered after ``seconds``.
    """

    kind: str
    answerer: Answerer
    queue: RequestQueue
    seconds: float
    print_error: PrintError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a question. The work stops if the client closes the connection."""
        number = self.queue.next_number()  # before waiting for the body: the order of arrival
        request = Request(scope, receive)
        loop = asyncio.get_running_loop()
        has_ended = asyncio.Event()
        progress: Json = {}
        body_chunks = request.stream()
        try:
            body = await _read_body(request.headers, body_chunks)
            # In a thread: reading a large board would block all connections.
            question = await loop.run_in_executor(_readers, read_question, self.kind, body)
            # Progress may come faster than events are sent. Each report overwrites the last one.
            work = partial(self._work, question, progress.update)
            in_background = question.kind == BACKGROUND_KIND
            pending = PendingRequest(work, question.page, number, in_background)
            pending.answer.add_done_callback(lambda _: loop.call_soon_threadsafe(has_ended.set))
            wants_events = _accepts_events(request.headers)
            if question.kind == "read":
                # This needs no engine, and so it need not wait. Its errors are sent like those of
                # other questions: as an event if the client wants events.
                try:
                    answer = await loop.run_in_executor(_readers, pending.work, pending)
                    pending.answer.set_result(answer)
                except GpusudokuError as error:
                    pending.end(error)
            elif not (self.queue.is_open or wants_events):
                message = "still compiling (first start only): ask again in a few seconds"
                raise Failure("busy", message)
            is_accepted = pending.answer.done() or self.queue.ask(pending)
        except ClientDisconnect:
            return
        except Exception as error:
            refuse = _failure_response(self._failure_of(error))
            await refuse(scope, receive, partial(_send_and_drain, send, body_chunks))
            return
        time_limit = asyncio.create_task(self._end_in_time(pending, question.seconds))
        disconnect = asyncio.create_task(_end_with_connection(pending, receive))
        try:
            # A refusal is not sent as an event: it has a status.
            if is_accepted and wants_events:
                headers = {"X-Accel-Buffering": "no"}  # else nginx would hold events back
                events = self._events(pending, has_ended, progress)
                await StreamingResponse(events, 200, headers, EVENTS)(scope, receive, send)
                return
            await has_ended.wait()
            failure = pending.answer.exception()
            if failure is None:
                response = Response(pending.answer.result() + b"\n", media_type=JSON)
                await response(scope, receive, send)
            elif not isinstance(failure, Cancelled):
                await _failure_response(self._failure_of(failure))(scope, receive, send)
        finally:
            time_limit.cancel()
            disconnect.cancel()
            pending.end()

    async def _end_in_time(self, pending: PendingRequest[bytes], seconds: float | None) -> None:
        """End a question that waits, or is worked on, for too long once the queue is open.

        A question with ``seconds`` may wait for that time, and work on it ends by itself then. Any
        question ends after the time limit of the server.
        """
        while pending.compiling:
            await asyncio.sleep(0.1)
        max_wait = self.seconds if seconds is None else min(seconds, self.seconds)
        await asyncio.sleep(max_wait)
        if seconds is not None and pending.waiting and not pending.behind_own:
            pending.end(Failure("busy", "waited too long behind other questions: ask again later"))
        await asyncio.sleep(self.seconds - max_wait)
        message = f"ended after {self.seconds:g} s, the time limit of the server"
        pending.end(Failure("late", message))

    def _work(self, question: Question, report: Report, pending: PendingRequest[bytes]) -> bytes:
        """Compute the answer, as JSON."""
        waited = 0.0
        if not pending.behind_own:
            waited = time.monotonic() - pending.asked
        return _to_json(self.answerer.answer(question, report, pending.cancel, waited))

    async def _events(
        self, pending: PendingRequest[bytes], has_ended: asyncio.Event, progress: Json
    ) -> AsyncIterator[bytes]:
        """Yield events with the progress until the question has ended, and then the answer."""
        start = time.perf_counter()
        while True:
            # Waiting for the end, not sleeping: a quick answer is sent at once.
            with suppress(TimeoutError):
                await asyncio.wait_for(has_ended.wait(), PROGRESS_SECONDS)
            if pending.answer.done():
                break
            facts = progress
            if pending.compiling:
                facts = {"compiling": True}
            elif pending.waiting:
                facts = {"waiting": True, "own": pending.behind_own}
            elapsed = round(time.perf_counter() - start, 3)
            yield b"event: progress\ndata: %s\n\n" % _to_json({**facts, "elapsed": elapsed})
        error = pending.answer.exception()
        if error is None:
            yield b"event: result\ndata: %s\n\n" % pending.answer.result()
        elif not isinstance(error, Cancelled):
            yield b"event: error\ndata: %s\n\n" % _to_json(self._failure_of(error).facts)

    def _failure_of(self, error: BaseException) -> Failure:
        """Return the failure for the client; print where an unexpected error was raised."""
        if not isinstance(error, (Failure, GpusudokuError)):
            self.print_error(f"a question ({self.kind}) failed: {place_of_error(error)}")
        return failure_of(error)


def _accepts_events(headers: Headers) -> bool:
    """Return whether a request accepts events."""
    media_types = headers.get("accept", "").split(",")
    return EVENTS in (media_type.split(";")[0].strip().lower() for media_type in media_types)


async def _end_with_connection(pending: PendingRequest[bytes], receive: Receive) -> None:
    """End a question when the client closes the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
    pending.end()


async def _read_body(headers: Headers, body_chunks: AsyncIterator[bytes]) -> bytes:
    """Read the body of a request; raise a Failure as soon as it is known to be too large."""
    body = b""
    too_large = Failure("large", f"the body has more than {MAX_BODY_BYTES >> 10} KiB")
    if int(headers.get("content-length", 0)) > MAX_BODY_BYTES:
        raise too_large
    async for chunk in body_chunks:
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise too_large
    return body


async def _send_and_drain(send: Send, body_chunks: AsyncIterator[bytes], message: Message) -> None:
    """Send a message of a refusal, and read the rest of the body.

    The client may read the refusal only after it has sent the whole body. If the connection was
    closed with a part of the body unread, it would be reset, and the refusal could be lost. The
    connection is closed in any case once the time of a request is over.
    """
    if message["type"] == "http.response.body":
        await send({**message, "more_body": True})
        with suppress(ClientDisconnect):
            async for _ in body_chunks:
                pass
        message = {**message, "body": b""}
    await send(message)


async def _refuse_path(request: Request, error: Exception) -> Response:
    """Refuse an unknown path, or a method that a path does not take."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        failure = Failure("method", f"this path does not take {request.method}")
    else:
        failure = Failure("missing", "there is nothing at this path")
    return _failure_response(failure, error.headers)


def _failure_response(failure: Failure, headers: Mapping[str, str] | None = None) -> Response:
    response_headers = dict(headers or {})
    if failure.kind == "busy":
        response_headers["Retry-After"] = str(BUSY_SECONDS)
    if failure.kind in ("large", "foreign", "input"):
        # The body may not have been read. Its rest must not be taken for the next request.
        response_headers["Connection"] = "close"
    return Response(_to_json(failure.facts) + b"\n", failure.status, response_headers, JSON)


def _to_json(facts: Json) -> bytes:
    """Return an object as JSON on one line, in ASCII."""
    return json.dumps(facts, separators=(",", ":"), allow_nan=False).encode("ascii")


def host_in_url(host: str) -> str:
    """Return a host as it is written in URLs: an IPv6 address in brackets."""
    return f"[{host.strip('[]')}]".lower() if ":" in host else host.lower()
