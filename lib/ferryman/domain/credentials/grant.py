"""Grants: when a token is renewed, which instance renews it (single-flight), and what stays the same when it is."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import rfc8785

from ferryman.domain.credentials.credential import Credential, Grant, GrantStatus, Refreshing, SealedCredential
from ferryman.domain.credentials.oauth import TokenResponse

MARGIN = timedelta(seconds=60)  # a token that expires within this is renewed before it is used
REFRESH_SECONDS = 8.0  # a token request, resolving included: there must be time left for the call that waits for it
LEASE = timedelta(seconds=REFRESH_SECONDS + 4)
"""How long one instance alone renews a token: the request, and storing the answer."""


def is_due(grant: Grant | None, now: datetime) -> bool:
    """Tell whether the token has to be renewed before it is used."""
    return grant is not None and grant.expires_at is not None and grant.expires_at - now <= MARGIN


def is_usable(grant: Grant | None, now: datetime) -> bool:
    """Tell whether the token can still be used where it cannot be renewed."""
    return grant is None or grant.expires_at is None or grant.expires_at > now


def get_grant_status(grant: Grant) -> GrantStatus:
    """Return the part of `grant` that may be shown."""
    return GrantStatus(scopes=grant.scopes, token_expires_at=grant.expires_at)


def claim_renewal(sealed: SealedCredential, holder: str, now: datetime) -> SealedCredential | None:
    """Return `sealed` with the renewal claimed for `holder`, or None while another has it.

    An expired claim is free again: its holder died. The token that it may have received is then lost; a service that issues
    each refresh token once answers the next request with invalid_grant, and the credential has to be connected again.
    """
    granted = sealed.grant
    if granted is None or (granted.refreshing is not None and granted.refreshing.until > now):
        return None
    return replace(sealed, grant=replace(granted, refreshing=Refreshing(holder=holder, until=now + LEASE)))


def release_renewal(sealed: SealedCredential, *, reconnect: bool = False) -> SealedCredential:
    """Return `sealed` without a claim; `reconnect` tells that a person has to connect it again."""
    assert sealed.grant is not None, "only a grant is claimed"
    return replace(sealed, grant=replace(sealed.grant, refreshing=None, reconnect=reconnect))


def apply_response(grant: Grant, response: TokenResponse, now: datetime) -> Grant:
    """Return `grant` with the service's answer of `now`. Without a new refresh token in it, the old one is kept.

    The scopes are those of the grant that the answer confirms: no other text of the service is shown.
    """
    seconds, scopes = response.expires_in_s, response.scopes
    return replace(
        grant,
        refresh_token=response.refresh_token or grant.refresh_token,
        scopes=grant.scopes if scopes is None else tuple(scope for scope in grant.scopes if scope in scopes),
        expires_at=None if seconds is None else now + timedelta(seconds=seconds),
    )


def describe_grant(credential: Credential) -> str:
    """Return what a person stored or consented to, as canonical JSON (RFC 8785): all of the credential but its values.

    It is the same after a renewal. Its `version` is another one after the credential was stored or connected again.
    """
    label, grant = credential.label, credential.grant
    facts = {
        "name": label.name,
        "service": label.service,
        "hosts": list(label.hosts),
        "auth_type": label.auth_type.value,
        "auth_header_name": label.auth_header_name,
        "auth_param_name": label.auth_param_name,
        "version": label.version if grant is None else grant.consented,
    }
    if grant is not None:
        facts |= {"token_url": grant.token_url, "client_id": grant.client_id, "scopes": list(grant.scopes)}
        if grant.resource is not None:
            facts |= {"issuer": grant.issuer, "resource": grant.resource}
    return rfc8785.dumps(facts).decode()
