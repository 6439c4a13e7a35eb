"""Reading the catalog of tools: every entry is checked, and one that lacks a field does not load."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal, InvalidOperation
from typing import Any

from ferryman.catalog import check_members, need
from ferryman.domain.expense import CALL_EXPENSES, Expense
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.tools.tool import Repeatable, Tool, ToolCategory, ToolListing, ToolPolicy

FILE = "catalog/tools.json"
UNFRAMED_KINDS = ("concierge", "extracting", "finding", "local_function", "passing", "waiting")
"""The kinds whose results are texts of the system's own, which the model reads as they are."""

UNASKED_KINDS = ("extracting", "finding", "passing", "recalling", "waiting")
"""The kinds whose calls have no effect and read what the execution knows already: nobody is asked about them."""

_POLICY_FIELDS = frozenset(field.name for field in fields(ToolPolicy))
_LISTED_FIELDS = frozenset(field.name for field in fields(ToolListing))
_FIELDS = frozenset(field.name for field in fields(Tool)) - {"schema", "reason"} | {"input_schema"}
_DECLARED_FIELDS = _FIELDS - {"name", "description", "input_schema"}
_CATEGORY_FIELDS = frozenset(field.name for field in fields(ToolCategory))


def read_categories(document: Sequence[Any], icons: Mapping[str, str]) -> dict[str, ToolCategory]:
    """Return the categories of tools by id, in their order. Raise `MisconfiguredError`, which names the entry and the field."""
    categories: dict[str, ToolCategory] = {}
    for index, entry in enumerate(document):
        where = f"catalog/tool_categories.json entry {index}"
        need(isinstance(entry, Mapping), f"{where}: must be an object")
        check_members(entry, where, _CATEGORY_FIELDS, _CATEGORY_FIELDS)
        need(all(isinstance(value, str) for value in entry.values()), f"{where}: every field must be a string")
        need(entry["icon"] in icons, f"{where}: there is no icon {entry['icon']!r}")
        need(entry["id"] not in categories, f"{where}: the id is given twice")
        categories[entry["id"]] = ToolCategory(**entry)
    return categories


def read_tools(
    document: Mapping[str, Any], categories: Mapping[str, ToolCategory], icons: Mapping[str, str]
) -> tuple[dict[str, ToolListing], Tool, Tool, Tool]:
    """Return all tools by name, in their order, those that can be called as `Tool`; what holds for every declared one, for
    one that the platform's own server has and the catalog does not list, and for one of an MCP server of an agent.

    Raise `MisconfiguredError`, which names the entry and the field.
    """
    listed: dict[str, ToolListing] = {}
    for index, entry in enumerate(document["tools"]):
        where = f"{FILE} entry {index}"
        need(isinstance(entry, Mapping) and isinstance(entry.get("name"), str), f"{where}: name must be a string")
        where = f"{where} ({entry['name']!r})"
        need(entry["name"] not in listed, f"{where}: the name is given twice")
        listed[entry["name"]] = _read_entry(entry, where, categories, icons)
    nameless = ("declared", "discovered", "remote")
    declared, discovered, remote = (_read_nameless(document[name], f"{FILE} {name}", categories, icons) for name in nameless)
    return listed, declared, discovered, remote


def _read_nameless(
    entry: Mapping[str, Any], where: str, categories: Mapping[str, ToolCategory], icons: Mapping[str, str]
) -> Tool:
    """Return what holds for every tool of a kind that the catalog does not list."""
    check_members(entry, where, _DECLARED_FIELDS, _DECLARED_FIELDS)
    tool = _read_entry({"name": "", "description": "", "input_schema": {}, **entry}, where, categories, icons)
    assert isinstance(tool, Tool), "these tools can be called"
    return tool


def _read_entry(
    entry: Mapping[str, Any], where: str, categories: Mapping[str, ToolCategory], icons: Mapping[str, str]
) -> ToolListing:
    need(isinstance(entry.get("implemented"), bool), f"{where}: implemented must be true or false")
    known = _FIELDS if entry["implemented"] else _LISTED_FIELDS
    check_members(entry, where, known, known)
    for name in ("display_name", "description"):
        need(isinstance(entry[name], str), f"{where}: {name} must be a string")
    need(entry["category"] in categories, f"{where}: there is no category {entry['category']!r}")
    need(entry["icon"] in icons, f"{where}: there is no icon {entry['icon']!r}")
    if entry["implemented"]:
        return _read_tool(entry, where)
    need(isinstance(entry["reason"], str) and entry["reason"], f"{where}: reason must say why it is not implemented")
    return ToolListing(**entry)


def _read_tool(entry: Mapping[str, Any], where: str) -> Tool:
    for name in ("kind", "function"):
        need(isinstance(entry[name], str), f"{where}: {name} must be a string")
    need(entry["requires"] is None or isinstance(entry["requires"], str), f"{where}: requires must be a service or null")
    need(isinstance(entry["calls_others"], bool), f"{where}: calls_others must be true or false")
    need(isinstance(entry["input_schema"], Mapping), f"{where}: input_schema must be an object")
    need(isinstance(entry["policy"], Mapping), f"{where}: policy must be an object")
    values = {name: value for name, value in entry.items() if name not in ("policy", "input_schema")}
    tool = Tool(**values, schema=entry["input_schema"], policy=_read_policy(entry["policy"], f"{where}: policy"))
    unknown = set(tool.policy.decided_by or ()) - set(tool.schema.get("properties", ()))
    need(not unknown, f"{where}: policy.decided_by names no argument: {sorted(unknown)}")
    is_asked = tool.kind not in UNASKED_KINDS
    need(is_asked or not tool.policy.needs_confirmation, f"{where}: policy.needs_confirmation: must be false for this kind")
    is_framed = tool.kind not in UNFRAMED_KINDS or not tool.policy.wrapped
    need(is_framed, f"{where}: policy.wrapped: must be false, since nothing frames the results of the kind {tool.kind}")
    return tool


def _read_policy(entry: Mapping[str, Any], where: str) -> ToolPolicy:
    check_members(entry, where, _POLICY_FIELDS, _POLICY_FIELDS)
    policy = ToolPolicy(**{name: _read_field(name, value, where) for name, value in entry.items()})
    is_remote = policy.network is not NetworkPolicy.NONE
    need(policy.wrapped or not is_remote, f"{where}.wrapped: must be true, since its results come over a network")
    is_read = policy.response_bytes_max is None or is_remote
    need(is_read, f"{where}.response_bytes_max: must be null, since it reads nothing over a network")
    is_free = policy.expense is not Expense.STORAGE_UNMETERED or not policy.fee
    need(is_free, f"{where}.fee: must be 0, since its calls are not metered")
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


def _read_expense(value: Any) -> Expense:
    if (expense := Expense(value)) not in CALL_EXPENSES:
        raise ValueError
    return expense


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
    "expense": (f"one of {', '.join(CALL_EXPENSES)}", _read_expense),
    "repeatable": (f"one of {', '.join(Repeatable)}", Repeatable),
    **dict.fromkeys(("counts", "parallel_safe", "wrapped", "needs_confirmation"), _FLAG),
    **dict.fromkeys(("reads", "changes"), _NAMES),
    "decided_by": ("a list of arguments, or null for all", lambda value: None if value is None else _read_names(value)),
}
