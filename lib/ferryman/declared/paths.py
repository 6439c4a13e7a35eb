"""Paths: JSONPath (RFC 9535) into the answer of a login endpoint: names, indexes and slices, without filters."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonpath import JSONPathEnvironment

CHARACTERS_MAX = 256


@cache
def _environment() -> JSONPathEnvironment:
    # imported at its first use: most calls need no path, and it costs a cold start a fifth of a second
    from jsonpath import JSONPathEnvironment

    return JSONPathEnvironment(strict=True)


def find_problem(path: str) -> str | None:
    """Return what is wrong with `path`, or None."""
    if len(path) > CHARACTERS_MAX:
        return f"must be at most {CHARACTERS_MAX} characters"
    # two names in each part of a path are 2 ** 50 ways through a document, and all of them may fail
    if "?" in path or "," in path or ".." in path:
        return "may have neither filters nor ',' nor '..': name the way to the value, as in $.data.token"
    from jsonpath import JSONPathError

    try:
        _environment().compile(path)
    except (JSONPathError, ValueError, RecursionError):
        return "is not a JSONPath, as in $.data.token"
    return None


def find(path: str, document: Any) -> Any | None:
    """Return the first value at `path` of `document`, or None. Raise ValueError where `find_problem` finds a problem."""
    if (problem := find_problem(path)) is not None:
        raise ValueError(f"the path {problem}")
    if not isinstance(document, dict | list):
        return document if path == "$" else None
    match = _environment().compile(path).match(document)
    return None if match is None else match.obj
