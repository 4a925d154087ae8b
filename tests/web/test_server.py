"""The server answers as the library does, and tells clearly what it does not answer."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import gpusudoku
from gpusudoku.explaining import explain
from gpusudoku.minimising import minimise
from tests.boards import LINE_4X4, PUZZLE
from tests.web.conftest import ROOT, Running, events_of

EMPTY = "." * 81
HARD = str(gpusudoku.parse("1" + "." * 255))
"""A board of which nobody knows the shares."""


def without_times(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: facts[name] for name in ("board", "box", "count", "exact", "method")}


@pytest.mark.parametrize("board", [LINE_4X4, PUZZLE, EMPTY, "11" + EMPTY[2:], ".", "1"])
def test_counts(server: Running, board: str) -> None:
    expected = gpusudoku.count(board, device="cpu").as_dict()
    assert without_times(server.ask("count", board)) == without_times(expected)


def test_all_kinds(server: Running) -> None:
    found = gpusudoku.solutions(LINE_4X4, device="cpu")
    solutions = list(map(str, found))
    assert server.ask("read", "1...\n.2..\n....\n....", box="1x4")["box"] == "1x4"
    shares = server.ask("shares", LINE_4X4)["shares"]
    assert [list(map(int, row)) for row in shares] == found.shares().tolist()
    assert server.ask("nth", LINE_4X4, k=["5", 0])["solutions"] == [solutions[5], solutions[0]]
    assert server.ask("sample", LINE_4X4, n=2, seed=1)["solutions"] == [
        str(gpusudoku.Board(grid)) for grid in found.sample(2, 1)
    ]
    assert server.ask("simplify", PUZZLE) == explain(PUZZLE).as_dict()
    assert server.ask("minimise", PUZZLE, seed=3) == minimise(PUZZLE, seed=3).as_dict()


@pytest.mark.parametrize("board", [PUZZLE, EMPTY])
def test_events(server: Running, board: str) -> None:
    events = list(server.events("count", board))
    names = [name for name, _ in events]
    assert names == ["progress"] * (len(events) - 1) + ["result"]
    assert events[-1][1]["count"] == server.ask("count", board)["count"]
    assert all(facts["elapsed"] >= 0 for _, facts in events[:-1])


def test_progress_of_what_takes_long(searching: Running) -> None:
    for name, facts in searching.events("count", EMPTY):
        assert name == "progress"
        if int(facts.get("at_least", 0)) > 0:
            assert facts["method"] == "search"
            assert facts["estimate"] > facts["elapsed"] > 0
            break
    searching.until_idle()


def test_errors_come_as_events_only_in_a_stream(server: Running) -> None:
    events = list(server.events("nth", LINE_4X4, k=[6]))
    name, facts = events[-1]
    assert (name, facts["status"], facts["kind"]) == ("error", 400, "input")
    with server.request("POST", "/count", {"board": "12"}, Accept="text/event-stream") as response:
        assert (response.status, response.headers["Content-Type"]) == (400, "application/json")


def test_what_takes_too_long_for_the_question(server: Running, searching: Running) -> None:
    facts = searching.ask("count", EMPTY, seconds=100)
    assert (facts["status"], facts["kind"], facts["at_least"]) == (422, "expensive", "0")
    assert facts["seconds"] > 1e6
    facts = server.ask("shares", HARD, seconds=0.1)
    assert facts.keys() == {"error", "kind", "status", "seconds", "at_least"}
    assert (facts["kind"], facts["seconds"]) == ("expensive", None)
    server.until_idle()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "no JSON"),
        (b"board=1", "no JSON"),
        (b"[" * 200_000, "lists in lists"),
        (b'{"board":"\xff"}', "byte 10 is not UTF-8"),
        (b'{"board":"\\ud800"}', "unknown character '�'"),
        (b'{"board":"12<b>"}', "unknown character '<'"),
        (b'{"board":"\\u001b[2J"}', "binary data (byte 0x1b)"),
        (b'{"board":"' + b"1" * 250_000 + b'"}', "250000 cells: a board of 500 rows"),
    ],
)
def test_bad_bodies(server: Running, body: bytes, words: str) -> None:
    with server.request("POST", "/count", body) as response:
        facts = json.load(response)
    assert (response.status, facts["kind"], facts["status"]) == (400, "input", 400)
    assert words in facts["error"]
    assert facts["error"].isprintable()


def test_large_bodies(server: Running) -> None:
    body = b'{"board":"' + b"1" * (256 << 10) + b'"}'
    with server.request("POST", "/count", body) as response:
        assert (response.status, json.load(response)["kind"]) == (413, "large")
    connection = server.connect()
    connection.request("POST", "/count", iter([body[:1000]] * 300), encode_chunked=True)
    with connection.getresponse() as response:
        assert (response.status, json.load(response)["kind"]) == (413, "large")


def test_a_body_in_pieces(server: Running) -> None:
    connection = server.connect()
    body = json.dumps({"board": PUZZLE}).encode()
    connection.request(
        "POST", "/count", iter([body[:1], body[1:50], body[50:]]), encode_chunked=True
    )
    with connection.getresponse() as response:
        assert json.load(response)["count"] == "1"


def test_a_connection_is_kept(server: Running) -> None:
    connection = server.connect()
    for accept in ("*/*", "text/event-stream", "*/*"):
        connection.request("POST", "/count", json.dumps({"board": PUZZLE}), {"Accept": accept})
        response = connection.getresponse()
        if accept == "*/*":
            assert json.load(response)["count"] == "1"
        else:
            assert list(events_of(response))[-1][1]["count"] == "1"
    connection.close()


def test_all_files_of_the_page(server: Running) -> None:
    for path in (ROOT / "gpusudoku" / "web" / "page").iterdir():
        with server.request("GET", f"/page/{path.name}") as response:
            assert (response.status, response.read()) == (200, path.read_bytes())
            assert response.headers["Cache-Control"] == "no-cache"
            tag = response.headers["ETag"]
        with server.request("GET", f"/page/{path.name}", If_None_Match=tag) as response:
            assert (response.status, response.read()) == (304, b"")
    with server.request("GET", "/") as response:
        page = response.read().decode()
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    for address in re.findall(r'(?:href|src)="(.*?)"', page):
        assert address.startswith("/page/")


@pytest.mark.parametrize("path", [
    "/page/", "/page", "/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py", "/app.py",
    "/page//etc/passwd", "//etc/passwd", "/page/index.html%00", "/page/%00", "/page/.",
    "/page/..", "/page/index.html/", "/page/INDEX.HTML", "/page/%ff", "/etc/passwd", "/count/",
    "/page/..%5capp.py", "/page/a.js%0d%0aX: 1", "/docs", "/openapi.json",
])  # fmt: skip
def test_there_is_nothing_else(server: Running, path: str) -> None:
    connection = server.connect()
    connection.putrequest("GET", path.replace(" ", "%20"))
    connection.endheaders()
    with connection.getresponse() as response:
        facts = json.load(response)
    assert (response.status, facts["kind"]) == (404, "missing")
    assert facts["error"] == "there is nothing at this path"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods(server: Running, method: str) -> None:
    with server.request(method, "/count") as response:
        assert (response.status, json.load(response)["kind"]) == (405, "method")
        assert response.headers["Allow"] == "POST"


def test_about(server: Running) -> None:
    with server.request("GET", "/about") as response:
        facts = json.load(response)
    assert facts["version"] == gpusudoku.__version__
    assert {"name": "2f", "box": "3x3"}.items() <= {
        name: value
        for each in facts["boards"]
        if each["name"] == "2f"
        for name, value in each.items()
    }.items()


def test_every_answer_is_safe(server: Running) -> None:
    for method, path, body in [
        ("GET", "/", None), ("GET", "/page/app.js", None), ("GET", "/none", None),
        ("POST", "/count", {"board": PUZZLE}), ("POST", "/count", b"{"), ("PUT", "/count", b""),
    ]:  # fmt: skip
        with server.request(method, path, body) as response:
            headers = response.headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "default-src 'none'; script-src 'self'" in headers["Content-Security-Policy"]
        assert headers["Cache-Control"] == (
            "no-cache" if body is None and path != "/none" else "no-store"
        )
        assert "Access-Control-Allow-Origin" not in headers
