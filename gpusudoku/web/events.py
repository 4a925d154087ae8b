"""An answer as a stream of server-sent events: ``progress``, then ``result`` or ``error``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from gpusudoku.web.desk import Case
from gpusudoku.web.failures import Failure
from gpusudoku.web.replies import Send, as_json

STREAM = "text/event-stream"
BEAT_SECONDS = 0.25
"""There is progress after this time, though it be only that time goes by."""
_HEADERS = [
    (b"content-type", f"{STREAM}; charset=utf-8".encode()),
    (b"x-accel-buffering", b"no"),
]


def wants_stream(accept: str) -> bool:
    """Whether a client asks for a stream rather than for one JSON object."""
    return any(each.split(";")[0].strip().lower() == STREAM for each in accept.split(","))


async def stream(case: Case, send: Send, failure_of: Callable[[BaseException], Failure]) -> None:
    """Send what is told of a case, and in the end its answer."""
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    facts: dict[str, object] = {}
    while not case.answer.done():
        with suppress(TimeoutError):
            async with asyncio.timeout(BEAT_SECONDS):
                await case.news.wait()
        facts.update(case.take_news())
        if case.answer.done():
            break
        now = {"waiting": True, "own": case.behind_own} if case.waiting else facts
        await _send(send, "progress", as_json({**now, "elapsed": round(case.seconds, 3)}))
    if case.answer.cancelled():  # nobody is there any more
        return
    error = case.answer.exception()
    if error is None:
        await _send(send, "result", case.answer.result())
    else:
        await _send(send, "error", as_json(failure_of(error).facts))
    await send({"type": "http.response.body"})


async def _send(send: Send, event: str, data: bytes) -> None:
    body = b"event: %s\ndata: %s\n\n" % (event.encode(), data)
    await send({"type": "http.response.body", "body": body, "more_body": True})
