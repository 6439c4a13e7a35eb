"""A model of the operator's own: a server that speaks the Messages API, beside the stack, and asks for a key."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from emulator.messages import Messages
from emulator.web import Web, port_of
from tests.canaries import canary

KEY = canary.create_key("own model")
messages = Messages(lambda key: key == KEY)
"""The scripts that it plays, by the names that tasks' models have behind `scripted/`, and the requests that it received."""


@contextmanager
def serve() -> Iterator[Mapping[str, str]]:
    """Run the server in a thread of its own; yield the variables by which a stack knows it, and a model without its key."""
    is_up, loop = threading.Event(), asyncio.new_event_loop()
    web = Web()
    port = port_of(web.add(messages))

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(web.start())
        is_up.set()
        loop.run_forever()
        loop.run_until_complete(web.close())
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    is_up.wait()
    server = {"url": f"http://127.0.0.1:{port}", "model": "scripted/own", "input": 0, "output": 0}
    models = {"own": {**server, "key": "MODEL_KEY_OWN"}, "keyless": {**server, "key": "MODEL_KEY_OF_NOBODY"}}
    try:
        yield {"FERRYMAN_MODELS": json.dumps(models), "MODEL_KEY_OWN": KEY}
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
