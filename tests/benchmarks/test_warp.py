"""Machine code that a warp is made to run: single instructions, warps that part, and the bounds."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compiling
import numpy as np
import pytest
import warp
import warp_code
from click.testing import CliRunner
from numpy.typing import NDArray
from warp_machine import Machine

from tests.compiler import need_compiler, need_numba_cuda, said

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
WORD = 2**32 - 1
LONG = 2**64 - 1
EDGES = [0, 1, 2, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]

BEFORE = """
    CS2R R8, SRZ ;
    S2R R0, SR_TID.X ;
    MOV R1, RZ ;
    LDC.64 R2, c[0x0][0x230] ;
    IMAD.WIDE.U32 R2, R0, 0x10, R2 ;
    LDG.E.128 R4, desc[UR4][R2.64] ;
"""
AFTER = """
    SEL R10, RZ, 0x1, !P0 ;
    SEL R11, RZ, 0x1, !P1 ;
    STG.E.128 desc[UR4][R2.64], R8 ;
    EXIT ;
"""


def listing(text: str) -> str:
    """Instructions as the disassembler prints them."""
    lines = [line.strip() for line in text.replace("; ", ";\n").strip().splitlines()]
    return "\n".join(x if x.endswith(":") else f"/*{16 * i:04x}*/ {x}" for i, x in enumerate(lines))


def operands() -> NDArray[np.uint32]:
    """Four words for each thread; the last is small, to be shifted by."""
    random.seed(0)
    words = [[random.choice([*EDGES, random.getrandbits(32)]) for _ in range(4)] for _ in range(32)]
    return np.array([[a, b, c, d % 70] for a, b, c, d in words], np.uint32)


def run(text: str, *arrays: NDArray[Any], jumpers_first: bool = True) -> list[NDArray[Any]]:
    """Run a warp; the arrays as they are afterwards."""
    machine = Machine(warp_code.parse(listing(text)), 32, arrays)
    machine.launch(1, jumpers_first)
    return machine.arrays


def signed(x: int, bits: int = 32) -> int:
    return x - (x >> (bits - 1) << bits)


def permuted(a: int, selector: int, c: int) -> int:
    pool = a.to_bytes(4, "little") + c.to_bytes(4, "little")
    found = []
    for k in range(4):
        which = selector >> (4 * k) & 15
        byte = pool[which % 8]
        found.append((0xFF if byte > 127 else 0) if which > 7 else byte)
    return int.from_bytes(bytes(found), "little")


def long(low: int, high: int) -> int:
    return high << 32 | low


def two_words(x: int) -> tuple[int, int]:
    return x & WORD, x >> 32 & WORD


CASES: dict[str, Callable[[int, int, int, int], tuple[int, ...]]] = {
    "LOP3.LUT P0, R8, R4, R5, R6, 0x96, !PT ;": lambda a, b, c, d: (a ^ b ^ c, 0, a ^ b ^ c != 0),
    "LOP3.LUT R8, R4, R5, R6, 0xca, !PT ;": lambda a, b, c, d: (a & b | ~a & c,),
    "LOP3.LUT R8, R4, R5, R6, 0x1f, !PT ;": lambda a, b, c, d: (~(a & (b | c)) & (~a | ~b & ~c),),
    "LOP3.LUT P0, RZ, R4, 0x1, RZ, 0xc0, PT ;": lambda a, b, c, d: (0, 0, 1),
    "IADD3 R8, P0, P1, R4, R5, R6 ;": lambda a, b, c, d: (
        (a + b + c), 0, a + b + c > WORD, a + b + c > 2 * WORD + 1),
    "IADD3 R8, P0, R4, -R5, RZ ;": lambda a, b, c, d: (a - b, 0, a >= b),
    "IADD3 R8, P0, R4, R6, RZ ; IADD3.X R9, R5, R7, RZ, P0, !PT ;": lambda a, b, c, d: (
        *two_words(long(a, b) + long(c, d)), a + c > WORD),
    "IADD3 R8, P0, R4, R6, RZ ; IMAD.X R9, R5, 0x1, R7, P0 ;": lambda a, b, c, d: (
        *two_words(long(a, b) + long(c, d)), a + c > WORD),
    "VIADD R8, R4, -0x1 ;": lambda a, b, c, d: (a - 1,),
    "IMAD R8, R4, R5, -R6 ;": lambda a, b, c, d: (a * b - c,),
    "IMAD.MOV.U32 R8, RZ, RZ, R4 ;": lambda a, b, c, d: (a,),
    "IMAD.SHL.U32 R8, R4, 0x4, RZ ;": lambda a, b, c, d: (a << 2,),
    "IMAD.WIDE.U32 R8, R4, R5, R6 ;": lambda a, b, c, d: two_words(a * b + long(c, d)),
    "IMAD.WIDE R8, R4, R5, R6 ;": lambda a, b, c, d: two_words(
        signed(a) * signed(b) + long(c, d)),
    "IMAD.WIDE R8, R4, -0x3, RZ ;": lambda a, b, c, d: two_words(signed(a) * -3),
    "IMAD.HI.U32 R8, R4, R5, R6 ;": lambda a, b, c, d: ((a * b >> 32) + c,),
    "SHF.L.U32 R8, R4, R7, RZ ;": lambda a, b, c, d: (a << d,),
    "SHF.L.U64.HI R8, R4, 0x3, R5 ;": lambda a, b, c, d: (long(a, b) << 3 >> 32,),
    "SHF.R.U32.HI R8, RZ, R7, R4 ;": lambda a, b, c, d: (a >> d,),
    "SHF.R.S32.HI R8, RZ, R7, R4 ;": lambda a, b, c, d: (signed(a) >> d,),
    "SGXT.U32 R8, R4, 0x9 ;": lambda a, b, c, d: (a % 512,),
    "LEA R8, P0, R4, R6, 0x2 ; LEA.HI.X R9, R4, R7, R5, 0x2, P0 ;": lambda a, b, c, d: (
        *two_words((long(a, b) << 2) + long(c, d)), (a << 2 & WORD) + c > WORD),
    "ULEA UR4, -UR4, URZ, 0x1 ; MOV R8, UR4 ;": lambda a, b, c, d: (-2 * 0xA5,),
    "ISETP.LT.U32.AND P0, PT, R4, R5, PT ; SEL R8, R4, R5, P0 ;": lambda a, b, c, d: (
        min(a, b), 0, a < b),
    "PRMT R8, R4, 0x5410, R5 ;": lambda a, b, c, d: (a & 0xFFFF | b << 16,),
    "PRMT R8, R4, R6, R5 ;": lambda a, b, c, d: (permuted(a, c, b),),
    "BREV R8, R4 ;": lambda a, b, c, d: (int(f"{a:032b}"[::-1], 2),),
    "FLO.U32 R8, R4 ;": lambda a, b, c, d: (a.bit_length() - 1,),
    "POPC R8, R4 ;": lambda a, b, c, d: (a.bit_count(),),
    "ISETP.LT.AND P0, P1, R4, R5, PT ;": lambda a, b, c, d: (
        0, 0, signed(a) < signed(b), signed(a) >= signed(b)),
    "ISETP.LE.U32.AND P0, PT, R4, R5, PT ;": lambda a, b, c, d: (0, 0, a <= b),
    "ISETP.GT.U32.AND P0, PT, R4, R5, !PT ;": lambda a, b, c, d: (0, 0, 0),
    "ISETP.GT.U32.OR P0, PT, R4, R5, PT ;": lambda a, b, c, d: (0, 0, 1),
    "ISETP.GE.U32.XOR P0, PT, R4, R5, PT ;": lambda a, b, c, d: (0, 0, a < b),
    "ISETP.GT.U32.AND P0, PT, R4, R6, PT ; ISETP.GT.AND.EX P0, PT, R5, R7, PT, P0 ;":
        lambda a, b, c, d: (0, 0, signed(long(a, b), 64) > signed(long(c, d), 64)),
    "ISETP.NE.U32.AND P0, PT, R4, R6, PT ; ISETP.NE.AND.EX P0, PT, R5, R7, PT, P0 ;":
        lambda a, b, c, d: (0, 0, long(a, b) != long(c, d)),
    "ISETP.EQ.U32.AND P0, PT, R4, R6, PT ; ISETP.EQ.AND.EX P0, PT, R5, R7, PT, P0 ;":
        lambda a, b, c, d: (0, 0, long(a, b) == long(c, d)),
    "ISETP.LT.U32.AND P0, PT, R4, R5, PT ; @P0 MOV R8, R6 ; @!P0 MOV R9, R6 ;":
        lambda a, b, c, d: (c * (a < b), c * (a >= b), a < b),
    "ISETP.LT.U32.AND P2, P3, R4, R5, PT ; PLOP3.LUT P0, P1, P2, PT, P3, 0x20, 0x8 ;":
        lambda a, b, c, d: (0, 0, 0, a >= b),
    "HFMA2.MMA R8, -RZ, RZ, 1, 5.9604644775390625e-08 ;": lambda a, b, c, d: (0x3C000001,),
    "ULDC UR4, c[0x0][0x0] ; IMAD R8, R4, UR4, RZ ;": lambda a, b, c, d: (32 * a,),
    "STL.64 [R1+0x8], R4 ; LDL R8, [R1+0xc] ;": lambda a, b, c, d: (b,),
    "STL.128 [R1+0x10], RZ ; LDL.64 R8, [R1+0x18] ;": lambda a, b, c, d: (0, 0),
    "STG.E.U8 desc[UR4][R2.64+0x1], R5 ; LDG.E R8, desc[UR4][R2.64] ;": lambda a, b, c, d: (
        a & 0xFFFF00FF | (b & 0xFF) << 8,),
    "ATOMG.E.ADD.64.STRONG.GPU PT, R8, desc[UR4][R2.64], R6 ; LDG.E.64 R8, desc[UR4][R2.64] ;":
        lambda a, b, c, d: two_words(long(a, b) + long(c, d)),
    "ATOMG.E.ADD.64.STRONG.GPU PT, R8, desc[UR4][R2.64], R6 ;": lambda a, b, c, d: (a, b),
}  # fmt: skip


@pytest.mark.slow
def test_every_instruction() -> None:
    """With operands at the edges of 32 bits, and any others."""
    for text, expect in CASES.items():
        given = operands()
        (found,) = run(BEFORE + text.replace("; ", ";\n") + AFTER, given)
        for words, after in zip(given.tolist(), found.tolist(), strict=True):
            expected = [int(x) & WORD for x in expect(*words)]
            assert after == expected + [0] * (4 - len(expected)), (text, words)


def test_every_form_is_tested() -> None:
    """Each operation; others send threads different ways."""
    used = {
        warp_code.OPERATIONS[row["op"]]
        for text in [BEFORE, AFTER, *CASES]
        for row in warp_code.parse(listing(text)).rows
    }
    assert used == set(warp_code.OPERATIONS) - {"NOTHING", "VOTE", "SHUFFLE"}


@pytest.mark.slow
def test_what_threads_tell_each_other() -> None:
    given = operands()
    votes = "ISETP.LT.U32.AND P0, PT, R4, 0x20, PT ;\n{} ;\n"
    (found,) = run(BEFORE + votes.format("VOTE.ANY R8, P1, P0") + AFTER, given)
    below = sum(int(each) << i for i, each in enumerate(given[:, 0] < 32))
    assert (found[:, 0] == below).all()
    assert (found[:, 3] == 1).all()
    uniform = votes.format("@P0 VOTEU.ANY UR6, UPT, PT") + "MOV R8, UR6 ;"
    (found,) = run(BEFORE + uniform + AFTER, given)
    assert (found[:, 0] == below).all()
    (found,) = run(BEFORE + "SHFL.IDX PT, R8, R4, R5, 0x1f ;" + AFTER, given)
    assert (found[:, 0] == given[given[:, 1] % 32, 0]).all()


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
