"""Belongings: a thing of every kind that the API knows, made for a side through the API itself, with words of its own in it."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.console_sessions.session import build_session
from ferryman.domain.credits.alert import Alert
from ferryman.domain.credits.conversation import ConversationBalance, name_conversation_balance
from ferryman.domain.delivery import AlertState
from ferryman.domain.executions.execution import Status
from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.metering.event import ToolTokens
from ferryman.domain.metering.week import UsageWeek, WeekPart, find_monday
from ferryman.domain.owners.cap import CapKind
from ferryman.domain.remote_servers.pin import PinState, ToolPin
from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.person import INVITATION_LIFETIME, Invitation
from ferryman.inmemory.clock import START
from ferryman.serving import keys
from tests.authority import sign_token
from tests.builders import build_step, build_ticket
from tests.campaigns.isolation.deployment import Caller, Deployment
from tests.campaigns.isolation.surface import Operation, list_operations
from tests.campaigns.isolation.tool_names import list_tool_names
from tests.metering.events import build_event
from tests.serving.conftest import TASK
from tests.serving.values import build_approval, build_standing, deny_approval

SECRET, WAITING, TWIN = "value of the credential", "waiting execution", "task like another's"
TALKING, RESERVED = "task of the agent", 10
"""The task whose executions belong to conversations, and the credits that each of them reserves."""

CONVERSATION_MAX = Decimal(RESERVED) + Decimal("0.5")
"""The limit of every conversation: an execution fits into one in which another has used little, and into none after two."""

TWIN_CREDENTIAL = "GITHUB_TOKEN"
"""What the only credential of every side's task `TWIN` is named, each with a value of its own."""

SPEC = {
    "openapi": "3.1.0",
    "info": {"title": "{word}cluster", "version": "1"},
    "servers": [{"url": "https://api.github.com"}],
    "paths": {"/{word}": {"get": {"operationId": "{word}op", "responses": {}}}},
}


@dataclass(kw_only=True)
class Belongings:
    """What a side has: the ids and names of its things by kind, and the `word` that is in all its texts."""

    caller: Caller
    word: str
    ids: dict[str, str] = field(default_factory=dict)
    idempotency_keys: dict[str, str] = field(default_factory=dict)
    """One for every route that takes any, by its path; each was used, and none by anybody else."""
    cursors: dict[str, str] = field(default_factory=dict)
    """Of a list that has a next page, by its path as the description writes it."""

    def fill(self, value: Any) -> Any:
        """Return a JSON value with the word in the place of `{word}`."""
        if isinstance(value, str):
            return value.replace("{word}", self.word)
        if isinstance(value, Mapping):
            return {self.fill(name): self.fill(item) for name, item in value.items()}
        return [self.fill(item) for item in value] if isinstance(value, list) else value

    def name_key(self, path: str) -> str:
        """Return the idempotency key for a path, which is used from now on."""
        return self.idempotency_keys.setdefault(path, f'"{self.word} {len(self.idempotency_keys)}"')


Maker = Callable[[Deployment, Belongings], Awaitable[str]]


async def make_task(deployment: Deployment, mine: Belongings) -> str:
    """Make some, so that a list has a second page; the last one has a schedule, and is made under an idempotency key."""
    fields = {**TASK, "name": f"{mine.word} one", "task_prompt": f"Do {mine.word}.", "description": mine.word}
    fields |= {"model": "scripted/isolation", "tools": list_tool_names(), "tool_loading": "context-aware"}
    fields |= {"approvals": [{"mode": "never"}]}  # nobody is there to decide
    await deployment.ask(mine.caller, "POST", "/v1/tasks", body=fields)
    twin = (await deployment.ask(mine.caller, "POST", "/v1/tasks", body={**fields, "name": f"{mine.word} twin"}))["task_id"]
    mine.ids[TWIN] = str(twin)
    scheduled = {**fields, "name": f"{mine.word} two", "schedule": {"type": "cron", "cron": "0 9 * * *"}}
    headers = {"Idempotency-Key": mine.name_key("/v1/tasks")}
    task = (await deployment.ask(mine.caller, "POST", "/v1/tasks", body=scheduled, headers=headers))["task_id"]
    return str(task)


async def make_credential(deployment: Deployment, mine: Belongings) -> str:
    name = f"{mine.word.upper()}_TOKEN"
    mine.ids[SECRET] = f"gh-{hashlib.sha256(mine.word.encode()).hexdigest()[:32]}"
    body = {"value": mine.ids[SECRET], "service": "github"}
    for place in (f"{mine.ids['task']}/credentials/{name}", f"{mine.ids['task']}/credentials/A_{name}"):
        await deployment.ask(mine.caller, "PUT", f"/v1/tasks/{place}", body=body)
    await deployment.ask(mine.caller, "PUT", f"/v1/tasks/{mine.ids[TWIN]}/credentials/{TWIN_CREDENTIAL}", body=body)
    return name


async def make_cluster(deployment: Deployment, mine: Belongings) -> str:
    path = f"/v1/tasks/{mine.ids['task']}/tools/import-openapi"
    await deployment.ask(mine.caller, "POST", path, body={"spec": mine.fill(SPEC)})
    return f"{mine.word}cluster"


async def make_tool(deployment: Deployment, mine: Belongings) -> str:
    tool = {"kind": "http", "name": f"{mine.word}_look", "url": f"https://api.github.com/{mine.word}/{{user}}"}
    await deployment.ask(mine.caller, "POST", f"/v1/tasks/{mine.ids['task']}/tools", body=tool)
    return f"{mine.word}_look"


async def make_connection(deployment: Deployment, mine: Belongings) -> str:
    body = {"service": "calendar", "redirect_uri": "http://127.0.0.1:9/callback"}
    begun = await deployment.ask(mine.caller, "POST", f"/v1/tasks/{mine.ids['task']}/credentials/connect", body=body)
    return str(begun["state"])


async def make_execution(deployment: Deployment, mine: Belongings) -> str:
    """Make three: one that waits, one that was cancelled, and the one of the attempts, which ended with a call behind it."""
    path = f"/v1/tasks/{mine.ids['task']}/executions"
    started = [(await deployment.ask(mine.caller, "POST", path, body={"input": mine.word}))["execution_id"] for _ in range(3)]
    await deployment.ask(mine.caller, "POST", f"/v1/executions/{started[1]}/cancel")
    memory, execution = deployment.stage.memory, str(started[2])
    mine.ids[WAITING] = str(started[0])
    result = ToolCallResult(tool="http_get", content=mine.word, response_status=200)
    ticket = build_ticket(call="toolu_1", display_arguments={"url": f"https://{mine.word}.example/"})
    turn = build_step(content=({"type": "text", "text": mine.word},), stop_reason="tool_use", calls=1)
    memory.steps[execution] = {1: turn, 2: replace(turn, number=2, first_call=2, calls=0, event=6)}
    settled = replace(ticket, state=TicketState.SETTLED, settled_at=START, result=result)
    memory.tickets[execution] = {0: settled, 1: replace(settled, seq=1, call="toolu_2")}
    memory.alerts.update({alert.id: alert for alert in (_build_alert(deployment, mine, percent) for percent in (50, 80))})
    memory.usage.update((week.id, week) for week in _build_weeks(mine))
    ended = {"status": Status.COMPLETED, "started_at": START, "completed_at": START, "output": mine.word}
    memory.executions[execution] = replace(memory.executions[execution], **ended)
    return execution


def _build_weeks(mine: Belongings) -> list[UsageWeek]:
    """Return what the workspace used: a tool of its own, and the agent of that name."""
    tokens = (ToolTokens(tool=f"{mine.word}_look", call_tokens=3),)
    event = build_event(mine.word, at=START, workspace=mine.caller.workspace, agent=mine.word, tools=tokens, calls=())
    begun = [UsageWeek.begin(mine.caller.workspace, find_monday(START), part) for part in WeekPart]
    return [week.add([event], now=START) for week in begun]


def _build_alert(deployment: Deployment, mine: Belongings, percent: int) -> Alert:
    """Return an alert of the workspace's cap."""
    return Alert(
        id=deployment.draws.new("alert"),
        owner=mine.caller.owner,
        workspace=mine.caller.workspace,
        kind=CapKind.WORKSPACE,
        subject=mine.caller.workspace,
        limit=Decimal(500),
        percent=percent,
        credits_used=Decimal(percent * 5),
        credits_reserved=Decimal(0),
        month="2026-11",
        execution=mine.ids[WAITING],
        created_at=START,
        state=AlertState.DELIVERED,
    )


async def get_workspace(deployment: Deployment, mine: Belongings) -> str:
    """Have the workspace stored also where it is a default one, with a word of its own in it."""
    path, body = f"/v1/workspaces/{mine.caller.workspace}", {"name": f"{mine.word} workspace", "max_credits_month": "500"}
    await deployment.ask(mine.caller, "PATCH", path, body=body)
    return mine.caller.workspace


async def make_agent(deployment: Deployment, mine: Belongings) -> str:
    agent = Agent(
        id=deployment.draws.new("agent"),
        owner=mine.caller.owner,
        workspace=mine.caller.workspace,
        name=f"{mine.word} one",
        system_prompt=mine.word,
        max_credits_month=Decimal(50),
        conversation_credits_max=CONVERSATION_MAX,
        created_at=START,
        updated_at=START,
    )
    deployment.stage.memory.agents[agent.id] = agent
    return agent.id


async def make_server(deployment: Deployment, mine: Belongings) -> str:
    """Have an MCP server of the agent, with a tool that somebody has accepted."""
    pins = tuple(
        ToolPin(tool=f"{mine.word}-{name}", name=f"books__{name}", state=PinState.ACCEPTED, digest="1" * 64)
        for name in ("look", "buy")
    )
    for name in ("books", "music"):
        server = RemoteServer(
            id=deployment.draws.new("mcp"),
            owner=mine.caller.owner,
            workspace=mine.caller.workspace,
            agent=mine.ids["agent"],
            name=name,
            url=f"https://{mine.word}.example.com/mcp",
            instructions=mine.word,
            pins=pins,
            created_at=START,
            updated_at=START,
        )
        deployment.stage.memory.mcp_servers[server.id] = server
    return server.id


async def make_conversation(deployment: Deployment, mine: Belongings) -> str:
    """Have an execution of the agent in a conversation, which has used so much of its limit that no other one fits."""
    fields = {**TASK, "name": f"{mine.word} talking", "model": "scripted/isolation", "tools": [], "max_credits": str(RESERVED)}
    task = await deployment.ask(mine.caller, "POST", "/v1/tasks", body={**fields, "agent_id": mine.ids["agent"]})
    mine.ids[TALKING], name = str(task["task_id"]), f"{mine.word}-talk"
    body = {"input": mine.word, "conversation": name}
    started = await deployment.ask(mine.caller, "POST", f"/v1/tasks/{mine.ids[TALKING]}/executions", body=body)
    memory = deployment.stage.memory
    execution = memory.executions[started["execution_id"]]
    memory.conversation_balances[name_conversation_balance(execution)] = ConversationBalance(
        id=name_conversation_balance(execution),
        owner=execution.owner,
        workspace=execution.workspace,
        agent=execution.agent,
        conversation=name,
        month="2026-11",
        credits_used=Decimal(2),
        credits_reserved=Decimal(0),
        updated_at=START,
    )
    await deployment.ask(mine.caller, "POST", f"/v1/executions/{execution.id}/cancel")
    return name


async def make_chat(deployment: Deployment, mine: Belongings) -> str:
    """Begin two conversations with the agent; in the second a message was answered, as far as it was stopped."""
    body = {"agent_id": mine.ids["agent"], "title": f"{mine.word} talk"}
    await deployment.ask(mine.caller, "POST", "/v1/conversations", body=body)
    chat = str((await deployment.ask(mine.caller, "POST", "/v1/conversations", body=body))["conversation_id"])
    message = {"content": mine.word, "model": "scripted/isolation"}
    await deployment.ask(mine.caller, "POST", f"/v1/conversations/{chat}/messages", body=message)
    await deployment.ask(mine.caller, "POST", f"/v1/conversations/{chat}/stop")
    return chat


async def make_job(deployment: Deployment, mine: Belongings) -> str:
    """Make those that deleted an agent, a member and a workspace; the one of the attempts is that of the agent."""
    deleted_ids = {kind: deployment.draws.new(kind) for kind in DELETION_JOBS}
    mine.ids.update({f"{DELETED} {kind}": name for kind, name in deleted_ids.items()})
    jobs = [
        Job(
            id=deployment.draws.new("job"),
            owner=mine.caller.owner,
            workspace=name if kind == "workspace" else mine.caller.workspace,
            kind=DELETION_JOBS[kind],
            subject=name,
            created_at=START,
        )
        for kind, name in deleted_ids.items()
    ]
    deployment.stage.memory.jobs.update({job.id: job for job in jobs})
    return jobs[0].id


async def make_approval(deployment: Deployment, mine: Belongings) -> str:
    """Make two of the execution that waits: the one of the attempts, and one that was denied, with a reason."""
    memory, execution = deployment.stage.memory, mine.ids[WAITING]
    place = {"workspace": mine.caller.workspace, "agent": mine.ids["agent"], "task": mine.ids["task"], "execution": execution}
    for number in range(2):
        name = deployment.draws.new("appr")
        approval = build_approval(mine.caller.owner, **place, id=name, seq=number, tool=f"{mine.word}_look")
        memory.approvals[name] = replace(approval, form=approval.form.replace("gists", mine.word))
    memory.approvals[name] = deny_approval(memory.approvals[name], reason=mine.word)
    waiting = next(known.id for known in memory.approvals.values() if (known.execution, known.seq) == (execution, 0))
    memory.executions[execution] = replace(memory.executions[execution], waiting_for=waiting, waiting_since=START)
    return waiting


async def make_standing_approval(deployment: Deployment, mine: Belongings) -> str:
    for _ in range(2):
        name = deployment.draws.new("stand")
        standing = replace(
            build_standing(mine.caller.owner), id=name, workspace=mine.caller.workspace, tool=f"{mine.word}_look"
        )
        deployment.stage.memory.standing_approvals[name] = standing
    return name


async def make_person(deployment: Deployment, mine: Belongings) -> str:
    """Make a member who is not the caller, with a key and a session, two invitations, and a key and sessions of the caller."""
    if mine.caller.person:
        await deployment.ask(mine.caller, "POST", "/v1/keys", body={"name": f"{mine.word} key"})
    member = deployment.add_person(mine.caller, Role.VIEWER)
    mine.ids["key"] = member.key
    for holder in (*[mine.caller] * (2 if mine.caller.person else 0), member):  # the owner's own are of all workspaces
        mine.ids["session"] = _sign_in(deployment, holder, mine.word)
    first, second = (_build_invitation(deployment, mine) for _ in range(2))
    digest = hashlib.sha256(mine.word.encode()).hexdigest()
    deployment.stage.memory.invitations.update({digest: first, digest[::-1]: second})
    mine.ids["invitation"] = first.id
    return member.person


def _sign_in(deployment: Deployment, caller: Caller, word: str) -> str:
    memory, name = deployment.stage.memory, deployment.draws.new("sess")
    digest = keys.digest_key(caller.headers["Authorization"].split()[1])
    memory.console_sessions[name] = build_session(name, memory.keys[digest], digest, browser=word, now=START)
    return name


def _build_invitation(deployment: Deployment, mine: Belongings) -> Invitation:
    return Invitation(
        id=deployment.draws.new("inv"),
        owner=mine.caller.owner,
        workspace=mine.caller.workspace,
        name=f"{mine.word} guest",
        role=Role.VIEWER,
        invited_by=mine.caller.person,
        created_at=START,
        expires_at=START + INVITATION_LIFETIME,
    )


DELETED = "deleted"
DELETION_JOBS = {
    "agent": JobKind.DELETE_AGENT,
    "chat": JobKind.DELETE_CONVERSATION,
    "person": JobKind.END_EXECUTIONS,
    "workspace": JobKind.DELETE_WORKSPACE,
}
"""Kinds of which one was deleted by a job, which is answered to who asks for it again."""

ALONGSIDE = frozenset({"key", "invitation", "session"})
"""Kinds of which one is made with another: with the person."""


async def make_identity(deployment: Deployment, mine: Belongings) -> str:
    """Link two identities with the caller; the one of the attempts is the second."""
    for number in range(2):
        token = sign_token(sub=f"{mine.word} subject {number}", exp=int((START + timedelta(days=3_650)).timestamp()))
        linked = await deployment.ask(mine.caller, "POST", "/v1/identities", body={"access_token": token})
    return str(linked["identity_id"])


async def make_file(deployment: Deployment, mine: Belongings) -> str:
    for name in (f"{mine.word}.md", f"{mine.word}.txt"):
        await deployment.ask(mine.caller, "PUT", f"/v1/files/{name}", body={"text": mine.word})
    return f"{mine.word}.md"


MAKERS: Mapping[str, Maker] = {
    "workspace": get_workspace,
    "agent": make_agent,
    "server": make_server,
    "task": make_task,
    "credential": make_credential,
    "cluster": make_cluster,
    "tool": make_tool,
    "connection": make_connection,
    "execution": make_execution,
    "approval": make_approval,
    "standing_approval": make_standing_approval,
    "conversation": make_conversation,
    "chat": make_chat,
    "job": make_job,
    "person": make_person,
    "identity": make_identity,
    "file": make_file,
}
"""How a thing of each kind is made, in an order in which each finds what it needs. A kind that is new belongs in here."""


async def make_belongings(deployment: Deployment, caller: Caller, word: str) -> Belongings:
    """Make one thing of every kind for a caller."""
    mine = Belongings(caller=caller, word=word)
    for kind, make in MAKERS.items():
        mine.ids[kind] = await make(deployment, mine)
    for operation in list_operations(deployment.app.openapi()):
        if operation.pages:
            await _keep_cursor(deployment, mine, operation)
        if operation.keyed and operation.path not in mine.idempotency_keys:
            headers = {"Idempotency-Key": mine.name_key(operation.path)}
            await deployment.send(mine.caller, "POST", f"/v1/executions/{mine.ids['execution']}/cancel", headers=headers)
    return mine


async def _keep_cursor(deployment: Deployment, mine: Belongings, operation: Operation) -> None:
    """Keep the cursor of the second page of a list, where it has one."""
    kinds = {place.name: mine.ids[place.kind] for place in operation.places if place.where == "path"}
    page = await deployment.ask(mine.caller, "GET", f"{operation.path.format_map(kinds)}?limit=1")
    if page["next"] is not None:
        mine.cursors[operation.path] = page["next"]
