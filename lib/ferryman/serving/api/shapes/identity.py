"""Identities: people as the operator's authorization server names them."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, SecretStr

from ferryman.domain.workspaces.member import Right
from ferryman.serving.api.shapes.shape import ListPage, RequestShape, ResponseShape


class NewIdentity(RequestShape):
    """An identity to be linked with the person who holds the API key that asks."""

    access_token: SecretStr = Field(
        description="One that the authorization server has issued for this server; it is not stored"
    )


class IdentityResponse(ResponseShape):
    """An identity that is linked: access tokens of it act for the person at `/mcp`, and nowhere else.

    They never approve and never manage; what they may is among `scopes`, and among the scopes of the token.
    """

    identity_id: str = Field(validation_alias="id")
    person_id: str = Field(validation_alias="person", description="Whose it is; empty: the owner's")
    issuer: str
    subject: str
    scopes: tuple[Right, ...]
    created_at: datetime
    expires_at: datetime | None = Field(description="When the link ends, with the API key that it was made with")
    last_used_at: datetime | None = Field(description="To the minute")


class IdentityList(ListPage):
    """A page of identities, by id."""

    identities: tuple[IdentityResponse, ...]
