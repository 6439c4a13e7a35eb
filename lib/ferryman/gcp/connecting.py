"""Connecting, asked for: the internal route of the key holder that exchanges codes, called as the API's own account."""

from __future__ import annotations

import httpx

from ferryman.domain.connection import Unconnected
from ferryman.gcp.http import Wire
from ferryman.gcp.identity import MetadataIdentity
from ferryman.ports import Unavailable
from ferryman.settings import Settings

CONNECTS = "http_tool"
"""The key holder that exchanges codes for tokens."""


class RemoteConnector:
    """`ports.Connector`."""

    def __init__(self, wire: Wire, identity: MetadataIdentity, settings: Settings) -> None:
        self._wire = wire
        self._identity = identity
        self._settings = settings

    async def finish(self, task: str, *, owner: str, digest: str, code: str, version: int) -> str:
        """The name of the credential that was stored."""
        url = self._settings.function_urls[CONNECTS]
        headers = {"Authorization": f"Bearer {await self._identity.token(url)}"}
        body = {"task": task, "owner": owner, "digest": digest, "code": code, "version": version}
        try:
            answer = await self._wire.client().post(f"{url}/connect", json=body, headers=headers)
        except httpx.HTTPError as error:
            raise Unavailable(f"function {CONNECTS} did not answer ({type(error).__name__})") from None
        if answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY:
            raise Unconnected(str(answer.json()["detail"]))
        if answer.status_code != httpx.codes.OK:
            raise Unavailable(f"function {CONNECTS} answered {answer.status_code} when it was asked to connect")
        return str(answer.json()["name"])
