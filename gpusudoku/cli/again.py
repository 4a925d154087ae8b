"""A command that is run again: its identity and its arguments, saved in a file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpusudoku import formats
from gpusudoku.cli.commands import arguments_of, cli, remember_arguments
from gpusudoku.cli.source import is_file
from gpusudoku.errors import InputError, printable
from gpusudoku.runs.identity import Identity

if TYPE_CHECKING:
    from gpusudoku.cli.resume import Settings
    from gpusudoku.runs.kept import Kept

KIND = "command"
"""The kind of such a run, in its setup."""
INDIFFERENT = frozenset(
    (
        *("boards", "output", "force", "checkpoint", "cluster", "quiet", "stats"),
        *("device", "jobs", "gpus", "memory", "color"),
    )
)
"""Parameters of commands on which files do not depend; boards are looked into."""


def identity_of_command(boards: Sequence[str], options: Mapping[str, Any]) -> Identity:
    """Return all that the results of this command depend on; ``options`` are more of that."""
    ctx = click.get_current_context()
    own = {
        max(param.opts, key=len).lstrip("-"): _as_json(ctx.params[param.name])
        for param in ctx.command.params
        if param.name in ctx.params and param.name not in INDIFFERENT
    }
    return Identity(ctx.info_name or "", {"inputs": _inputs(boards)}, {**own, **options})


def _as_json(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def _inputs(boards: Sequence[str]) -> list[list[str | None]]:
    """Return each input as it was given, with the SHA-256 of a file as hexadecimal digits."""
    return [[name, _digest(name) if is_file(name) else None] for name in boards]


def _digest(name: str) -> str:
    """Compute the SHA-256 of a file."""
    if name == formats.STDIN or not Path(name).is_file():
        name = "<stdin>" if name == formats.STDIN else printable(name)
        raise InputError(f"{name}: is there only once, and --checkpoint takes boards of a file")
    try:
        with Path(name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None


def setup_of_command() -> dict[str, Any]:
    """Describe this command as JSON, for ``resume_command``."""
    ctx = click.get_current_context()
    return {
        "kind": KIND,
        "arguments": arguments_of(ctx),
        "environment": {
            name: os.environ[name] for name in _variables(ctx.command) if name in os.environ
        },
        "folder": str(Path.cwd()),
    }


def resume_command(path: str, kept: Kept, settings: Settings) -> None:
    """Run the command again whose progress is saved in a file."""
    setup, path = kept.setup, str(Path(path).absolute())
    try:
        os.chdir(setup["folder"])
    except OSError as error:
        folder = printable(setup["folder"])
        raise InputError(f"{path}: began in the folder {folder}: {error.strerror}") from None
    name, *rest = setup["arguments"]
    command = cli.commands[name]
    with _environment(command, setup["environment"]):
        root = click.get_current_context().find_root()
        remember_arguments(root, setup["arguments"])
        ctx = command.make_context(name, rest, parent=root)
    ctx.params.update(settings.given, checkpoint=path)
    if "cluster" in ctx.params:
        ctx.params["cluster"] = settings.cluster
    elif settings.cluster is not None:
        raise InputError(f"{path}: holds {name}, and only counts run on a cluster")
    with ctx:
        command.invoke(ctx)


def _variables(command: click.Command) -> list[str]:
    """Return the environment variables that stand for options of a command."""
    return [param.envvar for param in command.params if isinstance(param.envvar, str)]


@contextmanager
def _environment(command: click.Command, then: Mapping[str, str]) -> Iterator[None]:
    """Restore the environment of before, for the options of a command."""
    now = {name: os.environ.pop(name) for name in _variables(command) if name in os.environ}
    os.environ.update(then)
    try:
        yield
    finally:
        for name in then:
            del os.environ[name]
        os.environ.update(now)
