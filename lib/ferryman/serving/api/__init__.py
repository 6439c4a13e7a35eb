"""The API as a function: tasks, credentials, executions and tables over HTTP, for owners with an API key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ferryman import settings

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request

    from ferryman.serving.entry import Handler
    from ferryman.wiring.api import House

VERSION = "1"
ABOUT = "Agent tasks whose keys never leak and whose calls never leave their remit. Errors are problems as of RFC 9457."


def create(house: House) -> FastAPI:
    """The API of `house`. The framework is imported here: the command line reads the shapes in this folder without it."""
    from fastapi import FastAPI

    from ferryman.serving.api import connections, credentials, custom, executions, halt, ledger, receipts, tables, tasks
    from ferryman.serving.api.description import describe
    from ferryman.serving.api.edge import Edge
    from ferryman.serving.api.faults import register

    app = FastAPI(title="Ferryman", version=VERSION, description=ABOUT, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.house = house
    for each in (tasks, connections, credentials, executions, halt, ledger, receipts, tables):
        app.include_router(each.router)
    for prefix in ("/v1/tasks/{task_id}", "/api/agents/{task_id}"):
        app.include_router(custom.router, prefix=prefix)
    register(app)
    app.add_middleware(Edge, tracer=house.tracer)
    app.openapi = lambda: describe(app)  # type: ignore[method-assign] # FastAPI's documented way to extend the description
    return app


def serve(build: Callable[[settings.Settings], House] | None = None) -> Handler:
    """The function's `main`: it answers with the API itself, which then handles the request."""
    from ferryman.gcp.log import JsonLog
    from ferryman.serving.entry import http, opened
    from ferryman.wiring.api import build as wired

    known = opened()
    built: list[FastAPI] = []

    async def handle(_: Request) -> FastAPI:
        if not built:
            built.append(create((build or wired)(known)))
        return built[0]

    return http(handle, JsonLog())
