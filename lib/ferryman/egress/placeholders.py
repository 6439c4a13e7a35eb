"""Secret placeholders of declared tools: displayed by name everywhere, filled with credentials last, and only here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.credentials.credential import Credential
from ferryman.domain.http.request import OutboundRequest, SecretPlaceholder, Template, Text, list_placeholder_names
from ferryman.domain.json_tree import map_leaves


def list_request_placeholders(outbound: OutboundRequest) -> list[str]:
    """Return the names of the credentials that `outbound` has placeholders for, each once, in order."""
    return list_placeholder_names([outbound.fixed_headers, outbound.query_params, outbound.body])


def to_display_form(value: Any) -> Any:
    """Return `value` in display form: each placeholder is the name of its credential."""
    return map_leaves(value, lambda leaf: str(leaf) if isinstance(leaf, Template) else leaf)


def fill(value: Any, credentials: Mapping[str, Credential]) -> Any:
    """Return `value` with every placeholder filled. `credentials` has all of them, as checked by `find_bound_credential`."""
    return map_leaves(value, lambda leaf: fill_text(leaf, credentials) if isinstance(leaf, Template) else leaf)


def fill_text(value: Text, credentials: Mapping[str, Credential]) -> str:
    """Return one text with its placeholders filled."""
    if isinstance(value, str):
        return value
    return "".join(
        credentials[piece.name].secret.reveal() if isinstance(piece, SecretPlaceholder) else piece for piece in value.pieces
    )
