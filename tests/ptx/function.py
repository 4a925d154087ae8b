"""Translate a kernel to LLVM IR: its instructions, jumps, barriers and votes.

The native code of a kernel runs one thread up to its next stop, that is, a barrier or a vote at
which it waits for other threads. It gets the state of the thread and returns the next one:

    bits 63..32          31..0
    kind of vote, or 0 | 1 + site of the stop

The state is 0 at the beginning. The result is 0 if the thread has ended, and -1 after a fault.
"""

from __future__ import annotations

from tests.ptx.body import Body, Step
from tests.ptx.layout import Layout, load_context
from tests.ptx.memory import access
from tests.ptx.opcodes import compute
from tests.ptx.parse import Function, Immediate, Instruction, Label, Operand, Symbol, Variable

VOTES = {"vote.sync.any.pred": 1, "vote.sync.ballot.b32": 2, "bar.warp.sync": 3}
"""The instructions at which the threads of a warp wait, and their kind in a state."""


def write_function(layout: Layout, function: Function, checked: bool) -> str:
    """Return the LLVM IR of a kernel."""
    body = Body(layout, function, checked)
    label_names = {statement.name for statement in function.body if isinstance(statement, Label)}
    label_steps: dict[str, int] = {}
    for statement in function.body:
        body.begin()
        if isinstance(statement, Label):
            label_steps[statement.name] = len(body.steps) - 1
            # A block of LLVM must end with a jump, here to the next one.
            body.line(f'br label %"{statement.name}"')
            body.label(f'"{statement.name}"')
            continue
        body.instruction = statement
        write_instruction(body, statement)
        if body.step.target not in (None, *label_names):
            raise statement.error(f"unknown label {body.step.target}")
    stops = write_stops(body, label_steps)
    lines = [line for step in body.steps for line in step.lines]
    head = f'define i64 @"{function.name}"(ptr %context, ptr %frame, i64 %state) {{'
    return "\n".join([head, *write_entry(body, stops), *lines, "  ret i64 0", "}", ""])


def write_instruction(body: Body, instruction: Instruction) -> None:
    """Write one instruction."""
    opcode = instruction.opcode.split(".")[0]
    if instruction.guard is not None and opcode != "bra":
        raise instruction.error("only jumps have conditions here")
    if instruction.opcode in ("bra", "bra.uni"):
        jump(body, instruction)
    elif instruction.opcode == "ret" and not instruction.operands:
        body.line("ret i64 0")
        body.label(body.name("dead"))  # LLVM needs a label after the end of a block
        body.step.falls_through = False
    elif instruction.opcode == "bar.sync":
        if instruction.operands != (Immediate(0),):
            raise instruction.error("only barrier 0, for all threads of the block, is known")
        body.step.stop = body.site("barrier") + 1
    elif instruction.opcode in VOTES:
        vote(body, instruction)
    elif (
        instruction.opcode == "cvta.to.global.u64"
    ):  # a generic address of global memory is the same
        target, source = instruction.operands
        body.write(target, body.read(source, 64), 64)
    elif opcode in ("ld", "st", "atom"):
        access(body, instruction)
    else:
        compute(body, instruction)


def jump(body: Body, instruction: Instruction) -> None:
    """Write a jump; a guard makes it conditional."""
    [target] = instruction.operands
    if not isinstance(target, Symbol):
        raise instruction.error("expected a label")
    body.step.target = target.name
    if instruction.guard is None:
        body.line(f'br label %"{target.name}"')
        body.label(body.name("dead"))
        body.step.falls_through = False
        return
    not_taken = body.name("on")
    condition = body.read(instruction.guard, 1)
    body.line(f'br i1 {condition}, label %"{target.name}", label %{not_taken}')
    body.label(not_taken)


def vote(body: Body, instruction: Instruction) -> None:
    """Wait for the threads of the warp that have not ended, and get their votes, if any.

    The native code returns at the vote, and resumes here when all threads of the warp have voted.
    """
    *vote_operands, members = instruction.operands
    is_whole_warp = body.op(f"icmp eq i32 {body.read(members, 32)}, -1")
    body.fault_unless(is_whole_warp, body.site("part"))
    own_vote: Operand = vote_operands[1] if vote_operands else Immediate(0)
    place = body.op("getelementptr i64, ptr %votes, i64 %context.tid")
    body.line(f"store i64 {body.resize(body.read(own_vote, 1), 1, 64)}, ptr {place}")
    body.step.stop = body.site("vote") + 1 + (VOTES[instruction.opcode] << 32)
    body.begin()
    if not vote_operands:
        return
    target = vote_operands[0]
    if instruction.opcode == "vote.sync.ballot.b32":
        body.write(target, body.resize("%context.ballot", 64, 32), 32)
    else:
        body.write(target, body.op("icmp ne i64 %context.ballot, 0"), 1)


def live_after(steps: list[Step], label_steps: dict[str, int], bit: dict[str, int]) -> list[int]:
    """Return a mask for each step: the registers with a value that is read after the step.

    ``bit`` is the bit of each register. Backward data flow, repeated until nothing changes.
    """

    def mask_of(names: set[str]) -> int:
        return sum(1 << bit[name] for name in names)

    reads = [mask_of(step.reads) for step in steps]
    writes = [mask_of(step.writes) for step in steps]
    live_before = [0] * (len(steps) + 1)
    live_after = [0] * len(steps)
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(steps))):
            live = live_before[i + 1] if steps[i].falls_through else 0
            target = steps[i].target
            if target is not None:
                live |= live_before[label_steps[target]]
            live_after[i] = live
            live = live & ~writes[i] | reads[i]
            changed |= live != live_before[i]
            live_before[i] = live
    return live_after


def write_stops(body: Body, label_steps: dict[str, int]) -> list[int]:
    """Make each stop save the live registers in the frame; return the states at the stops.

    The saved registers follow the local variables in the frame, 8 bytes each.
    """
    stops = [step.stop for step in body.steps if step.stop is not None]
    if not stops:
        return []
    bit = {name: i for i, name in enumerate(used_registers(body))}
    live_masks = live_after(body.steps, label_steps, bit)

    live_at_stops = 0
    for step, live in zip(body.steps, live_masks, strict=True):
        if step.stop is not None:
            live_at_stops |= live
    saved = [name for name, i in bit.items() if live_at_stops >> i & 1]
    start = body.layout.spaces["local"].size
    frame_offset = {name: start + 8 * i for i, name in enumerate(saved)}
    body.layout.saved_bytes = max(body.layout.saved_bytes, 8 * len(saved))

    for step, live in zip(body.steps, live_masks, strict=True):
        if step.stop is None:
            continue
        body.step = step
        names = [name for name in saved if live >> bit[name] & 1]
        for name in names:
            place = body.op(f"getelementptr i8, ptr %frame, i64 {frame_offset[name]}")
            copy_register(body, name, source=f'%"{name}"', target=place)
        body.line(f"ret i64 {step.stop}")
        body.label(f"resume{step.stop}")
        for name in names:
            place = body.op(f"getelementptr i8, ptr %frame, i64 {frame_offset[name]}")
            copy_register(body, name, source=place, target=f'%"{name}"')
    return stops


def copy_register(body: Body, name: str, source: str, target: str) -> None:
    """Copy the value of a register from one pointer to another."""
    llvm = f"i{body.function.registers[name]}"
    value = body.op(f"load {llvm}, ptr {source}")
    body.line(f"store {llvm} {value}, ptr {target}")


def used_registers(body: Body) -> list[str]:
    return sorted(set().union(*(step.reads | step.writes for step in body.steps)))


def write_entry(body: Body, stops: list[int]) -> list[str]:
    """Return the first lines of a kernel: they load the context and jump to the last stop.

    At the beginning, all registers and local variables of a thread are filled with garbage.
    """
    function = body.function
    lines = load_context()
    lines.append("  %frame.address = ptrtoint ptr %frame to i64")
    lines.append("  %lane = and i64 %context.tid, 31")
    for name in ("sites", "params", "votes"):
        lines.append(f"  %{name} = inttoptr i64 %context.{name} to ptr")
    for parameter, offset in offsets(function.parameters):
        lines.append(f'  %"{parameter.name}" = getelementptr i8, ptr %params, i64 {offset}')
    used = {name: function.registers[name] for name in used_registers(body)}
    lines += [f'  %"{name}" = alloca i{bits}' for name, bits in used.items()]
    cases = " ".join(f"i64 {stop}, label %resume{stop}" for stop in stops)
    lines += [f"  switch i64 %state, label %begin [ {cases} ]", "begin:"]
    for width in (1, 8, 16, 32):
        lines.append(f"  %poison{width} = trunc i64 %context.poison to i{width}")
    lines.append("  %poison64 = add i64 %context.poison, 0")
    for name, bits in used.items():
        lines.append(f'  store i{bits} %poison{bits}, ptr %"{name}"')
    for variable in function.local:
        place = body.layout.spaces["local"].places[function.name, variable.name]
        pointer = body.name("local")
        lines.append(f"  %{pointer} = getelementptr i8, ptr %frame, i64 {place.offset}")
        arguments = f"ptr %{pointer}, i8 %poison8, i64 {variable.size}, i1 false"
        lines.append(f"  call void @llvm.memset.p0.i64({arguments})")
    return lines


def offsets(parameters: list[Variable]) -> list[tuple[Variable, int]]:
    """Return the parameters of a kernel with their offsets in the memory that a launch fills."""
    parameter_offsets = []
    end = 0
    for parameter in parameters:
        end += -end % parameter.align
        parameter_offsets.append((parameter, end))
        end += parameter.size
    return parameter_offsets
