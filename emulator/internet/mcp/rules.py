"""Rules: how one MCP server behaves, as tests set it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from emulator.internet.mcp.revisions import REVISIONS
from emulator.reading import InvalidRequestError, check_kind, read_object, read_strings, refuse_unknown

ANSWERS = ("json", "sse")
TEXTS = ("path", "answers", "authorization", "scope", "instructions")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpRules:
    """`path` is where it answers, in these `revisions` and as JSON or SSE (`answers`).

    `headers` are those that a request has to have, with their values. `authorization` is the host of the OAuth server whose
    tokens it takes, "" for none, and `scope` what they need for `tools/call`. `changed` are members of tools' descriptors
    that differ from those of `tools.py`, by tool (null takes one out); `added` are descriptors of further tools, which answer
    their arguments, and `hidden` names of tools that are not listed. `page` is how many tools a page of a listing has, 0 for
    all. `slow_s` is how long the slow tool takes, in seconds; a task ends with the poll of this number, `polls`, and asks to
    be polled every `poll_ms` milliseconds.
    """

    path: str = "/mcp"
    revisions: tuple[str, ...] = REVISIONS
    answers: str = "json"
    headers: Mapping[str, str] = field(default_factory=dict)
    authorization: str = ""
    scope: str = ""
    instructions: str = "Tools to try a client on."
    changed: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    added: tuple[Mapping[str, object], ...] = ()
    hidden: tuple[str, ...] = ()
    page: int = 0
    slow_s: float = 0.3
    polls: int = 2
    poll_ms: int = 1000


def read_mcp_rules(value: object, where: str, before: McpRules | None = None) -> McpRules:
    """Return the rules from JSON, those it does not name as `before`; raise InvalidRequestError."""
    source = read_object(value, where)
    refuse_unknown(source, [entry.name for entry in fields(McpRules)], where)
    kinds: dict[str, type] = {"slow_s": float, **dict.fromkeys(TEXTS, str), **dict.fromkeys(("page", "polls", "poll_ms"), int)}
    changed: dict[str, object] = {
        name: check_kind(source[name], kinds[name], f"{where}.{name}") for name in kinds.keys() & source.keys()
    }
    changed |= {name: read_strings(source[name], f"{where}.{name}") for name in {"revisions", "hidden"} & source.keys()}
    if "headers" in source:
        headers = read_object(source["headers"], f"{where}.headers")
        changed["headers"] = {key.lower(): check_kind(item, str, f"{where}.headers.{key}") for key, item in headers.items()}
    if "changed" in source:
        tools = read_object(source["changed"], f"{where}.changed")
        changed["changed"] = {key: read_object(item, f"{where}.changed.{key}") for key, item in tools.items()}
    if "added" in source:
        added = check_kind(source["added"], list, f"{where}.added")
        changed["added"] = tuple(read_object(item, f"{where}.added[{n}]") for n, item in enumerate(added))
    rules = replace(before or McpRules(), **changed)  # type: ignore[arg-type] # each was checked above
    if not rules.revisions or not set(rules.revisions) <= set(REVISIONS):
        raise InvalidRequestError(f"{where}.revisions must be one or more of {', '.join(REVISIONS)}")
    if rules.answers not in ANSWERS:
        raise InvalidRequestError(f"{where}.answers must be one of {', '.join(ANSWERS)}")
    if not rules.path.startswith("/"):
        raise InvalidRequestError(f"{where}.path must start with /")
    return rules
