"""A credential: its value goes in and never comes out."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, SecretStr, StrictStr

from ferryman.domain.credentials.credential import AuthType, SealedCredential
from ferryman.serving.api.shapes.shape import ListPage, RequestShape, ResponseShape, select


class NewCredential(RequestShape):
    """A credential to be stored; what is not given comes from the service's entry in the catalog."""

    value: SecretStr = Field(description="Sealed at once; no route returns it")
    service: StrictStr = Field(description="One of the task's integrations")
    auth_type: AuthType | None = None
    auth_header_name: StrictStr | None = None
    auth_param_name: StrictStr | None = None


class NewConnection(RequestShape):
    """A service that a person is to consent to; what is not given comes from the service's entry in the catalog."""

    service: StrictStr = Field(description="One of the task's integrations, with an `oauth` entry")
    name: StrictStr | None = Field(default=None, description="The credential's name; by default, as the service's entry has it")
    redirect_uri: StrictStr | None = Field(
        default=None,
        description="Where the consent page leads back to: a loopback address, or one of the service's own, by default",
    )
    client_id: StrictStr | None = None
    client_secret: SecretStr | None = Field(default=None, description="Sealed at once; no route returns it")
    scopes: tuple[StrictStr, ...] | None = None


class ConnectionResponse(ResponseShape):
    """Where the person consents. The page leads back to `redirect_uri` with `state` and a code, until `expires_at`."""

    authorize_url: str
    redirect_uri: str
    state: str
    expires_at: datetime


class ConsentAnswer(RequestShape):
    """What the consent page led back with; `iss` where it was there (RFC 9207)."""

    state: StrictStr
    code: SecretStr
    iss: StrictStr | None = None


class CredentialResponse(ResponseShape):
    """Everything about a credential but its value. `status` is connected, or reconnect: its service refused to renew it.

    `scopes` and `token_expires_at` are of one that was connected by consent; it is renewed by itself before it expires.
    """

    name: str
    service: str
    status: str = "connected"
    scopes: tuple[str, ...] | None
    token_expires_at: datetime | None
    auth_type: AuthType
    auth_header_name: str | None
    auth_param_name: str | None
    allowed_domains: tuple[str, ...]
    version: int
    key_version: int
    created_at: datetime
    updated_at: datetime


class CredentialList(ListPage):
    """A page of a task's credentials, by name."""

    credentials: tuple[CredentialResponse, ...]


def to_response(sealed: SealedCredential) -> CredentialResponse:
    """Return the response for `sealed`."""
    label, grant = sealed.label, sealed.grant
    return CredentialResponse(
        status="reconnect" if grant is not None and grant.reconnect else "connected",
        scopes=None if grant is None else grant.scopes,
        token_expires_at=None if grant is None else grant.token_expires_at,
        allowed_domains=label.hosts,
        **select(label, "name", "service", "auth_type", "auth_header_name", "auth_param_name", "version"),
        **select(sealed, "key_version", "created_at", "updated_at"),
    )
