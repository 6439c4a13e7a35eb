"""The parts of a workspace that a deletion counts and deletes one by one, in this order.

Executions come first: while one is under way, its task's secrets are needed to find them in what it stores.
"""

from __future__ import annotations

from dataclasses import dataclass

from ferryman.domain.jobs.job import JobKind


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspacePart:
    """The documents of a collection that belong to a workspace, with those below each of them.

    `below` are the collections below a document, and what their documents are counted as. `of_agents` tells that each document
    belongs to an agent, too, `of_conversations` to a conversation, and `is_group` that the documents are in collections of that
    name below others.
    """

    name: str
    collection: str
    below: tuple[str, ...] = ()
    of_agents: bool = False
    of_conversations: bool = False
    is_group: bool = False


EXECUTIONS = WorkspacePart(
    name="executions", collection="executions", below=("calls", "steps"), of_agents=True, of_conversations=True
)
APPROVALS = WorkspacePart(name="approvals", collection="approvals", of_agents=True, of_conversations=True)
"""After the executions, which ask for them."""
CONVERSATIONS = WorkspacePart(
    name="conversations", collection="conversations", below=("messages",), of_agents=True, of_conversations=True
)
"""After the executions, which write into them."""
TASKS = WorkspacePart(name="tasks", collection="tasks", below=("credentials", "connections", "clusters"), of_agents=True)
MCP_SERVERS = WorkspacePart(
    name="mcp_servers", collection="mcp_servers", below=("credentials", "connections", "descriptors"), of_agents=True
)
REFUSED = WorkspacePart(name="refused_requests", collection="executions", of_agents=True)
"""The requests that applications wrote for its tasks and that were refused, each in the place of an execution."""
CONVERSATION_BALANCES = WorkspacePart(
    name="conversation_balances", collection="conversation_balances", of_agents=True, of_conversations=True
)
"""What conversations used in the month, after everything that could still change it."""
AGENTS = WorkspacePart(name="agents", collection="agents")
MEMBERS = WorkspacePart(name="members", collection="memberships")
"""With each goes the person, where that is the last membership of theirs: nothing else says the name."""
PARTS: tuple[WorkspacePart, ...] = (
    EXECUTIONS,
    APPROVALS,
    CONVERSATIONS,
    TASKS,
    MCP_SERVERS,
    REFUSED,
    CONVERSATION_BALANCES,
    AGENTS,
    MEMBERS,
    WorkspacePart(name="standing_approvals", collection="standing_approvals"),
    WorkspacePart(name="keys", collection="api_keys"),
    WorkspacePart(name="console_sessions", collection="console_sessions"),
    WorkspacePart(name="sign_in_links", collection="sign_in_links"),
    WorkspacePart(name="invitations", collection="invitations"),
    WorkspacePart(name="audit_entries", collection="audit"),
    WorkspacePart(name="user_documents", collection="user_memory", is_group=True),
    WorkspacePart(name="answers", collection="keyed_requests"),
    WorkspacePart(name="alerts", collection="alerts"),
    WorkspacePart(name="usage_events", collection="usage_events"),
    WorkspacePart(name="usage", collection="usage"),
)
SUBJECTS = {
    JobKind.DELETE_WORKSPACE: {"workspaces": 1},
    JobKind.DELETE_AGENT: {"agents": 1},
    JobKind.DELETE_CONVERSATION: {},
}
"""What a finished deletion counts besides the documents of its parts: its subject, where that is none of them."""


def list_parts(kind: JobKind) -> tuple[WorkspacePart, ...]:
    """Return the parts that a job of `kind` deletes, in their order; none where it deletes nothing."""
    if kind is JobKind.DELETE_WORKSPACE:
        return PARTS
    if kind is JobKind.DELETE_CONVERSATION:
        return tuple(part for part in PARTS if part.of_conversations)
    return tuple(part for part in PARTS if part.of_agents) if kind is JobKind.DELETE_AGENT else ()
