"""Placement: put the placeholder of a token into a tool's request; the gate fills it last."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ferryman.domain.http.headers import normalize_header
from ferryman.domain.http.request import OutboundRequest, SecretPlaceholder, Template
from ferryman.domain.tools.declared import Apply
from ferryman.tools.tokens.client import TOKEN

_MARK = "{token}"
_FORMATS = {"header": f"Bearer {_MARK}", "query": _MARK}


def place_token(outbound: OutboundRequest, apply: Apply) -> OutboundRequest:
    """Return `outbound` with the placeholder for the token, in place of anything under that name, however it is spelt."""
    parts = re.split(f"({re.escape(_MARK)})", apply.format or _FORMATS[apply.location])
    text = Template(tuple(SecretPlaceholder(TOKEN) if part == _MARK else part for part in parts if part))
    if apply.location == "query":
        others = {name: value for name, value in outbound.query_params.items() if name.lower() != apply.name.lower()}
        return replace(outbound, query_params={**others, apply.name: text})
    headers, fixed = (_without(named, apply.name) for named in (outbound.headers, outbound.fixed_headers))
    return replace(outbound, headers=headers, fixed_headers={**fixed, apply.name: text})


def _without(named: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in named.items() if normalize_header(key) != normalize_header(name)}
