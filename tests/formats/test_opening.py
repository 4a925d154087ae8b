"""Compressed files are expanded, told by what is in them; how much has been read is known."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpusudoku.board.batch import Batch
from gpusudoku.errors import InputError
from gpusudoku.formats import Meter, read_batches
from gpusudoku.formats.source import LONGEST_LINE
from tests.formats.samples import BOARD, LINE


def zstd(data: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard")
    return bytes(zstandard.ZstdCompressor().compress(data))


KINDS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
}
kinds = pytest.mark.parametrize("kind", KINDS)


def read(path: Path) -> list[int | str]:
    """How many boards every batch has, and the errors."""
    return [str(e) if isinstance(e, InputError) else len(e) for e in read_batches(str(path))]


@kinds
def test_compressed_files(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "boards.txt"  # the name tells nothing
    path.write_bytes(KINDS[kind](f"{LINE}\n".encode() * 3000))
    batches = [batch for batch in read_batches(str(path)) if isinstance(batch, Batch)]
    assert sum(map(len, batches)) == 3000
    assert all(batch[0] == BOARD for batch in batches)
    assert max(map(len, batches)) > 500


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf_16(encoding: str, mark: str, tmp_path: Path) -> None:
    path = tmp_path / "boards.txt"
    data = f"{mark}{LINE}\r\n# ─\r\n{LINE}Ä\r\n{LINE}\r\n".encode(encoding)
    path.write_bytes(data)
    error = f"{path}:3:82: unknown character 'Ä', expected digits, letters or one of . 0 * _ - ?"
    assert read(path) == [1, error, 1]
    path.write_bytes(gzip.compress(data + b"\0\xd8\0"))
    assert read(path)[:-1] == [1, error, 1]


@kinds
def test_two_compressed_parts_are_one_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(KINDS[kind](f"{LINE}\n".encode()) * 2)
    assert sum(count for count in read(path) if isinstance(count, int)) == 2


@kinds
@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_damaged_files(kind: str, damage: str, tmp_path: Path) -> None:
    """All boards before the damage, then one error that names the file."""
    path = tmp_path / "f"
    noise = b"".join(b"# %s\n" % os.urandom(30).hex().encode() for _ in range(4000))
    data = KINDS[kind](f"{LINE}\n".encode() + noise)
    half = len(data) // 2
    path.write_bytes(data[:half] + (b"" if damage == "cut" else b"\0" * 40 + data[half + 40 :]))
    *_, last = read(path)
    assert isinstance(last, str)
    assert last.startswith(f"{path}: damaged or incomplete {kind} data") or (
        damage == "changed" and last.startswith(f"{path}:")  # the noise came out as other bytes
    )


def test_bytes_after_gzip_data(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(gzip.compress(f"{LINE}\n".encode() * 3000) + b"more")
    *counts, error = read(path)
    assert sum(count for count in counts if isinstance(count, int)) == 3000
    assert error == f"{path}: bytes after the end of the gzip data"


@kinds
def test_what_expands_without_end(kind: str, tmp_path: Path) -> None:
    """A line that is too long is refused before it is read to its end."""
    path = tmp_path / "f"
    path.write_bytes(KINDS[kind](b"1" * (40 * LONGEST_LINE)))
    assert path.stat().st_size < LONGEST_LINE
    assert read(path) == [f"{path}:1: a line of {LONGEST_LINE} bytes or more, expected text"]


def test_zstd_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    path = tmp_path / "f"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x04\x00")
    expected = "zstd data needs zstandard: pip install '.[zstd]' in a checkout of gpusudoku"
    assert read(path) == [f"{path}: {expected}"]


def test_zip(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"PK\x03\x04rest")
    [error] = read(path)
    assert error == f"{path}: a zip archive, expected a file of it, or gzip, bzip2, xz or zstd"


def test_compressed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO(gzip.compress(LINE.encode()))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(raw)))  # type: ignore[type-var]
    [batch] = read_batches("-")
    assert isinstance(batch, Batch)
    assert batch[0] == BOARD


@pytest.mark.parametrize("closed", [None, io.StringIO()])
def test_closed_standard_input(closed: io.StringIO | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if closed is not None:
        closed.close()
    monkeypatch.setattr("sys.stdin", closed)
    [error] = read_batches("-")
    assert str(error) == "<stdin>: standard input is closed, expected boards"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_share_that_has_been_read(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """It grows from none to all, over all files, by the bytes as they are stored."""
    paths = [str(tmp_path / name) for name in "ab"]
    for path in paths:
        lines = (LINE + " # " + os.urandom(200).hex() + "\n" for _ in range(2000))
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


def test_no_share_of_a_pipe(tmp_path: Path) -> None:
    """Nobody knows how much is to come."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert Meter([str(path)]).share() is None
    assert Meter([str(tmp_path / "missing")]).share() is None
    assert Meter([]).share() is None
