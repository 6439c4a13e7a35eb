"""Refusals: a request that is asked again at once after a 429 gets the same 429, at next to no cost to anybody else."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ferryman.ports.clock import Clock
from ferryman.rates import Remembered
from ferryman.serving.api.access import WORKSPACE_HEADER
from ferryman.serving.api.edge import MCP_PATH

REPEATED = timedelta(seconds=1)
"""How long a 429 is repeated. No `Retry-After` is shorter."""


class RepeatedRefusals:
    """Repeats a 429 to the same API key, workspace, method and path for a second: no route is found, and no store is asked."""

    def __init__(self, app: ASGIApp, *, clock: Clock) -> None:
        self._app = app
        self._clock = clock
        self._answers = Remembered[list[Message]]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == MCP_PATH:  # an answer there has the id of its request
            await self._app(scope, receive, send)
            return
        # keys are kept nowhere, not even here
        headers = Headers(scope=scope)
        asker = f"{headers.get('authorization', '')}\n{headers.get('cookie', '')}"
        if asker == "\n":  # what one stranger did is not answered to another one, who would sign in
            await self._app(scope, receive, send)
            return
        key = hashlib.sha256(asker.encode()).digest()
        place = (key, headers.get(WORKSPACE_HEADER, ""), scope["method"], scope["path"])
        refusal = self._answers.find(place, now=self._clock.now())
        if refusal is not None:
            for message in refusal:
                await send(message)
            return
        sent: list[Message] = []

        async def sending(message: Message) -> None:
            if sent or message.get("status") == 429:
                sent.append(message)
            await send(message)

        await self._app(scope, receive, sending)
        if sent:
            now = self._clock.now()
            self._answers.keep(place, sent, now=now, until=now + REPEATED)
