"""Integrations: services whose domains a task may be approved for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ferryman.domain.credentials.credential import AuthType
from ferryman.domain.http.url import parse_url

WEBHOOK = "webhook"  # the integration that enables the webhook tool; it approves no domain of its own (S0-57)


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """How a person consents to the use of a service (RFC 6749, 4.1 with RFC 7636).

    Both URLs are on one of the integration's `allowed_domains` or on one of `hosts`, exact names that only the executor's own
    token requests go to: approving the integration for a task approves them for these, and opens them to no tool.
    `authorize_params` are added to the authorization request. `redirect_uris` are the service's own: https or loopback URLs
    that are registered with it; any other loopback address needs no listing. `creds_location` says where a client's secret
    goes: `basic_header` or `body`. `issuer` is the issuer identifier of its authorization server, and `sends_iss` tells that
    every authorization response has it (RFC 9207). `resource` is what a token is asked for, where one is named (RFC 8707).
    """

    authorize_url: str
    token_url: str
    hosts: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    client_id: str | None = None
    authorize_params: Mapping[str, str] = field(default_factory=dict)
    redirect_uris: tuple[str, ...] = ()
    creds_location: str = "basic_header"
    issuer: str | None = None
    sends_iss: bool = False
    resource: str | None = None

    @property
    def token_host(self) -> str:
        """The host that token requests go to."""
        return parse_url(self.token_url).host


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration:
    """One service. `allowed_domains` are host patterns; `idempotency_header` names the header it de-duplicates by, if any.

    `headers` are those that the service documents and a model may set in its calls, beside the ones that it may set anywhere.
    """

    id: str
    name: str
    description: str
    category: str
    allowed_domains: tuple[str, ...]
    default_auth_type: AuthType | None = None
    default_auth_header: str | None = None
    default_auth_param: str | None = None
    credential_key_template: str | None = None
    idempotency_header: str | None = None
    headers: tuple[str, ...] = ()
    docs_url: str = ""
    oauth: OAuth | None = None
