"""The script that says what kernels take: what it reads, what it computes, what it says."""

from __future__ import annotations

import json

import compiling
import kernel_resources
import pytest
import warp
from click.testing import CliRunner
from machine import RESULTS

LOG = """\
ptxas info    : Compiling entry function 'kernel' for 'sm_90'
ptxas         .     256 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 96 registers, used 1 barriers, 40224 bytes smem
info    : Function properties for 'kernel':
info    : used 96 registers, used 5 barriers, 256 stack, 40224 bytes smem, 1344 bytes cmem[0]
"""


def test_the_log() -> None:
    assert compiling.parse_log(LOG) == compiling.Resources(
        registers=96, stack=256, spill_stores=12, spill_loads=8,
        shared=40224, constant=1344, barriers=1,
    )  # fmt: skip
    plain = compiling.parse_log("ptxas info    : Used 8 registers")
    assert plain == compiling.Resources(8, 0, 0, 0, 0, 0, 0)
    with pytest.raises(ValueError, match="not understood"):
        compiling.parse_log("ptxas info : something else")


def test_occupancy_and_prediction() -> None:
    run = {"registers": 96, "shared": 0, "capability": [9, 0]}
    assert kernel_resources.occupancy(run, 128) == 640 / 2048
    assert kernel_resources.occupancy({**run, "capability": [8, 9]}, 128) == 640 / 1536
    contraction = {"registers": 53, "shared": 40224, "capability": [9, 0]}
    assert kernel_resources.occupancy(contraction, 256) == 4 * 256 / 2048  # slabs that fit
    kinds = {"local": 100, "32-bit": 1000, "64-bit": 0, "multiplier": 500}
    run |= {"kernel": "9x9, singles, min", "instructions": "SASS", "step": kinds, "all": kinds}
    text = kernel_resources.prediction([run])
    assert text.startswith("PREDICTION, NOT MEASURED")
    # 132 multiprocessors * 64 lanes * 1.75e9 / (1000 instructions * 4 steps) = 3.7e9
    assert "32-bit units, steps alone: 3.7e+09" in text
    assert "units that multiply, steps alone: 7.4e+09" in text
    # 4.8e12 bytes / (2 * 1.1 guesses * 112 bytes), or 128 bytes in whole sectors
    assert "bytes moved once: 1.9e+10" in text
    assert "sectors moved once: 1.7e+10" in text
    assert kernel_resources.prediction([]).startswith("No prediction")


def test_what_is_recorded_is_shown() -> None:
    runs = json.loads((RESULTS / "kernels.json").read_text("utf-8"))["runs"]
    done = CliRunner().invoke(kernel_resources.main, ["--show"])
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert (done.exit_code, len(rows)) == (0, 1 + len(runs))
    assert "PREDICTION, NOT MEASURED" in done.stdout
    done = CliRunner().invoke(warp.main, ["--show"])
    assert (done.exit_code, done.stdout.count("| @")) == (0, 2 * len(warp.BOARDS))
    assert "computed and not measured" in done.stdout


def test_without_a_compiler_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    done = CliRunner().invoke(kernel_resources.main, [])
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "simulator" in done.stderr
