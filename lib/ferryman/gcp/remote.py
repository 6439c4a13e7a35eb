"""Remote tools: a journaled call handed to the tool's own function, and what the model said to a key holder's eyes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx

from ferryman.domain.call import ToolCallResult
from ferryman.domain.execution import Execution
from ferryman.domain.message import Block
from ferryman.domain.tool import function_of
from ferryman.gcp.http import Wire, traced
from ferryman.gcp.identity import MetadataIdentity
from ferryman.ports import Rejected, Stale, Unavailable
from ferryman.settings import Settings

SCANS = "api_call"
"""The key holder that looks through what the model said."""


class RemoteTools:
    """`ports.Toolbox` and `ports.Scanner`: POST with an identity token to the function that carries the tool."""

    def __init__(
        self, wire: Wire, identity: MetadataIdentity, settings: Settings, traceparent: Callable[[], str] = str
    ) -> None:
        self._traceparent = traceparent
        self._wire = wire
        self._identity = identity
        self._settings = settings

    async def run(self, tool: str, *, execution: Execution, seq: int) -> ToolCallResult:
        # task and owner say only where to look: what is stored is believed
        where = {"task": execution.task, "owner": execution.owner}
        answer = await self._post(
            function_of(tool), "/", {"execution": execution.id, "call": seq, "epoch": execution.epoch, **where}
        )
        return ToolCallResult(**answer["result"])

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
        asked = {"execution": execution.id, "epoch": execution.epoch, "content": list(content)}
        answer = await self._post(SCANS, "/scan", asked)
        return tuple(answer["content"])

    async def _post(self, function: str, path: str, body: Mapping[str, Any]) -> Any:
        url = self._settings.function_urls[function]
        token = await self._identity.token(url)
        headers = {"Authorization": f"Bearer {token}", **traced(self._traceparent())}
        try:
            answer = await self._wire.client().post(url + path, json=body, headers=headers)
        except httpx.HTTPError as error:
            raise Unavailable(f"function {function} did not answer ({type(error).__name__})") from None
        if answer.status_code == httpx.codes.CONFLICT:
            raise Stale(f"function {function} did not take the call")
        if answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY:
            raise Rejected(str(answer.json()["detail"]))
        if answer.status_code != httpx.codes.OK:
            raise Unavailable(f"function {function} answered {answer.status_code}")
        return answer.json()
