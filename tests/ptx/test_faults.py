"""What a card would not forgive is a fault that says where; what is not PTX is an error."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ptx.arguments import Pointer
from tests.ptx.executor import load
from tests.ptx.faults import Fault
from tests.ptx.launch import memory
from tests.ptx.model import PtxError
from tests.ptx.written import HEAD, entry, kernel, run

VARIABLES = """
.shared .align 8 .b8 one[64];
.shared .align 8 .b8 two[64];
.extern .shared .align 8 .b8 more[];
.global .align 8 .u64 value = 7;
"""
LOCAL = ".local .align 8 .b8 frame[16];"
GENERIC = "mov.u64 %d0, frame; cvta.local.u64 %d0, %d0;"

FAULTS = {
    "past the end": ("ld.global.u64 %d1, [%a+32];", "global", "out of bounds"),
    "before the start": ("ld.global.u8 %h1, [%a-1];", "global", "out of bounds"),
    "half outside": ("ld.global.u64 %d1, [%a+28];", "global", "misaligned"),
    "a wide load half outside": (
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a+32];",
        "global",
        "out",
    ),
    "nothing": ("mov.u64 %d0, 0; st.global.u32 [%d0], 1;", "global", "out of bounds"),
    "nothing, by the byte": ("mov.u64 %d0, 0; ld.global.u8 %h1, [%d0];", "global", "out of bounds"),
    "garbage": ("st.global.u32 [%d0+3], 1;", "global", "out of bounds"),
    "a store": ("st.global.u8 [%a+32], 1;", "global", "out of bounds"),
    "an atomic change": ("atom.global.add.u64 %d1, [%a+32], 1;", "global", "out of bounds"),
    "a reduction": ("red.global.add.u32 [%a+32], 1;", "global", "out of bounds"),
    "odd": ("ld.global.u16 %h1, [%a+1];", "global", "misaligned"),
    "odd for a vector": ("ld.global.v2.u64 {%d1, %d2}, [%a+8];", "global", "misaligned"),
    "a variable": ("mov.u64 %d0, value; ld.global.u64 %d1, [%d0+8];", "global", "out of bounds"),
    "local": (f"{LOCAL} mov.u64 %d0, frame; ld.local.u64 %d1, [%d0+16];", "local", "out of bounds"),
    "local, by name": (f"{LOCAL} st.local.u32 [frame+16], 1;", "local", "out of bounds"),
    "local, odd": (f"{LOCAL} st.local.u32 [frame+2], 1;", "local", "misaligned"),
    "local, as global": (f"{LOCAL} {GENERIC} ld.global.u64 %d1, [%d0];", "global", "out of bounds"),
    "local, not as generic": (f"{LOCAL} mov.u64 %d0, frame; ld.u64 %d1, [%d0];", "generic", "out"),
    "generic": (f"{LOCAL} {GENERIC} ld.u64 %d1, [%d0+16];", "generic", "out of bounds"),
    "global, as shared": ("ld.shared.u64 %d1, [%a];", "shared", "out of bounds"),
    "between arrays": ("mov.u64 %d0, one; st.shared.u64 [%d0+64], 1;", "shared", "out of bounds"),
    "behind arrays": ("mov.u64 %d0, two; ld.shared.u64 %d1, [%d0+64];", "shared", "out of bounds"),
    "more shared": ("mov.u64 %d0, more; ld.shared.u64 %d1, [%d0+24];", "shared", "out of bounds"),
    "an atom of shared": ("mov.u64 %d0, one; red.shared.add.u32 [%d0+64], 1;", "shared", "out"),
    "zero": ("mov.u32 %r0, 0; div.s32 %r1, %r1, %r0;", "", "division by zero"),
    "no rest": ("mov.u64 %d0, 0; rem.u64 %d1, %d1, %d0;", "", "division by zero"),
    "a trap": ("trap;", "", "trap"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str) -> None:
    """The third thread of four does it; the message says which, where and what."""
    code, space, reason = FAULTS[name]
    if code.startswith(LOCAL):
        declared, code = LOCAL, code.removeprefix(LOCAL)
    else:
        declared = ""
    steps = [f"{each.strip()};" for each in code.split(";")[:-1]]
    test = entry("test", declared, "setp.ne.u32 %p1, %tid, 2;", "@%p1 bra END;", *steps, "END:")
    text = "\n".join([HEAD, VARIABLES, test])
    built = load(text)["test"]
    array = memory(64)[:32].view(np.uint64)
    with pytest.raises(Fault, match=reason) as caught:
        run(built, array, np.zeros(1), block=4, shared_bytes=24)
    fault = caught.value
    assert (fault.thread, fault.block, fault.space) == ((2, 0, 0), (0, 0, 0), space)
    assert fault.kernel == "test"
    assert text.splitlines()[fault.line - 1].strip() == steps[-1]
    for part in (f"line {fault.line} ({steps[-1]})", "thread (2, 0, 0)", "in test"):
        assert part in str(fault)


def test_what_is_inside_is_no_fault() -> None:
    built = kernel(
        LOCAL,
        "ld.global.u64 %d1, [%a+24];",
        "mov.u64 %d0, more;",
        "st.shared.u64 [%d0+16], %d1;",
        "mov.u64 %d0, value;",
        "ld.global.u64 %d2, [%d0];",
        "st.global.u64 [%a], %d2;",
        "st.local.u64 [frame+8], %d1;",
        "ld.local.u64 %d3, [frame+8];",
        "st.global.u64 [%a+8], %d3;",
        before=VARIABLES,
    )
    array = np.array([1, 2, 3, 4], np.uint64)
    run(built, array, array, shared_bytes=24)
    assert array.tolist() == [7, 4, 3, 4]


def test_one_thread_cannot_touch_the_memory_of_another() -> None:
    """A generic address of the first thread's local memory, used by the second."""
    built = kernel(
        LOCAL,
        "setp.ne.u32 %p1, %tid, 0;",
        "@%p1 bra OTHER;",
        GENERIC,
        "st.global.u64 [%a], %d0;",
        "st.u64 [%d0], 1;",
        "OTHER:",
        "bar.sync 0;",
        "ld.global.u64 %d0, [%a];",
        "ld.u64 %d1, [%d0];",
    )
    with pytest.raises(Fault, match="generic memory: out of bounds") as caught:
        run(built, np.zeros(1, np.uint64), np.zeros(1), block=2)
    assert caught.value.thread == (1, 0, 0)


def test_every_launch_is_checked_anew() -> None:
    """What a site remembers of the last array holds for the launch only."""
    built = kernel("mad.wide.u32 %a, %tid, 8, %a;", "st.global.u64 [%a], 1;")
    run(built, np.zeros(8, np.uint64), np.zeros(1), block=8)
    with pytest.raises(Fault) as caught:
        run(built, np.zeros(8, np.uint64)[:5], np.zeros(1), block=8)
    assert caught.value.thread == (5, 0, 0)


def test_the_block_is_named() -> None:
    built = kernel("mov.u32 %r1, %ctaid.y;", "setp.eq.u32 %p1, %r1, 3;", "@%p1 trap;")
    with pytest.raises(Fault, match=r"trap: block \(0, 3, 0\), thread \(1, 1, 0\)"):
        built.launch((2, 4), (2, 2), [Pointer(np.zeros(1))] * 2, seed=1)


def test_threads_of_a_warp_at_different_barriers() -> None:
    code = (
        "setp.lt.u32 %p1, %tid, {};",
        "@%p1 bra OTHER;",
        "bar.sync 0;",
        "bra END;",
        "OTHER:",
        "bar.sync 0;",
        "END:",
    )
    apart = kernel(code[0].format(32), *code[1:])
    run(apart, np.zeros(1), np.zeros(1), block=64)  # each warp at its own
    with pytest.raises(Fault, match="threads of a warp wait at different places"):
        run(kernel(code[0].format(31), *code[1:]), np.zeros(1), np.zeros(1), block=64)


def test_unchecked() -> None:
    """Only what would stop the CPU is still looked at."""
    line = "mov.u64 %d0, one; ld.shared.u64 %d1, [%d0+64]; st.global.u64 [%a], %d1;"
    run(kernel(line, before=VARIABLES, checked=False), np.zeros(1), np.zeros(1))
    with pytest.raises(Fault):
        run(kernel(line, before=VARIABLES), np.zeros(1), np.zeros(1))
    zero = kernel("mov.u32 %r0, 0; div.u32 %r1, %r1, %r0;", checked=False)
    with pytest.raises(Fault, match="division by zero"):
        run(zero, np.zeros(1), np.zeros(1))


ERRORS = {
    "frobnicate.b32 %r1, %r2;": "unknown opcode frobnicate",
    "add.f32 %r1, %r2, %r3;": "unknown type .f32",
    "add.sat.s32 %r1, %r2, %r3;": "unknown modifier .sat",
    "add.s32 %r1, %r2;": "unexpected operands",
    "mul.lo.s32 %r1, %r2, %r3, %r4;": "unexpected operands",
    "mul.s32 %r1, %r2, %r3;": "expected one of .lo, .hi and .wide",
    "lop3.b32 %r1, %r2, %r3, 150;": "expected three operands and a table",
    "setp.u32 %p1, %r1, %r2;": "unexpected operands",
    "cvta %d1, %d2;": "unexpected operands",
    "add.s64 %r1, %r2, %r3;": "%r2 has 32 bits, not 64",
    "add.s32 %d1, %r2, %r3;": "%d1 has 64 bits, not 32",
    "add.s32 %r1, %r2, %r99;": "unknown register %r99",
    "mov.u32 %r1, %clock;": "unknown register %clock",
    "mov.u64 %d1, nowhere;": "unknown name nowhere",
    "setp.lt.b32 %p1, %r1, %r2;": "bits have no order",
    "shf.l.b32 %r1, %r2, %r3, 4;": "unknown modifiers",
    "ld.texture.u32 %r1, [%a];": "unknown modifiers",
    "ld.global.v3.u32 %r1, [%a];": "unknown modifiers",
    "st.const.u32 [%a], 1;": "constants cannot be written",
    "ld.param.u64 %d1, [a+8];": "out of bounds",
    "ld.param.u64 %d1, [c];": "expected the name of a parameter",
    "atom.global.frob.b32 %r1, [%a], 1;": "unknown modifier .frob",
    "bar.sync 1;": "only barrier 0",
    "bar.sync 0, 32;": "only barrier 0",
    "@%p1 bar.sync 0;": "a barrier or a vote under a condition",
    "bra NOWHERE;": "unknown label NOWHERE",
    "call nothing;": "no device function nothing",
    "vote.sync.ballot.pred %p1, %p1, -1;": "unknown modifiers",
    "vote.ballot.b32 %r1, %p1;": "unexpected operands or modifiers",
    "activemask.b32 %r1;": "unknown opcode activemask",
    "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;": "unknown opcode shfl",
    "div.u32 %r1, %r2, 0;": "a division by zero",
    "mov.u32 %r1, ?;": "not PTX",
    ".frob .b32 %x;": "unknown directive .frob",
    ".reg .f32 %x;": "unknown type .f32",
}


@pytest.mark.parametrize("code", ERRORS)
def test_error(code: str) -> None:
    with pytest.raises(PtxError) as caught:
        kernel("add.s32 %r1, %r1, 1;", code)
    assert ERRORS[code] in str(caught.value)
    assert str(caught.value).startswith("line ")


def test_what_is_elsewhere() -> None:
    with pytest.raises(PtxError, match="a variable of another module"):
        load(f"{HEAD}.extern .global .u32 away;")
    with pytest.raises(PtxError, match="the function away is not in the module"):
        load(f"{HEAD}.extern .func away();")


def test_recursion() -> None:
    text = ".func one() { call two, (); ret; } .func two() { call one, (); ret; }"
    with pytest.raises(PtxError, match="recursion: one, two"):
        load(HEAD + text)
