"""Answers over HTTP: JSON objects, and files."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from gpusudoku.web.failures import Failure

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

JSON = "application/json"


def as_json(facts: Mapping[str, Any]) -> bytes:
    """An object on one line, in ASCII."""
    return json.dumps(facts, separators=(",", ":"), allow_nan=False).encode("ascii")


async def reply(
    send: Send,
    body: bytes,
    kind: str = JSON,
    status: int = 200,
    more: Mapping[str, str] | None = None,
) -> None:
    """Send a whole answer; ``more`` are further headers."""
    headers = {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})}
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


async def reply_failure(send: Send, failure: Failure) -> None:
    """Send why there is no answer; the connection is closed where its request may not be read."""
    more = dict(failure.headers)
    if failure.kind in ("large", "foreign", "input"):
        more["Connection"] = "close"
    await reply(send, as_json(failure.facts) + b"\n", status=failure.status, more=more)
