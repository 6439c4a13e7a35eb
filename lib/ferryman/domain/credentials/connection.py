"""Connections: OAuth authorization codes with PKCE, while a person's consent is awaited.

RFC 6749, 4.1; PKCE by RFC 7636; native apps by RFC 8252; iss by RFC 9207.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlencode

from ferryman.domain.credentials.credential import Label, Secret
from ferryman.domain.credentials.integration import OAuth
from ferryman.domain.http import url
from ferryman.domain.problem import Problem

LIFETIME = timedelta(minutes=10)  # how long a person has to consent
PER_TASK_MAX = 20  # pending connections of one task at once
STATE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
CODE = re.compile(r"[\x20-\x7e]{1,2048}", re.ASCII)
"""An authorization code (RFC 6749, A.11), bounded."""

ISS = re.compile(r"[\x21-\x7e]{1,2048}", re.ASCII)
"""An issuer identifier in an authorization response (RFC 9207, 2), bounded."""

_LOOPBACK = re.compile(r"http://(?:127\.0\.0\.1|\[::1\]):(?P<port>[1-9][0-9]{0,4})(?:/[A-Za-z0-9._~/-]{0,200})?", re.ASCII)
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}", re.ASCII)
_CLIENT_ID = re.compile(r"[\x21-\x7e]{1,512}", re.ASCII)
SCOPES_MAX = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One consent that is awaited. Of the state only its `digest` is kept; `label` is that of the future credential.

    `ciphertext` holds the secrets of the exchange: the PKCE verifier and the client's secret. All other fields are bound to it.
    The last ones are of MCP servers alone, whose authorization is in no catalog: what was discovered when the consent began.
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
    issuer: str | None = None
    authorize_url: str | None = None
    resource: str | None = None
    sends_iss: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The sealed secrets of a connection."""

    verifier: Secret
    client_secret: Secret | None = None


class NotConnectedError(Exception):
    """The consent was not completed. The text is our own, and its owner may read it."""


def check_issuer(oauth: OAuth, iss: str | None) -> None:
    """Raise `NotConnectedError` unless the authorization response came from the service's issuer (mix-up attacks, RFC 9207).

    `iss` is that of the response, None where it has none. It is compared character by character, and not repeated in messages.
    """
    if iss is None:
        if oauth.sends_iss:
            raise NotConnectedError("the authorization response has no iss, which the service always sends; connect again")
    elif oauth.issuer is None:
        raise NotConnectedError(
            "the authorization response has an iss, and the catalog has no issuer to compare it with: add oauth.issuer"
        )
    elif iss != oauth.issuer:
        raise NotConnectedError("the authorization response came from another issuer than the service's; connect again")


def digest_state(state: str) -> str:
    """Return the SHA-256 of a state in hex. The state is looked up by it, so no comparison leaks it through timing."""
    return hashlib.sha256(state.encode()).hexdigest()


def derive_challenge(verifier: str) -> str:
    """Return the S256 challenge of a PKCE verifier (RFC 7636, 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode("ascii")).digest()).rstrip(b"=").decode()


def build_authorize_url(oauth: OAuth, connection: Connection, *, state: str, verifier: str) -> str:
    """Return the URL where the person consents. Parameters of the service's entry cannot replace ours."""
    ours = {
        "response_type": "code",
        "client_id": connection.client_id,
        "redirect_uri": connection.redirect_uri,
        **({"scope": " ".join(connection.scopes)} if connection.scopes else {}),
        "state": state,
        "code_challenge": derive_challenge(verifier),
        "code_challenge_method": "S256",
        **({"resource": oauth.resource} if oauth.resource else {}),
    }
    added = {name: value for name, value in oauth.authorize_params.items() if name not in ours}
    separator = "&" if "?" in oauth.authorize_url else "?"
    return f"{oauth.authorize_url}{separator}{urlencode({**added, **ours})}"


def find_connection_problems(oauth: OAuth, *, redirect_uri: str, client_id: str | None, scopes: Iterable[str]) -> list[Problem]:
    """Return the problems of a requested connection."""
    faults = []
    if not (is_loopback(redirect_uri) or redirect_uri in oauth.redirect_uris):
        registered = f", or one of {', '.join(oauth.redirect_uris)}" if oauth.redirect_uris else ""
        faults.append(Problem("redirect_uri", f"must be http://127.0.0.1:PORT/… or http://[::1]:PORT/…{registered}"))
    if client_id is None:
        faults.append(Problem("client_id", "is required: this deployment has no client id of its own for the service"))
    elif not is_client_id(client_id):
        faults.append(Problem("client_id", "must be visible ASCII characters, at most 512"))
    faults += find_scope_problems(scopes)
    return faults


def find_scope_problems(scopes: Iterable[str]) -> list[Problem]:
    """Return the problems of scopes (RFC 6749, 3.3)."""
    known = tuple(scopes)
    if len(known) > SCOPES_MAX or not all(_SCOPE.fullmatch(scope) for scope in known):
        rule = f"must be at most {SCOPES_MAX}, each of visible ASCII without quotes and backslashes"
        return [Problem("scopes", rule)]
    return []


def is_client_id(text: str) -> bool:
    """Tell whether `text` is a client id (RFC 6749, A.1), bounded."""
    return _CLIENT_ID.fullmatch(text) is not None


def is_loopback(uri: str) -> bool:
    """Tell whether `uri` is an address on this machine that a browser may be led back to (RFC 8252, 7.3)."""
    match = _LOOPBACK.fullmatch(uri)
    return match is not None and int(match["port"]) < 65_536


def is_plain_https(uri: str) -> bool:
    """Tell whether `uri` is an https address without query and fragment, as issuers and redirect URIs are."""
    try:
        known = url.parse_url(uri)
    except url.InvalidUrlError:
        return False
    return known.query is None and "#" not in uri
