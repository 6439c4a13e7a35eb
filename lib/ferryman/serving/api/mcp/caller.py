"""Who asks at /mcp, and for which agent: the same checks as everywhere in the API.

Nothing here needs the right to approve, and nothing has it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import cast

from starlette.exceptions import HTTPException
from starlette.requests import Request

from ferryman import offload
from ferryman.composition.api import ApiDependencies
from ferryman.domain.workspaces.member import Right
from ferryman.serving.api.access import WORKSPACE_HEADER, authenticate_key
from ferryman.serving.api.auditing import note_use
from ferryman.serving.api.authorization import read_bearer, require_right
from ferryman.serving.api.edge import SIGNS, VALUES_MAX, count_values
from ferryman.serving.api.limits import OWNER_REQUESTS_MAX, REQUEST_S, REQUESTS_MAX, take_turn
from ferryman.serving.api.rights import Caller, RouteNeed, check_needs
from ferryman.serving.mcp.exchange import McpExchange

AGENT = "agent"
"""The member of the query that names an agent, /mcp?agent=ID; without it, the workspace's default one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpCaller:
    """Who asks: `caller` as the API knows them, `agent` as the request names it ("" for none), `url` that of this API."""

    caller: Caller
    agent: str
    url: str

    @property
    def principal(self) -> str:
        """What sessions and states are bound to: the API key and the workspace."""
        return f"{self.caller.digest}/{self.caller.workspace}"

    def widen(self) -> McpCaller:
        """Return who asks as if nothing were narrowed to tools: to find out what another scope would give, and for nothing
        else."""
        return replace(self, caller=replace(self.caller, key=replace(self.caller.key, tools=None)))


async def authenticate(deps: ApiDependencies, request: Request, body: bytes) -> McpCaller:
    """Return who asks, with an API key or an access token. Raise `HTTPException`: 401 without either, 403 without the right to
    read, 404 for a workspace that is not the caller's, 422 for a body of too many values and 429 for too many requests."""
    bearer = await read_bearer(deps, request.headers.getlist("authorization"))
    digest = bearer.digest
    async with take_turn(deps.requests_of, digest, most=REQUESTS_MAX, within_s=REQUEST_S, what="requests"):
        key = bearer.select_key(deps, await deps.keys.find(digest))
        async with take_turn(deps.requests_of_owner, key.owner, most=OWNER_REQUESTS_MAX, within_s=REQUEST_S, what="requests"):
            caller = await authenticate_key(deps, digest, key, request.headers.get(WORKSPACE_HEADER))
            require_right(deps, caller, Right.READ)
            await _check_values(key.owner, body)
    note_use(deps, caller)
    scheme = "http" if deps.is_local else "https"
    url = f"{scheme}://{request.headers.get('host', '')}"
    return McpCaller(caller=caller, agent=request.query_params.get(AGENT, ""), url=url)


async def _check_values(owner: str, body: bytes) -> None:
    """Raise `HTTPException` with 422 where reading the body would hold up others; a worker counts where it may."""
    if sum(map(body.count, SIGNS)) <= VALUES_MAX:
        return
    try:
        values = await offload.run(owner, offload.TEXT, count_values, body)
    except offload.OverBudgetError:
        values = VALUES_MAX + 1
    if values > VALUES_MAX:
        raise HTTPException(422, f"the body has more than {VALUES_MAX} values")


def get_caller(exchange: McpExchange) -> McpCaller:
    """Return who made a request."""
    return cast("McpCaller", exchange.caller)


@asynccontextmanager
async def hold_turn(deps: ApiDependencies, caller: Caller) -> AsyncIterator[None]:
    """Hold a turn of the caller's key and owner in this instance, while a request is worked on and waits for nobody.

    Raise `HTTPException` with 429 where too many wait for one.
    """
    async with (
        take_turn(deps.requests_of, caller.digest, most=REQUESTS_MAX, within_s=REQUEST_S, what="requests"),
        take_turn(deps.requests_of_owner, caller.owner.id, most=OWNER_REQUESTS_MAX, within_s=REQUEST_S, what="requests"),
    ):
        yield


def check_may_run(deps: ApiDependencies, caller: Caller) -> None:
    """Raise `HTTPException` with 403 where the caller may not start anything, `WorkspaceClosedError` where nobody may."""
    require_right(deps, caller, Right.RUN)
    check_needs([RouteNeed.RUN], caller)
