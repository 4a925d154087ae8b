"""Session files: commands and Python lines with their output, run and compared in this process.

    ## A comment.

    $ gpusudoku count @2b
    276

    $ gpusudoku count - << END
    1..5
    END
    ! gpusudoku: <stdin>:1: [..]
    [2]

    >>> import gpusudoku
    >>> gpusudoku.count("5")
    ! gpusudoku.errors.InputError: [..]

The lines below a step are its output: first stderr, each line after ``! `` (of an exception only
the message), then stdout, then the exit status of the last command in brackets unless it is 0.
``[..]`` matches any text within a line. A line ``...`` matches any number of lines.

The commands are ``gpusudoku``, ``cat`` and ``ls``. ``NAME=VALUE`` may precede a command, ``|``
joins commands, and ``<``, ``>`` or ``<< END`` ends the line. A line that begins with ``... ``
continues the Python statement above it. The steps share one folder, and the names that Python
lines bind.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any
from unittest.mock import patch

ABOUT_THE_MACHINE = re.compile(r"^gpusudoku: (device|compiling) .*\n", re.MULTILINE)
"""Lines of stderr that differ between machines or runs: they are removed."""

_PREFIXES = ("## ", "$ ", ">>> ")
"""The first characters of a comment, a command and a Python statement."""


@dataclass
class Step:
    """A command, a Python statement or a comment, and the lines below it."""

    source: list[str]
    """The lines of the command, the statement or the comment."""
    expected: list[str] = field(default_factory=list)
    """The expected output."""

    @property
    def stdin(self) -> str:
        """Return the lines between ``<< END`` and ``END``."""
        return "".join(f"{line}\n" for line in self.source[1:-1])


def parse(text: str) -> Iterator[Step]:
    """Yield the steps of a session file."""
    lines = text.splitlines()
    while lines:
        step = Step([lines.pop(0)])
        first_line = step.source[0]
        if first_line.startswith("$ ") and "<<" in first_line:
            end = first_line.split()[-1]
            while step.source[-1] != end:
                if not lines:
                    raise ValueError(f"{first_line}: there is no {end}")
                step.source.append(lines.pop(0))

        for prefix, continuation in (("## ", "## "), (">>> ", "... ")):
            while first_line.startswith(prefix) and lines and lines[0].startswith(continuation):
                step.source.append(lines.pop(0))

        while lines and not lines[0].startswith(_PREFIXES):
            step.expected.append(lines.pop(0))
        while step.expected and not step.expected[-1]:
            step.expected.pop()
        yield step


def write(steps: list[Step]) -> str:
    """Return the text of a session file: a blank line between steps, but not between statements."""
    text = ""
    for step, next_step in zip(steps, [*steps[1:], None], strict=True):
        text += "\n".join([*step.source, *step.expected]) + "\n"
        if next_step is None:
            continue
        both_python = all(s.source[0].startswith(">>>") for s in (step, next_step))
        if step.expected or not both_python:
            text += "\n"
    return text


def matches(expected: list[str], actual: list[str]) -> bool:
    """Compare lines: ``[..]`` matches any text within a line, ``...`` any number of lines."""
    pattern = ""
    for line in expected:
        if line == "...":
            pattern += r"(?:.*\n)*"
        else:
            pattern += ".*".join(map(re.escape, line.split("[..]"))) + r"\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in actual)) is not None


def keep_patterns(expected: list[str], actual: list[str]) -> list[str]:
    """Return the actual lines, but keep the patterns of the expected lines that match them."""
    # Replace each expected pattern by the first line that matches it, so that a comparison of the
    # two lists aligns them. Patterns without any fixed text would match every line: they remain.
    aligned = []
    for pattern in expected:
        matching = [line for line in actual if pattern.strip("[.]") and matches([pattern], [line])]
        aligned.append(matching[0] if matching else pattern)

    lines = []
    for kind, a, b, c, d in SequenceMatcher(None, aligned, actual, autojunk=False).get_opcodes():
        old = expected[a:b]
        new = actual[c:d]
        if kind == "equal":
            lines += old
        elif "..." in old:
            # Keep as many new lines before and after "..." as there were old lines.
            start = old.index("...")
            end = max(start, len(new) - len(old) + start + 1)
            lines += [*new[:start], "...", *new[end:]]
        else:
            lines += new
    return lines


class Session:
    """Runs the steps of one session file in the current folder."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, step: Step) -> list[str]:
        """Run a step; return its output as the lines that belong below it."""
        first_line = step.source[0]
        if first_line.startswith("$ "):
            status, out, err = _run_pipeline(first_line[2:], step.stdin)
        elif first_line.startswith(">>> "):
            status, out, err = self._run_python("\n".join(line[4:] for line in step.source) + "\n")
        elif step.expected:
            raise ValueError(f"neither a comment nor a command: {step.expected[0]}")
        else:
            return []

        lines = [f"! {line}".rstrip() for line in ABOUT_THE_MACHINE.sub("", err).splitlines()]
        lines += out.splitlines()
        while lines and not lines[-1]:
            lines.pop()
        return [*lines, f"[{status}]"] if status else lines

    def _run_python(self, code: str) -> tuple[int, str, str]:
        with _replaced_streams("") as streams:
            try:
                exec(compile(code, "<session>", "single"), self.names)
            except Exception as error:
                # Print only the message: a session shows no traceback.
                sys.stderr.write("".join(traceback.format_exception_only(error)))
        return 0, *streams


def _run_pipeline(line: str, stdin: str) -> tuple[int, str, str]:
    """Run commands joined by ``|``, each with the output of the previous one as its stdin."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    out = stdin
    all_err = ""
    status = 0
    words: list[str] = []
    for word in [*lexer, "|"]:
        if word == "|":
            status, out, err = _run_command(words, out)
            all_err += err
            words = []
        else:
            words.append(word)
    return status, out, all_err


def _run_command(words: list[str], stdin: str) -> tuple[int, str, str]:
    """Run one command with its variables and redirections."""
    environment = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value

    target = None
    while len(words) > 1 and words[-2] in ("<", ">", "<<"):
        name = words.pop()
        operator = words.pop()
        if operator == "<":
            stdin = Path(name).read_text("utf-8")
        elif operator == ">":
            target = Path(name)
        # The text after "<<" is already in `stdin`.
    if any(re.fullmatch("[<>|]+", word) for word in words):
        raise ValueError(f"a session does not know this redirection: {' '.join(words)}")

    program, *arguments = words
    status = 0
    out = ""
    err = ""
    with patch.dict(os.environ, environment):
        if program == "gpusudoku":
            status, out, err = captured(arguments, stdin)
        elif program == "cat":
            out = "".join(Path(name).read_text("utf-8") for name in arguments) or stdin
        elif program == "ls":
            out = "".join(f"{path.name}\n" for path in sorted(Path(*arguments).iterdir()))
        else:
            raise ValueError(f"a session knows gpusudoku, cat and ls, not {program}")
    if target:
        target.write_text(out, "utf-8")
        out = ""
    return status, out, err


def status_of(arguments: Iterable[str]) -> int:
    """Run ``gpusudoku`` in this process; return its exit status."""
    from gpusudoku.cli import main

    with patch.object(sys, "argv", ["gpusudoku", *arguments]):
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
    return 0


def captured(arguments: Iterable[str], stdin: str = "") -> tuple[int, str, str]:
    """Run ``gpusudoku`` in this process; return its exit status, stdout and stderr."""
    with _replaced_streams(stdin) as streams:
        status = status_of(arguments)
    return status, *streams


@contextlib.contextmanager
def _replaced_streams(stdin: str) -> Iterator[list[str]]:
    """Replace the standard streams; the list has stdout and stderr once the block has ended."""

    def stream_of(text: str) -> io.TextIOWrapper:
        return io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8", write_through=True)

    outputs: list[str] = []
    out = stream_of("")
    err = stream_of("")
    with (
        patch.object(sys, "stdin", stream_of(stdin)),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        yield outputs
    for stream in (out, err):
        outputs.append(stream.buffer.getvalue().decode())
