"""The groups of routes: each is imported for the first request that may be one of its own.

An instance's first answer so waits for no shapes of others. The places of all are taken from the start: routes are tried, and
described, in one order.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Receive, Scope, Send

from ferryman.serving.lazy_root import import_quickly

if TYPE_CHECKING:
    from fastapi import APIRouter, FastAPI
    from fastapi.routing import APIRoute

AGENTS = "/api/agents/"
"""Under what a task is found as an agent, too (S3-108)."""

_TASK = "/v1/tasks/[^/]*"
_PATHS = {
    "tasks": f"/v1/tasks|{_TASK}",
    "connections": f"{_TASK}/credentials/connect(?:/.*)?",
    "credentials": f"{_TASK}/credentials(?:/.*)?",
    "executions": f"{_TASK}/(?:executions|calls)|/v1/executions(?:/.*)?|/v1/receipt-keys",
    "approvals": "/v1/approvals(?:/.*)?|/v1/decision-keys",
    "standing_approvals": "/v1/standing-approvals(?:/.*)?",
    "account": "/v1/(?:halt|ledger|me)",
    "budgets": "/v1/(?:alerts|budget)",
    "usage": "/v1/usage",
    "remote_connections": "/v1/agents/[^/]*/mcp/[^/]*/connect(?:/.*)?",
    "agents": "/v1/agents(?:/.*)?",
    "remote_servers": "/v1/agents/[^/]*/mcp(?:/.*)?",
    "jobs": "/v1/jobs(?:/.*)?",
    "workspaces": "/v1/workspaces(?:/.*)?",
    "members": "/v1/members(?:/.*)?",
    "invitations": "/v1/invitations(?:/.*)?",
    "joining": "/v1/join",
    "api_keys": "/v1/keys(?:/.*)?",
    "console_sessions": "/v1/sessions(?:/.*)?|/v1/sign-in-links",
    "identities": "/v1/identities(?:/.*)?",
    "audit": "/v1/audit-entries",
    "archives": "/v1/workspaces/[^/]*/export",
    "files": "/v1/files(?:/.*)?|/v1/file-links(?:/.*)?",
    "imports": "/v1/imports(?:/.*)?",
    "tables": "/|/healthz|/v1/(?:integrations(?:/.*)?|agent-templates|tools|plans|models)",
    "conversations": "/v1/conversations(?:/.*)?",
    "chat": f"/v1/conversations/[^/]*/messages(?:/.*)?|{AGENTS}[^/]*/chat",
    "custom": f"(?:{_TASK}|{AGENTS}[^/]*)/(?:tools|chat)(?:/.*)?",
}
"""Patterns of all paths that the routes of each group may match, in the order of the description."""

_MODULES: Mapping[str, Callable[[], Any]] = {
    "tasks": lambda: import_module("ferryman.serving.api.tasks"),
    "connections": lambda: import_module("ferryman.serving.api.connections"),
    "credentials": lambda: import_module("ferryman.serving.api.credentials"),
    "executions": lambda: import_module("ferryman.serving.api.executions"),
    "approvals": lambda: import_module("ferryman.serving.api.approvals"),
    "standing_approvals": lambda: import_module("ferryman.serving.api.standing_approvals"),
    "account": lambda: import_module("ferryman.serving.api.account"),
    "budgets": lambda: import_module("ferryman.serving.api.budgets"),
    "usage": lambda: import_module("ferryman.serving.api.usage"),
    "remote_connections": lambda: import_module("ferryman.serving.api.remote_connections"),
    "agents": lambda: import_module("ferryman.serving.api.agents"),
    "remote_servers": lambda: import_module("ferryman.serving.api.remote_servers"),
    "jobs": lambda: import_module("ferryman.serving.api.jobs"),
    "workspaces": lambda: import_module("ferryman.serving.api.workspaces"),
    "members": lambda: import_module("ferryman.serving.api.members"),
    "invitations": lambda: import_module("ferryman.serving.api.invitations"),
    "joining": lambda: import_module("ferryman.serving.api.joining"),
    "api_keys": lambda: import_module("ferryman.serving.api.api_keys"),
    "console_sessions": lambda: import_module("ferryman.serving.api.console_sessions"),
    "identities": lambda: import_module("ferryman.serving.api.identities"),
    "audit": lambda: import_module("ferryman.serving.api.audit"),
    "archives": lambda: import_module("ferryman.serving.api.archives"),
    "files": lambda: import_module("ferryman.serving.api.files"),
    "imports": lambda: import_module("ferryman.serving.importing.routes"),
    "tables": lambda: import_module("ferryman.serving.api.tables"),
    "conversations": lambda: import_module("ferryman.serving.api.conversations"),
    "chat": lambda: import_module("ferryman.serving.api.chat"),
    "custom": lambda: import_module("ferryman.serving.api.custom"),
}
"""The module of each. All names are written out: an archive holds what the sources name (infra/imports.py)."""

PREFIXES = {"custom": ("/v1/tasks/{task_id}", AGENTS + "{task_id}")}
"""Under what a group is served, where its own routes do not say it."""

_NOWHERE: Scope = {"type": "http", "method": "GET", "path": "/nowhere/at/all", "root_path": "", "headers": []}
"""A request that no route has."""

DESCRIBED = ("/docs", "/openapi.json")
"""What tells of all routes."""


class RouteGroups:
    """The groups of one app."""

    def __init__(self, app: FastAPI) -> None:
        from fastapi import APIRouter

        self._places = {name: APIRouter() for name in _PATHS}
        self._paths = {name: re.compile(pattern, re.DOTALL) for name, pattern in _PATHS.items()}
        self._loaded: set[str] = set()
        self._loading = asyncio.Lock()
        self._app = app
        for place in self._places.values():
            app.include_router(place)

    def find(self, path: str) -> list[str]:
        """Return the groups that may serve `path` and are not there yet."""
        return [
            name
            for name, pattern in self._paths.items()
            if name not in self._loaded and (path in DESCRIBED or pattern.fullmatch(path) is not None)
        ]

    async def load(self, path: str) -> None:
        """Import what serves `path`, off the event loop."""
        if not self.find(path):
            return
        # one after the other, and FastAPI reads no route while others are imported: each silences warnings of Pydantic by
        # `catch_warnings`, which is not safe in threads (a page of the console asks several groups at once)
        async with self._loading:
            self._include(await asyncio.to_thread(_import, self.find(path)))

    def load_all(self) -> None:
        """Import all that are not there yet."""
        self._include(_import([name for name in _PATHS if name not in self._loaded]))

    def _include(self, routers: Mapping[str, APIRouter]) -> None:
        for name, router in routers.items():
            for prefix in PREFIXES.get(name, ("",)):
                self._places[name].include_router(router, prefix=prefix)
            self._loaded.add(name)
        for route in self._app.routes:  # FastAPI reads a route for the first request that is compared with it: this one
            route.matches(_NOWHERE)


def name_operation(route: APIRoute) -> str:
    """Return the operationId of a route: the name of its function, as names are written in most languages (createTask)."""
    first, *others = route.name.split("_")
    name = first + "".join(map(str.capitalize, others))
    return f"{name}OfAgent" if route.path_format.startswith(AGENTS) else name


class LoadRoutes:
    """Has the routes of a request loaded before one is looked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await scope["app"].state.groups.load(scope["path"])
        await self._app(scope, receive, send)


def _import(names: list[str]) -> dict[str, APIRouter]:
    with import_quickly():
        return {name: _MODULES[name]().router for name in names}
