"""Progress of a call: people are shown the newest report, without a key and with nothing hidden, and it leaves no trace."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.calls.progress import CallProgress
from ferryman.tools.mcp.preparing import make_remote_preparer
from ferryman.tools.mcp.progress import CHARACTERS_MAX
from ferryman.tools.mcp.protocol.bounds import TEXT_CHARACTERS_MAX

from .rig import API_KEY, TASK_KEY, RemoteRig


class ReportingServer:
    """Sends what is put into `messages` as the answer to a call, and does everything else as `app` does; None ends it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.messages: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()

    def report(self, done: float, message: str = "", total: float | None = None) -> None:
        """Report progress."""
        params = {"progressToken": "$token", "progress": done, "message": message}
        params |= {} if total is None else {"total": total}
        self.messages.put_nowait({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        if headers.get("mcp-method") != "tools/call":
            await self._app(scope, receive, send)
            return
        request = json.loads(await Request(scope, receive).body())
        content = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": content})
        while (message := await self.messages.get()) is not None:
            if "params" in message and "progressToken" in message["params"]:
                token = request["params"]["_meta"]["progressToken"]
                message = {**message, "params": {**message["params"], "progressToken": token}}
            await send(
                {"type": "http.response.body", "body": b"data: " + json.dumps(message).encode() + b"\n\n", "more_body": True}
            )
        result = {"resultType": "complete", "content": [{"type": "text", "text": "That is all."}]}
        end = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        await send({"type": "http.response.body", "body": b"data: " + end + b"\n\n", "more_body": False})


class Watching:
    """A call under way whose server reports, and the seconds, which pass when they are told to."""

    def __init__(self) -> None:
        self.rig = RemoteRig()
        self.server = ReportingServer(self.rig.peer.server)
        self.rig.peer.server = self.server  # type: ignore[assignment] # what it counts is not request for
        self._asleep, self._passing = asyncio.Semaphore(0), asyncio.Semaphore(0)
        remote = replace(self.rig.remote, sleep=self._sleep)
        self.rig.tools = replace(self.rig.tools, prepare=make_remote_preparer(remote))

    async def __aenter__(self) -> Watching:
        await self.rig.begin()
        self._call = asyncio.create_task(self.rig.send())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.messages.put_nowait(None)
        await self._call

    async def see(self) -> CallProgress:
        """Return what watchers see, once a report is stored."""
        async with asyncio.timeout(30):
            await self._asleep.acquire()
        assert self.rig.ticket.progress is not None
        return self.rig.ticket.progress

    def pass_second(self) -> None:
        self._passing.release()

    async def end(self) -> Ticket:
        """Have the server answer; return the ticket."""
        self.server.messages.put_nowait(None)
        return await self._call

    async def _sleep(self, seconds: float) -> None:
        assert seconds == 1.0
        self._asleep.release()
        await self._passing.acquire()


async def see(*report: Any) -> CallProgress:
    """Return what people see of one report."""
    async with Watching() as watching:
        watching.server.report(*report)
        return await watching.see()


async def test_a_report_is_seen_while_the_call_is_under_way_and_leaves_no_trace() -> None:
    async with Watching() as watching:
        watching.server.report(1, "halfway", 2)
        assert await watching.see() == CallProgress(done=1, total=2, message="halfway")
        assert watching.rig.ticket.state is TicketState.SENT
        ended = await watching.end()
    assert (ended.state, ended.progress) == (TicketState.SETTLED, None)
    assert ended.result is not None
    assert "That is all." in ended.result.content
    assert "halfway" not in str(ended)


async def test_of_a_flood_the_last_one_of_each_second_is_stored() -> None:
    async with Watching() as watching:
        watching.server.report(1)
        first = await watching.see()
        for done in range(2, 500):
            watching.server.report(done)
        seen = [first]
        while seen[-1].done < 499:
            assert watching.rig.ticket.progress == seen[-1]
            watching.pass_second()
            seen.append(await watching.see())
        assert len(seen) < 50


@pytest.mark.parametrize(
    "key",
    [API_KEY, TASK_KEY, base64.b64encode(API_KEY.encode()).decode(), "".join(f"{letter}\u200b" for letter in API_KEY)],
    ids=["the server's", "the task's", "in base64", "with hidden characters"],
)
async def test_no_key_is_seen_in_a_message(key: str) -> None:
    message = (await see(1, f"It is {key}, and done")).message
    assert message.startswith("It is ")
    assert key[:8] not in message
    assert key.replace("\u200b", "")[:8] not in message


@pytest.mark.parametrize("hidden", ["\x1b[2J", "\u202e", "\u200b", "\r\n", "\x00", "\U000e0041"])
async def test_nothing_hidden_is_in_a_message(hidden: str) -> None:
    assert (await see(1, f"all {hidden}done")).message.replace("[2J", "").split() == ["all", "done"]


async def test_a_message_is_cut_once_it_was_redacted() -> None:
    message = (await see(1, "a" * (CHARACTERS_MAX - 8) + " " + API_KEY)).message
    assert len(message) <= CHARACTERS_MAX
    assert API_KEY[:4] not in message


async def test_of_a_message_that_is_too_long_to_be_searched_nothing_is_seen() -> None:
    assert (await see(1, "a" * TEXT_CHARACTERS_MAX)).message == ""


async def test_no_number_has_room_for_a_key() -> None:
    seen = await see(1234567890123.25, "", 98765432109876)
    assert (seen.done, seen.total) == (1234570000000.0, 98765400000000.0)
