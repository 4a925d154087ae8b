"""What is read by kernels is what the parsers read: boards, places, other columns and errors."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import Way, write
from gpusudoku.formats.read import _read
from tests.boards import CLUES, puzzle
from tests.formats.alike import assert_alike

SHAPES = ["2x2", "2x3", "3x3", "4x4", "5x5"]
BOARDS = {
    shape: [puzzle(shape, CLUES.get(shape, 500), seed) for seed in range(4)] for shape in SHAPES
}
LINES = {shape: [str(board) for board in boards] for shape, boards in BOARDS.items()}
LINES["hex"] = [write(board, "hex") for board in BOARDS["4x4"]]
PIECES = [b"\n", b"\r\n", b"\r", b'"', b'""', b",", b";", b"\t", b"#", b":", b" ", b"-", b"x", b"X",
          b"0", b"G", b"\0", b"\xff", b"\xc3\xa9", b"\\", b"{", b"}", b"null", b"-0", b"1e5", b".5",
          b"1.50", b"```", b"[code]", b"\x0b", b"\x1f", b"'", b"!", b"", b"", b""]  # fmt: skip


@pytest.fixture(autouse=True)
def compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpusudoku.formats.copying.PARSED_LINES", 1)
    monkeypatch.setattr("gpusudoku.formats.lines.COMPILED_BOARDS", 20)
    monkeypatch.setattr("gpusudoku.formats.detect._LONGEST_HEAD", 3)


def mutated(lines: list[bytes], rng: np.random.Generator) -> bytes:
    """Some lines, a few of them changed, behind four that are not."""
    some = [lines[k] for k in rng.integers(0, len(lines), 36)]
    for _ in range(rng.integers(0, 4)):
        k = int(rng.integers(4, len(some)))
        start = int(rng.integers(0, len(some[k]) + 1))
        end = start + int(rng.integers(0, 3))
        some[k] = some[k][:start] + PIECES[rng.integers(len(PIECES))] + some[k][end:]
    end = b"\n" if rng.integers(4) else b"\r\n"
    data = end.join(some) + end * int(rng.integers(2))
    return data if rng.integers(6) else data[: int(rng.integers(len(data) // 2, len(data)))]


def table(lines: list[str], delimiter: str, quotes: bool) -> list[bytes]:
    mark = '"' if quotes else ""
    texts = ["", "17", "aé", "a b", f"a{delimiter}b" if quotes else "c", "x" * 50, "`", "[x]"]
    return [
        delimiter.join(f"{mark}{field}{mark}" for field in (text, line, texts[k])).encode()
        for k, text in enumerate(texts) for line in lines
    ]  # fmt: skip


def objects(lines: list[str], geometry: Geometry | None) -> list[bytes]:
    box = {} if geometry is None else {"box": str(geometry)}
    values = [1, 0, -5, "a", "é", "", None, True, False, 0.25, -1.5, 10**20, 0.0001, "a, b: {}"]
    compact = {"separators": (",", ":")} if geometry is None else {}
    return [
        json.dumps({"id": value, "puzzle": line, **box, "n": values[k - 1]}, ensure_ascii=False,
                   **compact).encode()  # type: ignore[arg-type]
        for k, value in enumerate(values) for line in lines
    ]  # fmt: skip


@pytest.mark.parametrize("shape", LINES)
def test_lines(shape: str) -> None:
    rng = np.random.default_rng(1)
    lines = [line.encode() for line in LINES[shape]]
    cases = [mutated(lines, rng) for _ in range(100)]
    together = sum(assert_alike(data, Way("f")) for data in cases)
    assert (together > 60) == (shape != "hex")
    geometry = BOARDS.get(shape, BOARDS["4x4"])[0].geometry
    for data in cases[:20]:
        assert_alike(data, Way("f", geometry))


@pytest.mark.parametrize("quotes", [False, True])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_tables(delimiter: str, quotes: bool) -> None:
    rng = np.random.default_rng(2)
    header = delimiter.join(["id", "puzzle", "name"]).encode() + b"\n"
    together = 0
    for lines in LINES.values():
        rows = table(lines, delimiter, quotes)
        for _ in range(15):
            together += assert_alike(header + mutated(rows, rng), Way("f"))
    assert together > 60


@pytest.mark.parametrize("told", [False, True])
def test_objects(told: bool) -> None:
    rng = np.random.default_rng(3)
    together = 0
    for shape, lines in LINES.items():
        geometry = BOARDS.get(shape, BOARDS["4x4"])[0].geometry
        rows = objects(lines, geometry if told else None)
        for _ in range(30):
            together += assert_alike(mutated(rows, rng), Way("f"))
    assert together > 60


def test_the_box_of_every_object_counts() -> None:
    lines = [
        json.dumps({"puzzle": "." * 36, "box": box})
        for box in ["2x3"] * 40 + ["3x2"] * 40 + ["2x3", "6x1", "no", None, 5] * 8
    ]
    assert assert_alike("\n".join(lines).encode(), Way("f"))
    assert assert_alike("\n".join(lines).encode(), Way("f", Geometry(3, 2)))


NUMBERS = (
    "0 -0 7 -7 00 01 0.5 -0.5 0.50 .5 5. 5.0 -0.0 0.0 0.00 0.0001 0.00012 0.00001 0.00010 1e5 1E5 "
    "1.5e3 123456789012345 12345678901234567890 1234567890.12345 1234567890.123456 -12.75 "
    "0.12345678901234 0.123456789012345 99999999999999.9 100.0 +1 --1 - 1- NaN Infinity -Infinity "
    'true false null True nul nulls [] {} "" "\\u0041" "\\"" "a\x01b" "a\'b" '
    f"{'1' * 600} {'1' * 601} {'1' * 5000} -{'1' * 30}"
)


def test_values_of_objects_are_those_that_python_writes() -> None:
    for value in NUMBERS.split(" "):
        line = f'{{"a": %s, "puzzle": "{LINES["2x2"][0]}", "b": %s}}\n'
        lines = [line % (1, 2)] * 20 + [line % (value, 3), line % (3, value)] + [line % (1, 2)] * 20
        assert_alike("".join(lines).encode(), Way("f"))


@pytest.mark.parametrize("row", [
    "`" * 3 + "\t1....2....3.....\t7", "~~~\t1....2....3.....\t", "[code]\t1....2....3.....\t",
    " \t1....2....3.....\t7", '"a\tb"\t1....2....3.....\t7', 'a"b\t1....2....3.....\t7',
    '"a"b\t1....2....3.....\t7', '"a""b"\t1....2....3.....\t7', '"a\t1....2....3.....\t7',
    "1\t1....2....3.....\t" + "x" * (1 << 18),
    '1\t1....2....3.....\t"' + "x" * ((1 << 17) + 1) + '"',
    "1\t1....2....3.....\t\x01", "1\t1....2....3.....\t7\r", "#\t1....2....3.....\t7",
    "1\t1....2....3.....\t" + "x" * (1 << 20), "1\t1....2....3.....\t\ud800",
])  # fmt: skip
def test_rare_rows(row: str) -> None:
    rows = ["1\t1....2....3.....\t7"] * 30
    text = "\n".join(["id\tpuzzle\tname", *rows, row, *rows, row, row, *rows])
    assert assert_alike(text.encode(errors="surrogatepass"), Way("f"))


def test_many_rows_of_one_kind_and_the_other() -> None:
    """The way is found back to reading together, again and again."""
    rng = np.random.default_rng(4)
    rows = [f"{k},{line}" for k, line in enumerate(LINES["3x3"] * 100)]
    odd = [f'"a""b",{LINES["3x3"][0]}', f"5, {LINES['3x3'][1]}", "# comment", ""]
    for k in sorted(rng.integers(10, len(rows), 12).tolist(), reverse=True):
        rows.insert(k, odd[k % 4])
    assert assert_alike("\n".join(["id,puzzle", *rows]).encode(), Way("f")) > 12


def test_few_rows_keep_few_bytes() -> None:
    """Rows that differ from their neighbours make small batches, which do not keep the buffer."""
    notes = ['"a ""b"""', "x"]
    rows = "".join(f"{k},{'.' * 16},{notes[k % 2]}\n" for k in range(1000))
    found = list(_read(io.BufferedReader(io.BytesIO(f"id,puzzle,note\n{rows}".encode())), Way("x")))
    kept = sum(len(batch.places.others.data) for batch in found)
    assert sum(map(len, found)) == 1000
    assert kept < 2 * len(rows)
