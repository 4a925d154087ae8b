"""The kernels compile for real GPUs, which need not be present.

The simulator has no compiler, so everything is compiled in subprocesses without the simulator.
"""

from __future__ import annotations

import re

import pytest

from tests.ptx.compiled import CASES, DEFAULT, RARE, WAITING, kind, output, results

pytestmark = WAITING


@pytest.mark.slow
def test_both_in_one_process() -> None:
    [lines] = output("rare").values()
    assert lines[-1] == {"cpu": "compiled"}


@pytest.mark.parametrize("case", [pytest.param(case, marks=[pytest.mark.slow] * (case in RARE))
                                  for case in CASES], ids=str)  # fmt: skip
def test_kernel(case: tuple[int, ...]) -> None:
    *kernel, major, minor = case
    output = results(kind(case))[case]
    ptx = output["ptx"]
    assert output["result"] == "none"
    assert ptx.count(".visible .entry") == 1
    assert re.search(r"^\.target sm_(\d+)", ptx, re.MULTILINE)[1] == f"{major}{minor}"
    # Atomic additions distribute boards and add up sums.
    assert re.search(r"(atom|red)\S*add\S*64", ptx)
    # An unresolved call would fail only when a GPU loads the code.
    assert ".extern .func" not in ptx
    # Doubles are slow on most GPUs. One that appears by accident means that types were mixed.
    assert ".f64" not in ptx
    if len(kernel) == 1:  # the sum of the contraction
        assert "bar.sync" in ptx
        assert "ld.shared" in ptx
        # Every GPU grants a block this much static shared memory.
        shared = re.findall(r"\.shared .*\[(\d+)\]", ptx)
        assert 0 < sum(map(int, shared)) <= 48 << 10
    elif tuple(kernel) == (3, 3, *DEFAULT):
        # Threads of a warp wait for each other. The compiler has kept multiplications for shifts.
        assert "vote.sync.any.pred" in ptx
        assert ptx.count("mul.hi.u32") > 3 * 10  # of the digits of one turn
    else:
        # Bits are counted by instructions of the hardware. Newer compilers compute the lowest bit's
        # index by popc instead of brev and clz.
        assert "popc.b64" in ptx or ("brev.b64" in ptx and "clz.b64" in ptx)
        assert "popc.b64" in ptx or not kernel[2] & 2  # hidden singles count bits
