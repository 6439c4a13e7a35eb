"""The ports of an authorization server of the operator's (OAuth 2.1): the keys that its access tokens are signed with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ferryman.domain.workspaces.identity import AccessToken


class AuthorityKeys(Protocol):
    """Has a function that may reach other hosts fetch the keys of the authorization server, as JSON Web Keys (RFC 7517).

    Which server that is, its own settings say. Raises `UnavailableError`.
    """

    async def fetch(self) -> Sequence[Mapping[str, Any]]: ...


class AccessTokens(Protocol):
    """Reads access tokens.

    Raises `InvalidAccessTokenError`, and `UnavailableError` while the keys of the server are not known.
    """

    async def verify(self, token: str) -> AccessToken: ...
