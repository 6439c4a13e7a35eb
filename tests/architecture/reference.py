"""The reference: `make reference` writes four pages of docs/, and the types of the client, from the code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from types import SimpleNamespace

import click

from ferryman import settings
from ferryman.cli import main as ferryman
from ferryman.serving import api
from ferryman.serving.api.reference import write_reference
from tests.architecture.client_reference import write_page, write_types

DOCS = Path(__file__).parents[2] / "docs"
WIDTH = 110
NOTE = "`make reference` writes this page from the code."


def write_commands() -> str:
    """Return the page of the command line: the help of every command, as `--help` prints it."""
    parts = [f"# The command line\n\n{NOTE}\n"]
    for words, command in list_commands(ferryman, ("ferryman",)):
        context = click.Context(command, info_name=" ".join(words), terminal_width=WIDTH, max_content_width=WIDTH)
        context.help_option_names = ["-h", "--help"]
        vars(command)["_help_option"] = None  # click keeps the one of the context that asked first
        help_text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
        parts.append(f"{'#' * min(len(words) + 1, 4)} {' '.join(words)}\n\n```text\n{help_text}\n```\n")
    return "\n".join(parts)


def list_commands(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield a command and all below it, with the words that name each."""
    yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from list_commands(below, (*words, name))


def write_http() -> str:
    """Return the page of the HTTP API, as /docs shows it."""
    app = api.create(SimpleNamespace(tracer=None, clock=None))  # type: ignore[arg-type] # nothing is served
    note = f"{NOTE} It is the OpenAPI document of `GET /openapi.json`, for reading; [a guide](api.md) shows how to use it."
    return write_reference(app.openapi(), note)


def write_settings() -> str:
    """Return the page of the settings: each variable of the environment, what it says, and what it is where it is not set."""
    head = "| variable | meaning | type | default |\n|---|---|---|---|\n"
    items, meanings = {settings.get_variable(item.name): item for item in fields(settings.Settings)}, find_meanings()
    rows = []
    for variable, item in sorted(items.items()):
        if item.name not in meanings:
            continue  # the platform's own
        default = item.default if item.default is not MISSING else item.default_factory()  # type: ignore[misc]
        kind = str(item.type).replace("|", "or")
        cell = "" if default in ("", None, (), {}) else f"`{default}`"
        rows.append(f"| `{variable}` | {meanings[item.name]} | {kind} | {cell} |\n")
    ours, others = settings.WORKSPACE_VARIABLES
    caller = (
        "Commands read `FERRYMAN_URL`, `FERRYMAN_KEY` and `FERRYMAN_DATA` ([commands](commands.md)); they and the Python\n"
        f"client read the workspace that they act in from `{ours}`, or from `{others}` where that is not set.\n"
    )
    spaces = settings.S3_PREFIXES[1]
    caller += f"A bucket of S3 may also be named by `{spaces}ENDPOINT`, `{spaces}REGION` and so on.\n"
    return f"# Settings\n\n{NOTE} Names that end in `_S` are seconds.\n\n{caller}\n{head}{''.join(rows)}"


def find_meanings() -> dict[str, str]:
    """Return what each field of `Settings` means: the comment beside it, behind what a linter is told."""
    lines = inspect.getsource(settings.Settings).splitlines()
    comments = [(line.split(":")[0].strip(), line.rpartition("  # ")[2]) for line in lines if "  # " in line]
    return {field: re.sub(r"^noqa: \w+ - ", "", comment) for field, comment in comments}


PAGES = {
    "commands.md": write_commands,
    "http.md": write_http,
    "settings.md": write_settings,
    "client.md": lambda: write_page(NOTE),
    "../lib/ferryman/client/answers.py": write_types,
}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (DOCS / name).write_text(write())
