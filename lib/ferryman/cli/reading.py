"""Reading: what a user wrote in a file, YAML or JSON; what cannot be read is wrong usage, and named."""

from __future__ import annotations

from typing import IO, Any

import click

from ferryman.declared import texts
from ferryman.domain.problem import Invalid


def read(file: IO[str], option: str) -> Any:
    """What `file`, given as `option`, holds."""
    try:
        text = file.read()
    except UnicodeDecodeError:
        raise click.BadParameter(f"{file.name} is not text in UTF-8", param_hint=option) from None
    return parsed(text, option, name=file.name)


def parsed(text: str, option: str, *, name: str = "it") -> Any:
    """What `text`, given as `option`, says."""
    try:
        return texts.loads(text, what=option)
    except Invalid as error:
        raise click.BadParameter(f"{name} {error.problems[0].message}", param_hint=option) from None


def read_object(file: IO[str], option: str) -> dict[str, Any]:
    """The same, of a file that must hold an object."""
    found = read(file, option)
    if not isinstance(found, dict):
        raise click.BadParameter(f"{file.name} must hold an object", param_hint=option)
    return found


def read_entries(file: IO[str], option: str) -> list[dict[str, Any]]:
    """The declared tools in `file`: one, a list of them, or an object that has them under `tools`, as a task has."""
    found = read(file, option)
    if isinstance(found, dict) and "url" not in found and isinstance(found.get("tools"), list):
        found = found["tools"]
    entries = found if isinstance(found, list) else [found]
    if not entries or not all(isinstance(each, dict) for each in entries):
        message = f"{file.name} must hold a declared tool, or a list of them; docs/tools.md shows some"
        raise click.BadParameter(message, param_hint=option)
    if any("openapi" in each or "swagger" in each for each in entries):
        message = f"{file.name} is an OpenAPI document: ferryman tools import {file.name}"
        raise click.BadParameter(message, param_hint=option)
    return entries
