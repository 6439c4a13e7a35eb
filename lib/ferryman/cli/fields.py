"""Fields of what is stored: options of a command for each, and what a file and these options give together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import IO, Any

import click

from ferryman.cli.files import read_object

FILE = click.File("r", encoding="utf-8")
Command = Callable[..., Any]


def add_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return a decorator that gives a command all of `options`, which its help lists in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def read_fields(file: IO[str] | None, options: Mapping[str, Any], *, cleared: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields that a file and options give, of which the options win; those that were not typed are in none.

    The value none of the `cleared` ones takes away what was set. Raise `click.BadParameter` for a file that holds no object.
    """
    typed = {name: value for name, value in options.items() if value not in (None, ())}
    fields = {name: list(value) if isinstance(value, tuple) else value for name, value in typed.items()}
    fields |= dict.fromkeys(name for name in cleared if fields.get(name) == "none")
    return fields if file is None else {**read_object(file, "--file"), **fields}


def read_tool_fields(file: IO[str] | None, options: Mapping[str, Any], *, cleared: Collection[str]) -> dict[str, Any]:
    """Do what `read_fields` does, where `--all-tools` is an empty list of `allowed_tools`.

    Raise `click.UsageError` where it is typed beside `--tool`.
    """
    rest = {name: value for name, value in options.items() if name != "all_tools"}
    if not options["all_tools"]:
        return read_fields(file, rest, cleared=cleared)
    if options["allowed_tools"]:
        raise click.UsageError("only one of --tool and --all-tools can be given")
    return {**read_fields(file, rest, cleared=cleared), "allowed_tools": []}
