"""Applying: a token's place in a tool's request, as a hole that the gate fills last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ferryman.domain.credential import spelling
from ferryman.domain.declared import Apply, Auth, ClientCredentials
from ferryman.domain.http import Hole, Mixed, Outbound, Text

TOKEN = "token"  # noqa: S105 - a name, not one
"""The name under which an applied token is known. Owners' names are capitals: none is this one."""

_HERE = "{token}"
_FORMATS = {"header": f"Bearer {_HERE}", "query": _HERE}


def place(auth: Auth) -> Apply:
    """Where a token of `auth` is put: OAuth's is a bearer token (RFC 6750, 2.1)."""
    return Apply() if isinstance(auth, ClientCredentials) else auth.apply


def applied(outbound: Outbound, apply: Apply) -> Outbound:
    """`outbound` with the hole for the token, in place of whatever stood under that name, however it was spelt."""
    text = _text(apply)
    if apply.location == "query":
        kept = {name: value for name, value in outbound.query_params.items() if name.lower() != apply.name.lower()}
        return replace(outbound, query_params={**kept, apply.name: text})
    headers, fixed = (_without(each, apply.name) for each in (outbound.headers, outbound.fixed_headers))
    return replace(outbound, headers=headers, fixed_headers={**fixed, apply.name: text})


def _text(apply: Apply) -> Text:
    pieces: list[str | Hole] = []
    for index, part in enumerate((apply.format or _FORMATS[apply.location]).split(_HERE)):
        pieces += [Hole(TOKEN)] if index else []
        pieces += [part] if part else []
    return Mixed(tuple(pieces))


def _without(named: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {each: value for each, value in named.items() if spelling(each) != spelling(name)}
