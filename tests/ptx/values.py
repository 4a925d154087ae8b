"""Opcodes that move, convert, compare and choose values, and turn addresses into generic ones."""

from __future__ import annotations

from tests.ptx.body import Body
from tests.ptx.model import TYPES, Instruction, Operand, Pair, Symbol, Vector
from tests.ptx.opcodes import only_type, opcode, typed

ORDERS = {
    "eq": "eq",
    "ne": "ne",
    **{name: f"?{name}" for name in ("lt", "le", "gt", "ge")},
    **{"lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge"},
}
"""LLVM's name of every comparison; the question mark is the sign of the type."""


@opcode("setp")
def compare(body: Body, it: Instruction) -> None:
    (order, *combining), kind = typed(it, "sub", "16 32 64", (*ORDERS, "and", "or", "xor"))
    if order not in ORDERS or len(combining) > 1 or {*combining} - {"and", "or", "xor"}:
        raise it.error("unknown modifiers")
    if kind.kind == "b" and order not in ("eq", "ne"):
        raise it.error("bits have no order")
    to, *sources = it.operands
    if len(sources) != 2 + len(combining):
        raise it.error("unexpected operands")
    a, b = (body.read(source, kind.bits) for source in sources[:2])
    how = ORDERS[order].replace("?", "s" if kind.signed else "u")
    holds = body.op(f"icmp {how} {kind.llvm} {a}, {b}")
    results = [holds, body.op(f"xor i1 {holds}, true")]
    if combining:
        other = body.read(sources[2], 1)
        results = [body.op(f"{combining[0]} i1 {value}, {other}") for value in results]
    targets = [to.first, to.second] if isinstance(to, Pair) else [to]
    for target, value in zip(targets, results, strict=False):
        body.write(target, value, 1)


@opcode("selp")
def choose(body: Body, it: Instruction) -> None:
    kind, (to, *sources, which) = only_type(it), it.operands
    a, b = (body.read(source, kind.bits) for source in sources)
    chosen = body.op(f"select i1 {body.read(which, 1)}, {kind.llvm} {a}, {kind.llvm} {b}")
    body.write(to, chosen, kind.bits)


@opcode("mov")
def move(body: Body, it: Instruction) -> None:
    """Move a value; take one apart into the registers of a vector, or put it together."""
    kind, (to, source) = only_type(it, "sub", "16 32 64 pred"), it.operands
    if isinstance(source, Vector):
        bits = kind.bits // len(source.items)
        value = "0"
        for i, item in enumerate(source.items):
            part = body.resize(body.read(item, bits), bits, kind.bits)
            part = body.op(f"shl {kind.llvm} {part}, {i * bits}")
            value = body.op(f"or {kind.llvm} {value}, {part}")
    else:
        value = body.read(source, kind.bits)
    if isinstance(to, Vector):
        bits = kind.bits // len(to.items)
        for i, item in enumerate(to.items):
            if item == Symbol("_"):
                continue
            part = body.op(f"lshr {kind.llvm} {value}, {i * bits}")
            body.write(item, body.resize(part, kind.bits, bits), bits)
    else:
        body.write(to, value, kind.bits)


@opcode("cvt")
def convert(body: Body, it: Instruction) -> None:
    if len(it.modifiers) != 2 or not {*it.modifiers} <= TYPES.keys() - {"pred"}:
        raise it.error("unknown modifiers")
    (to, source), (into, of) = it.operands, (TYPES[name] for name in it.modifiers)
    value = body.read(source, of.bits, loose=True)
    value = body.resize(value, of.bits, into.bits, of.signed)
    body.write(to, value, into.bits, into.signed, loose=True)


WINDOWS = {"local": "%frame.address", "shared": "%context.shared"}
"""Where the windows of spaces lie among the generic addresses; other spaces have no window."""


@opcode("cvta")
def convert_address(body: Body, it: Instruction) -> None:
    *back, space = it.modifiers[:-1]
    if it.modifiers[-1] != "u64" or back not in ([], ["to"]):
        raise it.error("unknown modifiers")
    if space not in ("local", "shared", "global", "const"):
        raise it.error(f"unknown space .{space}")
    to, source = it.operands
    body.write(to, generic(body, space, body.read(source, 64), bool(back)), 64)


def generic(body: Body, space: str, address: str, back: bool = False) -> str:
    """A space's address as a generic one, or the other way."""
    if space not in WINDOWS:
        return address
    return body.op(f"{'sub' if back else 'add'} i64 {address}, {WINDOWS[space]}")


def items_of(operand: Operand) -> tuple[Operand, ...]:
    """The elements of a vector, or the one operand."""
    return operand.items if isinstance(operand, Vector) else (operand,)
