"""subscriptions/listen: an event stream of the changes that a client asked for, acknowledged first and ended by a result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, suppress
from typing import Any

from ferryman.domain.mcp_revisions import SERVER_INFO, SUBSCRIPTION_ID
from ferryman.serving.mcp.answers import build_error, explain
from ferryman.serving.mcp.errors import refuse_params
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.outgoing import Outgoing
from ferryman.serving.mcp.results import Notification
from ferryman.serving.mcp.server import McpServer, Subscription

LIST_MAX = 100
"""URIs and tasks that one subscription may name, of each."""

TEXT_CHARACTERS_MAX = 4_096
_LISTS = {"resourceSubscriptions": "notifications/resources/updated", "taskIds": "notifications/tasks"}
_FLAGS = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}
_MEMBER = {"notifications/resources/updated": "uri", "notifications/tasks": "taskId"}


def read_filter(exchange: McpExchange) -> dict[str, Any]:
    """Return the filter that the client asks for. Raise `McpError`: -32602 for wrong types, -32021 for tasks of a client that
    does not declare them."""
    asking = exchange.params.get("notifications")
    if not isinstance(asking, Mapping):
        raise refuse_params("notifications must be an object")
    wanted_filter: dict[str, Any] = {}
    for name in _FLAGS:
        value = asking.get(name, False)
        if not isinstance(value, bool):
            raise refuse_params(f"notifications.{name} must be true or false")
        if value:
            wanted_filter[name] = True
    for name in _LISTS:
        listed = asking.get(name, [])
        if not isinstance(listed, list) or len(listed) > LIST_MAX or not all(_is_name(text) for text in listed):
            raise refuse_params(f"notifications.{name} must be a list of at most {LIST_MAX} texts")
        if listed:
            wanted_filter[name] = list(dict.fromkeys(listed))
    if "taskIds" in wanted_filter:
        exchange.require_tasks()
    return wanted_filter


def _is_name(text: Any) -> bool:
    return isinstance(text, str) and 0 < len(text) <= TEXT_CHARACTERS_MAX


def narrow_filter(wanted_filter: Mapping[str, Any], granted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of what the client asks for that was granted."""
    narrowed: dict[str, Any] = {name: True for name in _FLAGS if wanted_filter.get(name) and granted.get(name)}
    for name in _LISTS:
        if name in wanted_filter and name in granted:
            granted_names = set(granted[name])
            narrowed[name] = [text for text in wanted_filter[name] if text in granted_names]
    return narrowed


def covers(honoured: Mapping[str, Any], notification: Notification) -> bool:
    """Say whether the filter asks for `notification`."""
    for name, method in _FLAGS.items():
        if method == notification.method:
            return bool(honoured.get(name))
    for name, method in _LISTS.items():
        if method == notification.method:
            return notification.params.get(_MEMBER[method]) in honoured.get(name, ())
    return False


async def stream(
    server: McpServer, exchange: McpExchange, honoured: Mapping[str, Any], subscription: Subscription, outgoing: Outgoing
) -> None:
    """Send the acknowledgement, then the notifications that `honoured` covers until they end or the time is over, then the
    result."""
    meta = {SUBSCRIPTION_ID: exchange.id}
    acknowledgement = Notification("notifications/subscriptions/acknowledged", {"notifications": honoured})
    await outgoing.emit(_write(acknowledgement, meta))
    try:
        with suppress(TimeoutError):
            async with (
                asyncio.timeout(server.listen_s_max),
                aclosing(subscription.notifications) as notifications,
            ):
                async for notification in notifications:
                    if covers(honoured, notification):
                        await outgoing.emit(_write(notification, meta))
    except Exception as error:  # noqa: BLE001 - whatever it is, the client learns what `translate` says
        failure = explain(server, error, exchange)
        await outgoing.end(build_error(failure, exchange.id), failure)
        return
    result = {"resultType": "complete", "_meta": {SERVER_INFO: server.describe(), **meta}}
    await outgoing.end({"jsonrpc": "2.0", "id": exchange.id, "result": result})


def _write(notification: Notification, meta: Mapping[str, Any]) -> dict[str, Any]:
    params = {**notification.params, "_meta": {**notification.params.get("_meta", {}), **meta}}
    return {"jsonrpc": "2.0", "method": notification.method, "params": params}
