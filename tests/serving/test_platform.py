"""The function platform: it verifies who a request is for before anything runs, and acts for that user in that workspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from ferryman.catalog.tools import PLATFORM, TOOLS
from ferryman.domain.signed_request import SignedRequest, sign_request
from ferryman.domain.workspaces.member import Role
from tests.tools.platform_tools.rig import CALLER, FORMER, KEY, Rig, build_request, read_content, read_failure, with_keys


@pytest.fixture
async def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["{CALLER}"]')
    return await Rig().fill()


LIST, LIST_HEADERS = build_request("tools/list", {})


async def list_tools(rig: Rig, authorization: str | None, **changes: Any) -> httpx.Response:
    return await rig.send(replace(LIST, **changes), LIST_HEADERS, authorization)


async def test_the_tools_are_listed_in_the_catalog_s_order_and_for_how_long(rig: Rig) -> None:
    result = (await list_tools(rig, sign_request(KEY, LIST, rig.token()))).json()["result"]
    assert [tool["name"] for tool in result["tools"]] == [tool.name for tool in TOOLS.values() if tool.kind == PLATFORM]
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "public")


async def test_both_valid_keys_are_accepted_and_a_retired_one_is_not(rig: Rig) -> None:
    statuses = [(await list_tools(rig, sign_request(key, LIST, rig.token()))).status_code for key in (KEY, FORMER)]
    retired = (await list_tools(with_keys(rig, KEY), sign_request(FORMER, LIST, rig.token()))).status_code
    assert (statuses, retired) == ([200, 200], 401)


async def test_a_version_that_came_after_the_keys_were_read_is_accepted(rig: Rig) -> None:
    with_keys(rig, FORMER, newer=(KEY, FORMER))
    assert (await list_tools(rig, sign_request(KEY, LIST, rig.token()))).status_code == 200


async def test_a_token_is_used_once(rig: Rig) -> None:
    signed = sign_request(KEY, LIST, rig.token())
    assert [(await list_tools(rig, signed)).status_code for _ in range(2)] == [200, 401]


@pytest.mark.parametrize(("seconds", "status"), [(-301, 401), (-300, 200), (300, 200), (301, 401)])
async def test_a_token_is_good_five_minutes_either_way(rig: Rig, seconds: int, status: int) -> None:
    token = rig.token(at=rig.clock.now() + timedelta(seconds=seconds))
    assert (await list_tools(rig, sign_request(KEY, LIST, token))).status_code == status


async def test_a_request_without_a_token_is_told_nothing(rig: Rig) -> None:
    answer = await list_tools(rig, None)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.json()["error"]["message"] == "no token of the runtime"


FORGERIES: dict[str, Callable[[SignedRequest], SignedRequest]] = {
    "body": lambda request: replace(request, body=request.body.replace(b'"id": 1', b'"id": 2')),
    "path": lambda request: replace(request, path="/mcp?x"),
    "method": lambda request: replace(request, method="PUT"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
async def test_a_token_is_good_for_no_other_request(rig: Rig, forgery: str) -> None:
    signed = sign_request(KEY, LIST, rig.token())
    answer = await rig.send(FORGERIES[forgery](LIST), LIST_HEADERS, signed)
    assert answer.status_code == (405 if forgery == "method" else 401)


async def test_a_header_that_is_signed_cannot_come_twice(rig: Rig) -> None:
    signed = sign_request(KEY, LIST, rig.token())
    headers = [*LIST_HEADERS.items(), ("Mcp-Method", "tools/call")]
    answer = await rig.send(LIST, httpx.Headers(headers), signed)  # type: ignore[arg-type] # a header twice is no mapping
    assert answer.status_code == 401


async def test_nobody_but_the_function_that_signs_is_answered(rig: Rig) -> None:
    signed = sign_request(KEY, LIST, rig.token())
    other = await rig.send(LIST, LIST_HEADERS, signed, caller="ferryman-orchestrator@p.iam.gserviceaccount.com")
    assert other.status_code == 403


async def test_google_s_token_is_read_from_its_own_header(rig: Rig) -> None:
    signed = sign_request(KEY, LIST, rig.token())
    assert (await rig.send(LIST, LIST_HEADERS, signed, caller=signed)).status_code == 403


async def test_a_call_of_another_workspace_is_refused_before_anything_runs(rig: Rig) -> None:
    answer = await rig.call("cron_add", {"name": "n", "prompt": "p", "after_s": 9}, execution="exec_ws_b")
    assert answer.status_code == 403
    assert len(rig.memory.tasks) == 2


async def test_a_call_for_another_user_is_refused(rig: Rig) -> None:
    assert (await rig.call("cron_list", user="bob")).status_code == 403


async def test_a_workspace_among_the_arguments_is_dropped(rig: Rig) -> None:
    arguments = {"workspace_id": "ws_b", "workspace": "ws_b", "owner": "bob", "user_id": "bob"}
    info = read_content(await rig.call("orchestrator__get_workspace_info", arguments))
    assert info["id"] == "ws_a"


@pytest.mark.parametrize(
    "named", [None, {}, {"execution": "exec_ws_a"}, {"execution": 1, "seq": 0}, {"execution": "x", "seq": 0}]
)
async def test_a_request_that_names_no_call_is_refused(rig: Rig, named: Any) -> None:
    request, headers = build_request(
        "tools/call", {"name": "cron_list", "arguments": {}, "_meta": {"com.ferryman/call": named}}
    )
    assert (await rig.send(request, headers, sign_request(KEY, request, rig.token()))).status_code == 403


async def test_a_call_of_an_execution_that_has_ended_or_is_cancelled_is_refused(rig: Rig) -> None:
    execution = rig.memory.executions["exec_ws_a"]
    rig.memory.executions["exec_ws_a"] = replace(execution, cancel_requested=True)
    assert (await rig.call("cron_list")).status_code == 403


async def test_a_person_who_has_left_is_refused(rig: Rig) -> None:
    await rig.run("exec_eve", "ws_a", person="eve")
    assert (await rig.call("cron_list", user="eve", execution="exec_eve")).status_code == 403
    await rig.join("eve", Role.VIEWER)
    assert read_content(await rig.call("cron_list", user="eve", execution="exec_eve")) == {"schedules": []}


@pytest.mark.parametrize(
    ("role", "tool", "arguments"),
    [
        (Role.VIEWER, "cron_add", {"name": "n", "prompt": "p", "after_s": 9}),
        (Role.OPERATOR, "cron_add", {"name": "n", "prompt": "p", "after_s": 9}),
        (Role.OPERATOR, "cron_remove", {"id": "task_cron_1"}),
        (Role.VIEWER, "cron_run", {"id": "task_cron_1"}),
    ],
)
async def test_nobody_has_an_agent_do_what_they_may_not_do(rig: Rig, role: Role, tool: str, arguments: dict[str, Any]) -> None:
    await rig.join("eve", role)
    await rig.run("exec_eve", "ws_a", person="eve")
    failure = read_failure(await rig.call(tool, arguments, user="eve", execution="exec_eve"))
    assert failure.startswith("Error: the person who asks may not ")


async def test_a_tool_of_another_kind_or_of_no_kind_is_not_served(rig: Rig) -> None:
    for name in ("calculator", "orchestrator__create_artifact", "no_such"):
        answer = await rig.call(name, {"expression": "1"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)


async def test_what_was_refused_is_in_the_log_without_the_token(rig: Rig) -> None:
    signed = sign_request(b"x" * 32, LIST, rig.token())
    await list_tools(rig, signed)
    (line,) = [fields for event, fields in rig.tracer.lines if event == "platform.refused"]
    assert line["reason"] == "the token was not signed for this request"
    assert signed.partition(".")[2] not in str(line)
