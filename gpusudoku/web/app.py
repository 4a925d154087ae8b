"""The server as an ASGI application: its routes, answers as JSON or as events, and who may ask.

A page of a foreign site can send requests to this machine, and can have its own name lead here
(DNS rebinding). So a request needs a ``Host`` that is known, and no ``Origin`` but that host's.
Every answer forbids browsers what the page does not need.
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
from gpusudoku.web.answers import Answerer, Failure, Json, Tell, failure_of, place_of_error
from gpusudoku.web.questions import KINDS, Question, read_question
from gpusudoku.web.request_queue import PendingRequest, RequestQueue

Complain = Callable[[str], None]
"""Prints an error of the server on its terminal."""

MAX_BYTES = 256 << 10
"""Of a body; a board of 25x25 cells with all its candidates has 16 KB."""
BUSY_SECONDS = 5
"""The time after which a client that was refused as all are busy may ask again."""
BEAT_SECONDS = 0.25
"""The time between two events with progress, which may only say how much time has gone by."""
_readers = ThreadPoolExecutor(2, "gpusudoku-reader")  # of a large body that is no question a second

JSON = "application/json"
EVENTS = "text/event-stream"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]/@\s]+)(?::\d{1,5})?", re.ASCII)
_SAFETY = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
}
mimetypes.add_type("text/javascript", ".js")  # some systems have another, which no browser runs


class Permissions(NamedTuple):
    """The names of the server, and the origins whose pages may ask, besides this machine's own."""

    hosts: Collection[str] = ()
    origins: Collection[str] = ()
    """As ``https://example.org``."""


def make_app(
    answerer: Answerer,
    queue: RequestQueue,
    allowed: Permissions,
    *,
    seconds: float,
    complain: Complain,
) -> ASGIApp:
    """Make the whole application; it gives every question up after some seconds."""
    about = _as_json(answerer.about())

    async def tell_about(request: Request) -> Response:
        return Response(about, media_type=JSON)

    async def tell_status(request: Request) -> Response:
        counts = {"working": queue.working, "waiting": queue.waiting}
        return Response(_as_json({**counts, "compiling": not queue.is_open}), media_type=JSON)

    page = _Page(directory=Path(__file__).with_name("page"))
    routes = [
        Route("/about", tell_about),
        Route("/status", tell_status),
        Route("/", page),
        Route("/page/{name}", page),
    ]
    for kind in KINDS:
        endpoint = _Endpoint(kind, answerer, queue, seconds, complain)
        routes.append(Route(f"/{kind}", endpoint, methods=["POST"]))
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refuse})
    app.router.redirect_slashes = False
    cors = CORSMiddleware(
        app,
        allow_origins=allowed.origins,
        allow_methods=["GET", "POST"],
        allow_headers=["Accept", "Content-Type"],
        allow_private_network=True,
    )
    return _Guard(cors, allowed)


class _Guard:
    """Refuses requests that come by another name, or from pages of foreign sites."""

    def __init__(self, app: ASGIApp, allowed: Permissions) -> None:
        self._app, self._origins = app, frozenset(allowed.origins)
        self._hosts = frozenset([*LOOPBACK, *map(in_address, allowed.hosts)])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        may_read = "cross" if headers.get("origin") in self._origins else "same"

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(raw=list(message.get("headers", ())))
                out.update({**_SAFETY, "Cross-Origin-Resource-Policy": f"{may_read}-origin"})
                out.setdefault("Cache-Control", "no-store")
                message = {**message, "headers": out.raw}
            await send(message)

        app = self._app
        try:
            self._check(scope, headers)
        except Failure as failure:
            app = _failure_response(failure)
        await app(scope, receive, send_safely)

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise a Failure if the request may not be answered."""
        hosts = headers.getlist("host")
        host = _HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        if host is None or host[1] not in self._hosts:
            asked = shown(hosts[0]) if hosts else "no name"
            raise Failure("foreign", f"the server does not go by {asked} (see --allow-host)")
        origins = headers.getlist("origin")
        for origin in origins:
            if origin not in self._origins and origin.lower() != f"http://{host[0]}":
                message = f"pages of {shown(origin)} may not ask (see --allow-origin)"
                raise Failure("foreign", message)
        if headers.get("sec-fetch-site") == "cross-site" and not origins:
            mode = headers.get("sec-fetch-mode")
            place = headers.get("sec-fetch-dest")
            request = scope["method"], scope["path"], mode, place
            if request != ("GET", "/", "navigate", "document"):  # a link to the page, in no frame
                raise Failure("foreign", "pages of other sites may not ask")


class _Page(StaticFiles):
    """The files of the page, which a browser asks for again each time."""

    def get_path(self, scope: Scope) -> str:
        name: str = scope["path_params"].get("name", "index.html")
        return name

    def file_response(self, *args: Any, **settings: Any) -> Response:
        response = super().file_response(*args, **settings)
        response.headers["Cache-Control"] = "no-cache"
        return response


@dataclass(frozen=True)
class _Endpoint:
    """Answers questions of one kind, as one JSON object, or as events: progress, and the end."""

    kind: str
    answerer: Answerer
    queue: RequestQueue
    seconds: float
    complain: Complain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a question; the work for it ends with the connection of the client."""
        number = self.queue.next_number()
        request = Request(scope, receive)
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        progress: Json = {}
        parts = request.stream()
        try:
            body = await _read_body(request.headers, parts)
            question = await loop.run_in_executor(_readers, read_question, self.kind, body)
            accepted = request.headers.get("accept", "").split(",")
            is_stream = EVENTS in (each.split(";")[0].strip().lower() for each in accepted)
            # Of progress that comes faster than it is sent, the last counts.
            work = partial(self._work, question, progress.update)
            pending = PendingRequest(work, question.page, number)
            pending.answer.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
            if question.kind == "read":  # which needs no engine
                try:
                    found = await loop.run_in_executor(_readers, pending.work, pending)
                    pending.answer.set_result(found)
                except GpusudokuError as error:  # an event, if events are asked for
                    pending.end(error)
            elif not (self.queue.is_open or is_stream):
                message = "still compiling (first start only): ask again in a few seconds"
                raise Failure("busy", message)
            taken = pending.answer.done() or self.queue.ask(pending)
        except ClientDisconnect:
            return
        except Exception as error:
            refuse = _failure_response(self._failure_of(error))
            await refuse(scope, receive, partial(_send_and_drain, send, parts))
            return
        limit = asyncio.create_task(self._limit(pending, question.seconds))
        watch = asyncio.create_task(_end_with_connection(pending, receive))
        try:
            if taken and is_stream:
                headers = {"X-Accel-Buffering": "no"}
                events = self._events(pending, ended, progress)
                await StreamingResponse(events, 200, headers, EVENTS)(scope, receive, send)
                return
            await ended.wait()
            failed = pending.answer.exception()
            if failed is None:
                response = Response(pending.answer.result() + b"\n", media_type=JSON)
                await response(scope, receive, send)
            elif not isinstance(failed, Cancelled):
                await _failure_response(self._failure_of(failed))(scope, receive, send)
        finally:
            limit.cancel()
            watch.cancel()
            pending.end()

    async def _limit(self, pending: PendingRequest[bytes], seconds: float | None) -> None:
        """End a question that waits or is worked on for too long, once the queue is open."""
        while pending.compiling:
            await asyncio.sleep(0.1)
        first = self.seconds if seconds is None else min(seconds, self.seconds)
        await asyncio.sleep(first)
        if seconds is not None and pending.waiting and not pending.behind_own:
            pending.end(Failure("busy", "waited too long behind other questions: ask again later"))
        await asyncio.sleep(self.seconds - first)
        words = f"given up after {self.seconds:g} s, as the server is told to"
        pending.end(Failure("late", words))

    def _work(self, question: Question, tell: Tell, pending: PendingRequest[bytes]) -> bytes:
        waited = 0.0 if pending.behind_own else time.monotonic() - pending.asked
        return _as_json(self.answerer.answer(question, tell, pending.cancel, waited))

    async def _events(
        self, pending: PendingRequest[bytes], ended: asyncio.Event, progress: Json
    ) -> AsyncIterator[bytes]:
        start = time.perf_counter()
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), BEAT_SECONDS)
            if pending.answer.done():
                break
            facts = progress
            if pending.compiling:
                facts = {"compiling": True}
            elif pending.waiting:
                facts = {"waiting": True, "own": pending.behind_own}
            elapsed = round(time.perf_counter() - start, 3)
            yield b"event: progress\ndata: %s\n\n" % _as_json({**facts, "elapsed": elapsed})
        error = pending.answer.exception()
        if error is None:
            yield b"event: result\ndata: %s\n\n" % pending.answer.result()
        elif not isinstance(error, Cancelled):
            yield b"event: error\ndata: %s\n\n" % _as_json(self._failure_of(error).facts)

    def _failure_of(self, error: BaseException) -> Failure:
        """Return the failure for the client; print where an unexpected error arose."""
        if not isinstance(error, (Failure, GpusudokuError)):
            self.complain(f"a question ({self.kind}) failed: {place_of_error(error)}")
        return failure_of(error)


async def _end_with_connection(pending: PendingRequest[bytes], receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    pending.end()


async def _read_body(headers: Headers, parts: AsyncIterator[bytes]) -> bytes:
    """Read the body of a request; raise a Failure as soon as it is known to be too large."""
    body = b""
    too_large = Failure("large", f"the body has more than {MAX_BYTES >> 10} KiB")
    if int(headers.get("content-length", 0)) > MAX_BYTES:
        raise too_large
    async for part in parts:
        body += part
        if len(body) > MAX_BYTES:
            raise too_large
    return body


async def _send_and_drain(send: Send, parts: AsyncIterator[bytes], message: Message) -> None:
    """Send a refusal, and read the rest of the body: before that its sender may not read at all.

    The connection would be reset if it was closed with a part unread. It is closed in any case once
    the time of a request is over.
    """
    if message["type"] == "http.response.body":
        await send({**message, "more_body": True})
        with suppress(ClientDisconnect):
            async for _ in parts:
                pass
        message = {**message, "body": b""}
    await send(message)


async def _refuse(request: Request, error: Exception) -> Response:
    """Refuse an unknown path, or a method that a path does not take."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        failure = Failure("method", f"this path does not take {request.method}")
    else:
        failure = Failure("missing", "there is nothing at this path")
    return _failure_response(failure, error.headers)


def _failure_response(failure: Failure, headers: Mapping[str, str] | None = None) -> Response:
    more = dict(headers or {})
    if failure.kind == "busy":
        more["Retry-After"] = str(BUSY_SECONDS)
    if failure.kind in ("large", "foreign", "input"):  # the request may not have been read
        more["Connection"] = "close"
    return Response(_as_json(failure.facts) + b"\n", failure.status, more, JSON)


def _as_json(facts: Json) -> bytes:
    """Return an object on one line, in ASCII."""
    return json.dumps(facts, separators=(",", ":"), allow_nan=False).encode("ascii")


def in_address(host: str) -> str:
    """Return the name or address of a host as it stands in addresses of pages."""
    return f"[{host.strip('[]')}]".lower() if ":" in host else host.lower()
