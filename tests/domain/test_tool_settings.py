"""Settings of tools: fixed arguments win, limits only lower, and either form of a name finds them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.tools.names import PREFIX
from ferryman.domain.tools.settings import UNSET, ToolSettings, find_settings

arguments = st.dictionaries(st.sampled_from("abcd"), st.integers())


@given(arguments, arguments)
def test_a_call_cannot_change_a_fixed_argument(fixed: dict[str, Any], call: dict[str, Any]) -> None:
    assert ToolSettings(arguments=fixed).fix_arguments(call) == call | fixed


@given(arguments, arguments)
def test_fixing_arguments_twice_changes_nothing(fixed: dict[str, Any], call: dict[str, Any]) -> None:
    settings = ToolSettings(arguments=fixed)
    once = settings.fix_arguments(call)
    assert settings.fix_arguments(once) == once


@given(st.floats(0.1, 100), st.floats(0.1, 100))
def test_a_time_limit_only_lowers(timeout_s: float, within_s: float) -> None:
    assert ToolSettings(timeout_s=timeout_s).limit_time(within_s) == min(timeout_s, within_s)
    assert UNSET.limit_time(within_s) == within_s


def test_a_definition_is_shown_without_what_is_fixed() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"], "additionalProperties": False}
    definition = {"name": "t", "description": "d", "input_schema": schema}
    narrowed = ToolSettings(arguments={"a": 1, "z": 2}).narrow_definition(definition)
    assert narrowed["input_schema"] == {**schema, "properties": {"b": {}}, "required": ["b"]}
    assert schema["properties"] == {"a": {}, "b": {}}
    assert UNSET.narrow_definition(definition) is definition


def test_settings_are_found_under_either_form_of_a_name() -> None:
    settings = {f"{PREFIX}x": ToolSettings(calls_max=1), "y": ToolSettings(calls_max=2)}
    names = ("x", f"{PREFIX}x", "y", f"{PREFIX}y", "z")
    assert [find_settings(settings, name).calls_max for name in names] == [1, 1, 2, 2, None]
