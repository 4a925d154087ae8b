"""Loads, stores and atomic changes in every space, against the Python reference."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ptx.executor import load
from tests.ptx.launch import Kernel, memory
from tests.ptx.reference_memory import CHANGES, SCALARS, VECTORS, elements, loaded, stored
from tests.ptx.written import HEAD, entry, run

PLACES = {
    "global": ("global", "add.u64 %d0, %b, 128;"),
    "shared": ("shared", "mov.u64 %d0, in_shared;"),
    "local": ("local", "mov.u64 %d0, in_local;"),
    "generic": ("", "add.u64 %d0, %b, 128;"),
    "generic shared": ("", "mov.u64 %d0, in_shared; cvta.shared.u64 %d0, %d0;"),
    "generic local": ("", "mov.u64 %d0, in_local; cvta.local.u64 %d0, %d0;"),
    "back to shared": (
        "shared",
        "mov.u64 %d0, in_shared; cvta.shared.u64 %d0, %d0; cvta.to.shared.u64 %d0, %d0;",
    ),
}
"""Where the memory is: the space that the opcode names, and how ``%d0`` becomes its address."""
KINDS = [*SCALARS, *VECTORS]
ORDERS = ["", "relaxed.sys.", "acq_rel.gpu."]
RESULTS = ["%d1", "%d2", "%d3", "%d4"]
VARIABLES = """
.shared .align 32 .b8 in_shared[32];
"""
LOCAL = ".local .align 32 .b8 in_local[32];"


def copied(count: int, to: str, source: str, offset: int = 0) -> list[str]:
    """Copy words; ``to`` and ``source`` are a store and a load, but for the offset."""
    pairs = [(f"ld{source}+{8 * i}];", f"st{to}+{offset + 8 * i}], %d8;") for i in range(count)]
    return [line for pair in pairs for line in pair]


def vector(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"


def kernel_of(name: str, place: str, what: str, ways: tuple[str, str] = ("", "")) -> str:
    """A kernel that loads and stores.

    It copies ``a`` to the place and loads from there to ``b[:4]``; then it stores ``a[4:]`` there
    and copies the place to ``b[4:8]``, and constants, and copies it to ``b[8:]``.
    """
    space, address = PLACES[place]
    at, count = f".{space}.b64" if space else ".b64", elements(what)[0]
    load, store = (named(o, place, what, way) for o, way in zip(("ld", "st"), ways, strict=True))
    code = [LOCAL] if "local" in place else []
    code += [address, *copied(4, f"{at} [%d0", ".global.b64 %d8, [%a")]
    code += [f"{load} {vector(RESULTS[:count])}, [%d0];"]
    code += [f"st.global.b64 [%b+{8 * i}], {RESULTS[i]};" for i in range(count)]
    code += [f"ld.global.b64 {RESULTS[i]}, [%a+{32 + 8 * i}];" for i in range(count)]
    for values, to in ((RESULTS[:count], 32), ([str(i - 2) for i in range(count)], 64)):
        code += [f"{store} [%d0], {vector(values)};"]
        code += copied(touched(what), ".global.b64 [%b", f"{at} %d8, [%d0", to)
    return entry(name, *code)


def touched(what: str) -> int:
    """Words that a store may change, and one more."""
    count, size, _ = elements(what)
    return min(4, count * size // 8 + 1)


def named(opcode: str, place: str, what: str, way: str = "") -> str:
    space = PLACES[place][0]
    return f"{opcode}.{way}{space}.{what}" if space else f"{opcode}.{way}{what}"


CASES = [(place, what) for place in PLACES for what in KINDS]
TESTED = {named(opcode, *case) for opcode in ("ld", "st") for case in CASES}
"""Every opcode that is tested here, with its modifiers."""


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    texts = [kernel_of(f"kernel_{number}", *case) for number, case in enumerate(CASES)]
    return load("\n".join([HEAD, VARIABLES, *texts]))


def try_case(kernel: Kernel, seed: int, what: str) -> None:
    """Compare one case with the reference."""
    words = memory(64).view(np.uint64)
    words[:] = np.random.default_rng(seed).integers(0, 2**64, 8, np.uint64)
    words |= np.uint64(0x8080808080808080)  # signs are there to be extended
    before, new, found = words[:4].tobytes(), words[4:].tolist(), memory(160).view(np.uint64)
    run(kernel, words, found)
    wanted = loaded(before, what)
    assert found.tolist()[: len(wanted)] == wanted
    for values, start in ((new, 4), ([i - 2 for i in range(4)], 8)):
        before, end = stored(before, what, values), start + touched(what)
        assert found[start:end].tobytes() == before[: 8 * touched(what)]


@pytest.mark.parametrize("number", range(len(CASES)), ids=["-".join(case) for case in CASES])
def test_load_and_store(number: int, kernels: dict[str, Kernel]) -> None:
    try_case(kernels[f"kernel_{number}"], number, CASES[number][1])


@pytest.mark.parametrize(
    "ways",
    [
        ("volatile.", "volatile."),
        ("relaxed.sys.", "relaxed.gpu."),
        ("acquire.gpu.", "release.cta."),
    ],
)
def test_ordered_loads_and_stores(ways: tuple[str, str]) -> None:
    for seed, what in enumerate(("u32", "b64", "v2.u64")):
        built = load("\n".join([HEAD, VARIABLES, kernel_of("ordered", "global", what, ways)]))
        try_case(built["ordered"], seed, what)


ATOMS = [
    (order, place, change)
    for order in ORDERS
    for place in ("global", "shared", "generic", "generic shared")
    for change in CHANGES
    if not order or place == "global"
]
TESTED |= {
    named(opcode, place, change, order)
    for opcode in ("atom", "red")
    for order, place, change in ATOMS
}


def atom_kernel(name: str, order: str, place: str, change: str) -> str:
    """Put ``a[0]`` there, change it with ``a[1]`` and ``a[2]``, then again; write all to ``a``."""
    space, address = PLACES[place]
    bits = int(change.split(".")[-1][1:])
    dot, letter = f".{space}" if space else "", "r" if bits == 32 else "d"
    operands = f"%{letter}2, %{letter}3" if change.startswith("cas") else f"%{letter}2"
    code = [address]
    code += [f"ld.global.b{bits} %{letter}{i + 1}, [%a+{8 * i}];" for i in range(3)]
    code += [f"st{dot}.b{bits} [%d0], %{letter}1;"]
    code += [f"{named('atom', place, change, order)} %{letter}4, [%d0], {operands};"]
    code += [f"ld{dot}.b{bits} %{letter}5, [%d0];"]
    if change[:4] not in ("exch", "cas."):
        code += [f"st{dot}.b{bits} [%d0], %{letter}1;"]
        code += [f"{named('red', place, change, order)} [%d0], {operands};"]
    code += [f"ld{dot}.b{bits} %{letter}6, [%d0];"]
    code += [f"st.global.b{bits} [%a+{8 * i}], %{letter}{i + 4};" for i in range(3)]
    return entry(name, *code)


@pytest.fixture(scope="module")
def atoms() -> dict[str, Kernel]:
    texts = [atom_kernel(f"atom_{i}", *each) for i, each in enumerate(ATOMS)]
    return load("\n".join([HEAD, VARIABLES, *texts]))


@pytest.mark.parametrize("number", range(len(ATOMS)), ids=["-".join(each) for each in ATOMS])
def test_atomic_change(number: int, atoms: dict[str, Kernel]) -> None:
    change = ATOMS[number][2]
    bits, rng = int(change.split(".")[-1][1:]), np.random.default_rng(number)
    edges = np.array([0, 1, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1, 77], np.uint64)
    for _ in range(40):
        a = rng.choice([*edges, rng.integers(0, 2**bits, None, np.uint64)], 3)
        old, b, c = a.tolist()
        run(atoms[f"atom_{number}"], a, np.zeros(20, np.uint64))
        new = CHANGES[change](old, b, c) % 2**bits
        assert [value % 2**bits for value in a.tolist()] == [old, new, new], change
