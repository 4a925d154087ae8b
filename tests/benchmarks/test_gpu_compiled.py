"""``benchmarks/gpu.py`` with Numba-cuda as it is, over the stand-in for NVIDIA's driver."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

computers = pytest.importorskip("tests.ptx.driver.computer")

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
PARTS = ["correctness", "kernel", "search", "puzzles", "contraction", "few clues", "profile"]
SCRIPT = """
sys.path.insert(0, sys.argv[1])
import gpu
from click.testing import CliRunner

gpu.STEP_SECONDS = 600.0
options = ["--rehearse", "--minutes", "30", "--output", *sys.argv[2:]]
done = CliRunner().invoke(gpu.main, options)
print(json.dumps({"status": done.exit_code, "out": done.stdout, "err": done.stderr}))
"""


@pytest.mark.slow
@pytest.mark.timeout(2000)
def test_two_cards(tmp_path: Path) -> None:
    """All but new processes and prices."""
    options = [str(FOLDER), str(tmp_path / "gpu.json"), *(f"--part={part}" for part in PARTS)]
    text = f"sys.argv[1:] = {options!r}\n{SCRIPT}"
    [done] = computers.Computer(tmp_path).script(text, cards=[[9, 0], [9, 0]])
    assert done["status"] == 0, done["err"]
    assert "Stand-in 9.0, Stand-in 9.0" in done["out"]
    assert not re.search("Failed|left out", done["out"])
    for kernel in json.loads((tmp_path / "gpu-profile.json").read_text())["kernels"]:
        assert 0 < kernel["occupancy"] <= 1
        assert kernel["registers of a thread"] > 0
