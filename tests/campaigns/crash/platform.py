"""The function `platform` in a run that is killed: its tools on the run's own ports, and the schedules that they leave."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from ferryman.catalog.tools import PLATFORM, TOOLS
from ferryman.domain.calls.call import ToolCall
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.plan import PLANS
from ferryman.domain.signed_request import RequestToken
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.ports.clock import Clock
from ferryman.ports.schedules import Timers
from ferryman.schedules.fire import arm_timer
from ferryman.tools.local_function.execute import answer
from ferryman.tools.own_files import load_own_files
from ferryman.tools.platform.call import PlatformDependencies, begin_call
from ferryman.tools.platform.forwarding import FUNCTION
from ferryman.tools.platform.scheduling import PREFIX

load_own_files("ferryman.tools.platform")

SCHEDULERS = ("cron_add", "cron_list")
"""The tools of scenarios in which an agent schedules."""


class CatalogListing:
    """`ports.ToolDiscovery`: the platform lists what the catalog does."""

    async def list_tools(self, _: Execution) -> Mapping[str, Mapping[str, Any]]:
        return {tool.name: tool.to_definition() for tool in TOOLS.values() if tool.kind == PLATFORM}


async def _arm(timers: Timers, task: Task, now: datetime) -> None:
    await arm_timer(timers, task, now=now)


class PlatformTools:
    """The function, as the orchestrator reaches it: what it is posted only says which call it is."""

    def __init__(self, ports: Any, clock: Clock, tasks: Any, timers: Any, **others: Any) -> None:
        absent = {**dict.fromkeys(("members", "past_messages", "queue", "workspaces")), **others}  # of no scenario's tools
        self._executions = ports.executions
        self._deps = PlatformDependencies(
            agents=ports.agents,
            conversations=ports.conversations,
            executions=ports.executions,
            halts=ports.halts,
            owners=ports.owners,
            tasks=tasks,
            timers=timers,
            user_documents=ports.user_documents,
            arm_timer=_arm,
            clock=clock,
            plans=PLANS,
            integrations=frozenset(),
            **absent,
        )

    async def ask(self, body: Mapping[str, Any]) -> KeylessAnswer:
        """Run the tool of the call that `body` names."""
        execution = await self._executions.get(body["execution"])
        assert execution is not None
        signed = RequestToken(user=execution.context.user, workspace=execution.workspace, at=execution.created_at, nonce="")
        call = await begin_call(self._deps, signed, {"execution": execution.id, "seq": body["seq"]})
        tool_call = ToolCall(id=body["call"], name=body["tool"], arguments=body["arguments"])
        answered = await answer(tool_call, UUID(body["user"]), call)
        if call.faults:
            raise call.faults[0]
        return KeylessAnswer(answered.content, answered.code)


async def list_schedules(ports: Any, owner: str) -> list[str]:
    """Return the ids of the schedules that agents added."""
    page = await ports.tasks.list(derive_default_workspace(owner))
    return sorted(task.id for task in page.items if task.id.startswith(f"{PREFIX}_"))


__all__ = ["FUNCTION", "SCHEDULERS", "CatalogListing", "PlatformTools", "list_schedules"]
