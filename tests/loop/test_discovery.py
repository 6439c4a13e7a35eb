"""Discovery: the platform's tools are those that it lists, and what is not listed is not offered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from ferryman.catalog.tools import TOOLS
from ferryman.domain.executions.execution import Execution
from ferryman.ports.errors import RejectedError, UnavailableError
from tests.loop.conftest import Stage, says

FUTURE = "orchestrator__tell_fortune"
DEFINITION = {"name": FUTURE, "description": "Tell a fortune.", "input_schema": {"type": "object", "properties": {}}}


@dataclass
class Listing:
    """`ports.ToolDiscovery`: it lists what a test says, and counts how often it is asked."""

    names: tuple[str, ...] = ()
    fault: Exception | None = None
    asks: list[str] = field(default_factory=list)

    async def list_tools(self, execution: Execution) -> Mapping[str, Mapping[str, Any]]:
        self.asks.append(execution.id)
        if self.fault is not None:
            raise self.fault
        return {name: {**DEFINITION, "name": name, "description": "The server's words."} for name in self.names}


def offered(stage: Stage) -> list[str]:
    """Return the names of the tools that the model was shown."""
    return [tool["name"] for tool in stage.memory.openings["e"].tools]


async def test_a_tool_that_the_platform_lists_is_offered_in_the_catalog_s_words(stage: Stage) -> None:
    stage.discovery = Listing(("cron_list",))
    stage.task(tools=("http_get", "cron_list", "cron_add"))
    await stage.run(says("done"))
    assert offered(stage) == ["http_get", "cron_list"]
    assert stage.execution.policy is not None
    assert stage.execution.policy.tools == ("http_get", "cron_list")
    assert stage.memory.openings["e"].tools[1] == TOOLS["cron_list"].to_definition()


async def test_a_tool_that_no_catalog_lists_is_offered_in_the_server_s_words_and_goes_its_way(stage: Stage) -> None:
    stage.discovery = Listing((FUTURE,))
    stage.task(tools=(FUTURE,))
    await stage.run(says("", (FUTURE, {})), says("done"))
    assert stage.memory.openings["e"].tools == ({**DEFINITION, "description": "The server's words."},)
    assert [ticket.tool for ticket in stage.executed] == [FUTURE]


async def test_the_log_says_what_is_not_listed(stage: Stage) -> None:
    stage.discovery = Listing(("cron_list",))
    stage.task(tools=("cron_list", "cron_add"))
    await stage.run(says("done"))
    (line,) = [fields for event, fields in stage.log.lines if event == "tools.not_listed"]
    assert (line["tools"], line["error"]) == (["cron_add"], "the platform has no such tool")


@pytest.mark.parametrize("fault", [UnavailableError("it does not answer"), RejectedError("it is no list")])
async def test_an_execution_goes_on_without_tools_that_cannot_be_listed(stage: Stage, fault: Exception) -> None:
    stage.discovery = Listing(fault=fault)
    stage.task(tools=("http_get", "cron_list"))
    await stage.run(says("done"))
    assert offered(stage) == ["http_get"]
    assert str(fault) in str(stage.log.lines)


async def test_the_platform_is_asked_where_one_of_its_tools_is_enabled_alone(stage: Stage) -> None:
    listing = stage.discovery = Listing()
    await stage.run(says("done"))
    assert listing.asks == []


async def test_a_deployment_without_a_platform_offers_none_of_its_tools(stage: Stage) -> None:
    stage.task(tools=("http_get", "cron_list"))
    await stage.run(says("done"))
    assert offered(stage) == ["http_get"]
