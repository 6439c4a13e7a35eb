"""The rules of a stored agent: each broken one is named by its field, with the limit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from ferryman.catalog.tools import LISTED
from ferryman.domain.agents.rules import find_agent_problems, find_list_problems
from ferryman.domain.changes import change_value
from ferryman.domain.tools.correction import ArgumentRole, FlowCorrection
from ferryman.domain.tools.settings import ToolSettings
from ferryman.domain.workspaces.agent import Agent, build_default_agent
from tests.builders import START

DEFAULT = build_default_agent("o", "ws")


def find_problems(**fields: Any) -> list[tuple[str, str]]:
    agent = change_value(DEFAULT, fields, now=START)
    return [(problem.field, problem.message) for problem in find_agent_problems(agent, tools=LISTED, models={"m"})]


def settings_of(name: str, **fields: Any) -> dict[str, Any]:
    return {"tool_settings": {name: ToolSettings(**fields)}}


def test_the_default_agent_breaks_no_rule() -> None:
    assert find_problems() == []


def test_everything_that_an_agent_may_have_is_accepted() -> None:
    settings = {
        "http_get": ToolSettings(calls_max=1, timeout_s=2.5, arguments={"headers": {"Accept": "text/plain"}}),
        "get_user_profile": ToolSettings(calls_max=1_000),
        "declaredTool": ToolSettings(
            arguments={"anything": [1, {"a": None}]}, flow=FlowCorrection(roles={"n" * 200: ArgumentRole.FREE})
        ),
    }
    problems = find_problems(
        name="n" * 100,
        description="d" * 1_000,
        system_prompt="Be brief.",
        model="m",
        allowed_tools=("http_get", "orchestrator__get_user_profile", "declaredTool"),
        tool_settings=settings,
        max_credits_month=Decimal(1),
    )
    assert problems == []


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"name": " "}, "name", "must not be empty"),
        (
            settings_of("x", flow=FlowCorrection(roles={f"a{n}": ArgumentRole.FREE for n in range(101)})),
            "tool_settings.x.flow.roles",
            "of at most 100 arguments, got 101",
        ),
        (settings_of("x", flow=FlowCorrection(roles={"n" * 201: ArgumentRole.FREE})), "tool_settings.x.flow.roles", "1 to 200"),
        (settings_of("x", flow=FlowCorrection(roles={"\ud800": ArgumentRole.FREE})), "tool_settings.x.flow.roles", "Unicode"),
        (
            settings_of("webhook", flow=FlowCorrection(roles={"colour": ArgumentRole.FREE})),
            "tool_settings.webhook.flow.roles.colour",
            "is no argument of the tool; its arguments: url, body",
        ),
        ({"name": "n" * 101}, "name", "must be at most 100 characters, is 101"),
        ({"description": "d" * 1_001}, "description", "must be at most 1000 characters, is 1001"),
        ({"system_prompt": "p" * 50_001}, "system_prompt", "must be at most 50000 characters, is 50001"),
        ({"name": "\ud800"}, "name", "must be printable"),
        ({"system_prompt": "start xmrig"}, "system_prompt", "asks for crypto mining, which agents may not do"),
        ({"model": "x"}, "model", "has no price; priced are: m"),
        ({"model": ""}, "model", "must be the name of a model"),
        ({"max_credits_month": Decimal(0)}, "max_credits_month", "must be above 0"),
        ({"allowed_tools": ("a b",)}, "allowed_tools.0", "must be the name of a tool"),
        ({"allowed_tools": ("x", "orchestrator__x")}, "allowed_tools.1", "is listed twice"),
        ({"allowed_tools": ("x",) * 201}, "allowed_tools", "must be at most 200 names of tools, are 201"),
        (settings_of("http_get", calls_max=0), "tool_settings.http_get.calls_max", "must be 1 to 1000; to forbid a tool"),
        (settings_of("http_get", calls_max=1_001), "tool_settings.http_get.calls_max", "must be 1 to 1000"),
        (settings_of("http_get", timeout_s=0), "tool_settings.http_get.timeout_s", "must be above 0 and at most 600 seconds"),
        (
            settings_of("wait_until", timeout_s=1.0),
            "tool_settings.wait_until.timeout_s",
            "must be null: the calls of wait_until",
        ),
        (settings_of("calculator", timeout_s=5.1), "tool_settings.calculator.timeout_s", "above 0 and at most 5 seconds"),
        (
            settings_of("http_get", arguments={"colour": 1}),
            "tool_settings.http_get.arguments.colour",
            "is no argument of http_get; its arguments: ",
        ),
        (settings_of("x", arguments={"a": float("nan")}), "tool_settings.x.arguments", "a number that JSON cannot represent"),
        (settings_of("x", arguments={"a": "\ud800"}), "tool_settings.x.arguments", "must be valid Unicode"),
        (
            settings_of("x", arguments={"a": "b" * 20_000}),
            "tool_settings",
            "must be at most 20000 characters as JSON, are 20009",
        ),
        ({"tool_settings": {"a b": ToolSettings()}}, "tool_settings", "the 1. name must be the name of a tool"),
        ({"tool_settings": {f"x{n}": ToolSettings() for n in range(51)}}, "tool_settings", "of at most 50 tools, got 51"),
    ],
)
def test_a_broken_rule_is_named(fields: dict[str, Any], field: str, message: str) -> None:
    (problem,) = find_problems(**fields)
    assert (problem[0], message in problem[1]) == (field, True), problem


def test_fixed_arguments_are_not_nested_without_end() -> None:
    value: Any = 1
    for _ in range(11):
        value = [value]
    assert find_problems(**settings_of("x", arguments={"a": value})) == [
        ("tool_settings.x.arguments", "must be nested at most 10 deep")
    ]


def test_a_list_of_tools_may_name_declared_ones() -> None:
    assert list(find_list_problems("allowed_tools", ("getWeather", "x-1_y"))) == []


def test_any_two_states_of_an_agent_differ_in_when_they_were_changed() -> None:
    first = change_value(DEFAULT, {"name": "a"}, now=START)
    second: Agent = change_value(first, {"name": "b"}, now=START)
    assert first.updated_at == START < second.updated_at
