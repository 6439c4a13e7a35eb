"""The chat task of an agent: within the limits of its plan, with the tools that need nothing approved."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from ferryman.domain.conversations.chat_task import build_chat_task, is_free
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.owners.plan import PRO, Plan
from ferryman.domain.tasks.task import CREDITS_DEFAULT, ITERATIONS_DEFAULT
from ferryman.domain.tools.tool import Tool
from ferryman.domain.workspaces.agent import Agent
from tests.builders import START, build_tool, build_tool_policy

AGENT = Agent(id="agent_1", owner="ann", workspace="ws_1", name="n" * 1_000, created_at=START, updated_at=START)
ROOMY = replace(PRO, iterations=2 * ITERATIONS_DEFAULT, credits_per_execution=2 * CREDITS_DEFAULT)
TIGHT = replace(PRO, iterations=2, credits_per_execution=Decimal(3))
FREE = build_tool(requires=None, schema={}, policy=build_tool_policy(network=NetworkPolicy.NONE, reads=(), changes=()))


@pytest.mark.parametrize(
    ("plan", "limits"), [(ROOMY, (ITERATIONS_DEFAULT, CREDITS_DEFAULT)), (TIGHT, (2, Decimal(3)))], ids=["default", "plan"]
)
def test_its_limits_are_the_default_or_what_the_plan_allows(plan: Plan, limits: tuple[int, Decimal]) -> None:
    task = build_chat_task(AGENT, plan, [], now=START)
    assert (task.max_iterations, task.max_credits) == limits


def test_its_description_is_no_longer_than_one_may_be() -> None:
    assert len(build_chat_task(AGENT, PRO, [], now=START).description) == 1_000


@pytest.mark.parametrize("network", [NetworkPolicy.NONE, NetworkPolicy.PUBLIC_ANY, NetworkPolicy.OPERATOR_ENDPOINT])
def test_a_tool_that_needs_nothing_approved_is_free(network: NetworkPolicy) -> None:
    assert is_free(replace(FREE, policy=replace(FREE.policy, network=network)))


@pytest.mark.parametrize(
    "tool",
    [
        replace(FREE, requires="coingecko"),
        replace(FREE, schema={"properties": {"credential": {"type": "string"}}}),
        replace(FREE, policy=replace(FREE.policy, reads=("tools",))),
        replace(FREE, policy=replace(FREE.policy, changes=("tools",))),
        replace(FREE, policy=replace(FREE.policy, network=NetworkPolicy.REGISTRY)),
    ],
    ids=["a service's credential", "a credential", "tools that it reads", "tools that it changes", "approved hosts"],
)
def test_a_tool_that_needs_something_is_not(tool: Tool) -> None:
    assert not is_free(tool)
