"""``gpusudoku resume``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.commands import ARGUMENTS, cli
from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.options import OwnOptions, devices, quiet_option
from gpusudoku.errors import InputError, printable
from gpusudoku.pipeline.identity import placed
from gpusudoku.pipeline.settings import WhichPart


@click.command()
@click.argument("file", metavar="FILE", shell_complete=complete_files)
@devices
@OwnOptions("resume").cluster("  [default: on this machine]")
@quiet_option
@click.pass_context
def resume(ctx: click.Context, /, file: str, quiet: bool, **settings: Any) -> None:
    """Resume a run that was saved with --checkpoint FILE.

    Prints or writes the same as the command without an interruption. The run keeps its threads and
    devices, unless you give others here, and may continue on another machine. A count may continue
    with --cluster or without, however it began. A finished run prints its result again at once.

    \b
    Examples:
      gpusudoku count board.txt --checkpoint run.sqlite
      gpusudoku resume run.sqlite
      gpusudoku resume run.sqlite -j 4
      gpusudoku resume run.sqlite --cluster tcp://host:8786
    """
    from gpusudoku.runs.counting import changed_options
    from gpusudoku.runs.store import read_run

    for name in settings:
        if ctx.get_parameter_source(name) == ParameterSource.DEFAULT:
            settings[name] = None  # as it was
    run = read_run(file)
    setup = run.setup
    boards = run.identity.boards
    folder = setup.get("folder", str(Path.cwd()))
    path = file if folder == str(Path.cwd()) else str(Path(file).absolute())
    root = ctx.find_root()
    root.meta[ARGUMENTS] = setup.get("arguments", [])
    name = run.identity.command
    command = cli.commands[run.identity.command]
    takes_boards = any(isinstance(each, click.Argument) for each in command.params)
    again = command.make_context(name, [""] if takes_boards else [], parent=root)
    # A count that began in Python has its options alone.
    params = again.params | setup["params"]
    params["box"] = params["box"] and Geometry.parse(params["box"])
    if params.get("part"):  # which some commands lack
        params["part"] = WhichPart(*params["part"])
    params["quiet"] = quiet or params["quiet"]
    # Another file may be there now. The record of a part is written after its run has finished.
    if run.state.finished and not (params.get("part") and run.record is None):
        params["force"] = False
    if "cells" in boards:
        python = {"source": "<python>", "line": 0, "columns": [], "beside": []}
        params["boards"] = (placed(boards, setup.get("place", python)),)
    cluster = settings.pop("cluster")
    if cluster is not None and "cluster" not in params:
        raise InputError(f"{path}: holds {name}, and only count and solve run on a cluster")
    again.params = changed_options(params, **settings, cluster=cluster)
    again.params |= {"checkpoint": path} | ({"cluster": cluster} if "cluster" in params else {})
    known = {each.name for each in command.params}
    again.params = {name: value for name, value in again.params.items() if name in known}
    try:
        os.chdir(folder)
    except OSError as error:  # on another machine: a board that is in the file needs no folder
        if "cells" not in boards or again.params["output"]:
            where = f"began in the folder {printable(folder)}"
            raise InputError(f"{path}: {where}: {error.strerror}") from None
    with again:
        command.invoke(again)
