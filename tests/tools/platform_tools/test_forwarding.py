"""Calls on their way to the platform: what is stored of a call is signed and sent, and nothing that was asked besides."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from functions_framework import aio

from ferryman.domain.calls.call import TicketState
from ferryman.domain.stale import StaleError
from ferryman.gcp.platform import PlatformClient
from ferryman.inmemory.running_calls import MemoryRunningCalls
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.tools.platform.forwarding import ForwardingDependencies, forward_call, list_tools
from tests.builders import build_policy, build_ticket
from tests.tools.platform_tools.rig import CALLER, KEY, Keys, Rig

ARGUMENTS = {"name": "later", "prompt": "Say hello.", "after_s": 60}


class Wire:
    """The client of the platform, without a network."""

    def __init__(self, transport: httpx.AsyncBaseTransport, seen: list[int] | None = None) -> None:
        self._transport = transport
        self._seen = [] if seen is None else seen

    async def _note(self, response: httpx.Response) -> None:
        self._seen.append(response.status_code)

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=self._transport, event_hooks={"response": [self._note]})


async def create_token(_: str) -> str:
    return CALLER


@dataclass
class Caller:
    """`ports.CallerIdentifier`: whom the identity token names."""

    async def identify(self, authorization: str | None, *, audience: str) -> str:
        return (authorization or "").removeprefix("Bearer ")


@dataclass
class Way:
    """The way to the platform from the function that signs."""

    rig: Rig
    deps: ForwardingDependencies = field(init=False)

    def __post_init__(self) -> None:
        self.deps = self.build()

    def build(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        keys: Keys | None = None,
        seen: list[int] | None = None,
        **limits: str,
    ) -> ForwardingDependencies:
        app: Any = aio._create_asgi_app_with_function(self.rig.handler, "http", False)
        wire: Any = Wire(transport or httpx.ASGITransport(app), seen)
        client = PlatformClient(
            wire=wire,
            url="http://f.test/mcp",
            audience="http://f.test",
            keys=keys or self.rig.keys,
            clock=self.rig.clock,
            token=create_token,
        )
        return ForwardingDependencies(
            calls=MemoryRunningCalls(self.rig.memory), platform=client, clock=self.rig.clock, **limits
        )

    def claim(self, tool: str, arguments: Mapping[str, Any], *, enabled: tuple[str, ...] = ("cron_add", "cron_list")) -> None:
        """Store a call that is under way in the execution of the first workspace."""
        memory, now = self.rig.memory, self.rig.clock.now()
        execution = memory.executions["exec_ws_a"]
        policy = build_policy(owner="ann", task="task_ws_a", tools=enabled)
        memory.executions["exec_ws_a"] = replace(execution, policy=policy)
        ticket = build_ticket(tool=tool, display_arguments=arguments, epoch=1, created_at=now)
        sent = replace(ticket, state=TicketState.SENT, sent_at=now, deadline=now + timedelta(seconds=40))
        memory.tickets.setdefault("exec_ws_a", {})[0] = sent


@pytest.fixture
async def way(monkeypatch: pytest.MonkeyPatch) -> Way:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["{CALLER}"]')

    class IdentifyingRig(Rig):
        callers = Caller()  # type: ignore[assignment] # the rig's own names the header

    return Way(await IdentifyingRig().fill())


async def test_a_call_is_made_with_what_is_stored_for_whom_it_is_stored(way: Way) -> None:
    way.claim("cron_add", ARGUMENTS)
    answer = await forward_call(way.deps, "exec_ws_a", 0, epoch=1, within_s=5)
    assert answer.code is None
    (task,) = [task for task in way.rig.memory.tasks.values() if task.schedule]
    assert (task.workspace, task.task_prompt) == ("ws_a", "Say hello.")


async def test_a_failure_comes_back_with_its_code(way: Way) -> None:
    way.claim("cron_add", {**ARGUMENTS, "cron": "* * * * *"})
    answer = await forward_call(way.deps, "exec_ws_a", 0, epoch=1, within_s=5)
    assert (answer.content, answer.code) == ("Error: cron and after_s: only one of them may be set", "invalid_arguments")


async def test_a_tool_that_the_execution_may_not_call_is_not_called(way: Way) -> None:
    way.claim("cron_add", ARGUMENTS, enabled=("cron_list",))
    with pytest.raises(StaleError):
        await forward_call(way.deps, "exec_ws_a", 0, epoch=1, within_s=5)
    way.claim("calculator", {"expression": "1"}, enabled=("calculator",))
    with pytest.raises(StaleError):
        await forward_call(way.deps, "exec_ws_a", 0, epoch=1, within_s=5)


@pytest.mark.parametrize("limits", [{"user": "bob"}, {"workspace": "ws_b"}])
async def test_a_runtime_of_one_user_and_workspace_makes_no_call_for_another(way: Way, limits: dict[str, str]) -> None:
    way.claim("cron_add", ARGUMENTS)
    answer = await forward_call(way.build(**limits), "exec_ws_a", 0, epoch=1, within_s=5)
    assert answer.content.startswith("Error: this runtime makes calls of the platform's tools ")
    with pytest.raises(RejectedError):
        await list_tools(way.build(**limits), "exec_ws_a", epoch=1)
    assert len(way.rig.memory.tasks) == 2


async def test_a_runtime_of_this_user_and_workspace_makes_the_call(way: Way) -> None:
    way.claim("cron_add", ARGUMENTS)
    deps = way.build(user="ann", workspace="ws_a")
    assert (await forward_call(deps, "exec_ws_a", 0, epoch=1, within_s=5)).code is None


async def test_the_tools_are_listed_with_how_long_the_list_holds(way: Way) -> None:
    listed = await list_tools(way.deps, "exec_ws_a", epoch=1)
    assert [tool["name"] for tool in listed["tools"]][:1] == ["orchestrator__get_user_profile"]
    assert {*listed["tools"][0]} == {"name", "description", "input_schema"}
    assert (listed["ttl_s"], listed["is_public"]) == (300, True)


async def _stream(content: bytes) -> AsyncIterator[bytes]:
    yield content


def respond(body: object, *, status: int = 200, media_type: str = "application/json") -> httpx.Response:
    """Return a response that is read as it comes."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.Response(status, content=_stream(content), headers={"content-type": media_type})


ANSWERS: dict[str, tuple[Callable[[], httpx.Response], type[Exception]]] = {
    "another status": (lambda: respond({}, status=401), UnavailableError),
    "no JSON": (lambda: respond(b"{"), RejectedError),
    "another type": (lambda: respond(b"data: {}", media_type="text/event-stream"), RejectedError),
    "another request": (lambda: respond({"id": 2, "result": {}}), RejectedError),
    "an error": (lambda: respond({"id": 1, "error": {"code": -1, "message": "no"}}), RejectedError),
    "no result": (lambda: respond({"id": 1}), RejectedError),
    "no tools": (lambda: respond({"id": 1, "result": {"tools": {}}}), RejectedError),
    "a tool without a schema": (lambda: respond({"id": 1, "result": {"tools": [{"name": "x"}]}}), RejectedError),
    "pages without end": (lambda: respond({"id": 1, "result": {"tools": [], "nextCursor": "x"}}), RejectedError),
    "too much": (lambda: respond({"id": 1, "result": "x" * 4_194_304}), RejectedError),
}


@pytest.mark.parametrize("answer", ANSWERS)
async def test_what_is_no_list_is_refused(way: Way, answer: str) -> None:
    build, error = ANSWERS[answer]
    deps = way.build(httpx.MockTransport(lambda _: build()))
    with pytest.raises(error):
        await list_tools(deps, "exec_ws_a", epoch=1)


async def test_every_request_has_a_signature_of_its_own(way: Way) -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return respond({"id": 1, "result": {"tools": []}})

    deps = way.build(httpx.MockTransport(answer))
    for _ in range(2):
        await list_tools(deps, "exec_ws_a", epoch=1)
    assert len({*seen}) == 2


async def test_a_request_whose_key_was_retired_is_signed_again_with_the_present_one(way: Way) -> None:
    statuses: list[int] = []

    class RotatedKeys(Keys):
        async def renewed(self) -> Sequence[bytes]:
            self.keys = (KEY,)
            return self.keys

    retired = RotatedKeys(keys=(b"retired-key-of-the-platform-32by",))
    deps = way.build(keys=retired, seen=statuses)
    assert (await list_tools(deps, "exec_ws_a", epoch=1))["tools"]
    assert statuses == [401, 200]
