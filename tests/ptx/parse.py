"""Parse PTX text as NVVM writes it, one statement a line; any other text is an error."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


class PtxError(Exception):
    """PTX that cannot be read or built; the message names the line."""


@dataclass(frozen=True)
class Type:
    """A fundamental type."""

    kind: str
    """s (signed), u (unsigned), b (bits) or pred (predicate)."""
    bits: int

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
    """The name of a variable or a label."""

    name: str


@dataclass(frozen=True)
class Address:
    """``[base+offset]``."""

    base: Operand
    offset: int


@dataclass(frozen=True)
class Vector:
    """``{a, b}``."""

    items: tuple[Operand, ...]


Operand = Register | Immediate | Symbol | Address | Vector


@dataclass(frozen=True)
class Instruction:
    line: int
    text: str
    opcode: str
    """All of it, with its modifiers."""
    operands: tuple[Operand, ...]
    guard: Register | None = None

    def error(self, reason: str) -> PtxError:
        return PtxError(f"line {self.line}: {self.text}: {reason}")


@dataclass(frozen=True)
class Label:
    name: str


@dataclass(frozen=True)
class Variable:
    """A parameter, or an array of local or shared memory."""

    name: str
    size: int
    align: int


@dataclass
class Function:
    """A kernel."""

    name: str
    parameters: list[Variable] = field(default_factory=list)
    registers: dict[str, int] = field(default_factory=dict)
    """The number of bits of each register."""
    local: list[Variable] = field(default_factory=list)
    body: list[Instruction | Label] = field(default_factory=list)


@dataclass
class Module:
    shared: list[Variable] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)


IGNORED = re.compile(
    r"\.(version|target|address_size|pragma|loc|file|maxntid|minnctapersm|maxnreg)\b.*"
    r"|\.common \.global .*|[{}()]|"
)
"""Lines that do not change what the kernel does: only the host uses Numba's global variables."""
ENTRY = re.compile(r"\.visible \.entry ([\w$]+)\(")
PARAMETER = re.compile(r"\.param \.(\w+)(?: \.ptr)?(?: \.align \d+)? ([\w$]+),?")
REGISTERS = re.compile(r"\.reg \.(\w+)\s+(%\w+)(?:<(\d+)>)?;")
VARIABLE = re.compile(r"(?:\.visible )?\.(shared|local) \.align (\d+) \.(\w+)\s+([\w$]+)\[(\d+)\];")
LABEL = re.compile(r"([$\w]+):")
STATEMENT = re.compile(r"(?:@(%\w+)\s+)?([a-z]\w*(?:[.:]+\w+)*)(?:\s+([^;]*))?;")
OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+")
ADDRESS = re.compile(r"\[([%$\w]+)(?:\+?(-?\d+))?\]")


def parse(ptx: str) -> Module:
    """Read a module.

    Raises
    ------
    PtxError
        If a line is not known; the message names it.
    """
    module = Module()
    function = Function("")
    for number, line in enumerate(ptx.splitlines(), 1):
        text = line.split("//")[0].strip()
        try:
            if match := ENTRY.fullmatch(text):
                function = module.functions[match[1]] = Function(match[1])
            elif match := PARAMETER.fullmatch(text):
                size = TYPES[match[1]].bits // 8
                function.parameters.append(Variable(match[2], size, size))
            elif match := REGISTERS.fullmatch(text):
                add_registers(function, match)
            elif match := VARIABLE.fullmatch(text):
                size = TYPES[match[3]].bits // 8 * int(match[5])
                variables = module.shared if match[1] == "shared" else function.local
                variables.append(Variable(match[4], size, int(match[2])))
            elif match := LABEL.fullmatch(text):
                function.body.append(Label(match[1]))
            elif match := STATEMENT.fullmatch(text):
                guard = Register(match[1]) if match[1] else None
                operands = tuple(map(operand, OPERAND.findall(match[3] or "")))
                function.body.append(Instruction(number, text, match[2], operands, guard))
            elif not IGNORED.fullmatch(text):
                raise ValueError("not known here")
        except (KeyError, ValueError) as error:
            raise PtxError(f"line {number}: {text}: {error}") from None
    return module


def add_registers(function: Function, match: re.Match[str]) -> None:
    """Declare registers, as in ``.reg .b32 %r<9>``; blocks share registers of the same name."""
    bits = TYPES[match[1]].bits
    name = match[2]
    names = [f"{name}{i}" for i in range(int(match[3]))] if match[3] else [name]
    for register in names:
        if function.registers.setdefault(register, bits) != bits:
            raise ValueError("declared with another width before")


def operand(text: str) -> Operand:
    """Parse an operand."""
    if text.startswith("{"):
        return Vector(tuple(map(operand, OPERAND.findall(text[1:-1]))))
    if text.startswith("["):
        match = ADDRESS.fullmatch(text)
        if match is None:
            raise ValueError(f"no address: {text}")
        return Address(operand(match[1]), int(match[2] or 0))
    if text.startswith("%"):
        return Register(text)
    if text[0].isdigit() or text[0] == "-":
        return Immediate(int(text, 0))
    return Symbol(text)
