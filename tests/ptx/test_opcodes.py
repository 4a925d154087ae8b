"""Every opcode of the executor against the Python reference, on random and edge operands."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.ptx.executor import load
from tests.ptx.launch import Kernel
from tests.ptx.reference import FORMS, PRED, Form
from tests.ptx.written import HEAD, entry, kernel, run

ROWS = 256
"""Operands for each form; a thread each."""
EDGES = [
    *(0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 264, 287),
    *(2**n + d for n in (15, 16, 31, 32, 63) for d in (-1, 0, 1)),
    *(2**64 - d for d in (1, 2, 128, 256)),
    *(0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 0x8080808080808080, 0x0123456789ABCDEF),
]
LETTER = {PRED: "p", 16: "h", 32: "r", 64: "d"}
ROW = (
    "mad.wide.u32 %a, %tid, 32, %a;",
    "mad.wide.u32 %b, %tid, 16, %b;",
)
"""Let the arrays begin at the thread's own rows."""


def kernel_of(name: str, text: str, form: Form, last: int | None) -> str:
    """A kernel that does it once in each thread; ``last`` takes the place of the last operand."""
    code, operands = [], []
    for i, bits in enumerate(form.sources):
        operand = f"%{LETTER[bits]}{i}"
        if bits == PRED:
            code += [f"ld.global.u32 %flag, [%a+{8 * i}];", f"setp.ne.u32 {operand}, %flag, 0;"]
        else:
            code.append(f"ld.global.b{bits} {operand}, [%a+{8 * i}];")
        operands.append(operand)
    if last is not None:
        operands[-1] = str(last)
    if form.table is not None:
        operands.append(hex(form.table))
    results = [f"%{LETTER[bits]}{5 + i}" for i, bits in enumerate(form.results)]
    code.append(f"{text.split()[0]} {'|'.join(results)}, {', '.join(operands)};")
    for i, (bits, result) in enumerate(zip(form.results, results, strict=True)):
        if bits == PRED:
            code += [f"selp.u32 %flag, 1, 0, {result};", f"st.global.u32 [%b+{8 * i}], %flag;"]
        else:
            code.append(f"st.global.b{bits} [%b+{8 * i}], {result};")
    return entry(name, *ROW, *code)


def constant_for(text: str, form: Form) -> int | None:
    """A constant for the last operand, negative at times; none in place of a predicate."""
    if form.sources[-1] == PRED:
        return None
    rng = np.random.default_rng([*text.encode()])
    low, high = {16: (-(2**15), 2**15), 32: (-(2**31), 2**31)}.get(form.sources[-1], (-1, 2**62))
    value = int(rng.choice([1, 5, 31, 35, -1, int(rng.integers(low, high))]))
    return value if value or not text.startswith(("div", "rem")) else 3


NUMBERED = {text: i for i, text in enumerate(FORMS)}


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    texts = [HEAD]
    for text, form in FORMS.items():
        texts.append(kernel_of(f"form_{NUMBERED[text]}", text, form, None))
        last = constant_for(text, form)
        if last is not None:
            texts.append(kernel_of(f"constant_{NUMBERED[text]}", text, form, last))
    return load("\n".join(texts))


def operands(text: str, form: Form) -> NDArray[np.uint64]:
    """Four 64-bit words a row, of which the low bits are the operands."""
    rng = np.random.default_rng([1, *text.encode()])
    edges = np.array(EDGES, np.uint64)
    values = rng.choice(edges, (ROWS, 4))
    random = rng.integers(0, 2**64, (ROWS, 4), np.uint64) >> rng.integers(
        0, 64, (ROWS, 4), np.uint64
    )
    values = np.where(rng.random((ROWS, 4)) < 0.6, values, random)
    for i, bits in enumerate(form.sources):
        values[:, i] &= np.uint64(2**bits - 1)
    if text.startswith(("div", "rem")):
        values[:, 1] = np.maximum(values[:, 1], 1)
    return values


@pytest.mark.parametrize("text", FORMS)
def test_opcode(text: str, kernels: dict[str, Kernel]) -> None:
    form, values = FORMS[text], operands(text, FORMS[text])
    constant = constant_for(text, form)
    for last in {None, constant}:
        found = np.zeros((ROWS, 2), np.uint64)
        name = f"{'form' if last is None else 'constant'}_{NUMBERED[text]}"
        run(kernels[name], values, found, block=ROWS)
        for row, result in zip(values.tolist(), found.tolist(), strict=True):
            given = row[: len(form.sources)]
            if last is not None:
                given[-1] = last % 2 ** form.sources[-1]
            wanted = form.results_of(*given)
            assert tuple(result[: len(wanted)]) == wanted, (text, [hex(one) for one in given])


def test_vectors_of_registers() -> None:
    """The first register has the lowest bits."""
    built = kernel(
        "ld.global.b64 %d1, [%a];",
        "mov.b64 {%r1, %r2}, %d1;",
        "mov.b64 {%h1, %h2, %h3, %h4}, %d1;",
        "mov.b32 {%h5, %h6}, %r1;",
        "mov.b64 {_, %r4}, %d1;",
        "mov.b64 %d2, {%r2, %r1};",
        "mov.b64 %d3, {%h4, %h3, %h2, %h1};",
        "mov.b32 %r3, {%h6, %h5};",
        "st.global.b64 [%b], %d2;",
        "st.global.b64 [%b+8], %d3;",
        "st.global.b32 [%b+16], %r3;",
        "st.global.b32 [%b+20], %r4;",
    )
    found = np.zeros(3, np.uint64)
    run(built, np.array([0x0123456789ABCDEF], np.uint64), found)
    assert found.tolist() == [0x89ABCDEF01234567, 0xCDEF89AB45670123, 0x01234567CDEF89AB]
