"""The API as a function: tasks, credentials, executions and tables over HTTP, for owners with an API key."""

from __future__ import annotations

import sys
from asyncio import to_thread
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ferryman import settings
from ferryman.domain.oauth_urls import CLIENT_DOCUMENT
from ferryman.serving.lazy_root import import_quickly

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ferryman.composition.api import ApiDependencies
    from ferryman.serving.entry import Handler

VERSION = "1"
ABOUT = "Agent tasks whose keys never leak and whose calls never leave their policy. Errors are problems as of RFC 9457."

METADATA_PATHS = ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/{path:path}")
"""Where clients of /mcp ask how they get an access token (RFC 9728)."""


def create(deps: ApiDependencies) -> FastAPI:
    """Return the API of `deps`. The framework is imported here: the command line reads the shapes in this folder without it."""
    _import_framework()
    from fastapi import FastAPI
    from starlette.routing import Route

    from ferryman.serving.api.edge import CONSOLE_PATH, MCP_PATH, EdgeMiddleware
    from ferryman.serving.api.errors import register_handlers
    from ferryman.serving.api.groups import LoadRoutes, RouteGroups, name_operation
    from ferryman.serving.api.refusals import RepeatedRefusals

    app = FastAPI(
        title="Ferryman",
        version=VERSION,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=name_operation,
    )
    app.state.deps = deps
    app.state.groups = RouteGroups(app)
    app.add_route("/docs", _show_page, include_in_schema=False)
    app.router.routes.append(Route(MCP_PATH, _McpEndpoint(), include_in_schema=False))
    app.router.routes.append(Route(CONSOLE_PATH, _ConsoleEndpoint(), include_in_schema=False))
    app.router.routes.append(Route(CONSOLE_PATH + "/{rest:path}", _ConsoleEndpoint(), include_in_schema=False))
    app.add_route(CLIENT_DOCUMENT, _show_client_document, include_in_schema=False)
    for path in METADATA_PATHS:
        app.add_route(path, _show_metadata, include_in_schema=False)
    register_handlers(app)
    app.add_middleware(LoadRoutes)
    app.add_middleware(EdgeMiddleware, tracer=deps.tracer)
    app.add_middleware(RepeatedRefusals, clock=deps.clock)
    app.openapi = lambda: _describe(app)  # type: ignore[method-assign] # FastAPI's documented way to extend the description
    return app


def _import_framework() -> None:
    """Import FastAPI without what few requests need: a fifth of its time.

    It asks of each type whether it is of pydantic's first version, which no shape is: None is Python's word for a module that
    is not to be found, and FastAPI then says no without importing it. And its own models are those of an OpenAPI document:
    pydantic builds them at their first use where the class they come from says so (`defer_build`).
    """
    from pydantic import BaseModel

    sys.modules.setdefault("pydantic.v1", None)  # type: ignore[arg-type] # the type has no place for it
    BaseModel.model_config["defer_build"] = True
    try:
        import_module("fastapi")
    finally:
        del BaseModel.model_config["defer_build"]


def _describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document. What makes it is imported here, with all routes: few requests ask for it."""
    from ferryman.serving.api.description import describe

    app.state.groups.load_all()
    return describe(app)


async def _show_page(request: Request) -> Response:
    from ferryman.serving.api import page

    return await page.show(request)


class _McpEndpoint:
    """The ASGI application at /mcp: it is imported for the first request that is one of its own."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not hasattr(scope["app"].state, "mcp"):
            scope["app"].state.mcp = await to_thread(_import_mcp)
        await scope["app"].state.mcp(scope, receive, send)


def _import_mcp() -> ASGIApp:
    with import_quickly():
        from ferryman.serving.api import mcp

    return mcp.McpEndpoint()


class _ConsoleEndpoint:
    """The ASGI application of the console, imported for its first request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not hasattr(scope["app"].state, "console"):
            scope["app"].state.console = await to_thread(_import_console)
        await scope["app"].state.console(scope, receive, send)


def _import_console() -> ASGIApp:
    with import_quickly():
        # named, as groups of routes are: the console is a client of what is here
        endpoint: ASGIApp = import_module("ferryman.serving.console.app").ConsoleEndpoint()
    return endpoint


async def _show_metadata(request: Request) -> Response:
    from ferryman.serving.api.authorization import metadata

    return await metadata.show_metadata(request)


async def _show_client_document(request: Request) -> Response:
    from ferryman.serving.api import client_document

    return await client_document.show_document(request)


def serve(build: Callable[[settings.Settings], ApiDependencies] | None = None) -> Handler:
    """Return the function's `main`: it answers with the API itself, which then handles the request."""
    from ferryman.serving import entry

    def compose(known: settings.Settings) -> FastAPI:
        if build is not None:
            return create(build(known))
        from ferryman.composition.api import build_api, load

        load()
        return create(build_api(known))

    async def answer(app: FastAPI, _: Request) -> FastAPI:
        return app

    return entry.serve(compose, answer, find=lambda app: app.state.deps)
