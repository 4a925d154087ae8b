"""The kernels compile for real GPUs, though none is here.

Under the simulator there is no compiler, so all is compiled in subprocesses without it.
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
    *what, major, minor = case
    compiled = results(kind(case))[case]
    ptx = compiled["ptx"]
    assert compiled["result"] == "none"
    assert ptx.count(".visible .entry") == 1
    assert re.search(r"^\.target sm_(\d+)", ptx, re.MULTILINE)[1] == f"{major}{minor}"
    # Boards are fetched, and sums made, by an atomic add.
    assert re.search(r"(atom|red)\S*add\S*64", ptx)
    # Unresolved calls would only be found when a GPU loads the code.
    assert ".extern .func" not in ptx
    # Doubles are slow on most GPUs, and an accidental one means that types were mixed.
    assert ".f64" not in ptx
    if len(what) == 1:  # the sum of the contraction
        assert "bar.sync" in ptx
        assert "ld.shared" in ptx
        # Static shared memory that every GPU grants a block.
        shared = re.findall(r"\.shared .*\[(\d+)\]", ptx)
        assert 0 < sum(map(int, shared)) <= 48 << 10
    elif tuple(what) == (3, 3, *DEFAULT):
        # Threads of a warp wait for each other; shifts are multiplications that nobody turned back.
        assert "vote.sync.any.pred" in ptx
        assert ptx.count("mul.hi.u32") > 3 * 10  # of the digits of one turn
    else:
        # Masks are counted by the hardware's own instructions. Newer compilers turn the lowest
        # bit's index, brev and clz, into a popc.
        assert "popc.b64" in ptx or ("brev.b64" in ptx and "clz.b64" in ptx)
        assert "popc.b64" in ptx or not what[2] & 2  # hidden singles count bits
