"""An instance that dies at any point of a call, a question or long work: nothing is done twice, and every call settles.

Each story is run to its end, and then again for each operation of a store and each request, which is the last that its instance
begins, or ends. The next instance goes on after the deadline, with nothing of the memory of the one before.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.stale import StaleError
from ferryman.ports.errors import UnavailableError
from ferryman.tools.mcp.preparing import make_remote_preparer

from .rig import RemoteRig
from .test_calling import ALWAYS

DELIVERIES_MAX = 30
STORES = ("tickets", "credentials", "server_credentials", "tokens")
ANSWER = {"booking": {"people": 4, "hour": "20:00"}}


class DeathError(BaseException):
    """The instance is gone: nothing of it goes on."""


class Reaper:
    """Ends the instance at the operation `at`, before it or after it; 0: never. `count` is how many there were."""

    def __init__(self, at: int, *, is_after: bool) -> None:
        self.at, self.is_after, self.count = at, is_after, 0

    async def pass_through(self, operation: Callable[[], Any]) -> Any:
        self.count += 1
        is_last = self.count == self.at
        if is_last and not self.is_after:
            raise DeathError
        result = await operation()
        if is_last:
            raise DeathError
        return result


class Mortal:
    """A store whose operations the instance may not survive."""

    def __init__(self, inner: Any, reaper: Reaper) -> None:
        self._inner, self._reaper = inner, reaper

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)
        if not inspect.iscoroutinefunction(attribute):
            return attribute

        async def call(*arguments: Any, **named: Any) -> Any:
            return await self._reaper.pass_through(lambda: attribute(*arguments, **named))

        return call


def start_instance(rig: RemoteRig, reaper: Reaper) -> None:
    """Let another instance go on, with the same stores and none of the memory of the one before."""
    tools = rig._build_tools()
    assert tools.approving is not None
    approving = replace(tools.approving, approvals=Mortal(tools.approving.approvals, reaper))  # type: ignore[arg-type]
    stores: dict[str, Any] = {name: Mortal(getattr(tools, name), reaper) for name in STORES}
    tools = replace(tools, approving=approving, **stores)
    servers: Any = Mortal(rig.remote.servers, reaper)
    rig.peer.around = reaper.pass_through
    rig.remote = replace(
        type(rig.remote)(tools=tools, servers=servers, gate=rig.gate),
    )
    rig.tools = replace(tools, prepare=make_remote_preparer(rig.remote))


async def finish(rig: RemoteRig, reaper: Reaper) -> Ticket:
    """Deliver the call until it has settled; people decide, and time goes by."""
    start_instance(rig, reaper)
    for _ in range(DELIVERIES_MAX):
        try:
            ticket = await rig.send()
            if ticket.result is not None:
                return ticket
        except DeathError:
            start_instance(rig, Reaper(0, is_after=False))
        except (StaleError, UnavailableError):
            pass
        await decide(rig)
        rig.clock.turn(timedelta(minutes=1))
    raise AssertionError("the call never settles")


async def decide(rig: RemoteRig) -> None:
    if rig.ticket.state is not TicketState.WAITING or rig.approval.state is not ApprovalState.PENDING:
        return
    if '"kind":"question"' in rig.approval.form:
        await rig.answer(ANSWER)
    else:
        await rig.decide()


STORIES: dict[str, Callable[[], RemoteRig]] = {
    "call": RemoteRig,
    "approved call": lambda: RemoteRig(approvals=ALWAYS),
    "question": lambda: RemoteRig(tool="desk__book_table", arguments={"day": "Friday"}),
    "long work": lambda: RemoteRig(tool="desk__count_words", arguments={"text": "one two three"}),
}
EXPECTED = {"call": "hello", "approved call": "hello", "question": "booked 4 people", "long work": "3 words"}
CALLS_MAX = {"question": 2}
"""The first call of a question is answered with it: only the second one books."""


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("story", STORIES)
async def test_an_instance_may_die_at_every_point(story: str, is_after: bool) -> None:
    whole = STORIES[story]()
    await whole.begin()
    counted = Reaper(0, is_after=is_after)
    ticket = await finish(whole, counted)
    assert ticket.result is not None
    assert EXPECTED[story] in ticket.result.content
    assert counted.count >= 6
    for at in range(1, counted.count + 1):
        rig = STORIES[story]()
        await rig.begin()
        ended = await finish(rig, Reaper(at, is_after=is_after))
        assert ended.result is not None
        assert rig.count_calls() <= CALLS_MAX.get(story, 1), f"{story}: called twice, killed at {at}"
        is_done = EXPECTED[story] in ended.result.content
        assert is_done or ended.in_doubt, f"{story}: {ended.result.content}, killed at {at}"
