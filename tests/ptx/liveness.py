"""Which registers hold a value that is read later: those are kept while a thread waits."""

from __future__ import annotations

from tests.ptx.body import Step


def live_after(steps: list[Step], labels: dict[str, int]) -> list[int]:
    """For each step the registers that are live after it, as bits numbered by ``numbered``."""
    number = numbered(steps)

    def bits(names: set[str]) -> int:
        return sum(1 << number[name] for name in names)

    reads, writes = [bits(step.reads) for step in steps], [bits(step.writes) for step in steps]
    before, after = [0] * (len(steps) + 1), [0] * len(steps)
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(steps))):
            live = before[i + 1] if steps[i].falls_through else 0
            for target in steps[i].targets:
                live |= before[labels[target]]
            after[i] = live
            live = live & ~writes[i] | reads[i]
            changed |= live != before[i]
            before[i] = live
    return after


def numbered(steps: list[Step]) -> dict[str, int]:
    """Number all registers that are used."""
    names = sorted(set().union(*(step.reads | step.writes for step in steps)))
    return {name: index for index, name in enumerate(names)}
