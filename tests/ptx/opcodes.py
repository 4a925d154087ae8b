"""The table of opcodes: each has a function that writes its LLVM IR."""

from __future__ import annotations

from collections.abc import Callable

from tests.ptx.body import Body
from tests.ptx.model import TYPES, Instruction, Type

Writer = Callable[[Body, Instruction], None]
OPCODES: dict[str, Writer] = {}


def opcode(*names: str) -> Callable[[Writer], Writer]:
    """Enter a function into the table."""

    def enter(writer: Writer) -> Writer:
        for name in names:
            assert name not in OPCODES
            OPCODES[name] = writer
        return writer

    return enter


def write_instruction(body: Body, instruction: Instruction) -> None:
    """Write what an instruction does.

    Raises
    ------
    PtxError
        If the opcode, a modifier or a type is not known, or an operand does not fit.
    """
    if instruction.opcode not in OPCODES:
        raise instruction.error(f"unknown opcode {instruction.opcode}")
    try:
        OPCODES[instruction.opcode](body, instruction)
    except (ValueError, IndexError) as error:  # writers take operands and modifiers apart
        raise instruction.error("unexpected operands or modifiers") from error


def only_type(instruction: Instruction, kinds: str = "sub", bits: str = "16 32 64") -> Type:
    """The type of an instruction that has no other modifier."""
    return typed(instruction, kinds, bits, allowed=())[1]


def typed(
    instruction: Instruction, kinds: str, bits: str, allowed: tuple[str, ...]
) -> tuple[list[str], Type]:
    """The modifiers before the type, all of them allowed, and the type, which is the last."""
    *others, last = instruction.modifiers or ("",)
    if last not in TYPES:
        raise instruction.error(f"unknown type .{last}")
    kind = TYPES[last]
    if kind.kind != "pred" and (kind.kind not in kinds or str(kind.bits) not in bits.split()):
        raise instruction.error(f"not for the type .{last}")
    if kind.kind == "pred" and "pred" not in bits.split():
        raise instruction.error("not for predicates")
    for other in others:
        if other not in allowed:
            raise instruction.error(f"unknown modifier .{other}")
    return others, kind
