"""Authorization responses: the address that a browser was led back to after a consent (RFC 6749, 4.1.2; RFC 9207)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from ferryman.domain.credentials.oauth import ERRORS


@dataclass(frozen=True, slots=True)
class AuthorizationResponse:
    """What the browser brought: the code, and the issuer that it came from where the service names it (RFC 9207)."""

    code: str = field(repr=False)
    iss: str | None = None


class ConsentDeclinedError(Exception):
    """The service led back without a code. The text is ours: of the service's, at most one of the standard's own words."""


class UnexpectedCallbackError(Exception):
    """What came is no answer to this connection."""


def read_response(address: str, *, redirect_uri: str, state: str, issuer: str = "") -> AuthorizationResponse:
    """Return what the address says that the browser was led back to; nothing of one that names another `issuer` is repeated.

    Raises `ConsentDeclinedError`, or `UnexpectedCallbackError` where it is not `redirect_uri`, has another state, or comes from
    another issuer (RFC 9207).
    """
    try:
        parts, expected = urlsplit(address.strip()), urlsplit(redirect_uri)
        parameters = parse_qs(parts.query, max_num_fields=50)
    except ValueError:
        raise UnexpectedCallbackError("the address cannot be read") from None
    states, codes, issuers = (parameters.get(name, []) for name in ("state", "code", "iss"))
    if len(states) != 1 or not secrets.compare_digest(states[0].encode(), state.encode()):
        raise UnexpectedCallbackError("the address has another state: it is not of this connection")
    if (parts.scheme, parts.netloc, parts.path or "/") != (expected.scheme, expected.netloc, expected.path or "/"):
        raise UnexpectedCallbackError(f"the address is not {redirect_uri}, where this connection leads back to")
    if issuer and issuers and issuers != [issuer]:
        raise UnexpectedCallbackError("the answer comes from another issuer than the one that was asked")
    if "error" in parameters:
        word = parameters["error"][0]
        raise ConsentDeclinedError(f"the authorization response says {word if word in ERRORS else 'an error of its own'}")
    if len(codes) != 1 or len(issuers) > 1:
        raise UnexpectedCallbackError("the address has no code, or two issuers")
    return AuthorizationResponse(codes[0], *issuers)
