"""The function of public pages: who may ask it, and what it is asked."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from ferryman.serving import web
from tests.plain_pages import BODY, PlainPages
from tests.serving.function_double import CALLER, FunctionDouble, post_call

URL = "https://a.test/"
CALL = {
    **{"call": "c", "tool": "web_fetch", "arguments": {"url": URL}, "user": str(UUID(int=1)), "within_s": 5.0},
    **{"origin": "written", "anywhere": True, "domains": [], "most": 30_000},
}


class Fetching(FunctionDouble):
    """The function with pages of the test's."""

    pages = PlainPages()
    page_bytes_max = 1_000


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch) -> Fetching:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["{CALLER}"]')
    return Fetching()


async def post(function: Any, caller: str = CALLER, **changes: Any) -> httpx.Response:
    return await post_call(web.serve(lambda _: function), {**CALL, **changes}, caller)


async def test_the_orchestrator_is_answered_with_the_page(function: Fetching) -> None:
    answer = await post(function)
    assert (answer.status_code, answer.json()["content"], answer.json()["url"]) == (200, BODY.decode(), URL)


async def test_nobody_else_is_answered(function: Fetching) -> None:
    assert (await post(function, "ferryman-api@p.iam.gserviceaccount.com")).status_code == 403


@pytest.mark.parametrize(
    "changes", [{"origin": "unseen"}, {"origin": "x"}, {"anywhere": 1}, {"domains": None}, {"more": 1}, {"most": 600_000}]
)
async def test_another_body_is_refused(function: Fetching, changes: dict[str, Any]) -> None:
    assert (await post(function, **changes)).status_code == 400
