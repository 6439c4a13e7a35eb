"""Secret placeholders of declared tools: shown by name everywhere, filled with credentials last, and only here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.credentials.credential import Credential
from ferryman.domain.http.request import OutboundRequest, SecretPlaceholder, Template, Text, placeholder_names


def list_placeholder_names(outbound: OutboundRequest) -> list[str]:
    """Return the names of the credentials that `outbound` has placeholders for, each once, in order."""
    return placeholder_names([outbound.fixed_headers, outbound.query_params, outbound.body])


def to_display_form(value: Any) -> Any:
    """Return `value` in display form: each placeholder is the name of its credential."""
    if isinstance(value, Template):
        return str(value)
    if isinstance(value, Mapping):
        return {name: to_display_form(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_display_form(item) for item in value]
    return value


def fill(value: Any, credentials: Mapping[str, Credential]) -> Any:
    """Return `value` with every placeholder filled. `credentials` has all of them, as checked by `find_bound_credential`."""
    if isinstance(value, Template):
        return fill_text(value, credentials)
    if isinstance(value, Mapping):
        return {name: fill(item, credentials) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill(item, credentials) for item in value]
    return value


def fill_text(value: Text, credentials: Mapping[str, Credential]) -> str:
    """Return one text with its placeholders filled."""
    if isinstance(value, str):
        return value
    return "".join(
        credentials[piece.name].secret.reveal() if isinstance(piece, SecretPlaceholder) else piece for piece in value.pieces
    )
