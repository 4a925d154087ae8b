"""What loads, stores and atomic changes mean, in Python: from the manual alone, for the tests."""

from __future__ import annotations

from collections.abc import Callable

from tests.ptx.reference import signed

SCALARS = [f"{kind}{bits}" for kind in "bus" for bits in (8, 16, 32, 64)]
VECTORS = ["v2.s16", "v4.u8", "v4.b64"]
VECTORS += [f"{count}.{kind}" for count in ("v2", "v4") for kind in ("b32", "u32")]
VECTORS += ["v2.b64", "v2.u64"]
"""The last one or two modifiers of a load or a store."""


def elements(what: str) -> tuple[int, int, bool]:
    """How many elements there are, their bytes, and whether they have a sign."""
    *count, kind = what.split(".")
    return int(count[0][1:]) if count else 1, int(kind[1:]) // 8, kind[0] == "s"


def loaded(memory: bytes, what: str) -> list[int]:
    """What 64-bit registers hold after a load from the beginning of the memory."""
    count, size, sign = elements(what)
    return [
        int.from_bytes(memory[i * size : i * size + size], "little", signed=sign) % 2**64
        for i in range(count)
    ]


def stored(memory: bytes, what: str, registers: list[int]) -> bytes:
    """The memory after a store of 64-bit registers to its beginning."""
    count, size, _ = elements(what)
    new = b"".join((each % 2 ** (8 * size)).to_bytes(size, "little") for each in registers[:count])
    return new + memory[len(new) :]


def by_sign(function: Callable[[int, int], int], kind: str) -> Callable[[int, int, int], int]:
    bits = int(kind[1:])
    if kind[0] != "s":
        return lambda old, b, c: function(old, b)
    return lambda old, b, c: function(signed(old, bits), signed(b, bits))


CHANGES: dict[str, Callable[[int, int, int], int]] = {}
"""By operation and type: what is in memory after it, given what was there and the operands."""
for _n in (32, 64):
    for _kind in (f"u{_n}", f"s{_n}"):
        if _kind != "s64":
            CHANGES[f"add.{_kind}"] = lambda old, b, c: old + b
        CHANGES[f"min.{_kind}"] = by_sign(min, _kind)
        CHANGES[f"max.{_kind}"] = by_sign(max, _kind)
    CHANGES[f"and.b{_n}"] = lambda old, b, c: old & b
    CHANGES[f"or.b{_n}"] = lambda old, b, c: old | b
    CHANGES[f"xor.b{_n}"] = lambda old, b, c: old ^ b
    CHANGES[f"exch.b{_n}"] = lambda old, b, c: b
    CHANGES[f"cas.b{_n}"] = lambda old, b, c: c if old == b else old
CHANGES["inc.u32"] = lambda old, b, c: 0 if old >= b else old + 1
CHANGES["dec.u32"] = lambda old, b, c: b if old == 0 or old > b else old - 1
