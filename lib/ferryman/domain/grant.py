"""Grants: when a token is renewed, by whom, and what becomes of it; the rules, on values alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from ferryman.domain.credential import Credential, Grant, Granted, Refreshing, Sealed
from ferryman.domain.oauth import Answer

MARGIN = timedelta(seconds=60)
"""A token that expires within this is renewed before it is used."""

REFRESH_SECONDS = 8.0
"""A token request, resolving included: there must be time left for the call that waits for it."""

LEASE = timedelta(seconds=REFRESH_SECONDS + 4)
"""How long one instance alone renews a token: the request, and storing what came back."""


def due(grant: Grant | None, now: datetime) -> bool:
    """Whether the token has to be renewed before it is used."""
    return grant is not None and grant.expires_at is not None and grant.expires_at - now <= MARGIN


def usable(grant: Grant | None, now: datetime) -> bool:
    """Whether the token can still be used where it cannot be renewed."""
    return grant is None or grant.expires_at is None or grant.expires_at > now


def visible(grant: Grant) -> Granted:
    """What of `grant` may be seen."""
    return Granted(scopes=grant.scopes, token_expires_at=grant.expires_at)


def taken(sealed: Sealed, holder: str, now: datetime) -> Sealed | None:
    """`sealed` with the renewal claimed for `holder`, or None while another has it.

    A claim that has run out is free again: whoever had it died, or stood still. The token it may have been given is lost then;
    a service that hands each refresh token out once answers the next request with invalid_grant, and the credential has to be
    connected again.
    """
    granted = sealed.grant
    if granted is None or (granted.refreshing is not None and granted.refreshing.until > now):
        return None
    return replace(sealed, grant=replace(granted, refreshing=Refreshing(holder=holder, until=now + LEASE)))


def given_back(sealed: Sealed, *, reconnect: bool = False) -> Sealed:
    """`sealed` without a claim; with `reconnect`, as one that a person has to connect again."""
    assert sealed.grant is not None, "only a grant is claimed"
    return replace(sealed, grant=replace(sealed.grant, refreshing=None, reconnect=reconnect))


def renewed(before: Credential, answer: Answer, *, now: datetime) -> Credential:
    """The next version of `before`, with what its service answered. Where that gave no new refresh token, the old one holds."""
    assert before.grant is not None, "only a grant is renewed"
    grant = replace(
        before.grant,
        refresh_token=answer.refresh_token or before.grant.refresh_token,
        scopes=narrowed(before.grant.scopes, answer),
        expires_at=expiry(answer, now),
    )
    label = replace(before.label, version=before.label.version + 1)
    return Credential(label=label, secret=answer.access_token, grant=grant)


def expiry(answer: Answer, now: datetime) -> datetime | None:
    """When the token, asked for at `now`, expires; None where nobody said."""
    return None if answer.expires_in_s is None else now + timedelta(seconds=answer.expires_in_s)


def narrowed(asked: tuple[str, ...], answer: Answer) -> tuple[str, ...]:
    """The scopes that were granted, among those that were asked for: any other text of the service's is not shown."""
    return asked if answer.scopes is None else tuple(each for each in asked if each in answer.scopes)
