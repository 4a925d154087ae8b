"""What a shell may offer while an argument or the value of an option is typed."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from gpusudoku import collection
from gpusudoku.search.techniques import GROUPS, TECHNIQUES


def complete_boards(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the boards of the program, with what they are, after an ``@``; else files."""
    if not incomplete.startswith("@"):
        return complete_files(ctx, param, incomplete)
    return [
        CompletionItem(f"@{entry.name}", help=f"{entry.box}, {entry.note}")
        for entry in collection.entries()
        if entry.name.startswith(incomplete[1:])
    ]


def complete_files(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer files, which the shell looks for itself."""
    return [CompletionItem(incomplete, type="file")]


def complete_boxes(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the box shapes of the boards that come with the program."""
    boxes = sorted({entry.box for entry in collection.entries()}, key=lambda box: (box.n, box))
    return [CompletionItem(str(box)) for box in boxes if str(box).startswith(incomplete)]


def complete_techniques(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer techniques and groups after those of the list that are there already."""
    before, comma, last = incomplete.rpartition(",")
    known = [name for name in [*TECHNIQUES, *GROUPS] if not before or name != "none"]
    return [
        CompletionItem(before + comma + name)
        for name in known
        if name.startswith(last) and name not in before.split(",")
    ]
