"""One kernel -> LLVM IR: its instructions, jumps, and where its threads wait for each other.

A kernel is called for one thread, with the state in which that thread is: 0 at the beginning, else
it says at which barrier or vote it waits (one more than the site, and the kind of vote in the upper
half). It returns the next state, 0 when the thread has ended, or -1 after a fault.
"""

from __future__ import annotations

from tests.ptx.body import Body, Step
from tests.ptx.layout import Layout, loaded_context
from tests.ptx.memory import access
from tests.ptx.opcodes import compute
from tests.ptx.parse import Function, Immediate, Instruction, Label, Operand, Symbol, Variable

VOTES = {"vote.sync.any.pred": 1, "vote.sync.ballot.b32": 2, "bar.warp.sync": 3}
"""What the threads of a warp wait in, and its number in the upper half of a state."""


def write_function(layout: Layout, function: Function, checked: bool) -> str:
    """The LLVM IR of a kernel."""
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
        write_instruction(body, each)
        if body.step.target not in (None, *known):
            raise each.error(f"unknown label {body.step.target}")
    stops = write_stops(body, labels)
    lines = [line for step in body.steps for line in step.lines]
    head = f'define i64 @"{function.name}"(ptr %context, ptr %frame, i64 %state) {{'
    return "\n".join([head, *begun(body, stops), *lines, "  ret i64 0", "}", ""])


def write_instruction(body: Body, it: Instruction) -> None:
    opcode = it.opcode.split(".")[0]
    if it.guard is not None and opcode != "bra":
        raise it.error("only jumps have conditions here")
    if it.opcode in ("bra", "bra.uni"):
        jump(body, it)
    elif it.opcode == "ret" and not it.operands:
        body.line("ret i64 0")
        body.label(body.name("dead"))
        body.step.falls_through = False
    elif it.opcode == "bar.sync":
        if it.operands != (Immediate(0),):
            raise it.error("only barrier 0, for all threads of the block, is known")
        body.step.stop = body.site("barrier") + 1
    elif it.opcode in VOTES:
        vote(body, it)
    elif it.opcode == "cvta.to.global.u64":  # the generic addresses of global memory are its own
        to, source = it.operands
        body.write(to, body.read(source, 64), 64)
    elif opcode in ("ld", "st", "atom"):
        access(body, it)
    else:
        compute(body, it)


def jump(body: Body, it: Instruction) -> None:
    [target] = it.operands
    if not isinstance(target, Symbol):
        raise it.error("expected a label")
    body.step.target = target.name
    if it.guard is None:
        body.line(f'br label %"{target.name}"')
        body.label(body.name("dead"))
        body.step.falls_through = False
        return
    on = body.name("on")
    body.line(f'br i1 {body.read(it.guard, 1)}, label %"{target.name}", label %{on}')
    body.label(on)


def vote(body: Body, it: Instruction) -> None:
    """Wait for the threads of the warp that have not ended, and learn what they say, if anything.

    The vote returns, and goes on from here when all threads of the warp have voted.
    """
    *asked, members = it.operands
    whole = body.op(f"icmp eq i32 {body.read(members, 32)}, -1")
    body.fault_unless(whole, body.site("part"))
    says: Operand = asked[1] if asked else Immediate(0)
    place = body.op("getelementptr i64, ptr %votes, i64 %context.tid")
    body.line(f"store i64 {body.resize(body.read(says, 1), 1, 64)}, ptr {place}")
    body.step.stop = body.site("vote") + 1 + (VOTES[it.opcode] << 32)
    body.begin()
    if not asked:
        return
    if it.opcode == "vote.sync.ballot.b32":
        body.write(asked[0], body.resize("%context.ballot", 64, 32), 32)
    else:
        body.write(asked[0], body.op("icmp ne i64 %context.ballot, 0"), 1)


def live_after(steps: list[Step], labels: dict[str, int], number: dict[str, int]) -> list[int]:
    """For each step the registers that hold a value then that is read later, as bits."""

    def bits(names: set[str]) -> int:
        return sum(1 << number[name] for name in names)

    reads = [bits(step.reads) for step in steps]
    writes = [bits(step.writes) for step in steps]
    before = [0] * (len(steps) + 1)
    after = [0] * len(steps)
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(steps))):
            live = before[i + 1] if steps[i].falls_through else 0
            target = steps[i].target
            after[i] = live = live | (0 if target is None else before[labels[target]])
            live = live & ~writes[i] | reads[i]
            changed |= live != before[i]
            before[i] = live
    return after


def write_stops(body: Body, labels: dict[str, int]) -> list[int]:
    """Let each stop keep the live registers in the frame; returns the states at the stops."""
    stops = [step.stop for step in body.steps if step.stop is not None]
    if not stops:
        return []
    number = {name: i for i, name in enumerate(used_registers(body))}
    after = live_after(body.steps, labels, number)
    every = 0
    for step, live in zip(body.steps, after, strict=True):
        every |= live if step.stop is not None else 0
    kept = [name for name, i in number.items() if every >> i & 1]
    first = body.layout.spaces["local"].size
    place = {name: first + 8 * i for i, name in enumerate(kept)}
    body.layout.kept = max(body.layout.kept, 8 * len(kept))
    for step, live in zip(body.steps, after, strict=True):
        if step.stop is None:
            continue
        body.step = step
        names = [name for name in kept if live >> number[name] & 1]
        for keep in (True, False):
            for name in names:
                there = body.op(f"getelementptr i8, ptr %frame, i64 {place[name]}")
                source, to = (f'%"{name}"', there) if keep else (there, f'%"{name}"')
                llvm = f"i{body.function.registers[name]}"
                body.line(f"store {llvm} {body.op(f'load {llvm}, ptr {source}')}, ptr {to}")
            if keep:
                body.line(f"ret i64 {step.stop}")
                body.label(f"resume{step.stop}")
    return stops


def used_registers(body: Body) -> list[str]:
    return sorted(set().union(*(step.reads | step.writes for step in body.steps)))


def begun(body: Body, stops: list[int]) -> list[str]:
    """Load the context, and let a thread begin with garbage in all its memory."""
    function = body.function
    lines = loaded_context()
    lines.append("  %frame.address = ptrtoint ptr %frame to i64")
    lines.append("  %lane = and i64 %context.tid, 31")
    for name in ("sites", "params", "votes"):
        lines.append(f"  %{name} = inttoptr i64 %context.{name} to ptr")
    for each, offset in offsets(function.parameters):
        lines.append(f'  %"{each.name}" = getelementptr i8, ptr %params, i64 {offset}')
    used = {name: function.registers[name] for name in used_registers(body)}
    lines += [f'  %"{name}" = alloca i{bits}' for name, bits in used.items()]
    cases = " ".join(f"i64 {stop}, label %resume{stop}" for stop in stops)
    lines += [f"  switch i64 %state, label %begin [ {cases} ]", "begin:"]
    for width in (1, 8, 16, 32):
        lines.append(f"  %poison{width} = trunc i64 %context.poison to i{width}")
    lines.append("  %poison64 = add i64 %context.poison, 0")
    for name, bits in used.items():
        lines.append(f'  store i{bits} %poison{bits}, ptr %"{name}"')
    for each in function.local:
        place = body.layout.spaces["local"].places[function.name, each.name]
        at = body.name("local")
        lines.append(f"  %{at} = getelementptr i8, ptr %frame, i64 {place.offset}")
        fill = f"ptr %{at}, i8 %poison8, i64 {each.size}, i1 false"
        lines.append(f"  call void @llvm.memset.p0.i64({fill})")
    return lines


def offsets(parameters: list[Variable]) -> list[tuple[Variable, int]]:
    """Where the parameters of a kernel lie in the memory that a launch fills."""
    found = []
    end = 0
    for each in parameters:
        end += -end % each.align
        found.append((each, end))
        end += each.size
    return found
