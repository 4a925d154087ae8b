"""``gpusudoku completion``: the script with which a shell completes the command.

The scripts ask the program itself, in the way that click has for fish, as it needs no more than
the line and the word at its end: one answer a line, ``TYPE,VALUE`` and perhaps a tab and a text.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import NamedTuple

import click

from gpusudoku.cli.messages import note
from gpusudoku.cli.options import own_option
from gpusudoku.cli.output import show
from gpusudoku.cli.usage import Choice
from gpusudoku.errors import InputError

MARK = "# Completion of gpusudoku, written by: gpusudoku completion"
"""A line of every script: a file without it is not ours to overwrite."""

# bash cuts words at each @ and =, so COMP_WORDS is of no use: the word is what stands after the
# last blank. Readline replaces $2 only, so that what stands before it is taken off every answer.
BASH = f"""\
{MARK}
_gpusudoku() {{
    local line=${{COMP_LINE:0:COMP_POINT}} type value answers
    local word=${{line##*[[:space:]]}}
    answers=$(_GPUSUDOKU_COMPLETE=fish_complete COMP_WORDS=$line COMP_CWORD=$word "$1" 2>/dev/null)
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            plain) value=${{value%%$'\\t'*}}; COMPREPLY+=("${{value#"${{word%"$2"}}"}}") ;;
            file) COMPREPLY=(); compopt -o default ;;
        esac
    done <<< "$answers"
}}
complete -o nosort -F _gpusudoku gpusudoku
"""

ZSH = f"""\
#compdef gpusudoku
{MARK}
_gpusudoku() {{
    local -a values texts
    local answer value files
    for answer in ${{(f)"$(_GPUSUDOKU_COMPLETE=fish_complete COMP_WORDS="${{words[1,CURRENT]}}" \\
            COMP_CWORD="${{words[CURRENT]}}" "$words[1]" 2>/dev/null)"}}; do
        if [[ $answer == file,* ]]; then
            files=1
            continue
        fi
        answer=${{answer#*,}}
        value=${{answer%%$'\\t'*}}
        texts+=("${{value//:/\\\\:}}${{${{answer#$value}}/#$'\\t'/:}}")
    done
    [[ $words[CURRENT] == --*=* ]] && compset -P '*='
    (( $#texts )) && _describe -V gpusudoku texts
    [[ -n $files ]] && _files
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _gpusudoku "$@"
else
    (( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit -i }}
    compdef _gpusudoku gpusudoku
fi
"""

FISH = f"""\
{MARK}
function _gpusudoku
    set -l word (commandline -ct)
    set -l option (string match -r -- '^--[a-z-]+=' $word)
    set -lx _GPUSUDOKU_COMPLETE fish_complete
    set -lx COMP_WORDS (commandline -cp)
    set -lx COMP_CWORD $word
    for answer in (gpusudoku 2>/dev/null)
        set -l parts (string split --max 1 , -- $answer)
        if test "$parts[1]" = file
            __fish_complete_path (string replace -- "$option" "" $word)
        else
            printf '%s\\n' "$option$parts[2]"
        end
    end
end
complete --command gpusudoku --no-files --arguments "(_gpusudoku)"
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


class Place(NamedTuple):
    """Where a shell loads a script from."""

    script: Path
    startup: Path | None
    """The file that must load it, None where the shell does so by itself."""


@click.command()
@click.argument("shell", required=False, type=Choice(list(SCRIPTS)), metavar="[SHELL]")
@own_option("completion")(
    "--install", is_flag=True, help="Write the script where the shell loads it."
)
def completion(shell: str | None, install: bool) -> None:
    """Complete commands, options and @names in bash, zsh or fish.

    With --install, once, every new shell completes with the Tab key. Without it, the script is
    printed, and nothing is written. SHELL is yours if it is not given.

    \b
    Examples:
      gpusudoku completion --install
      gpusudoku completion zsh > ~/.zfunc/_gpusudoku
    """
    shell = shell or _own_shell()
    if not install:
        show(SCRIPTS[shell].rstrip("\n"))
        return
    place = place_of(shell)
    _write(place.script, SCRIPTS[shell])
    note(f"wrote {place.script}")
    if place.startup is not None:
        added = _load_from(place.startup, place.script)
        note(f"{place.startup} {'has a new line that loads it' if added else 'names it already'}")
    note(f"every {shell} that is started from now on completes gpusudoku")


def _own_shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SCRIPTS:
        *others, last = SCRIPTS
        raise InputError(
            f"the variable SHELL names {name or 'no shell'}: say {', '.join(others)} or {last}"
        )
    return name


def place_of(shell: str) -> Place:
    """Where the script of a shell belongs, in the folders of the user."""
    home = Path.home()
    if shell == "fish":
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        return Place(folder / "fish/completions/gpusudoku.fish", None)
    folder = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    script = folder / f"gpusudoku/completion.{shell}"
    if shell == "zsh":
        return Place(script, Path(os.environ.get("ZDOTDIR") or home) / ".zshrc")
    return Place(script, home / ".bashrc")


def _write(path: Path, script: str) -> None:
    """Write a script over an older one, but over no other file."""
    try:
        if path.exists() and MARK.encode() not in path.read_bytes():
            raise InputError(f"{path}: exists already, and gpusudoku did not write it")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="ascii")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def _load_from(startup: Path, script: Path) -> bool:
    """Append a line that loads the script, unless the file names it; whether it was appended."""
    try:
        text = startup.read_bytes() if startup.exists() else b""
        if os.fsencode(script) in text:
            return False
        quoted = shlex.quote(str(script))
        line = f"[ -f {quoted} ] && . {quoted}  # completion of gpusudoku\n"
        with startup.open("ab") as file:
            file.write(b"\n" * (text[-1:] not in (b"", b"\n")) + os.fsencode(line))
    except OSError as error:
        raise InputError(f"{startup}: cannot be written: {error.strerror}") from None
    return True
