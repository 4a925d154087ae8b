"""Reading plain boards without a kernel."""

from __future__ import annotations

import io
import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest

from gpusudoku.board.geometry import Geometry
from gpusudoku.formats import ReadOptions
from gpusudoku.formats.lines import plain_boards
from gpusudoku.formats.symbols import CHARACTERS, UNKNOWN, WITHOUT_ZERO
from tests.boards import LINE_4X4
from tests.boards import PUZZLE as LINE
from tests.formats.hostile import NAME, Reading


def test_the_value_of_every_byte() -> None:
    digits = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for symbol in range(256):
        character = chr(symbol).upper() if symbol < 128 else "\0"
        expected = 0 if character in ".*_-?" else digits.find(character) + 1 or UNKNOWN
        assert WITHOUT_ZERO[symbol] == expected
        assert CHARACTERS[symbol] == (0 if character == "0" else expected)


SIGNS = np.frombuffer(b".*_-?", np.uint8)


@pytest.mark.parametrize("n", [1, 9, 16, 35])
def test_which_boards_are_certain(n: int) -> None:
    """Any byte in any place, and boards without a digit, wherever they begin."""
    rng = np.random.default_rng(n)
    lines = rng.choice(np.frombuffer(b".1", np.uint8), (300, n * n + 3))
    lines[np.arange(256), rng.integers(0, n * n, 256)] = np.arange(256)
    lines[256:] = rng.choice(np.frombuffer(b".0-_-", np.uint8), (44, n * n + 3))
    table = np.frombuffer(WITHOUT_ZERO if n == 16 else CHARACTERS, np.uint8)
    for line in range(0, len(lines), 3):
        symbols = lines[line : line + 5, : n * n]
        expected = []
        for board in symbols:
            values = table[board]
            if values.max() > n or (not values.any() and ord("-") in board):
                break
            if ord("0") in board and np.isin(board, SIGNS).any() and values.max() < n:
                break
            expected.append(values.tolist())
        assert plain_boards(symbols, n).tolist() == expected


def test_nothing_is_compiled_for_reading() -> None:
    """Not even Numba is brought in."""
    program = (
        "import sys; from gpusudoku.formats import ReadOptions, read_text_batches;"
        "texts = sys.stdin.read().split('@');"
        "batches = [read_text_batches(text, ReadOptions('f')) for text in texts];"
        "print(*(sum(map(len, each)) for each in batches), 'numba' in sys.modules)"
    )
    texts = [
        f"{LINE_4X4}\n" * 100_000,
        "id,puzzle\n" + f"1,{LINE_4X4}\n" * 100,
        f'{{"puzzle": "{LINE_4X4}"}}\n' * 100,
    ]
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, input="@".join(texts), capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["100000", "100", "100", "False"]


ROW = "5.3..7..9"
KINDS = [LINE, LINE[:80], ROW, ROW[:8], "", "---+---", LINE_4X4, "# comment", "81", "puzzle"]
"""Lines of which some are plain."""


@pytest.mark.parametrize("box", [None, "3x3"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_plain_input_is_read_as_all_other_input(box: str | None, end: str) -> None:
    """Boards, places, texts and errors are those of the readers that look at the form first."""
    rng = np.random.default_rng(len(end))
    options = ReadOptions(NAME, Geometry.parse(box) if box else None)
    inputs = [[LINE] * n for n in (1, 2, 130)] + [[ROW] * n for n in (8, 9, 10, 18)]
    inputs += [[*lines, kind] for lines in inputs for kind in KINDS]
    inputs += [list(rng.choice(KINDS, rng.integers(1, 12))) for _ in range(30)]
    inputs += [["0" * 81], ["." * 9] * 9, ["0.3456789"] * 9, ["123456780" * 9, LINE]]
    for lines in inputs:
        for last in ("", end):
            data = (end.join(lines) + last).encode()
            reading = Reading(buffered(data), options)
            with patch("gpusudoku.formats.read.read_plain", lambda *_: None):
                expected = Reading(buffered(data), options)
            assert reading.entries == expected.entries


def buffered(data: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(data))  # type: ignore[arg-type]
