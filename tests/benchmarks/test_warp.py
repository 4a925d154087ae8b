"""Bounds of the search's speed by its machine code, and the resources of kernels."""

from __future__ import annotations

from pathlib import Path

import compiling
import pytest
import warp
import warp_code
import warp_machine
from click.testing import CliRunner

from tests.compiler import need_compiler, need_numba_cuda, said

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def test_recorded_results_are_shown() -> None:
    done = CliRunner().invoke(warp.main, ["--show"])
    assert (done.exit_code, done.stdout.count("| @")) == (0, 2 * len(warp.BOARDS))
    assert "computed and not measured" in done.stdout


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--board", "nobody"], 2, "nobody"),
        (["--board", "box2x2-empty"], 2, "@box2x2-empty: expected a board of one of 9x9, 12x12"),
        (["--architecture", "1.0"], 2, "'1.0' is not one of"),
        ([], 1, "no compiler"),
    ],
)
def test_what_is_missing_or_bad_is_one_line(
    options: list[str], status: int, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is compiled, and nothing written."""
    monkeypatch.setattr(compiling, "missing", lambda: "no compiler")
    done = CliRunner().invoke(warp.main, [*options, "--output", str(tmp_path / "warp.json")])
    assert (done.exit_code, done.stdout) == (status, "")
    assert message in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text",
    [
        "IMAD.WIDE.U64 R2, R2, R4, R6",
        "IADD3.X R2, -R3, R4, RZ, P0, !PT",
        "ISETP.NE.AND P0, P1, R2, RZ, PT",
        "SHFL.IDX PT, R2, R3, R4, 0x1c1f",
        "LDG.E R2, [R4.64+UR4]",
        "LOP3.LUT R2, R3, R4, R5, 0xc0, !PT, R6",
        "P2R R2, PR, RZ, 0x3",
    ],
)
def test_unknown_instructions_are_refused(text: str) -> None:
    with pytest.raises(warp_code.CodeError, match="unknown instruction"):
        warp_code.Code(f"        /*0000*/                   {text} ;", 0)


def test_passes_over_shared_memory_and_sectors_of_local_memory() -> None:
    """Thread i reads or writes the word at i times a distance."""
    passes = {("STS", 4): 1, ("STS", 8): 2, ("STS", 128): 32, ("LDS", 0): 1, ("LDS.64", 8): 2,
              ("STS.64", 256): 32, ("STS.128", 16): 4, ("STL", 0): 4, ("STL", 4): 32}  # fmt: skip
    for (name, distance), expected in passes.items():
        operands = "R2, [R4]" if name.startswith("LD") else "[R4], R8"
        lines = ["S2R R1, SR_TID.X", f"IMAD R4, R1, {distance:#x}, RZ", f"{name} {operands}"]
        text = "\n".join(f"/*0000*/ {line} ;" for line in [*lines, "EXIT"])
        code = warp_code.Code(f".target sm_80\n{text}", 256, 16384)
        counts = warp_machine.launch(code, [], [])
        assert counts[2].tolist() == [warp_machine.WARPS, 64, warp_machine.WARPS * expected], name


COUNT = """
from pathlib import Path

folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
import compiling, warp
from gpusudoku.errors import InputError

if reason := compiling.missing():
    print(json.dumps({"missing": reason}))
    sys.exit()
for jumpers_first in True, False:
    warp.check_count("1b", jumpers_first)
warp.WARM_UP, warp.BUDGET = 10, 40
run = warp.measure("2c", "deep")
try:
    warp.measure("conflict-row", "deep")
except InputError as error:
    assert str(error) == "@conflict-row: too few solutions"
else:
    sys.exit("@conflict-row is measured")
puzzles = warp.measure_puzzles(folder.parent / "boards" / "1b.txt")
for each in run, puzzles:
    print(json.dumps({"cycles": warp.cycles(each), **each}))
warp.SEARCHES = [(2, "singles")]
for each in warp.resources("9.0"):
    print(json.dumps(each))
"""


@pytest.mark.slow
def test_boards_are_counted_by_the_machine_code_of_the_kernel() -> None:
    """Threads that part run in both orders; where NVIDIA's compiler and disassembler are."""
    need_numba_cuda()
    lines = said(COUNT, str(FOLDER))
    need_compiler(lines)
    board, puzzles, search, *sums = lines
    assert board["number"] > 100
    assert 0 < max(board["cycles"].values()) < 200
    # A solution's board is written to a stack and read again, but few are.
    row = 4 * 28
    assert row < board["bytes"]["stored"] / board["number"] < 6 * row
    assert (puzzles["of"], puzzles["number"], puzzles["boards"]) == ("puzzles", 1, 1)
    assert 0 < search["registers"] < 255
    assert search["shared bytes"] > 0 < search["instructions"]
    for each in sums:
        assert 0 < each["occupancy"] <= 1
        assert each["registers"] <= 64
        assert each["shared bytes"] > 0
