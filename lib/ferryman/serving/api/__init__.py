"""The API as a function: tasks, credentials, executions and tables over HTTP, for owners with an API key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ferryman import settings

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request

    from ferryman.composition.api import ApiDependencies
    from ferryman.serving.entry import Handler

VERSION = "1"
ABOUT = "Agent tasks whose keys never leak and whose calls never leave their policy. Errors are problems as of RFC 9457."


def create(deps: ApiDependencies) -> FastAPI:
    """Return the API of `deps`. The framework is imported here: the command line reads the shapes in this folder without it."""
    from fastapi import FastAPI

    from ferryman.serving.api import account, connections, credentials, custom, executions, page, tables, tasks
    from ferryman.serving.api.description import describe, name_operation
    from ferryman.serving.api.edge import EdgeMiddleware
    from ferryman.serving.api.errors import register_handlers
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
    for module in (tasks, connections, credentials, executions, account, tables):
        app.include_router(module.router)
    for prefix in ("/v1/tasks/{task_id}", "/api/agents/{task_id}"):
        app.include_router(custom.router, prefix=prefix)
    app.add_route("/docs", page.show, include_in_schema=False)
    register_handlers(app)
    app.add_middleware(EdgeMiddleware, tracer=deps.tracer)
    app.add_middleware(RepeatedRefusals, clock=deps.clock)
    app.openapi = lambda: describe(app)  # type: ignore[method-assign] # FastAPI's documented way to extend the description
    return app


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
