"""Reading plain boards without a kernel."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import Way, read_batches, read_text_batches
from gpusudoku.formats.lines import plain_boards
from gpusudoku.formats.symbols import CHARACTERS, UNKNOWN, WITHOUT_ZERO
from tests.boards import LINE_4X4


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


def facts(batches: Iterable[Batch | InputError]) -> list[object]:
    """Describe all that was read."""
    found: list[object] = []
    for batch in batches:
        if isinstance(batch, InputError):
            found.append(str(batch))
            continue
        assert batch.places is not None
        places = batch.places.lines.tolist(), batch.places.texts.tolist(), batch.alphabet(0)
        found.append((batch.geometry, batch.cells.tolist(), batch.candidates is None, places))
    return found


@pytest.mark.parametrize("box", [None, Geometry(3, 3)], ids=str)
def test_a_small_file_of_one_board(tmp_path: Path, box: Geometry | None) -> None:
    """Read without the search for the form, if it is plain; nothing differs from that."""
    rng, path = random.Random(1), tmp_path / "board.txt"
    for n in (1, 2, 3, 4, 9, 16):
        for symbols in ("." * 9 + "123456789", ".0123", "-.1", "0123456789ABCDEFG", ".1234;\t é"):
            line = "".join(rng.choices(symbols, k=n * n))
            rows = [line[i : i + n] for i in range(0, n * n, n)]
            for text in (line, "\n".join(rows), "\r\n".join(rows), "\n\n".join([line, line])):
                for whole in (
                    text,
                    f"{text}\n",
                    f"\n \n\n{text} \n\n",
                    f"# a\n{text}",
                    f"{text}\nend",
                ):
                    path.write_bytes(whole.encode())
                    expected = facts(read_text_batches(whole, Way(str(path), box)))
                    assert facts(read_batches(str(path), box)) == expected, whole


def test_nothing_is_compiled_for_reading() -> None:
    """Not even Numba is brought in."""
    program = (
        "import sys; from gpusudoku.formats import Way, read_text_batches;"
        "batches = [read_text_batches(text, Way('f')) for text in sys.stdin.read().split('@')];"
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
