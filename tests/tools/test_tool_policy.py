"""What the catalogue says of a tool holds for its calls: whether they are repeated, how long they take, who executes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.catalog.tools import TOOLS
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.tool import Repeatable, ToolPolicy

from .harness import ToolHarness
from .test_again import lose_answer


@pytest.fixture
def harness() -> ToolHarness:
    return ToolHarness()


def change_policy(monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
    """Have the catalogue say something else about api_call."""
    policy: ToolPolicy = replace(TOOLS["api_call"].policy, **fields)
    monkeypatch.setitem(TOOLS, "api_call", replace(TOOLS["api_call"], policy=policy))


async def test_a_tool_that_is_never_repeated_is_not_sent_again_even_by_a_safe_method(harness, monkeypatch):
    change_policy(monkeypatch, repeatable=Repeatable.NEVER)
    await lose_answer(harness)
    result = await harness.execute()
    assert (result.content[:22], len(harness.sent)) == ("Error: outcome unknown", 1)


@pytest.mark.parametrize(("timeout_s", "within_s"), [(None, 30), (5.0, 5), (60.0, 30)])
async def test_a_call_takes_no_longer_than_its_tool_and_the_deployment_allow(harness, monkeypatch, timeout_s, within_s):
    change_policy(monkeypatch, timeout_s=timeout_s)
    await harness.execute()
    assert harness.within_s == [within_s]


@pytest.mark.parametrize(("response_bytes_max", "body_max"), [(None, None), (1_000, 1_000), (10**9, 2 * 1024 * 1024)])
async def test_no_more_of_a_response_is_read_than_the_tool_and_the_plan_allow(
    harness, monkeypatch, response_bytes_max, body_max
):
    change_policy(monkeypatch, response_bytes_max=response_bytes_max)
    await harness.execute()
    assert harness.body_max == [body_max]


async def test_long_texts_and_lists_among_the_arguments_of_any_tool_are_cut_as_it_says(harness, monkeypatch):
    change_policy(monkeypatch, argument_characters_max=30, argument_items_max=2)
    deep = {"n": "x" * 40, "list": [1, 2, 3]}
    harness.arguments_ = {**harness.arguments_, "url": "https://api.coingecko.com/" + "a" * 9, "query_params": deep}
    await harness.execute()
    ((outbound, _),) = harness.sent
    assert (outbound.url, outbound.query_params) == ("https://api.coingecko.com/aaaa", deep)


async def test_no_argument_is_cut_where_the_tool_does_not_say_so(harness):
    url = "https://api.coingecko.com/" + "a" * 3_000
    harness.arguments_ = {**harness.arguments_, "url": url}
    await harness.execute()
    assert harness.sent[0][0].url == url


@pytest.mark.parametrize("function", ["http_get", "webhook", "http_tool", "orchestrator"])
async def test_a_call_is_executed_by_its_tool_s_function_alone(harness, function):
    with pytest.raises(StaleError, match=r"^the call belongs to another tool$"):
        await harness.execute(function)
    assert harness.sent == []


@pytest.mark.parametrize("function", ["http_get", "http_tool"])
async def test_a_settled_call_is_not_even_told_to_another_function(harness, function):
    await harness.execute()
    with pytest.raises(StaleError, match=r"^the call belongs to another tool$"):
        await harness.execute(function)
