"""Metadata of a protected resource (RFC 9728) and of an authorization server (RFC 8414, OpenID Connect), read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.domain.remote_servers.authorization import is_resource_of
from ferryman.tools.mcp.authorization.challenge import check_scopes
from ferryman.tools.mcp.authorization.failure import AuthorizationFailedError

ISSUERS_MAX = 8
"""Authorization servers of one resource at most."""

OFFLINE_ACCESS = "offline_access"
_OURS = frozenset(
    ("response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "resource")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceMetadata:
    """What a protected resource says of itself: its identifier, its authorization servers, and the scopes that it has.

    `scopes` is None where it does not say.
    """

    resource: str
    issuers: tuple[str, ...]
    scopes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuerMetadata:
    """What an authorization server says of itself. `methods` are those of its token endpoint; `reads_documents` tells that a
    client may be named by the URL of its metadata document."""

    issuer: str
    authorize_url: str
    token_url: str
    registration_url: str | None = None
    methods: tuple[str, ...] = ("client_secret_basic",)
    sends_iss: bool = False
    reads_documents: bool = False
    gives_offline_access: bool = False


def read_resource(document: Mapping[str, Any], server_url: str) -> ResourceMetadata:
    """Return the metadata of the resource that `server_url` is of. Raise `AuthorizationFailedError`.

    A resource that does not cover the server's URL is refused: a token for it would be the token of another server.
    """
    resource = document.get("resource")
    if not isinstance(resource, str) or not is_resource_of(resource, server_url):
        raise AuthorizationFailedError("the server's resource metadata is of another resource than the server's URL")
    listed = document.get("authorization_servers")
    if not isinstance(listed, list) or not 0 < len(listed) <= ISSUERS_MAX or not all(map(_is_issuer, listed)):
        raise AuthorizationFailedError(
            f"the server's resource metadata must list 1 to {ISSUERS_MAX} authorization servers, https URLs without query"
        )
    scopes = _read_texts(document, "scopes_supported", "the server's resource metadata")
    if scopes is not None:
        check_scopes(scopes, "the server's resource metadata")
    return ResourceMetadata(resource=resource, issuers=tuple(listed), scopes=scopes)


def read_issuer(document: Mapping[str, Any], issuer: str) -> IssuerMetadata:
    """Return the metadata of `issuer`, which has to name itself so, character by character. Raise `AuthorizationFailedError`.

    A server without PKCE by S256 is refused: it could not tell an injected code from ours.
    """
    where = "the metadata of the authorization server"
    if document.get("issuer") != issuer:
        raise AuthorizationFailedError(f"{where} is of another issuer")
    if "S256" not in (_read_texts(document, "code_challenge_methods_supported", where) or ()):
        raise AuthorizationFailedError(f"{where} does not say that it has PKCE with S256")
    if "code" not in (_read_texts(document, "response_types_supported", where) or ("code",)):
        raise AuthorizationFailedError(f"{where} does not say that it has authorization codes")
    registration = document.get("registration_endpoint")
    sends_iss = document.get("authorization_response_iss_parameter_supported") is True
    return IssuerMetadata(
        issuer=issuer,
        authorize_url=_read_authorize_url(document, issuer, where, sends_iss=sends_iss),
        token_url=_read_url(document, "token_endpoint", where),
        registration_url=None if registration is None else _read_url(document, "registration_endpoint", where),
        methods=_read_texts(document, "token_endpoint_auth_methods_supported", where) or ("client_secret_basic",),
        sends_iss=sends_iss,
        reads_documents=document.get("client_id_metadata_document_supported") is True,
        gives_offline_access=_has_offline_access(document),
    )


def _read_authorize_url(document: Mapping[str, Any], issuer: str, where: str, *, sends_iss: bool) -> str:
    """Return the page of consent. Raise `AuthorizationFailedError`, also for one that may be another's (mix-up attacks).

    There a person would consent to something else, and the code would come here. A page that is not on the issuer's host is
    believed where each answer has to name its issuer; and none has a parameter of ours already, which would be read first.
    """
    text = _read_url(document, "authorization_endpoint", where)
    url = parse_url(text)
    if url.host != parse_url(issuer).host and not sends_iss:
        raise AuthorizationFailedError(
            f"authorization_endpoint in {where} is on another host than the issuer, and its answers name no issuer (RFC 9207)"
        )
    if any(name.strip().lower() in _OURS for name, _ in parse_qsl((url.query or "").replace(";", "&"), keep_blank_values=True)):
        raise AuthorizationFailedError(f"authorization_endpoint in {where} has parameters that a client adds")
    return text


def _has_offline_access(document: Mapping[str, Any]) -> bool:
    scopes = document.get("scopes_supported")
    return isinstance(scopes, list) and OFFLINE_ACCESS in scopes


def _is_issuer(value: Any) -> bool:
    try:
        known = parse_url(value) if isinstance(value, str) else None
    except InvalidUrlError:
        return False
    return known is not None and known.query is None and "#" not in value


def _read_url(document: Mapping[str, Any], name: str, where: str) -> str:
    value = document.get(name)
    try:
        parse_url(value if isinstance(value, str) else "")
    except InvalidUrlError as error:
        raise AuthorizationFailedError(f"{name} in {where} cannot be used: {error}") from None
    if "#" in str(value):
        raise AuthorizationFailedError(f"{name} in {where} has a fragment")
    return str(value)


def _read_texts(document: Mapping[str, Any], name: str, where: str) -> tuple[str, ...] | None:
    """Return a list of short texts, None where there is none."""
    value = document.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) and len(item) <= 200 for item in value):
        raise AuthorizationFailedError(f"{name} in {where} must be a list of short texts")
    return tuple(dict.fromkeys(value))
