"""Completion of a shell: the words that may come next, and ``gpusudoku completion``, its script."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import CompletionItem, FishComplete, ZshComplete

from gpusudoku import collection
from gpusudoku.cli.usage import Choice
from gpusudoku.errors import InputError
from gpusudoku.pipeline.messages import note
from gpusudoku.search.techniques import GROUPS, TECHNIQUES

Offers = list[CompletionItem]
SHELLS = ("bash", "zsh", "fish")

MARK = "# Completion of gpusudoku, written by: gpusudoku completion\n"
"""A line of every script: a file without it is not ours to overwrite."""

# click's script for bash sends COMP_WORDS, which bash cuts at each @ and =. As in fish, the program
# gets the line, and the word after its last blank. Readline replaces $2 only, so what stands before
# it in that word is taken off every answer.
BASH = """\
_gpusudoku() {
    local line=${COMP_LINE:0:COMP_POINT} type value answers
    local word=${line##*[[:space:]]}
    answers=$(_GPUSUDOKU_COMPLETE=fish_complete COMP_WORDS=$line COMP_CWORD=$word "$1" 2>/dev/null)
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            plain) value=${value%%$'\\t'*}; COMPREPLY+=("${value#"${word%"$2"}"}") ;;
            file) COMPREPLY=(); compopt -o default ;;
        esac
    done <<< "$answers"
}
complete -o nosort -F _gpusudoku gpusudoku
"""

CHANGES = {
    # Complete values and files in --option=VALUE, and load compinit where .zshrc does not.
    "zsh": {
        '"$key"': '"${(M)words[CURRENT]#--*=}$key"',
        "_path_files -f": "compset -P '--*='; _path_files -f",
        " compdef ": " (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }\n"
        "    compdef ",
    },
    # Complete values in --option=VALUE, and values with commas.
    "fish": {
        "echo $": "echo (string replace -r '^(--[a-z-]+=)?.*' '$1' -- (commandline -ct))$",
        'split ","': 'split --max 1 ","',
    },
}
"""Changes to click's scripts: for each shell texts, and their replacements."""


def complete_boards(ctx: click.Context, param: click.Parameter, incomplete: str) -> Offers:
    """Offer the boards of the program, with their notes, after an ``@``; else files."""
    if not incomplete.startswith("@"):
        return complete_files(ctx, param, incomplete)
    return [
        CompletionItem(f"@{entry.name}", help=f"{entry.box}, {entry.note}")
        for entry in collection.entries()
        if entry.name.startswith(incomplete[1:])
    ]


def complete_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> Offers:
    """Offer files, which the shell looks for itself."""
    return [CompletionItem(incomplete, type="file")]


def complete_boxes(ctx: click.Context, param: click.Parameter, incomplete: str) -> Offers:
    """Offer the box shapes of the boards that come with the program."""
    boxes = sorted({entry.box for entry in collection.entries()}, key=lambda box: (box.n, box))
    return [CompletionItem(str(box)) for box in boxes if str(box).startswith(incomplete)]


def complete_techniques(ctx: click.Context, param: click.Parameter, incomplete: str) -> Offers:
    """Offer techniques and groups after those of the list that are there already."""
    before, comma, last = incomplete.rpartition(",")
    known = [name for name in [*TECHNIQUES, *GROUPS] if not before or name != "none"]
    return [
        CompletionItem(before + comma + name)
        for name in known
        if name.startswith(last) and name not in before.split(",")
    ]


@click.command()
@click.argument("shell", required=False, type=Choice(SHELLS), metavar="[SHELL]")
@click.option(
    "--install",
    envvar="GPUSUDOKU_COMPLETION_INSTALL",
    is_flag=True,
    help="Write the script where the shell loads it.",
)
def completion(shell: str | None, install: bool) -> None:
    """Complete commands, options and @names in bash, zsh or fish.

    --install sets this up once: from then on the Tab key completes in every new shell. Without
    --install, the script is printed, and nothing is written. SHELL is yours if it is not given.

    \b
    Examples:
      gpusudoku completion --install
      gpusudoku completion zsh > ~/.zfunc/_gpusudoku
    """
    from gpusudoku.pipeline.output import show

    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise InputError(f"the variable SHELL names {shell or 'no shell'}: say bash, zsh or fish")
    script = BASH
    if shell != "bash":
        kind = ZshComplete if shell == "zsh" else FishComplete
        script = kind(click.Group(), {}, "gpusudoku", "_GPUSUDOKU_COMPLETE").source()
        for before, after in CHANGES[shell].items():
            script = script.replace(before, after)
    script += MARK
    if not install:
        show(script.rstrip("\n"))
        return
    home = Path.home()
    if shell == "fish":
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        _write(folder / "fish/completions/gpusudoku.fish", script)
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
        path = folder / f"gpusudoku/completion.{shell}"
        _write(path, script)
        home = Path((shell == "zsh" and os.environ.get("ZDOTDIR")) or home)
        _load_from(home / f".{shell}rc", path)
    note(f"new {shell} shells will complete gpusudoku commands")


def _write(path: Path, script: str) -> None:
    """Write a script over an older one, but over no other file."""
    try:
        if path.exists() and MARK.encode() not in path.read_bytes():
            raise InputError(f"{path}: exists already, and gpusudoku did not write it")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="ascii")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    note(f"wrote {path}")


def _load_from(startup: Path, script: Path) -> None:
    """Append a line that loads the script to a startup file, unless that names it already."""
    from shlex import quote

    try:
        text = startup.read_bytes() if startup.exists() else b""
        if os.fsencode(script) in text:
            note(f"already set up in {startup}")
            return
        path = quote(str(script))
        line = f"[ -f {path} ] && . {path}  # completion of gpusudoku\n"
        with startup.open("ab") as file:
            file.write(b"\n" * (text[-1:] not in (b"", b"\n")) + os.fsencode(line))
    except OSError as error:
        raise InputError(f"{startup}: cannot be written: {error.strerror}") from None
    note(f"{startup} has a new line that loads it")
