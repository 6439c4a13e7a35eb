"""The probe: run a function in this process as functions-framework does, ask it, and print what has been imported.

It speaks to the application itself: an HTTP client would import more than the function does.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from functions_framework import aio

LIBRARY = "ferryman"
LEVELS = {"google": 2, "google.cloud": 3}
"""How much of a name is listed, where the first word is of several packages."""


def list_imported() -> list[str]:
    """Return our own modules, and the packages of others."""
    names = [name for name, module in [*sys.modules.items()] if module is not None]  # None: kept from being imported
    return sorted({name for module in names if (name := shorten(module))})


def shorten(module: str) -> str | None:
    words = module.split(".")
    if words[0] in sys.stdlib_module_names or words[0].startswith("_") or words[0] in ("main", "tests"):
        return None
    if words[0] == LIBRARY:
        return module
    levels = LEVELS.get(".".join(words[:2])) or LEVELS.get(words[0]) or 1
    return ".".join(words[:levels])


async def ask(app: Any, request: dict[str, Any]) -> int:
    """Return the status of the answer."""
    body, answer = request["body"].encode(), []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request["method"],
        "scheme": "http",
        "path": request["path"],
        "raw_path": request["path"].encode(),
        "query_string": b"",
        "root_path": "",
        "server": ("127.0.0.1", 8080),
        "client": ("127.0.0.1", 1),
        "headers": [
            (b"host", b"127.0.0.1:8080"),
            *((name.encode(), value.encode()) for name, value in request["headers"].items()),
        ],
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        answer.append(message)

    await app(scope, receive, send)
    return int(answer[0]["status"])


async def probe(source: str, requests: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the statuses of the answers, and what was imported at the first and at the last of them."""
    app = aio.create_asgi_app("main", source)
    statuses = [await ask(app, requests[0])]
    first = list_imported()
    statuses += [await ask(app, request) for request in requests[1:]]
    return {"statuses": statuses, "first": first, "last": list_imported()}


if __name__ == "__main__":
    orders = json.load(sys.stdin)
    printed = sys.stdout
    sys.stdout = sys.stderr  # where a function logs
    json.dump(asyncio.run(probe(orders["source"], orders["requests"])), printed)
    printed.flush()
