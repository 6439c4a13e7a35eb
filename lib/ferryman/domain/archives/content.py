"""Content of an archive: what of a workspace is written, line by line, and what is not.

Not in it: values of credentials, in any form; API keys and their digests; invitations; where alerts are sent, and with which
secret; balances. The owner's id is in records alone, whose receipts cover it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.archives.lines import is_readable
from ferryman.domain.calls.call import Ticket
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import Message
from ferryman.domain.credentials.credential import Label
from ferryman.domain.credits.alert import Alert
from ferryman.domain.credits.ledger import LedgerEntry, sort_entries
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Step
from ferryman.domain.metering.week import UsageWeek
from ferryman.domain.owners.user_document import UserDocument
from ferryman.domain.receipts.receipt import Receipt
from ferryman.domain.records import document
from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.domain.workspaces.member import Membership
from ferryman.domain.workspaces.person import Person
from ferryman.domain.workspaces.workspace import Workspace

Line = dict[str, Any]

LABEL_FIELDS = ("name", "service", "auth_type", "auth_header_name", "auth_param_name", "hosts")
"""What is told of a credential, so that its value can be entered again."""

PARTS = ("opening", "policy", "steps", "calls", "ledger", "receipts")
"""The parts of an execution in the order of their lines, between that of its own and its last."""

_NOT_OF_WORKSPACE = ("owner", "state", "alert_url", "alert_secret", "imported")
_PLACE = ("owner", "workspace")
_NOT_OF_CONVERSATION = (*_PLACE, "pending", "is_deleting")
_NOT_OF_TASK = ("owner", "workspace", "schedule_generation", "next_fire_at", "paused")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionParts:
    """What is stored below an execution, of which `tickets` and `receipts` may be parts of theirs."""

    opening: ExecutionSetup | None = field(default=None, repr=False)
    steps: Sequence[Step] = field(default=(), repr=False)
    tickets: Sequence[Ticket] = field(default=(), repr=False)
    entries: Sequence[LedgerEntry] = field(default=(), repr=False)
    receipts: Sequence[Receipt] = field(default=(), repr=False)


def write_workspace(workspace: Workspace) -> Iterator[Line]:
    """Yield the line of a workspace."""
    yield _leave_out(document.serialize(workspace), _NOT_OF_WORKSPACE)


def write_agents(agents: Iterable[tuple[Agent, Sequence[RemoteServer]]]) -> Iterator[Line]:
    """Yield the lines of agents, each with its MCP servers: where they are, and what was accepted of them; without values."""
    for agent, servers in agents:
        fields = {**_leave_out(document.serialize(agent), _PLACE), "is_default": agent.is_default}
        yield {**fields, "mcp_servers": [_write_server(server) for server in servers]} if servers else fields


def _write_server(server: RemoteServer) -> Line:
    accepted = {pin.tool: pin.digest for pin in server.pins if pin.digest is not None}
    fields = {"id": server.id, "name": server.name, "url": server.url, "auth": server.auth.value}
    return {**fields, "headers": dict(server.headers), "enabled": server.enabled, "accepted": accepted}


def write_task(task: Task, credentials: Iterable[Label]) -> Iterator[Line]:
    """Yield the line of a task, with what its credentials are called and where they are sent; a value is in none."""
    labels = [_choose(document.serialize(label), LABEL_FIELDS) for label in credentials]
    fields = _leave_out(document.serialize(task), _NOT_OF_TASK)
    yield {**fields, "credentials": sorted(labels, key=lambda label: str(label["name"]))}


def write_tools(task: str, tools: Iterable[DeclaredTool]) -> Iterator[Line]:
    """Yield the lines of the tools that a task declares."""
    for tool in tools:
        yield {"task": task, "tool": document.serialize(tool)}


def write_members(members: Iterable[tuple[Membership, Person | None]]) -> Iterator[Line]:
    """Yield the lines of members, with the rights that role and membership give each; a key is in none."""
    for membership, person in members:
        line = {**_leave_out(document.serialize(membership), _PLACE), "name": "" if person is None else person.name}
        yield {**line, "rights": sorted(right.value for right in membership.rights)}


def write_placed(values: Iterable[AuditEntry | Alert]) -> Iterator[Line]:
    """Yield the lines of audit entries, or of alerts."""
    for value in values:
        yield _leave_out(document.serialize(value), _PLACE)


def write_usage(weeks: Iterable[UsageWeek]) -> Iterator[Line]:
    """Yield a line for each row of `weeks`."""
    for week in weeks:
        for day, kind, name, counts in week.read_rows():
            yield {"day": day, "kind": kind.value, "name": name, **document.serialize(counts)}


def write_documents(stored: Iterable[UserDocument], people: Mapping[str, str]) -> Iterator[Line]:
    """Yield the lines of what is kept for users.

    `people` are the ids of persons by that of the user, "" for the owner's; a user whom nobody in it is has left, and null.
    Content that no line can have, which no tool wrote, is null.
    """
    for item in stored:
        line = {"user": item.user, "person": people.get(item.user), "path": item.path, "content": item.content}
        yield line if is_readable(line) else {**line, "content": None}


def write_conversation(conversation: Conversation, head: int) -> Iterator[Line]:
    """Yield the line of a conversation, whose shown branch ends with message `head` in the archive."""
    yield {**_leave_out(document.serialize(conversation), _NOT_OF_CONVERSATION), "head": head}


def write_messages(messages: Iterable[Message]) -> Iterator[Line]:
    """Yield the lines of messages."""
    for message in messages:
        yield document.serialize(message)


def write_execution(execution: Execution) -> Iterator[Line]:
    """Yield the first lines of an execution: its record's, and its policy's where it has one.

    One that was imported has the ids in its record that it had where it ran, so that its receipts fit: `place` has those here.
    """
    place = {"execution": execution.id, "task": execution.task, "agent": execution.agent}
    if execution.is_in_chat:
        place["conversation"] = execution.conversation
    origin = None if execution.imported_from is None else document.serialize(execution.imported_from)
    value = document.serialize_recorded(execution.restore())
    yield {"kind": "execution", "place": place, "origin": origin, "value": value}
    if execution.policy is not None:
        yield {"kind": "policy", "value": document.serialize(execution.policy)}


def write_parts(parts: ExecutionParts) -> Iterator[Line]:
    """Yield the lines of what is below an execution."""
    if parts.opening is not None:
        yield {"kind": "opening", "value": document.serialize_setup(parts.opening)}
    for step in parts.steps:
        yield {"kind": "step", "value": document.serialize(step)}
    for ticket in parts.tickets:
        yield {"kind": "call", "value": document.serialize_ticket(ticket)}
    for entry in sort_entries(parts.entries):
        yield {"kind": "entry", "value": document.serialize_entry(entry)}
    for receipt in parts.receipts:
        yield {"kind": "receipt", "value": receipt.to_json()}


def write_end(execution: str) -> Iterator[Line]:
    """Yield the last line of an execution."""
    yield {"kind": "end", "execution": execution}


def _choose(value: Line, names: Iterable[str]) -> Line:
    return {name: value[name] for name in names}


def _leave_out(value: Line, names: Iterable[str]) -> Line:
    return {name: inner for name, inner in value.items() if name not in names}
