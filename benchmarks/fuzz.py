"""Give the readers files that nobody would write, guided by the coverage of their Python code.

What is compiled is not guided: each input is read by the kernels, and line by line without them, as
a whole and in pieces, and all must agree. ``tests/formats/hostile.py`` has the rule. An input that
breaks it is kept in the folder beside the results, with the traceback. The package atheris is
needed, for which there is no extra.

    python benchmarks/fuzz.py --minutes 40     run, record, and print the table
    python benchmarks/fuzz.py --show           the table of what was recorded before
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

import click
from machine import record, recorded
from script import Run, script, table

from gpusudoku.errors import InputError

ROOT = Path(__file__).parents[1]
TARGET = Path(__file__).with_name("fuzz_target.py")
LONGEST = 4096
"""Bytes of an input; limits are small in some runs, so that inputs reach them."""
LONGEST_SECONDS = 600
"""An input that takes longer is a finding."""
_STATE = re.compile(r"cov: (\d+) ft: (\d+) corp: (\d+)")
_INPUTS = re.compile(r"^#(\d+)\s", re.MULTILINE)
_PEAK = re.compile(r"rss: (\d+)Mb")


def seeds() -> list[bytes]:
    """The forms that the tests have as examples, with the bytes before them that the target takes.

    Those say: a guessed box or 3x3, the bytes that come at a time, and what is done with the text.
    """
    sys.path.insert(0, str(ROOT))
    from tests.formats.forms import FORMS, REFUSED
    from tests.formats.test_forms import TEXTS
    from tests.formats.test_hostile import LINES, PACKED

    texts = [*FORMS.values(), *TEXTS.values(), *(text for text, _ in REFUSED.values()), *LINES]
    encoded = [text.encode(errors="surrogatepass") for text in texts]
    packed = [pack(encoded[0] * 3) for pack in PACKED]
    heads = [b"\0\x10\0", b"\0\x10\1", b"\3\x10\0"]
    return [head + text for head in heads for text in encoded] + [
        b"\0\x10\xff" + data for data in packed
    ]


def measure(minutes: float, corpus: Path, found: Path) -> list[Run]:
    """Run until the time is over; again after an input that ended the process."""
    for data in seeds():
        (corpus / sha256(data).hexdigest()[:16]).write_bytes(data)
    runs: list[Run] = []
    end = time.monotonic() + 60 * minutes
    while (left := end - time.monotonic()) > 1:
        start = time.monotonic()
        said = _run(corpus, found, max(1, round(left)))
        state = _STATE.findall(said)
        if not state:
            raise InputError(f"{TARGET.name} did not run: {said[-300:]}")
        branches, features, kept = map(int, state[-1])
        runs.append({
            "seconds": time.monotonic() - start,
            "inputs": int(_INPUTS.findall(said)[-1]),
            "branches": branches,
            "features": features,
            "kept": kept,
            "peak_mb": max(map(int, _PEAK.findall(said))),
            "found": sorted(
                _described(each) for each in found.iterdir() if each.suffix != ".bin"
            ),
        })  # fmt: skip
    return runs


def _run(corpus: Path, found: Path, seconds: int) -> str:
    """What libFuzzer says."""
    options = {
        "max_total_time": seconds,
        "max_len": LONGEST,
        "timeout": LONGEST_SECONDS,
        "report_slow_units": LONGEST_SECONDS,
        "rss_limit_mb": 3072,
        "artifact_prefix": f"{found}/",
    }
    words = [f"-{name}={value}" for name, value in options.items()]
    command = [sys.executable, str(TARGET), str(found), str(corpus), *words]
    path = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, check=False,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    return done.stderr.decode(errors="replace")


def _described(path: Path) -> str:
    """The error of an input that was kept, or what ended the process."""
    if path.suffix != ".txt":
        return path.name
    return path.read_text(encoding="utf-8").strip().splitlines()[-1][:200]


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    runs = recorded(path)["runs"]
    table(
        ["run", "minutes", "inputs", "branches", "inputs kept", "MB at most", "found"],
        [
            [f"{number}", f"{run['seconds'] / 60:.0f}", f"{run['inputs']:,}", f"{run['branches']}",
             f"{run['kept']}", f"{run['peak_mb']}",
             f"{len(run['found'])}"]
            for number, run in enumerate(runs, 1)
        ],
    )  # fmt: skip


@script("fuzz", show)
@click.option("--minutes", default=40.0, show_default=True, help="How long to go on.")
@click.option("--corpus", metavar="FOLDER", help="Inputs to begin with; those of worth are added.")
def main(path: Path, minutes: float, corpus: str | None) -> None:
    """Give the readers files that nobody would write."""
    if importlib.util.find_spec("atheris") is None:
        raise InputError("the package atheris is missing: pip install atheris")
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(corpus or folder)
        found = path.with_name("fuzz-found")
        try:
            for each in (kept, found):
                each.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{error.filename}: cannot be made: {error.strerror}") from None
        record(path, measure(minutes, kept, found))
        if not any(found.iterdir()):
            found.rmdir()


if __name__ == "__main__":
    main()
