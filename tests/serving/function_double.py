"""A function that runs tools without keys, as the tests of both call it: its caller is anyone the header names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import httpx
from functions_framework import aio

from ferryman.inmemory.log import RecordingLog

CALLER = "ferryman-orchestrator@p.iam.gserviceaccount.com"


@dataclass
class FunctionDouble:
    """The function's parts."""

    tracer: RecordingLog = field(default_factory=RecordingLog)

    @property
    def callers(self) -> Self:
        return self

    async def identify(self, authorization: str | None, *, audience: str) -> str:
        return authorization or ""


async def post_call(handler: Any, body: Mapping[str, Any], caller: str) -> httpx.Response:
    """Return what the function `handler` answers to a call by `caller`."""
    app = aio._create_asgi_app_with_function(handler, "http", False)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://f.test") as client:
        return await client.post("/", json=dict(body), headers={"Authorization": caller})
