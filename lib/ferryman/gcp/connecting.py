"""What the API asks of the key holders that may reach other hosts: consents, documents, and the keys of access tokens.

It is called as the API's own account.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from ferryman.domain.credentials.connection import NotConnectedError
from ferryman.domain.credentials.credential import Secret
from ferryman.domain.problem import build_input_error
from ferryman.domain.remote_servers.authorization import PreparedConsent, ServerAuthorization
from ferryman.gcp.functions import FunctionClient
from ferryman.ports.errors import UnavailableError

CONNECTING_FUNCTION = "http_tool"
"""The key holder that exchanges codes for tokens, and fetches documents."""
MCP_FUNCTION = "mcp_tool"
"""The key holder that speaks to MCP servers: lists their tools, finds who authorizes for them, and redeems consents."""


class RemoteFunction:
    """A key holder as the API asks it: 422 is an answer, which says why something failed."""

    name = CONNECTING_FUNCTION

    def __init__(self, functions: FunctionClient) -> None:
        self._functions = functions

    async def _post(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        return await self._functions.post(self.name, path, body, expected=(httpx.codes.UNPROCESSABLE_ENTITY,))

    async def _ask_about_consent(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return the document that answers. Raise `NotConnectedError` with the reason where there is none."""
        answer = await self._post(path, body)
        if answer.status_code != httpx.codes.OK:
            raise NotConnectedError(str(answer.json()["detail"]))
        return answer.json()


class RemoteConnector(RemoteFunction):
    """`ports.Connector`."""

    async def finish(self, task: str, *, owner: str, digest: str, code: str, iss: str | None, version: int) -> str:
        """Return the name of the credential that was stored."""
        body = {"task": task, "owner": owner, "digest": digest, "code": code, "iss": iss or "", "version": version}
        return str((await self._ask_about_consent("/connect", body))["name"])


class RemoteServerConnector(RemoteFunction):
    """`ports.ServerConnector`."""

    name = MCP_FUNCTION

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
    ) -> PreparedConsent:
        body = {
            "server": server,
            "owner": owner,
            "redirect_uri": redirect_uri,
            "client_id": client_id or "",
            "has_secret": has_secret,
            "scopes": list(scopes or ()),
            "document_url": document_url,
        }
        document = await self._ask_about_consent("/discover", body)
        fields = document["authorization"]
        secret = document["client_secret"]
        return PreparedConsent(
            authorization=ServerAuthorization(**{**fields, "scopes": tuple(fields["scopes"]), "lacking": ()}),
            client_secret=Secret(secret) if secret else None,
        )

    async def finish(self, server: str, *, owner: str, digest: str, code: str, iss: str | None, version: int) -> str:
        body = {"server": server, "owner": owner, "digest": digest, "code": code, "iss": iss or "", "version": version}
        return str((await self._ask_about_consent("/connect", body))["name"])


class RemoteServerLister(RemoteFunction):
    """`ports.ServerLister`."""

    name = MCP_FUNCTION

    async def list_tools(self, server: str, *, owner: str) -> None:
        await self._post("/list", {"server": server, "owner": owner})


class RemoteDocumentFetcher(RemoteFunction):
    """`ports.DocumentFetcher`."""

    async def fetch(self, task: str, *, owner: str, url: str) -> Mapping[str, bytes]:
        answer = await self._post("/document", {"task": task, "owner": owner, "url": url})
        if answer.status_code != httpx.codes.OK:
            raise build_input_error("url", str(answer.json()["detail"]))
        head, _, rest = answer.content.partition(b"\n")
        texts, at = {}, 0
        for name, size in json.loads(head)["sizes"]:
            texts[str(name)] = rest[at : at + size]
            at += size
        return texts


class RemoteAuthorityKeys(RemoteFunction):
    """`ports.AuthorityKeys`."""

    async def fetch(self) -> Sequence[Mapping[str, Any]]:
        answer = await self._post("/authority", {})
        if answer.status_code != httpx.codes.OK:
            raise UnavailableError(str(answer.json()["detail"]))
        keys: Sequence[Mapping[str, Any]] = answer.json()["keys"]
        return keys
