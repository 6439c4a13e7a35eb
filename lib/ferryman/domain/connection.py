"""Connections: a person's consent under way (RFC 6749, 4.1; PKCE by RFC 7636; native apps by RFC 8252)."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlencode

from ferryman.domain import url
from ferryman.domain.credential import Label, Secret
from ferryman.domain.integration import OAuth
from ferryman.domain.problem import Problem

LIFETIME = timedelta(minutes=10)
"""How long a person has to consent."""

PER_TASK_MAX = 20
"""Connections under way at once, for one task."""

STATE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
CODE = re.compile(r"[\x20-\x7e]{1,2048}", re.ASCII)
"""An authorization code (RFC 6749, A.11), bounded."""

_LOOPBACK = re.compile(r"http://(?:127\.0\.0\.1|\[::1\]):(?P<port>[1-9][0-9]{0,4})(?:/[A-Za-z0-9._~/-]{0,200})?", re.ASCII)
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}", re.ASCII)
_CLIENT_ID = re.compile(r"[\x21-\x7e]{1,512}", re.ASCII)
SCOPES_MAX = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One consent that is waited for. Of the state only its `digest` is kept; `label` is that of the credential to be.

    `ciphertext` holds what the exchange needs and nobody else may have: the PKCE verifier and the client's secret. Everything
    else here is bound to it.
    """

    digest: str
    label: Label
    redirect_uri: str
    token_url: str
    client_id: str
    creds_location: str
    scopes: tuple[str, ...]
    expires_at: datetime
    ciphertext: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What a connection keeps sealed."""

    verifier: Secret
    client_secret: Secret | None = None


class Unconnected(Exception):  # noqa: N818 - reads as the fact it states
    """The consent came to nothing. The text is ours, and its owner is told it."""


def digest(state: str) -> str:
    """The SHA-256 of a state in hex: looked up by it, a state is compared with nothing."""
    return hashlib.sha256(state.encode()).hexdigest()


def challenge(verifier: str) -> str:
    """The S256 challenge of a PKCE verifier (RFC 7636, 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode("ascii")).digest()).rstrip(b"=").decode()


def authorize_url(oauth: OAuth, connection: Connection, *, state: str, verifier: str) -> str:
    """Where the person consents. What the service's entry adds comes first, so that it cannot stand in for ours."""
    ours = {
        "response_type": "code",
        "client_id": connection.client_id,
        "redirect_uri": connection.redirect_uri,
        **({"scope": " ".join(connection.scopes)} if connection.scopes else {}),
        "state": state,
        "code_challenge": challenge(verifier),
        "code_challenge_method": "S256",
    }
    added = {name: value for name, value in oauth.authorize_params.items() if name not in ours}
    separator = "&" if "?" in oauth.authorize_url else "?"
    return f"{oauth.authorize_url}{separator}{urlencode({**added, **ours})}"


def problems(oauth: OAuth, *, redirect_uri: str, client_id: str | None, scopes: Iterable[str]) -> list[Problem]:
    """What is wrong with a connection that is asked for."""
    found = []
    if not _redirectable(redirect_uri, oauth):
        registered = f", or one of {', '.join(oauth.redirect_uris)}" if oauth.redirect_uris else ""
        found.append(
            Problem(field="redirect_uri", message=f"must be http://127.0.0.1:PORT/… or http://[::1]:PORT/…{registered}")
        )
    if client_id is None:
        found.append(Problem(field="client_id", message="is required: this house has none of its own for the service"))
    elif not _CLIENT_ID.fullmatch(client_id):
        found.append(Problem(field="client_id", message="must be visible ASCII characters, at most 512"))
    found += scope_problems(scopes)
    return found


def scope_problems(scopes: Iterable[str]) -> list[Problem]:
    """What is wrong with scopes (RFC 6749, 3.3)."""
    known = tuple(scopes)
    if len(known) > SCOPES_MAX or not all(_SCOPE.fullmatch(each) for each in known):
        rule = f"must be at most {SCOPES_MAX}, each of visible ASCII without quotes and backslashes"
        return [Problem(field="scopes", message=rule)]
    return []


def _redirectable(uri: str, oauth: OAuth) -> bool:
    match = _LOOPBACK.fullmatch(uri)
    return (match is not None and int(match["port"]) < 65_536) or uri in oauth.redirect_uris


def registered(uri: str) -> bool:
    """Whether `uri` is an https address that may be registered as a redirect: no query, no fragment."""
    try:
        known = url.parse(uri)
    except url.Malformed:
        return False
    return known.query is None and "#" not in uri
