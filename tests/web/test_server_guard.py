"""Foreign hosts and origins are refused, before anything of a request is read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

httpx = pytest.importorskip("httpx")
responses = pytest.importorskip("starlette.responses", reason="the server needs the extra web")

SITE = "https://example.org"
ADDRESS = "http://127.0.0.1:6561"


class Client:
    """Asks a guard of an application that answers everybody."""

    def __init__(self) -> None:
        from gpusudoku.web.guard import Guard

        self._guard = Guard(responses.PlainTextResponse("yes"), ["Box.example", "::2"], [SITE])

    def request(self, method: str, path: str, headers: Any) -> Any:
        async def ask() -> Any:
            transport = httpx.ASGITransport(self._guard)
            async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
                return await client.request(method, path, headers=headers)

        return asyncio.run(ask())


@pytest.fixture(scope="module")
def client() -> Client:
    return Client()


def get(client: Client, path: str = "/about", **headers: str) -> tuple[int, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = client.request("GET", path, named)
    return response.status_code, response


@pytest.mark.parametrize("host", [
    "127.0.0.1:6561", "127.0.0.1", "localhost", "LocalHost:80", "[::1]:6561", "[::1]",
    "box.example:1", "BOX.EXAMPLE", "[::2]:6561",
])  # fmt: skip
def test_known_hosts(client: Client, host: str) -> None:
    assert get(client, host=host)[0] == 200
    assert get(client, host=host, origin=f"http://{host}")[0] == 200


@pytest.mark.parametrize("host", [
    "example.org", "127.0.0.1.example.org", "localhost.example.org", "evil-localhost", "127.0.0.2",
    "localhost:6561:1", "localhost:", "localhost:x", "user@localhost", "localhost/", "", "[::3]",
    "0.0.0.0", "::1", "localhost.", "127.1", "2130706433", " ", "localhost,example.org",
])  # fmt: skip
def test_foreign_hosts(client: Client, host: str) -> None:
    status, response = get(client, host=host)
    assert (status, response.json()["kind"]) == (403, "foreign")
    assert "--allow-host" in response.json()["error"]


def test_two_hosts(client: Client) -> None:
    headers = [("host", "localhost"), ("host", "localhost")]
    assert client.request("GET", "/", headers).status_code == 403


@pytest.mark.parametrize("origin", [
    "null", "http://example.org", "https://example.org.evil.net", "https://example.org:444",
    "http://127.0.0.1:6562", "https://127.0.0.1:6561", "http://localhost:6561", "", "file://",
    "http://127.0.0.1", "http://127.0.0.1:6561/", "http://127.0.0.1:6561.evil.net",
])  # fmt: skip
def test_foreign_origins(client: Client, origin: str) -> None:
    status, response = get(client, origin=origin)
    assert (status, response.json()["kind"]) == (403, "foreign")
    assert "access-control-allow-origin" not in response.headers


def test_an_allowed_origin(client: Client) -> None:
    status, response = get(client, origin=SITE, sec_fetch_site="cross-site")
    assert (status, response.text) == (200, "yes")
    assert response.headers["access-control-allow-origin"] == SITE
    assert response.headers["cross-origin-resource-policy"] == "cross-origin"
    assert response.headers["vary"] == "Origin"
    headers = {"origin": SITE, "access-control-request-method": "POST"}
    asked = client.request("OPTIONS", "/count", headers)
    assert (asked.status_code, asked.text) == (204, "")
    assert "POST" in asked.headers["access-control-allow-methods"]
    assert "Content-Type" in asked.headers["access-control-allow-headers"]
    assert get(client, origin=SITE, host="example.org")[0] == 403


def test_other_sites_may_link_to_the_page_but_not_use_it(client: Client) -> None:
    visit = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert get(client, "/", **visit, sec_fetch_dest="document")[0] == 200
    assert get(client, "/", **visit, sec_fetch_dest="iframe")[0] == 403
    assert get(client, "/about", **visit, sec_fetch_dest="document")[0] == 403
    assert get(client, "/about", sec_fetch_site="cross-site", sec_fetch_mode="no-cors")[0] == 403
    assert get(client, "/about", sec_fetch_site="same-origin")[0] == 200
    assert get(client, "/about", sec_fetch_site="none")[0] == 200


def test_what_is_refused_is_safe_and_short(client: Client) -> None:
    response = get(client, host="\x1b[2J" + "e" * 5000)[1]
    assert len(response.text) < 300
    assert "\x1b" not in response.text
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cache-control"] == "no-store"
