"""A credential: its value goes in and never comes out."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, SecretStr, StrictStr

from ferryman.domain.credential import AuthType, Sealed
from ferryman.serving.api.shapes.shape import Answered, Asked


class NewCredential(Asked):
    """A credential to be stored; what is not given comes from the service's entry in the catalog."""

    value: SecretStr = Field(description="Sealed at once; no route returns it")
    service: StrictStr = Field(description="One of the task's integrations")
    auth_type: AuthType | None = None
    auth_header_name: StrictStr | None = None
    auth_param_name: StrictStr | None = None


class CredentialShown(Answered):
    """Everything about a credential but its value."""

    name: str
    service: str
    status: str = "connected"
    auth_type: AuthType
    auth_header_name: str | None
    auth_param_name: str | None
    allowed_domains: tuple[str, ...]
    version: int
    key_version: int
    created_at: datetime
    updated_at: datetime


class CredentialList(Answered):
    """A task's credentials by name."""

    credentials: tuple[CredentialShown, ...]


def shown(sealed: Sealed) -> CredentialShown:
    """`sealed` as it is answered."""
    label = sealed.label
    return CredentialShown(
        name=label.name,
        service=label.service,
        auth_type=label.auth_type,
        auth_header_name=label.auth_header_name,
        auth_param_name=label.auth_param_name,
        allowed_domains=label.hosts,
        version=label.version,
        key_version=sealed.key_version,
        created_at=sealed.created_at,
        updated_at=sealed.updated_at,
    )
