"""An API in memory that holds one of everything that a page shows, with the texts that a test chooses.

`Texts` gives the text for a place, such as `result`: those of an ordinary day, or hostile ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from fastapi import FastAPI

from ferryman.domain.approvals.form import HttpForm
from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.calls.refusal import Refusal
from ferryman.domain.credentials.credential import GrantStatus, SealedCredential
from ferryman.domain.credits import ledger
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.usage import Usage
from ferryman.domain.files.object import Object
from ferryman.domain.remote_servers.pin import PinState, ToolPin
from ferryman.domain.remote_servers.server import ServerInfo
from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.domain.tools.declared import DeclaredTool, Parameter, build_cluster
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.inmemory.clock import START
from tests.browser.signing import sign_execution
from tests.builders import build_execution, build_label, build_setup, build_step, build_task, build_ticket
from tests.metering.events import build_event
from tests.remote_servers import build_server
from tests.serving.conftest import SIGNING, Stage, create_app
from tests.serving.values import build_approval, deny_approval

Texts = Callable[[str], str]
"""From the name of a place to the text that is in it."""

OWNER = "ann"
TASK, EXECUTION, RUNNING, APPROVAL, CONVERSATION = "task_report", "exec_done", "exec_running", "appr_open", f"conv_{OWNER}"
TRY = "exec_tried"
AGENT, SERVER, CLUSTER = f"agent_{OWNER}", "mcp_tracker", "weather"
CALLS = 6
DENIED = "appr_denied"
DIGESTS = ("1" * 64, "2" * 64)

ORDINARY = {
    "task": "Weekly weather report",
    "description": "Tells the team what to wear.",
    "task-system": "Answer in short sentences.",
    "prompt": "Read the forecast of the week, and post a summary of it to the team.",
    "input": "Only Hamburg, please.",
    "say": "I read the forecast first.",
    "output": "The week stays dry. **Thursday** brings wind from the north; see [the forecast](https://api.example.com/week).",
    "argument": "https://api.example.com/week?city=hamburg",
    "result": '{"thursday": {"wind": "7 Bft", "rain": 0.2}}',
    "refusal": "Refused: api.example.org is no domain of this task.",
    "label": "weather",
    "title": "Ferries to the islands",
    "question": "When does the last ferry leave?",
    "answer": "The last one leaves at **23:00**.\n\n- from pier 4\n- `daily`",
    "agent": "Researcher",
    "system": "You find things out.",
    "agent-description": "Reads before it answers.",
    "server": "Tracker",
    "instructions": "Search before you create an issue.",
    "descriptor": "Search issues by their words.",
    "descriptor-after": "Search issues by their words and their labels.",
    "tool-summary": "The forecast of a place",
    "file": "reports/week-47.md",
    "audit": "updateTask",
    "target": "task_report",
    "person": "Bea",
    "invitation": "Cleo",
    "key-name": "A laptop",
    "browser": "Firefox on Linux",
    "decision": "Not today.",
    "workspace": "The team",
    "body": '{"text": "The week stays dry."}',
    "error": "the model's provider did not answer",
}

LIMITS = {
    **dict.fromkeys(("task", "agent", "person", "invitation", "key-name", "workspace", "title", "tool-summary", "server"), 100),
    **{
        "browser": 200,
        "label": 200,
        "decision": 500,
        "target": 1_000,
        "audit": 100,
        "description": 1_000,
        "descriptor": 10_000,
    },
    **{"agent-description": 1_000, "instructions": 10_000, "descriptor-after": 10_000, "file": 1_000},
    **{"prompt": 50_000, "task-system": 50_000, "system": 50_000, "input": 20_000, "question": 20_000, "argument": 100_000},
}
"""About how many characters the API accepts at a place; other places hold what a model or an upstream answers, unlimited."""


def read_ordinary(place: str) -> str:
    """Return the text of an ordinary day for a place."""
    return ORDINARY[place]


@dataclass(frozen=True)
class FilledSite:
    """The API, its stored objects, and the API key of the person who looks at it."""

    stage: Stage
    app: FastAPI
    key: str


def build_site(texts: Texts = read_ordinary) -> FilledSite:
    """Return an API that holds one of everything, with these texts."""
    stage = Stage()
    key = stage.owner(OWNER)["Authorization"].removeprefix("Bearer ")
    site = FilledSite(stage=stage, app=_create_app(stage), key=key)
    fill(site, texts)
    return site


def build_empty_site() -> FilledSite:
    """Return an API of a new owner: every list is empty."""
    stage = Stage()
    key = stage.owner(OWNER)["Authorization"].removeprefix("Bearer ")
    memory = stage.memory
    for stored in (memory.jobs, memory.conversations, memory.messages, memory.mcp_servers, memory.approvals):
        stored.clear()
    for more in (memory.standing_approvals, memory.invitations, memory.memberships, memory.people):
        more.clear()
    memory.agents.pop(f"agent_{OWNER}")
    stage.objects._objects.clear()
    return FilledSite(stage=stage, app=_create_app(stage), key=key)


def _create_app(stage: Stage) -> FastAPI:
    """Return an API that has imported all of its routes: several are served in one process, and imports of two at once warn."""
    app = create_app(replace(stage.deps(), is_local=True, poll_s=0.2))
    app.state.groups.load_all()
    return app


def fill(site: FilledSite, texts: Texts) -> None:
    """Store one of everything, with these texts, in the place of what an earlier call has stored."""
    memory, place = site.stage.memory, derive_default_workspace(OWNER)
    where = {"owner": OWNER, "workspace": place}
    memory.tasks[TASK] = build_task(
        **where,
        id=TASK,
        agent=derive_default_agent(place),
        name=texts("task"),
        task_prompt=texts("prompt"),
        description=texts("description"),
        system_prompt=texts("task-system"),
        model="scripted/hello",
        tools=("http_get", "http_post"),
        integrations=("calendar", "coingecko"),
        created_at=START - timedelta(days=2),
        schedule=Schedule(type=ScheduleType.CRON, cron="0 7 * * 1"),
        next_fire_at=START + timedelta(days=1, hours=19),
    )
    memory.credentials[TASK] = {name: _build_credential(name, texts) for name in ("COINGECKO_API_KEY", "CALENDAR_TOKEN")}
    _fill_executions(site, texts)
    memory.agents[AGENT] = replace(
        memory.agents[AGENT], name=texts("agent"), system_prompt=texts("system"), description=texts("agent-description")
    )
    _fill_conversation(site, texts)
    memory.approvals[APPROVAL] = build_approval(
        OWNER,
        what=HttpForm(method="POST", url=texts("argument"), headers=(("X-Note", texts("label")),), body=texts("body")),
        id=APPROVAL,
        execution=RUNNING,
        task=TASK,
        seq=CALLS - 1,
        agent=derive_default_agent(place),
    )
    waiting = memory.approvals[f"appr_{OWNER}"]
    memory.approvals[waiting.id] = replace(waiting, execution=RUNNING, task=TASK)
    _fill_decision(site, texts)
    pins = (
        ToolPin(tool="search", name="tracker__search", state=PinState.CHANGED, digest=DIGESTS[0], pending=DIGESTS[1]),
        ToolPin(tool="create", name="tracker__create", state=PinState.NEW, pending=DIGESTS[0]),
        ToolPin(tool="drop", name="tracker__drop", state=PinState.REFUSED, pending=DIGESTS[0], reason=texts("refusal")),
    )
    info = ServerInfo(name=texts("server"), title=texts("server"), version=texts("label"))
    memory.mcp_servers[SERVER] = build_server(
        **where, id=SERVER, agent=AGENT, pins=pins, info=info, instructions=texts("instructions"), detail=texts("error")
    )
    memory.mcp_descriptors[SERVER] = {
        DIGESTS[0]: _write_descriptor(texts("descriptor")),
        DIGESTS[1]: _write_descriptor(texts("descriptor-after")),
    }
    tool = DeclaredTool(
        name=f"{CLUSTER}_forecast",
        description=texts("descriptor"),
        summary=texts("tool-summary"),
        url="https://api.example.com/week",
        parameters={"city": Parameter(schema={"type": "string", "description": texts("descriptor")})},
        cluster=CLUSTER,
    )
    disabled = replace(tool, name=f"{CLUSTER}_archive", enabled=False, reason=texts("refusal"))
    single = replace(tool, name="look_up", cluster="", is_own=True)
    clusters = {CLUSTER: (tool, disabled), "": (single,)}
    memory.clusters[TASK] = {name: (build_cluster(name, 1, tools), tools) for name, tools in clusters.items()}
    key = f"workspaces/{place}/{texts('file')}"
    file = Object(key=key, size_bytes=5, version="1", updated_at=START, content_type="text/markdown", metadata={})
    site.stage.objects._objects[key] = (file, b"Notes")
    memory.audit["audit_1"] = AuditEntry(
        **where, id="audit_1", action=texts("audit"), targets=(texts("target"),), done=True, created_at=START
    )
    _fill_names(site, texts)
    _fill_usage(site)
    entry = ledger.record_reservation(memory.executions[EXECUTION], Decimal(100), at=START)
    memory.entries[entry.id] = entry
    for name in (EXECUTION, RUNNING):
        sign_execution(memory, name, SIGNING)


def _build_credential(name: str, texts: Texts) -> SealedCredential:
    """Return a credential of the task; the scopes of a token are a text of its service."""
    is_token = name == "CALENDAR_TOKEN"
    service, host = ("calendar", "api.calendar.test") if is_token else ("coingecko", "api.coingecko.com")
    label = build_label(owner=OWNER, task=TASK, name=name, service=service, hosts=(host,))
    grant = GrantStatus(scopes=(texts("label"),), token_expires_at=START + timedelta(hours=1)) if is_token else None
    return SealedCredential(label=label, ciphertext=b"-", key_version=1, created_at=START, updated_at=START, grant=grant)


def _fill_decision(site: FilledSite, texts: Texts) -> None:
    """Store an approval that was denied, with its reason."""
    memory = site.stage.memory
    question = build_approval(OWNER, id=DENIED, execution=EXECUTION, task=TASK, seq=1)
    memory.approvals[DENIED] = deny_approval(question, reason=texts("decision"))


def _fill_usage(site: FilledSite) -> None:
    """Store what every day of the month used."""
    for day in range(1, START.day + 1):
        name = f"usage_{day}"
        at = START - timedelta(days=START.day - day)
        site.stage.memory.usage_events[name] = build_event(
            id=name, workspace=derive_default_workspace(OWNER), agent=AGENT, at=at, llm_tokens=Decimal(4 + day * 7 % 23)
        )


def _fill_names(site: FilledSite, texts: Texts) -> None:
    """Put a text into the names that members give."""
    memory = site.stage.memory
    for stored, place in ((memory.people, "person"), (memory.invitations, "invitation"), (memory.workspaces, "workspace")):
        for name, value in stored.items():
            stored[name] = replace(value, name=texts(place))
    more = ApiKey(owner=OWNER, workspace=derive_default_workspace(OWNER), id="key_laptop", created_at=START)
    memory.keys["3" * 64] = more
    for digest, key in memory.keys.items():
        memory.keys[digest] = replace(key, name=texts("key-name"))
    for name, session in memory.console_sessions.items():
        memory.console_sessions[name] = replace(session, browser=texts("browser"))


def _write_descriptor(description: str) -> str:
    properties = {"query": {"type": "string", "description": description}}
    schema = {"type": "object", "properties": properties, "required": ["query"]}
    hints = {"readOnlyHint": True, "title": description}
    return json.dumps({"name": "search", "description": description, "inputSchema": schema, "annotations": hints})


def _fill_executions(site: FilledSite, texts: Texts) -> None:
    memory, place = site.stage.memory, derive_default_workspace(OWNER)
    started = START - timedelta(seconds=95)
    known: dict[str, Any] = {
        **{"owner": OWNER, "workspace": place, "task": TASK, "input": texts("input")},
        **{"labels": {"about": texts("label")}, "created_at": started, "started_at": started, "iterations": 2},
        **{"usage": Usage(input_tokens=1200, output_tokens=340), "tool_calls_total": CALLS, "events": 2 * CALLS + 3},
    }
    memory.executions[EXECUTION] = build_execution(
        **known, id=EXECUTION, status=Status.COMPLETED, completed_at=START, output=texts("output"), credits_used=Decimal("12.5")
    )
    memory.executions["exec_failed"] = build_execution(
        **{**known, "created_at": started - timedelta(hours=1)},
        id="exec_failed",
        status=Status.FAILED,
        completed_at=START,
        error=texts("error"),
    )
    waiting = {"waiting_for": APPROVAL, "waiting_since": START - timedelta(seconds=26)}
    memory.executions[RUNNING] = build_execution(**known, **waiting, id=RUNNING, status=Status.RUNNING, credits_used=Decimal(4))
    memory.executions[TRY] = build_execution(
        **{**known, "input": json.dumps({"url": texts("argument")}), "events": 3, "tool_calls_total": 1, "iterations": 1},
        id=TRY,
        called_tool="http_get",
        status=Status.COMPLETED,
        completed_at=START,
        output=texts("result"),
    )
    memory.tickets[TRY] = {0: _build_call(0, texts)}
    for name in (EXECUTION, RUNNING, "exec_failed"):
        tickets = {seq: _build_call(seq, texts) for seq in range(CALLS)}
        if name == RUNNING:
            seq = CALLS - 1
            open_call = {"state": TicketState.WAITING, "result": None, "settled_at": None, "approval": APPROVAL}
            tickets[seq] = replace(tickets[seq], **open_call)
        memory.openings[name] = build_setup(prompt=texts("prompt"), system=texts("system"), started_at=started)
        uses = [
            {"type": "tool_use", "id": ticket.call, "name": ticket.tool, "input": dict(ticket.display_arguments)}
            for ticket in tickets.values()
        ]
        memory.steps[name] = {
            1: build_step(
                number=1,
                content=({"type": "text", "text": texts("say")}, *uses),
                stop_reason="tool_use",
                calls=CALLS,
                usage=Usage(input_tokens=900, output_tokens=140),
                at=started + timedelta(seconds=3),
            )
        }
        if name == EXECUTION:
            memory.steps[name][2] = build_step(
                number=2,
                content=({"type": "text", "text": texts("output")},),
                first_call=CALLS,
                event=2 * CALLS + 3,
                at=START - timedelta(seconds=2),
            )
        memory.tickets[name] = tickets


def _build_call(seq: int, texts: Texts) -> Ticket:
    """Return a call that has ended: those with an odd number run beside the one before, and the fifth one was refused."""
    begins = START - timedelta(seconds=90 - 30 * (seq // 2) - 4 * (seq % 2))
    arguments = {"url": texts("argument")}
    if seq == 4:
        result = ToolCallResult.from_refusal(
            "http_get", Refusal(reason="not_allowed", message=texts("refusal")), url=texts("argument")
        )
    else:
        result = ToolCallResult(
            "http_get",
            texts("result"),
            url=texts("argument"),
            method="GET",
            response_status=200,
            response_size_bytes=48,
            latency_ms=12_000.0 + 1000 * seq,
        )
    return build_ticket(
        seq=seq,
        call=f"toolu_{seq}",
        display_arguments=arguments,
        state=TicketState.SETTLED,
        created_at=begins,
        sent_at=begins,
        settled_at=begins + timedelta(seconds=12 + seq),
        result=result,
    )


def _fill_conversation(site: FilledSite, texts: Texts) -> None:
    memory = site.stage.memory
    memory.conversations[CONVERSATION] = replace(memory.conversations[CONVERSATION], title=texts("title"))
    messages = memory.messages[CONVERSATION]
    for number, place in ((1, "question"), (2, "answer")):
        messages[number] = replace(messages[number], content=texts(place))
