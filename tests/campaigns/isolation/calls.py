"""Calls: what a model of one side asks of tools with something of the other's in it, and what a function is asked straight.

An attempt at a tool is written like one at a route: its method is `CALL`, its path the tool, its body the arguments. One at a
function has the method `TICKET`, and its body says which call of which execution the function is to execute.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ferryman.catalog.tools import TOOLS
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.tool import Tool
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.tickets import CallRequest
from tests.campaigns.isolation.attempts import WORD, Attempt
from tests.campaigns.isolation.belongings import SECRET, TWIN_CREDENTIAL, Belongings
from tests.campaigns.isolation.deployment import Answer, Deployment
from tests.campaigns.isolation.functions import CALLS_A_TURN, Functions, TurnsModel
from tests.campaigns.isolation.surface import build_value
from tests.campaigns.isolation.tool_names import list_tool_names

SCOPES: Mapping[str, str] = {
    **dict.fromkeys(("workspace", "workspace_id", "workspaceId"), "workspace"),
    **dict.fromkeys(("agent", "agent_id"), "agent"),
    **dict.fromkeys(("owner", "owner_id", "user", "user_id", "person_id"), WORD),
    **{"task": "task", "task_id": "task", "execution_id": "execution"},
    **dict.fromkeys(("conversation", "conversation_id"), "conversation"),
}
"""Arguments by which a model may ask for somebody else's, and the kind of what they name: no schema has them (S4-98)."""

TURNS_MAX = 8
ENDINGS = (f"⟦{SECRET}⟧", f"⟦{WORD}⟧", "⟦credential⟧")
"""What a model says at the end: where another's scanner read it, it would be redacted."""


def list_calls() -> list[Attempt]:
    """Return the attempts of a model."""
    return [*_list_scoped(), *_list_named()]


def _list_scoped() -> Iterator[Attempt]:
    for name in list_tool_names():
        for field, kind in SCOPES.items():
            yield _call("a scope in a tool's arguments", name, {**_build_arguments(TOOLS[name]), field: f"⟦{kind}⟧"})


def _list_named() -> Iterator[Attempt]:
    url = "https://api.github.com/users/1"
    for field in ("⟦credential⟧", f"⟦{SECRET}⟧", f"⟦{WORD}⟧"):
        yield _call("a credential", "api_call", {"method": "GET", "url": url, "credential": field})
        yield _call("a credential", "http_request", {"method": "GET", "url": url, "credential": field})
    for text in (f"⟦{SECRET}⟧", f"⟦{SECRET}|in capitals⟧", f"⟦{SECRET}|percent-encoded⟧"):
        yield _call("a text that another's scanner would redact", "http_get", {"url": f"https://api.github.com/{text}"})
        yield _call("a text that another's scanner would redact", "find_tools", {"query": text})
        yield _call("a text that another's scanner would redact", "web_search_tool", {"query": text})
        yield _call("a text that another's scanner would redact", "web_fetch", {"url": f"https://api.github.com/{text}"})
        arguments = {"kind": "taste", "preference": text}
        yield _call("a text that another's scanner would redact", "save_preference", arguments)
    for key in (
        f"⟦{WORD}⟧.md",
        f"../⟦workspace⟧/⟦{WORD}⟧.md",
        f"workspaces/⟦workspace⟧/⟦{WORD}⟧.md",
        f"..\\⟦workspace⟧\\⟦{WORD}⟧.md",
    ):
        yield _call("a file", "file_read", {"key": key})
        yield _call("a file", "file_edit", {"key": key, "old_text": f"⟦{WORD}⟧", "new_text": "x"})
    for text in (f"⟦{WORD}⟧", f"../⟦workspace⟧/⟦{WORD}⟧", "⟦workspace⟧"):
        yield _call("a search of files", "file_list", {"prefix": text})
        yield _call("a search of files", "glob_search", {"pattern": f"**{text}**"})
        yield _call("a search of files", "content_search", {"query": text})
    search = "orchestrator__search_past_messages"
    for text in (f"⟦{WORD}⟧", f"⟦{SECRET}⟧"):
        yield _call("a past message", search, {"query": text})
    for name in ("⟦conversation⟧", "⟦conversation|in capitals⟧", "../⟦workspace⟧/⟦conversation⟧"):
        yield _call("a past message", search, {"query": "hello", "in_conversation": name})
    for tool in ("cron_update", "cron_remove", "cron_run", "cron_runs"):
        for name in ("⟦task⟧", f"task_cron_⟦{WORD}⟧"):
            yield _call("another's schedule", tool, {"id": name, "enabled": False})
    for query in ("⟦tool⟧", "⟦cluster⟧", f"⟦{WORD}⟧", f"⟦{WORD}⟧ look", f"{{⟦{WORD}⟧}}", "user look github"):
        yield _call("a search for tools", "find_tools", {"query": query})
    for name in ("⟦tool⟧", f"⟦{WORD}⟧op", f"⟦cluster⟧_⟦{WORD}⟧op", f"custom_⟦{WORD}⟧op"):
        yield _call("a declared tool", name, {"user": "1"})
        yield _call("a declared tool", "call_custom_tool", {"toolName": name, "arguments": {"user": "1"}})
    for cluster in ("⟦cluster⟧", "⟦cluster|in capitals⟧", f"⟦{WORD}⟧", "⟦tool⟧"):
        yield _call("a declared tool", "delete_tool_cluster", {"cluster": cluster})


def list_twin_calls() -> list[Attempt]:
    """Return the attempts at a credential that a process keeps, opened, of another's task that has names in common."""
    arguments = {"method": "GET", "url": "https://api.github.com/user", "credential": TWIN_CREDENTIAL}
    return [_call("a credential of the same name", tool, arguments) for tool in ("api_call", "http_request")]


def _build_arguments(tool: Tool) -> dict[str, Any]:
    """Return arguments that the tool takes."""
    known = {"url": "https://api.github.com/users/1", "method": "GET", "expression": "6 * 7", "kind": "taste"}
    known["credential"] = "⟦own credential⟧"
    arguments: dict[str, Any] = build_value({}, tool.schema)
    return {name: known.get(name, value) for name, value in arguments.items()}


def _call(kind: str, tool: str, arguments: Mapping[str, Any]) -> Attempt:
    return Attempt(kind=kind, method="CALL", path=tool, body=arguments)


def list_tickets() -> list[Attempt]:
    """Return the attempts of somebody who may ask a function: a call of the other's, for one's own task or the other's."""
    return [
        Attempt(
            kind="a call of another's execution",
            method="TICKET",
            path=tool,
            body={"execution": execution, "seq": seq, "task": task, "owner": f"⟦{WORD}⟧"},
        )
        for tool in ("api_call", "http_get")
        for execution in ("⟦execution⟧", "⟦waiting execution⟧")
        for task in ("⟦task⟧", "⟦own task⟧")
        for seq in (0, 7)
    ]


async def run_calls(
    deployment: Deployment, functions: Functions, mine: Belongings, calls: Sequence[Attempt], ending: str, *, task: str = "task"
) -> list[Answer]:
    """Have a model make the calls, a few executions long, and return what the API shows of each, and last of the ending."""
    answers: list[Answer] = []
    for first in range(0, max(1, len(calls)), CALLS_A_TURN * TURNS_MAX):
        here = calls[first : first + CALLS_A_TURN * TURNS_MAX]
        asks = [(call.path, call.body) for call in here]
        turns = [asks[start : start + CALLS_A_TURN] for start in range(0, len(asks), CALLS_A_TURN)]
        execution = await start(deployment, mine, task)
        model = TurnsModel(turns=turns, ending=ending, clock=deployment.stage.clock)
        await functions.finish(mine.caller, execution, model)
        listed = await deployment.ask(mine.caller, "GET", f"/v1/executions/{execution}/calls?limit=100")
        record = await deployment.ask(mine.caller, "GET", f"/v1/executions/{execution}")
        rows = {row["id"]: row for row in listed["calls"]}
        for index in range(len(here)):
            row = rows.get(f"toolu_{index // CALLS_A_TURN}_{index % CALLS_A_TURN}", record["error"])
            answers.append(build_answer(row))
    return [*answers, build_answer(record)]


async def start(deployment: Deployment, mine: Belongings, task: str = "task") -> str:
    """Start an execution of a side's task."""
    started = await deployment.ask(mine.caller, "POST", f"/v1/tasks/{mine.ids[task]}/executions", body={"input": "Do it."})
    return str(started["execution_id"])


async def ask_for_ticket(functions: Functions, attempt: Attempt) -> Answer:
    """Have a function execute a call, and return what becomes of it as anybody but its caller, the orchestrator, is told."""
    try:
        ticket = await functions.execute(attempt.path, CallRequest(**{**attempt.body, "epoch": 1}))
    except StaleError:
        return build_answer("the function did not take the call")
    except (UnavailableError, RejectedError) as error:
        return build_answer(f"{type(error).__name__}: {error}")
    return build_answer(repr(ticket))


def build_answer(content: Any) -> Answer:
    """Return what is shown of a call as an answer, for the judge."""
    return Answer(status=200, headers=(), body=json.dumps(content, sort_keys=True).encode())
