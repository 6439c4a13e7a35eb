"""Places: where an execution acts and for whom, in the members that events and records name it by."""

from __future__ import annotations

from collections.abc import Mapping

from ferryman.domain.executions.execution import ExecutionSummary
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace


def describe_place(execution: ExecutionSummary) -> Mapping[str, str]:
    """Return workspace, agent, person and conversation of an execution, without those that it has where it names none.

    So the record of an execution from before there were workspaces has the digests that were signed then.
    """
    place = {}
    if execution.workspace != derive_default_workspace(execution.owner):
        place["workspace_id"] = execution.workspace
    if execution.agent != derive_default_agent(execution.workspace):
        place["agent_id"] = execution.agent
    if execution.person:
        place["person_id"] = execution.person
    if execution.conversation:
        place["conversation_id"] = execution.conversation
    return place
