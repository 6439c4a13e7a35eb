"""Work of an MCP server that asks a person on its way, and calls that wait for one listing together."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.calls.call import TicketState

from .rig import RemoteRig

SOON = timedelta(seconds=5)
SCHEMA = {"type": "object", "properties": {"people": {"type": "integer"}}, "required": ["people"]}
SECRET_SCHEMA = {"type": "object", "properties": {"password": {"type": "string"}}, "required": ["password"]}


class AskingServer:
    """Answers each call with a task that asks for `schema`; everything else as `app` does."""

    def __init__(self, app: ASGIApp, schema: Mapping[str, Any] = SCHEMA) -> None:
        self._app, self._schema = app, schema
        self.answers: list[Mapping[str, Any]] = []
        self.counts: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        method = headers.get("mcp-method", "")
        if method not in ("tools/call", "tasks/get", "tasks/update", "tasks/cancel"):
            await self._app(scope, receive, send)
            return
        self.counts[method] += 1
        message = json.loads(await Request(scope, receive).body())
        result = self._answer(method, message["params"])
        await JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})(scope, receive, send)

    def _answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        task = {"taskId": "task-1", "createdAt": "2026-11-29T00:00:00Z", "lastUpdatedAt": "2026-11-29T00:00:00Z", "ttlMs": None}
        if method == "tools/call":
            return {"resultType": "task", "status": "working", **task}
        if method == "tasks/update":
            self.answers.append(params["inputResponses"])
            return {"resultType": "complete"}
        if self.answers:
            done = {"content": [{"type": "text", "text": json.dumps(self.answers[0])}]}
            return {"resultType": "complete", "status": "completed", "result": done, **task}
        params = {"mode": "form", "message": "For how many?", "requestedSchema": self._schema}
        request = {"method": "elicitation/create", "params": params}
        return {"resultType": "complete", "status": "input_required", "inputRequests": {"size": request}, **task}


async def start(schema: Mapping[str, Any] = SCHEMA) -> tuple[RemoteRig, AskingServer]:
    rig = RemoteRig()
    await rig.begin()
    server = AskingServer(rig.peer.server, schema)
    rig.peer.server = server  # type: ignore[assignment] # an application around it
    assert (await rig.send()).goes_on
    rig.clock.turn(SOON)
    return rig, server


async def go_on(rig: RemoteRig) -> str:
    """Deliver the call until it settles, and return what its result says."""
    for _ in range(5):
        ticket = await rig.send()
        if ticket.result is not None:
            return ticket.result.content
        rig.clock.turn(SOON)
    raise AssertionError("it never settles")


async def test_work_that_asks_waits_for_a_person_and_goes_on_with_the_answer() -> None:
    rig, server = await start()
    ticket = await rig.send()
    assert (ticket.state, ticket.goes_on) == (TicketState.WAITING, True)
    await rig.answer({"size": {"people": 4}})
    assert '"people": 4' in (await go_on(rig)).replace("\\", "")
    assert server.answers == [{"size": {"action": "accept", "content": {"people": 4}}}]
    assert server.counts["tools/call"] == 1
    assert rig.ticket.approved is not None


async def test_who_declines_what_work_asks_is_told_to_its_server() -> None:
    rig, server = await start()
    await rig.send()
    await rig.decide(DecisionVerdict.DENY)
    await go_on(rig)
    assert server.answers == [{"size": {"action": "decline"}}]
    assert rig.ticket.unanswered == "denied"


async def test_work_that_asks_for_a_secret_is_declined_without_asking_anybody() -> None:
    rig, server = await start(SECRET_SCHEMA)
    await go_on(rig)
    assert (server.answers, rig.memory.approvals) == ([{"size": {"action": "decline"}}], {})


async def test_an_instance_that_dies_while_it_answers_sends_the_answer_again_and_begins_nothing_again() -> None:
    rig, server = await start()
    await rig.send()
    await rig.answer({"size": {"people": 4}})
    await rig.tools.tickets.claim(rig.build_request(), tool="mcp_tool", now=rig.clock.now())
    rig.clock.turn(timedelta(minutes=2))
    assert "people" in await go_on(rig)
    assert server.counts["tools/call"] == 1


async def test_calls_at_once_wait_for_one_listing_together() -> None:
    rig = RemoteRig()
    await rig.begin()
    rig.memory.tickets["e"] |= {number: rig.build_ticket(number) for number in range(1, 4)}
    rig.clock.turn(timedelta(minutes=5))
    tickets = await asyncio.gather(*(rig.send(number) for number in range(4)))
    assert all(ticket.result is not None and ticket.result.ok for ticket in tickets)
    assert (rig.count("tools/list"), rig.count_calls()) == (2, 4)
