"""The server as an ASGI application: questions, the page's files, and what is known of both."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gpusudoku.errors import Cancelled, GpusudokuError
from gpusudoku.web.answers import Answers, Tell
from gpusudoku.web.desk import Case, Desk
from gpusudoku.web.events import News, stream, wants_stream
from gpusudoku.web.failures import Failure, failure_of, place_of_error
from gpusudoku.web.guard import Gone, Guard, Receive, read_body
from gpusudoku.web.questions import KINDS, Question, read_question
from gpusudoku.web.replies import JSON, Message, Send, as_json, reply, reply_failure

Complain = Callable[[str], None]
"""Says on a terminal what went wrong here."""

OPEN_SECONDS = 0.1
"""How often it is seen whether the desk is open."""
READERS = 2
"""Threads that read questions: a large one that is none takes a second."""
_readers = ThreadPoolExecutor(READERS, "gpusudoku-reader")

_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


class Permissions(NamedTuple):
    """Who may ask, besides pages of this machine; as ``Guard`` takes them."""

    hosts: Collection[str] = ()
    origins: Collection[str] = ()


def make_app(
    answers: Answers, desk: Desk, seconds: float, complain: Complain, allowed: Permissions
) -> Guard:
    """The whole application; every question is given up after some seconds."""
    about = as_json(answers.about())

    async def tell_about(request: Request) -> Response:
        return Response(about, media_type=JSON)

    async def tell_status(request: Request) -> Response:
        counts = {"working": desk.working, "waiting": desk.waiting}
        status = {**counts, "compiling": not desk.is_open}
        return Response(as_json(status), media_type=JSON)

    questions = [
        Route(f"/{kind}", Asking(kind, answers, desk, seconds, complain), methods=["POST"])
        for kind in KINDS
    ]
    page = _page_files()
    routes = [
        *questions,
        Route("/about", tell_about),
        Route("/status", tell_status),
        Route("/", partial(_give_file, page, "index.html")),
        Route("/page/{name}", partial(_give_file, page, None)),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refuse})
    app.router.redirect_slashes = False
    return Guard(app, allowed.hosts, allowed.origins)


class Asking:
    """Answers questions of one kind, as one JSON object or as a stream."""

    def __init__(
        self, kind: str, answers: Answers, desk: Desk, seconds: float, complain: Complain
    ) -> None:
        self._kind, self._answers, self._desk = kind, answers, desk
        self._seconds, self._complain = seconds, complain

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a question; the work for it ends with the connection of whoever asks."""
        ticket = self._desk.ticket()
        try:
            body = await read_body(scope, receive)
            loop = asyncio.get_running_loop()
            question = await loop.run_in_executor(_readers, read_question, self._kind, body)
            is_stream = wants_stream(Headers(scope=scope).get("accept", ""))
            news = News()
            case = Case(partial(self._work, question, news.tell), question.page, ticket)
            case.answer.add_done_callback(news.wake)
            if question.kind == "read":  # which needs no engine
                try:
                    case.answer.set_result(await loop.run_in_executor(_readers, case.work, case))
                except GpusudokuError as error:  # an event, if events are asked for
                    case.end(error)
            elif not (self._desk.is_open or is_stream):
                message = "still compiling (first start only): ask again in a few seconds"
                raise Failure("busy", message)
            taken = case.answer.done() or self._desk.ask(case)
        except Gone:
            return
        except Exception as error:
            await reply_failure(send, self._failure_of(error))
            return
        limit = asyncio.create_task(self._limit(case, question.seconds))
        watch = asyncio.create_task(self._watch(case, receive))
        try:
            if taken and is_stream:
                await stream(case, news, send, self._failure_of)
            else:
                await self._answer(case, news, send)
        finally:
            limit.cancel()
            watch.cancel()
            case.end()

    async def _limit(self, case: Case[bytes], seconds: float | None) -> None:
        """End a question that waits or is worked at for too long, once the desk is open."""
        while case.compiling:
            await asyncio.sleep(OPEN_SECONDS)
        first = self._seconds if seconds is None else min(seconds, self._seconds)
        await asyncio.sleep(first)
        if seconds is not None and case.waiting and not case.behind_own:
            case.end(Failure("busy", "waited too long behind other questions: ask again later"))
        await asyncio.sleep(self._seconds - first)
        case.end(Failure("late", f"given up after {self._seconds:g} s, as the server is told to"))

    def _work(self, question: Question, tell: Tell, case: Case[bytes]) -> bytes:
        waited = 0.0 if case.behind_own else time.monotonic() - case.asked
        return as_json(self._answers.answer(question, tell, case.cancel, waited))

    async def _watch(self, case: Case[bytes], receive: Receive) -> None:
        """Drop the case once nobody waits for its answer."""
        while (await receive())["type"] != "http.disconnect":
            pass
        case.end()

    async def _answer(self, case: Case[bytes], news: News, send: Send) -> None:
        while not case.answer.done():
            await news.wait()
        error = case.answer.exception()
        if error is None:
            await reply(send, case.answer.result() + b"\n")
        elif not isinstance(error, Cancelled):
            await reply_failure(send, self._failure_of(error))

    def _failure_of(self, error: BaseException) -> Failure:
        """What is told; of our own errors the terminal is told where they are."""
        if not isinstance(error, (Failure, GpusudokuError)):
            self._complain(f"a question ({self._kind}) failed: {place_of_error(error)}")
        return failure_of(error)


class _File(NamedTuple):
    """A file of the page."""

    content: bytes
    kind: str
    tag: str


def _page_files() -> dict[str, _File]:
    """All files of the page by name: no path of a request ever meets the file system."""
    found = {}
    for file in files("gpusudoku.web").joinpath("page").iterdir():
        kind = _TYPES.get(file.name.rpartition(".")[2])
        if kind is not None:
            content = file.read_bytes()
            tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            found[file.name] = _File(content, kind, tag)
    return found


async def _give_file(page: dict[str, _File], name: str | None, request: Request) -> Response:
    file = page.get(request.path_params["name"] if name is None else name)
    if file is None:
        raise HTTPException(404)
    headers = {"Cache-Control": "no-cache", "ETag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers={**headers, "Content-Type": file.kind})


async def _refuse(request: Request, error: Exception) -> Response:
    """Tell of a path or a method that is none."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        failure = Failure("method", f"this path does not take {request.method}")
    else:
        failure = Failure("missing", "there is nothing at this path")
    body = as_json(failure.facts) + b"\n"
    return Response(body, failure.status, headers=error.headers, media_type=JSON)
