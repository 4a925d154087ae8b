"""The server's files, paths, methods and bodies, and who may ask at all."""

import http.client
import json
import re
import socket

import pytest

from tests.boards import PUZZLE
from tests.web.conftest import EVENTS, ROOT, SITE, events_of

TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
}


class TestBodies:
    def test_large_ones_are_refused(self, server):
        body = b'{"board":"' + b"1" * (256 << 10) + b'"}'
        assert server.post("count", body) == {
            "error": "the body has more than 256 KiB",
            "kind": "large",
            "status": 413,
        }
        for size in 1 << 20, 20 << 20:
            for chunked in False, True:
                connection = server.connect()
                body = b" " * size
                body = iter([body]) if chunked else body
                connection.request("POST", "/count", body, encode_chunked=chunked)
                with connection.getresponse() as response:
                    assert (response.status, json.load(response)["kind"]) == (413, "large")

    @pytest.mark.parametrize(
        ("length", "body"),
        [
            ("Content-Length: 262145", b""),
            ("Content-Length: 99999999999999999999", b""),
            ("Content-Length: 300000\r\nExpect: 100-continue", b""),
            ("Content-Length: 300000", b" " * 1000),
            ("Transfer-Encoding: chunked", b"40001\r\n" + b" " * 0x40001),
        ],
    )
    def test_large_ones_are_refused_before_they_end(self, server, length, body):
        head = f"POST /count HTTP/1.1\r\nHost: {server.host}\r\n{length}\r\n\r\n"
        with socket.create_connection((server.host, server.port), timeout=300) as connection:
            connection.sendall(head.encode() + body)
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert (response.status, json.load(response)["kind"]) == (413, "large")
            assert response.headers["Connection"] == "close"

    def test_they_come_in_pieces_and_the_connection_is_kept(self, server):
        connection = server.connect()
        for accept in ("*/*", EVENTS, "*/*"):
            body = iter([b'{"bo', b'ard": "', PUZZLE.encode(), b'"}'])
            connection.request("POST", "/count", body, {"Accept": accept}, encode_chunked=True)
            response = connection.getresponse()
            if accept == EVENTS:
                assert list(events_of(response))[-1][1]["count"] == "1"
            else:
                assert json.load(response)["count"] == "1"
        connection.close()


class TestFiles:
    def test_those_of_the_page(self, server):
        for path in (ROOT / "gpusudoku" / "web" / "page").iterdir():
            with server.request("GET", f"/page/{path.name}") as response:
                assert (response.status, response.read()) == (200, path.read_bytes())
                assert response.headers["Content-Type"].startswith(TYPES[path.suffix])
                tag = response.headers["ETag"]
            with server.request("GET", f"/page/{path.name}", If_None_Match=tag) as response:
                assert (response.status, response.read()) == (304, b"")
            with server.request("GET", f"/page/{path.name}", If_None_Match='"old"') as response:
                assert response.status == 200
        with server.request("GET", "/") as response:
            page = response.read().decode()
        addresses = re.findall(r'(?:href|src)="(.*?)"', page)
        assert addresses
        assert all(address.startswith("/page/") for address in addresses)

    def test_there_is_nothing_else(self, server):
        for path in (
            "/page/", "/page", "/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py",
            "/app.py", "//etc/passwd", "/page/index.html%00", "/page/index.html/", "/page/%ff",
            "/page/..%5capp.py", "/page/a.js%0d%0aX:%201", "/count/", "/docs",
        ):  # fmt: skip
            with get(server, path) as response:
                facts = json.load(response)
            assert (response.status, facts["kind"]) == (404, "missing"), path
            assert facts["error"] == "there is nothing at this path"


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS"])
def test_other_methods(server, method):
    with server.request(method, "/count") as response:
        facts = json.load(response)
        assert (response.status, facts["kind"]) == (405, "method")
        assert facts["error"] == f"this path does not take {method}"
        assert response.headers["Allow"] == "POST"


def test_every_answer_is_safe(server):
    for method, path, body in [
        ("GET", "/", None), ("GET", "/page/app.js", None), ("GET", "/none", None),
        ("POST", "/count", {"board": PUZZLE}), ("POST", "/count", b"{"), ("PUT", "/count", b""),
    ]:  # fmt: skip
        with server.request(method, path, body) as response:
            headers = response.headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'; script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        is_file = body is None and path != "/none"
        assert headers["Cache-Control"] == ("no-cache" if is_file else "no-store")
        assert "Access-Control-Allow-Origin" not in headers


def get(server, path="/about", host="", **headers):
    """Ask by some host, with headers."""
    connection = server.connect()
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{server.port}")
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    return connection.getresponse()


class TestHosts:
    """A page of a foreign site may have its own name lead here."""

    @pytest.mark.parametrize(
        "host", ["127.0.0.1", "LocalHost:80", "[::1]:6561", "BOX.example:1", "[::2]"]
    )
    def test_known(self, server, host):
        assert get(server, host=host).status == 200
        assert get(server, host=host, origin=f"http://{host}").status == 200

    def test_foreign(self, server):
        for host in (
            "example.org", "127.0.0.1.example.org", "evil-localhost", "127.0.0.2", "localhost:",
            "localhost:6561:1", "localhost:x", "user@localhost", "localhost/", "[::3]", "0.0.0.0",
            "::1", "localhost.", "localhost,example.org",
        ):  # fmt: skip
            with get(server, host=host) as response:
                facts = json.load(response)
                assert (response.status, facts["kind"]) == (403, "foreign"), host
                words = f"'{host}' is not a name of this server (see --allow-host)"
                assert facts["error"] == words
                assert response.headers["Connection"] == "close"

    def test_what_is_refused_is_safe_and_short(self, server):
        with get(server, host="\x7f" + "e" * 5000) as response:
            text = response.read()
        assert len(text) < 300
        assert b"\x7f" not in text
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Cache-Control"] == "no-store"


class TestOrigins:
    def test_foreign(self, server):
        here = f"127.0.0.1:{server.port}"
        for origin in (
            "null", "http://example.org", f"{SITE}.evil.net", f"{SITE}:444", "http://127.0.0.1:1",
            f"https://{here}", f"http://localhost:{server.port}", "file://", "http://127.0.0.1",
            f"http://{here}/", f"http://{here}.evil.net",
        ):  # fmt: skip
            with get(server, origin=origin) as response:
                facts = json.load(response)
            assert (response.status, facts["kind"]) == (403, "foreign"), origin
            assert (
                facts["error"] == f"pages of '{origin}' may not send requests (see --allow-origin)"
            )
            assert "Access-Control-Allow-Origin" not in response.headers

    def test_an_allowed_one(self, server):
        with get(server, origin=SITE, sec_fetch_site="cross-site") as response:
            assert (response.status, json.load(response)["device"]) == (200, "cpu")
        assert response.headers["Access-Control-Allow-Origin"] == SITE
        assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
        assert response.headers["Vary"] == "Origin"
        asked = {"Origin": SITE, "Access_Control_Request_Method": "POST"}
        with server.request("OPTIONS", "/count", **asked) as response:
            assert response.status == 200
        assert response.headers["Access-Control-Allow-Origin"] == SITE
        assert "POST" in response.headers["Access-Control-Allow-Methods"]
        assert "Content-Type" in response.headers["Access-Control-Allow-Headers"]
        assert get(server, origin=SITE, host="example.org").status == 403

    def test_other_sites_may_link_to_the_page_but_not_use_it(self, server):
        visit = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
        assert get(server, "/", **visit, sec_fetch_dest="document").status == 200
        assert get(server, "/", **visit, sec_fetch_dest="iframe").status == 403
        with get(server, **visit, sec_fetch_dest="document") as response:
            assert json.load(response)["error"] == "pages of other sites may not send requests"
        assert get(server, sec_fetch_site="cross-site", sec_fetch_mode="no-cors").status == 403
        assert get(server, sec_fetch_site="same-origin").status == 200
        assert get(server, sec_fetch_site="none").status == 200
