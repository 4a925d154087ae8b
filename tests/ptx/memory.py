"""Opcodes that load, store and change memory at once, and the check of every access."""

from __future__ import annotations

import re

from tests.ptx.body import Body
from tests.ptx.parse import TYPES, Address, Instruction, Operand, Symbol, Type, Vector

OPCODE = re.compile(
    r"(?:ld|st)(?:\.(?P<space>global|shared|local|param))?(?:\.v(?P<count>2|4))?\.(?P<type>[sub]\d+)"
    r"|atom(?:\.relaxed\.sys)?\.(?P<at>global|shared)"
    r"\.(?:add\.(?P<sum>u32|u64|s32)|or\.(?P<union>b64))"
)
"""The opcodes that are known; a generic address is one of global memory."""


def access(body: Body, it: Instruction) -> None:
    """Write a load, a store, an atomic addition or an atomic bitwise or."""
    found = OPCODE.fullmatch(it.opcode)
    if found is None:
        raise it.error(f"unknown opcode {it.opcode}")
    space = found["space"] or found["at"] or ""
    count = int(found["count"] or 1)
    kind = TYPES[found["type"] or found["sum"] or found["union"]]
    if found["at"]:
        operation = "add" if found["sum"] else "or"
        to, place, source = taken(it, 3)
        value = body.read(source, kind.bits)
        [pointer] = locate(body, it, space, kind, 1, place)
        old = body.op(f"atomicrmw {operation} ptr {pointer}, {kind.llvm} {value} seq_cst")
        body.write(to, old, kind.bits)
        return
    first, second = taken(it, 2)
    place, register = (second, first) if it.opcode.startswith("ld") else (first, second)
    items = register.items if isinstance(register, Vector) else (register,)
    if len(items) != count:
        raise it.error("unexpected operands")
    if it.opcode.startswith("ld"):
        pointers = locate(body, it, space, kind, count, place)
        values = [body.op(f"load {kind.llvm}, ptr {pointer}, align 1") for pointer in pointers]
        for item, value in zip(items, values, strict=True):
            body.write(item, value, kind.bits, kind.signed, loose=True)
        return
    values = [body.read(item, kind.bits, loose=True) for item in items]
    for pointer, value in zip(locate(body, it, space, kind, count, place), values, strict=True):
        body.line(f"store {kind.llvm} {value}, ptr {pointer}, align 1")


def taken(it: Instruction, number: int) -> tuple[Operand, ...]:
    if len(it.operands) != number:
        raise it.error("unexpected operands")
    return it.operands


def locate(
    body: Body, it: Instruction, space: str, kind: Type, count: int, place: Operand
) -> list[str]:
    """Pointers to the elements at an address, once it has been checked."""
    if not isinstance(place, Address):
        raise it.error("expected an address")
    if space == "param":
        first = parameter(body, it, kind.bits // 8, place)
    else:
        if isinstance(place.base, Symbol) and space not in ("local", "shared"):
            raise it.error("a variable that is not there")
        has = body.function.registers.get(getattr(place.base, "name", ""))
        bits = 32 if has == 32 and space else 64
        base = body.resize(body.read(place.base, bits), bits, 64)
        address = body.op(f"add i64 {base}, {place.offset}")
        if body.checked:
            check(body, space, kind.bits // 8 * count, address)
        window = {"local": "%frame.address", "shared": "%context.shared"}.get(space, "0")
        first = body.op(f"inttoptr i64 {body.op(f'add i64 {address}, {window}')} to ptr")
    return [
        first if i == 0 else body.op(f"getelementptr {kind.llvm}, ptr {first}, i64 {i}")
        for i in range(count)
    ]


def parameter(body: Body, it: Instruction, width: int, place: Address) -> str:
    """A pointer into a parameter; it is known here and now whether it is inside."""
    known = {each.name: each for each in body.function.parameters}
    variable = known.get(getattr(place.base, "name", ""))
    if variable is None:
        raise it.error("expected the name of a parameter")
    if not 0 <= place.offset <= variable.size - width or place.offset % width:
        raise it.error("out of bounds, or misaligned")
    return body.op(f'getelementptr i8, ptr %"{variable.name}", i64 {place.offset}')


def check(body: Body, space: str, width: int, address: str) -> None:
    """Let an access that is out of bounds or misaligned be a fault.

    For global memory every site remembers the array that it touched last.
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
    same = body.op(f"icmp ule i64 {body.op(f'sub i64 {address}, {start}')}, {rest}")
    quick = body.name("quick")
    slow = body.name("slow")
    body.line(f"br i1 {body.op(f'and i1 {aligned}, {same}')}, label %{quick}, label %{slow}")
    body.label(slow)
    found = body.op(f"call i1 @find(ptr %context, i64 {site}, i64 {address}, i64 {width})")
    body.fault_unless(found, site, address)
    body.line(f"br label %{quick}")
    body.label(quick)
