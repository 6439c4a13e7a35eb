"""Holes: where a declared tool's credentials go; shown by their names until the last moment, filled then, and only here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ferryman.domain.credential import Credential
from ferryman.domain.http import Hole, Mixed, Outbound, Text


def names(outbound: Outbound) -> list[str]:
    """The credentials that `outbound` has holes for, each once, in order."""
    return list(dict.fromkeys(_names([outbound.fixed_headers, outbound.query_params, outbound.body])))


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Mixed):
        yield from (each.name for each in value.pieces if isinstance(each, Hole))
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _names(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _names(each)


def shown(value: Any) -> Any:
    """`value` with every text as it may be looked at: each hole is the name of what goes there."""
    if isinstance(value, Mixed):
        return str(value)
    if isinstance(value, Mapping):
        return {name: shown(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [shown(each) for each in value]
    return value


def filled(value: Any, credentials: Mapping[str, Credential]) -> Any:
    """`value` with every hole filled. `credentials` has all of them: binding has seen to that."""
    if isinstance(value, Mixed):
        return text(value, credentials)
    if isinstance(value, Mapping):
        return {name: filled(each, credentials) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [filled(each, credentials) for each in value]
    return value


def text(value: Text, credentials: Mapping[str, Credential]) -> str:
    """One text filled."""
    if isinstance(value, str):
        return value
    return "".join(credentials[each.name].secret.reveal() if isinstance(each, Hole) else each for each in value.pieces)
