"""Every opcode of the executor against what it means, on random and edge operands."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.ptx.launch import Kernel, load
from tests.ptx.opcodes import OPCODES
from tests.ptx.parse import TYPES, PtxError, Type
from tests.ptx.written import entry, kernel, run

ROWS = 128
"""Operands for each type of an opcode; a thread each."""
EDGES = [
    *(0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 287),
    *(2**n + d for n in (15, 16, 31, 32, 63) for d in (-1, 0, 1)),
    *(2**64 - d for d in (1, 2, 128, 256)),
    *(0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 0x0123456789ABCDEF),
]
LETTER = {1: "p", 16: "h", 32: "r", 64: "d"}
ROW = "mad.wide.u32 %a, %tid, 32, %a;", "mad.wide.u32 %b, %tid, 8, %b;"
"""Let the arrays begin at the thread's own rows."""
CONSTANTS = 3, -1, 35
"""One of them takes the place of the last operand, if that is no predicate."""
FORMS = [(name, kind) for name, opcode in OPCODES.items() for kind in opcode.types]


def constant_for(name: str, kind: str) -> int | None:
    if OPCODES[name].widths(TYPES[kind])[-1] == 1:
        return None
    return CONSTANTS[FORMS.index((name, kind)) % len(CONSTANTS)]


def label(name: str, kind: str, constant: int | None) -> str:
    return f"{name}.{kind}.{constant}".replace(".", "_").replace("-", "_")


def kernel_of(name: str, kind: str, constant: int | None) -> str:
    """A kernel that does it once in each thread."""
    to, *sources = OPCODES[name].widths(TYPES[kind])
    code = ["mad.wide.u32 %a, %tid, 32, %a;", "mad.wide.u32 %b, %tid, 8, %b;"]
    operands = [f"%{LETTER[bits]}{i}" for i, bits in enumerate(sources)]
    for i, (bits, operand) in enumerate(zip(sources, operands, strict=True)):
        if bits == 1:
            code.append(f"ld.global.u32 %flag, [%a+{8 * i}];")
            code.append(f"setp.ne.u32 {operand}, %flag, 0;")
        else:
            code.append(f"ld.global.b{bits} {operand}, [%a+{8 * i}];")
    if constant is not None:
        operands[-1] = str(constant)
    code.append(f"{name}.{kind} %{LETTER[to]}5, {', '.join(operands)};")
    if to == 1:
        to = 32
        code.append("selp.u32 %r5, 1, 0, %p5;")
    code.append(f"st.global.b{to} [%b], %{LETTER[to]}5;")
    return entry(label(name, kind, constant), *code)


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    forms = [(*form, constant) for form in FORMS for constant in {None, constant_for(*form)}]
    return load("\n".join(kernel_of(*form) for form in forms))


def operands(name: str, kind: Type) -> NDArray[np.uint64]:
    """Four 64-bit words a row, of which the low bits are the operands."""
    rng = np.random.default_rng([1, *name.encode()])
    random = rng.integers(0, 2**64, (ROWS, 4), np.uint64)
    random >>= rng.integers(0, 64, (ROWS, 4), np.uint64)
    edges = rng.choice(np.array(EDGES, np.uint64), (ROWS, 4))
    values = np.where(rng.random((ROWS, 4)) < 0.6, edges, random)
    for i, bits in enumerate(OPCODES[name].widths(kind)[1:]):
        values[:, i] &= np.uint64(2**bits - 1)
    if name in ("div", "rem"):
        values[:, 1] = np.maximum(values[:, 1], 1)
    return values


@pytest.mark.parametrize("name", OPCODES)
def test_opcode(name: str, kernels: dict[str, Kernel]) -> None:
    opcode = OPCODES[name]
    for kind in opcode.types:
        values = operands(name, TYPES[kind])
        (_, *widths) = opcode.widths(TYPES[kind])
        for constant in {None, constant_for(name, kind)}:
            results = np.zeros(ROWS, np.uint64)
            run(kernels[label(name, kind, constant)], values, results, block=ROWS)
            for row, result in zip(values.tolist(), results.tolist(), strict=True):
                operand_values = row[: len(widths)]
                if constant is not None:
                    operand_values[-1] = constant % 2 ** widths[-1]
                assert result == opcode.result(TYPES[kind], operand_values), (
                    kind,
                    [*map(hex, operand_values)],
                )


MEANINGS = {
    "neg.s16": ([0x8000], 0x8000),
    "mul.hi.s32": ([2**32 - 1, 2**32 - 1], 0),
    "mul.hi.u32": ([2**32 - 1, 2**32 - 1], 2**32 - 2),
    "mul.wide.s16": ([0xFFFF, 2], 2**32 - 2),
    "mad.lo.s32": ([7, 2**32 - 1, 3], 2**32 - 4),
    "div.s32": ([2**32 - 7, 2], 2**32 - 3),  # toward zero
    "rem.s32": ([2**32 - 7, 2], 2**32 - 1),
    "max.u16": ([1, 0xFFFF], 0xFFFF),
    "setp.lt.s32": ([2**31, 0], 1),
    "setp.lt.u32": ([2**31, 0], 0),
    "shl.b32": ([1, 32], 0),
    "shr.s32": ([2**31, 99], 2**32 - 1),
    "cvt.s64.s32": ([2**31], 2**64 - 2**31),
    "brev.b32": ([2], 2**30),
    "bfi.b32": ([0b101, 2**32 - 1, 4, 4], 0xFFFFFF5F),
    "bfi.b64": ([2**64 - 1, 0, 60, 99], 15 << 60),
}
"""What the manual says, for a few: operands and result as bits."""


@pytest.mark.parametrize("text", MEANINGS)
def test_meaning(text: str) -> None:
    name, _, kind = text.rpartition(".")
    values, result = MEANINGS[text]
    assert OPCODES[name].result(TYPES[kind], values) == result


def test_registers_are_put_together() -> None:
    """The first has the lowest bits."""
    built = kernel(
        "ld.global.v2.b32 {%r1, %r2}, [%a];",
        "mov.b64 %d1, {%r2, %r1};",
        "st.global.b64 [%b], %d1;",
    )
    joined = np.zeros(1, np.uint64)
    run(built, np.array([0x0123456789ABCDEF], np.uint64), joined)
    assert joined.tolist() == [0x89ABCDEF01234567]


ERRORS = {
    "frobnicate.b32 %r1, %r2;": "unknown opcode frobnicate",
    "add.s32 %r1, %r2;": "unexpected operands",
    "add.s64 %r1, %r2, %r3;": "%r2 has 32 bits, not 64",
    "add.s32 %r1, %r2, %r99;": "unknown register %r99",
    "mov.u64 %d1, nowhere;": "unknown name nowhere",
    "ld.global.u32 %r1, [somewhere];": "a variable that is not there",
    "@%p1 bar.sync 0;": "only jumps have conditions",
    "bra NOWHERE;": "unknown label NOWHERE",
}


@pytest.mark.parametrize("code", ERRORS)
def test_error(code: str) -> None:
    with pytest.raises(PtxError, match=r"^line \d+: ") as caught:
        kernel("add.s32 %r1, %r1, 1;", code)
    assert f"{code}: " in str(caught.value)
    assert ERRORS[code] in str(caught.value)
