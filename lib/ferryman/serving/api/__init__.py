"""The API as a function: tasks, credentials, executions and tables over HTTP, for owners with an API key."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI
from starlette.requests import Request

from ferryman import settings
from ferryman.gcp.log import JsonLog
from ferryman.serving.api import credentials, executions, halt, ledger, receipts, tables, tasks
from ferryman.serving.api.description import describe
from ferryman.serving.api.edge import Edge
from ferryman.serving.api.faults import register
from ferryman.serving.entry import Handler, http, opened
from ferryman.wiring.api import House
from ferryman.wiring.api import build as wired

VERSION = "1"
ABOUT = "Agent tasks whose keys never leak and whose calls never leave their remit. Errors are problems as of RFC 9457."


def create(house: House) -> FastAPI:
    """The API of `house`."""
    app = FastAPI(title="Ferryman", version=VERSION, description=ABOUT, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.house = house
    for each in (tasks, credentials, executions, halt, ledger, receipts, tables):
        app.include_router(each.router)
    register(app)
    app.add_middleware(Edge, tracer=house.tracer)
    app.openapi = lambda: describe(app)  # type: ignore[method-assign] # FastAPI's documented way to extend the description
    return app


def serve(build: Callable[[settings.Settings], House] = wired) -> Handler:
    """The function's `main`: it answers with the API itself, which then handles the request."""
    known = opened()
    built: list[FastAPI] = []

    async def handle(_: Request) -> FastAPI:
        if not built:
            built.append(create(build(known)))
        return built[0]

    return http(handle, JsonLog())
