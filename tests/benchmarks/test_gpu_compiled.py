"""``benchmarks/gpu.py`` with compiled kernels, run as PTX by the CPU: see ``tests/ptx``."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import gpu
import gpu_bench
import pytest

from gpusudoku import collection
from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.cuda import availability, device
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.options import STRATEGIES, Options
from gpusudoku.planning.search import search_settings
from tests.benchmarks.conftest import Rehearse
from tests.compiler import said
from tests.ptx import compiled
from tests.ptx.card import Card

pytestmark = [
    pytest.mark.skipif(not availability.simulated(), reason="a GPU is there"),
    pytest.mark.slow,
    pytest.mark.timeout(2000),
]

SIZES = replace(
    gpu_bench.REHEARSAL,
    first=("1b", "no-place", "needs-search", "box2x2-empty", "16x16-few", "25x25-few"),
    last=("box3x4-many", "box1x5-empty"),
    nine="1b",
    small="box2x3-few",
    techniques=("none", "all"),
    contracted=("1a", "2f", "empty"),
    clues=(14, 30),
    many=30,
    long=(("1c", 0, 0), ("2d", 0, 0), ("16x16-few", 0, 0)),
    steady=(("1f", 0),),
    batch=2000,
    tuned=("1c", 0),
)
CAPABILITY = (9, 0)
AT_ONCE = 6
"""Kernels that are compiled by one process."""


def cases() -> list[compiled.Case]:
    """Every kernel that these sizes need."""
    nine, small = (collection.entry(name).box for name in (SIZES.nine, SIZES.small))
    shapes = {collection.entry(name).box for name in (*SIZES.first, *SIZES.last, SIZES.small)}
    found = {case(box, SearchSettings()) for box in shapes}
    found |= {case(small, SearchSettings(), 1)}  # the other way in which stacks may lie
    for box, propagate, strategy in product((nine, small), SIZES.techniques, STRATEGIES):
        found.add(case(box, search_settings(Options(propagate=propagate, strategy=strategy))))
    return [*sorted(found), (0, *CAPABILITY), (1, *CAPABILITY)]


def case(box: Geometry, settings: SearchSettings, *flag: int) -> compiled.Case:
    shape = box.box_rows, box.box_columns
    return (*shape, settings.techniques, settings.strategy, *flag, *CAPABILITY)


def test_everything(rehearse: Rehearse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every check and every figure, on the kernels that a GPU would run."""
    texts = compiled.texts()  # other tests need them, too
    missing = [case for case in cases() if case not in texts]
    for start in range(0, len(missing), AT_ONCE):
        some = missing[start : start + AT_ONCE]
        lines = said(compiled.COMPILE, given=json.dumps(some))
        texts |= {case: line["ptx"] for case, line in zip(some, lines, strict=True)}

    def kernel(wanted: compiled.Case, checked: bool = True) -> object:
        return compiled.built(compiled.plain(texts[wanted]), checked)

    monkeypatch.setattr(compiled, "kernel", kernel)
    monkeypatch.setattr(gpu, "REHEARSAL", SIZES)
    card = Card(CAPABILITY)
    card.insert(monkeypatch)
    whole_warps = replace(device.SIMULATED, sum_threads_per_block=64)  # not what the simulator has
    monkeypatch.setattr(device, "SIMULATED", whole_warps)
    done, results = rehearse()
    assert done.exit_code == 0, done.output
    assert (results["failed"], results["left out"]) == ([], [])
    assert len(results["correctness"]) > 40
    assert all(results[part] for part in gpu.PARTS)
    assert len(card.launches) > 1000


PARTS = ["kernel", "search", "puzzles", "contraction", "tuning"]
SCRIPT = """
sys.path.insert(0, sys.argv[1])
import gpu
from click.testing import CliRunner

done = CliRunner().invoke(gpu.main, ["--rehearse", "--output", sys.argv[2], *sys.argv[3:]])
print(json.dumps({"status": done.exit_code, "out": done.stdout, "err": done.stderr}))
"""


def test_two_cards(tmp_path: Path) -> None:
    """The figures, with Numba-cuda as it is, over the stand-in for NVIDIA's driver."""
    computers = pytest.importorskip("tests.ptx.driver.computer")
    options = [str(Path(gpu.__file__).parent), str(tmp_path / "gpu.json")]
    text = f"sys.argv[1:] = {[*options, *(f'--part={part}' for part in PARTS)]!r}\n{SCRIPT}"
    [done] = computers.Computer(tmp_path).script(text, cards=[[9, 0], [9, 0]])
    assert done["status"] == 0, done["err"]
    assert "Stand-in 9.0, Stand-in 9.0" in done["out"]
    assert "Failed" not in done["out"]
