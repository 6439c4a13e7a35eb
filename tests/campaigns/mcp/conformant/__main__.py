"""The command that the suite runs with the URL of its server: list the tools, and call each as its schema asks for.

It connects where the server wants a token, and again where it wants another one, `CONSENTS_MAX` times in all.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import httpx

from ferryman.domain.remote_servers.server import ServerAuth
from ferryman.tools.mcp.authorization.challenge import read_challenge
from ferryman.tools.mcp.protocol import HttpStatusError, McpClient, NeedsInput, ServerToolListing, ToolDescriptor
from tests.campaigns.mcp.conformant.gate import TIMEOUT_S
from tests.campaigns.mcp.conformant.person import answer, fill_in
from tests.campaigns.mcp.conformant.rig import Rig

CONSENTS_MAX = 3
ROUNDS_MAX = 5
ECHO = "json_schema_echo"
"""The tool that wants to be sent the schema of the other one, as it was listed."""

Answer = TypeVar("Answer")


class TooManyConsentsError(Exception):
    """The server wants consent after consent."""


class Visit:
    """One visit to the server of a scenario."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.consents = 0

    async def list_tools(self) -> ServerToolListing:
        return await self._authorized(lambda client: client.list_tools())

    async def call(self, tool: ToolDescriptor, arguments: Mapping[str, Any]) -> None:
        """Call `tool`, and answer what it asks, with what belongs to this call alone."""
        responses, state = None, None
        for _ in range(ROUNDS_MAX):
            outcome = await self._authorized(
                lambda client: client.call_tool(tool, arguments, input_responses=responses, request_state=state)  # noqa: B023
            )
            if not isinstance(outcome, NeedsInput):
                return
            responses, state = {key: answer(question) for key, question in outcome.requests.items()}, outcome.state

    async def _authorized(self, ask: Callable[[McpClient], Awaitable[Answer]]) -> Answer:
        while True:
            try:
                return await ask(await self.rig.build_client())
            except HttpStatusError as error:
                if error.status not in (401, 403):
                    raise
                await self._consent(error)

    async def _consent(self, error: HttpStatusError) -> None:
        challenge = read_challenge(error.www_authenticate)
        if error.status == 403 and not challenge.needs_more_scopes:
            raise error
        self.consents += 1
        if self.consents > CONSENTS_MAX:
            raise TooManyConsentsError
        has_token = self.rig.server.auth is ServerAuth.OAUTH and error.status == 403
        await self.rig.connect(challenge.scopes if has_token else None)


async def visit(url: str, context: Mapping[str, Any]) -> None:
    """Do what the scenario needs: `context` names what the suite gives to the client."""
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_S) as http:
        rig = Rig(http, url, client_id=context.get("client_id"), client_secret=context.get("client_secret"))
        visiting = Visit(rig)
        listing = await visiting.list_tools()
        named = {call["name"]: call["arguments"] for call in context.get("toolCalls", ())}
        if ECHO in {tool.name for tool in listing.tools}:
            named[ECHO] = {"schema": next(tool.input_schema for tool in listing.tools if tool.name != ECHO)}
        for tool in listing.tools:
            await visiting.call(tool, named.get(tool.name) or fill_in(tool.input_schema))


if __name__ == "__main__":
    asyncio.run(visit(sys.argv[-1], json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))))
