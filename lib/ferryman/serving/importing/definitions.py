"""Definitions in an archive, read as strangers' input: each line has the members of its kind, and no other.

Nothing in a line names an owner, a workspace or a person: these are of who imports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import AwareDatetime, Field, StrictBool, StrictInt, StrictStr, TypeAdapter, ValidationError

from ferryman.domain.approvals.archived_rules import distrust_rules
from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.copies import replace
from ferryman.domain.credentials.credential import AuthType
from ferryman.domain.records import document
from ferryman.domain.remote_servers.descriptor import TOOLS_PER_SERVER_MAX
from ferryman.domain.remote_servers.names import SERVER_CHARACTERS_MAX
from ferryman.domain.remote_servers.server import (
    HEADERS_MAX,
    SERVERS_PER_AGENT_MAX,
    URL_CHARACTERS_MAX,
    RemoteServer,
    ServerAuth,
)
from ferryman.domain.tasks import task as rules
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.tools.settings import ToolSettings
from ferryman.domain.workspaces.agent import Agent
from ferryman.serving.api.shapes import agent as agents
from ferryman.serving.api.shapes import task as tasks
from ferryman.serving.api.shapes import workspace as workspaces
from ferryman.serving.api.shapes.fault import describe_first_fault
from ferryman.serving.api.shapes.rule import Rules, build_rules
from ferryman.serving.api.shapes.shape import Amount, RequestShape

Shape = TypeVar("Shape", bound=RequestShape)
Line = Mapping[str, Any]
Id = Annotated[StrictStr, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
TOOL: TypeAdapter[DeclaredTool] = TypeAdapter(DeclaredTool)


class _Dated(RequestShape):
    created_at: AwareDatetime
    updated_at: AwareDatetime


class WorkspaceLine(_Dated):
    """The line of a workspace."""

    id: Id
    name: StrictStr
    allowed_tools: workspaces.ToolNames
    max_credits_month: Amount | None
    conversation_credits_max: Amount | None
    retention_days: StrictInt | None
    approvals: Rules = ()


class ServerLine(RequestShape):
    """What is told of an MCP server of an agent. What was accepted of it there is accepted by nobody here."""

    id: Id
    name: Annotated[StrictStr, Field(max_length=SERVER_CHARACTERS_MAX)]
    url: Annotated[StrictStr, Field(max_length=URL_CHARACTERS_MAX)]
    auth: ServerAuth
    headers: Annotated[dict[StrictStr, StrictStr], Field(max_length=HEADERS_MAX + 1)]
    enabled: StrictBool
    accepted: Annotated[dict[StrictStr, StrictStr], Field(max_length=TOOLS_PER_SERVER_MAX)]


class AgentLine(agents.AgentChange, _Dated):
    """The line of an agent."""

    id: Id
    template: Annotated[StrictStr, Field(max_length=64)] | None
    archived: StrictBool
    is_default: StrictBool
    mcp_servers: Annotated[tuple[ServerLine, ...], Field(max_length=SERVERS_PER_AGENT_MAX)] = ()


class LabelLine(RequestShape):
    """What is told of a credential, whose value is entered again."""

    name: Annotated[StrictStr, Field(max_length=200)]
    service: Annotated[StrictStr, Field(max_length=200)]
    auth_type: AuthType
    auth_header_name: Annotated[StrictStr, Field(max_length=200)] | None
    auth_param_name: Annotated[StrictStr, Field(max_length=200)] | None
    hosts: Annotated[tuple[Annotated[StrictStr, Field(max_length=300)], ...], Field(max_length=100)]


class TaskLine(tasks.NewTask, _Dated):
    """The line of a task."""

    id: Id
    agent: Id
    tools: tasks.Names
    max_iterations: StrictInt
    max_credits: Amount
    credentials: Annotated[tuple[LabelLine, ...], Field(max_length=100)]


class ToolLine(RequestShape):
    """The line of a tool that a task declares or has imported."""

    task: Id
    tool: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTask:
    """A task of an archive, with the labels of its credentials, each as its line has it."""

    task: Task
    credentials: tuple[Line, ...]


def read_shape(place: str, kind: type[Shape], line: Line) -> Shape:
    """Return the line as its shape. Raise `ArchiveError` that names its first wrong field."""
    try:
        return kind.model_validate(line)
    except ValidationError as error:
        raise ArchiveError(place, describe_first_fault(error)) from None


def read_agent(place: str, line: Line, *, until: datetime) -> tuple[AgentLine, Agent]:
    """Return the agent of a line, under the id that it has there, as nobody's; what is later than `until` is of then.

    Which arguments of a tool decide is for a person to say, not for a document: corrections of flow signatures stay behind, and
    so does that nobody is asked.
    """
    shape = read_shape(place, AgentLine, line)
    fields = shape.model_dump(exclude={"is_default", "mcp_servers", "created_at", "updated_at", "tool_settings"})
    settings = {name: ToolSettings(**setting.model_dump(exclude={"flow"})) for name, setting in shape.tool_settings.items()}
    fields |= {"approvals": distrust_rules(build_rules(fields["approvals"]))}
    return shape, Agent(**fields, owner="", workspace="", tool_settings=settings, **_date(shape, until))


def read_server(line: ServerLine, agent: Agent) -> RemoteServer:
    """Return an MCP server of `agent`, under the id that it has there: disabled, with nothing listed and nothing accepted."""
    fields = line.model_dump(exclude={"accepted", "enabled"})
    return RemoteServer(
        **fields,
        owner="",
        workspace="",
        agent=agent.id,
        enabled=False,
        created_at=agent.created_at,
        updated_at=agent.updated_at,
    )


def read_task(place: str, line: Line, *, until: datetime) -> ReadTask:
    """Return the task of a line likewise."""
    shape = read_shape(place, TaskLine, line)
    if "agent_id" in shape.model_fields_set:
        raise ArchiveError(place, "agent_id: is not a field that is known here")
    fields = shape.model_dump(exclude={"agent_id", "credentials", "schedule", "created_at", "updated_at"})
    fields |= {"schedule": shape.schedule and shape.schedule.schedule(), "tool_loading": rules.ToolLoading(shape.tool_loading)}
    fields |= {"approvals": distrust_rules(build_rules(fields["approvals"]))}
    labels = tuple(label.model_dump(mode="json") for label in shape.credentials)
    # a task that names no workspace would get its owner's default one
    return ReadTask(task=Task(**fields, owner="", workspace="-", **_date(shape, until)), credentials=labels)


def read_tool(place: str, line: Line) -> tuple[str, DeclaredTool]:
    """Return the id of a task in the archive, and a tool of it. Its rules are checked where the task is known."""
    shape = read_shape(place, ToolLine, line)
    try:
        tool = TOOL.validate_python(shape.tool, strict=False)
    except ValidationError as error:
        raise ArchiveError(f"{place}: tool", describe_first_fault(error)) from None
    if document.serialize(tool) != shape.tool:
        raise ArchiveError(place, "tool: is not as this version writes one: a member is too much, or written otherwise")
    return shape.task, replace(tool, is_own=False)


def _date(shape: _Dated, until: datetime) -> dict[str, Any]:
    """Return when a thing was made and changed, in UTC, and not after `until`."""
    created, updated = (min(moment.astimezone(UTC), until) for moment in (shape.created_at, shape.updated_at))
    return {"created_at": created, "updated_at": max(created, updated)}
