"""Agents: kept as they were put, in their workspace alone, of which each has a default one that nobody had to store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.domain.changes import change_value
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.settings import ToolSettings
from ferryman.domain.workspaces.agent import Agent, build_default_agent

from .conftest import Stores
from .values import NOW, open_workspaces

SECOND = timedelta(seconds=1)
PLACE = {"owner": "ann", "workspace": "ws_1"}
AGENT = Agent(
    id="agent_1",
    **PLACE,
    name="Näme",
    description="What it is for",
    system_prompt="Be brief.",
    model="claude-haiku-4-5",
    allowed_tools=("api_call", "orchestrator__get_user_profile"),
    tool_settings={"api_call": ToolSettings(calls_max=2, timeout_s=1.5, arguments={"headers": {"x": [["1"], []]}})},
    max_credits_month=Decimal("12.3456"),
    template="wally",
    created_at=NOW,
    updated_at=NOW,
)
DEFAULT = build_default_agent("ann", "ws_1")


@pytest.fixture
async def stores(stores: Stores) -> Stores:
    await open_workspaces(stores, "ws_1", "ws_2")
    return stores


async def test_an_agent_comes_back_as_it_was_put(stores: Stores) -> None:
    assert await stores.agents.get(AGENT.id, **PLACE) is None
    await stores.agents.create(AGENT)
    assert await stores.agents.get(AGENT.id, **PLACE) == AGENT


async def test_creating_it_again_changes_nothing(stores: Stores) -> None:
    await stores.agents.create(AGENT)
    await stores.agents.create(replace(AGENT, name="other"))
    assert await stores.agents.get(AGENT.id, **PLACE) == AGENT


@pytest.mark.parametrize("place", [{"owner": "bob", "workspace": "ws_1"}, {"owner": "ann", "workspace": "ws_2"}])
async def test_an_agent_of_another_place_is_not_there(stores: Stores, place: dict[str, str]) -> None:
    await stores.agents.create(AGENT)
    assert await stores.agents.get(AGENT.id, **place) is None
    assert AGENT not in await stores.agents.list(**place)
    assert await stores.agents.update(replace(AGENT, **place), ["name"], since=NOW) is False
    assert await stores.agents.delete(AGENT.id, **place) is False
    assert await stores.agents.get(AGENT.id, **PLACE) == AGENT


async def test_the_default_agent_is_there_without_being_stored(stores: Stores) -> None:
    assert await stores.agents.get(DEFAULT.id, **PLACE) == DEFAULT
    assert list(await stores.agents.list(**PLACE)) == [DEFAULT]


async def test_the_default_agent_can_be_changed_and_is_changed_from_then_on(stores: Stores) -> None:
    changed = change_value(DEFAULT, {"allowed_tools": ("http_get",)}, now=NOW)
    assert await stores.agents.update(changed, ["allowed_tools"], since=DEFAULT.updated_at) is True
    assert await stores.agents.get(DEFAULT.id, **PLACE) == changed
    assert list(await stores.agents.list(**PLACE)) == [changed]
    with pytest.raises(StaleError, match="changed by somebody else"):
        await stores.agents.update(changed, ["allowed_tools"], since=DEFAULT.updated_at)


async def test_of_two_changes_of_the_default_agent_at_once_one_is_taken(stores: Stores) -> None:
    changes = [change_value(DEFAULT, {"name": f"name {n}"}, now=NOW) for n in range(2)]
    outcomes = await asyncio.gather(
        *(stores.agents.update(change, ["name"], since=DEFAULT.updated_at) for change in changes), return_exceptions=True
    )
    assert {type(outcome) for outcome in outcomes} == {bool, StaleError}


async def test_only_the_fields_that_are_named_are_written(stores: Stores) -> None:
    await stores.agents.create(AGENT)
    changed = replace(AGENT, name="new", archived=True, updated_at=NOW + SECOND)
    assert await stores.agents.update(changed, ["archived"], since=NOW) is True
    assert await stores.agents.get(AGENT.id, **PLACE) == replace(AGENT, archived=True, updated_at=NOW + SECOND)


async def test_a_change_of_an_agent_that_was_changed_meanwhile_is_not_taken(stores: Stores) -> None:
    await stores.agents.create(AGENT)
    await stores.agents.update(replace(AGENT, name="a", updated_at=NOW + SECOND), ["name"], since=NOW)
    with pytest.raises(StaleError, match="changed by somebody else"):
        await stores.agents.update(replace(AGENT, name="b", updated_at=NOW + SECOND), ["name"], since=NOW)


async def test_settings_are_written_whole(stores: Stores) -> None:
    await stores.agents.create(AGENT)
    settings = {"http_get": ToolSettings(timeout_s=2.0)}
    changed = replace(AGENT, tool_settings=settings, updated_at=NOW + SECOND)
    await stores.agents.update(changed, ["tool_settings"], since=NOW)
    assert await stores.agents.get(AGENT.id, **PLACE) == changed


async def test_agents_are_listed_oldest_first(stores: Stores) -> None:
    young = replace(AGENT, id="agent_0", created_at=NOW + SECOND)
    for agent in (young, AGENT):
        await stores.agents.create(agent)
    assert list(await stores.agents.list(**PLACE)) == [DEFAULT, AGENT, young]


async def test_a_workspace_has_so_many_agents_and_no_more(stores: Stores) -> None:
    await stores.agents.create(AGENT, most=2)
    with pytest.raises(LimitReachedError, match="a workspace may have at most 2 agents"):
        await stores.agents.create(replace(AGENT, id="agent_2"), most=2)
    await stores.agents.create(replace(AGENT, id="agent_2", workspace="ws_2"), most=2)


async def test_a_deleted_agent_is_gone_and_a_deleted_default_one_is_as_it_was_at_first(stores: Stores) -> None:
    await stores.agents.create(AGENT)
    assert await stores.agents.delete(AGENT.id, **PLACE) is True
    assert await stores.agents.delete(AGENT.id, **PLACE) is False
    assert await stores.agents.get(AGENT.id, **PLACE) is None
    await stores.agents.update(change_value(DEFAULT, {"name": "n"}, now=NOW), ["name"], since=DEFAULT.updated_at)
    assert await stores.agents.delete(DEFAULT.id, **PLACE) is True
    assert await stores.agents.get(DEFAULT.id, **PLACE) == DEFAULT
