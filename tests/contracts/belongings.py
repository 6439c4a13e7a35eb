"""A workspace with something of each kind in it, and what a deletion counts of that."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from ferryman.domain.console_sessions.link import build_link
from ferryman.domain.console_sessions.session import build_session
from ferryman.domain.conversations.asking import Question
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.credentials.token import Fetch, Token
from ferryman.domain.files.kept import Overflow
from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.jobs.parts import EXECUTIONS, TASKS
from ferryman.domain.owners.idempotency import KeyedRequest
from ferryman.domain.owners.user_changes import UserChanges
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.person import Invitation
from ferryman.domain.workspaces.workspace import Workspace
from tests.remote_servers import build_server

from .approvals import build_approval, build_standing
from .conftest import Stores
from .values import (
    DONE,
    ENTRY,
    EXECUTION,
    LATER,
    LEASE,
    NOW,
    OPENING,
    OWNER,
    POLICY,
    RESULT,
    TASK,
    TOO_LATE,
    apply_turn,
    build_sealed,
    call_request,
    turn,
)

COUNTS = {
    **{"answers": 1, "audit_entries": 2, "invitations": 1, "keys": 1, "members": 1, "people": 1, "user_documents": 1},
    **{"console_sessions": 1, "sign_in_links": 1},
    **{
        "approvals": 1,
        "standing_approvals": 2,
        "agents": 1,
        "calls": 2,
        "clusters": 1,
        "credentials": 2,
        "descriptors": 1,
        "executions": 3,
        "former_values": 2,
        "mcp_servers": 1,
    },
    **{"conversation_balances": 1, "conversations": 1, "messages": 2},
    **{"refused_requests": 1, "steps": 2, "tasks": 1, "tokens": 1},
}
"""What `fill` stores in a workspace."""

OF_AGENT = {name: COUNTS[name] for name in COUNTS if name in {*EXECUTIONS.below, *TASKS.below, "executions", "tasks"}} | {
    **{"conversation_balances": 1, "conversations": 1, "messages": 2, "former_values": 2, "refused_requests": 1, "tokens": 1},
    **{"approvals": 1, "standing_approvals": 1, "mcp_servers": 1, "descriptors": 1},
}
"""Of that, what belongs to its agent; the agent's own document goes when the job is started."""


def build_job(kind: JobKind = JobKind.DELETE_WORKSPACE, subject: str = "ws_1", **fields: str) -> Job:
    """Return the job that deletes ws_1, or another."""
    return Job(**{"id": "job_1", "workspace": "ws_1", "owner": "ann", "created_at": NOW, **fields}, kind=kind, subject=subject)


async def fill(stores: Stores, workspace: str = "ws_1", agent: str = "agent_1", person: str = "") -> None:
    """Store a workspace of ann's with an agent, a task of the agent's, a run of it that ended and one that is queued."""
    await stores.owners.put(OWNER)
    await stores.workspaces.create(Workspace(id=workspace, owner="ann", name="w", created_at=NOW, updated_at=NOW))
    place = {"workspace": workspace, "agent": agent}
    await stores.agents.create(Agent(id=agent, owner="ann", workspace=workspace, name="a", created_at=NOW, updated_at=NOW))
    task = replace(TASK, id=f"task_{workspace}", **place)
    await stores.tasks.create(task)
    for version in (1, 2):
        await stores.credentials.put(build_sealed(version, task=task.id))
    tool = DeclaredTool(name="look_up", url="https://api.example.com/", query={}, headers={}, cluster="c")
    await stores.clusters.put(task.id, "c", [tool], since=0)
    await fill_server(stores, workspace, agent)
    await fill_with_people(stores, workspace)
    fetch = Fetch(name="one", until=LATER)
    await stores.tokens.claim(f"{workspace:a<64}", "ann", task.id, fetch, stale=None, now=NOW)
    await stores.tokens.put(f"{workspace:a<64}", Token(fetch="one", ciphertext=b"\x00", expires_at=LATER))
    for of_task in ("", task.id):
        standing = build_standing(id=f"stand_{workspace}_{of_task}", workspace=workspace, task=of_task)
        await stores.approvals.add_standing(standing, most=10)
    await run(stores, replace(EXECUTION, id=f"exec_{workspace}", task=task.id, conversation="talk", **place))
    await fill_conversation(stores, task)
    queued = replace(EXECUTION, id=f"queued_{workspace}", task=task.id, person=person, **place)
    await stores.executions.start(queued, most=10)
    request = {"task": task.id, "input": "Paris", "labels": {"color": "red"}}
    await stores.ask(f"order-{workspace}", request)
    await stores.executions.refuse(f"order-{workspace}", "the queue is full", request, now=NOW)


async def fill_server(stores: Stores, workspace: str, agent: str) -> None:
    """Store an MCP server of an agent with the descriptor of a tool, and a credential that was replaced."""
    server = build_server(id=f"mcp_{workspace}", owner="ann", workspace=workspace, agent=agent)
    await stores.remote_servers.create(server)
    await stores.remote_servers.put_listing(server, {"1": "{}"}, since=1)
    for version in (1, 2):
        await stores.server_credentials.put(build_sealed(version, task=server.id))


async def fill_conversation(stores: Stores, task: Task) -> None:
    """Store a conversation with a question whose answer was stopped before it began."""
    place = {"owner": "ann", "workspace": task.workspace, "agent": task.agent}
    chat = Conversation(id=f"chat_{task.workspace}", task=task.id, created_at=NOW, updated_at=NOW, **place)
    await stores.conversations.create(chat)
    execution = replace(EXECUTION, id=f"answer_{task.workspace}", task=task.id, conversation=chat.id, **place)
    await stores.conversations.ask(chat, Question(content="Where?"), execution, most=10)
    await stores.executions.cancel(execution.id, by="ann", now=LATER)


async def fill_with_people(stores: Stores, workspace: str, person: str = "") -> None:
    """Store a member who is signed in, an open invitation, an audit entry and a request that was answered."""
    person = person or f"person_{workspace}"
    where = {"owner": "ann", "workspace": workspace}
    for name in ("taken", "open"):
        digest = f"{name}-{workspace}-{person}"
        about = {"name": "Bob", "role": Role.ADMIN, "invited_by": "", "created_at": NOW, "expires_at": TOO_LATE}
        await stores.invitations.create(digest, Invitation(id=digest, **where, **about), now=NOW)
    is_new = await stores.members.find_person(person, owner="ann") is None
    digest = f"{workspace}-{person}"
    terms = {"person": person, "is_new": is_new, "key": f"key_{workspace}", "key_digest": digest}
    joined = await stores.invitations.take(f"taken-{workspace}-{person}", **terms, now=NOW)
    assert joined is not None
    await stores.console_sessions.create(build_session(f"session-{digest}", joined[1], digest, browser="", now=NOW))
    await stores.console_sessions.put_link(build_link(f"link-{digest}", joined[1], digest, now=NOW))
    await stores.audit.add(AuditEntry(id=f"audit_{workspace}_{person}", **where, action="changeTask", created_at=NOW))
    ids = {"id": f"request-{workspace}-{person}", "fingerprint": "f", "seed": "s"}
    await stores.keyed.claim(KeyedRequest(**ids, **where, claimed_at=NOW, until=LATER), now=NOW)


async def run(stores: Stores, execution: object) -> None:
    """Run an execution through a turn with two calls to its end; of one the overflow is left."""
    name, task = execution.id, execution.task  # type: ignore[attr-defined] # an execution
    await stores.executions.start(execution, most=10)  # type: ignore[arg-type]
    claimed, _ = await stores.executions.claim(name, slice=0, holder="h", now=NOW, lease=LEASE)
    opened = replace(claimed, policy=replace(POLICY, task=task), events=1)
    entry = replace(ENTRY, id=f"{name}.start", execution=name, task=task)
    await stores.executions.open(opened, OPENING, entry=entry, now=NOW)
    opened = replace(opened, credits_reserved=OPENING.max_credits)
    after = await stores.executions.commit(apply_turn(opened), turn(), now=LATER, lease=LEASE)
    call = call_request(execution=name, task=task)
    asking = await stores.tickets.claim(call, tool="api_call", now=LATER)
    approval = replace(build_approval(execution=name, workspace=claimed.workspace), agent=claimed.agent)
    await stores.tickets.ask(asking, approval, now=LATER)
    ticket = await stores.tickets.claim(call, tool="api_call", now=LATER)
    changes = UserChanges({}, {"user_memory/taste": {"tea": True}})
    await stores.tickets.settle_changes(ticket, RESULT, changes, context=replace(claimed.context, user="person_1"), now=LATER)
    answered = await stores.tickets.claim(call_request(1, execution=name, task=task), tool="api_call", now=LATER)
    await stores.tickets.answer(answered, RESULT, Overflow(content=b"x", offset=1, is_all=True))
    await stores.executions.finish(after, DONE, now=LATER + timedelta(seconds=1))
