"""Connecting: what the API asks of the key holder that may go out for it, called as the API's own account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from ferryman.domain.connection import Unconnected
from ferryman.domain.problem import invalid
from ferryman.domain.tool import HTTP_TOOL
from ferryman.gcp.http import Wire
from ferryman.gcp.identity import MetadataIdentity
from ferryman.ports import Unavailable
from ferryman.settings import Settings

CONNECTS = HTTP_TOOL
"""The key holder that exchanges codes for tokens, and fetches documents."""


class _Remote:
    def __init__(self, wire: Wire, identity: MetadataIdentity, settings: Settings) -> None:
        self._wire = wire
        self._identity = identity
        self._settings = settings

    async def _asked(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        url = self._settings.function_urls[CONNECTS]
        headers = {"Authorization": f"Bearer {await self._identity.token(url)}"}
        try:
            answer = await self._wire.client().post(url + path, json=body, headers=headers)
        except httpx.HTTPError as error:
            raise Unavailable(f"function {CONNECTS} did not answer ({type(error).__name__})") from None
        if answer.status_code not in (httpx.codes.OK, httpx.codes.UNPROCESSABLE_ENTITY):
            raise Unavailable(f"function {CONNECTS} answered {answer.status_code}")
        return answer


class RemoteConnector(_Remote):
    """`ports.Connector`."""

    async def finish(self, task: str, *, owner: str, digest: str, code: str, version: int) -> str:
        """The name of the credential that was stored."""
        body = {"task": task, "owner": owner, "digest": digest, "code": code, "version": version}
        answer = await self._asked("/connect", body)
        if answer.status_code != httpx.codes.OK:
            raise Unconnected(str(answer.json()["detail"]))
        return str(answer.json()["name"])


class RemoteDocuments(_Remote):
    """`ports.Documents`."""

    async def fetched(self, task: str, *, owner: str, url: str) -> Mapping[str, str]:
        answer = await self._asked("/document", {"task": task, "owner": owner, "url": url})
        if answer.status_code != httpx.codes.OK:
            raise invalid("url", str(answer.json()["detail"]))
        return dict(answer.json()["texts"])
