"""One function of a module -> LLVM IR.

A kernel is called for one thread, with the state in which that thread is: 0 at the beginning, else
it says at which barrier or vote it waits (one more than the site, and how it votes in the upper
half). It returns the next state, 0 when the thread has ended, or -1 after a fault.
"""

from __future__ import annotations

from tests.ptx import bits, control, integers, memory, values  # noqa: F401 - they fill OPCODES
from tests.ptx.body import Body, contexts
from tests.ptx.layout import Layout
from tests.ptx.liveness import live_after, numbered
from tests.ptx.model import Function, Instruction, Label, PtxError, Variable
from tests.ptx.opcodes import write_instruction

WAITING = {"bar", "barrier", "vote"}
"""Opcodes at which a thread waits for others."""


def write_function(layout: Layout, function: Function, checked: bool) -> tuple[str, set[str]]:
    """The LLVM IR of a function, and the names of those that it calls."""
    body = Body(layout, function, checked)
    labels: dict[str, int] = {}
    known = {each.name for each in function.body if isinstance(each, Label)}
    for each in function.body:
        body.begin()
        if isinstance(each, Label):
            labels[each.name] = len(body.steps) - 1
            body.line(f'br label %"{each.name}"')
            body.label(f'"{each.name}"')
            continue
        body.instruction = each
        write_guarded(body, each)
        for target in body.step.targets:
            if target not in known:
                raise each.error(f"unknown label {target}")
    stops = write_stops(body, labels)
    head = [*header(function), *contexts(), *derived(), *variables(body, stops)]
    lines = [line for step in body.steps for line in step.lines]
    text = "\n".join([*head, *lines, "  ret i64 0", "}", ""])
    return text, body.calls


def write_guarded(body: Body, it: Instruction) -> None:
    """Write an instruction, and the jump around it if it has a guard."""
    if it.guard is None:
        write_instruction(body, it)
        if not body.step.falls_through:
            body.label(body.name("dead"))
        return
    holds = body.read(it.guard, 1)
    do, skip = body.name("do"), body.name("skip")
    body.line(f"br i1 {holds}, label %{do}, label %{skip}")
    body.label(do)
    write_instruction(body, it)
    if it.opcode in WAITING:
        raise it.error("a barrier or a vote under a condition")
    if body.step.falls_through:
        body.line(f"br label %{skip}")
    body.label(skip)
    body.step.falls_through = True
    body.step.reads |= body.step.writes  # what was there before may stay


def write_stops(body: Body, labels: dict[str, int]) -> list[int]:
    """Let each stop keep the live registers in the frame; returns the states at the stops."""
    stops = [step.stop for step in body.steps if step.stop is not None]
    if not stops:
        return []
    number, after = numbered(body.steps), live_after(body.steps, labels)
    every = 0
    for step, live in zip(body.steps, after, strict=True):
        every |= live if step.stop is not None else 0
    kept = [name for name, i in number.items() if every >> i & 1]
    first = body.layout.spaces["local"].size
    place = {name: first + 8 * i for i, name in enumerate(kept)}
    body.layout.kept = max(body.layout.kept, 8 * len(kept))
    for step, live in zip(body.steps, after, strict=True):
        body.step = step
        if step.stop is None:
            continue
        names = [name for name in kept if live >> number[name] & 1]
        for name in names:
            copy(body, name, f'%"{name}"', f"%frame, i64 {place[name]}", keep=True)
        body.line(f"ret i64 {step.stop}")
        body.label(f"resume{step.stop}")
        for name in names:
            copy(body, name, f'%"{name}"', f"%frame, i64 {place[name]}", keep=False)
    return stops


def copy(body: Body, name: str, register: str, place: str, keep: bool) -> None:
    """Copy a register into the frame, or back."""
    llvm = body.function.registers[name].llvm
    there = body.op(f"getelementptr i8, ptr {place}")
    source, target = (register, there) if keep else (there, register)
    body.line(f"store {llvm} {body.op(f'load {llvm}, ptr {source}')}, ptr {target}")


def header(function: Function) -> list[str]:
    if function.entry:
        return [f'define i64 @"{function.name}"(ptr %context, ptr %frame, i64 %state) {{']
    pointers = [f'ptr %"{each.name}"' for each in (*function.results, *function.parameters)]
    arguments = ", ".join(["ptr %context", "ptr %frame", *pointers])
    return [f'define internal i64 @"{function.name}"({arguments}) {{']


def derived() -> list[str]:
    """What the body takes for granted besides the words of the context."""
    return [
        "  %frame.address = ptrtoint ptr %frame to i64",
        "  %sites = inttoptr i64 %context.sites to ptr",
        "  %params = inttoptr i64 %context.params to ptr",
        "  %votes = inttoptr i64 %context.votes to ptr",
        "  %row = mul i64 %context.tid.z, %context.ntid.y",
        "  %rows = add i64 %row, %context.tid.y",
        "  %before = mul i64 %rows, %context.ntid.x",
        "  %thread = add i64 %before, %context.tid.x",
        "  %lane = and i64 %thread, 31",
    ]


def variables(body: Body, stops: list[int]) -> list[str]:
    """Make registers and parameters, and let a thread begin with garbage in all its memory."""
    function, lines = body.function, []
    if function.entry:
        for each, offset in offsets(function.parameters):
            lines.append(f'  %"{each.name}" = getelementptr i8, ptr %params, i64 {offset}')
    for each in function.variables:
        if each.space == "param":
            lines.append(f'  %"{each.name}" = alloca [{each.size} x i8], align 16')
    used = {name: function.registers[name].llvm for name in numbered(body.steps)}
    lines += [f'  %"{name}" = alloca {llvm}' for name, llvm in used.items()]
    if function.entry:
        cases = " ".join(f"i64 {stop}, label %resume{stop}" for stop in stops)
        lines += [f"  switch i64 %state, label %begin [ {cases} ]", "begin:"]
    for width in (1, 8, 16, 32):
        lines.append(f"  %poison{width} = trunc i64 %context.poison to i{width}")
    lines.append("  %poison64 = add i64 %context.poison, 0")
    for name, llvm in used.items():
        lines.append(f'  store {llvm} %poison{llvm[1:]}, ptr %"{name}"')
    for each in function.variables:
        if each.space == "local":
            place = body.layout.spaces["local"].places[function.name, each.name]
            at = body.name("local")
            lines.append(f"  %{at} = getelementptr i8, ptr %frame, i64 {place.offset}")
            fill = f"ptr %{at}, i8 %poison8, i64 {each.size}, i1 false"
            lines.append(f"  call void @llvm.memset.p0.i64({fill})")
    return lines


def offsets(parameters: list[Variable]) -> list[tuple[Variable, int]]:
    """Where the parameters of a kernel lie in the memory that a launch fills."""
    found, end = [], 0
    for each in parameters:
        if each.size is None:
            raise PtxError(f"{each.name} has no size")
        end += -end % each.align
        found.append((each, end))
        end += each.size
    return found
