"""The command line: the group of commands, and errors as exit codes.

Each command has a module of its own, imported when the command runs. Only click is imported before: ``--version`` must stay fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

import kerascheck
from kerascheck.cli import ARGUMENTS, COMPLETE_VARIABLE

_COMMANDS = {
    "check": ("check", "check"),
    "clean": ("clean", "clean"),
    "completion": ("completion", "completion_command"),
    "config": ("config", "config_command"),
    "new-rule": ("new_rule", "new_rule_command"),
    "rule": ("rule", "rule"),
    "why": ("why", "why"),
    "verify": ("verify", "verify"),
    "evidence": ("evidence", "evidence"),
    "doctor": ("doctor", "doctor"),
    "server": ("server", "server"),
    "version": ("version", "version"),
}
"""By command, its module in ``kerascheck.cli`` and its name there; in the order of ``--help``."""


class _Commands(click.Group):
    """A group that imports a command when it is used, and whose default command is ``check``.

    ``kerascheck src`` means ``kerascheck check src``.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        from importlib import import_module

        module, name = _COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"kerascheck.cli.{module}"), name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = tuple(args)
        if not args:
            args = ["--help"]
        elif args[0] not in _COMMANDS and args[0] not in ("--help", "-h", "--version"):
            args = ["check", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="'kerascheck PATH...' is short for 'kerascheck check PATH...'; 'kerascheck check --help' lists its options.",
)
@click.version_option(kerascheck.__version__, prog_name="kerascheck", message="%(prog)s %(version)s")
def cli() -> None:
    """Find what keeps the accelerator waiting in Keras training code, and rewrite it."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    _prepare_streams()
    if COMPLETE_VARIABLE in os.environ:
        from kerascheck.cli import completion

        completion.register()
    try:
        code = cli.main(arguments, prog_name="kerascheck", standalone_mode=False)
        sys.stdout.flush()
    except click.Abort:
        code = 130
    except Exception as problem:  # noqa: BLE001 - Python would end with 1, which means findings
        code = _report_failure(problem)
    sys.exit(code)


def _prepare_streams() -> None:
    """Make standard output and error usable; exits with 2 if standard output is closed."""
    if sys.stderr is None:
        # Otherwise the next opened file gets the number of standard error, and with it the output of libraries.
        sys.stderr = open(os.devnull, "w")
    if sys.stdout is None:
        from kerascheck.cli import terminal

        terminal.complain("standard output is closed")
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        # The encoding of the terminal may lack characters of a path or of code.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _report_failure(problem: Exception) -> int:
    """Print an error; returns the exit code."""
    from kerascheck.cli import terminal

    if isinstance(problem, click.ClickException):
        terminal.complain(problem.format_message())
        # The error of the configuration that the command has turned into its own.
        if excerpt := getattr(problem.__context__, "excerpt", ""):
            terminal.write_error(excerpt)
    elif isinstance(problem, BrokenPipeError):
        # The reader closed the pipe, as in 'kerascheck . | head'.
        terminal.discard(sys.stdout)
        return 141
    elif isinstance(problem, FileNotFoundError) and problem.filename is None:
        # os.getcwd() names no file in its error; errors of writing have another type.
        terminal.complain("the folder that it runs in does not exist any more: change to another one")
    elif isinstance(problem, OSError) and problem.filename is None:
        terminal.discard(sys.stdout)
        terminal.complain(f"the output cannot be written: {problem.strerror or problem}")
    elif _is_about_settings(problem):
        terminal.complain(str(problem))
    else:
        import traceback

        terminal.write_error("".join(traceback.format_exception(problem)))
        terminal.complain("this is a fault of kerascheck: please report it with the lines above")
    return 2


def _is_about_settings(problem: Exception) -> bool:
    from kerascheck.project.config import ConfigError

    return isinstance(problem, ConfigError)
