"""What kernels take, and the bounds by their machine code: what is read, computed and said."""

from __future__ import annotations

import json
from pathlib import Path

import compiling
import kernel_resources
import pytest
import warp
from click.testing import CliRunner
from machine import RESULTS

from tests.compiler import need_compiler, need_numba_cuda, said

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def test_what_is_recorded_is_shown() -> None:
    runs = json.loads((RESULTS / "kernels.json").read_text("utf-8"))["runs"]
    done = CliRunner().invoke(kernel_resources.main, ["--show"])
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert (done.exit_code, len(rows)) == (0, 1 + len(runs))
    assert "PREDICTION, NOT MEASURED" in done.stdout
    done = CliRunner().invoke(warp.main, ["--show"])
    assert (done.exit_code, done.stdout.count("| @")) == (0, 2 * len(warp.BOARDS))
    assert "computed and not measured" in done.stdout


@pytest.mark.parametrize(
    ("there", "options", "message"),
    [
        (True, ["--board", "nobody"], "nobody"),
        (True, ["--board", "box2x2-empty"], "@box2x2-empty: expected a board of 9x9 or 16x16"),
        (True, [], "NVIDIA's disassembler is missing: pip install nvidia-cuda-nvdisasm"),
        (False, [], "no compiler"),
    ],
)
def test_what_is_missing_or_bad_is_one_line(
    there: bool, options: list[str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is compiled, and nothing written."""
    monkeypatch.setattr(compiling, "missing", lambda: None if there else "no compiler")
    monkeypatch.setattr(compiling, "disassembler", lambda: None)
    done = CliRunner().invoke(warp.main, [*options, "--output", str(tmp_path / "warp.json")])
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


COUNT = """
from pathlib import Path

folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
import compiling, warp
from gpusudoku.errors import InputError

if compiling.disassembler() is None:
    print(json.dumps({"missing": "no disassembler"}))
    sys.exit()
kernel = warp.compiled()
warp.check_counts(kernel, ["1b"])
warp.WARM_UP, warp.BUDGET = 10, 40
run = warp.measure(kernel, "2c", "deep")
try:
    warp.measure(kernel, "conflict-row", "deep")
except InputError as error:
    assert str(error) == "@conflict-row: too few solutions"
else:
    sys.exit("@conflict-row is measured")
puzzles = warp.measure_puzzles(kernel, folder.parent / "boards" / "1b.txt", 9)
for each in run, puzzles:
    print(json.dumps({"cycles": warp.cycles(each), **each}))
"""


@pytest.mark.slow
def test_boards_are_counted_by_the_machine_code_of_the_kernel() -> None:
    """Threads that part run in both orders; where NVIDIA's compiler and disassembler are."""
    need_numba_cuda()
    lines = said(COUNT, str(FOLDER))
    need_compiler(lines)
    board, puzzles = lines
    assert board["number"] > 100
    assert 0 < max(board["cycles"].values()) < 200
    assert (puzzles["of"], puzzles["number"], puzzles["boards"]) == ("puzzles", 1, 1)
