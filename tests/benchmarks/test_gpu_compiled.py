"""``benchmarks/gpu.py`` with Numba-cuda and a stand-in for NVIDIA's driver."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

computers = pytest.importorskip("tests.ptx.driver.computer")

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
SCRIPT = """
import os

sys.path.insert(0, sys.argv[1])
os.environ["XDG_CACHE_HOME"] = sys.argv[2]
import gpu, gpu_figures, gpu_sweep
from click.testing import CliRunner
from dataclasses import replace
from tests.benchmarks.tiny import TINY

gpu.SIZES = replace(TINY, swept=TINY.swept[1:], registers=(None,))
gpu.STEP_SECONDS = gpu_sweep.CANDIDATE_SECONDS = 600.0
gpu_figures.time_start = lambda _: iter([])
for options in [], ["--sweep"]:
    path = f"{sys.argv[2]}/gpu{len(options)}.json"
    done = CliRunner().invoke(gpu.main, ["--minutes", "30", "--output", path, *options])
    print(json.dumps({"status": done.exit_code, "out": done.stdout, "err": done.stderr}))
"""


@pytest.mark.slow
@pytest.mark.timeout(2000)
def test_two_cards(tmp_path: Path) -> None:
    """All steps except those that start processes."""
    text = f"sys.argv[1:] = {[str(FOLDER), str(tmp_path)]!r}\n{SCRIPT}"
    runs = computers.Computer(tmp_path).script(text, cards=[[9, 0], [9, 0]])
    assert len(runs) == 2
    for run in runs:
        assert run["status"] == 0, run["err"]
        assert "Stand-in 9.0" in run["out"]
        assert not re.search("Failed|not done", run["out"])
    results = json.loads((tmp_path / "gpu0.json").read_text())
    assert results["machine"]["gpus"] == ["Stand-in 9.0", "Stand-in 9.0"]
    for run in json.loads((tmp_path / "gpu1.json").read_text())["sweep"]:
        assert "failed" not in run, run
        assert min(run["registers of a thread"], run["threads at once"]) > 0
