"""Boards that are read together are what the parsers read: boards, places, fields, errors."""

from __future__ import annotations

import json
import string
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import ReadOptions, write
from tests.boards import CLUES, LINE_4X4, full_grid, puzzle
from tests.formats.hostile import assert_alike
from tests.formats.samples import read
from tests.formats.test_hostile import damaged

pytestmark = pytest.mark.usefixtures("together_at_once")

SHAPES = ["2x2", "2x3", "3x3", "4x4", "5x5"]
BOARDS = {
    shape: [puzzle(shape, CLUES.get(shape, 500), seed) for seed in range(4)] for shape in SHAPES
}
LINES = {shape: [str(board) for board in boards] for shape, boards in BOARDS.items()}
LINES["hex"] = [write(board, "hex") for board in BOARDS["4x4"]]
BOARDS["hex"] = BOARDS["4x4"]
NINE = [line.encode() for line in LINES["3x3"]]


def table(lines: list[str], delimiter: str, mark: str) -> list[bytes]:
    """Rows with a field before the board and one behind it, in quotes or without."""
    texts = ["", "17", "aé", "a b", f"a{delimiter}b" if mark else "c", "x" * 50, "`", "[x]"]
    return [
        delimiter.join(f"{mark}{field}{mark}" for field in (text, line, texts[k])).encode()
        for k, text in enumerate(texts)
        for line in lines
    ]


def objects(lines: list[str], box: Geometry | None) -> list[bytes]:
    """JSON lines with values of all kinds, compact or with the box."""
    boxes = {} if box is None else {"box": str(box)}
    values = [1, 0, -5, "a", "é", "", None, True, False, 0.25, -1.5, 10**20, 0.0001, "a, b: {}"]
    compact: Any = {"separators": (",", ":")} if box is None else {}
    records = [
        {"id": value, "puzzle": line, **boxes, "n": values[k - 1]}
        for k, value in enumerate(values)
        for line in lines
    ]
    return [json.dumps(record, ensure_ascii=False, **compact).encode() for record in records]


FILES: dict[str, tuple[str, str, list[bytes]]] = {}
"""The shape, the header line and the rows of every kind of file."""
for shape, lines in LINES.items():
    box = BOARDS[shape][0].geometry
    FILES[f"lines {shape}"] = shape, "", [line.encode() for line in lines]
    FILES[f"objects {shape}"] = shape, "", objects(lines, box if shape in SHAPES[1::2] else None)
for shape, sign in zip(LINES, [",", ',"', ";", ';"', "\t", '\t"'], strict=True):
    header = sign[0].join(["id", "puzzle", "name"]) + "\n"
    FILES[f"table {shape} {sign!r}"] = shape, header, table(LINES[shape], sign[0], sign[1:])


@pytest.mark.parametrize("kind", FILES)
def test_files_with_damages(kind: str) -> None:
    """Of every kind; undamaged ones are read together, but for lines that may be hexadecimal."""
    shape, header, rows = FILES[kind]
    whole = header.encode() + b"\n".join(rows * 3)
    assert (assert_alike(whole, ReadOptions("f")) > 0) == ("hex" not in kind)

    @settings(max_examples=12)
    @given(st.lists(st.sampled_from(rows), min_size=36, max_size=36), st.booleans(), st.data())
    def check(sampled_rows: list[bytes], is_given: bool, data: st.DataObject) -> None:
        undamaged, damaged_part = (
            b"\n".join(part) + b"\n" for part in (sampled_rows[:4], sampled_rows[4:])
        )
        text = header.encode() + undamaged + damaged(data.draw, damaged_part)
        assert_alike(text, ReadOptions("f", BOARDS[shape][0].geometry if is_given else None))

    check()


FIRST = NINE[0]
REST = NINE[0][1:]


@pytest.mark.parametrize("odd", [
    b"# a comment", b"", FIRST + b":5", FIRST + b" # a comment", b" " + FIRST[:-1], FIRST[:-1],
    FIRST + b".", b"!" + REST, REST + b"A", REST + b"#", REST + b":", REST + b"\r", REST + b"\xff",
    REST + b"\0", b"0" * 81, b"." * 40 + b"*_0" + b"." * 38,
    b",".join(b"%d" % (k % 10) for k in range(81)), LINES["2x2"][0].encode(),
    LINES["4x4"][0].lower().encode(), b"123456789", b"---+---+---",
], ids=repr)  # fmt: skip
def test_an_odd_line_among_plain_ones(odd: bytes) -> None:
    plain = NINE * 4
    for mixed in ([plain[0], odd, *plain], [*plain, odd, *plain, odd, odd, *plain]):
        assert_alike(b"\n".join(mixed), ReadOptions("f"))
        assert_alike(b"\n".join(mixed), ReadOptions("f", Geometry(3, 3)))
        assert_alike(b"\r\n".join(mixed) + b"\r\n", ReadOptions("f"))


@pytest.mark.parametrize("row", [
    "`" * 3 + "\t1....2....3.....\t7", "~~~\t1....2....3.....\t", "[code]\t1....2....3.....\t",
    " \t1....2....3.....\t7", '"a\tb"\t1....2....3.....\t7', 'a"b\t1....2....3.....\t7',
    '"a"b\t1....2....3.....\t7', '"a""b"\t1....2....3.....\t7', '"a\t1....2....3.....\t7',
    "1\t1....2....3.....\t" + "x" * (1 << 18),
    '1\t1....2....3.....\t"' + "x" * ((1 << 17) + 1) + '"',
    "1\t1....2....3.....\t\x01", "1\t1....2....3.....\t7\r", "#\t1....2....3.....\t7",
    "1\t1....2....3.....\t" + "x" * (1 << 20), "1\t1....2....3.....\t\ud800",
    "", "1\t....2....3.....\t7", "1\t1....2....3....!\t7", "1\t1....2....3.....", "1\t\t7",
    "1\t----------------\t7", "1\t 1....2....3.... \t7", "7\t8\t9\t10",
])  # fmt: skip
def test_an_odd_row_of_a_table(row: str) -> None:
    rows = ["1\t1....2....3.....\t7"] * 30
    text = "\n".join(["id\tpuzzle\tname", *rows, row, *rows, row, row, *rows])
    assert assert_alike(text.encode(errors="surrogatepass"), ReadOptions("f"))


def test_lines_change_their_case_and_their_end() -> None:
    """Hexadecimal ones are told one by one."""
    grid = Board(full_grid(Geometry(4, 4), 1))
    clues = Board(np.where(grid.cells == 3, 0, grid.cells))
    kinds = [(write(board, form), board) for form in ("letters", "hex") for board in (grid, clues)]
    kinds += [(kinds[1][0].replace(".", "0"), clues), (kinds[1][0].lower(), clues)]
    picked = np.random.default_rng(1).integers(0, len(kinds), 100)
    lines = [kinds[1]] * 40 + [kinds[k] for k in picked]
    ends = ["\n"] * 60 + ["\r\n"] * 40 + [" \n"] * 40
    text = "".join(line + end for (line, _), end in zip(lines, ends, strict=True))
    assert_alike(text.encode(), ReadOptions("f"))
    assert [each.board for each in read(text)] == [board for _, board in lines]


def test_the_box_of_every_object_counts() -> None:
    lines = [
        json.dumps({"puzzle": "." * 36, "box": box})
        for box in ["2x3"] * 40 + ["3x2"] * 40 + ["2x3", "6x1", "no", None, 5] * 8
    ]
    assert assert_alike("\n".join(lines).encode(), ReadOptions("f"))
    assert assert_alike("\n".join(lines).encode(), ReadOptions("f", Geometry(3, 2)))


NUMBERS = (
    "0 -0 7 -7 00 01 0.5 -0.5 0.50 .5 5. 5.0 -0.0 0.0 0.00 0.0001 0.00012 0.00001 0.00010 1e5 1E5 "
    "1.5e3 123456789012345 12345678901234567890 1234567890.12345 1234567890.123456 -12.75 "
    "0.12345678901234 0.123456789012345 99999999999999.9 100.0 +1 --1 - 1- NaN Infinity -Infinity "
    'true false null True nul nulls [] {} "" "\\u0041" "\\"" "a\x01b" "a\'b" '
    f"{'1' * 600} {'1' * 601} {'1' * 5000} -{'1' * 30}"
)


def file_of(*values: str) -> bytes:
    """Write a line for each of some JSON values, as they are written."""
    lines = [
        f'{{"a": {value}, "puzzle": "{LINE_4X4}", "b": [{k}, {value}], "c": {k}}}\n'
        for k, value in enumerate(values)
    ]
    return "".join(lines).encode(errors="surrogatepass")


def assert_value(value: str) -> int:
    """Try a value among others, and alone; returns how often lines with it were read together."""
    for other in ("1", '"\\u00e9"'):
        others = [other] * 20
        assert_alike(file_of(*others, value, *others, value, value, *others), ReadOptions("f"))
    return assert_alike(file_of(*[value] * 20), ReadOptions("f"))


MANY = 64
"""Keys of a large object, and lists in a deep one."""
DEEP = f"{'[' * MANY}{']' * MANY}"


TOGETHER = [
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
    json.dumps(dict.fromkeys(map(str, range(MANY - 1)))),
    json.dumps([dict.fromkeys(string.ascii_letters)] * 5),
]  # fmt: skip


def test_values_that_are_read_together() -> None:
    for value in TOGETHER:
        assert assert_value(value), value


ODD = [
    '{"a": 1, "a": 2}', '{"a": 1, "\\u0061": 2}', '[{"a": 1, "b": 2, "a": 3}]', "[1,]",
    "[,1]",
    '["\x7f"]',
    "[1 2]", '{"a"}', '{"a":}', '{"a" 1}', "{1: 2}", '{"a": 1,}', "[}", "{]", "[", "]", "[[]",
    "[]]",
    "[1e5]", "[1.50]", "[-0]", "[00]", "[NaN]", "[Infinity]", "[nul]", "[truefalse]", '["\t"]',
    '["a\x01"]', '"\\x41"', '"\\u12"', '"\\u12g4"', '"\\', '"\\"', '"a\\u00e9', '["\\ud83d\\u1"]',
    '["\\ud83d\\uzzzz"]', '"\ud83d"', '["\ud83d"]', "[1\r]", "[\x0b1]", "[\xa01]", "['a']",
    f"[{DEEP}]", json.dumps(dict.fromkeys(map(str, range(MANY + 3)))),
]  # fmt: skip


def test_values_that_take_a_closer_look() -> None:
    """Some are wrong, some rare; numbers are those that Python writes."""
    for value in [*ODD, *NUMBERS.split(" ")]:
        assert_value(value)


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
    assert_alike(file_of(*texts * 4), ReadOptions("f"))
    assert_alike(damaged(data.draw, file_of(*texts * 4)), ReadOptions("f"))
