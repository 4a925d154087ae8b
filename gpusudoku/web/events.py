"""An answer as a stream of server-sent events: ``progress``, then ``result`` or ``error``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from gpusudoku.errors import Cancelled
from gpusudoku.web.answers import Facts
from gpusudoku.web.desk import Case
from gpusudoku.web.failures import Failure
from gpusudoku.web.replies import Send, as_json

STREAM = "text/event-stream"
BEAT_SECONDS = 0.25
"""There is progress once in this time, though it be only that time goes by: who waits sees it move,
and an answer that is quick comes alone."""
_HEADERS = [
    (b"content-type", f"{STREAM}; charset=utf-8".encode()),
    (b"x-accel-buffering", b"no"),
]


class News:
    """What threads tell an event loop of a case: progress, and that it has ended."""

    def __init__(self) -> None:
        self.facts: Facts = {}
        """What is known so far: of what comes faster than it is sent, the last."""
        self._loop, self._event = asyncio.get_running_loop(), asyncio.Event()

    def tell(self, facts: Facts) -> None:
        """Take in progress, from the thread that works at the case; nobody is woken for that."""
        self.facts = {**self.facts, **facts}

    def wake(self, *_: object) -> None:
        """Wake whoever waits, from any thread."""
        with suppress(RuntimeError):  # the loop has been closed, so nobody wants to know
            self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self, seconds: float | None = None) -> None:
        """Wait until there is something new; not longer than some seconds, if they are told."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
        self._event.clear()


def wants_stream(accept: str) -> bool:
    """Whether a client asks for a stream rather than for one JSON object."""
    return any(each.split(";")[0].strip().lower() == STREAM for each in accept.split(","))


async def stream(
    case: Case[bytes],
    news: News,
    send: Send,
    failure_of: Callable[[BaseException], Failure],
) -> None:
    """Send what is told of a case, and in the end its answer."""
    start = time.perf_counter()
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    while not case.answer.done():
        await news.wait(BEAT_SECONDS)
        if case.answer.done():
            break
        now = {"waiting": True, "own": case.behind_own} if case.waiting else news.facts
        now = {"compiling": True} if case.compiling else now
        elapsed = round(time.perf_counter() - start, 3)
        await _send(send, "progress", as_json({**now, "elapsed": elapsed}))
    error = case.answer.exception()
    if isinstance(error, Cancelled):  # nobody is there any more
        return
    if error is None:
        await _send(send, "result", case.answer.result())
    else:
        await _send(send, "error", as_json(failure_of(error).facts))
    await send({"type": "http.response.body"})


async def _send(send: Send, event: str, data: bytes) -> None:
    body = b"event: %s\ndata: %s\n\n" % (event.encode(), data)
    await send({"type": "http.response.body", "body": body, "more_body": True})
