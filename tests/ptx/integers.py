"""Opcodes that compute: addition to division, minimum and maximum, products of small numbers."""

from __future__ import annotations

from tests.ptx.body import Body
from tests.ptx.model import Immediate, Instruction, Type
from tests.ptx.opcodes import only_type, opcode, typed


@opcode("add", "sub")
def add(body: Body, it: Instruction) -> None:
    kind, (to, *sources) = only_type(it, "su"), it.operands
    a, b = (body.read(source, kind.bits) for source in sources)
    body.write(to, body.op(f"{it.opcode} {kind.llvm} {a}, {b}"), kind.bits)


@opcode("neg", "abs")
def neg(body: Body, it: Instruction) -> None:
    kind, (to, source) = only_type(it, "s"), it.operands
    value = body.read(source, kind.bits)
    negative = body.op(f"sub {kind.llvm} 0, {value}")
    if it.opcode == "abs":
        negative = body.call("smax", kind.bits, value, negative)
    body.write(to, negative, kind.bits)


@opcode("min", "max")
def minimum(body: Body, it: Instruction) -> None:
    kind, (to, *sources) = only_type(it, "su"), it.operands
    values = [body.read(source, kind.bits) for source in sources]
    body.write(to, body.call(f"{kind.kind}{it.opcode}", kind.bits, *values), kind.bits)


def product(body: Body, it: Instruction, how: str, kind: Type) -> tuple[str, int]:
    """The lower or upper half of a product, or all of it, and its width."""
    a, b = (body.read(source, kind.bits) for source in it.operands[1:3])
    if how == "lo":
        return body.op(f"mul {kind.llvm} {a}, {b}"), kind.bits
    wide = 2 * kind.bits
    a, b = (body.resize(value, kind.bits, wide, kind.signed) for value in (a, b))
    both = body.op(f"mul i{wide} {a}, {b}")
    if how == "wide":
        return both, wide
    upper = body.op(f"lshr i{wide} {both}, {kind.bits}")
    return body.resize(upper, wide, kind.bits), kind.bits


@opcode("mul", "mad")
def mul(body: Body, it: Instruction) -> None:
    how, kind = typed(it, "su", "16 32 64", ("lo", "hi", "wide"))
    if len(how) != 1 or (how == ["wide"] and kind.bits == 64):
        raise it.error("expected one of .lo, .hi and .wide")
    if len(it.operands) != (4 if it.opcode == "mad" else 3):
        raise it.error("unexpected operands")
    value, bits = product(body, it, how[0], kind)
    if it.opcode == "mad":
        value = body.op(f"add i{bits} {value}, {body.read(it.operands[3], bits)}")
    body.write(it.operands[0], value, bits)


@opcode("div", "rem")
def div(body: Body, it: Instruction) -> None:
    """Divide. What a division by zero gives is not defined; here it is a fault, always.

    The CPU traps where the least number is divided by -1, too, so 1 takes the place of -1.
    """
    kind, (to, *sources) = only_type(it, "su"), it.operands
    a, b = (body.read(source, kind.bits) for source in sources)
    if b == "0":
        raise it.error("a division by zero")
    if not isinstance(sources[1], Immediate):
        body.fault_unless(body.op(f"icmp ne {kind.llvm} {b}, 0"), body.site("division"))
    if not kind.signed:
        body.write(to, body.op(f"u{it.opcode} {kind.llvm} {a}, {b}"), kind.bits)
        return
    turned = body.op(f"icmp eq {kind.llvm} {b}, -1")
    safe = body.op(f"select i1 {turned}, {kind.llvm} 1, {kind.llvm} {b}")
    value = body.op(f"s{it.opcode} {kind.llvm} {a}, {safe}")
    if it.opcode == "div":
        negative = body.op(f"sub {kind.llvm} 0, {a}")
        value = body.op(f"select i1 {turned}, {kind.llvm} {negative}, {kind.llvm} {value}")
    body.write(to, value, kind.bits)


@opcode("dp4a", "dp2a")
def dot(body: Body, it: Instruction) -> None:
    """Add the products of four bytes, or of two 16-bit halves and two of four bytes."""
    four = it.opcode == "dp4a"
    half, *kinds = ("lo", *it.modifiers) if four else it.modifiers or ("",)
    if half not in ("lo", "hi") or len(kinds) != 2 or not {*kinds} <= {"u32", "s32"}:
        raise it.error("unknown modifiers")
    to, *sources = it.operands
    a, b, total = (body.read(source, 32) for source in sources)
    wide = 8 if four else 16
    for i in range(4 if four else 2):
        x = part(body, a, i * wide, wide, kinds[0] == "s32")
        y = part(body, b, i * 8 + 16 * (half == "hi"), 8, kinds[1] == "s32")
        total = body.op(f"add i32 {total}, {body.op(f'mul i32 {x}, {y}')}")
    body.write(to, total, 32)


def part(body: Body, value: str, at: int, bits: int, signed: bool) -> str:
    """Some bits of a 32-bit word, as a word."""
    low = body.op(f"lshr i32 {value}, {at}")
    return body.resize(body.resize(low, 32, bits), bits, 32, signed)
