"""Compressed data that expands without end, or asks for gigabytes, and what stands behind it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from gpusudoku.board.batch import Batch
from gpusudoku.errors import InputError
from gpusudoku.formats import read_batches
from gpusudoku.formats.expanding import XZ_MEMORY
from gpusudoku.formats.source import LONGEST_LINE
from tests.formats.samples import LINE

KINDS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
kinds = pytest.mark.parametrize("kind", KINDS)
BOARDS = f"{LINE}\n".encode() * 300


def read(data: bytes, path: Path) -> tuple[int, list[str]]:
    """The number of boards, and the errors without the name of the file."""
    path.write_bytes(data)
    found = list(read_batches(str(path)))
    errors = [str(each) for each in found if isinstance(each, InputError)]
    assert all(error.startswith(f"{path}:") and error.isprintable() for error in errors)
    boards = sum(len(each) for each in found if isinstance(each, Batch))
    return boards, [error.removeprefix(f"{path}:") for error in errors]


@kinds
def test_bytes_behind(kind: str, tmp_path: Path) -> None:
    """They may be boards that are lost, so they are never passed over."""
    for behind in (b"more", BOARDS, b"\x01" * 8, KINDS[kind](BOARDS)[1:]):
        boards, [error] = read(KINDS[kind](BOARDS) + behind, tmp_path / "f")
        assert boards == 300
        assert error in (
            f" bytes after the end of the {kind} data",
            " damaged or incomplete zstd data",
        )


@kinds
@pytest.mark.parametrize("piece", [2, 7, 1 << 16])
def test_parts(kind: str, piece: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """There may be many, some of them empty, in whatever pieces they are read."""
    monkeypatch.setattr("gpusudoku.formats.expanding.BUFFER_BYTES", piece)
    pack = KINDS[kind]
    assert read(pack(BOARDS) + pack(b"") + pack(BOARDS) + pack(b""), tmp_path / "f") == (600, [])
    assert read(pack(b"") + pack(BOARDS), tmp_path / "f") == (300, [])
    assert read(pack(b""), tmp_path / "f") == (0, [" no board found"])
    cut = pack(BOARDS) + pack(BOARDS)[:-3]
    boards, [error] = read(cut, tmp_path / "f")
    assert boards >= 300
    assert error == f" damaged or incomplete {kind} data"


def test_padding_of_xz(tmp_path: Path) -> None:
    data = lzma.compress(BOARDS)
    assert read(data + bytes(4) + data + bytes(8), tmp_path / "f") == (600, [])


def greedy_xz(dictionary: int) -> bytes:
    """Some xz data whose header asks for a dictionary: 2 or 3 shifted, by the number."""
    data = bytearray(lzma.compress(BOARDS))
    size = 4 * (data[12] + 1)
    place = data.index(b"\x21\x01", 12) + 2
    data[place] = dictionary
    crc = zlib.crc32(bytes(data[12 : 12 + size - 4]))
    data[12 + size - 4 : 12 + size] = struct.pack("<I", crc)
    return bytes(data)


def test_a_header_that_asks_for_gigabytes(tmp_path: Path) -> None:
    what = f" xz data that takes more than {XZ_MEMORY >> 20} MiB of memory to expand"
    for dictionary in (33, 36, 40):  # 192 MiB to 4 GiB
        assert read(greedy_xz(dictionary), tmp_path / "f") == (0, [what])
    assert read(greedy_xz(28), tmp_path / "f") == (300, [])  # 64 MiB, as with xz -9


@kinds
def test_what_is_in_each_other_is_no_text(kind: str, tmp_path: Path) -> None:
    """Only one cover is taken off."""
    for other in KINDS.values():
        boards, [error] = read(other(KINDS[kind](BOARDS * 10)), tmp_path / "f")
        assert boards == 0
        assert "binary data" in error or "unknown character" in error, error


@kinds
@pytest.mark.parametrize("line", [b"1" * (1 << 26), (b"#" * 999 + b"\n") * 20_000])
def test_memory(kind: str, line: bytes, tmp_path: Path) -> None:
    """What expands a thousand times takes no more memory than a buffer or two."""
    path = tmp_path / "f"
    path.write_bytes(KINDS[kind](line))
    tracemalloc.start()
    try:
        _, [error] = read(path.read_bytes(), path)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()
    assert error in (f"1: a line of {LONGEST_LINE} bytes or more, expected text", " no board found")


def test_a_name_without_end_in_the_header_of_gzip(tmp_path: Path) -> None:
    data = b"\x1f\x8b\x08\x08" + bytes(6) + b"a" * 300_000
    assert read(data, tmp_path / "f") == (0, [" damaged or incomplete gzip data"])


def test_a_stream_without_more_than_bytes() -> None:
    """What cannot be looked into is text."""
    from gpusudoku.formats.expanding import expanded

    stream = io.BytesIO(gzip.compress(BOARDS))
    assert expanded(stream, "f") is stream
