"""The LLVM IR of one function while it is written: values, registers, blocks, faults.

Registers are variables on LLVM's stack, which it turns into values. Each instruction notes which
registers it reads and writes, so that what lives across a barrier is known at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.ptx.layout import WORD, Layout, Site
from tests.ptx.model import (
    Function,
    Immediate,
    Instruction,
    Negated,
    Operand,
    PtxError,
    Register,
    Symbol,
)

SPECIAL = {
    f"%{register}.{axis}": f"{register}.{axis}"
    for register in ("tid", "ntid", "ctaid", "nctaid")
    for axis in "xyz"
}
"""Special registers that the context holds."""


@dataclass
class Step:
    """What one instruction became."""

    lines: list[str] = field(default_factory=list)
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    targets: list[str] = field(default_factory=list)
    """Labels to which it may jump."""
    falls_through: bool = True
    stop: int | None = None
    """If the thread waits after it, for others: the state in which it is then."""


class Body:
    def __init__(self, layout: Layout, function: Function, checked: bool) -> None:
        self.layout, self.function, self.checked = layout, function, checked
        self.steps: list[Step] = []
        self.begin()
        self.calls: set[str] = set()
        """The functions that it calls."""
        self.instruction: Instruction | None = None
        self._names = 0

    def begin(self) -> None:
        """Begin a step."""
        self.step = Step()
        self.steps.append(self.step)

    def error(self, reason: str) -> PtxError:
        assert self.instruction is not None
        return self.instruction.error(reason)

    def name(self, kind: str = "t") -> str:
        self._names += 1
        return f"{kind}{self._names}"

    def line(self, text: str) -> None:
        self.step.lines.append(f"  {text}")

    def op(self, text: str) -> str:
        """Write an instruction that has a value; returns the value's name."""
        value = f"%{self.name()}"
        self.line(f"{value} = {text}")
        return value

    def label(self, name: str) -> None:
        self.step.lines.append(f"{name}:")

    def call(self, intrinsic: str, bits: int, *values: str) -> str:
        """Call an intrinsic function of integers that are all of one width."""
        arguments = ", ".join(f"i{bits} {value}" for value in values)
        return self.op(f"call i{bits} @llvm.{intrinsic}.i{bits}({arguments})")

    def resize(self, value: str, bits: int, wanted: int, signed: bool = False) -> str:
        if bits == wanted:
            return value
        how = "trunc" if bits > wanted else "sext" if signed else "zext"
        return self.op(f"{how} i{bits} {value} to i{wanted}")

    def context(self, word: str) -> str:
        """A word of the launch's context, as it was when the thread began or went on."""
        return f"%context.{word}"

    def read(self, operand: Operand, bits: int, loose: bool = False) -> str:
        """The value of an operand; if ``loose``, the low bits of a wider register will do."""
        if isinstance(operand, Immediate):
            return str(operand.value % 2**bits)
        if isinstance(operand, Negated):
            return self.op(f"xor i1 {self.read(operand.register, 1)}, true")
        if isinstance(operand, Symbol):
            return self.resize(self._address_of(operand.name), 64, bits)
        if not isinstance(operand, Register):
            raise self.error(f"{operand} where a value is expected")
        value, has = self._register(operand.name)
        if has != bits and not (loose and has > bits):
            raise self.error(f"{operand.name} has {has} bits, not {bits}")
        return self.resize(value, has, bits)

    def _register(self, name: str) -> tuple[str, int]:
        if name in self.function.registers:
            has = self.function.registers[name].bits
            self.step.reads.add(name)
            return self.op(f'load i{has}, ptr %"{name}"'), has
        if name in SPECIAL:
            return self.op(f"trunc i64 {self.context(SPECIAL[name])} to i32"), 32
        if name == "%laneid":
            return self.op("trunc i64 %lane to i32"), 32
        raise self.error(f"unknown register {name}")

    def _address_of(self, name: str) -> str:
        if name == "WARP_SZ":
            return "32"
        found = self.layout.find(self.function.name, name)
        if found is None:
            raise self.error(f"unknown name {name}")
        space, place = found
        if space != "global":
            return str(place.offset)
        return self.op(f"add i64 {self.context('globals')}, {place.offset}")

    def write(
        self, operand: Operand, value: str, bits: int, signed: bool = False, loose: bool = False
    ) -> None:
        """Set a register; if ``loose``, a wider one is filled up."""
        if not isinstance(operand, Register) or operand.name not in self.function.registers:
            raise self.error(f"{operand} where a register is expected")
        has = self.function.registers[operand.name].bits
        if has != bits and not (loose and has > bits):
            raise self.error(f"{operand.name} has {has} bits, not {bits}")
        self.step.writes.add(operand.name)
        value = self.resize(value, bits, has, signed)
        self.line(f'store i{has} {value}, ptr %"{operand.name}"')

    def site(self, what: str, space: str = "", width: int = 1) -> int:
        """Number a place where something can go wrong."""
        assert self.instruction is not None
        at = self.instruction
        return self.layout.add(Site(self.function.name, at.line, at.text, what, space, width))

    def fault(self, site: int, address: str = "0") -> None:
        """End the thread, and the launch."""
        self.line(f"call void @fault(ptr %context, i64 {site}, i64 {address})")
        self.line("ret i64 -1")

    def fault_unless(self, holds: str, site: int, address: str = "0") -> None:
        good, bad = self.name("good"), self.name("bad")
        self.line(f"br i1 {holds}, label %{good}, label %{bad}")
        self.label(bad)
        self.fault(site, address)
        self.label(good)


def contexts() -> list[str]:
    """Load every word of the context; LLVM leaves out those that are not used."""
    lines = []
    for word, index in WORD.items():
        lines.append(f"  %context.{word}.at = getelementptr i64, ptr %context, i64 {index}")
        lines.append(f"  %context.{word} = load i64, ptr %context.{word}.at")
    return lines
