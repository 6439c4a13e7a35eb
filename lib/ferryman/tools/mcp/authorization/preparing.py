"""Preparing a consent: everything that is known before a person is asked, and is pinned from then on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ferryman.domain.remote_servers.authorization import PreparedConsent, ServerAuthorization
from ferryman.tools.mcp.authorization.challenge import Challenge
from ferryman.tools.mcp.authorization.discovery import discover
from ferryman.tools.mcp.authorization.fetching import Fetcher
from ferryman.tools.mcp.authorization.registration import PersonalClient, obtain_client
from ferryman.tools.mcp.authorization.scopes import choose_scopes


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentRequest:
    """What the person who connects a server asks for. `scopes` None: what the server names."""

    redirect_uri: str
    client: PersonalClient | None = None
    scopes: tuple[str, ...] | None = None
    document_url: str = ""


async def prepare_consent(
    fetcher: Fetcher,
    server_url: str,
    challenge: Challenge,
    request: ConsentRequest,
    *,
    before: ServerAuthorization | None = None,
) -> PreparedConsent:
    """Return what to ask a person for: discover who authorizes for a server, register there, and choose the scopes.

    The server at `server_url` answered with `challenge`. `before` is what the server was connected with. Its scopes are asked
    for again where the issuer is the same. Raise `AuthorizationFailedError`.
    """
    discovered = await discover(fetcher, server_url, challenge, issuer=None if before is None else before.issuer)
    issuer = discovered.issuer
    client = await obtain_client(
        fetcher, issuer, registered=request.client, document_url=request.document_url, redirect_uri=request.redirect_uri
    )
    granted: Iterable[str] = (*before.scopes, *before.lacking) if before is not None and before.issuer == issuer.issuer else ()
    authorization = ServerAuthorization(
        issuer=issuer.issuer,
        authorize_url=issuer.authorize_url,
        token_url=issuer.token_url,
        resource=discovered.resource.resource,
        client_id=client.id,
        creds_location=client.creds_location,
        scopes=choose_scopes(discovered, challenge, chosen=request.scopes, before=granted),
        sends_iss=issuer.sends_iss,
    )
    return PreparedConsent(authorization=authorization, client_secret=client.secret)
