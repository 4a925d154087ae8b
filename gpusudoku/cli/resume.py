"""``gpusudoku resume``: the command of a run file, invoked with the parameters that it saved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gpusudoku.board.geometry import Geometry
from gpusudoku.cli.commands import ARGUMENTS, cli
from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.options import CommandOptions, device_options, quiet_option
from gpusudoku.errors import InputError, printable
from gpusudoku.pipeline.identity import placed
from gpusudoku.pipeline.settings import PartNumber

if TYPE_CHECKING:
    from gpusudoku.runs.store import RunSnapshot


@click.command()
@click.argument("file", metavar="FILE", shell_complete=complete_files)
@device_options
@CommandOptions("resume").cluster("  [default: this machine]")
@quiet_option
@click.pass_context
def resume(ctx: click.Context, /, file: str, quiet: bool, **settings: Any) -> None:
    """Resume a run that was saved with --checkpoint FILE.

    The output is the same as that of the command without an interruption. The run may continue on
    another machine. It keeps its device and number of threads unless you set them here. A count may
    continue with or without --cluster, whatever it was started with. A finished run prints its
    result again at once.

    \b
    Examples:
      gpusudoku count board.txt --checkpoint run.sqlite
      gpusudoku resume run.sqlite
      gpusudoku resume run.sqlite -j 4
      gpusudoku resume run.sqlite --cluster tcp://host:8786
    """
    from gpusudoku.runs.counting import options_of_resume
    from gpusudoku.runs.store import read_run

    for name in settings:
        if ctx.get_parameter_source(name) == ParameterSource.DEFAULT:
            settings[name] = None  # keep the value of the run
    run = read_run(file)
    name = run.identity.command
    command = cli.commands[name]
    # The command runs in the folder in which it began, as its files may have relative names.
    folder = run.setup.get("folder", str(Path.cwd()))
    path = file if folder == str(Path.cwd()) else str(Path(file).absolute())

    # A context with default parameters, as if the command had been started without options.
    root = ctx.find_root()
    root.meta[ARGUMENTS] = run.setup.get("arguments", [])
    takes_boards = any(isinstance(param, click.Argument) for param in command.params)
    command_context = command.make_context(name, [""] if takes_boards else [], parent=root)

    params = _saved_params(run, command_context.params)
    params["quiet"] = quiet or params["quiet"]

    cluster = settings.pop("cluster")
    if cluster is not None and "cluster" not in params:
        raise InputError(f"{path}: holds {name}, and only count and solve run on a cluster")
    params = options_of_resume(params, **settings, cluster=cluster)
    params["checkpoint"] = path
    if "cluster" in params:
        params["cluster"] = cluster
    param_names = {param.name for param in command.params}
    command_context.params = {
        param: value for param, value in params.items() if param in param_names
    }

    try:
        os.chdir(folder)
    except OSError as error:
        # On another machine, the folder may not exist. It is needed only if the boards are in
        # files, or the results go to a file.
        if "cells" not in run.identity.boards or command_context.params["output"]:
            place = f"began in the folder {printable(folder)}"
            raise InputError(f"{path}: {place}: {error.strerror}") from None
    with command_context:
        command.invoke(command_context)


def _saved_params(run: RunSnapshot, defaults: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the command of a run; they are JSON in the run file."""
    boards = run.identity.boards
    # A count that began in Python has saved only the options of the Python interface.
    params: dict[str, Any] = defaults | run.setup["params"]
    params["box"] = params["box"] and Geometry.parse(params["box"])
    if params.get("part"):  # some commands have no --part
        params["part"] = PartNumber(*params["part"])
    # After the run has finished, --force of its first start could overwrite another file. A part
    # is an exception until its record exists, which is written after the run has finished.
    if run.state.finished and not (params.get("part") and run.record is None):
        params["force"] = False
    if "cells" in boards:  # the run file has the boards themselves
        from_python = {"source": "<python>", "line": 0, "columns": [], "beside": []}
        params["boards"] = (placed(boards, run.setup.get("place", from_python)),)
    return params
