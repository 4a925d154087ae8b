"""Arrays and tables of other tools: lists of C and Java, -1 and NaN, .npy files, quoted grids."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku import collection
from gpusudoku.errors import InputError
from gpusudoku.formats import parse, read_batches
from gpusudoku.formats.coerce import batches_of
from tests.formats.samples import read, report

A = "1....2....3....."
B = ".4......2....1.."
ROWS = [A[i : i + 4] for i in range(0, 16, 4)]
NUMBERS, OTHER = (
    np.array([int(c) for c in line.replace(".", "0")]).reshape(4, 4) for line in (A, B)
)
MINUS = np.where(NUMBERS == 0, -1, NUMBERS)
NANS = np.where(NUMBERS == 0, np.nan, NUMBERS)


def braces(grid: Any, end: str = ", ") -> str:
    return str(grid.tolist()).translate(str.maketrans("[]", "{}")).replace("}, ", f"}},{end}")


def saved(array: Any, **options: Any) -> str:
    """Return what ``numpy.savetxt`` writes."""
    stream = io.StringIO()
    np.savetxt(stream, array, **options)
    return stream.getvalue()


LISTS = {
    "braces": braces(NUMBERS),
    "braces on lines": braces(NUMBERS, "\n  "),
    "braces around rows": braces(NUMBERS, "\n")[1:-1],
    "flat braces": "{1,0,0,0,\n0,2,0,0,\n0,0,3,0,\n0,0,0,0}",
    "braces of texts": "{" + ", ".join(f'"{row}"' for row in ROWS) + "}",
    "C": f"int board[4][4] = {braces(NUMBERS)};",
    "C with a line end before the brace": f"int board[4][4] =\n{braces(NUMBERS, chr(10))};  // x",
    "C with comments": f"int b[16] = {{ /* rows */\n{str(NUMBERS.ravel().tolist())[1:-1]} //\n}};",
    "C++": f"std::vector<std::vector<int>> board = {braces(NUMBERS)};",
    "Java": f"int[][] b = new int[][]{braces(NUMBERS)};",
    "Java with fewer words": f"static final int[] B = {braces(NUMBERS.ravel())};",
    "Java with characters": "char[][] b = {" + ",".join(
        "{" + ",".join(map(repr, row)) + "}" for row in ROWS) + "};",
    "Java with texts": "String[] rows = {" + ", ".join(f'"{row}"' for row in ROWS) + "};",
    "TypeScript": f"const board: number[][] = {NUMBERS.tolist()};",
    "Rust": f"let b: [[u8; 4]; 4] = {NUMBERS.tolist()};",
    "array of decimals": f"{NUMBERS.astype(float)}",
    "-1 in a grid": "\n".join(" ".join(map(str, row)) for row in MINUS.tolist()),
    "-1 in fields": "\n".join(",".join(map(str, row)) for row in MINUS.tolist()),
    "-1 on a line": ",".join(map(str, MINUS.ravel().tolist())),
    "-1 in a list": str(MINUS.tolist()),
    "-1 as a decimal": saved(MINUS),
    "pandas": "1.0,,,\n,2.0,,\n,,3.0,\n,,,\n",
    "savetxt": saved(NUMBERS),
    "savetxt with commas": saved(NUMBERS, delimiter=","),
    "savetxt with one digit": saved(NUMBERS, fmt="%.1f"),
    "savetxt of a line": saved(NUMBERS.reshape(1, 16)),
    "savetxt of NaN": saved(NANS),
    "savetxt of NaN with commas": saved(NANS, delimiter=",", fmt="%.1f"),
    "CSV with a grid": f'id,puzzle\n1,"{chr(10).join(ROWS)}"\n',
    "CSV with a grid alone": f'puzzle\n"{chr(10).join(ROWS)}"\n',
    "CSV with a grid of numbers": 'id,puzzle\n1,"' + "\n".join(map(" ".join, ROWS)) + '"\n',
    "CSV with a list": f'id,puzzle\n1,"{NUMBERS.tolist()}"\n',
    "CSV with an array": f'id,puzzle\n1,"{NUMBERS}"\n',
    "CSV with lines beside": f'id,puzzle,name\n1,{A},"a\nb, ""c""\n"\n',
    "TSV with a grid": f'id\tpuzzle\n1\t"{chr(10).join(ROWS)}"\n',
}  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_text(name: str, run, tmp_path, without_cuda) -> None:
    path = tmp_path / "board.txt"
    path.write_text(LISTS[name])
    assert run("convert", path)[:2] == (0, f"{A}\n")
    assert run("count", path)[:2] == (0, "6\n")
    assert run("solve", path)[0] == 0
    assert str(gpusudoku.parse(LISTS[name])) == A
    if not name.startswith("CSV"):
        assert report(LISTS[name].rstrip() + "\n\n")[0].startswith("board")


def test_decimals_are_told_from_characters() -> None:
    """Only where numbers are separated, and some have a zero behind the point."""
    for text in (
        "12.0000000000000",
        "1.00\n.2.0\n0.3.\n4.00",
        "1. 2.\n.. 1.\n3. ..\n.. ..",
        "12. 34.\n... ...\n... ...\n... ...\n... ...\n... ...",
    ):
        [entry] = read(text)
        characters = "".join(text.split())
        assert entry.board == parse(characters)


def test_several_arrays_in_a_file() -> None:
    text = f"int a[4][4] =\n{braces(NUMBERS)};\nint b[4][4] = {braces(OTHER)};\n"
    assert report(text) == ["board 2", "board 3"]
    assert report(f"int a[2][4][4] = {{{braces(NUMBERS)},\n{braces(OTHER)}}};") == [
        "board 1",
        "board 2",
    ]
    text = saved(np.stack([MINUS.ravel(), MINUS.T.ravel()]), fmt="%d")
    assert report(text) == ["board 1", "board 2"]


REFUSED = {
    "a short row in braces": (braces(NUMBERS).replace("0, 0, 3, 0", "0, 0, 3"),
        ["f:1: row 3 of a grid has 3 cells, expected 4"]),
    "braces that do not end": (braces(NUMBERS)[:-1], ["f:1: a list that does not end"]),
    "two kinds of brackets": (braces(NUMBERS)[:-1] + "]", ["f:1: ']' without its opening bracket"]),
    "a digit too large": (f"int b[4][4] = {braces(NUMBERS)};".replace("3", "9"),
        ["f:1:5: r3c3 holds '9', expected a number from 0 to 4"]),
    "candidates in braces": ("{12}{3}{4}{1}", ["f:1: 4 cells in braces, expected as many as"]),
    "-2": ("-2 1 2 3\n1 1 1 1\n1 1 1 1\n1 1 1 1", ["f:1:1: r1c1 holds '-2'"]),
    "no integer": ("1.5,,,\n,2.0,,\n,,3.0,\n,,,\n", ["f:1:1: r1c1 holds '1.5', expected a number"]),
    "gaps and NaN": ("1.0,,nan,\n,2.0,,\n,,3.0,\n,,,\n", ["f:1: an empty cell without a sign"]),
    "a wrong cell of a grid": (f'id,puzzle\n1,"1...\n.2..\n..9.\n...."\n2,{B}',
        ["f:2: r3c3 holds '9'", "board 6"]),
    "a short grid": (f'id,puzzle,name\n1,"1...\n.2..\n..3.",x\n2,{B},y',
        ["f:2: 12 cells make no board, the nearest is 4x4 with 16", "board 5"]),
    "two grids in a field": (f'id,puzzle\n1,"{A}\n{B}"\n',
        ["f:2: 32 cells make no board, the nearest is 6x6 with 36"]),
    "no end of quotes": (f'id,puzzle,name\n1,"{A},x\n2,{B},y\n3,{B},z\n',
        ["f:2: unexpected end of data, expected every quoted field to end", "board 3", "board 4"]),
    "quotes around rows": (f'id,puzzle,name\n1,{A},"a\n2,{B},b"\n3,{B},z\n',
        ["f:2: unexpected end of data, expected every quoted field to end", "board 3", "board 4"]),
    "a short list in a field": (f'id,puzzle\n1,"[[1, 0], [0]]"\n2,{B}',
        ["f:2: a field with rows of different lengths", "board 3"]),
    "one cell in a list": (f'id,puzzle\n1,[0]\n2,{B}',
        ["f:2: 1 cell is not a board: the board is missing, or give box=\"1x1\"", "board 3"]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, run, tmp_path) -> None:
    text, expected = REFUSED[name]
    found = report(text)
    assert len(found) == len(expected), found
    assert all(entry.startswith(start) for entry, start in zip(found, expected, strict=True)), found
    path = tmp_path / "f"
    path.write_text(text)
    assert run("count", path)[0] == 2


def test_digits_from_zero_beside_minus_one() -> None:
    rows = [[0, -1, 2, -1], [-1, -1, -1, 1], [-1] * 4, [-1, -1, -1, 3]]
    expected = "1.3....2.......4"
    text = "\n".join(" ".join(map(str, row)) for row in rows)
    for given in (text, rows, np.array(rows)):
        with pytest.warns(UserWarning, match="0 to 3 are read as 1 to 4"):
            assert str(gpusudoku.count(given).board) == expected


def boards_of(given: Any) -> list[str]:
    """Return the boards, and the errors, of a file or of many boards."""
    batches = read_batches(str(given)) if isinstance(given, Path) else batches_of(given)
    return [
        text
        for batch in batches
        for text in ([str(batch)] if isinstance(batch, InputError) else map(str, batch))
    ]


@pytest.mark.parametrize("kind", [int, np.int8, float, object])
def test_minus_one_in_arrays(kind: Any) -> None:
    assert str(gpusudoku.count(MINUS.astype(kind)).board) == A
    assert boards_of(np.stack([MINUS, MINUS]).astype(kind)) == [A, A]
    assert boards_of([MINUS.astype(kind).ravel(), MINUS.tolist()]) == [A, A]
    mixed = np.stack([MINUS, NUMBERS]).astype(kind)
    assert boards_of(mixed.reshape(2, 16)) == [A, A]


def test_minus_one_beside_other_signs() -> None:
    """It is a sign like the others, which may be mixed."""
    for other in (None, float("nan")):
        assert str(gpusudoku.count([[1, other, -1, -1], *MINUS[1:].tolist()]).board) == A
    assert report(f"1 . . -1\n{chr(10).join(map(' '.join, ROWS[1:]))}") == ["board 1"]
    assert str(gpusudoku.count([list(map(str, row)) for row in MINUS.tolist()]).board) == A


BOTH = np.stack([NUMBERS, OTHER])
ARRAYS = {
    "rows": (BOTH.reshape(2, 16), [A, B]),
    "grids": (BOTH, [A, B]),
    "grid": (NUMBERS, [A]),
    "line": (NUMBERS.ravel(), [A]),
    "with an axis of one": (BOTH[..., None].astype(np.uint8), [A, B]),
    "by columns": (np.asfortranarray(BOTH.reshape(2, 16).astype(np.int16)), [A, B]),
    "decimals": (BOTH.astype(np.float32), [A, B]),
    "NaN": (np.where(BOTH == 0, np.nan, BOTH), [A, B]),
    "-1": (np.where(BOTH == 0, -1, BOTH), [A, B]),
    "texts": (np.array([A, B]), [A, B]),
    "bytes": (np.array([A.encode(), B.encode()]), [A, B]),
    "characters": (np.array([list(row) for row in ROWS]), [A]),
    "a puzzle and its solution": (np.array([[A, "1342421324313124"]] * 2), [A, A]),
    "a large digit": (np.where(BOTH == 3, 12, BOTH),
        ["f.npy:1:21: r3c3 holds '12', expected a number from 0 to 4, or candidates in all", B]),
    "no integer": (np.where(BOTH == 3, 2.5, BOTH), ["f.npy:1:41: r3c3 holds '2.5', expected", B]),
    "infinity": (np.where(BOTH == 3, np.inf, BOTH), ["f.npy:1:41: r3c3 holds 'inf', expected", B]),
    "rows or grid": (np.zeros((16, 16), int), ["f.npy:1: 16 lines of 16 cells are ambiguous"]),
    "objects": (np.array([A, None]), ["f.npy: a .npy file that cannot be read: Object arrays"]),
    "nothing": (NUMBERS[:0], ["f.npy: no board found"]),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_npy(name: str, run, tmp_path, monkeypatch, without_cuda) -> None:
    array, expected = ARRAYS[name]
    monkeypatch.chdir(tmp_path)
    np.save("f.npy", array)
    found = boards_of(Path("f.npy"))
    assert len(found) == len(expected)
    assert all(entry.startswith(start) for entry, start in zip(found, expected, strict=True)), found
    is_right = "f.npy" not in "".join(found)
    status, lines, _ = run("convert", "f.npy")
    assert status == run("count", "f.npy")[0] == (0 if is_right else 2)
    assert not is_right or lines.split() == found


def test_npy_through_a_pipe(run, tmp_path, monkeypatch) -> None:
    stream = io.BytesIO()
    np.save(stream, BOTH)
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stream.getvalue())))
    )
    assert run("convert", "-")[:2] == (0, f"{A}\n{B}\n")


@pytest.mark.parametrize("size", [7, 40, 100, 130])
def test_damaged_npy(size: int, tmp_path: Path) -> None:
    path = tmp_path / "f.npy"
    np.save(path, BOTH)
    path.write_bytes(path.read_bytes()[:size])
    [error] = boards_of(path)
    assert error.startswith(f"{path}: a .npy file that cannot be read: ")
    shape = path.with_name("shape.npy")
    np.save(shape, BOTH)
    shape.write_bytes(
        shape.read_bytes().replace(b"(2, 4, 4)", b"(2, 4, 4" + b"0" * 18 + b")")[:500]
    )
    [error] = boards_of(shape)
    assert "cannot be read" in error


def test_parquet_is_named(run, tmp_path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(b"PAR1\x15\x04\x15\x20")
    status, _, errors = run("count", path)
    assert status == 2
    assert f"{path}: a Parquet file: pass its column to Python, as pyarrow.parquet" in errors
    assert errors.count("\n") == 1


def test_dashes_in_boxes_of_two_columns_are_no_numbers(run, tmp_path) -> None:
    """A word such as -1 is an empty cell and a 1 where the other words have two cells, too."""
    path = tmp_path / "grid.txt"
    path.write_text("-1 32\n23 41\n14 23\n32 -1\n")
    assert run("convert", path)[:2] == (0, ".1322341142332.1\n")


def test_notes_with_a_quote_lose_no_rows(run, tmp_path) -> None:
    path = tmp_path / "notes.csv"
    notes = ['5" disk' if k in (2, 8) else "a note" for k in range(12)]
    rows = [f'"1,0,0,0,0,2,0,0,0,0,3,0,0,0,0,0";{note}' for note in notes]
    path.write_text("\n".join(["puzzle;note", *rows]) + "\n")
    status, out, _ = run("convert", path)
    assert (status, out.count("\n")) == (0, 12)


@pytest.mark.parametrize("text", [f"{A}\n{B}\n0\n", f"{A}\n*\n", "1...\n.2..\n..3.\n....\n\n0\n"])
def test_a_cell_below_boards_is_no_board(text: str, run, tmp_path) -> None:
    path = tmp_path / "boards.txt"
    path.write_text(text)
    status, out, err = run("convert", path)
    assert (status, out.count("\n")) == (2, 2 if B in text else 1)
    assert "1 cell below larger boards" in err


def test_a_size_above_boards_is_checked_before_they_are_answered(run, tmp_path) -> None:
    path = tmp_path / "boards.txt"
    path.write_text("3 2\n" + "1" + 35 * "." + "\n")
    status, out, err = run("count", path)
    assert (status, out) == (2, "")
    assert "'3 2' above boards" in err


def test_decimals_tell_a_16x16_board_from_16_boards(run, tmp_path) -> None:
    board = collection.load("16x16-unique")
    path = tmp_path / "board.txt"
    path.write_text("\n".join(" ".join(f"{cell:.1f}" for cell in row) for row in board.grid) + "\n")
    assert run("count", path)[:2] == (0, "1\n")
