"""The function of local functions with a `db`: what it answers, and that it stores nothing itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
import pytest
from functions_framework import aio

from ferryman.composition.concierge import TOOLS
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.user_documents import MemoryUserDocuments
from ferryman.serving import concierge

CALLER = "ferryman-orchestrator@p.iam.gserviceaccount.com"
USER = str(UUID(int=1))
ARGUMENTS = {"kind": "taste", "preference": "tea"}
assert "save_preference" in TOOLS


@dataclass
class FunctionDouble:
    """The function's parts, whose caller is anyone the header names."""

    memory: Memory = field(default_factory=Memory)
    tracer: RecordingLog = field(default_factory=RecordingLog)

    @property
    def callers(self) -> FunctionDouble:
        return self

    @property
    def documents(self) -> MemoryUserDocuments:
        return MemoryUserDocuments(self.memory)

    async def identify(self, authorization: str | None, *, audience: str) -> str:
        return authorization or ""


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch) -> FunctionDouble:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["{CALLER}"]')
    return FunctionDouble()


async def post(function: Any, caller: str = CALLER, **changes: Any) -> httpx.Response:
    body = {"call": "c", "tool": "save_preference", "arguments": ARGUMENTS, "user": USER, **changes}
    app = aio._create_asgi_app_with_function(concierge.serve(lambda _: function), "http", False)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://f.test") as client:
        return await client.post("/", json=body, headers={"Authorization": caller})


async def test_it_answers_what_the_tool_says_and_would_change_and_stores_nothing(function: FunctionDouble) -> None:
    answer = await post(function)
    path = "user_memory/taste"
    changes = {"reads": {path: ""}, "writes": {path: {"preferences": ["tea"]}}}
    assert (answer.status_code, answer.json()) == (
        200,
        {"content": "Saved. Preferences of this kind: 1.", "code": None, "changes": changes},
    )
    assert function.memory.user_documents == {}


@pytest.mark.parametrize(
    "fields", [{"arguments": {"kind": "music", "preference": "x"}}, {"arguments": {}}, {"tool": "nothing"}]
)
async def test_a_call_that_fails_would_change_nothing(function: FunctionDouble, fields: dict[str, Any]) -> None:
    answer = (await post(function, **fields)).json()
    assert answer["content"].startswith("Error")
    assert answer["changes"] == {"reads": {}, "writes": {}}


async def test_a_user_s_documents_are_those_of_the_request_whatever_the_model_says(function: FunctionDouble) -> None:
    function.memory.user_documents[str(UUID(int=2)), "user_memory/taste"] = ({"preferences": ["secret"]}, "v1")
    answer = await post(function, arguments={**ARGUMENTS, "user_id": str(UUID(int=2))})
    assert answer.json()["changes"]["reads"] == {"user_memory/taste": ""}
    assert "secret" not in answer.text


async def test_nobody_but_the_orchestrator_is_answered(function: FunctionDouble) -> None:
    assert (await post(function, "someone@p.iam.gserviceaccount.com")).status_code == 403
    assert (await post(function, user="ann")).status_code == 400
