"""The files of parts: their records, and the lines that parts wrote beside them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from gpusudoku.errors import InputError
from gpusudoku.runs.parts.records import LinesFile, PartRecord

ENDING = ".part.json"
"""The ending of the name of a record, behind the name of its file of lines."""
MOST_RECORD = 1 << 23
"""Bytes of the longest record that is read: no board's is as long."""
PIECE = 1 << 20
"""Bytes of lines that are in memory at a time."""


def record_path(path: str | Path) -> Path:
    """Return the path of the record of a file of lines."""
    return Path(f"{path}{ENDING}")


def lines_in(path: str | Path, header: bytes, between: bytes = b"") -> LinesFile:
    """Read and describe a file of lines, with the header and separator that joining needs."""
    digest, size, lines, start = hashlib.sha256(), 0, 0, b""
    with Path(path).open("rb") as file:
        while piece := file.read(PIECE):
            start = start or piece[: len(header)]
            digest.update(piece)
            size, lines = size + len(piece), lines + piece.count(b"\n")
    shown = len(header) if start == header else 0
    return LinesFile(size, lines, shown, between.decode(), digest.hexdigest())


def read_parts(names: Iterable[str]) -> Iterator[tuple[str, PartRecord]]:
    """Yield the parts in some files, each with the name of its file, and once if named twice.

    A file has records, one a line, or it is one of lines, with its record beside it.
    """
    seen = set[str]()
    for name in names:
        beside, path = record_path(name), Path(name)
        with suppress(OSError, ValueError):  # the name is too long, or has a NUL byte
            path = beside if beside.is_file() else path
        try:
            resolved = os.path.realpath(path)
            if resolved not in seen:
                seen.add(resolved)
                yield from _parts_in(path)
        except OSError as error:
            raise InputError(f"{name}: {error.strerror}, expected a file of a part") from None
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{name!r}: no name of a file") from None


def lines_file(record: str) -> Path:
    """Return the file of lines whose record this is; refuse a record that is beside none."""
    if not record.endswith(ENDING):
        raise InputError(f"{record}: the lines of this part are not beside it: keep both files")
    return Path(record.removesuffix(ENDING))


def check_lines(path: Path, lines: LinesFile) -> None:
    """Refuse a file of lines that is not as it was written, or cannot be read."""
    try:
        if not path.is_file():
            raise InputError(f"{path}: no such file, expected the lines of a part")
        size = path.stat().st_size
        if size != lines.bytes:
            raise InputError(f"{path}: has {size} bytes, not the {lines.bytes} that were written")
        if lines_in(path, b"").sha256 != lines.sha256:
            raise InputError(f"{path}: has changed since it was written")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}, expected the lines of a part") from None


def pieces_after(path: Path, header: int) -> Iterator[bytes]:
    """Yield a file behind its header, in pieces of whole lines where these are not too long."""
    with path.open("rb") as file:
        file.seek(header)
        rest = b""
        while piece := file.read(PIECE):
            end = piece.rfind(b"\n") + 1 or len(piece)
            yield rest + piece[:end]
            rest = piece[end:]
        if rest:
            yield rest


def _parts_in(path: Path) -> Iterator[tuple[str, PartRecord]]:
    """Yield the parts in a file of records, one a line."""
    number = found = 0
    with path.open("rb") as file:
        while line := file.readline(MOST_RECORD):
            number += 1
            if not line.strip():
                continue
            try:
                if len(line) == MOST_RECORD:
                    raise InputError("no record of a part: the line is too long")
                yield str(path), PartRecord.parse(line)
            except InputError as error:
                raise InputError(f"{path}:{number}: {error}") from None
            found += 1
    if not found:
        raise InputError(f"{path}: no record of a part")
