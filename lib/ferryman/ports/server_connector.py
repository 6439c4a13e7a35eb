"""The port of connecting MCP servers: a key holder that reaches them finds who authorizes, and redeems consents."""

from __future__ import annotations

from typing import Protocol

from ferryman.domain.remote_servers.authorization import PreparedConsent


class ServerConnector(Protocol):
    """Has a key holder discover what a person is asked to consent to, and redeem the consent.

    `discover` asks the server itself, and the authorization server that it names. `client_id` is that of a client that the
    person registered, whose secret is not passed on; None: our metadata document at `document_url`, or a client that is
    registered now. `scopes` None: those that the server names. `finish` returns the name of the credential that was stored.
    Both raise `NotConnectedError` with a message for the owner, and `UnavailableError`.
    """

    async def discover(
        self,
        server: str,
        *,
        owner: str,
        redirect_uri: str,
        client_id: str | None,
        has_secret: bool,
        scopes: tuple[str, ...] | None,
        document_url: str,
    ) -> PreparedConsent: ...
    async def finish(self, server: str, *, owner: str, digest: str, code: str, iss: str | None, version: int) -> str: ...
