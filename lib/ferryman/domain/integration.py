"""Integrations: services whose domains a task may be approved for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ferryman.domain.credential import AuthType
from ferryman.domain.url import parse

WEBHOOK = "webhook"
"""The integration that enables the webhook tool; it approves no domain of its own (S0-57)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """How a person consents to a service being used (RFC 6749, 4.1 with RFC 7636).

    Both URLs are on one of the integration's `allowed_domains` or on one of `hosts`, exact names that only the executor's own
    token requests go to: approving the integration for a task approves them for these, and opens them to no tool.
    `authorize_params` are added to the authorization request. `redirect_uris` are https addresses registered with the service;
    a loopback address needs no listing. `creds_location` says where a client's secret is put: `basic_header` or `body`.
    """

    authorize_url: str
    token_url: str
    hosts: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    client_id: str | None = None
    authorize_params: Mapping[str, str] = field(default_factory=dict)
    redirect_uris: tuple[str, ...] = ()
    creds_location: str = "basic_header"

    @property
    def token_host(self) -> str:
        """The host that token requests go to."""
        return parse(self.token_url).host


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration:
    """One service. `allowed_domains` are host patterns; `idempotency_header` names the header it de-duplicates by, if any."""

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
    docs_url: str = ""
    oauth: OAuth | None = None
