"""The catalogue of tools: `tools.json`, read once and checked; an entry that lacks a field does not load.

All that is decided about a tool is in its entry. A name without one is a declared tool's, whose entry is `declared`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from typing import Any

from ferryman.catalog import check_members, need
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.tools.tool import Repeatable, Tool, ToolPolicy

FILE = "catalog/tools.json"
_POLICY_FIELDS = frozenset(field.name for field in fields(ToolPolicy))
_FIELDS = frozenset(field.name for field in fields(Tool)) - {"schema"} | {"input_schema"}
_DECLARED_FIELDS = _FIELDS - {"name", "description", "input_schema"}


def read_tools(document: Mapping[str, Any]) -> tuple[dict[str, Tool], Tool]:
    """Return the tools of a catalogue by name, in its order, and what holds for every declared one.

    Raise `MisconfiguredError`, which names the entry and the field.
    """
    tools: dict[str, Tool] = {}
    for index, entry in enumerate(document["tools"]):
        where = f"{FILE} entry {index}"
        need(isinstance(entry, Mapping) and isinstance(entry.get("name"), str), f"{where}: name must be a string")
        where = f"{where} ({entry['name']!r})"
        need(entry["name"] not in tools, f"{where}: the name is given twice")
        check_members(entry, where, _FIELDS, _FIELDS)
        tools[entry["name"]] = _read_tool(entry, where)
    where = f"{FILE} declared"
    check_members(document["declared"], where, _DECLARED_FIELDS, _DECLARED_FIELDS)
    declared = _read_tool({"name": "", "description": "", "input_schema": {}, **document["declared"]}, where)
    return tools, declared


def find_tool(name: str) -> Tool:
    """Return the tool of this name: a built-in one, or what holds for every declared one."""
    tool = TOOLS.get(name)
    return replace(DECLARED, name=name) if tool is None else tool


def get_fee(result: ToolCallResult) -> Decimal:
    """Return the credits that a call costs: only an authenticated call that was not blocked does (S0-111 … S0-113)."""
    if result.blocked or result.credential_used is None:
        return Decimal(0)
    return find_tool(result.tool).policy.fee


def may_fetch_tokens(policy: ExecutionPolicy) -> bool:
    """Tell whether tokens may be fetched for the execution, which only the function of declared tools does."""
    return bool(policy.declared) or any(find_tool(name).function == DECLARED.function for name in policy.tools)


def holds_secrets(policy: ExecutionPolicy) -> bool:
    """Tell whether texts have to be scanned for secrets: a credential, a former one or a fetched token."""
    return bool(policy.credentials) or policy.former or may_fetch_tokens(policy)


def _read_tool(entry: Mapping[str, Any], where: str) -> Tool:
    for name in ("description", "kind", "function"):
        need(isinstance(entry[name], str), f"{where}: {name} must be a string")
    need(entry["requires"] is None or isinstance(entry["requires"], str), f"{where}: requires must be a service or null")
    need(isinstance(entry["calls_others"], bool), f"{where}: calls_others must be true or false")
    need(isinstance(entry["input_schema"], Mapping), f"{where}: input_schema must be an object")
    need(isinstance(entry["policy"], Mapping), f"{where}: policy must be an object")
    values = {name: value for name, value in entry.items() if name not in ("policy", "input_schema")}
    tool = Tool(**values, schema=entry["input_schema"], policy=_read_policy(entry["policy"], f"{where}: policy"))
    unknown = set(tool.policy.decided_by or ()) - set(tool.schema.get("properties", ()))
    need(not unknown, f"{where}: policy.decided_by names no argument: {sorted(unknown)}")
    return tool


def _read_policy(entry: Mapping[str, Any], where: str) -> ToolPolicy:
    check_members(entry, where, _POLICY_FIELDS, _POLICY_FIELDS)
    policy = ToolPolicy(**{name: _read_field(name, value, where) for name, value in entry.items()})
    is_parallel = policy.parallel_safe and policy.changes
    need(not is_parallel, f"{where}.parallel_safe: a call that changes something may not run beside others")
    return policy


def _read_field(name: str, value: Any, where: str) -> Any:
    expected, read = _READERS[name]
    try:
        return read(value)
    except (TypeError, ValueError, InvalidOperation):
        need(False, f"{where}.{name} must be {expected}")


def _read_count(value: Any) -> int | None:
    if value is not None and (type(value) is not int or value <= 0):
        raise ValueError
    return value


def _read_seconds(value: Any) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or value <= 0:
        raise ValueError
    return float(value)


def _read_credits(value: Any) -> Decimal:
    if not isinstance(value, str) or not (fee := Decimal(value)).is_finite() or fee < 0:
        raise ValueError
    return fee


def _read_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _read_names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError
    return tuple(value)


_COUNT = ("a whole number above 0, or null", _read_count)
_FLAG = ("true or false", _read_flag)
_NAMES = ("a list of names", _read_names)
_READERS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "timeout_s": ("seconds above 0, or null", _read_seconds),
    **dict.fromkeys(("argument_characters_max", "argument_items_max", "response_bytes_max", "result_characters_max"), _COUNT),
    "network": (f"one of {', '.join(NetworkPolicy)}", NetworkPolicy),
    "fee": ("credits, as a string", _read_credits),
    "repeatable": (f"one of {', '.join(Repeatable)}", Repeatable),
    **dict.fromkeys(("counts", "parallel_safe", "wrapped", "needs_confirmation"), _FLAG),
    **dict.fromkeys(("reads", "changes"), _NAMES),
    "decided_by": ("a list of arguments, or null for all", lambda value: None if value is None else _read_names(value)),
}

TOOLS, DECLARED = read_tools(json.loads(files(__package__).joinpath("tools.json").read_text()))
"""The built-in tools by name, in the order in which the model is shown them; and what holds for every declared tool."""
