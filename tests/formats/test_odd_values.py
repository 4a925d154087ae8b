"""Lists, objects and escapes in JSON lines are, read together, what the parser makes of them."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusudoku.formats import Way
from gpusudoku.kernels.text.odd import MOST_KEYS
from tests.boards import LINE_4X4
from tests.formats.alike import assert_alike

LINES = 20


@pytest.fixture(autouse=True, scope="module")
def compiled_at_once() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpusudoku.formats.copying.PARSED_LINES", 1)
        patch.setattr("gpusudoku.formats.detect._LONGEST_HEAD", 3)
        yield


def file_of(*values: str) -> bytes:
    """A line for each of some JSON values, as they are written."""
    lines = [
        f'{{"a": {value}, "puzzle": "{LINE_4X4}", "b": [{k}, {value}], "c": {k}}}\n'
        for k, value in enumerate(values)
    ]
    return "".join(lines).encode(errors="surrogatepass")


def assert_value(value: str) -> int:
    """Try a value among others, and alone; returns how often lines with it were read together."""
    for other in ("1", '"\\u00e9"'):
        others = [other] * LINES
        assert_alike(file_of(*others, value, *others, value, value, *others), Way("f"))
    return assert_alike(file_of(*[value] * LINES), Way("f"))


DEEP = f"{'[' * MOST_KEYS}{']' * MOST_KEYS}"


@pytest.mark.parametrize("value", [
    "[]", "{}", "[[]]", "[{}]", '{"a": {}}', "[1, 2]", "[1,2]", "[ 1 ,\t2 ]",
    '{"a":1,"b":[true]}',
    '{ "a" : null , "b" : false }', '{"a": 1, "b": {"a": 2, "b": 3}, "c": [{"a": 1}, {"a": 2}]}',
    '"\\u0041"', '"\\u00e9"', '"\\u20AC"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00"',
    '"\\ud83d\\u0041"', '"\\ud83dx"', '"\\ude00\\ud83d"', '"\\"\\\\\\/\\b\\f\\n\\r\\t"',
    '"\\u0000"',
    '["\\u0041", "\\u00E9", "é", "€", "😀", "\\ud83d\\ude00", "\\ud83d", "/", "\\/"]',
    '["\\"\\\\\\b\\f\\n\\r\\t\\u0001"]', '{"é": 1, "\\u00e8": 2, "a\\"": "\\\\"}',
    '["}", "]", "{["]',
    "[0, -1, 0.5, 123456789012345678901234567890]", '["' + "x" * 100 + '"]', DEEP[1:-1],
    json.dumps(dict.fromkeys(map(str, range(MOST_KEYS - 1)))),
    json.dumps([dict.fromkeys(string.ascii_letters)] * 5),
])  # fmt: skip
def test_what_is_read_together(value: str) -> None:
    assert assert_value(value)


@pytest.mark.parametrize("value", [
    '{"a": 1, "a": 2}', '{"a": 1, "\\u0061": 2}', '[{"a": 1, "b": 2, "a": 3}]', "[1,]",
    "[,1]",
    '["\x7f"]',
    "[1 2]", '{"a"}', '{"a":}', '{"a" 1}', "{1: 2}", '{"a": 1,}', "[}", "{]", "[", "]", "[[]",
    "[]]",
    "[1e5]", "[1.50]", "[-0]", "[00]", "[NaN]", "[Infinity]", "[nul]", "[truefalse]", '["\t"]',
    '["a\x01"]', '"\\x41"', '"\\u12"', '"\\u12g4"', '"\\', '"\\"', '"a\\u00e9', '["\\ud83d\\u1"]',
    '["\\ud83d\\uzzzz"]', '"\ud83d"', '["\ud83d"]', "[1\r]", "[\x0b1]", "[\xa01]", "['a']",
    f"[{DEEP}]", json.dumps(dict.fromkeys(map(str, range(MOST_KEYS + 3)))),
])  # fmt: skip
def test_what_takes_a_closer_look(value: str) -> None:
    """Some are wrong, some rare; what they are is left to the parser."""
    assert_value(value)


@pytest.mark.parametrize("end", [b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xff", b"\xed\xa0\x80"])
def test_broken_characters(end: bytes) -> None:
    for value in (b'"\\n%b"', b'["%b"]'):
        data = file_of(*["[1]"] * LINES) + file_of("X").replace(b"X", value % end)
        assert_alike(data + file_of(*["[1]"] * LINES), Way("f"))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
STYLES = st.sampled_from([(", ", ": "), (",", ":"), (" , ", "\t: ")])


@given(st.lists(VALUES, min_size=1, max_size=6), STYLES, st.booleans(), st.data())
def test_random_values(
    values: list[Any], style: tuple[str, str], ascii_only: bool, data: st.DataObject
) -> None:
    texts = [json.dumps(value, separators=style, ensure_ascii=ascii_only) for value in values]
    assert_alike(file_of(*texts * 4), Way("f"))
    broken = bytearray(file_of(*texts * 4))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(broken) - 1))
        broken[place : place + 1] = data.draw(st.sampled_from([*PIECES, broken[place : place + 1]]))
    assert_alike(bytes(broken), Way("f"))


PIECES = [b"", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r", b"u", b"0", b"\xff"]
