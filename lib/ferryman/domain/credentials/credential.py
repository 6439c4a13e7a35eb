"""Credentials: name, service and way of injection; sealed at rest, a `Secret` when open."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ferryman.domain.credentials.value import list_pair_secrets
from ferryman.domain.http.headers import RESERVED_HEADERS, RESERVED_PREFIXES, normalize_header
from ferryman.domain.problem import Problem

NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}", re.ASCII)
CREDENTIALS_PER_TASK_MAX = 20
PARAM_DEFAULT = "api_key"  # S0-23
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}", re.ASCII)
_PARAM = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", re.ASCII)


class AuthType(StrEnum):
    """How a credential is injected (S0-24): the three of the specification, and a user name with its password (RFC 7617)."""

    BEARER = "bearer"
    HEADER = "header"
    QUERY_PARAM = "query_param"
    BASIC = "basic"


class Secret:
    """A credential's value while it is open. It is in no repr, str, format or pickle."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value; called only where it is compared or injected."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not pickled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Everything about a credential but its value: what sealing binds the value to.

    `version` counts the times the value was stored or deleted; `hosts` are the patterns it may be sent to.
    """

    owner: str
    task: str
    name: str
    version: int
    service: str
    auth_type: AuthType
    auth_header_name: str | None = None
    auth_param_name: str | None = None
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshing:
    """The renewal of a token that is under way: its holder, and until when no one else may renew."""

    holder: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantStatus:
    """What is known of a grant without opening it. `reconnect`: its service no longer renews it, a person has to consent
    again."""

    scopes: tuple[str, ...] = ()
    token_expires_at: datetime | None = None
    reconnect: bool = False
    refreshing: Refreshing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCredential:
    """A credential at rest. `key_version` names the Secret Manager version that opens `ciphertext`.

    A credential with a grant was connected by consent. It is sealed together with the grant, and opens only with it.
    """

    label: Label
    ciphertext: bytes = field(repr=False)
    key_version: int
    created_at: datetime
    updated_at: datetime
    grant: GrantStatus | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What renews an access token. It is sealed together with the token, and nobody reads it.

    `consented` is the version of the credential that a person's consent stored; renewals keep it. `issuer` and `resource` are
    those of the token of an MCP server: it was issued by the one, for the other (RFC 8707).
    """

    token_url: str
    client_id: str
    client_secret: Secret | None = None
    creds_location: str = "basic_header"
    refresh_token: Secret | None = None
    scopes: tuple[str, ...] = ()
    expires_at: datetime | None = None
    consented: int = 0
    issuer: str | None = None
    resource: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """An open credential, in the memory of a key holder alone; with a grant, the secret is the access token."""

    label: Label
    secret: Secret
    grant: Grant | None = None

    @property
    def name(self) -> str:
        return self.label.name

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Every value of it that must not leave."""
        if self.label.auth_type is AuthType.BASIC:
            return tuple(map(Secret, list_pair_secrets(self.secret.reveal())))
        grant = self.grant
        others = (grant.refresh_token, grant.client_secret) if grant is not None else ()
        return (self.secret, *(secret for secret in others if secret is not None))


def find_name_problems(name: str) -> list[Problem]:
    """Return the problems of a credential's name."""
    if NAME.fullmatch(name):
        return []
    return [Problem("name", "must be capital letters, digits and underscores, start with a letter, at most 64")]


def find_injection_problems(auth_type: AuthType, header: str | None, param: str | None) -> list[Problem]:
    """Return the problems of the place where a credential would be injected (S0-22, S0-23)."""
    if auth_type is AuthType.HEADER:
        if header is None:
            return [Problem("auth_header_name", "is required when auth_type is header")]
        if not TOKEN.fullmatch(header):
            return [Problem("auth_header_name", "must be an HTTP header name of at most 64 characters")]
        lower = normalize_header(header)
        if lower in RESERVED_HEADERS - {"authorization"} or lower.startswith(RESERVED_PREFIXES):
            return [Problem("auth_header_name", "is a header that frames the request; name the API's own")]
    elif header is not None:
        return [Problem("auth_header_name", "is only for auth_type header")]
    if auth_type is AuthType.QUERY_PARAM:
        if param is not None and not _PARAM.fullmatch(param):
            return [Problem("auth_param_name", "must be letters, digits, '_', '.', '-', at most 64")]
    elif param is not None:
        return [Problem("auth_param_name", "is only for auth_type query_param")]
    return []
