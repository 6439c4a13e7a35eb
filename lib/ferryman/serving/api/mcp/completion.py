"""Completion: the keys of files that begin as a person has typed, for the template of resources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.catalog.tools import keeps_files
from ferryman.composition.api import ApiDependencies
from ferryman.domain.files.keys import clean_prefix
from ferryman.domain.problem import InvalidInputError
from ferryman.serving.api.mcp.caller import get_caller, hold_turn
from ferryman.serving.api.mcp.prompts import ARGUMENT, find_prompt
from ferryman.serving.api.mcp.resources import TEMPLATE
from ferryman.serving.api.rights import Caller
from ferryman.serving.mcp import Complete, McpExchange, Result, refuse_params

VALUES_MAX = 100
"""Of one answer, as the protocol has it."""

VALUE_CHARACTERS_MAX = 4_096


async def complete_argument(deps: ApiDependencies, exchange: McpExchange) -> Result:
    """Answer completion/complete: what an argument may be. Raise `McpError` with -32602 for what no prompt and no template of
    this server has."""
    caller = get_caller(exchange).caller
    ref, argument = exchange.get_object("ref"), exchange.get_object("argument")
    name, value = argument.get("name"), argument.get("value")
    if not isinstance(name, str) or not isinstance(value, str) or len(value) > VALUE_CHARACTERS_MAX:
        raise refuse_params(f"argument must have a name, and a value of at most {VALUE_CHARACTERS_MAX:,} characters")
    if ref.get("type") == "ref/prompt":
        await _check_prompt(deps, caller, ref, name)
        return _write([], has_more=False)  # what a person adds to a prompt, nobody knows before
    if ref.get("type") != "ref/resource":
        raise refuse_params("ref.type must be ref/prompt or ref/resource")
    if ref.get("uri") != TEMPLATE or name != "key":
        raise refuse_params(f"ref.uri must be {TEMPLATE}, and argument.name must be key")
    return await _complete_key(deps, caller, value)


async def _check_prompt(deps: ApiDependencies, caller: Caller, ref: Mapping[str, Any], argument: str) -> None:
    prompt = ref.get("name")
    async with hold_turn(deps, caller):
        task = await find_prompt(deps, caller, prompt) if isinstance(prompt, str) else None
    if task is None or argument != ARGUMENT["name"]:
        raise refuse_params("ref.name must be a prompt of this workspace, and argument.name must be input")


async def _complete_key(deps: ApiDependencies, caller: Caller, value: str) -> Complete:
    if not keeps_files(deps.tools):
        return _write([], has_more=False)
    try:
        async with hold_turn(deps, caller):
            page = await deps.files.list(caller.workspace, clean_prefix(value), most=VALUES_MAX)
    except InvalidInputError:
        return _write([], has_more=False)  # no key begins so
    return _write([entry.key for entry in page.entries], has_more=page.cursor is not None)


def _write(values: list[str], *, has_more: bool) -> Complete:
    completion: dict[str, Any] = {"values": values, "hasMore": has_more}
    if not has_more:
        completion["total"] = len(values)
    return Complete({"completion": completion})
