"""Access tokens at /mcp: what they call and see, what a client is told to ask for, and that none of them approves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.identity import AccessToken
from ferryman.domain.workspaces.member import Right
from ferryman.serving.keys import digest_key
from tests.authority import ISSUER, SUBJECT, sign_token
from tests.builders import build_execution
from tests.serving.people_mcp.stage import TASKS, McpClient, McpStage

URL = "https://api.coingecko.com/0"
READ, RUN = "ferryman:read", "ferryman:read ferryman:run"
FETCH = "ferryman:read ferryman:tools:integration"


@pytest.fixture(autouse=True)
def _linked(people: McpStage) -> None:
    """The identity is linked with the owner."""
    digest = AccessToken(issuer=ISSUER, subject=SUBJECT, scopes=frozenset()).digest
    people.memory.keys[digest] = ApiKey(
        **{"id": "identity_ann", "owner": "ann", "workspace": people.workspace, "created_at": people.clock.now()},
        **{"scopes": (Right.READ, Right.RUN), "issuer": ISSUER, "subject": SUBJECT},
    )


def connect(people: McpStage, *, capabilities: dict[str, Any] | None = None, **claims: Any) -> McpClient:
    """Return a client with an access token of these claims."""
    return people.client(
        {"Authorization": f"Bearer {sign_token(**claims)}"}, **({"capabilities": capabilities} if capabilities else {})
    )


async def list_names(client: McpClient) -> list[str]:
    return [tool["name"] for tool in (await client.call("tools/list")).result["tools"]]


async def test_a_token_calls_a_tool_as_its_person(people: McpStage) -> None:
    about = (await connect(people, scope=RUN).call_tool("http_get", {"url": URL})).result["structuredContent"]
    assert (about["ok"], people.memory.executions[about["execution_id"]].owner) == (True, "ann")


async def test_a_token_lists_the_tools_of_its_scopes(people: McpStage) -> None:
    everything = await list_names(connect(people, scope=RUN))
    assert {"http_get", "calculator", "run_task"} <= set(everything)
    assert await list_names(connect(people, scope=READ)) == ["get_execution", "list_tasks"]
    narrowed = await list_names(connect(people, scope=FETCH))
    assert "http_get" in narrowed
    assert not {"calculator", "run_task", "ask_agent"} & set(narrowed)


@pytest.mark.parametrize(("tool", "scope"), [("calculator", "ferryman:tools:utility"), ("run_task", "ferryman:tools:tasks")])
async def test_a_tool_of_another_scope_asks_for_it(people: McpStage, tool: str, scope: str) -> None:
    answer = await connect(people, scope=FETCH).call_tool(tool, {"expression": "1"} if tool == "calculator" else {})
    challenge = answer.headers["www-authenticate"]
    assert answer.status == 403
    assert 'error="insufficient_scope"' in challenge
    assert f'scope="ferryman:read {scope}"' in challenge
    assert people.orchestrator.executed == []


async def test_a_tool_that_is_not_there_asks_for_no_scope(people: McpStage) -> None:
    answer = await connect(people, scope=FETCH).call_tool("web_fetch", {"url": URL})
    assert (answer.status, answer.code, "www-authenticate" in answer.headers) == (400, ErrorCode.INVALID_PARAMS, False)


async def test_without_the_scope_to_read_nothing_is_seen(people: McpStage) -> None:
    answer = await connect(people, scope="ferryman:run").call("tools/list")
    assert (answer.status, 'scope="ferryman:read"' in answer.headers["www-authenticate"]) == (403, True)


async def test_running_asks_for_its_scope(people: McpStage) -> None:
    answer = await connect(people, scope=READ).call_tool("http_get", {"url": URL})
    assert (answer.status, 'scope="ferryman:read ferryman:run"' in answer.headers["www-authenticate"]) == (403, True)
    assert people.orchestrator.executed == []


@pytest.mark.parametrize(
    "claims",
    [{"aud": "https://other.test/mcp"}, {"iss": "https://evil.test"}, {"exp": 1}],
    ids=["audience", "issuer", "expired"],
)
async def test_a_token_that_is_not_for_here_is_401_with_its_challenge(people: McpStage, claims: dict[str, Any]) -> None:
    answer = await connect(people, **claims).call("tools/list")
    challenge = answer.headers["www-authenticate"]
    assert (answer.status, 'error="invalid_token"' in challenge, "resource_metadata=" in challenge) == (401, True, True)


async def test_who_has_nothing_is_told_where_to_get_a_token(people: McpStage) -> None:
    answer = await people.client({}).call("tools/list")
    assert answer.status == 401
    assert "/.well-known/oauth-protected-resource/mcp" in answer.headers["www-authenticate"]


async def test_a_narrowed_key_cancels_no_execution_of_another_tool(people: McpStage) -> None:
    narrowed = people.member(scopes=(Right.READ, Right.RUN))
    digest = digest_key(narrowed["Authorization"].removeprefix("Bearer "))
    people.memory.keys[digest] = replace(people.memory.keys[digest], tools=("http_get",))
    place = {"owner": "ann", "workspace": people.workspace}
    people.memory.executions["exec_task"] = build_execution(**place, id="exec_task")
    people.memory.executions["exec_call"] = build_execution(**place, id="exec_call", called_tool="http_get")
    client = people.client(narrowed, capabilities=TASKS)
    assert (await client.call("tasks/cancel", {"taskId": "exec_task"})).status == 403
    assert not people.memory.executions["exec_task"].cancel_requested
    assert (await client.call("tasks/cancel", {"taskId": "exec_call"})).status == 200
