"""Who may ask at all: hosts, origins and sizes; and what every answer says for safety.

A page of a foreign site can send requests to this machine, and can have its own name lead here
(DNS rebinding). So a request needs a ``Host`` that is known, and no ``Origin`` but that host's.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection

from starlette.datastructures import Headers, MutableHeaders

from gpusudoku.errors import shown
from gpusudoku.web.failures import Failure
from gpusudoku.web.replies import Message, Send, reply_failure

MOST_BYTES = 256 << 10
"""Of a body; a board of 25x25 cells with all its candidates has 16 KB."""
MOST_READ = 8 << 20
"""Of a body that is too large so much is read, so that its sender gets to know."""

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]/@\s]+)(?::\d{1,5})?", re.ASCII)

Receive = Callable[[], Awaitable[Message]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

SAFETY = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
}
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Accept, Content-Type",
    "Access-Control-Allow-Private-Network": "true",
    "Access-Control-Max-Age": "600",
}


def in_address(host: str) -> str:
    """A name or an address of a host as it stands in addresses of pages."""
    return f"[{host.strip('[]')}]".lower() if ":" in host else host.lower()


class Gone(Exception):  # noqa: N818 - it is nobody's error
    """Nobody is there any more to be answered."""


class Guard:
    """Lets only those requests through to an ASGI application that may be answered.

    Parameters
    ----------
    app
        The application.
    hosts
        Names that it is called by, besides the usual ones of this machine alone.
    origins
        Pages of other addresses that may ask, as ``https://example.org``.
    """

    def __init__(self, app: App, hosts: Collection[str], origins: Collection[str]) -> None:
        self._app, self._origins = app, frozenset(origins)
        self._hosts = frozenset([*LOOPBACK, *map(in_address, hosts)])

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse to."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        origin = origin if origin in self._origins else None
        send = _saying(send, origin)
        try:
            self._check(scope, headers)
            if origin is not None and scope["method"] == "OPTIONS":
                await send({"type": "http.response.start", "status": 204, "headers": []})
                await send({"type": "http.response.body"})
            else:
                await self._app(scope, receive, send)
        except Failure as failure:
            await reply_failure(send, failure)

    def _check(self, scope: Message, headers: Headers) -> None:
        """Refuse whoever may not ask."""
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
        is_cross = headers.get("sec-fetch-site") == "cross-site"
        if is_cross and not origins and not _is_visit(scope, headers):
            raise Failure("foreign", "pages of other sites may not ask")


def _is_visit(scope: Message, headers: Headers) -> bool:
    """Whether somebody has followed a link to the page; no frame may show it."""
    mode, place = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return (scope["method"], scope["path"], mode, place) == ("GET", "/", "navigate", "document")


def _saying(send: Send, origin: str | None) -> Send:
    """Send with the headers that every answer has; ``origin`` may read it besides."""

    async def saying(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message.get("headers", ())))
            headers.update(SAFETY)
            headers.setdefault("Cache-Control", "no-store")
            if origin is None:
                headers["Cross-Origin-Resource-Policy"] = "same-origin"
            else:
                headers["Cross-Origin-Resource-Policy"] = "cross-origin"
                headers["Access-Control-Allow-Origin"] = origin
                headers["Vary"] = "Origin"
                if message["status"] == 204:
                    headers.update(_PREFLIGHT)
            message = {**message, "headers": headers.raw}
        await send(message)

    return saying


async def read_body(scope: Message, receive: Receive) -> bytes:
    """The body of a request.

    Raises
    ------
    Failure
        If it is too large.
    Gone
        If it does not come to its end.
    """
    parts, size = [], 0
    while size <= MOST_READ:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        part = message.get("body", b"")
        size += len(part)
        if size <= MOST_BYTES:
            parts.append(part)
        if not message.get("more_body", False):
            break
    if size > MOST_BYTES:
        raise Failure("large", f"the body has more than {MOST_BYTES >> 10} KiB")
    return b"".join(parts)
