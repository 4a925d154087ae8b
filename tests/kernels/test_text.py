"""Reading and writing text: what is compiled means what the plain functions say."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from gpusudoku.board.text import write_cells as line_of
from gpusudoku.formats.plain import plain_boards
from gpusudoku.formats.symbols import CHARACTERS, WITHOUT_ZERO
from gpusudoku.kernels.text import wide
from gpusudoku.kernels.text.values import QUOTE, UNKNOWN, WIDE, value_of
from tests.boards import LINE_4X4

PLACES = st.integers(0, 3)
SYMBOLS = st.sampled_from([0, 31, 32, QUOTE, 44, 92, 126, 127, 200, 255])


def at_once(data, place, others, other, stop, byte, cells, out):  # type: ignore[no-untyped-def]
    """Do all that is done with many bytes at once."""
    wide.copy(data, place, out[0], 3)
    wide.unite(data, place, others, other, out[1], 3)
    wide.unite_three(data, place, byte, out[2], 3)
    wide.write_cells(cells, place, out[3], 3)
    return (
        wide.stops(data, place, np.uint8(stop)),
        wide.stops(data, place, np.uint8(stop), np.uint8(126)),
        wide.differences(data, place, others, other),
    )


compiled_at_once = njit(at_once)


def bits(flags: list[bool]) -> int:
    return sum(flag << k for k, flag in enumerate(flags))


@given(st.lists(SYMBOLS | st.integers(0, 255), min_size=WIDE + 3, max_size=WIDE + 3),
       st.lists(st.integers(0, WIDE), max_size=3), PLACES, PLACES, SYMBOLS, SYMBOLS)  # fmt: skip
def test_bytes_that_are_looked_at_together(
    symbols: list[int], changed: list[int], place: int, other: int, stop: int, byte: int
) -> None:
    data = np.array(symbols, np.uint8)
    others = np.roll(data, other - place)
    others[changed] += 1
    cells = data % 36
    plain, compiled = np.full((2, 4, 48), 7, np.uint8)
    given = data, place, others, other, stop, np.uint8(byte), cells
    found = at_once(*given, plain)
    assert tuple(map(int, compiled_at_once(*given, compiled))) == tuple(map(int, found))
    assert (plain == compiled).all()
    some, rest = data[place : place + WIDE], others[other : other + WIDE]
    assert found == (
        bits([each in (stop, QUOTE) or each < 32 for each in some]),
        bits([each in (stop, QUOTE) or each < 32 or each > 126 for each in some]),
        bits((some != rest).tolist()),
    )
    line = line_of(cells[place : place + WIDE]).encode()
    meant = [some, some | rest, some[:3] | byte, np.frombuffer(line, np.uint8)]
    for row, written in zip(plain, meant, strict=True):
        assert row.tolist() == [7] * 3 + written.tolist() + [7] * (45 - len(written))


def test_the_value_of_every_byte() -> None:
    digits = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for symbol in range(256):
        character = chr(symbol).upper() if symbol < 128 else "\0"
        expected = 0 if character in ".*_-?" else digits.find(character) + 1 or UNKNOWN
        assert WITHOUT_ZERO[symbol] == value_of(symbol, UNKNOWN) == expected
        assert CHARACTERS[symbol] == (0 if character == "0" else expected)


@pytest.mark.parametrize("n", [1, 9, 16, 35])
def test_which_boards_are_certain(n: int) -> None:
    """Any byte in any place, and boards without a digit, wherever they begin."""
    rng = np.random.default_rng(n)
    lines = rng.choice(np.frombuffer(b".1", np.uint8), (300, n * n + 3))
    lines[np.arange(256), rng.integers(0, n * n, 256)] = np.arange(256)
    lines[256:] = rng.choice(np.frombuffer(b".0-_-", np.uint8), (44, n * n + 3))
    data = lines.ravel()
    for line in range(0, len(lines), 3):
        starts = np.arange(line, min(line + 5, len(lines))) * lines.shape[1]
        found = [plain_boards(data, starts, n, compiled=compiled) for compiled in (False, True)]
        assert np.array_equal(*found)


def test_nothing_is_compiled_for_few_boards() -> None:
    """Not even Numba is brought in."""
    program = (
        "import sys; from gpusudoku.formats import Way, read_text_batches;"
        "batches = [read_text_batches(text, Way('f')) for text in sys.stdin.read().split('@')];"
        "print(*(sum(map(len, each)) for each in batches), 'numba' in sys.modules)"
    )
    texts = [
        f"{LINE_4X4}\n" * 1000,
        "id,puzzle\n" + f"1,{LINE_4X4}\n" * 100,
        f'{{"puzzle": "{LINE_4X4}"}}\n' * 100,
    ]
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, input="@".join(texts), capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1000", "100", "100", "False"]
