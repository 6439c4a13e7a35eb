"""The target of MCP: any headers and any body are answered by the protocol, and nothing is run that was not asked for."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Any

from tests.serving.mcp.client import Answer, Client
from tests.serving.mcp.servers import Stage
from tests.serving.mcp.test_fuzz import CODES

HTTP_CODES = frozenset((403, 406, 413, 415, 421))
SEPARATOR = b"\r\n\r\n"


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


def mcp(data: bytes) -> None:
    """Post a body under headers: the answer is 202 without a body, or messages of JSON-RPC with a result or a known code."""
    head, _, body = data.partition(SEPARATOR)
    lines = (line.partition(b":") for line in head.split(b"\r\n"))
    headers = {name.decode("latin-1"): value.strip().decode("latin-1") for name, _, value in lines if name.strip()}
    answer = _loop().run_until_complete(_post(headers, body))
    if answer.status == 202:
        assert not answer.body
        return
    last: Any = answer.messages[-1]
    assert last["jsonrpc"] == "2.0"
    assert ("result" in last) != ("error" in last)
    assert "error" not in last or last["error"]["code"] in CODES | HTTP_CODES
    assert "id" not in last or last["id"] == json.loads(body)["id"]
    assert b"secret" not in answer.body


async def _post(headers: dict[str, str], body: bytes) -> Answer:
    stage = Stage(listen_s_max=0.0, hosts=("127.0.0.1",))
    stage.go_on.set()
    return await Client(stage.server).send(body, headers)
