"""Documents: an OpenAPI file, and those beside it that it refers to, as they are sent along; nothing outside of its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click

from ferryman import openapi
from ferryman.cli.files import parse_text
from ferryman.declared import texts
from ferryman.domain.problem import InvalidInputError

OTHERS_MAX = 20
"""What the service takes beside the document itself."""


def gather_documents(path: Path) -> dict[str, Any]:
    """Return the document at `path` as `spec`, and the others by their names relative to it as `documents`; both are texts."""
    folder = path.resolve().parent
    base, root = f"{folder.as_uri()}/", path.resolve().as_uri()
    spec = _text(path)
    documents, parsed = dict[str, str](), {root: parse_text(spec, "FILE", name=path.name)}
    while missing := [address for address in _find_missing(parsed, root, path) if address.startswith(base)]:
        for uri in missing:
            name = uri.removeprefix(base)
            beside = (folder / unquote(name)).resolve()
            if not beside.is_relative_to(folder):
                raise _wrong(path, f"refers to {name}, which is a link out of its folder")
            documents[name] = _text(beside)
            parsed[uri] = parse_text(documents[name], "FILE", name=name)
        if len(documents) > OTHERS_MAX:
            raise _wrong(path, f"refers to more than {OTHERS_MAX} other documents; bundle them into one")
    own_name = root.removeprefix(base)
    if any(f"{own_name}#" in text for text in (spec, *documents.values())):
        documents[own_name] = spec  # it refers to itself by its name, which it has no longer once it is sent
    return {"spec": spec, "documents": documents}


def _find_missing(parsed: dict[str, Any], root: str, path: Path) -> list[str]:
    try:
        return openapi.find_missing(parsed, root)
    except InvalidInputError as error:
        raise _wrong(path, f"is no document that can be imported: {error}") from None


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > texts.BYTES_MAX:
            raise _wrong(path, f"must be at most {texts.BYTES_MAX} bytes, is {path.stat().st_size}")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise _wrong(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _wrong(path, "is not text in UTF-8") from None


def _wrong(path: Path, message: str) -> click.BadParameter:
    return click.BadParameter(f"{path.name} {message}", param_hint="FILE")
