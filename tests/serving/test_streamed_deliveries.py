"""A delivery that the API has made: what is left of it is the queue's."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from ferryman.inmemory.model import ScriptedModel
from ferryman.ports.errors import UnavailableError
from ferryman.serving import orchestrator
from tests.loop.conftest import Stage, says


async def stream(stage: Stage, body: Any) -> None:
    """Ask for the delivery as the API does, and read it to its end."""
    messages = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

    async def receive() -> Any:
        return messages.pop()

    async def send(_: object) -> None: ...

    function: Any = SimpleNamespace(loop=stage.deps(), retry_after_s=5.0)
    scope = {"type": "http", "method": "POST", "path": "/stream", "headers": []}
    response = await orchestrator._answer(function, Request(scope, receive))

    async def stay() -> Any:
        await asyncio.Event().wait()

    await response(scope, stay, send)


async def test_one_that_ends_leaves_nothing_to_the_queue() -> None:
    stage = Stage(model=ScriptedModel([says("Done.")]))
    await stream(stage, {"execution": "e", "slice": 0})
    assert (stage.execution.status.value, stage.queue.waiting) == ("completed", ())


async def test_one_that_has_to_wait_comes_again_from_the_queue() -> None:
    stage = Stage(model=ScriptedModel([UnavailableError("away")]))
    await stream(stage, {"execution": "e", "slice": 0})
    (again,) = stage.queue.waiting
    assert (again.execution, again.slice, again.wake_up, again.after.total_seconds()) == ("e", 0, "relay", 5)


@pytest.mark.parametrize("body", [{}, {"execution": "e"}, {"execution": 1, "slice": 0}, {"execution": "e", "slice": 0, "a": 1}])
async def test_any_other_body_is_refused(body: Any) -> None:
    with pytest.raises(HTTPException) as refused:
        await stream(Stage(), body)
    assert refused.value.status_code == 400
