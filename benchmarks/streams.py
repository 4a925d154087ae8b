"""Send gigabytes through a pipe, and tell how much memory the program takes at most.

Some are boards, which are read and written again; some are no text, or a line without an end, which
is refused before it has come.

    python benchmarks/streams.py                   1 GB of each, and print the table
    python benchmarks/streams.py --gigabytes 10    a few minutes
    python benchmarks/streams.py --show            the table of what was recorded before
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection
from functools import cache
from pathlib import Path
from random import Random

import click
from machine import record, recorded
from script import Run, check, script, table

PROGRAM = """
import atexit, sys
from pathlib import Path
state = Path(sys.argv.pop(1))
atexit.register(lambda: state.write_bytes(Path("/proc/self/status").read_bytes()))
from gpusudoku.__main__ import main
main()
"""
"""It leaves its own peak of memory: what wait4 tells may be that of the process that started it."""
BLOCK = 1 << 20
"""Bytes written at a time, about."""


@cache
def blocks() -> dict[str, tuple[bytes, int]]:
    """What comes again and again, and the exit status that is right."""
    rng = Random(1)
    lines = ["".join(rng.choices(".123456789", [60, *[3] * 9], k=81)) for _ in range(1000)]
    plain = "".join(f"{line}\n" for line in lines)
    rows = "".join(f"{k},{line},a name\n" for k, line in enumerate(lines))
    objects = "".join(
        json.dumps({"puzzle": line, "n": k, "name": "N\xba"}) + "\n" for k, line in enumerate(lines)
    )
    texts = {"boards on lines": plain, "a table without names": rows, "JSON lines": objects}
    found = {name: (text.encode() * (BLOCK // len(text) + 1), 0) for name, text in texts.items()}
    return found | {
        "a line without an end": (b"1" * BLOCK, 2),
        "a list without an end": (b"[1,1]" * (BLOCK // 5), 2),
        "blanks": (b" " * BLOCK, 2),
        "NUL bytes": (bytes(BLOCK), 2),
    }


def measure(gigabytes: float, names: Collection[str] = ()) -> list[Run]:
    """A run for every kind of input, or for those of some names."""
    return [
        _run(name, block, status, int(gigabytes * 1e9))
        for name, (block, status) in blocks().items()
        if not names or name in names
    ]


def _run(name: str, block: bytes, status: int, size: int) -> Run:
    """Send a block again and again, until so many bytes are sent or nobody reads on."""
    start, sent = time.perf_counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        state, said = Path(folder, "state"), Path(folder, "said")
        with said.open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(state), "convert", "-"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd=Path(__file__).parents[1],
            )
        assert process.stdin is not None
        try:
            while sent < size:
                sent += os.write(process.stdin.fileno(), block)
            process.stdin.close()
        except BrokenPipeError:  # it was refused
            pass
        _, ended, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(ended)
        lines = said.read_text(encoding="utf-8").splitlines()
        check(f"{name}: exit status", process.returncode, status)
        peak = re.search(r"VmHWM:\s*(\d+) kB", state.read_text(encoding="utf-8"))
    return {
        "input": name,
        "bytes": sent,
        "seconds": time.perf_counter() - start,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_mb": int(peak[1]) / 1024 if peak else None,
        "said": lines[:5],
    }


def show(path: Path) -> None:
    """Print the table of a recorded file."""
    rows = [
        [run["input"], f"{run['bytes'] / 1e9:.3f}", f"{run['cpu_seconds']:.1f}",
         f"{run['peak_mb']:.0f}"]
        for run in recorded(path)["runs"]
    ]  # fmt: skip
    table(["input", "GB that were read", "CPU seconds", "MB of memory at most"], rows)


@script("streams", show)
@click.option("--gigabytes", default=1.0, show_default=True, help="The size of every input.")
def main(path: Path, gigabytes: float) -> None:
    """Send gigabytes through a pipe."""
    record(path, measure(gigabytes))


if __name__ == "__main__":
    main()
