"""The catalogue of agents: an entry without a field, or with a tool that does not exist, does not load; lists decide."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

from ferryman import catalog
from ferryman.catalog.agents import TEMPLATES, read_agents
from ferryman.catalog.tools import ICONS, LISTED
from ferryman.domain.agents.rules import find_agent_problems
from ferryman.domain.changes import change_value
from ferryman.domain.tools.agent import AgentRole
from ferryman.domain.workspaces.agent import build_default_agent
from ferryman.domain.workspaces.effective_policy import ToolLimits
from ferryman.settings import MisconfiguredError
from tests.builders import START

DOCUMENT: list[dict[str, Any]] = json.loads(files(catalog).joinpath("agents.json").read_text())
MANAGER, WALLY, EVE = (TEMPLATES[name] for name in ("manager", "wally", "eve"))
LOCAL = {"web_fetch", "web_search_tool", "file_read", "file_write"}
MEMORY = {name for name in LISTED if name.startswith("memory_")}
PLATFORM = {name for name in LISTED if name.startswith("orchestrator__")}


def load(change: Callable[[dict[str, Any]], Any]) -> None:
    """Load the catalogue after `change` of the second entry."""
    document = copy.deepcopy(DOCUMENT)
    change(document[1])
    read_agents(document, LISTED, ICONS)


@pytest.mark.parametrize("field", sorted(DOCUMENT[1]))
def test_an_agent_without_a_field_does_not_load(field: str) -> None:
    with pytest.raises(MisconfiguredError, match=rf"catalog/agents\.json entry 1: .*missing \['{field}'\]"):
        load(lambda entry: entry.pop(field))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("id", "manager", "the id is given twice"),
        ("name", 1, "name must be a string"),
        ("role", "boss", "role must be one of coordinator, specialist"),
        ("role", "coordinator", "exactly one agent must be the coordinator"),
        ("icon", "nothing", "there is no icon 'nothing'"),
        ("system_prompt", 1, "system_prompt must be a string"),
        ("system_prompt", "start xmrig", "system_prompt asks for crypto mining, which agents may not do"),
        ("name", " ", "name must not be empty"),
        ("waits_for", 1, "waits_for must be a string or null"),
        ("surprise", 1, "unknown \\['surprise'\\]"),
        ("allowed_tools", "web_fetch", "allowed_tools must be a list of names"),
        ("allowed_tools", [1], "allowed_tools must be a list of names"),
        ("allowed_tools", ["web_fetch", "fly"], "allowed_tools: the catalog has no tool \\['fly'\\]"),
        ("allowed_tools", ["web_fetch", "web_fetch"], "allowed_tools: a name is given twice"),
    ],
)
def test_an_entry_that_breaks_a_rule_does_not_load(field: str, value: Any, message: str) -> None:
    with pytest.raises(MisconfiguredError, match=message):
        load(lambda entry: entry.update({field: value}))


def test_something_that_is_no_object_does_not_load() -> None:
    with pytest.raises(MisconfiguredError, match="entry 0: must be an object"):
        read_agents(["manager"], LISTED, ICONS)


def test_manager_coordinates_wally_and_eve() -> None:
    assert [agent.name for agent in TEMPLATES.values()] == ["Manager", "Wally", "Eve"]
    assert [agent.role for agent in TEMPLATES.values()] == [AgentRole.COORDINATOR, AgentRole.SPECIALIST, AgentRole.SPECIALIST]


def test_manager_may_call_all_of_the_memory_and_of_the_platform() -> None:
    assert set(MANAGER.allowed_tools) == LOCAL | MEMORY | PLATFORM


def test_wally_may_call_web_files_most_of_the_memory_notifications_and_profiles() -> None:
    rest = set(WALLY.allowed_tools) - MEMORY
    assert rest == LOCAL | {"orchestrator__send_push_notification", "orchestrator__get_user_profile"}
    writing = {"memory_delete_drawer", "memory_set_identity", "memory_kg_add", "memory_kg_invalidate", "memory_diary_write"}
    assert set(WALLY.allowed_tools) & MEMORY
    assert not set(WALLY.allowed_tools) & writing


def test_eve_may_call_the_same_tools_as_wally() -> None:
    assert EVE.allowed_tools == WALLY.allowed_tools


def test_every_template_becomes_an_agent_that_breaks_no_rule() -> None:
    names = ("name", "description", "system_prompt", "allowed_tools")
    for template in TEMPLATES.values():
        fields = {name: getattr(template, name) for name in names}
        agent = change_value(build_default_agent("o", "ws"), fields, now=START)
        assert find_agent_problems(agent, tools=LISTED, models=()) == []


def test_an_empty_list_loads_and_allows_every_tool() -> None:
    document = copy.deepcopy(DOCUMENT)
    document[0]["allowed_tools"] = []
    limits = ToolLimits(agent=read_agents(document, LISTED, ICONS)["manager"].allowed_tools)
    assert limits.select(LISTED) == tuple(LISTED)


def test_only_the_coordinator_waits_for_something() -> None:
    assert [template.waits_for for template in TEMPLATES.values()] == ["delegation between agents", None, None]
