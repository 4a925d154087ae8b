"""Compressed files are expanded, told by what is in them, within bounds; and files in UTF-16."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard

from gpusudoku.board.batch import Batch
from gpusudoku.errors import InputError
from gpusudoku.formats import Meter, read_batches
from tests.formats.samples import BOARD, LINE, SYMBOLS

KINDS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
kinds = pytest.mark.parametrize("kind", KINDS)
BOARDS = f"{LINE}\n".encode() * 300


def read(data: bytes, path: Path) -> tuple[int, list[str]]:
    """Return the number of boards, and the errors without the name of the file."""
    path.write_bytes(data)
    found = list(read_batches(str(path)))
    errors = [str(each) for each in found if isinstance(each, InputError)]
    assert all(error.startswith(f"{path}:") and error.isprintable() for error in errors)
    boards = [board for each in found if isinstance(each, Batch) for board in each]
    assert all(board == BOARD for board in boards)
    return len(boards), [error.removeprefix(f"{path}:") for error in errors]


@kinds
def test_parts(kind: str, tmp_path: Path) -> None:
    """There may be many, some of them empty; the last may break off."""
    pack, path = KINDS[kind], tmp_path / "f"  # the name tells nothing
    assert read(pack(BOARDS) + pack(b"") + pack(BOARDS) + pack(b""), path) == (600, [])
    assert read(pack(b"") + pack(BOARDS), path) == (300, [])
    assert read(pack(b""), path) == (0, [" no board found"])
    if kind in ("gzip", "xz"):  # these may have padding
        assert read(pack(BOARDS) + bytes(4) + pack(BOARDS) + bytes(8), path) == (600, [])
    if kind == "zstd":  # these may have frames to skip
        skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00any"
        assert read(skipped + pack(BOARDS) + skipped + pack(BOARDS) + skipped, path) == (600, [])
    boards, errors = read(pack(BOARDS) + pack(BOARDS)[:-3], path)
    assert boards >= 300
    assert errors == [f" damaged or incomplete {kind} data"]


@pytest.mark.parametrize("kind", ["bzip2", "xz"])
def test_nothing_comes_of_a_damaged_block(kind: str, tmp_path: Path) -> None:
    """Its check stands behind it, but no board is given before."""
    grid = np.array([*LINE.replace(".", "0")])
    chance = np.random.default_rng(7)
    texts = [LINE, *("".join(chance.permutation(grid)).replace("0", ".") for _ in range(2000))]
    path = tmp_path / "f"
    data = KINDS[kind]("".join(f"{text}\n" for text in texts).encode())
    for place in range(30, len(data) - 40, len(data) // 8):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        [error] = read_batches(str(path))
        assert str(error) == f"{path}: damaged or incomplete {kind} data"


@kinds
def test_bytes_behind(kind: str, tmp_path: Path) -> None:
    """They may be boards that are lost, so they are never passed over."""
    for behind in (b"more", BOARDS, b"\x01" * 8, KINDS[kind](BOARDS)[1:]):
        boards, [error] = read(KINDS[kind](BOARDS) + behind, tmp_path / "f")
        assert boards == 300
        assert error == f" bytes after the end of the {kind} data"


@kinds
def test_what_expands_without_end(kind: str, tmp_path: Path) -> None:
    """A line that is too long is refused before it is read to its end, in little memory."""
    is_dense = kind == "zstd"  # a kilobyte may stand for 32 MiB
    data = KINDS[kind](b"1" * (1 << (27 if is_dense else 25)))
    tracemalloc.start()
    try:
        errors = read(data, tmp_path / "f")
        assert tracemalloc.get_traced_memory()[1] < (80 if is_dense else 16) << 20
    finally:
        tracemalloc.stop()
    assert errors == (0, ["1: a line of 1048576 bytes or more, expected text"])


def greedy_xz(dictionary: int) -> bytes:
    """Make xz data whose header asks for a dictionary: 2 or 3 shifted, by the number."""
    data = bytearray(lzma.compress(BOARDS))
    size = 4 * (data[12] + 1)
    place = data.index(b"\x21\x01", 12) + 2
    data[place] = dictionary
    crc = zlib.crc32(bytes(data[12 : 12 + size - 4]))
    data[12 + size - 4 : 12 + size] = struct.pack("<I", crc)
    return bytes(data)


def test_a_header_that_asks_for_gigabytes(tmp_path: Path) -> None:
    what = " xz data that takes more than 160 MiB of memory to expand"
    for dictionary in (33, 36, 40):  # 192 MiB to 4 GiB
        assert read(greedy_xz(dictionary), tmp_path / "f") == (0, [what])
    assert read(greedy_xz(28), tmp_path / "f") == (300, [])  # 64 MiB, as with xz -9


def test_what_cannot_be_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    what = " a zip archive, expected a file from it, or gzip, bzip2, xz or zstd"
    assert read(b"PK\x03\x04rest", tmp_path / "f") == (0, [what])
    monkeypatch.setitem(sys.modules, "zstandard", None)
    what = " zstd data needs zstandard: pip install '.[zstd]' in a checkout of gpusudoku"
    assert read(b"\x28\xb5\x2f\xfd\x04\x00", tmp_path / "f") == (0, [what])


def test_compressed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO(gzip.compress(LINE.encode()))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(raw)))  # type: ignore[type-var]
    [batch] = read_batches("-")
    assert isinstance(batch, Batch)
    assert batch[0] == BOARD


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf_16(encoding: str, mark: str, tmp_path: Path) -> None:
    data = f"{mark}{LINE}\r\n# ─\r\n{LINE}Ä\r\n{LINE}\r\n".encode(encoding)
    error = f"3:82: unknown character 'Ä', {SYMBOLS}"
    assert read(data, tmp_path / "f") == (2, [error])
    boards, errors = read(gzip.compress(data + b"\0\xd8\0"), tmp_path / "f")
    assert (boards, errors[0], len(errors)) == (2, error, 2)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_share_that_has_been_read(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """It grows from none to all, over all files, by the bytes as they are stored; or is unknown."""
    assert Meter([str(tmp_path / "missing")]).share() is None
    paths = [str(tmp_path / name) for name in "ab"]
    for path in paths:
        lines = (LINE + " # " + os.urandom(200).hex() + "\n" for _ in range(1000))
        Path(path).write_bytes(pack("".join(lines).encode()))
    meter = Meter(paths)
    shares = [meter.share()]
    for path in paths:
        shares += [meter.share() for _ in read_batches(path, meter=meter)]
        shares.append(meter.share())
    numbers = [share for share in shares if share is not None]
    assert len(numbers) == len(shares)
    assert numbers == sorted(numbers)
    assert (numbers[0], numbers[-1]) == (0, 1)
    assert 0.4 < numbers[len(numbers) // 2] < 0.6
