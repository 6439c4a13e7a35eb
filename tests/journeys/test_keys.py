"""The keys of a running stack are rotated while it works, and the doctor finds what there is to find."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ferryman.stack import environment
from tests.journeys.conftest import KEY, Journey, asks, call, says
from tests.journeys.test_command_line import Shell

HOST, NAME = "lunarcrush.com", "LUNARCRUSH_API_KEY"


@pytest.fixture
def ferryman(stack: Any) -> Shell:
    return Shell(stack)


async def sealed_to(journey: Journey, task: str) -> int:
    document = journey.clients.firestore().document(f"tasks/{task}/credentials/{NAME}")
    return int((await document.get()).to_dict()["key_version"])


async def newest(ferryman: Shell, key: str) -> dict[str, Any]:
    listed = await ferryman("keys", "list", "--json")
    assert listed.code == 0, listed.err
    return [version for version in listed.json if version["key"] == key][-1]


async def test_the_sealing_key_is_rotated_while_an_execution_runs(journey: Journey, ferryman: Shell) -> None:
    before = await newest(ferryman, "sealing")
    await journey.serve(HOST, delay_s=0.5)
    arguments = {"method": "GET", "url": journey.url(HOST), "credential": NAME}
    steps = [asks(call("api_call", **arguments, query_params={"page": page})) for page in range(3)]
    task = await journey.task(*steps, says("Done."), tools=["api_call"], integrations=["lunarcrush"])
    await journey.credential(task, NAME, "lunarcrush")
    started = await journey.client.start_execution(task)

    rotated = await ferryman("keys", "rotate", "--json")

    assert rotated.code == 0, rotated.err
    assert rotated.json == {
        "key": "sealing",
        "version": before["version"] + 1,
        "retired": [before["version"]],
        "unreadable": rotated.json["unreadable"],
    }
    assert task not in [credential[0] for credential in rotated.json["unreadable"]]
    record = await journey.await_end(started["execution_id"])
    assert (record["status"], [call["blocked"] for call in record["tool_calls"]]) == ("completed", [False] * 3), record
    assert all(["authorization", f"Bearer {KEY}"] in request["headers"] for request in await journey.received(HOST))
    assert await sealed_to(journey, task) == before["version"] + 1
    after = await newest(ferryman, "sealing")
    assert (after["version"], after["state"]) == (before["version"] + 1, "enabled")
    await journey.credential(task, NAME, "lunarcrush")
    assert await sealed_to(journey, task) == after["version"]


async def test_the_doctor_finds_nothing_wrong_with_a_stack(ferryman: Shell) -> None:
    looked = await ferryman("doctor", "--json")
    assert [finding for finding in looked.json["findings"] if finding["grade"] == "wrong"] == []
    assert looked.code == 0
    parts = {finding["of"] for finding in looked.json["findings"]}
    functions = {row["name"] for row in environment.load_functions()}
    assert parts >= functions | {"queue executions", "queue schedules", "firestore", "sealing key", "receipts", "plans"}
    assert {finding["what"] for finding in looked.json["findings"] if finding["of"] == "webhook"} == {
        "without a token",
        "with a stranger's token",
        "with its caller's token",
    }


async def test_the_doctor_says_which_function_does_not_answer(journey: Journey, ferryman: Shell) -> None:
    env = {"FERRYMAN_FUNCTION_URLS": "{}"}
    await journey.admin.change("webhook", env)  # it does not know its own address, and believes nobody
    looked = await ferryman("doctor", "--json")
    await journey.admin.change("webhook", {"FERRYMAN_FUNCTION_URLS": json.dumps(journey.stack["functions"])})
    assert looked.code == 1
    wrong = [(finding["of"], finding["what"]) for finding in looked.json["findings"] if finding["grade"] == "wrong"]
    assert wrong == [("webhook", "with its caller's token")]


async def test_the_reseal_route_is_open_to_no_caller_of_the_function(journey: Journey) -> None:
    import httpx

    url = journey.stack["functions"]["api_call"]
    project = journey.stack["project"]

    async def post_as(account: str, path: str) -> int:
        token = await journey.admin.create_token(f"{account}@{project}.iam.gserviceaccount.com", url)
        async with httpx.AsyncClient(trust_env=False) as http:
            answer = await http.post(
                url + path, json={"task": "nobody's", "version": 1}, headers={"Authorization": f"Bearer {token}"}
            )
        return answer.status_code

    answers = await asyncio.gather(
        post_as("ferryman-orchestrator", "/reseal"), post_as("ferryman-keys", "/"), post_as("ferryman-keys", "/reseal")
    )
    assert answers == [403, 403, 200]
