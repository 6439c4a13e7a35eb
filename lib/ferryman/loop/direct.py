"""Direct calls: an execution that makes the one call which it was started with, and asks no model.

Its turn is written from the execution instead of a reply. From then on it is a turn like any other: journaled and signed before
the call is sent, and held to the same policy, limits and approvals. Its arguments came through a client: they are untrusted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ferryman.catalog.tools import FINDERS, TOOLS
from ferryman.domain.conversations.reading import fit_ticket
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block, Reply, extract_calls
from ferryman.domain.executions.usage import Usage
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.journal import Run
from ferryman.loop.tool_offer import REACHING
from ferryman.ports.errors import RejectedError

CALL = "call_1"
"""The id of the call in its turn."""

NO_MODEL = "(none)"
"""The name of the model in the setup of an execution that asks none."""

UNREADABLE = "the arguments of the call are no JSON object"


def write_reply(execution: Execution) -> Reply:
    """Return the turn of a direct call, as a model would have asked for it. Raise `RejectedError` for unreadable arguments."""
    try:
        arguments = json.loads(execution.input or "{}")
    except (ValueError, RecursionError):
        raise RejectedError(UNREADABLE) from None
    if not isinstance(arguments, dict):
        raise RejectedError(UNREADABLE)
    block = {"type": "tool_use", "id": CALL, "name": execution.called_tool, "input": arguments}
    return Reply(content=(block,), stop_reason="tool_use", usage=Usage())


def keep_scanned(execution: Execution, content: Sequence[Block]) -> Execution:
    """Return a direct call with its arguments as their scan left them in its turn: from then on nothing else rests anywhere."""
    (call,) = extract_calls(content)
    return replace(execution, input=json.dumps(call.arguments, separators=(",", ":")))


async def read_declared(deps: LoopDependencies, execution: Execution) -> Sequence[DeclaredTool]:
    """Return those declared tools of the task that an execution may call: a direct call itself alone, unless it finds or calls
    others. There may be thousands, which take long to read."""
    tool = execution.called_tool
    if not tool or tool in REACHING:
        return await deps.clusters.tools(execution.task)
    declared = None if tool in TOOLS else await deps.clusters.find(execution.task, tool)
    return () if declared is None else (declared,)


def read_result(run: Run) -> str:
    """Return the result of a direct call that has settled, as a model would read it."""
    assert run.last is not None, "its turn was written"
    settled = run.answered[run.last.first_call]
    fitted = fit_ticket(settled, run.execution.surface, finders=FINDERS)
    assert fitted.result is not None, "it has settled"
    return fitted.result.content
