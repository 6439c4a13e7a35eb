"""An ASGI application served over HTTP on a port of its own, in a thread, for clients that need a real address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

BEGINS_S = 30
"""For how many seconds its beginning is waited for."""


@contextmanager
def serve_app(app: Any, **options: Any) -> Iterator[str]:
    """Serve `app` on loopback for as long as the block takes, and yield its URL. `options` are those of `uvicorn.Config`."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, **options))
    begun, startup = threading.Event(), server.startup

    async def start(sockets: Any = None) -> None:
        await startup(sockets)
        begun.set()

    server.startup = start  # type: ignore[method-assign] # there is no other way to hear of it
    serving = threading.Thread(target=server.run)
    serving.start()
    try:
        assert begun.wait(BEGINS_S)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        serving.join()
