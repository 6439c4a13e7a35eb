"""The start of an execution: read what it belongs to together, and refuse it where that does not allow it to begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ferryman.domain.conversations.chat_task import derive_chat_task
from ferryman.domain.executions.execution import OWNER, Execution
from ferryman.domain.jobs.job import LEAVING, JobKind, JobStatus
from ferryman.domain.owners.plan import Plan
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.effective_policy import ToolLimits
from ferryman.domain.workspaces.member import Membership
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState
from ferryman.loop.dependencies import LoopDependencies
from ferryman.ports.errors import UnavailableError

WAIT_S = 2.0
"""After how long an execution comes again whose person has left, until it is decided what becomes of it."""


class StartRejectedError(Exception):
    """The execution cannot start; the text is the message for the owner."""


class BudgetReachedError(StartRejectedError):
    """The credits of the month, of a conversation or of whom else it counts to, do not suffice; the text has the figures."""

    def ask(self) -> str:
        """Return what the person in a chat is asked."""
        return f"I have not begun: {self}. Shall I try again? Say so once there are credits."


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionStart:
    """What an execution starts from: its task, its workspace, the agent that runs it, the membership of the person who answers
    for it, if one does, the owner's plan, and the lists of tools of plan, workspace and agent. `chosen_model` is the model that
    its starter asked for, "" for the task's."""

    task: Task
    workspace: Workspace
    agent: Agent
    member: Membership | None
    plan: Plan
    limits: ToolLimits

    chosen_model: str = ""

    def select_tools(self, execution: Execution, tools: Sequence[str]) -> Sequence[str]:
        """Return those of `tools` that nobody takes away, in conversations and direct calls with their task neither the request
        nor the agent (S3-43)."""
        if execution.titled_answer:
            return ()
        allowed = self.limits.select(tools)
        is_of_conversations = bool(execution.called_tool) and execution.task == derive_chat_task(execution.agent)
        if not execution.answer and not is_of_conversations:
            return allowed
        return self.agent.select_enabled(allowed) if execution.enable_tools else ()

    @property
    def model(self) -> str:
        """The model that was asked for, or else the task's, or the agent's; "" where nobody names one."""
        return self.chosen_model or self.task.model or self.agent.model or ""


async def read_start(deps: LoopDependencies, execution: Execution) -> ExecutionStart:
    """Return what `execution` starts from. Raise `StartRejectedError` where it cannot start, or `UnavailableError`."""
    person = _name_person(execution)
    documents = await deps.contexts.read(replace(execution.context, user=person or execution.owner))
    task, agent, workspace = documents.task, documents.agent, documents.workspace
    if task is None:
        raise StartRejectedError("the task was deleted")
    if not task.enabled:
        raise StartRejectedError("the task is disabled")
    if workspace is None or workspace.state is WorkspaceState.DELETING:
        raise StartRejectedError("the workspace was deleted")
    if workspace.state is not WorkspaceState.ACTIVE:
        raise StartRejectedError(f"the workspace is {workspace.state}")
    if person and documents.member is None:
        await _wait_for_job(deps, execution, person)
        raise StartRejectedError("the person who answers for the execution has left the workspace")
    if agent is None:
        raise StartRejectedError("the agent was deleted")
    if agent.archived:
        raise StartRejectedError("the agent is archived")
    if task.agent != execution.agent:
        raise StartRejectedError("the task was given to another agent: start it again")
    plan = None if documents.owner is None else deps.plans.get(documents.owner.plan)
    if plan is None:
        raise StartRejectedError("the owner's plan cannot run tasks")
    limits = ToolLimits(agent=agent.allowed_tools, workspace=workspace.allowed_tools, plan=plan.tools)
    start = ExecutionStart(task=task, workspace=workspace, agent=agent, member=documents.member, plan=plan, limits=limits)
    start = replace(start, chosen_model=execution.model)
    if not start.model and not execution.called_tool:
        raise StartRejectedError("neither the task nor its agent names a model")
    return start


async def _wait_for_job(deps: LoopDependencies, execution: Execution, person: str) -> None:
    """Raise `UnavailableError`, so that `execution` comes and is read again, as long as the job of who left may end it or
    name who answers for it from now on, or where the job has done so since it was read."""
    job = await deps.jobs.find(execution.owner, workspace=execution.workspace, subject=person)
    if job is None or job.kind not in LEAVING:
        return
    is_taken_over = job.kind is JobKind.TAKE_OVER_EXECUTIONS and execution.id in job.executions
    if job.status is not JobStatus.DONE or is_taken_over:
        raise UnavailableError("the person has left, and what becomes of the execution is not decided yet", after_s=WAIT_S)


def _name_person(execution: Execution) -> str:
    """Return the person who answers for `execution`, whose cap it counts to: who took it over, or else who started it; "" where
    the owner does."""
    person = execution.taken_over_by or execution.person
    return "" if person == OWNER else person
