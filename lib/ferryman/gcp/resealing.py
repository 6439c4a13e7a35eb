"""Re-sealing, asked for: the internal route of the key holder that does it, called as an account that may."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import httpx

from ferryman.gcp.http import Wire
from ferryman.ports import Unavailable

RESEALS = "api_call"
"""The key holder that seals credentials anew."""


class RemoteResealer:
    """POST to the function at `url`; `token` answers an identity token for an audience."""

    def __init__(self, wire: Wire, url: str, token: Callable[[str], Awaitable[str]]) -> None:
        self._wire = wire
        self._url = url
        self._token = token

    async def reseal(self, task: str, *, version: int) -> Sequence[str]:
        """The names of the credentials that do not open. Raises `Unavailable`."""
        headers = {"Authorization": f"Bearer {await self._token(self._url)}"}
        body = {"task": task, "version": version}
        try:
            answer = await self._wire.client().post(f"{self._url}/reseal", json=body, headers=headers)
        except httpx.HTTPError as error:
            raise Unavailable(f"function {RESEALS} did not answer ({type(error).__name__})") from None
        if answer.status_code != httpx.codes.OK:
            raise Unavailable(f"function {RESEALS} answered {answer.status_code} when it was asked to seal anew")
        return [str(each) for each in answer.json()["unreadable"]]
