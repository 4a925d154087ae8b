"""Opcodes that load, store and change memory, and the check of every access."""

from __future__ import annotations

from dataclasses import dataclass

from tests.ptx.body import Body
from tests.ptx.model import TYPES, Address, Instruction, Register, Symbol, Type
from tests.ptx.opcodes import opcode
from tests.ptx.values import generic, items_of

SPACES = {"global", "shared", "local", "const", "param"}
ORDERED = {"volatile", "relaxed", "acquire", "release", "acq_rel"}
HINTS = {"weak", "sys", "gpu", "cta", "ca", "cg", "cs", "lu", "cv", "nc", "wb", "wt"}
"""They say who sees it when, and how it is cached: here all see it at once."""
COUNTS = {"v2": 2, "v4": 4}

CHANGES = {
    "add": "add",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "exch": "xchg",
    "min": "min",
    "max": "max",
    "inc": "uinc_wrap",
    "dec": "udec_wrap",
}
"""LLVM's name for every atomic change."""


@dataclass(frozen=True)
class Access:
    """What the modifiers of a load, a store or an atomic change say."""

    space: str
    type: Type
    count: int
    ordered: bool
    others: tuple[str, ...]

    @classmethod
    def of(cls, it: Instruction) -> Access:
        *modifiers, last = (name.removesuffix("::cta") for name in it.modifiers or ("",))
        if last not in TYPES or last == "pred":
            raise it.error(f"unknown type .{last}")
        spaces = [name for name in modifiers if name in SPACES]
        counts = [COUNTS[name] for name in modifiers if name in COUNTS]
        others = set(modifiers) - SPACES - HINTS - ORDERED - COUNTS.keys()
        if len(spaces) > 1 or len(counts) > 1:
            raise it.error("unknown modifiers")
        ordered = not ORDERED.isdisjoint(modifiers)
        space, count = (*spaces, "")[0], (*counts, 1)[0]
        return cls(space, TYPES[last], count, ordered, tuple(sorted(others)))

    @property
    def width(self) -> int:
        """Bytes of the access, of which its address is a multiple."""
        return self.type.bytes * self.count


@opcode("ld")
def load(body: Body, it: Instruction) -> None:
    access, (to, place) = Access.of(it), it.operands
    pointers, kind = locate(body, it, access, place), access.type
    values = []
    for pointer in pointers:
        if access.ordered:
            load = f"load atomic {kind.llvm}, ptr {pointer} seq_cst, align {kind.bytes}"
        else:
            load = f"load {kind.llvm}, ptr {pointer}, align 1"
        values.append(body.op(load))
    targets = items_of(to)
    if access.others or len(targets) != len(values):
        raise it.error("unknown modifiers or operands")
    for target, value in zip(targets, values, strict=True):
        if target != Symbol("_"):
            body.write(target, value, kind.bits, kind.signed, loose=True)


@opcode("st")
def store(body: Body, it: Instruction) -> None:
    access, (place, source) = Access.of(it), it.operands
    if access.space == "const":
        raise it.error("constants cannot be written")
    kind, sources = access.type, items_of(source)
    if access.others or len(sources) != access.count:
        raise it.error("unknown modifiers or operands")
    values = [body.read(each, kind.bits, loose=True) for each in sources]
    for pointer, value in zip(locate(body, it, access, place), values, strict=True):
        if access.ordered:
            body.line(
                f"store atomic {kind.llvm} {value}, ptr {pointer} seq_cst, align {kind.bytes}"
            )
        else:
            body.line(f"store {kind.llvm} {value}, ptr {pointer}, align 1")


@opcode("atom", "red")
def change(body: Body, it: Instruction) -> None:
    access = Access.of(it)
    kind, (how, *more) = access.type, access.others or ("",)
    if more or access.count != 1 or kind.bits < 32 or access.space not in ("", "global", "shared"):
        raise it.error("unknown modifiers")
    result, operands = None, it.operands
    if it.opcode == "atom":
        result, *operands = it.operands
    place, *sources = operands
    values = [body.read(source, kind.bits) for source in sources]
    if len(values) != (2 if how == "cas" else 1):
        raise it.error("unexpected operands")
    [pointer] = locate(body, it, access, place)
    if how == "cas":
        both = f"{kind.llvm} {values[0]}, {kind.llvm} {values[1]} seq_cst seq_cst"
        pair = body.op(f"cmpxchg ptr {pointer}, {both}")
        old = body.op(f"extractvalue {{ {kind.llvm}, i1 }} {pair}, 0")
    elif how in CHANGES:
        name = CHANGES[how]
        if how in ("min", "max") and not kind.signed:
            name = f"u{name}"
        old = body.op(f"atomicrmw {name} ptr {pointer}, {kind.llvm} {values[0]} seq_cst")
    else:
        raise it.error(f"unknown modifier .{how}")
    if result is not None and result != Symbol("_"):
        body.write(result, old, kind.bits)


@opcode("membar", "fence")
def fence(body: Body, it: Instruction) -> None:
    if {*it.modifiers} - {"gl", "sys", "gpu", "cta", "sc", "acq_rel"}:
        raise it.error("unknown modifiers")
    body.line("fence seq_cst")


def locate(body: Body, it: Instruction, access: Access, place: object) -> list[str]:
    """Pointers to the elements at an address, once it has been checked."""
    if not isinstance(place, Address):
        raise it.error("expected an address")
    if access.space == "param":
        first = parameter(body, it, access, place)
    else:
        if isinstance(place.base, Register):
            has = body.function.registers.get(place.base.name)
            bits = 32 if has is not None and has.bits == 32 and access.space else 64
            base = body.resize(body.read(place.base, bits), bits, 64)
        else:
            base = body.read(place.base, 64)
        address = body.op(f"add i64 {base}, {place.offset}")
        if isinstance(place.base, Symbol) and not access.space:
            raise it.error("a variable has no generic address")
        if body.checked:
            check(body, access, address)
        first = body.op(f"inttoptr i64 {generic(body, access.space, address)} to ptr")
    return [
        first if i == 0 else body.op(f"getelementptr {access.type.llvm}, ptr {first}, i64 {i}")
        for i in range(access.count)
    ]


def parameter(body: Body, it: Instruction, access: Access, place: Address) -> str:
    """A pointer into a parameter; it is known here and now whether it is inside."""
    known = {
        each.name: each
        for each in (*body.function.parameters, *body.function.results, *body.function.variables)
        if each.space == "param"
    }
    if not isinstance(place.base, Symbol) or place.base.name not in known:
        raise it.error("expected the name of a parameter")
    variable = known[place.base.name]
    assert variable.size is not None
    if not 0 <= place.offset <= variable.size - access.width or place.offset % access.width:
        raise it.error("out of bounds, or misaligned")
    return body.op(f'getelementptr i8, ptr %"{variable.name}", i64 {place.offset}')


def check(body: Body, access: Access, address: str) -> None:
    """Let an access that is out of bounds or misaligned be a fault.

    For global memory every site remembers the array that it touched last.
    """
    width = access.width
    site = body.site("memory", access.space or "generic", width)
    low = body.op(f"and i64 {address}, {width - 1}")
    aligned = body.op(f"icmp eq i64 {low}, 0")
    if access.space in ("local", "shared"):
        inside = in_window(body, access.space, address, width)
        body.fault_unless(body.op(f"and i1 {aligned}, {inside}"), site, address)
        return
    slot = body.op(f"getelementptr i64, ptr %sites, i64 {2 * site}")
    start = body.op(f"load i64, ptr {slot}")
    rest = body.op(f"load i64, ptr {body.op(f'getelementptr i64, ptr {slot}, i64 1')}")
    same = body.op(f"icmp ule i64 {body.op(f'sub i64 {address}, {start}')}, {rest}")
    quick, slow = body.name("quick"), body.name("slow")
    body.line(f"br i1 {body.op(f'and i1 {aligned}, {same}')}, label %{quick}, label %{slow}")
    body.label(slow)
    found = body.op(f"call i1 @find(ptr %context, i64 {site}, i64 {address}, i64 {width})")
    if not access.space:
        for space in ("local", "shared"):
            own = generic(body, space, address, back=True)
            inside = in_window(body, space, own, width)
            found = body.op(f"or i1 {found}, {body.op(f'and i1 {aligned}, {inside}')}")
    body.fault_unless(found, site, address)
    body.line(f"br label %{quick}")
    body.label(quick)


def in_window(body: Body, space: str, address: str, width: int) -> str:
    """Whether an access is inside a variable of local or shared memory."""
    return body.op(f"call i1 @in_{space}(ptr %context, i64 {address}, i64 {width})")
