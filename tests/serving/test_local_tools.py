"""The function of local tools: who may ask it, and that whatever a tool does is answered as a text."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from ferryman.composition.local_tools import TOOLS
from ferryman.serving import local_tools
from tests.serving.function_double import CALLER, FunctionDouble, post_call

assert "calculator" in TOOLS, "the function's own root has its tools registered"
CALL = {"call": "c", "tool": "calculator", "arguments": {"expression": "6 * 7"}, "user": str(UUID(int=1)), "within_s": 5.0}


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch) -> FunctionDouble:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["{CALLER}"]')
    return FunctionDouble()


async def post(function: Any, caller: str = CALLER, **changes: Any) -> httpx.Response:
    body = {name: value for name, value in {**CALL, **changes}.items() if value is not None}
    return await post_call(local_tools.serve(lambda _: function), body, caller)


async def test_the_orchestrator_is_answered_with_what_the_tool_says(function: FunctionDouble) -> None:
    assert CALL["tool"] in TOOLS, "they are registered where they are imported"
    answer = await post(function)
    assert (answer.status_code, answer.json()) == (200, {"content": "42", "code": None})


async def test_an_unknown_tool_is_answered_in_words(function: FunctionDouble) -> None:
    assert (await post(function, tool="shell")).json() == {
        "content": "Error: Unknown tool 'shell'",
        "code": "unknown_tool",
    }


async def test_nobody_else_is_answered(function: FunctionDouble) -> None:
    assert (await post(function, "ferryman-api@p.iam.gserviceaccount.com")).status_code == 403


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"user": "ann"}, "user must be a UUID"),
        ({"user": None}, "the body must be an object with exactly arguments, call, tool, user, within_s"),
        ({"arguments": []}, "arguments must be of type dict"),
        ({"owner": "o"}, "the body must be an object with exactly arguments, call, tool, user, within_s"),
    ],
)
async def test_another_body_is_refused_by_the_name_of_its_field(
    function: FunctionDouble, changes: dict[str, Any], detail: str
) -> None:
    answer = await post(function, **changes)
    assert (answer.status_code, answer.json()["detail"]) == (400, detail)
