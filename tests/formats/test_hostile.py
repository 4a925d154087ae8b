"""Every reader gets bytes that nobody would write, whole and in pieces: boards or a clear line."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import ReadOptions
from tests.formats import hostile
from tests.formats.forms import FORMS, REFUSED, TEXTS
from tests.formats.hostile import NAME, check, check_expanded
from tests.formats.samples import LINE

pytestmark = pytest.mark.usefixtures("together_at_once")

BOXES = st.sampled_from([None, None, Geometry(3, 3), Geometry(2, 2), Geometry(4, 4)])
COLUMNS = st.sampled_from([None, None, None, "puzzle", "b", "\x1b[31m"])
OPTIONS = st.builds(lambda box, column: ReadOptions(NAME, box, column), BOXES, COLUMNS)
SIZES = st.integers(1, 700)

VALID = [*TEXTS.values(), *FORMS.values(), *(text for text, _ in REFUSED.values())]
LINES = [
    f"{LINE}\n",
    f"{LINE}\r\n",
    f"{LINE}:1\n",
    f"17: {LINE} ED=7.1/1.2/1.2\n",
    f"https://a.org/?bd={LINE}\n",
    f"1,{LINE},a\n",
    f'1,"{LINE}","a ""b"""\n',
    f"a\t{LINE}\t1\n",
    f'{{"id": 1, "puzzle": "{LINE}", "more": ["é", {{"a": 1.5}}]}}\n',
    f"['{LINE}']\n",
    f'<a><game data="{LINE}"/></a>\n',
]
"""Lines of which a file may have many: then some are read together."""
BARRED = (
    b"|5|3| | |7| | |  \n||6|| | |1|9|5| | | |\n| |9|8| | | | |6| |\n"
    b"|8| | | |6| | | |3|\n|4| | |8| |3| | |1|\n|7| | | |2| | | |6|\n"
    b"| |6| | | | |2|8| |\n| | | |4|1|9| | |5|\n| | | | |8| | |7|9|"
)
"""Cells between bars, and some bars too few: no blank was lost."""


PIECES = [
    b"\0", b"\n", b"\r", b"\r\n", b"\x1b[31m", b"\x07", b"\x7f", b"\x85", b"\x0b", b"\xff", b"\xc3",
    b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\xf4\x90\x80\x80", "\u2028".encode(),
    "\u202e".encode(), "║".encode(), b"\xa0", b"9" * 400, b"-1", b"1e400", b"NaN", b"Infinity",
    b"[" * 50, b"{" * 50, b"]", b"}", b'"', b'""', b"'", b"\\u0000", b"\\ud800", b"\\", b",", b";",
    b"\t", b"|", b"-", b"=", b"#", b":", b"<", b"&#0;", b"<game data='", b"<!DOCTYPE a>", b"`" * 3,
    b"[Puzzle]", b"puzzle", b"null", b"0", b"x", b"G", b"  ", b"",
]  # fmt: skip


def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Change some places: replaced, cut out, doubled, swapped or cut off."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 30)))
        piece = data[start:end]
        rest = data[end:]
        new = draw(st.sampled_from([*PIECES, piece * 2, piece[::-1]]) | st.binary(max_size=4))
        data = data[:start] + new + draw(st.sampled_from([rest, rest, rest, rest, b""]))
    return data


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A file that is right but in a few places."""
    text = draw(st.sampled_from(VALID) | st.sampled_from(LINES).map(lambda line: line * 40))
    encoding = draw(st.sampled_from(["utf-8"] * 9 + ["utf-16", "utf-16-le", "utf-32", "cp037"]))
    data = text.encode(encoding, errors="replace" if encoding == "cp037" else "surrogatepass")
    return damaged(draw, data)


@settings(max_examples=120)
@given(mutated(), OPTIONS, SIZES)
@example(BARRED, ReadOptions(NAME), 7)
def test_files_with_damages(data: bytes, options: ReadOptions, size: int) -> None:
    check(data, options, size)


@settings(max_examples=60)
@given(st.binary(max_size=300), OPTIONS, SIZES)
@example(b"\xef\xbb\xbf\xef\xbb\xbf1", ReadOptions(NAME), 1)
@example(b"\r\r\n\n\r", ReadOptions(NAME), 1)
@example(b"\n|\n", ReadOptions(NAME), 2)
@example(b",\n,\n", ReadOptions(NAME), 2)
@example(b"|-\n-", ReadOptions(NAME), 2)
@example(b"{" * 100_000, ReadOptions(NAME), 5000)
@example(b'{"puzzle":' + b"[" * 100_000, ReadOptions(NAME), 5000)
@example(b"[" * 100_000, ReadOptions(NAME), 5000)
@example(b"<a>" * 20_000, ReadOptions(NAME), 5000)
def test_bytes(data: bytes, options: ReadOptions, size: int) -> None:
    check(data, options, size)


@settings(max_examples=30)
@given(mutated(), OPTIONS, SIZES)
def test_small_limits(data: bytes, options: ReadOptions, size: int) -> None:
    """A line, a list or an element that is too long is refused, in whatever pieces it comes."""
    with hostile.limits(hostile.SMALL):
        check(data, options, size)


PACKED: list[Callable[[bytes], bytes]] = [
    lambda data: gzip.compress(data, mtime=0),
    bz2.compress,
    lzma.compress,
    lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    zstandard.ZstdCompressor().compress,
]


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from(PACKED), min_size=1, max_size=3), st.integers(0, 3), SIZES, st.data()
)
def test_compressed_files(
    packers: list[Callable[[bytes], bytes]], nested: int, size: int, data: st.DataObject
) -> None:
    """One after the other or within each other, with damages, cut off, and with bytes behind."""
    whole = b"".join(pack(f"{LINE}\n".encode() * 3) for pack in packers)
    for pack in packers[:nested]:
        whole = pack(whole)
    check_expanded(whole, size)
    place = data.draw(st.integers(0, len(whole)))
    new = data.draw(st.sampled_from([b"", b"\0", b"\xff" * 8]) | st.binary(max_size=4))
    check_expanded(whole[:place] + new + whole[place + len(new) :], size)
    check_expanded(whole[:place], size)
    check_expanded(whole + new, size)


LETTERS = ",".join(f"\x1b[{k}m" for k in range(100_000))
LARGE = "1," * 4095
RARE = [
    f'{{"puzzle": "{LINE}", "n": {"9" * 100_000}}}',
    f'{{"puzzle": "{LINE}", "n": 1e400, "m": NaN, "k": -Infinity}}',
    f'{{"puzzle": "{LINE}", "n": {"[" * 5000}{"]" * 5000}}}',
    f'{{"puzzle": [{"9" * 5000}]}}',
    '{"puzzle": "1", "box": {"a": ["' + "x" * 10_000 + '"]}}',
    '{"puzzle": "1", "box": "1x999999999"}',
    '{"\\u001b[31m": 1}',
    f'id,puzzle\n{"x" * 200_000},{LINE}\n"a"b"c,{LINE}',
    "[1e400, NaN]",
    f"<game data='{LINE}' data='{LINE}'/>",
    "<a xmlns='\u202e'><game data='&#x1b;'/></a>",
    " ".join(["9" * 1000] * 81),
    f"{LETTERS}\n{LETTERS}",
    f"{LARGE}1:{LARGE}2",
    f"id,a,b\n1,{'.' * 1225},{'1' + '.' * 1224}",
]


@pytest.mark.parametrize("text", RARE, ids=lambda text: ascii(text[:40]))
def test_rare_values(text: str) -> None:
    """A message lists no thousands of columns, and quotes little."""
    check(f"{text}\n".encode(), ReadOptions(NAME), 700)
