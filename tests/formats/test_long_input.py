"""Long lines take time and memory in proportion to their length, and no more."""

from __future__ import annotations

import io
import re
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpusudoku.formats import Way
from gpusudoku.formats.read import _read
from gpusudoku.formats.rows import is_rule
from tests.formats.samples import LINE

LONG = 400_000
"""The square of it is too much for any test."""
MOST_SECONDS = 20
MOST_MEMORY = 120 << 20


def errors(data: bytes) -> list[str]:
    """What is said of an input."""
    return [
        str(found) for found in _read(io.BytesIO(data), Way("f")) if isinstance(found, Exception)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "-" * LONG + "x",
        "+---" * (LONG // 4) + "x",
        ".---" * (LONG // 4) + "-",
        "|" + "-" * LONG + "x",
        " " * LONG + "x",
        "[" + " " * LONG + "1]",
        "a" + " " * LONG + "!,b\n1,2",
        "a" + " " * LONG + "=",
        "<a><!--" + "x \n" * LONG,
        "<a " + "b=''\n" * LONG,
        "<a>" + "<b>\n" * LONG,
        "1:" * (LONG // 2),
        "'" * LONG,
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_time(text: str) -> None:
    start = time.thread_time()
    found = errors(text.encode())
    assert time.thread_time() - start < MOST_SECONDS
    assert all(error.startswith("f:") for error in found)


@pytest.mark.parametrize(
    "data",
    [
        f"{LINE}\n".encode() + (b"1" * 1_000_000 + b"\n") * 20,
        b"[" + b"1," * 500_000 + b"\n[",
        (b"11 " * 150_000 + b"\n") * 6,
        b"".join(b'{"puzzle": "%s", "n%d": "x"}\n' % (LINE.encode(), k) for k in range(3000)),
    ],
    ids=["lines", "list", "numbers", "names"],
)
def test_memory(data: bytes) -> None:
    tracemalloc.start()
    try:
        for _ in _read(io.BytesIO(data), Way("f")):
            pass
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


def test_the_limits_are_told() -> None:
    assert errors(f"{LINE}\n{'1' * 600_000}\n{LINE}\n".encode()) == [
        "f:2: a line of 524288 bytes or more, expected a board"
    ]
    assert errors(b"<a>\n" * 300) == ["f:257: more than 256 XML tags in each other"]
    assert errors(b"<a><!--\n" + b"x\n" * 40_000) == [
        "f:32770: a tag or a comment of 65536 bytes or more in XML"
    ]


RULE = re.compile(
    rb"[-=+|\s]*[-=][-=+|\s]*"
    rb"|\s*[*.:'|+][-=|+*.:'\s]*(?:---|===)[-=|+*.:'\s]*[*.:'|+]\s*"
    rb"|\s*:?-[-:\s]*\|[-:|\s]*|\s*\|[-:|\s]*-[-:|\s]*"
)
"""What a rule is, in a way that takes the square of its length."""


@settings(max_examples=500)
@given(st.text("-=+|:.*' \t1", max_size=14) | st.text("-|+ ", max_size=14))
def test_rules(text: str) -> None:
    assert is_rule(text.encode()) == bool(RULE.fullmatch(text.encode()))
