"""Tools that become tasks for clients of the Tasks extension, and its methods."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ferryman.serving.mcp import Complete, InputRequired, McpExchange, Result, TaskCreated, refuse_params

from .asking import NAME, elicit, read_form
from .content import answer
from .tools import Fixtures, FixtureTool, takes

_BOOLEAN = {"type": "boolean"}
_TEXT = {"type": "string"}
SECONDS_MAX = 3_600


async def compute(deps: Fixtures, exchange: McpExchange, arguments: Mapping[str, Any]) -> Result:
    seconds = arguments.get("seconds", 0)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= SECONDS_MAX:
        raise refuse_params(f"seconds must be 0 to {SECONDS_MAX}")
    result = answer(f"Computed {arguments.get('label', '')} in {seconds} s")
    if exchange.has_tasks:
        return TaskCreated(deps.tasks.create(seconds=seconds, result=result.content))
    await asyncio.sleep(seconds)
    return result


async def fail_later(deps: Fixtures, exchange: McpExchange, _: Mapping[str, Any]) -> Result:
    exchange.require_tasks()
    return TaskCreated(deps.tasks.create(seconds=1, result=answer("The job failed", is_error=True).content))


async def break_later(deps: Fixtures, exchange: McpExchange, _: Mapping[str, Any]) -> Result:
    exchange.require_tasks()
    return TaskCreated(deps.tasks.create(seconds=0.5, error={"code": -32603, "message": "Internal error"}))


async def delete(deps: Fixtures, exchange: McpExchange, arguments: Mapping[str, Any]) -> Result:
    exchange.require_tasks()
    asking = {"confirmation": elicit(f"Delete {arguments.get('filename', '')}?", confirm=_BOOLEAN)}
    return TaskCreated(deps.tasks.create(seconds=0, requests=asking))


async def ask_both(deps: Fixtures, exchange: McpExchange, _: Mapping[str, Any]) -> Result:
    exchange.require_tasks()
    asking = {"first": elicit("Your name?", name=_TEXT), "second": elicit("Go on?", confirm=_BOOLEAN)}
    return TaskCreated(deps.tasks.create(seconds=0, requests=asking))


async def ask_then_work(deps: Fixtures, exchange: McpExchange, _: Mapping[str, Any]) -> Result:
    exchange.require_tasks()
    name = read_form(exchange, "user_name", "name", str)
    if name is None:
        return InputRequired(NAME)
    return TaskCreated(deps.tasks.create(seconds=0.5, result=answer(f"Hello, {name}!").content))


TOOLS = (
    FixtureTool("slow_compute", "Compute for some seconds", compute, {"type": "object"}),
    FixtureTool("failing_job", "Fail after a second", fail_later),
    FixtureTool("protocol_error_job", "End with an error of the protocol", break_later),
    FixtureTool("confirm_delete", "Ask before it deletes", delete, takes(filename=_TEXT)),
    FixtureTool("multi_input", "Ask for two things at once", ask_both),
    FixtureTool("test_tool_with_task", "Ask first, then work on", ask_then_work),
)


async def get_task(deps: Fixtures, exchange: McpExchange) -> Result:
    task = deps.tasks.get(exchange.get_text("taskId"))
    if task is None:
        raise refuse_params("there is no such task")
    return Complete(task)


async def update_task(deps: Fixtures, exchange: McpExchange) -> Result:
    if not deps.tasks.update(exchange.get_text("taskId"), exchange.input_responses):
        raise refuse_params("there is no such task")
    return Complete()


async def cancel_task(deps: Fixtures, exchange: McpExchange) -> Result:
    if not deps.tasks.cancel(exchange.get_text("taskId")):
        raise refuse_params("there is no such task")
    return Complete()
