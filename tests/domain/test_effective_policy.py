"""The effective policy: what every level allows, whatever their order, and however the names are written."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.tools.names import PREFIX, names_tool, strip_prefix
from ferryman.domain.workspaces.effective_policy import PolicyLevel, ToolLimits, compute_policy

LISTED = ("api_call", "http_get", "memory_search", f"{PREFIX}get_user_profile", f"{PREFIX}read_artifact")
DECLARED = ("getWeather", "list_orders")
NAMES = [*LISTED, *DECLARED, *(strip_prefix(name) for name in LISTED), f"{PREFIX}http_get", "unknown"]

lists = st.lists(st.sampled_from(NAMES), max_size=6).map(tuple)
limits = st.builds(ToolLimits, agent=lists, workspace=lists, plan=lists)
subsets = st.sets(st.sampled_from(LISTED))


def select(limited: ToolLimits, *, task: tuple[str, ...] | None, implemented: set[str]) -> set[str]:
    rows = compute_policy(limited, listed=LISTED, implemented=implemented, task=task, declared=DECLARED)
    return {row.tool for row in rows if row.is_allowed}


def spell(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in their other form: with the prefix where they have none, and without it where they have it."""
    return tuple(strip_prefix(name) if name.startswith(PREFIX) else PREFIX + name for name in names)


@given(limits, lists, subsets)
def test_what_is_allowed_is_allowed_by_every_level(limited: ToolLimits, task: tuple[str, ...], implemented: set[str]) -> None:
    for tool in select(limited, task=task, implemented=implemented):
        for names in (limited.agent, limited.workspace, limited.plan):
            assert not names or names_tool(names, tool)
        assert tool in DECLARED or (names_tool(task, tool) and tool in implemented)


@given(limits, lists, subsets)
def test_what_every_level_allows_is_allowed(limited: ToolLimits, task: tuple[str, ...], implemented: set[str]) -> None:
    allowed = select(limited, task=task, implemented=implemented)
    for tool in (*DECLARED, *(name for name in LISTED if name in implemented and names_tool(task, name))):
        if all(not names or names_tool(names, tool) for names in (limited.agent, limited.workspace, limited.plan)):
            assert tool in allowed


@given(lists, lists, lists, lists, subsets)
def test_the_order_of_the_levels_does_not_matter(
    agent: tuple[str, ...], workspace: tuple[str, ...], plan: tuple[str, ...], task: tuple[str, ...], implemented: set[str]
) -> None:
    sets = {
        frozenset(select(ToolLimits(agent=first, workspace=second, plan=third), task=task, implemented=implemented))
        for first, second, third in permutations((agent, workspace, plan))
    }
    assert len(sets) == 1


@given(limits, lists, subsets)
def test_names_with_and_without_the_prefix_give_the_same_set(
    limited: ToolLimits, task: tuple[str, ...], implemented: set[str]
) -> None:
    other = ToolLimits(agent=spell(limited.agent), workspace=spell(limited.workspace), plan=spell(limited.plan))
    assert select(limited, task=task, implemented=implemented) == select(other, task=spell(task), implemented=implemented)


@pytest.mark.parametrize("tool", ["read_artifact", "orchestrator__read_artifact"])
@pytest.mark.parametrize("named", ["read_artifact", "orchestrator__read_artifact"])
def test_a_list_that_names_a_tool_in_one_form_does_not_take_away_the_other(tool: str, named: str) -> None:
    assert ToolLimits(agent=(named,), workspace=(named,), plan=(named,)).select([tool, "other"]) == (tool,)


@given(limits, subsets)
def test_one_more_list_never_allows_more(limited: ToolLimits, implemented: set[str]) -> None:
    wider = ToolLimits(agent=limited.agent)
    assert select(limited, task=None, implemented=implemented) <= select(wider, task=None, implemented=implemented)


def test_a_row_names_every_level_that_takes_the_tool_away_and_says_why() -> None:
    limited = ToolLimits(agent=("http_get",), workspace=("memory_search",), plan=("http_get",))
    (row,) = compute_policy(limited, listed=["memory_search"], implemented=(), task=())
    assert row.taken_by == (PolicyLevel.TASK, PolicyLevel.AGENT, PolicyLevel.PLAN, PolicyLevel.CATALOG)
    assert row.sentence == (
        "the task does not enable it; the agent's allowed_tools do not name it; the owner's plan does not have it; "
        "it is not implemented"
    )


def test_an_allowed_tool_says_so() -> None:
    (row,) = compute_policy(ToolLimits(agent=("get_user_profile",)), listed=[LISTED[3]], implemented=[LISTED[3]])
    assert (row.is_allowed, row.sentence) == (True, "every level allows it")


@pytest.mark.parametrize(("task", "allowed"), [(None, True), ((), False)])
def test_without_a_task_no_task_takes_anything_away(task: tuple[str, ...] | None, allowed: bool) -> None:
    (row,) = compute_policy(ToolLimits(), listed=["http_get"], implemented=["http_get"], task=task)
    assert row.is_allowed is allowed


def test_a_declared_tool_has_the_row_of_its_name_where_the_listed_one_cannot_be_called() -> None:
    rows = compute_policy(ToolLimits(), listed=LISTED, implemented=["http_get"], declared=["memory_search", "http_get"])
    allowed = {row.tool: row.is_allowed for row in rows}
    assert allowed == {**dict.fromkeys(LISTED, False), "http_get": True, "memory_search": True}


def test_a_declared_tool_takes_the_place_of_no_listed_one_that_can_be_called() -> None:
    names = {"listed": ["http_get"], "implemented": ["http_get"], "declared": ["http_get"]}
    (row,) = compute_policy(ToolLimits(), **names, task=())
    assert row.taken_by == (PolicyLevel.TASK,)
