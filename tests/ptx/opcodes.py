"""Opcodes that compute: for each the LLVM IR that does it, and what it means, in Python.

The meaning is from the manual alone; ``test_opcodes`` compares both.
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
    """The last modifier is one of these."""
    shape: str
    """The widths of the result and of the operands: n is the type's, d twice as much, p a
    predicate's, and h, w and q are 16, 32 and 64 bits."""
    write: Callable[..., str]
    """Called with the body, the type and the values of the operands."""
    meaning: Callable[..., int]
    """Called with the type and the operands, whose values of that type have its sign."""

    def widths(self, kind: Type) -> list[int]:
        """The bits of the result and of the operands."""
        known = {"n": kind.bits, "d": 2 * kind.bits, "p": 1, "h": 16, "w": 32, "q": 64}
        return [known[letter] for letter in self.shape.replace("=", "")]

    def result(self, kind: Type, values: list[int]) -> int:
        """What it means, for operands that are bits."""
        signs = [kind.signed and letter == "n" for letter in self.shape.split("=")[1]]
        bits, *widths = self.widths(kind)
        given = [
            value - 2**width if sign and value >> width - 1 else value
            for value, width, sign in zip(values, widths, signs, strict=True)
        ]
        return self.meaning(kind, *given) % 2**bits


OPCODES: dict[str, Opcode] = {}
"""By the opcode and its modifiers but for the type."""


def template(*lines: str) -> Callable[..., str]:
    """Write lines that name operands a, b, c, earlier lines {0}, {1}, the type t and its kind k."""

    def write(body: Body, kind: Type, *values: str) -> str:
        names = {"t": kind.llvm, "n": kind.bits, "d": f"i{2 * kind.bits}", "k": kind.kind}
        names |= {"x": "sext" if kind.signed else "zext"} | dict(zip("abc", values, strict=False))
        done: list[str] = []
        for line in lines:
            done.append(body.op(line.format(*done, **names)))
        return done[-1]

    return write


def enter(
    name: str,
    types: str,
    shape: str,
    write: Callable[..., str] | str,
    meaning: Callable[..., int],
) -> None:
    write = template(write) if isinstance(write, str) else write
    OPCODES[name] = Opcode(types.split(), shape, write, meaning)


enter("add", INTEGERS, "n=nn", "add {t} {a}, {b}", lambda t, a, b: a + b)
enter("sub", INTEGERS, "n=nn", "sub {t} {a}, {b}", lambda t, a, b: a - b)
enter("neg", "s16 s32 s64", "n=n", "sub {t} 0, {a}", lambda t, a: -a)
for _name, _function in (("min", min), ("max", max)):
    _line = f"call {{t}} @llvm.{{k}}{_name}.{{t}}({{t}} {{a}}, {{t}} {{b}})"
    enter(_name, INTEGERS, "n=nn", _line, lambda t, a, b, f=_function: f(a, b))
enter("mul.lo", INTEGERS, "n=nn", "mul {t} {a}, {b}", lambda t, a, b: a * b)
MAD = template("mul {t} {a}, {b}", "add {t} {0}, {c}")
enter("mad.lo", INTEGERS, "n=nnn", MAD, lambda t, a, b, c: a * b + c)
WIDE = "{x} {t} {a} to {d}", "{x} {t} {b} to {d}", "mul {d} {0}, {1}"
enter("mul.wide", "s16 s32 u16 u32", "d=nn", template(*WIDE), lambda t, a, b: a * b)
HIGH = template(*WIDE, "lshr {d} {2}, {n}", "trunc {d} {3} to {t}")
enter("mul.hi", INTEGERS, "n=nn", HIGH, lambda t, a, b: a * b >> t.bits)
MAD_WIDE = template(*WIDE, "add {d} {2}, {c}")
enter("mad.wide", "s16 s32 u16 u32", "d=nnd", MAD_WIDE, lambda t, a, b, c: a * b + c)
enter("and", f"{BITS} pred", "n=nn", "and {t} {a}, {b}", lambda t, a, b: a & b)
enter("or", f"{BITS} pred", "n=nn", "or {t} {a}, {b}", lambda t, a, b: a | b)
enter("xor", f"{BITS} pred", "n=nn", "xor {t} {a}, {b}", lambda t, a, b: a ^ b)
enter("not", f"{BITS} pred", "n=n", "xor {t} {a}, -1", lambda t, a: ~a)
enter("mov", f"{INTEGERS} {BITS} pred", "n=n", "or {t} {a}, 0", lambda t, a: a)
SELECT = "select i1 {c}, {t} {a}, {t} {b}"
enter("selp", f"{INTEGERS} {BITS}", "n=nnp", SELECT, lambda t, a, b, c: a if c else b)
ORDERS: dict[str, Callable[[Type, int, int], int]] = {
    "eq": lambda t, a, b: a == b,
    "ne": lambda t, a, b: a != b,
    "lt": lambda t, a, b: a < b,
    "le": lambda t, a, b: a <= b,
    "gt": lambda t, a, b: a > b,
    "ge": lambda t, a, b: a >= b,
}
for _order, _holds in ORDERS.items():
    _equal = _order in ("eq", "ne")
    _line = f"icmp {'' if _equal else '{k}'}{_order} {{t}} {{a}}, {{b}}"
    enter(f"setp.{_order}", f"{INTEGERS} {BITS * _equal}", "p=nn", _line, _holds)


def division(operation: str) -> Callable[..., str]:
    """Divide; division by zero is a fault, whose outcome is not defined on a card.

    The CPU traps where the least number is divided by -1, too, so 1 takes the place of -1.
    """

    def write(body: Body, kind: Type, a: str, b: str) -> str:
        t = kind.llvm
        body.fault_unless(body.op(f"icmp ne {t} {b}, 0"), body.site("division"))
        if not kind.signed:
            return body.op(f"u{operation} {t} {a}, {b}")
        turned = body.op(f"icmp eq {t} {b}, -1")
        safe = body.op(f"select i1 {turned}, {t} 1, {t} {b}")
        value = body.op(f"s{operation} {t} {a}, {safe}")
        if operation == "rem":
            return value
        negative = body.op(f"sub {t} 0, {a}")
        return body.op(f"select i1 {turned}, {t} {negative}, {t} {value}")

    return write


def quotient(a: int, b: int) -> int:
    """a / b, rounded toward zero."""
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


enter("div", INTEGERS, "n=nn", division("div"), lambda t, a, b: quotient(a, b))
enter("rem", INTEGERS, "n=nn", division("rem"), lambda t, a, b: a - b * quotient(a, b))


def shift(body: Body, kind: Type, how: str, value: str, by: str) -> str:
    """Shift as a card does, by the width or more, too: shl, lshr or ashr."""
    bits = kind.bits
    t = kind.llvm
    fits = body.op(f"icmp ult i32 {by}, {bits}")
    most = bits - 1 if how == "ashr" else 0
    safe = body.resize(body.op(f"select i1 {fits}, i32 {by}, i32 {most}"), 32, bits)
    result = body.op(f"{how} {t} {value}, {safe}")
    return result if how == "ashr" else body.op(f"select i1 {fits}, {t} {result}, {t} 0")


def left(body: Body, kind: Type, a: str, by: str) -> str:
    return shift(body, kind, "shl", a, by)


def right(body: Body, kind: Type, a: str, by: str) -> str:
    return shift(body, kind, "ashr" if kind.signed else "lshr", a, by)


enter("shl", BITS, "n=nw", left, lambda t, a, by: a << min(by, t.bits))
enter("shr", f"{INTEGERS} {BITS}", "n=nw", right, lambda t, a, by: a >> min(by, t.bits))


def insert(body: Body, kind: Type, value: str, into: str, at: str, length: str) -> str:
    """Put some of the lower bits of a value into another; only low bytes of numbers count."""
    t = kind.llvm
    at = body.op(f"and i32 {at}, 255")
    length = body.op(f"and i32 {length}, 255")
    mask = body.op(f"xor {t} {left(body, kind, '-1', length)}, -1")
    there = left(body, kind, mask, at)
    new = body.op(f"and {t} {left(body, kind, value, at)}, {there}")
    kept = body.op(f"and {t} {into}, {body.op(f'xor {t} {there}, -1')}")
    return body.op(f"or {t} {kept}, {new}")


def inserted(kind: Type, a: int, b: int, c: int, d: int) -> int:
    position = c & 255
    length = d & 255
    bits = [b >> i & 1 for i in range(kind.bits)]
    for i in range(min(length, kind.bits - position)):
        bits[position + i] = a >> i & 1
    return sum(bit << i for i, bit in enumerate(bits))


enter("bfi", "b32 b64", "n=nnww", insert, inserted)


def counting(call: str) -> Callable[..., str]:
    def write(body: Body, kind: Type, a: str) -> str:
        return body.resize(body.op(call.format(t=kind.llvm, a=a)), kind.bits, 32)

    return write


COUNT, ZEROS = "call {t} @llvm.ctpop.{t}({t} {a})", "call {t} @llvm.ctlz.{t}({t} {a}, i1 false)"
enter("popc", "b32 b64", "w=n", counting(COUNT), lambda t, a: a.bit_count())
enter("clz", "b32 b64", "w=n", counting(ZEROS), lambda t, a: t.bits - a.bit_length())
REVERSE = "call {t} @llvm.bitreverse.{t}({t} {a})"
enter("brev", "b32 b64", "n=n", REVERSE, lambda t, a: int(f"{a:0{t.bits}b}"[::-1], 2))


def conversion(into: str) -> Callable[..., str]:
    return lambda body, kind, a: body.resize(a, kind.bits, TYPES[into].bits, kind.signed)


for _name, _letter in (("u16", "h"), ("u32", "w"), ("u64", "q"), ("s64", "q")):
    enter(f"cvt.{_name}", INTEGERS, f"{_letter}=n", conversion(_name), lambda t, a: a)


def compute(body: Body, it: Instruction) -> None:
    """Write what an instruction does that computes a register from others.

    Raises
    ------
    PtxError
        If the opcode is not known, or an operand does not fit.
    """
    name, _, last = it.opcode.rpartition(".")
    if name not in OPCODES or last not in OPCODES[name].types:
        raise it.error(f"unknown opcode {it.opcode}")
    opcode = OPCODES[name]
    kind = TYPES[last]
    bits, *widths = opcode.widths(kind)
    if len(it.operands) != 1 + len(widths):
        raise it.error("unexpected operands")
    to, *sources = it.operands
    if name == "mov" and isinstance(sources[0], Vector):
        value = joined(body, kind, sources[0])
    else:
        values = [body.read(each, width) for each, width in zip(sources, widths, strict=True)]
        if name in ("div", "rem") and sources[1] == Immediate(0):
            raise it.error("a division by zero")
        value = opcode.write(body, kind, *values)
    body.write(to, value, bits)


def joined(body: Body, kind: Type, vector: Vector) -> Any:
    """Put a value together from registers, of which the first has the lowest bits."""
    bits = kind.bits // len(vector.items)
    value = "0"
    for i, item in enumerate(vector.items):
        part = body.resize(body.read(item, bits), bits, kind.bits)
        part = body.op(f"shl {kind.llvm} {part}, {i * bits}")
        value = body.op(f"or {kind.llvm} {value}, {part}")
    return value
