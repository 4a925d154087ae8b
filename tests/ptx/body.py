"""A writer of the LLVM IR of one function: values, registers, faults.

Each PTX register is a variable on LLVM's stack; LLVM turns it into values. Each instruction records
which registers it reads and writes. From these the registers that are live across a barrier follow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.ptx.layout import Layout, Site
from tests.ptx.parse import Function, Immediate, Instruction, Operand, Register, Symbol

SPECIAL = {f"%{name}.x": f"%context.{name}" for name in ("tid", "ntid", "ctaid", "nctaid")}
"""The value of each special register."""
# Grids and blocks have one axis: the others have index 0 and size 1.
SPECIAL |= {f"%{name}.{axis}": "0" for name in ("tid", "ctaid") for axis in "yz"}
SPECIAL |= {f"%{name}.{axis}": "1" for name in ("ntid", "nctaid") for axis in "yz"}
SPECIAL["%laneid"] = "%lane"


@dataclass
class Step:
    """The LLVM IR of one instruction."""

    lines: list[str] = field(default_factory=list)
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    target: str | None = None
    """The label to which it may jump."""
    falls_through: bool = True
    """Whether execution may continue with the next step."""
    stop: int | None = None
    """The state of the thread, if it waits for other threads after this instruction."""


class Body:
    """Writes instructions; ``instruction`` is the current one.

    If ``checked``, every access to memory is checked.
    """

    instruction: Instruction

    def __init__(self, layout: Layout, function: Function, checked: bool) -> None:
        self.layout = layout
        self.function = function
        self.checked = checked
        self.steps: list[Step] = []
        self._names = 0

    def begin(self) -> None:
        """Begin the next step."""
        self.step = Step()
        self.steps.append(self.step)

    def name(self, prefix: str = "t") -> str:
        """Return a new name."""
        self._names += 1
        return f"{prefix}{self._names}"

    def line(self, text: str) -> None:
        self.step.lines.append(f"  {text}")

    def op(self, text: str) -> str:
        """Write an LLVM instruction that has a value; return the name of the value."""
        value = f"%{self.name()}"
        self.line(f"{value} = {text}")
        return value

    def label(self, name: str) -> None:
        self.step.lines.append(f"{name}:")

    def resize(self, value: str, old_bits: int, new_bits: int, signed: bool = False) -> str:
        """Convert a value to another width."""
        if old_bits == new_bits:
            return value
        if old_bits > new_bits:
            conversion = "trunc"
        else:
            conversion = "sext" if signed else "zext"
        return self.op(f"{conversion} i{old_bits} {value} to i{new_bits}")

    def read(self, operand: Operand, bits: int, loose: bool = False) -> str:
        """Return the value of an operand; if ``loose``, a register may be wider than ``bits``."""
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
        register_bits = self._register_bits(name, bits, loose)
        self.step.reads.add(name)
        value = self.op(f'load i{register_bits}, ptr %"{name}"')
        return self.resize(value, register_bits, bits)

    def write(
        self, operand: Operand, value: str, bits: int, signed: bool = False, loose: bool = False
    ) -> None:
        """Set a register; if ``loose``, it may be wider than ``bits``: the value is extended."""
        if not isinstance(operand, Register):
            raise self.instruction.error(f"{operand} where a register is expected")
        register_bits = self._register_bits(operand.name, bits, loose)
        self.step.writes.add(operand.name)
        value = self.resize(value, bits, register_bits, signed)
        self.line(f'store i{register_bits} {value}, ptr %"{operand.name}"')

    def _register_bits(self, name: str, bits: int, loose: bool) -> int:
        """Return the width of a register, which must be ``bits``, or at least that if ``loose``."""
        register_bits = self.function.registers.get(name)
        if register_bits is None:
            raise self.instruction.error(f"unknown register {name}")
        if register_bits != bits and not (loose and register_bits > bits):
            raise self.instruction.error(f"{name} has {register_bits} bits, not {bits}")
        return register_bits

    def site(self, kind: str, space: str = "", width: int = 1) -> int:
        """Return the number of a new site: a place where the instruction can fault."""
        line = self.instruction.line
        text = self.instruction.text
        return self.layout.add(Site(self.function.name, line, text, kind, space, width))

    def fault_unless(self, condition: str, site: int, address: str = "0") -> None:
        """Write a branch that ends the thread and the launch unless the condition holds."""
        good = self.name("good")
        bad = self.name("bad")
        self.line(f"br i1 {condition}, label %{good}, label %{bad}")
        self.label(bad)
        self.line(f"call void @fault(ptr %context, i64 {site}, i64 {address})")
        self.line("ret i64 -1")
        self.label(good)
