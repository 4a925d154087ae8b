"""Warps on their way through machine code, the bounds that follow, and the script that prints them.

``test_warp_lanes.py`` has the single instructions.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import compiling
import numpy as np
import pytest
import warp
import warp_code
from click.testing import CliRunner
from warp_machine import Machine

from tests.benchmarks.test_warp_lanes import AFTER, BEFORE, listing, operands, run
from tests.compiler import need_compiler, need_numba_cuda, said

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
EVERYONE = 2**32 - 1

PARTED = """
    ISETP.LT.U32.AND P2, PT, R0, 0x8, PT ;
    BSSY B0, `(.L_x_1) ;
    @P2 BRA `(.L_x_0) ;
    VOTE.ANY R8, PT, PT ;
    STG.E desc[UR4][R10.64], R0 ;
    BRA `(.L_x_1) ;
    .L_x_0:
    VOTE.ANY R8, PT, PT ;
    STG.E desc[UR4][R10.64], R0 ;
    .L_x_1:
    {} ;
    VOTE.ANY R9, PT, PT ;
"""
"""Threads 0 to 7 go one way, the others another, and all write to one place."""
FIRST_WORD = "LDC.64 R10, c[0x0][0x278] ;\n"
"""The address of the second array."""


@pytest.mark.slow
@pytest.mark.parametrize("jumpers_first", [True, False])
def test_threads_part_and_meet(jumpers_first: bool) -> None:
    text = BEFORE + FIRST_WORD + PARTED.format("BSYNC B0") + AFTER
    found, last = run(text, operands(), np.zeros(1, np.uint32), jumpers_first=jumpers_first)
    assert found[:, 0].tolist() == [0xFF] * 8 + [0xFFFFFF00] * 24
    assert (found[:, 1] == EVERYONE).all()  # all have met
    assert last[0] == (31 if jumpers_first else 7)  # the last to write, of those that went last


@pytest.mark.slow
def test_threads_that_do_not_wait() -> None:
    text = BEFORE + FIRST_WORD + PARTED.format("NOP") + AFTER
    found, _ = run(text, operands(), np.zeros(1, np.uint32))
    assert found[:, 1].tolist() == [0xFF] * 8 + [0xFFFFFF00] * 24


@pytest.mark.slow
@pytest.mark.parametrize("jumpers_first", [True, False])
@pytest.mark.parametrize("go", ["EXIT", "BREAK B0"])
def test_nobody_waits_for_those_that_go(go: str, jumpers_first: bool) -> None:
    """They left the kernel, or the place; the others vote without them."""
    text = f"""
        ISETP.LT.U32.AND P2, PT, R0, 0x8, PT ;
        BSSY B0, `(.L_x_1) ;
        @P2 BRA `(.L_x_0) ;
        BRA `(.L_x_1) ;
        .L_x_0:
        {go} ;
        {AFTER}
        .L_x_1:
        BSYNC B0 ;
        VOTE.ANY R8, PT, PT ;
    """
    given = operands()
    (found,) = run(BEFORE + text + AFTER, given, jumpers_first=jumpers_first)
    assert (found[8:, 0] == 0xFFFFFF00).all()
    assert (found[:8] == (given[:8] if go == "EXIT" else 0)).all()


@pytest.mark.slow
def test_a_loop_in_which_threads_stay_for_different_times() -> None:
    """Meetings within meetings; every thread goes round as often as its number says."""
    text = """
        MOV R9, R0 ;
        BSSY B0, `(.L_x_2) ;
        .L_x_0:
        ISETP.EQ.U32.AND P2, PT, R9, RZ, PT ;
        @P2 BRA `(.L_x_2) ;
        BSSY B1, `(.L_x_1) ;
        LOP3.LUT P3, RZ, R9, 0x1, RZ, 0xc0, !PT ;
        @P3 BRA P2, `(.L_x_1) ;
        @P3 BRA `(.L_x_1) ;
        VIADD R8, R8, 0x100 ;
        .L_x_1:
        BSYNC B1 ;
        VIADD R8, R8, 0x1 ;
        VIADD R9, R9, -0x1 ;
        BRA `(.L_x_0) ;
        .L_x_2:
        BSYNC B0 ;
        VOTE.ANY R9, PT, PT ;
    """
    (found,) = run(BEFORE + text + AFTER, operands())
    assert found[:, 0].tolist() == [256 * (i // 2) + i for i in range(32)]
    assert (found[:, 1] == EVERYONE).all()


@pytest.mark.slow
def test_instructions_are_counted() -> None:
    """By warps and by threads, parties each for itself."""
    code = warp_code.parse(listing(BEFORE + FIRST_WORD + PARTED.format("BSYNC B0") + AFTER))
    machine = Machine(code, 16, (operands(), np.zeros(1, np.uint32)))
    machine.launch(2)
    names = [each.name for each in code.instructions]
    counts = dict(zip(names, machine.counts.tolist(), strict=True))  # of the last of each name
    assert counts["BSSY"] == [2, 64]
    assert counts["BSYNC"] == [4, 64]
    assert counts["STG.E"] == [2, 16]  # on the way that the jumpers take
    assert counts["EXIT"] == [2, 64]
    done = warp.counted(code, machine.counts)
    assert done["threads"] == machine.counts[:, 1].sum()
    assert done["instructions"]["branches"] == 2 * (1 + 1 + 1 + 2 + 1)  # both meet, for themselves


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PARTED.format("BRA.DIV UR4, `(.L_x_0)"), "a part of a warp"),
        ("BSYNC B3 ;", "did not agree"),
        (
            "ISETP.LT.U32.AND P2, PT, R0, 0x8, PT ;\nBSSY B0, `(.L_x_0) ;\n@P2 BSYNC B0 ;\n"
            ".L_x_0:\n",
            "did not agree",
        ),
        (
            "ISETP.LT.U32.AND P2, PT, R0, 0x8, PT ;\nBSSY B0, `(.L_x_0) ;\nBSSY B1, `(.L_x_1) ;\n"
            "@P2 BRA `(.L_x_0) ;\n.L_x_1:\nBSYNC B1 ;\n.L_x_0:\nBSYNC B0 ;\n",
            "for ever",
        ),
    ],
)
def test_what_no_warp_may_do(text: str, message: str) -> None:
    with pytest.raises(warp_code.CodeError, match=message):
        run(BEFORE + FIRST_WORD + text + AFTER, operands(), np.zeros(1, np.uint32))


def test_units() -> None:
    names = ["LOP3.LUT", "IMAD.WIDE.U32", "HFMA2.MMA", "BREV", "STL.64", "LDC", "ULDC"]
    names += ["VOTE.ANY", "VOTEU.ANY", "BRA", "MOV"]
    assert [warp.unit_of(name) for name in names] == [
        *("whole numbers", "products", "products", "bits", "memory", "memory", "once for a warp"),
        *("whole numbers", "once for a warp", "branches", "whole numbers"),
    ]


def instructions(**kinds: int) -> dict[str, Any]:
    return {"instructions": dict.fromkeys(warp.UNITS, 0) | kinds, "number": 2, "threads": 6400}


def test_cycles() -> None:
    """A multiprocessor starts 4 instructions a cycle, 2 of one kind, and half a warp's bits."""
    found = warp.cycles(instructions(**{"whole numbers": 100, "products": 60, "bits": 10}))
    assert found == {"issuing": 21.25, "whole numbers": 25, "products": 15, "bits": 10, "memory": 0}
    assert warp.cycles(instructions(branches=80))["issuing"] == 10


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = {"board": "@1f", "start": "deep", "boards": 128, "of": "solutions", "nodes": 4}
    machine = {"processor": "x", "cores": 2, "date": "2026-01-01", "registers": 128}
    machine |= {"hertz": 2e9, "multiprocessors": 10}
    path = tmp_path / "warp.json"
    runs = [case | instructions(**{"whole numbers": 100, "products": 60})]
    path.write_text(json.dumps({"machine": machine, "runs": runs}))
    warp.show(path)
    # 10 multiprocessors * 2e9 cycles / (100 instructions * 32 / 64 units / 2 solutions) = 8e8
    row = capsys.readouterr().out.splitlines()[-1]
    assert row.startswith("| @1f | deep, 128 boards | 8.00e+08 solutions | whole numbers | 80.0 |")


@pytest.mark.parametrize(
    ("there", "options", "message"),
    [
        (True, ["--board", "nobody"], "nobody"),
        (True, ["--board", "box2x2-empty"], "@box2x2-empty: expected a board of 9x9 cells"),
        (True, ["--clock", "0"], "--clock"),
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
for name in ["1a", "conflict-row"]:  # one solution, none
    try:
        warp.measure(kernel, name, "deep")
    except InputError as error:
        assert str(error) == f"@{name}: too few solutions"
    else:
        sys.exit(f"@{name} is measured")
puzzles = warp.measure_puzzles(kernel, folder.parent / "boards" / "1b.txt", 9)
for each in run, puzzles:
    print(json.dumps({"cycles": warp.cycles(each), **each}))
"""


@pytest.mark.slow
def test_whole_boards_of_the_kernel() -> None:
    """The real machine code, in both orders; where NVIDIA's compiler and disassembler are."""
    need_numba_cuda()
    lines = said(COUNT, str(FOLDER))
    need_compiler(lines)
    board, puzzles = lines
    assert board["number"] > 100
    assert 0 < max(board["cycles"].values()) < 200
    assert (puzzles["of"], puzzles["number"], puzzles["boards"]) == ("puzzles", 1, 1)
