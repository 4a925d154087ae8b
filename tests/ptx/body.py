"""The LLVM IR of one function while it is written: values, registers, faults.

Registers are variables on LLVM's stack, which it turns into values. Each instruction notes which
registers it reads and writes, so that what lives across a barrier is known at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.ptx.layout import Layout, Site
from tests.ptx.parse import Function, Immediate, Instruction, Operand, Register, Symbol

SPECIAL = {f"%{name}.x": f"%context.{name}" for name in ("tid", "ntid", "ctaid", "nctaid")}
"""Special registers; grids and blocks have one axis."""
SPECIAL |= {f"%{name}.{axis}": "0" for name in ("tid", "ctaid") for axis in "yz"}
SPECIAL |= {f"%{name}.{axis}": "1" for name in ("ntid", "nctaid") for axis in "yz"}
SPECIAL["%laneid"] = "%lane"


@dataclass
class Step:
    """What one instruction became."""

    lines: list[str] = field(default_factory=list)
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    target: str | None = None
    """The label to which it may jump."""
    falls_through: bool = True
    stop: int | None = None
    """If the thread waits after it, for others: the state in which it is then."""


class Body:
    """Writes instructions; ``instruction`` is the one that is written now."""

    instruction: Instruction

    def __init__(self, layout: Layout, function: Function, checked: bool) -> None:
        self.layout = layout
        self.function = function
        self.checked = checked
        self.steps: list[Step] = []
        self._names = 0

    def begin(self) -> None:
        """Begin a step."""
        self.step = Step()
        self.steps.append(self.step)

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

    def resize(self, value: str, bits: int, wanted: int, signed: bool = False) -> str:
        if bits == wanted:
            return value
        how = "trunc" if bits > wanted else "sext" if signed else "zext"
        return self.op(f"{how} i{bits} {value} to i{wanted}")

    def read(self, operand: Operand, bits: int, loose: bool = False) -> str:
        """The value of an operand; if ``loose``, the low bits of a wider register will do."""
        if isinstance(operand, Immediate):
            return str(operand.value % 2**bits)
        if isinstance(operand, Symbol):
            place = self.layout.find(self.function.name, operand.name)
            if place is None:
                raise self.instruction.error(f"unknown name {operand.name}")
            return str(place.offset)
        if not isinstance(operand, Register):
            raise self.instruction.error(f"{operand} where a value is expected")
        name = operand.name
        if name in SPECIAL:
            return self.resize(self.op(f"add i64 {SPECIAL[name]}, 0"), 64, bits)
        has = self._bits(name, bits, loose)
        self.step.reads.add(name)
        return self.resize(self.op(f'load i{has}, ptr %"{name}"'), has, bits)

    def write(
        self, operand: Operand, value: str, bits: int, signed: bool = False, loose: bool = False
    ) -> None:
        """Set a register; if ``loose``, a wider one is filled up."""
        if not isinstance(operand, Register):
            raise self.instruction.error(f"{operand} where a register is expected")
        has = self._bits(operand.name, bits, loose)
        self.step.writes.add(operand.name)
        value = self.resize(value, bits, has, signed)
        self.line(f'store i{has} {value}, ptr %"{operand.name}"')

    def _bits(self, name: str, wanted: int, loose: bool) -> int:
        """How many bits a register has, which have to be so many, or also more if ``loose``."""
        has = self.function.registers.get(name)
        if has is None:
            raise self.instruction.error(f"unknown register {name}")
        if has != wanted and not (loose and has > wanted):
            raise self.instruction.error(f"{name} has {has} bits, not {wanted}")
        return has

    def site(self, what: str, space: str = "", width: int = 1) -> int:
        """Number a place where something can go wrong."""
        at = self.instruction
        return self.layout.add(Site(self.function.name, at.line, at.text, what, space, width))

    def fault_unless(self, holds: str, site: int, address: str = "0") -> None:
        """End the thread, and the launch, unless something holds."""
        good = self.name("good")
        bad = self.name("bad")
        self.line(f"br i1 {holds}, label %{good}, label %{bad}")
        self.label(bad)
        self.line(f"call void @fault(ptr %context, i64 {site}, i64 {address})")
        self.line("ret i64 -1")
        self.label(good)
