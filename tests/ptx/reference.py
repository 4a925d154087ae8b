"""What opcodes mean, in Python and bit by bit: from the manual alone, for the tests.

``FORMS`` has every opcode with its type. Values are bits, as whole numbers from 0 on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

PRED = 1


@dataclass(frozen=True)
class Form:
    """An opcode with its modifiers: the widths of results and operands, and what it does."""

    results: tuple[int, ...]
    sources: tuple[int, ...]
    meaning: Callable[..., int | tuple[int, ...]]
    table: int | None = None
    """One more operand, which is a constant."""

    def results_of(self, *values: int) -> tuple[int, ...]:
        found = self.meaning(*values)
        both = found if isinstance(found, tuple) else (found,)
        return tuple(value % 2**bits for value, bits in zip(both, self.results, strict=True))


def signed(value: int, bits: int) -> int:
    return value - 2**bits if value >> (bits - 1) & 1 else value


def reader(kind: str, bits: int) -> Callable[[int], int]:
    """How the bits of a type are read as a number."""
    return (lambda value: signed(value, bits)) if kind == "s" else (lambda value: value)


def quotient(a: int, b: int) -> int:
    """a / b, rounded toward zero."""
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def arithmetic() -> Iterator[tuple[str, Form]]:
    for kind in "su":
        for n in (16, 32, 64):
            yield from arithmetic_of(kind, n)


def arithmetic_of(kind: str, n: int) -> Iterator[tuple[str, Form]]:
    one, two, three, as_number = (n,), (n, n), (n, n, n), reader(kind, n)

    def both(function: Callable[[int, int], int]) -> Callable[[int, int], int]:
        return lambda a, b: function(as_number(a), as_number(b))

    name = f"{kind}{n}"
    yield f"add.{name}", Form(one, two, both(lambda a, b: a + b))
    yield f"sub.{name}", Form(one, two, both(lambda a, b: a - b))
    yield f"min.{name}", Form(one, two, both(min))
    yield f"max.{name}", Form(one, two, both(max))
    yield f"div.{name}", Form(one, two, both(quotient))
    yield f"rem.{name}", Form(one, two, both(lambda a, b: a - b * quotient(a, b)))
    if kind == "s":
        yield f"neg.{name}", Form(one, one, lambda a: -as_number(a))
        yield f"abs.{name}", Form(one, one, lambda a: abs(as_number(a)))
    yield f"mul.lo.{name}", Form(one, two, both(lambda a, b: a * b))
    yield f"mul.hi.{name}", Form(one, two, both(lambda a, b: a * b >> n))
    low = both(lambda a, b: a * b)
    yield f"mad.lo.{name}", Form(one, three, lambda a, b, c: low(a, b) + c)
    yield f"mad.hi.{name}", Form(one, three, lambda a, b, c: (low(a, b) >> n) + c)
    if n < 64:
        yield f"mul.wide.{name}", Form((2 * n,), two, low)
        yield f"mad.wide.{name}", Form((2 * n,), (n, n, 2 * n), lambda a, b, c: low(a, b) + c)


def logic() -> Iterator[tuple[str, Form]]:
    for name, n in (("pred", PRED), ("b16", 16), ("b32", 32), ("b64", 64)):
        yield f"and.{name}", Form((n,), (n, n), lambda a, b: a & b)
        yield f"or.{name}", Form((n,), (n, n), lambda a, b: a | b)
        yield f"xor.{name}", Form((n,), (n, n), lambda a, b: a ^ b)
        yield f"not.{name}", Form((n,), (n,), lambda a: ~a)
    for table in (0x00, 0x96, 0xE8, 0xCA, 0x2D, 0xFF):
        name = "lop3.b32" if table == 0x96 else f"lop3.b32 {table:#x}"
        yield name, Form((32,), (32, 32, 32), lambda a, b, c, t=table: any_of(a, b, c, t), table)


def any_of(a: int, b: int, c: int, table: int) -> int:
    bits = [(table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) for i in range(32)]
    return from_bits(bits)


def from_bits(bits: list[int]) -> int:
    return sum(bit << i for i, bit in enumerate(bits))


def shifts() -> Iterator[tuple[str, Form]]:
    for n in (16, 32, 64):
        yield f"shl.b{n}", Form((n,), (n, 32), lambda a, by, n=n: a << min(by, n))
        for kind in "bus":
            read = reader(kind, n)
            name = f"shr.{kind}{n}"
            yield name, Form((n,), (n, 32), lambda a, by, read=read, n=n: read(a) >> min(by, n))
    for mode, limit in (
        ("clamp", lambda c: min(c, 32)),
        ("wrap", lambda c: c & 31),
    ):
        three = (32, 32, 32)
        yield (
            f"shf.l.{mode}.b32",
            Form((32,), three, lambda a, b, c, limit=limit: b << limit(c) | a >> 32 - limit(c)),
        )
        yield (
            f"shf.r.{mode}.b32",
            Form((32,), three, lambda a, b, c, limit=limit: b << 32 - limit(c) | a >> limit(c)),
        )


def fields() -> Iterator[tuple[str, Form]]:
    for n in (32, 64):
        yield f"bfi.b{n}", Form((n,), (n, n, 32, 32), lambda a, b, c, d, n=n: bfi(a, b, c, d, n))
        for kind in "su":
            extract = Form((n,), (n, 32, 32), lambda a, b, c, kind=kind, n=n: bfe(a, b, c, kind, n))
            yield f"bfe.{kind}{n}", extract
            yield f"bfind.{kind}{n}", Form((32,), (n,), lambda a, k=kind, n=n: bfind(a, k, n))
            yield (
                f"bfind.shiftamt.{kind}{n}",
                Form((32,), (n,), lambda a, k=kind, n=n: shift_amount(a, k, n)),
            )
        yield f"popc.b{n}", Form((32,), (n,), lambda a, n=n: sum(a >> i & 1 for i in range(n)))
        yield f"clz.b{n}", Form((32,), (n,), lambda a, n=n: n - a.bit_length())
        yield (
            f"brev.b{n}",
            Form((n,), (n,), lambda a, n=n: from_bits([a >> n - 1 - i & 1 for i in range(n)])),
        )
    yield "prmt.b32", Form((32,), (32, 32, 32), prmt)


def bfi(a: int, b: int, c: int, d: int, n: int) -> int:
    position, length = c & 255, d & 255
    bits = [b >> i & 1 for i in range(n)]
    for i in range(length):
        if position + i < n:
            bits[position + i] = a >> i & 1
    return from_bits(bits)


def bfe(a: int, b: int, c: int, kind: str, n: int) -> int:
    position, length = b & 255, c & 255
    sign = 0
    if kind == "s" and length:
        sign = a >> min(position + length - 1, n - 1) & 1
    return from_bits(
        [a >> position + i & 1 if i < length and position + i < n else sign for i in range(n)]
    )


def bfind(a: int, kind: str, n: int) -> int:
    if kind == "s" and a >> n - 1:
        a = ~a % 2**n
    return max((i for i in range(n) if a >> i & 1), default=-1)


def shift_amount(a: int, kind: str, n: int) -> int:
    found = bfind(a, kind, n)
    return found if found < 0 else n - 1 - found


def prmt(a: int, b: int, c: int) -> int:
    data, result = (b << 32 | a).to_bytes(8, "little"), []
    for i in range(4):
        control = c >> 4 * i & 15
        byte = data[control & 7]
        result.append((255 if byte >= 128 else 0) if control & 8 else byte)
    return int.from_bytes(bytes(result), "little")


def comparisons() -> Iterator[tuple[str, Form]]:
    orders: dict[str, Callable[[int, int], bool]] = {
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: a != b,
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
        "gt": lambda a, b: a > b,
        "ge": lambda a, b: a >= b,
    }
    orders |= {new: orders[old] for new, old in zip(("lo", "ls", "hi", "hs"), [*orders][2:])}  # noqa: B905
    for n in (16, 32, 64):
        for kind in "bsu":
            for order, holds in orders.items():
                if kind == "b" and order not in ("eq", "ne"):
                    continue
                if kind == "s" and order in ("lo", "ls", "hi", "hs"):
                    continue
                read = reader(kind, n)

                def test(a: int, b: int, holds=holds, read=read) -> int:  # type: ignore[no-untyped-def]
                    return int(holds(read(a), read(b)))

                yield f"setp.{order}.{kind}{n}", Form((PRED,), (n, n), test)
                if order in ("eq", "lt"):
                    yield from combined(f"{order}.{{}}.{kind}{n}", n, test)
            select = Form((n,), (n, n, PRED), lambda a, b, which: a if which else b)
            yield f"selp.{kind}{n}", select


def combined(name: str, n: int, test: Callable[[int, int], int]) -> Iterator[tuple[str, Form]]:
    """Both results, and each with another predicate."""
    ways = {"and": lambda x, c: x & c, "or": lambda x, c: x | c, "xor": lambda x, c: x ^ c}
    for way, join in ways.items():

        def pair(a: int, b: int, c: int, join=join) -> tuple[int, int]:  # type: ignore[no-untyped-def]
            return join(test(a, b), c), join(1 - test(a, b), c)

        yield f"setp.{name.format(way)}", Form((PRED, PRED), (n, n, PRED), pair)


def conversions() -> Iterator[tuple[str, Form]]:
    for n, name in ((16, "b16"), (32, "b32"), (64, "b64"), (PRED, "pred")):
        yield f"mov.{name}", Form((n,), (n,), lambda a: a)
    for n in (16, 32, 64):
        for kind in "su":
            yield f"mov.{kind}{n}", Form((n,), (n,), lambda a: a)
    for into in (8, 16, 32, 64):
        for of in (8, 16, 32, 64):
            for to_kind in "su":
                for of_kind in "su":
                    name = f"cvt.{to_kind}{into}.{of_kind}{of}"
                    source, result = reader(of_kind, of), reader(to_kind, into)
                    yield (
                        name,
                        Form(
                            (max(16, into),),
                            (max(16, of),),
                            lambda a, r=result, s=source, of=of, into=into: r(
                                s(a % 2**of) % 2**into
                            ),
                        ),
                    )


def dots() -> Iterator[tuple[str, Form]]:
    for one in "su":
        for other in "su":
            kinds = (one, other)

            def dp4a(a: int, b: int, c: int, kinds=kinds) -> int:  # type: ignore[no-untyped-def]
                return c + sum(part(a, i, 8, kinds[0]) * part(b, i, 8, kinds[1]) for i in range(4))

            def dp2a(a: int, b: int, c: int, kinds=kinds, high=0) -> int:  # type: ignore[no-untyped-def]
                return c + sum(
                    part(a, i, 16, kinds[0]) * part(b, i + 2 * high, 8, kinds[1]) for i in range(2)
                )

            three = (32, 32, 32)
            name = f"{one}32.{other}32"
            yield f"dp4a.{name}", Form((32,), three, dp4a)
            yield f"dp2a.lo.{name}", Form((32,), three, dp2a)
            yield f"dp2a.hi.{name}", Form((32,), three, lambda a, b, c, f=dp2a: f(a, b, c, high=1))


def part(value: int, index: int, bits: int, kind: str) -> int:
    return reader(kind, bits)(value >> index * bits & 2**bits - 1)


FORMS: dict[str, Form] = {
    name: form
    for family in (arithmetic, logic, shifts, fields, comparisons, conversions, dots)
    for name, form in family()
}
"""By opcode and modifiers; a table is written after them."""
