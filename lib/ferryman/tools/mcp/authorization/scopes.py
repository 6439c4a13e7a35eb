"""Scopes: what is asked for. The least that the server names, beside what a person consented to before."""

from __future__ import annotations

from collections.abc import Iterable

from ferryman.tools.mcp.authorization.challenge import Challenge, check_scopes
from ferryman.tools.mcp.authorization.discovery import Discovered
from ferryman.tools.mcp.authorization.metadata import OFFLINE_ACCESS


def choose_scopes(
    discovered: Discovered, challenge: Challenge, *, chosen: Iterable[str] | None, before: Iterable[str]
) -> tuple[str, ...]:
    """Return the scopes to ask for, none where the server names none.

    `chosen` are those that a person named, in place of the server's; `before` those of the consent before, which a step-up must
    not lose. Raise `AuthorizationFailedError` for too many.
    """
    named = challenge.scopes or discovered.resource.scopes or ()
    scopes = tuple(dict.fromkeys([*before, *(named if chosen is None else chosen)]))
    if scopes and chosen is None and discovered.issuer.gives_offline_access:
        scopes = tuple(dict.fromkeys([*scopes, OFFLINE_ACCESS]))
    check_scopes(scopes, "the consent")
    return scopes
