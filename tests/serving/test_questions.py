"""Questions of MCP servers: answered at the API by a person, as their form says, and by nothing else."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ferryman.inmemory.clock import START
from tests.builders import build_execution

from .asked_questions import ANSWERS, QUESTIONS
from .conftest import Stage
from .values import build_question

ID, EXECUTION = "appr_question", "exec_question"


@pytest.fixture(autouse=True)
def _waiting(stage: Stage) -> None:
    stage.owner("ann")
    approval = build_question("ann", *QUESTIONS, id=ID, execution=EXECUTION)
    stage.memory.approvals[ID] = approval
    stage.memory.executions[EXECUTION] = build_execution(
        id=EXECUTION, owner="ann", workspace=approval.workspace, slice=3, waiting_for=ID, waiting_since=START
    )


async def decide(client: httpx.AsyncClient, stage: Stage, verdict: str, arguments: Any = None) -> httpx.Response:
    body = {"verdict": verdict, "digest": stage.memory.approvals[ID].digest, "arguments": arguments}
    return await client.post(f"/v1/approvals/{ID}/decision", headers=stage.owner("ann"), json=body)


async def test_the_api_takes_an_answer(client: httpx.AsyncClient, stage: Stage) -> None:
    answer = await decide(client, stage, "answer", ANSWERS)
    assert (answer.status_code, answer.json()["state"]) == (200, "answered")
    assert answer.json()["decision"]["arguments"] == ANSWERS


@pytest.mark.parametrize(
    ("verdict", "arguments"),
    [("approve", None), ("edit", ANSWERS), ("answer", None), ("answer", {"booking": {"people": 4}, "page": {}})],
)
async def test_no_other_verdict_is_one_about_a_question(
    client: httpx.AsyncClient, stage: Stage, verdict: str, arguments: Any
) -> None:
    assert (await decide(client, stage, verdict, arguments)).status_code == 422
    assert stage.memory.approvals[ID].decided is None
