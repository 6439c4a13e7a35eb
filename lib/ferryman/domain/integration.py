"""Integrations: services whose domains a task may be approved for."""

from __future__ import annotations

from dataclasses import dataclass

from ferryman.domain.credential import AuthType

WEBHOOK = "webhook"
"""The integration that enables the webhook tool; it approves no domain of its own (S0-57)."""


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
