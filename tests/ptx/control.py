"""Opcodes that jump, call, end and wait."""

from __future__ import annotations

from tests.ptx.body import Body
from tests.ptx.model import Immediate, Instruction, Operand, Symbol, Vector
from tests.ptx.opcodes import opcode
from tests.ptx.values import items_of


@opcode("bra")
def jump(body: Body, it: Instruction) -> None:
    [target] = it.operands
    if not isinstance(target, Symbol) or {*it.modifiers} - {"uni"}:
        raise it.error("expected a label")
    body.line(f'br label %"{target.name}"')
    body.step.targets.append(target.name)
    body.step.falls_through = False


@opcode("ret", "exit")
def end(body: Body, it: Instruction) -> None:
    if {*it.modifiers} - {"uni"} or it.operands:
        raise it.error("unknown modifiers or operands")
    if it.opcode == "exit" and not body.function.entry:
        raise it.error("only kernels may exit")
    body.line("ret i64 0")
    body.step.falls_through = False


@opcode("trap")
def trap(body: Body, it: Instruction) -> None:
    body.fault(body.site("trap"))
    body.step.falls_through = False


@opcode("bar", "barrier")
def barrier(body: Body, it: Instruction) -> None:
    """Wait for all threads of the block, or warp: return, and go on from here at the next call."""
    if it.modifiers == ("warp", "sync"):
        warp_barrier(body, it)
        return
    if it.modifiers not in (("sync",), ("cta", "sync"), ("sync", "aligned")):
        raise it.error("unknown modifiers")
    if it.operands != (Immediate(0),):
        raise it.error("only barrier 0, for all threads of the block, is known")
    if not body.function.entry:
        raise it.error("a barrier in a device function")
    body.step.stop = body.site("barrier") + 1


VOTES = {"any": 1, "all": 2, "uni": 3, "ballot": 4}
"""The ways in which a warp votes; a thread's state has the number in its upper half."""
BARRIER = 5
"""That of a warp's barrier, in its stead."""


@opcode("vote")
def vote(body: Body, it: Instruction) -> None:
    """Wait for the threads of the warp that have not ended, and learn what they say."""
    sync, way, kind = it.modifiers
    bits = {"pred": 1, "b32": 32}.get(kind)
    if sync != "sync" or way not in VOTES or bits != (32 if way == "ballot" else 1):
        raise it.error("unknown modifiers")
    to, says, members = it.operands
    cast(body, it, VOTES[way], body.read(says, 1), members)
    ballot, voters = body.context("ballot"), body.context("voters")
    if way == "ballot":
        body.write(to, body.resize(ballot, 64, 32), 32)
        return
    none = body.op(f"icmp eq i64 {ballot}, 0")
    every = body.op(f"icmp eq i64 {ballot}, {voters}")
    if way == "any":
        every = body.op(f"xor i1 {none}, true")
    elif way == "uni":
        every = body.op(f"or i1 {none}, {every}")
    body.write(to, every, 1)


def warp_barrier(body: Body, it: Instruction) -> None:
    """Wait for the threads of the warp that have not ended: a vote whose outcome nobody reads."""
    [members] = it.operands
    cast(body, it, BARRIER, "0", members)


def cast(body: Body, it: Instruction, way: int, says: str, members: Operand) -> None:
    """Vote, return, and go on from here when all threads of the warp have voted."""
    if not body.function.entry:
        raise it.error("a vote in a device function")
    whole = body.op(f"icmp eq i32 {body.read(members, 32)}, -1")
    body.fault_unless(whole, body.site("part"))
    place = body.op("getelementptr i64, ptr %votes, i64 %thread")
    body.line(f"store i64 {body.resize(says, 1, 64)}, ptr {place}")
    body.step.stop = body.site("vote") + 1 + (way << 32)
    body.begin()


@opcode("call")
def call(body: Body, it: Instruction) -> None:
    operands = list(it.operands)
    results = items_of(operands.pop(0)) if isinstance(operands[0], Vector) else ()
    name, *lists = operands
    functions = body.layout.functions
    if {*it.modifiers} - {"uni"} or not isinstance(name, Symbol) or len(lists) > 1:
        raise it.error("unknown modifiers or operands")
    if name.name not in functions or functions[name.name].entry:
        raise it.error(f"no device function {name.name}")
    called = functions[name.name]
    given = [*results, *(item for each in lists for item in items_of(each))]
    wanted = [*called.results, *called.parameters]
    sizes = {each.name: each.size for each in body.function.variables if each.space == "param"}
    for one, other in zip(given, wanted, strict=True):
        if not isinstance(one, Symbol) or sizes.get(one.name) != other.size:
            raise it.error(f"{one} does not fit the parameter {other.name}")
    arguments = "".join(f', ptr %"{one.name}"' for one in given if isinstance(one, Symbol))
    status = body.op(f'call i64 @"{called.name}"(ptr %context, ptr %frame{arguments})')
    body.calls.add(called.name)
    good, bad = body.name("good"), body.name("bad")
    body.line(f"br i1 {body.op(f'icmp eq i64 {status}, 0')}, label %{good}, label %{bad}")
    body.label(bad)
    body.line("ret i64 -1")
    body.label(good)
