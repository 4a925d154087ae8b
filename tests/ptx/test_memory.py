"""Loads, stores and atomic additions in every space, and their faults."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ptx.launch import Fault, Kernel, load, memory
from tests.ptx.written import entry, kernel, run

PLACES = {
    "global": "add.u64 %d0, %b, 128;",
    "": "add.u64 %d0, %b, 128;",
    "shared": "mov.u64 %d0, in_shared;",
    "local": "mov.u64 %d0, in_local;",
}
"""How ``%d0`` becomes the address of some memory, by its space; without one it is generic."""
KINDS = [f"{kind}{bits}" for kind in "bus" for bits in (8, 16, 32, 64)]
KINDS += [f"{count}.{kind}" for count in ("v2", "v4") for kind in ("b32", "u32", "b64", "u64")]
"""The last one or two modifiers of a load or a store."""
RESULTS = ["%d1", "%d2", "%d3", "%d4"]
SHARED = ".shared .align 32 .b8 in_shared[32];"
LOCAL = ".local .align 32 .b8 in_local[32];"
CASES = [(space, what) for space in PLACES for what in KINDS]
ATOMS = ["atom.global.add.u64", "atom.relaxed.sys.global.add.u64", "atom.shared.add.u32"]
ATOMS += ["atom.global.or.b64", "atom.relaxed.sys.global.or.b64"]


def named(opcode: str, space: str, elements_type: str) -> str:
    return ".".join(filter(None, [opcode, space, elements_type]))


TESTED = {named(opcode, *case) for opcode in ("ld", "st") for case in CASES} | {*ATOMS}
"""Every opcode that is tested here, with its modifiers."""


def elements(elements_type: str) -> tuple[int, int, bool]:
    """How many elements there are, their bytes, and whether they have a sign."""
    *count, kind = elements_type.split(".")
    return int(count[0][1:]) if count else 1, int(kind[1:]) // 8, kind[0] == "s"


def kernel_of(name: str, space: str, elements_type: str) -> str:
    """A kernel that loads and stores.

    It copies ``a[:4]`` to the place and loads from there to ``b[:4]``; then it stores ``a[4:]``
    there and copies the place to ``b[4:]``.
    """
    count = elements(elements_type)[0]
    at = named("", space, "b64")
    code = [LOCAL, PLACES[space]]
    for i in range(4):
        code += [f"ld.global.b64 %d8, [%a+{8 * i}];", f"st.{at} [%d0+{8 * i}], %d8;"]
    values = RESULTS[0] if count == 1 else f"{{{', '.join(RESULTS[:count])}}}"
    code += [f"{named('ld', space, elements_type)} {values}, [%d0];"]
    code += [f"st.global.b64 [%b+{8 * i}], {RESULTS[i]};" for i in range(count)]
    code += [f"ld.global.b64 {RESULTS[i]}, [%a+{32 + 8 * i}];" for i in range(count)]
    code += [f"{named('st', space, elements_type)} [%d0], {values};"]
    for i in range(4):
        code += [f"ld.{at} %d8, [%d0+{8 * i}];", f"st.global.b64 [%b+{32 + 8 * i}], %d8;"]
    return entry(name, *code)


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    texts = [kernel_of(f"kernel_{number}", *case) for number, case in enumerate(CASES)]
    return load("\n".join([SHARED, *texts]))


@pytest.mark.parametrize("space", PLACES)
def test_load_and_store(space: str, kernels: dict[str, Kernel]) -> None:
    for elements_type in KINDS:
        number = CASES.index((space, elements_type))
        count, size, signed = elements(elements_type)
        words = memory(64).view(np.uint64)
        words[:] = np.random.default_rng(number).integers(0, 2**64, 8, np.uint64)
        words |= np.uint64(0x8080808080808080)  # signs are there to be extended
        old_bytes = words[:4].tobytes()
        new = words[4:].tolist()
        results = memory(160).view(np.uint64)
        run(kernels[f"kernel_{number}"], words, results)
        loaded = [old_bytes[i * size : i * size + size] for i in range(count)]
        expected = [int.from_bytes(x, "little", signed=signed) % 2**64 for x in loaded]
        assert results[:count].tolist() == expected, elements_type
        stored = b"".join((x % 2 ** (8 * size)).to_bytes(size, "little") for x in new[:count])
        assert results[4:8].tobytes() == stored + old_bytes[len(stored) :], elements_type


@pytest.mark.parametrize("opcode", ATOMS)
def test_atomic_operation(opcode: str) -> None:
    shared = ".shared." in opcode
    bits = int(opcode[-2:])
    space = "shared" if shared else "global"
    letter = "d" if bits == 64 else "r"
    built = kernel(
        PLACES["shared"] if shared else "mov.u64 %d0, %a;",
        f"ld.global.b{bits} %{letter}1, [%a];",
        f"ld.global.b{bits} %{letter}2, [%a+8];",
        f"st.{space}.b{bits} [%d0], %{letter}1;",
        f"{opcode} %{letter}3, [%d0], %{letter}2;",
        f"ld.{space}.b{bits} %{letter}4, [%d0];",
        f"st.global.b{bits} [%b], %{letter}3;",
        f"st.global.b{bits} [%b+8], %{letter}4;",
        before=SHARED,
    )
    for old, operand in ((5, 7), (2**bits - 1, 3)):
        new = old | operand if ".or." in opcode else (old + operand) % 2**bits
        results = np.zeros(2, np.uint64)
        run(built, np.array([old, operand], np.uint64), results)
        assert results.tolist() == [old, new]


VARIABLES = """
.shared .align 8 .b8 one[64];
.shared .align 8 .b8 two[64];
"""
FRAME = ".local .align 8 .b8 frame[16];\n"
FAULTS = {
    "past the end": ("ld.global.u64 %d1, [%a+32];", "global", "out of bounds, 32 bytes from"),
    "before the start": ("ld.global.u8 %h1, [%a+-1];", "global", "out of bounds, -1 bytes from"),
    "half outside": ("ld.global.u64 %d1, [%a+28];", "global", "misaligned"),
    "a wide load": ("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a+32];", "global", "out of bounds"),
    "nothing": ("mov.u64 %d0, 0;\nst.global.u8 [%d0], 1;", "global", "out of bounds"),
    "garbage": ("st.u32 [%d0+3], 1;", "generic", "out of bounds"),
    "a store": ("st.global.u8 [%a+32], 1;", "global", "out of bounds"),
    "an addition": ("atom.global.add.u64 %d1, [%a+32], 1;", "global", "out of bounds"),
    "odd": ("ld.global.u16 %h1, [%a+1];", "global", "misaligned"),
    "a vector": ("ld.global.v2.u64 {%d1, %d2}, [%a+8];", "global", "misaligned"),
    "local": (f"{FRAME}st.local.u32 [frame+16], 1;", "local", "out of bounds"),
    "local, odd": (f"{FRAME}st.local.u32 [frame+2], 1;", "local", "misaligned"),
    "global, as shared": ("ld.shared.u64 %d1, [%a];", "shared", "out of bounds"),
    "between arrays": ("ld.shared.u64 %d0, [one+64];", "shared", "out of bounds"),
    "behind arrays": ("mov.u64 %d0, two;\nst.shared.u64 [%d0+64], 1;", "shared", "out of bounds"),
    "zero": ("mov.u32 %r0, 0;\ndiv.s32 %r1, %r1, %r0;", "", "division by zero"),
    "no rest": ("mov.u64 %d0, 0;\nrem.u64 %d1, %d1, %d0;", "", "division by zero"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str) -> None:
    """The third thread of four does it; the message says which, where and what."""
    code, space, reason = FAULTS[name]
    built = kernel("setp.ne.u32 %p1, %tid, 2;", "@%p1 bra END;", code, "END:", before=VARIABLES)
    array = memory(64)[:32].view(np.uint64)
    with pytest.raises(Fault, match=reason) as caught:
        run(built, array, np.zeros(1), block=4)
    fault = caught.value
    step = code.split("\n")[-1]
    assert (fault.thread, fault.block, fault.site.space, fault.site.text) == (2, 0, space, step)
    assert f"block 0, thread 2, line {fault.site.line} ({step}), in test" in str(fault)


def test_every_launch_is_checked_anew() -> None:
    """What a site remembers of the last array holds for the launch only."""
    built = kernel("mad.wide.u32 %a, %tid, 8, %a;", "st.global.u64 [%a], 1;")
    run(built, np.zeros(8, np.uint64), np.zeros(1), block=8)
    with pytest.raises(Fault) as caught:
        run(built, np.zeros(8, np.uint64)[:5], np.zeros(1), block=8)
    assert caught.value.thread == 5
