"""A call's own arguments: whose it is, and where, no model says; a declared tool's API may well have a user of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ferryman.catalog.tools import TOOLS
from ferryman.domain.tools.tool import Tool
from ferryman.ports.tickets import CallRequest
from ferryman.tools.execute_call import execute_call
from ferryman.tools.own_arguments import read_own_arguments
from ferryman.tools.prepared_call import CallContext, PreparedCall
from tests.builders import START
from tests.tools.harness import ARGUMENTS, POLICY, ToolHarness
from tests.tools.waiting.test_wait_until import HOUR, wait

RESERVED = (
    "db",
    "context",
    "user_id",
    "userId",
    "OWNER",
    "owner_id",
    "person_id",
    "workspace",
    "workspace_id",
    "agent",
    "task_id",
)
FOREIGN = dict.fromkeys(RESERVED, "another")


async def read_prepared(function: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that a call of `tool` is prepared with in the function that executes it."""
    harness, prepared = ToolHarness(arguments_=arguments), list[CallContext]()
    policy = replace(POLICY, declared={"look": "fingerprint"})
    harness.memory.executions["e"] = replace(harness.memory.executions["e"], policy=policy)
    harness.ask(tool)
    deps = harness.deps()

    async def prepare(context: CallContext) -> PreparedCall:
        prepared.append(context)
        return await deps.prepare(replace(context, arguments=ARGUMENTS))

    await execute_call(
        replace(deps, prepare=prepare), function, CallRequest(execution="e", seq=0, epoch=1, task="t", owner="o")
    )
    return dict(prepared[0].arguments)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_of_the_arguments_of_a_built_in_tool_the_reserved_ones_are_dropped_and_no_others(tool: Tool) -> None:
    valid = dict.fromkeys(tool.schema.get("properties", {}), "x")
    assert read_own_arguments(tool.policy, {**valid, **FOREIGN}) == valid


@pytest.mark.parametrize("name", ["user_ids", "my_user", "tasks", "userdata", "owner_id_2", "database"])
def test_an_argument_that_only_sounds_like_one_stays(name: str) -> None:
    assert read_own_arguments(TOOLS["http_get"].policy, {name: "x"}) == {name: "x"}


async def test_a_call_is_sent_without_them() -> None:
    assert await read_prepared("api_call", "api_call", {**ARGUMENTS, **FOREIGN}) == ARGUMENTS


async def test_a_declared_tool_is_given_those_of_its_api() -> None:
    assert await read_prepared("http_tool", "look", FOREIGN) == FOREIGN


async def test_a_wait_is_as_long_without_them() -> None:
    assert (await wait({"seconds": 3_000, **FOREIGN}, at=START)).after < HOUR
