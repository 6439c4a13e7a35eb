"""Changes: what of a workspace a subscription may follow, and how it is found out that something of it has changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping
from functools import partial
from typing import Any

from ferryman.catalog.tools import keeps_files
from ferryman.composition.api import ApiDependencies
from ferryman.serving.api.mcp.agent_tools import read_version
from ferryman.serving.api.mcp.caller import get_caller
from ferryman.serving.api.mcp.prompts import list_offered_tasks
from ferryman.serving.api.mcp.resources import parse_uri
from ferryman.serving.api.rights import Caller
from ferryman.serving.mcp import McpError, McpExchange, Notification

PAGES_MAX = 5
"""Of a thousand files each, which are looked at for changes of the list."""

RESOURCES_MAX = 20
"""Files that one subscription follows; of a longer list, the first are granted."""

Probe = Callable[[], Awaitable[Hashable]]
"""Returns another value whenever what it looks at has changed."""

_LISTS = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")


def grant_changes(deps: ApiDependencies, asking: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a filter that is followed, without its tasks: files only where the deployment keeps any."""
    has_files = keeps_files(deps.tools)
    granted: dict[str, Any] = {
        name: True for name in _LISTS if asking.get(name) and (has_files or name != "resourcesListChanged")
    }
    uris = [uri for uri in asking.get("resourceSubscriptions", ()) if has_files and _is_file(uri)]
    return {**granted, "resourceSubscriptions": uris[:RESOURCES_MAX]} if uris else granted


def list_probes(deps: ApiDependencies, exchange: McpExchange, granted: Mapping[str, Any]) -> list[tuple[Notification, Probe]]:
    """Return the notifications that may come, and what is looked at for each of them."""
    caller = get_caller(exchange).caller
    lists: Mapping[str, tuple[str, Probe]] = {
        "toolsListChanged": ("tools", partial(_read_tools, deps, exchange)),
        "promptsListChanged": ("prompts", partial(_read_prompts, deps, caller)),
        "resourcesListChanged": ("resources", partial(_read_files, deps, caller)),
    }
    probes = [
        (Notification(f"notifications/{kind}/list_changed"), probe) for name, (kind, probe) in lists.items() if name in granted
    ]
    for uri in granted.get("resourceSubscriptions", ()):
        notification = Notification("notifications/resources/updated", {"uri": uri})
        probes.append((notification, partial(_read_version, deps, caller, parse_uri(uri))))
    return probes


def _is_file(uri: str) -> bool:
    try:
        parse_uri(uri)
    except McpError:
        return False
    return True


async def _read_tools(deps: ApiDependencies, exchange: McpExchange) -> Hashable:
    return await read_version(deps, get_caller(exchange))


async def _read_prompts(deps: ApiDependencies, caller: Caller) -> Hashable:
    return tuple((task.id, task.name, task.description) for task in await list_offered_tasks(deps, caller))


async def _read_files(deps: ApiDependencies, caller: Caller) -> Hashable:
    listed: list[tuple[str, str]] = []
    cursor: str | None = None
    for _ in range(PAGES_MAX):
        page = await deps.files.list(caller.workspace, "", cursor=cursor)
        listed += [(entry.key, entry.version) for entry in page.entries]
        cursor = page.cursor
        if cursor is None:
            break
    return tuple(listed)


async def _read_version(deps: ApiDependencies, caller: Caller, key: str) -> Hashable:
    file = await deps.files.head(caller.workspace, key)
    return None if file is None else file.version
