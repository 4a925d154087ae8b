"""What ``fuzz.py`` runs in a process of its own: the readers, guided by the coverage of their code.

Arguments: a folder for what is found, then the options of libFuzzer. An input that breaks the rule
is kept there, with the traceback, and the run goes on: the same place is reported once.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))
with atheris.instrument_imports(
    include=["gpusudoku.formats", "gpusudoku.board", "gpusudoku.errors"],
    enable_loader_override=False,
):
    from gpusudoku.board.geometry import Geometry
    from gpusudoku.formats import Way
    from tests.formats import hostile

SHAPES = [None, None, None, (3, 3), (2, 2), (4, 4), (1, 1), (2, 3)]
BOXES = [shape and Geometry(*shape) for shape in SHAPES]
COLUMNS = [None, None, None, "puzzle", "b", "é"]
CHECKS = 3
"""Bytes at the start of an input that say how the rest is read."""


def run(data: bytes) -> None:
    """Check one input."""
    how, size, again = (data + bytes(CHECKS))[:CHECKS]
    text = data[CHECKS:]
    if again % 4 == 1:  # many lines like the last: the kernels read them
        text += (
            b"\n" * (not text.endswith(b"\n")) + text.splitlines(keepends=True)[-1:][0] * 40
            if text
            else b""
        )
    way = Way(hostile.NAME, BOXES[how % len(BOXES)], COLUMNS[how // 8 % len(COLUMNS)])
    with hostile.limits(hostile.SMALL if again % 8 >= 6 else {}):
        if again >= 240:
            hostile.check_expanded(text, size + 1)
        else:
            hostile.check(text, way, 4 * size + 1)


def main() -> None:
    """Run until libFuzzer ends."""
    folder = Path(sys.argv.pop(1))
    seen: set[tuple[str, ...]] = set()

    def one_input(data: bytes) -> None:
        try:
            run(data)
        except Exception as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__)
                      if "atheris" not in frame.filename]  # fmt: skip
            place = (type(error).__name__, *(f"{f.name}:{f.lineno}" for f in frames[-2:]))
            if place in seen:
                return
            seen.add(place)
            name = hashlib.sha256(repr(place).encode()).hexdigest()[:12]
            (folder / f"{name}.bin").write_bytes(data)
            (folder / f"{name}.txt").write_text(traceback.format_exc(), errors="backslashreplace")

    with hostile.limits(hostile.AT_ONCE):
        atheris.Setup(sys.argv, one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
