"""Opcodes that load, store, or change memory atomically, and the check of every access."""

from __future__ import annotations

import re

from tests.ptx.body import Body
from tests.ptx.parse import TYPES, Address, Instruction, Operand, Symbol, Type, Vector

OPCODE = re.compile(
    r"(?:ld|st)(?:\.(?P<space>global|shared|local|param))?(?:\.v(?P<count>2|4))?\.(?P<type>[sub]\d+)"
    r"|atom(?:\.relaxed\.sys)?\.(?P<atomic_space>global|shared)"
    r"\.(?:add\.(?P<sum>u32|u64|s32)|or\.(?P<union>b64))"
)
"""The known opcodes; a generic address is one of global memory."""


def access(body: Body, instruction: Instruction) -> None:
    """Write a load, a store, an atomic addition or an atomic bitwise or."""
    match = OPCODE.fullmatch(instruction.opcode)
    if match is None:
        raise instruction.error(f"unknown opcode {instruction.opcode}")
    space = match["space"] or match["atomic_space"] or ""
    count = int(match["count"] or 1)
    kind = TYPES[match["type"] or match["sum"] or match["union"]]
    if match["atomic_space"]:
        target, place, source = check_operands(instruction, 3)
        value = body.read(source, kind.bits)
        [pointer] = locate(body, instruction, space, kind, 1, place)
        operation = "add" if match["sum"] else "or"
        old = body.op(f"atomicrmw {operation} ptr {pointer}, {kind.llvm} {value} seq_cst")
        body.write(target, old, kind.bits)
        return

    is_load = instruction.opcode.startswith("ld")
    if is_load:
        register, place = check_operands(instruction, 2)
    else:
        place, register = check_operands(instruction, 2)
    items = register.items if isinstance(register, Vector) else (register,)
    if len(items) != count:
        raise instruction.error("unexpected operands")
    # `align 1`: the check of the access, not LLVM, decides about its alignment.
    if is_load:
        pointers = locate(body, instruction, space, kind, count, place)
        values = [body.op(f"load {kind.llvm}, ptr {pointer}, align 1") for pointer in pointers]
        for item, value in zip(items, values, strict=True):
            body.write(item, value, kind.bits, kind.signed, loose=True)
        return
    values = [body.read(item, kind.bits, loose=True) for item in items]
    pointers = locate(body, instruction, space, kind, count, place)
    for pointer, value in zip(pointers, values, strict=True):
        body.line(f"store {kind.llvm} {value}, ptr {pointer}, align 1")


def check_operands(instruction: Instruction, count: int) -> tuple[Operand, ...]:
    """Return the operands, of which there must be ``count``."""
    if len(instruction.operands) != count:
        raise instruction.error("unexpected operands")
    return instruction.operands


def locate(
    body: Body, instruction: Instruction, space: str, kind: Type, count: int, place: Operand
) -> list[str]:
    """Check an address; return pointers to the ``count`` elements that begin there."""
    if not isinstance(place, Address):
        raise instruction.error("expected an address")
    if space == "param":
        start = parameter_pointer(body, instruction, kind.bits // 8, place)
    else:
        if isinstance(place.base, Symbol) and space not in ("local", "shared"):
            raise instruction.error("a variable that is not there")
        # Addresses of a known space may be registers of 32 bits.
        register_bits = body.function.registers.get(getattr(place.base, "name", ""))
        bits = 32 if register_bits == 32 and space else 64
        base = body.resize(body.read(place.base, bits), bits, 64)
        address = body.op(f"add i64 {base}, {place.offset}")
        if body.checked:
            check_access(body, space, kind.bits // 8 * count, address)
        space_start = {"local": "%frame.address", "shared": "%context.shared"}.get(space, "0")
        host_address = body.op(f"add i64 {address}, {space_start}")
        start = body.op(f"inttoptr i64 {host_address} to ptr")
    pointers = [start]
    for i in range(1, count):
        pointers.append(body.op(f"getelementptr {kind.llvm}, ptr {start}, i64 {i}"))
    return pointers


def parameter_pointer(body: Body, instruction: Instruction, width: int, place: Address) -> str:
    """Return a pointer into a parameter; its bounds are checked here, not at run time."""
    parameters = {parameter.name: parameter for parameter in body.function.parameters}
    parameter = parameters.get(getattr(place.base, "name", ""))
    if parameter is None:
        raise instruction.error("expected the name of a parameter")
    if not 0 <= place.offset <= parameter.size - width or place.offset % width:
        raise instruction.error("out of bounds, or misaligned")
    return body.op(f'getelementptr i8, ptr %"{parameter.name}", i64 {place.offset}')


def check_access(body: Body, space: str, width: int, address: str) -> None:
    """Write the check of an access: a fault if it is out of bounds or misaligned.

    An access to global memory first tries the array that its site touched last, and calls ``find``
    of the runtime only if the address is outside of that array.
    """
    site = body.site("memory", space or "generic", width)
    aligned = body.op(f"icmp eq i64 {body.op(f'and i64 {address}, {width - 1}')}, 0")
    if space in ("local", "shared"):
        inside = body.op(f"call i1 @in_{space}(i64 {address}, i64 {width})")
        body.fault_unless(body.op(f"and i1 {aligned}, {inside}"), site, address)
        return
    slot = body.op(f"getelementptr i64, ptr %sites, i64 {2 * site}")
    start = body.op(f"load i64, ptr {slot}")
    rest = body.op(f"load i64, ptr {body.op(f'getelementptr i64, ptr {slot}, i64 1')}")
    # An unsigned comparison: an address before the array has a huge offset.
    same_array = body.op(f"icmp ule i64 {body.op(f'sub i64 {address}, {start}')}, {rest}")
    quick = body.name("quick")
    slow = body.name("slow")
    body.line(f"br i1 {body.op(f'and i1 {aligned}, {same_array}')}, label %{quick}, label %{slow}")
    body.label(slow)
    inside = body.op(f"call i1 @find(ptr %context, i64 {site}, i64 {address}, i64 {width})")
    body.fault_unless(inside, site, address)
    body.line(f"br label %{quick}")
    body.label(quick)
