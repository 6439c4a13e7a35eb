"""The function of local functions with a `db`: what it answers, and that it stores nothing itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
import pytest

from ferryman.composition.concierge import TOOLS
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.user_documents import MemoryUserDocuments
from ferryman.serving import concierge
from tests.serving.function_double import CALLER, FunctionDouble, post_call

USER = str(UUID(int=1))
ARGUMENTS = {"kind": "taste", "preference": "tea"}
assert "save_preference" in TOOLS


@dataclass
class ConciergeDouble(FunctionDouble):
    """The function's parts, with documents in memory."""

    memory: Memory = field(default_factory=Memory)

    @property
    def documents(self) -> MemoryUserDocuments:
        return MemoryUserDocuments(self.memory)


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch) -> ConciergeDouble:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["{CALLER}"]')
    return ConciergeDouble()


async def post(function: Any, caller: str = CALLER, **changes: Any) -> httpx.Response:
    body = {"call": "c", "tool": "save_preference", "arguments": ARGUMENTS, "user": USER, "within_s": 5.0, **changes}
    return await post_call(concierge.serve(lambda _: function), body, caller)


async def test_it_answers_what_the_tool_says_and_would_change_and_stores_nothing(function: ConciergeDouble) -> None:
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
async def test_a_call_that_fails_would_change_nothing(function: ConciergeDouble, fields: dict[str, Any]) -> None:
    answer = (await post(function, **fields)).json()
    assert answer["content"].startswith("Error")
    assert answer["changes"] == {"reads": {}, "writes": {}}


async def test_a_user_s_documents_are_those_of_the_request_whatever_the_model_says(function: ConciergeDouble) -> None:
    function.memory.user_documents[str(UUID(int=2)), "user_memory/taste"] = ({"preferences": ["secret"]}, "v1")
    answer = await post(function, arguments={**ARGUMENTS, "user_id": str(UUID(int=2))})
    assert answer.json()["changes"]["reads"] == {"user_memory/taste": ""}
    assert "secret" not in answer.text


async def test_nobody_but_the_orchestrator_is_answered(function: ConciergeDouble) -> None:
    assert (await post(function, "someone@p.iam.gserviceaccount.com")).status_code == 403
    assert (await post(function, user="ann")).status_code == 400
