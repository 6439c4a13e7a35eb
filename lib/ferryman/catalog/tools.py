"""The catalog of tools: `tools.json`, read once and checked.

All that is decided about a tool is in its entry. A name without one is a declared tool's, whose entry is `declared`, or with
`__` in it that of a tool of an MCP server, whose entry is `remote`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from ferryman.catalog.tool_entries import read_categories, read_tools
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.expense import CallExpense, Expense
from ferryman.domain.remote_servers.names import is_remote_name
from ferryman.domain.tasks.task import TaskSummary, ToolLoading
from ferryman.domain.tools.names import PREFIX, names_tool
from ferryman.domain.tools.tool import Tool


def load_file(name: str) -> Any:
    """Return a JSON file of this package."""
    return json.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


ICONS: Mapping[str, str] = load_file("icons.json")
"""The pictures of tools and categories by name, each one character."""

CATEGORIES = read_categories(load_file("tool_categories.json"), ICONS)
"""The categories of tools by id (S4-132)."""

LISTED, DECLARED, DISCOVERED, REMOTE = read_tools(load_file("tools.json"), CATEGORIES, ICONS)
"""All tools by name, also those that are not implemented (S4-2); what holds for every declared tool, for one of the
platform's own server that the catalog does not list, and for one of an MCP server of an agent."""

TOOLS: dict[str, Tool] = {name: tool for name, tool in LISTED.items() if isinstance(tool, Tool)}
"""The built-in tools by name, in the order in which the model is shown them."""

FILES = "files"
"""The kind of tools that need a bucket: a deployment without one offers none of them."""

READING_ON = "file_read"
"""The tool that reads on in a result that was kept as a file."""

NO_BUCKET = "this deployment keeps no files: it has no bucket for them"

PLATFORM = "platform"
"""The kind of tools that the platform's own server has, and that are offered where it lists them."""

FINDING = "finding"
"""The kind of tools that search for others of the task."""

FINDERS = tuple(tool.name for tool in TOOLS.values() if tool.kind == FINDING)
"""The tools that search for others of the task, and are offered where not all of them are shown."""


RECALLING = "recalling"
"""The kind of tools that read earlier results of a conversation again: every answer in one may have them."""

PASSING = "passing"
"""The kind of tools that make another call, with results in its arguments that the model does not read."""

EXTRACTING = "extracting"
"""The kind of tools that have a quarantined model read a result, and hide what it says."""

QUARANTINES = tuple(tool.name for tool in TOOLS.values() if tool.kind in (PASSING, EXTRACTING))
"""The tools by which results are used that the model does not read."""

RECALLERS = tuple(tool.name for tool in TOOLS.values() if tool.kind == RECALLING)


def find_tool(name: str) -> Tool:
    """Return the tool of this name; for any that is not built in `DECLARED`, or by the form of its name `DISCOVERED` or
    `REMOTE`, which have no name of their own."""
    return TOOLS.get(name) or (DISCOVERED if name.startswith(PREFIX) else REMOTE if is_remote_name(name) else DECLARED)


def is_of_platform(name: str) -> bool:
    """Tell whether the platform's own server has the tool, if there is one of this name."""
    return find_tool(name).kind == PLATFORM


def is_discoverable(name: str) -> bool:
    """Tell whether the platform's own server may have a tool of this name that the catalog does not list."""
    return name.startswith(PREFIX) and not is_listed(name)


def list_offered(*, has_files: bool) -> tuple[Tool, ...]:
    """Return the built-in tools of a deployment, in their order; without a bucket for files those of files are none."""
    return tuple(tool for tool in TOOLS.values() if has_files or tool.kind != FILES)


def keeps_files(offered: Iterable[Tool]) -> bool:
    """Tell whether a deployment that offers these tools keeps files."""
    return any(tool.kind == FILES for tool in offered)


def list_enabled(task: TaskSummary) -> tuple[str, ...]:
    """Return the built-in tools that `task` has enabled; loading them by context enables the search for the others."""
    if task.tool_loading is ToolLoading.ALL:
        return task.tools
    return (*task.tools, *(name for name in FINDERS if name not in task.tools))


def is_listed(name: str) -> bool:
    """Tell whether the catalog lists the tool, under either form of its name (S4-95)."""
    return names_tool(LISTED, name)


def list_names(ticket: Ticket) -> tuple[str, ...]:
    """Return the names of the tools that a call is one of: of those that execute it, that were called, and that it calls."""
    called = ticket.display_arguments.get("toolName") if find_tool(ticket.tool).calls_others else None
    return (*ticket.names, *([called] if isinstance(called, str) else []))


def get_fee(result: ToolCallResult) -> Decimal:
    """Return the credits that a call costs: an authenticated call that was not blocked (S0-111 … S0-113), or one of a model."""
    if result.model_use is not None:
        return result.model_use.credits
    if result.blocked or result.credential_used is None:
        return Decimal(0)
    return find_tool(result.tool).policy.fee


def get_expense(result: ToolCallResult) -> CallExpense:
    """Return what a call is entered in the ledger with."""
    if result.model_use is not None:
        return CallExpense(expense=Expense.LLM_TOKENS, credits=result.model_use.credits)
    expense = find_tool(result.tool).policy.expense
    is_counted = expense is Expense.STORAGE_UNMETERED and result.ok
    return CallExpense(expense=expense, credits=get_fee(result), bytes=(result.response_size_bytes or 0) if is_counted else 0)


def may_fetch_tokens(policy: ExecutionPolicy) -> bool:
    """Tell whether tokens may be fetched for the execution, which only the functions of declared tools
    and of tools of MCP servers do."""
    return (
        bool(policy.declared)
        or bool(policy.remote)
        or any(find_tool(name).function == DECLARED.function for name in policy.tools)
    )


def is_kept(tool: str, policy: ExecutionPolicy) -> bool:
    """Tell whether what a call of `tool` read beyond what is shown is kept as a file: content of others, in an execution that
    can read on."""
    return READING_ON in policy.enabled and tool != READING_ON and find_tool(tool).policy.wrapped


def holds_secrets(policy: ExecutionPolicy) -> bool:
    """Tell whether texts have to be scanned for secrets: a credential, a former one or a fetched token."""
    return bool(policy.credentials) or policy.former or may_fetch_tokens(policy)


def build_icon_url(icon: str) -> str:
    """Return a picture as a URL that holds all of it: an SVG with its character, so that nothing is fetched to show it."""
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><text y="19" font-size="20">{ICONS[icon]}</text></svg>'
    )
    return f"data:image/svg+xml,{quote(picture)}"
