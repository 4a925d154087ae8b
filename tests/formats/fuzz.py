"""Give the readers files that nobody would write, guided by the coverage of their Python code.

    pip install atheris                                  in none of the extras
    python tests/formats/fuzz.py                         ten minutes
    python tests/formats/fuzz.py -max_total_time=3600    an hour; takes all options of libFuzzer

``hostile.py`` checks each input. Compiled code is run, but its coverage is not seen. An input that
fails is written to the folder ``build/fuzz``, and its traceback to stderr, once for each place in
the code. An input that ends the process is written there, too. ``build/fuzz/corpus`` has the inputs
that reached new code: the next run starts with them.
"""

from __future__ import annotations

import sys
import traceback
from hashlib import sha256
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
with atheris.instrument_imports(
    include=["gpusudoku.formats", "gpusudoku.board", "gpusudoku.errors"],
    enable_loader_override=False,
):
    from gpusudoku.board.geometry import Geometry
    from gpusudoku.formats import ReadOptions
    from tests.formats import hostile
    from tests.formats.forms import FORMS, REFUSED, TEXTS
    from tests.formats.test_hostile import LINES, PACKED

OPTIONS = {
    "max_total_time": 600,
    "max_len": 4096,  # bytes of an input; some runs have small limits, so that inputs reach them
    "timeout": 600,  # seconds after which an input is a finding
    "rss_limit_mb": 3072,
}
"""Options of libFuzzer; those of the command line override them."""
FOUND = ROOT / "build" / "fuzz"
CORPUS = FOUND / "corpus"
BOXES = [None, None, None, (3, 3), (2, 2), (4, 4), (1, 1), (2, 3)]
COLUMNS = [None, None, None, "puzzle", "b", "é"]
HEAD_BYTES = 3
"""Bytes at the start of an input that choose how the rest is read."""


def seeds() -> list[bytes]:
    """Return the forms that the tests have as examples, each with several heads."""
    texts = [*FORMS.values(), *TEXTS.values(), *(text for text, _ in REFUSED.values()), *LINES]
    encoded = [text.encode(errors="surrogatepass") for text in texts]
    packed = [pack(encoded[0] * 3) for pack in PACKED]
    heads = [b"\0\x10\0", b"\0\x10\1", b"\3\x10\0"]
    return [head + text for head in heads for text in encoded] + [
        b"\0\x10\xff" + data for data in packed
    ]


def check_input(data: bytes) -> None:
    """Check one input: AssertionError, or another error, if it breaks the rule."""
    how, size, mode = (data + bytes(HEAD_BYTES))[:HEAD_BYTES]
    text = data[HEAD_BYTES:]
    if text and mode % 4 == 1:  # many lines like the last: the kernels read them
        text += b"\n" * (not text.endswith(b"\n")) + text.splitlines(keepends=True)[-1] * 40
    box = BOXES[how % len(BOXES)]
    column = COLUMNS[how // 8 % len(COLUMNS)]
    read_options = ReadOptions(hostile.NAME, Geometry(*box) if box else None, column)
    with hostile.limits(hostile.SMALL if mode % 8 >= 6 else {}):
        if mode >= 240:
            hostile.check_expanded(text, size + 1)
        else:
            hostile.check(text, read_options, 4 * size + 1)


class Reporter:
    """Checks inputs, and keeps the first one that fails at a place."""

    def __init__(self) -> None:
        self.places: set[tuple[str, ...]] = set()

    def __call__(self, data: bytes) -> None:
        try:
            check_input(data)
        except Exception as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__)
                      if "atheris" not in frame.filename]  # fmt: skip
            last = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-2:]]
            place = (type(error).__name__, *last)
            if place not in self.places:
                self.places.add(place)
                path = FOUND / sha256(data).hexdigest()[:16]
                path.write_bytes(data)
                traceback.print_exc()
                print(f"{path}: {' '.join(place)}", file=sys.stderr)


def main() -> None:
    """Run until libFuzzer ends the process."""
    CORPUS.mkdir(parents=True, exist_ok=True)
    for data in seeds():
        (CORPUS / sha256(data).hexdigest()[:16]).write_bytes(data)
    options = [f"-{name}={value}" for name, value in OPTIONS.items()]
    words = [sys.argv[0], str(CORPUS), *options, f"-artifact_prefix={FOUND}/", *sys.argv[1:]]
    with hostile.limits(hostile.AT_ONCE):
        atheris.Setup(words, Reporter())
        atheris.Fuzz()


if __name__ == "__main__":
    main()
