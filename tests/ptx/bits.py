"""Opcodes on bits: logic, shifts, fields, counting, permuting bytes.

Shifts by the width or more give what a card gives, not what the CPU gives.
"""

from __future__ import annotations

from tests.ptx.body import Body
from tests.ptx.model import Immediate, Instruction
from tests.ptx.opcodes import only_type, opcode, typed


@opcode("and", "or", "xor")
def logic(body: Body, it: Instruction) -> None:
    kind, (to, *sources) = only_type(it, "b", "16 32 64 pred"), it.operands
    a, b = (body.read(source, kind.bits) for source in sources)
    body.write(to, body.op(f"{it.opcode} {kind.llvm} {a}, {b}"), kind.bits)


@opcode("not")
def invert(body: Body, it: Instruction) -> None:
    kind, (to, source) = only_type(it, "b", "16 32 64 pred"), it.operands
    value = body.op(f"xor {kind.llvm} {body.read(source, kind.bits)}, -1")
    body.write(to, value, kind.bits)


@opcode("lop3")
def any_logic(body: Body, it: Instruction) -> None:
    """Any function of three bits: bit 4a + 2b + c of the table is its value."""
    kind, (to, *sources, table) = only_type(it, "b", "32"), it.operands
    if not isinstance(table, Immediate) or len(sources) != 3:
        raise it.error("expected three operands and a table")
    values = [body.read(source, kind.bits) for source in sources]
    inverted = [body.op(f"xor i32 {value}, -1") for value in values]
    result = "0"
    for case in range(8):
        if table.value >> case & 1:
            a, b, c = ((inverted, values)[case >> 2 - i & 1][i] for i in range(3))
            both = body.op(f"and i32 {a}, {b}")
            result = body.op(f"or i32 {result}, {body.op(f'and i32 {both}, {c}')}")
    body.write(to, result, 32)


def shifted(body: Body, how: str, bits: int, value: str, amount: str) -> str:
    """Shift by an unsigned amount of the same width, however large: shl, lshr or ashr."""
    fits = body.op(f"icmp ult i{bits} {amount}, {bits}")
    most = bits - 1 if how == "ashr" else 0
    safe = body.op(f"select i1 {fits}, i{bits} {amount}, i{bits} {most}")
    result = body.op(f"{how} i{bits} {value}, {safe}")
    if how == "ashr":
        return result
    return body.op(f"select i1 {fits}, i{bits} {result}, i{bits} 0")


@opcode("shl", "shr")
def shift(body: Body, it: Instruction) -> None:
    to, source, by = it.operands
    kind = only_type(it, "b" if it.opcode == "shl" else "sub")
    value, amount = body.read(source, kind.bits), body.read(by, 32)
    if kind.bits == 16:
        amount = body.call("umin", 32, amount, "16")
    amount = body.resize(amount, 32, kind.bits)
    how = "shl" if it.opcode == "shl" else "ashr" if kind.signed else "lshr"
    body.write(to, shifted(body, how, kind.bits, value, amount), kind.bits)


@opcode("shf")
def funnel(body: Body, it: Instruction) -> None:
    """Shift the 64 bits of b and a, and take the upper (left) or lower half (right)."""
    modes, kind = typed(it, "b", "32", ("l", "r", "clamp", "wrap"))
    if len(modes) != 2 or modes[0] not in "lr" or modes[1] in "lr":
        raise it.error("unknown modifiers")
    to, *sources = it.operands
    a, b, amount = (body.read(source, 32) for source in sources)
    if modes[1] == "wrap":
        amount = body.op(f"and i32 {amount}, 31")
    else:
        amount = body.call("umin", 32, amount, "32")
    low, high, by = (body.resize(value, 32, 64) for value in (a, b, amount))
    both = body.op(f"or i64 {body.op(f'shl i64 {high}, 32')}, {low}")
    if modes[0] == "l":
        both = body.op(f"lshr i64 {body.op(f'shl i64 {both}, {by}')}, 32")
    else:
        both = body.op(f"lshr i64 {both}, {by}")
    body.write(to, body.resize(both, 64, 32), kind.bits)


def field(body: Body, bits: int, position: str, length: str) -> tuple[str, str]:
    """The position of a bit field, and a mask of its length; only their low bytes count."""
    at, long = (
        body.resize(body.op(f"and i32 {word}, 255"), 32, bits) for word in (position, length)
    )
    return at, body.op(f"xor i{bits} {shifted(body, 'shl', bits, '-1', long)}, -1")


@opcode("bfe")
def extract(body: Body, it: Instruction) -> None:
    kind, (to, source, position, length) = only_type(it, "su", "32 64"), it.operands
    llvm, value = kind.llvm, body.read(source, kind.bits)
    at, mask = field(body, kind.bits, body.read(position, 32), body.read(length, 32))
    result = body.op(f"and {llvm} {shifted(body, 'lshr', kind.bits, value, at)}, {mask}")
    if kind.signed:
        # Above the field is its uppermost bit, or that of the word if it sticks out of it.
        inside = body.op(f"and {llvm} {shifted(body, 'lshr', kind.bits, '-1', at)}, {mask}")
        top = body.op(f"sub {llvm} {inside}, {body.op(f'lshr {llvm} {inside}, 1')}")
        sign = body.op(f"icmp ne {llvm} {body.op(f'and {llvm} {result}, {top}')}, 0")
        outside = body.op(f"icmp eq {llvm} {inside}, 0")
        empty = body.op(f"icmp eq {llvm} {mask}, 0")
        negative = body.op(f"icmp slt {llvm} {value}, 0")
        alone = body.op(f"select i1 {empty}, i1 false, i1 {negative}")
        sign = body.op(f"select i1 {outside}, i1 {alone}, i1 {sign}")
        above = body.op(f"or {llvm} {result}, {body.op(f'xor {llvm} {inside}, -1')}")
        result = body.op(f"select i1 {sign}, {llvm} {above}, {llvm} {result}")
    body.write(to, result, kind.bits)


@opcode("bfi")
def insert(body: Body, it: Instruction) -> None:
    kind, (to, source, into, position, length) = only_type(it, "b", "32 64"), it.operands
    llvm, bits = kind.llvm, kind.bits
    value, old = body.read(source, bits), body.read(into, bits)
    at, mask = field(body, bits, body.read(position, 32), body.read(length, 32))
    there = shifted(body, "shl", bits, mask, at)
    new = body.op(f"and {llvm} {shifted(body, 'shl', bits, value, at)}, {there}")
    kept = body.op(f"and {llvm} {old}, {body.op(f'xor {llvm} {there}, -1')}")
    body.write(to, body.op(f"or {llvm} {kept}, {new}"), bits)


@opcode("popc", "clz", "brev")
def count(body: Body, it: Instruction) -> None:
    kind, (to, source) = only_type(it, "b", "32 64"), it.operands
    value = body.read(source, kind.bits)
    if it.opcode == "brev":
        body.write(to, body.call("bitreverse", kind.bits, value), kind.bits)
        return
    if it.opcode == "popc":
        number = body.call("ctpop", kind.bits, value)
    else:
        number = body.op(f"call {kind.llvm} @llvm.ctlz.{kind.llvm}({kind.llvm} {value}, i1 false)")
    body.write(to, body.resize(number, kind.bits, 32), 32)


@opcode("bfind")
def uppermost(body: Body, it: Instruction) -> None:
    """The position of the uppermost bit, of one that is not the sign if signed, or -1."""
    modes, kind = typed(it, "su", "32 64", ("shiftamt",))
    to, source = it.operands
    value = body.read(source, kind.bits)
    if kind.signed:
        sign = body.op(f"ashr {kind.llvm} {value}, {kind.bits - 1}")
        value = body.op(f"xor {kind.llvm} {value}, {sign}")
    zeros = body.op(f"call {kind.llvm} @llvm.ctlz.{kind.llvm}({kind.llvm} {value}, i1 false)")
    number = zeros if modes else body.op(f"sub {kind.llvm} {kind.bits - 1}, {zeros}")
    nothing = body.op(f"icmp eq {kind.llvm} {value}, 0")
    number = body.op(f"select i1 {nothing}, {kind.llvm} -1, {kind.llvm} {number}")
    body.write(to, body.resize(number, kind.bits, 32), 32)


@opcode("prmt")
def permute(body: Body, it: Instruction) -> None:
    """Choose four of the eight bytes of b and a by four bits each; the fourth copies the sign."""
    only_type(it, "b", "32")
    to, *sources = it.operands
    a, b, selector = (body.read(source, 32) for source in sources)
    low, high = body.resize(a, 32, 64), body.resize(b, 32, 64)
    both = body.op(f"or i64 {body.op(f'shl i64 {high}, 32')}, {low}")
    result = "0"
    for i in range(4):
        nibble = body.op(f"lshr i32 {selector}, {4 * i}")
        by = body.op(f"shl i32 {body.op(f'and i32 {nibble}, 7')}, 3")
        moved = body.op(f"lshr i64 {both}, {body.resize(by, 32, 64)}")
        byte = body.resize(moved, 64, 8)
        copies = body.op(f"icmp ne i32 {body.op(f'and i32 {nibble}, 8')}, 0")
        sign = body.op(f"ashr i8 {byte}, 7")
        chosen = body.op(f"select i1 {copies}, i8 {sign}, i8 {byte}")
        word = body.op(f"shl i32 {body.resize(chosen, 8, 32)}, {8 * i}")
        result = body.op(f"or i32 {result}, {word}")
    body.write(to, result, 32)
