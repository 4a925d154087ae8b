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
LOG = """\
ptxas info    : Compiling entry function 'kernel' for 'sm_90'
ptxas         .     256 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 96 registers, used 1 barriers, 40224 bytes smem
info    : Function properties for 'kernel':
info    : used 96 registers, used 5 barriers, 256 stack, 40224 bytes smem, 1344 bytes cmem[0]
"""


def test_the_log_of_the_compiler() -> None:
    assert compiling.parse_log(LOG) == compiling.Resources(
        registers=96, stack=256, spill_stores=12, spill_loads=8,
        shared=40224, constant=1344, barriers=1,
    )  # fmt: skip
    with pytest.raises(ValueError, match="not understood"):
        compiling.parse_log("ptxas info : something else")


def test_what_is_recorded_is_shown() -> None:
    runs = json.loads((RESULTS / "kernels.json").read_text("utf-8"))["runs"]
    done = CliRunner().invoke(kernel_resources.main, ["--show"])
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert (done.exit_code, len(rows)) == (0, 1 + len(runs))
    assert "PREDICTION, NOT MEASURED" in done.stdout
    done = CliRunner().invoke(warp.main, ["--show"])
    assert (done.exit_code, done.stdout.count("| @")) == (0, 2 * len(warp.BOARDS))
    assert "computed and not measured" in done.stdout


def test_a_bound_by_the_unit_that_is_the_busiest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = {"processor": "x", "cores": 2, "date": "2026-01-01", "registers": 128}
    machine |= {"hertz": 2e9, "multiprocessors": 10}
    run = {"board": "@1f", "start": "deep", "boards": 128, "of": "solutions", "nodes": 4}
    run |= {"number": 2, "threads": 6400}
    run["instructions"] = dict.fromkeys(warp.UNITS, 0) | {"whole numbers": 100, "products": 60}
    path = tmp_path / "warp.json"
    path.write_text(json.dumps({"machine": machine, "runs": [run]}))
    warp.show(path)
    # 10 multiprocessors * 2e9 cycles / (100 instructions * 32 / 64 units / 2 solutions) = 8e8
    row = capsys.readouterr().out.splitlines()[-1]
    assert row.startswith("| @1f | deep, 128 boards | 8.00e+08 solutions | whole numbers | 80.0 |")


@pytest.mark.parametrize(
    ("there", "options", "message"),
    [
        (True, ["--board", "nobody"], "nobody"),
        (True, ["--board", "box2x2-empty"], "@box2x2-empty: expected a board of 9x9 cells"),
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
