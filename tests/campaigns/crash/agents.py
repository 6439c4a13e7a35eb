"""The agent of a scenario that has one of its own, and the other executions of its conversation."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Protocol

from ferryman.domain.credits import ledger
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.workspaces.agent import Agent, Titles
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import START
from ferryman.ports.executions import ExecutionEnding, Executions
from ferryman.ports.workspaces import Agents
from tests.builders import build_execution, build_policy, build_setup
from tests.campaigns.crash.scenarios import Scenario
from tests.contracts.values import LEASE

AGENT, CONVERSATION = "agent_1", "talk"


class Ports(Protocol):
    """What is stored here."""

    @property
    def agents(self) -> Agents: ...
    @property
    def executions(self) -> Executions: ...


def name_place(scenario: Scenario) -> dict[str, str]:
    """Return the fields by which an execution of `scenario` names its agent and its conversation; none of the default agent."""
    if not scenario.has_agent:
        return {}
    return {"agent": AGENT, **({"conversation": CONVERSATION} if scenario.conversation else {})}


async def store_agent(ports: Ports, scenario: Scenario) -> None:
    """Store the agent of `scenario`, if it has one of its own."""
    if not scenario.has_agent:
        return
    agent = Agent(
        id=AGENT,
        owner="o",
        workspace=derive_default_workspace("o"),
        name=scenario.name,
        tool_settings=scenario.tool_settings,
        conversation_credits_max=scenario.conversation.credits_max if scenario.conversation else None,
        titles=Titles.MODEL if scenario.is_titled else Titles.FIRST_LINE,
        created_at=START,
        updated_at=START,
    )
    await ports.agents.create(agent)


async def store_others(ports: Ports, scenario: Scenario) -> None:
    """Store the other executions of the conversation, if there is one: one that has ended, and one under way beside."""
    conversation = scenario.conversation
    if conversation is None:
        return
    ended = await _open(ports, scenario, "before", conversation.credits_used)
    used = replace(ended, credits_used=conversation.credits_used)
    entry = ledger.record_release(used, tokens=used.credits_used, rest=Decimal(0), at=START)
    await ports.executions.finish(used, ExecutionEnding(status=Status.COMPLETED, entry=entry), now=START)
    await _open(ports, scenario, "beside", conversation.credits_reserved)


async def _open(ports: Ports, scenario: Scenario, name: str, reserve: Decimal) -> Execution:
    """Return an execution that has begun, with `reserve` credits reserved."""
    await ports.executions.start(build_execution(id=name, **name_place(scenario)), most=1_000)
    claimed, _ = await ports.executions.claim(name, slice=0, holder=name, now=START, lease=LEASE)
    opened = replace(claimed, policy=build_policy())
    entry = ledger.record_reservation(opened, reserve, at=START)
    await ports.executions.open(opened, build_setup(max_credits=reserve), entry=entry, now=START)
    return replace(opened, credits_reserved=reserve)
