"""Files: what a user wrote in one, YAML or JSON; what cannot be read is wrong usage, and the message names it."""

from __future__ import annotations

from typing import IO, Any

import click

from ferryman.declared import texts
from ferryman.domain.problem import InvalidInputError


def read_file(file: IO[str], option: str) -> Any:
    """Return what `file`, given as `option`, holds."""
    try:
        text = file.read()
    except UnicodeDecodeError:
        raise click.BadParameter(f"{file.name} is not text in UTF-8", param_hint=option) from None
    return parse_text(text, option, name=file.name)


def parse_text(text: str, option: str, *, name: str = "it") -> Any:
    """Return what `text`, given as `option`, says."""
    try:
        return texts.loads(text, what=option)
    except InvalidInputError as error:
        raise click.BadParameter(f"{name} {error.problems[0].message}", param_hint=option) from None


def read_object(file: IO[str], option: str) -> dict[str, Any]:
    """Return the object that `file`, given as `option`, holds."""
    content = read_file(file, option)
    if not isinstance(content, dict):
        raise click.BadParameter(f"{file.name} must hold an object", param_hint=option)
    return content


def read_entries(file: IO[str], option: str) -> list[dict[str, Any]]:
    """Return the declared tools in `file`: one, a list of them, or an object that has them under `tools`, as a task has."""
    content = read_file(file, option)
    if isinstance(content, dict) and "url" not in content and isinstance(content.get("tools"), list):
        content = content["tools"]
    entries = content if isinstance(content, list) else [content]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        message = f"{file.name} must hold a declared tool, or a list of them; docs/declared-tools.md shows some"
        raise click.BadParameter(message, param_hint=option)
    if any("openapi" in entry or "swagger" in entry for entry in entries):
        message = f"{file.name} is an OpenAPI document: ferryman tools import {file.name}"
        raise click.BadParameter(message, param_hint=option)
    return entries
