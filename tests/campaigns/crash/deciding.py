"""A person decides about each call that waits, on two devices at once, as the API does; one that dies is taken up again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from ferryman.domain.approvals.approval import Approval, ApprovalState
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.inmemory.clock import CountingIds
from ferryman.inmemory.log import RecordingLog
from ferryman.ports.clock import Ids
from ferryman.ports.errors import UnavailableError
from ferryman.ports.queue import Queue
from ferryman.serving.api.deciding import decide
from ferryman.serving.api.errors import ConflictError
from ferryman.serving.api.shapes.approval import NewDecision
from ferryman.vault.decision_keys import DecisionSigning, derive_decision_public_key
from ferryman.vault.decisions import PublishedKeys
from tests.campaigns.crash.points import InstrumentedPort, Meet
from tests.campaigns.crash.scenarios import Scenario

SECRET = bytes(range(32))
PUBLISHED: Mapping[int, bytes] = {1: derive_decision_public_key(SECRET)}
DECISIONS = PublishedKeys(PUBLISHED)
"""What senders verify decisions with."""

DEVICES = 2
CONFLICT = "conflict"
"""What a device is answered whose decision does not count any longer."""

TRIES_MAX = 5
AFTER = timedelta(days=1)
"""How long a person takes."""

EDITED = {"amount": 2}
"""The body that a person writes in the place of the model's."""

ANSWERS = {"booking": {"people": 4, "hour": "20:00"}}
"""What a person answers to the question of an MCP server."""


class ApiKeys:
    """`ports.PrivateKeys` of the api's key."""

    async def private(self, version: int) -> bytes:
        return SECRET


class Devices:
    """The devices of one run, over `ports` and `queue`; `meet` is called at each of their points. What each is answered is
    added to `tally`, after whatever it was that `death` cut short."""

    def __init__(
        self,
        scenario: Scenario,
        ports: Any,
        queue: Queue,
        clock: Any,
        meet: Meet | None,
        death: type[BaseException],
        *,
        tally: Any,
        ids: Ids | None = None,
    ) -> None:
        self._scenario, self._ports, self._clock, self._death, self._tally = scenario, ports, clock, death, tally

        def instrumented(port: Any, name: str) -> Any:
            return port if meet is None else InstrumentedPort(port, name, meet)

        self._deps: Any = SimpleNamespace(
            executions=instrumented(ports.executions, "executions"),
            approvals=instrumented(ports.approvals, "approvals"),
            queue=instrumented(queue, "queue"),
            decision_signing=DecisionSigning(ApiKeys(), PUBLISHED),
            clock=clock,
            ids=CountingIds() if ids is None else ids,
            tracer=RecordingLog(),
        )

    async def decide(self) -> None:
        """Decide about every call that waits."""
        for approval in await self.list_pending():
            await asyncio.gather(*(self.decide_on(device, approval.id) for device in range(DEVICES)))

    async def list_pending(self) -> Sequence[Approval]:
        """Return what a person has to decide about, a day after it was asked about where its execution is parked."""
        if self._scenario.decides is None:
            return []
        approvals = await self._again(lambda: self._ports.approvals.list_of("e"))
        pending = [approval for approval in approvals if approval.state is ApprovalState.PENDING]
        execution = await self._again(lambda: self._ports.executions.get("e"))
        if pending and execution.waiting_for and not self._scenario.hurried:
            self._clock.turn(AFTER)
        return pending

    async def decide_on(self, device: int, name: str) -> None:
        """Decide about one approval on one device, again until it is answered."""
        approval = await self._again(lambda: self._ports.approvals.get(name))
        tickets = await self._again(lambda: self._ports.executions.tickets("e", first=approval.seq, most=1))
        verdict = DecisionVerdict.APPROVE if tickets[0].parent is not None else self._scenario.decides
        if self._scenario.contested and device:
            verdict = DecisionVerdict.DENY
        arguments = {**tickets[0].display_arguments, "body": EDITED} if verdict is DecisionVerdict.EDIT else None
        if verdict is DecisionVerdict.ANSWER and '"kind":"question"' in approval.form:
            arguments = ANSWERS
        elif verdict is DecisionVerdict.ANSWER:
            verdict = DecisionVerdict.APPROVE  # of the call that is asked about first
        body = NewDecision(verdict=verdict, digest=approval.digest, arguments=arguments)
        caller: Any = SimpleNamespace(person="pat")
        for _ in range(TRIES_MAX):
            try:
                state = (await decide(self._deps, caller, approval, body)).state.value
            except (self._death, UnavailableError):
                continue
            except ConflictError:
                state = CONFLICT  # it was decided otherwise, or the execution has ended
            self._tally.add("answered", approval=name, device=device, verdict=verdict.value, state=state)
            return

    async def _again(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        for _ in range(TRIES_MAX):
            try:
                return await ask()
            except UnavailableError:
                continue
        raise UnavailableError("the store does not answer")
