"""Opcodes that compute: the LLVM IR of each, and its meaning in Python.

The meaning follows the manual alone; ``test_opcodes`` compares both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.ptx.body import Body
from tests.ptx.parse import TYPES, Immediate, Instruction, Type, Vector

INTEGERS = "s16 s32 s64 u16 u32 u64"
BITS = "b16 b32 b64"


class Opcode(NamedTuple):
    types: list[str]
    """The possible types, which are the last modifier of the opcode."""
    shape: str
    """The widths of the result and of the operands, a letter each, such as "n=nn".

    n  the width of the type       p  1 bit, a predicate       w  32 bits
    d  twice that width            h  16 bits                  q  64 bits
    """
    write: Callable[..., str]
    """Writes the LLVM IR; called with the body, the type and the values of the operands."""
    meaning: Callable[..., int]
    """Computes the result; called with the type and the operands, which are negative if they have
    a signed type and a sign bit."""

    def widths(self, kind: Type) -> list[int]:
        """Return the numbers of bits of the result and of the operands."""
        bits = {"n": kind.bits, "d": 2 * kind.bits, "p": 1, "h": 16, "w": 32, "q": 64}
        return [bits[letter] for letter in self.shape.replace("=", "")]

    def result(self, kind: Type, values: list[int]) -> int:
        """Return the bits of the result for the bits of the operands."""
        bits, *widths = self.widths(kind)
        letters = self.shape.split("=")[1]
        operands = []
        for value, width, letter in zip(values, widths, letters, strict=True):
            is_negative = kind.signed and letter == "n" and value >> width - 1
            operands.append(value - 2**width if is_negative else value)
        return self.meaning(kind, *operands) % 2**bits


OPCODES: dict[str, Opcode] = {}
"""The opcodes by their names with all modifiers except the type."""


def template(*lines: str) -> Callable[..., str]:
    """Return a function that writes lines of LLVM IR with these fields:

    {a} {b} {c}    the values of the operands
    {0} {1} ...    the values of earlier lines
    {t} {n} {k}    the type, its width, and s, u or b
    {d} {x}        the type of twice the width, and the conversion to it
    """

    def write(body: Body, kind: Type, *values: str) -> str:
        names = {"t": kind.llvm, "n": kind.bits, "d": f"i{2 * kind.bits}", "k": kind.kind}
        names |= {"x": "sext" if kind.signed else "zext"} | dict(zip("abc", values, strict=False))
        line_values: list[str] = []
        for line in lines:
            line_values.append(body.op(line.format(*line_values, **names)))
        return line_values[-1]

    return write


def register(
    name: str,
    types: str,
    shape: str,
    write: Callable[..., str] | str,
    meaning: Callable[..., int],
) -> None:
    """Add an opcode; ``write`` is a function or a template of one line."""
    write = template(write) if isinstance(write, str) else write
    OPCODES[name] = Opcode(types.split(), shape, write, meaning)


register("add", INTEGERS, "n=nn", "add {t} {a}, {b}", lambda t, a, b: a + b)
register("sub", INTEGERS, "n=nn", "sub {t} {a}, {b}", lambda t, a, b: a - b)
register("neg", "s16 s32 s64", "n=n", "sub {t} 0, {a}", lambda t, a: -a)
for _name, _function in (("min", min), ("max", max)):
    _line = f"call {{t}} @llvm.{{k}}{_name}.{{t}}({{t}} {{a}}, {{t}} {{b}})"
    register(_name, INTEGERS, "n=nn", _line, lambda t, a, b, f=_function: f(a, b))
register("mul.lo", INTEGERS, "n=nn", "mul {t} {a}, {b}", lambda t, a, b: a * b)
MAD = template("mul {t} {a}, {b}", "add {t} {0}, {c}")
register("mad.lo", INTEGERS, "n=nnn", MAD, lambda t, a, b, c: a * b + c)
WIDE = "{x} {t} {a} to {d}", "{x} {t} {b} to {d}", "mul {d} {0}, {1}"
register("mul.wide", "s16 s32 u16 u32", "d=nn", template(*WIDE), lambda t, a, b: a * b)
HIGH = template(*WIDE, "lshr {d} {2}, {n}", "trunc {d} {3} to {t}")
register("mul.hi", INTEGERS, "n=nn", HIGH, lambda t, a, b: a * b >> t.bits)
MAD_WIDE = template(*WIDE, "add {d} {2}, {c}")
register("mad.wide", "s16 s32 u16 u32", "d=nnd", MAD_WIDE, lambda t, a, b, c: a * b + c)
register("and", f"{BITS} pred", "n=nn", "and {t} {a}, {b}", lambda t, a, b: a & b)
register("or", f"{BITS} pred", "n=nn", "or {t} {a}, {b}", lambda t, a, b: a | b)
register("xor", f"{BITS} pred", "n=nn", "xor {t} {a}, {b}", lambda t, a, b: a ^ b)
register("not", f"{BITS} pred", "n=n", "xor {t} {a}, -1", lambda t, a: ~a)
register("mov", f"{INTEGERS} {BITS} pred", "n=n", "or {t} {a}, 0", lambda t, a: a)
SELECT = "select i1 {c}, {t} {a}, {t} {b}"
register("selp", f"{INTEGERS} {BITS}", "n=nnp", SELECT, lambda t, a, b, c: a if c else b)
COMPARISONS: dict[str, Callable[[Type, int, int], int]] = {
    "eq": lambda t, a, b: a == b,
    "ne": lambda t, a, b: a != b,
    "lt": lambda t, a, b: a < b,
    "le": lambda t, a, b: a <= b,
    "gt": lambda t, a, b: a > b,
    "ge": lambda t, a, b: a >= b,
}
for _name, _holds in COMPARISONS.items():
    # Equality does not depend on the sign: LLVM has no "icmp seq", and PTX compares bits, too.
    _is_equality = _name in ("eq", "ne")
    _line = f"icmp {'' if _is_equality else '{k}'}{_name} {{t}} {{a}}, {{b}}"
    register(f"setp.{_name}", f"{INTEGERS} {BITS * _is_equality}", "p=nn", _line, _holds)


def division(operation: str) -> Callable[..., str]:
    """Return a function that writes a division ("div") or a remainder ("rem").

    Division by zero is a fault: on a card its result is undefined. The CPU also traps if the least
    number is divided by -1. Therefore the divisor -1 is replaced by 1, and the quotient negated.
    """

    def write(body: Body, kind: Type, a: str, b: str) -> str:
        t = kind.llvm
        body.fault_unless(body.op(f"icmp ne {t} {b}, 0"), body.site("division"))
        if not kind.signed:
            return body.op(f"u{operation} {t} {a}, {b}")
        is_minus_one = body.op(f"icmp eq {t} {b}, -1")
        divisor = body.op(f"select i1 {is_minus_one}, {t} 1, {t} {b}")
        value = body.op(f"s{operation} {t} {a}, {divisor}")
        if operation == "rem":
            return value  # the remainder is 0 for 1 and for -1
        negative = body.op(f"sub {t} 0, {a}")
        return body.op(f"select i1 {is_minus_one}, {t} {negative}, {t} {value}")

    return write


def quotient(a: int, b: int) -> int:
    """Return a / b, rounded toward zero."""
    magnitude = abs(a) // abs(b)
    return magnitude if (a < 0) == (b < 0) else -magnitude


register("div", INTEGERS, "n=nn", division("div"), lambda t, a, b: quotient(a, b))
register("rem", INTEGERS, "n=nn", division("rem"), lambda t, a, b: a - b * quotient(a, b))


def shift(body: Body, kind: Type, operation: str, value: str, distance: str) -> str:
    """Write a shift (shl, lshr or ashr).

    On a card the distance may be the width or more, which is undefined in LLVM.
    """
    bits = kind.bits
    t = kind.llvm
    fits = body.op(f"icmp ult i32 {distance}, {bits}")
    replacement = bits - 1 if operation == "ashr" else 0
    safe_distance = body.op(f"select i1 {fits}, i32 {distance}, i32 {replacement}")
    result = body.op(f"{operation} {t} {value}, {body.resize(safe_distance, 32, bits)}")
    if operation == "ashr":
        return result  # a shift by `bits - 1` copies the sign to all bits, as a longer one does
    return body.op(f"select i1 {fits}, {t} {result}, {t} 0")


def shift_left(body: Body, kind: Type, value: str, distance: str) -> str:
    return shift(body, kind, "shl", value, distance)


def shift_right(body: Body, kind: Type, value: str, distance: str) -> str:
    return shift(body, kind, "ashr" if kind.signed else "lshr", value, distance)


register("shl", BITS, "n=nw", shift_left, lambda t, a, by: a << min(by, t.bits))
register("shr", f"{INTEGERS} {BITS}", "n=nw", shift_right, lambda t, a, by: a >> min(by, t.bits))


def insert_bits(
    body: Body, kind: Type, source: str, target: str, position: str, length: str
) -> str:
    """Write the insertion of the ``length`` lowest bits of a value into another at ``position``.

    Only the lowest byte of the position and of the length counts.
    """
    t = kind.llvm
    position = body.op(f"and i32 {position}, 255")
    length = body.op(f"and i32 {length}, 255")
    low_mask = body.op(f"xor {t} {shift_left(body, kind, '-1', length)}, -1")
    mask = shift_left(body, kind, low_mask, position)
    new_bits = body.op(f"and {t} {shift_left(body, kind, source, position)}, {mask}")
    old_bits = body.op(f"and {t} {target}, {body.op(f'xor {t} {mask}, -1')}")
    return body.op(f"or {t} {old_bits}, {new_bits}")


def bits_after_insertion(kind: Type, source: int, target: int, position: int, length: int) -> int:
    """Return the result of ``bfi``."""
    position &= 255
    length &= 255
    bits = [target >> i & 1 for i in range(kind.bits)]
    for i in range(min(length, kind.bits - position)):
        bits[position + i] = source >> i & 1
    return sum(bit << i for i, bit in enumerate(bits))


register("bfi", "b32 b64", "n=nnww", insert_bits, bits_after_insertion)


def counting(call: str) -> Callable[..., str]:
    """Return a function that writes a call whose result, a count, has 32 bits in PTX."""

    def write(body: Body, kind: Type, a: str) -> str:
        return body.resize(body.op(call.format(t=kind.llvm, a=a)), kind.bits, 32)

    return write


POPCOUNT = "call {t} @llvm.ctpop.{t}({t} {a})"
register("popc", "b32 b64", "w=n", counting(POPCOUNT), lambda t, a: a.bit_count())
LEADING_ZEROS = "call {t} @llvm.ctlz.{t}({t} {a}, i1 false)"
register("clz", "b32 b64", "w=n", counting(LEADING_ZEROS), lambda t, a: t.bits - a.bit_length())
REVERSE = "call {t} @llvm.bitreverse.{t}({t} {a})"
register("brev", "b32 b64", "n=n", REVERSE, lambda t, a: int(f"{a:0{t.bits}b}"[::-1], 2))


def conversion(target: str) -> Callable[..., str]:
    """Return a function that writes a conversion to a type."""
    return lambda body, kind, a: body.resize(a, kind.bits, TYPES[target].bits, kind.signed)


for _name, _letter in (("u16", "h"), ("u32", "w"), ("u64", "q"), ("s64", "q")):
    register(f"cvt.{_name}", INTEGERS, f"{_letter}=n", conversion(_name), lambda t, a: a)


def compute(body: Body, instruction: Instruction) -> None:
    """Write an instruction that computes a register from others.

    Raises
    ------
    PtxError
        If the opcode is unknown, or an operand has the wrong width.
    """
    name, _, type_name = instruction.opcode.rpartition(".")
    if name not in OPCODES or type_name not in OPCODES[name].types:
        raise instruction.error(f"unknown opcode {instruction.opcode}")
    opcode = OPCODES[name]
    kind = TYPES[type_name]
    bits, *widths = opcode.widths(kind)
    if len(instruction.operands) != 1 + len(widths):
        raise instruction.error("unexpected operands")
    target, *sources = instruction.operands
    if name == "mov" and isinstance(sources[0], Vector):
        value = join_registers(body, kind, sources[0])
    else:
        values = [body.read(source, width) for source, width in zip(sources, widths, strict=True)]
        if name in ("div", "rem") and sources[1] == Immediate(0):
            raise instruction.error("a division by zero")
        value = opcode.write(body, kind, *values)
    body.write(target, value, bits)


def join_registers(body: Body, kind: Type, vector: Vector) -> Any:
    """Join registers to one value; the first register has the lowest bits."""
    bits = kind.bits // len(vector.items)
    value = "0"
    for i, item in enumerate(vector.items):
        part = body.resize(body.read(item, bits), bits, kind.bits)
        part = body.op(f"shl {kind.llvm} {part}, {i * bits}")
        value = body.op(f"or {kind.llvm} {value}, {part}")
    return value
