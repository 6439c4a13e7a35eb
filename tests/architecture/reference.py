"""The reference: `make reference` writes docs/commands.md, docs/http.md and docs/settings.md from the code."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path

import click

from ferryman import settings
from ferryman.cli import main as ferryman
from tests.architecture.http_reference import write_http

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


def write_settings() -> str:
    """Return the page of the settings: each variable of the environment, what it says, and what it is where it is not set."""
    head = "| variable | meaning | type | default |\n|---|---|---|---|\n"
    types, meanings = {item.name: item for item in fields(settings.Settings)}, find_meanings()
    rows = []
    for field, variable in sorted(find_variables().items(), key=lambda pair: pair[1]):
        item = types[field]
        default = item.default if item.default is not MISSING else item.default_factory()  # type: ignore[misc]
        kind = str(item.type).replace("|", "or")
        cell = "" if default in ("", None, (), {}) else f"`{default}`"
        rows.append(f"| `{variable}` | {meanings[field]} | {kind} | {cell} |\n")
    return f"# Settings\n\n{NOTE} Names that end in `_S` are seconds.\n\n{head}{''.join(rows)}"


def find_meanings() -> dict[str, str]:
    """Return what each field of `Settings` means: the comment beside it, behind what a linter is told."""
    lines = inspect.getsource(settings.Settings).splitlines()
    comments = [(line.split(":")[0].strip(), line.rpartition("  # ")[2]) for line in lines if "  # " in line]
    return {field: re.sub(r"^noqa: \w+ - ", "", comment) for field, comment in comments}


def find_variables() -> dict[str, str]:
    """Return the variable that `settings.read` reads for each field, where it reads one."""
    reader = ast.parse(inspect.getsource(settings.read))
    calls = [node for node in ast.walk(reader) if isinstance(node, ast.Call)]
    values = {
        target.id: node.value
        for node in ast.walk(reader)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    (build,) = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Settings"]
    variables = {}
    for keyword in build.keywords:
        names = [node.id for node in ast.walk(keyword.value) if isinstance(node, ast.Name)]
        helpers = [ast.parse(inspect.getsource(getattr(settings, name))) for name in names if name == "_read_token"]
        sources = [keyword.value, *(values[name] for name in names if name in values), *helpers]
        texts = [node.value for source in sources for node in ast.walk(source) if isinstance(node, ast.Constant)]
        upper = [text for text in texts if isinstance(text, str) and text.isupper() and "_" in text]
        if keyword.arg and upper and keyword.arg != "deployed":
            variables[keyword.arg] = upper[0]
    return variables


PAGES = {"commands.md": write_commands, "http.md": lambda: write_http(NOTE), "settings.md": write_settings}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (DOCS / name).write_text(write())
