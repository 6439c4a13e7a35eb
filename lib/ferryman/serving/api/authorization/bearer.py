"""Bearers: what a request at /mcp presents, an API key or an access token, and whose it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException

from ferryman.composition.api import ApiDependencies
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.identity import AccessToken, InvalidAccessTokenError, narrow_link
from ferryman.serving import keys
from ferryman.serving.api.authorization.challenges import build_unauthorized

UNLINKED = "this identity is linked to nobody here: link it with `ferryman mcp link`, with an API key of yours"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearer:
    """What was presented: `digest` is that of the API key, or of the identity that the access token is of."""

    digest: str
    token: AccessToken | None = field(default=None, repr=False)

    def select_key(self, deps: ApiDependencies, stored: ApiKey | None) -> ApiKey:
        """Return the API key that is `stored` under the digest, as this request may use it.

        Raise 401 where there is none, and 403 where an access token is valid and nobody has linked its identity.
        """
        if self.token is None:
            # the link of an identity is no key that anybody holds
            if stored is None or stored.issuer:
                raise build_unauthorized(deps)
            return stored
        if stored is None or (stored.issuer, stored.subject) != (self.token.issuer, self.token.subject):
            raise HTTPException(403, UNLINKED)
        return narrow_link(stored, self.token.scopes)


async def read_bearer(deps: ApiDependencies, authorizations: Sequence[str]) -> Bearer:
    """Return what the `Authorization` headers of a request present.

    Raise 401 with a challenge, and `UnavailableError` while the keys of the authorization server cannot be fetched.
    """
    if len(authorizations) != 1:
        raise build_unauthorized(deps)
    text = keys.parse_key(authorizations[0])
    if text is not None:
        return Bearer(digest=keys.digest_key(text))
    token = read_token(authorizations[0])
    if token is None or deps.access_tokens is None:
        raise build_unauthorized(deps)
    try:
        verified = await deps.access_tokens.verify(token)
    except InvalidAccessTokenError as error:
        raise build_unauthorized(deps, str(error)) from None
    return Bearer(digest=verified.digest, token=verified)


def read_token(authorization: str) -> str | None:
    """Return the bearer token of an `Authorization` header; None where it has another scheme, or no token."""
    scheme, _, token = authorization.partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token else None
