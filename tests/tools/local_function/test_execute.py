"""Seed 002's executor: what a tool is given, how long it may take, and the exact texts that come back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from ferryman.catalog.tools import LISTED, TOOLS
from ferryman.domain.calls.call import ToolCall
from ferryman.tools.local_function.execute import Answer, answer, execute, run
from ferryman.tools.local_function.registry import TOOL_REGISTRY, TOOL_SCHEMAS, register
from tests.builders import build_tool
from tests.tools.local_function import clock

USER = UUID("8b0c9a5e-3f77-4c52-9d58-3a9e2a4f1c11")
DB = object()


@contextmanager
def registered(function: Any, name: str = "probe", **how: Any) -> Iterator[None]:
    """Have a tool in the catalog and in the registry for as long as the block lasts."""
    before = dict(TOOL_REGISTRY), list(TOOL_SCHEMAS)
    LISTED[name] = TOOLS[name] = build_tool(name=name, kind="local_function", policy=TOOLS["calculator"].policy)
    try:
        register(name, function, **how)
        yield
    finally:
        del LISTED[name], TOOLS[name]
        TOOL_REGISTRY.clear()
        TOOL_REGISTRY.update(before[0])
        TOOL_SCHEMAS[:] = before[1]


def call(name: str = "probe", **arguments: Any) -> ToolCall:
    return ToolCall(id=f"toolu_{name}", name=name, arguments=arguments)


async def collect_arguments(**arguments: Any) -> dict[str, Any]:
    """Return what a tool is given of these arguments of the model."""
    seen: dict[str, Any] = {}

    async def probe(**values: Any) -> str:
        seen.update(values)
        return "done"

    with registered(probe):
        await execute(call(**arguments), USER, DB)
    return seen


async def execute_probe(function: Any) -> str:
    """Return what is said of a call of `function`."""
    with registered(function):
        return await execute(call(), USER, DB)


async def test_an_unknown_tool_is_told_with_a_capital() -> None:
    assert await execute(call("nothing"), USER, DB) == "Error: Unknown tool 'nothing'"


async def test_the_user_is_a_text_and_the_store_is_passed_on() -> None:
    assert await collect_arguments() == {"user_id": str(USER), "db": DB}


async def test_reserved_keys_of_the_model_are_dropped() -> None:
    assert await collect_arguments(user_id="another", db="another", a=1) == {"user_id": str(USER), "db": DB, "a": 1}


@pytest.mark.parametrize("length", [0, 999, 1000])
async def test_a_text_up_to_1000_characters_stays(length: int) -> None:
    assert (await collect_arguments(a="x" * length))["a"] == "x" * length


async def test_a_longer_text_is_cut_to_its_first_1000_characters() -> None:
    assert (await collect_arguments(a="y" * 1000 + "z"))["a"] == "y" * 1000


async def test_a_list_of_50_stays() -> None:
    assert (await collect_arguments(a=list(range(50))))["a"] == list(range(50))


async def test_a_longer_list_is_cut_to_its_first_50_items() -> None:
    assert (await collect_arguments(a=list(range(51))))["a"] == list(range(50))


async def test_clamping_is_not_told() -> None:
    async def probe(*, a: str, **_: Any) -> str:
        return a

    with registered(probe):
        assert await execute(call(a="x" * 1001), USER, DB) == "x" * 1000


async def test_values_inside_others_are_not_cut() -> None:
    deep = {"a": ["x" * 2000], "b": {"c": "x" * 2000, "d": [0] * 60}}
    assert {name: value for name, value in (await collect_arguments(**deep)).items() if name in deep} == deep


async def test_the_models_own_arguments_are_left_as_they_were() -> None:
    arguments = {"a": "x" * 2000, "user_id": "another"}
    with registered(lambda **_: asyncio.sleep(0, "done")):
        await execute(ToolCall(id="1", name="probe", arguments=arguments), USER, DB)
    assert arguments == {"a": "x" * 2000, "user_id": "another"}


async def test_a_result_is_returned_as_it_is() -> None:
    result = "r" * 100_000
    assert await execute_probe(lambda **_: asyncio.sleep(0, result)) == result


def test_a_call_is_ended_earlier_where_it_is_given_less_time() -> None:
    with registered(lambda **_: asyncio.sleep(60, "late")):
        answered = clock.run(answer(ToolCall(id="1", name="probe", arguments={}), USER, DB, within_s=2.5))
    assert answered == (Answer("Error: Tool 'probe' timed out after 2.5 seconds", "timed_out"), 2.5)


def test_a_tool_that_takes_longer_than_five_seconds_is_ended() -> None:
    assert clock.run(execute_probe(lambda **_: asyncio.sleep(60, "late"))) == (
        "Error: Tool 'probe' timed out after 5 seconds",
        5.0,
    )


def test_a_tool_that_takes_less_is_not() -> None:
    assert clock.run(execute_probe(lambda **_: asyncio.sleep(4.9, "in time"))) == ("in time", 4.9)


def fail(error: BaseException) -> Any:
    async def probe(**_: Any) -> str:
        raise error

    return probe


async def test_an_exception_becomes_a_text() -> None:
    assert await execute_probe(fail(RuntimeError("no table is free"))) == "Error executing probe: no table is free"


async def test_a_timeout_of_the_tools_own_is_told_as_its_own() -> None:
    assert (
        await execute_probe(fail(TimeoutError("the kitchen did not answer")))
        == "Error executing probe: the kitchen did not answer"
    )


async def test_missing_arguments_become_a_text() -> None:
    async def probe(*, guests: int, **_: Any) -> str:
        return str(guests)

    assert (await execute_probe(probe)).startswith("Error executing probe: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("401 for sk-ant-abcdefghijklmnopqrstuvwxyz0123456789", "401 for [a key of the form sk-…]"),
        ("AKIAABCDEFGHIJKLMNOP was refused", "[an AWS access key] was refused"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nAAAA", "[a private key]"),
    ],
)
async def test_an_error_leaves_no_key_in_its_text(text: str, message: str) -> None:
    assert await execute_probe(fail(RuntimeError(text))) == f"Error executing probe: {message}"


async def test_a_key_at_the_place_where_an_error_is_cut_is_not_told() -> None:
    error = RuntimeError("." * 990 + " sk-ant-abcdefghijklmnopqrstuvwxyz0123456789")
    assert "sk-ant" not in await execute_probe(fail(error))


async def test_an_exceptions_text_is_cut() -> None:
    assert len(await execute_probe(fail(RuntimeError("e" * 50_000)))) == len("Error executing probe: ") + 1000


async def test_a_cancellation_passes() -> None:
    with pytest.raises(asyncio.CancelledError):
        await execute_probe(fail(asyncio.CancelledError()))


async def test_a_batch_has_a_block_of_three_keys_for_each_call_in_order() -> None:
    async def echo(*, a: str, **_: Any) -> str:
        return a

    with registered(echo, "echo"):
        calls = [call("echo", a="1"), call("nothing"), call("echo"), call("echo", a="2")]
        blocks = await run(calls, USER, DB)
    assert [(set(block), block["type"], block["tool_use_id"]) for block in blocks] == [
        ({"type", "tool_use_id", "content"}, "tool_result", item.id) for item in calls
    ]
    assert [blocks[0]["content"], blocks[1]["content"], blocks[3]["content"]] == ["1", "Error: Unknown tool 'nothing'", "2"]


async def test_a_batch_runs_one_call_after_the_other() -> None:
    running, most = 0, 0

    async def probe(**_: Any) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return ""

    with registered(probe):
        await run([call()] * 3, USER, DB)
    assert most == 1


def test_a_name_is_registered_once() -> None:
    with registered(fail(RuntimeError())), pytest.raises(ValueError, match="'probe' is registered twice"):
        register("probe", fail(RuntimeError()))


@pytest.mark.parametrize("available", [True, False])
def test_a_name_without_an_entry_in_the_catalog_is_not_registered(available: bool) -> None:
    with pytest.raises(ValueError, match="'probe' has no entry in the catalog of tools"):
        register("probe", fail(RuntimeError()), available=available)


@pytest.mark.parametrize("available", [True, False])
def test_schemas_and_functions_are_of_the_same_tools(available: bool) -> None:
    with registered(fail(RuntimeError()), available=available):
        assert [schema["name"] for schema in TOOL_SCHEMAS] == list(TOOL_REGISTRY)
        assert ("probe" in TOOL_REGISTRY) is available
