"""Abandoned work: a server is told that nobody waits for its work any longer, where an execution ends before it is done."""

from __future__ import annotations

import asyncio

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.executions.execution import Execution
from ferryman.ports.errors import UnavailableError
from ferryman.ports.gate import CallPolicy
from ferryman.tools.mcp.contacting import RemoteCallDependencies, open_contact
from ferryman.tools.mcp.protocol.errors import McpClientError

WITHIN_S = 10.0
"""How long a server may take to hear of it: the execution ends all the same."""


async def abandon_work(
    deps: RemoteCallDependencies, continuation: bytes, *, execution: str, seq: int, task: str, epoch: int
) -> bool:
    """Tell the server of call `seq` that nobody waits for its work any longer; return whether it was told.

    `continuation` is sealed to that call of that execution. Raise `StaleError` where the epoch is not the current lease's.
    """
    current, _ = await deps.tools.tickets.scope(execution, task=task, epoch=epoch, now=deps.tools.clock.now())
    try:
        async with asyncio.timeout(WITHIN_S):
            return await _tell_server(deps, current, continuation, seq)
    except (CallRefusedError, McpClientError, UnavailableError, TimeoutError) as error:
        deps.tools.tracer.line("work.not_cancelled", execution=execution, seq=seq, error=type(error).__name__)
        return False


async def _tell_server(deps: RemoteCallDependencies, current: Execution, continuation: bytes, seq: int) -> bool:
    going = await deps.tools.vault.open_continuation(continuation, execution=current.id, seq=seq)
    server = await deps.servers.get(going.server)
    place = (current.owner, current.workspace, current.agent)
    if not going.work or server is None or (server.owner, server.workspace, server.agent) != place or current.policy is None:
        return False
    contact = await open_contact(deps, server)
    call = CallPolicy(execution=current.policy, credentials={}, about={"execution": current.id, "seq": seq}, within_s=WITHIN_S)
    await contact.build_client(deps, call, tool=f"{server.name}__cancel").cancel_task(going.work)
    return True
