"""What a PTX module consists of, as the parser gives it: types, variables, operands, functions."""

from __future__ import annotations

from dataclasses import dataclass, field


class PtxError(Exception):
    """PTX that cannot be read or built; the message names the line."""


@dataclass(frozen=True)
class Type:
    """A fundamental type: its kind is s, u, b or pred, and it has so many bits."""

    kind: str
    bits: int

    @property
    def bytes(self) -> int:
        return self.bits // 8

    @property
    def signed(self) -> bool:
        return self.kind == "s"

    @property
    def llvm(self) -> str:
        return f"i{self.bits}"


TYPES = {f"{kind}{bits}": Type(kind, bits) for kind in "sub" for bits in (8, 16, 32, 64)}
TYPES["pred"] = Type("pred", 1)
"""Types by name. There are no floats: the kernels do not use them."""


@dataclass(frozen=True)
class Register:
    name: str


@dataclass(frozen=True)
class Immediate:
    value: int


@dataclass(frozen=True)
class Symbol:
    """The name of a variable, a label or a function."""

    name: str


@dataclass(frozen=True)
class Address:
    """``[base + offset]``."""

    base: Register | Symbol | Immediate
    offset: int


@dataclass(frozen=True)
class Vector:
    """``{a, b}``, or the ``(a, b)`` of a call."""

    items: tuple[Operand, ...]


@dataclass(frozen=True)
class Negated:
    """``!p``."""

    register: Register


@dataclass(frozen=True)
class Pair:
    """``p|q``."""

    first: Register
    second: Register


Operand = Register | Immediate | Symbol | Address | Vector | Negated | Pair


@dataclass(frozen=True)
class Instruction:
    line: int
    text: str
    opcode: str
    """The part before the first dot."""
    modifiers: tuple[str, ...]
    """The parts after it."""
    operands: tuple[Operand, ...]
    guard: Register | Negated | None = None

    def error(self, reason: str) -> PtxError:
        return PtxError(f"line {self.line}: {self.text}: {reason}")


@dataclass(frozen=True)
class Label:
    name: str


@dataclass(frozen=True)
class Variable:
    """Memory with a name. ``size`` in bytes; None if the launch says it (extern shared memory)."""

    name: str
    space: str
    type: Type
    align: int
    size: int | None
    initial: bytes = b""


@dataclass
class Function:
    """A kernel (``entry``) or a device function."""

    name: str
    entry: bool
    parameters: list[Variable]
    results: list[Variable]
    registers: dict[str, Type] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    """Declared in the body: local, shared and, for calls, param."""
    body: list[Instruction | Label] = field(default_factory=list)


@dataclass
class Module:
    variables: list[Variable] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
