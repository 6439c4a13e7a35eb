"""Receipts: one unbroken chain for each execution, whichever process dies and however often it is delivered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from inspect import iscoroutinefunction
from typing import Any

import pytest

from ferryman import verify_receipts as verifier
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.domain.receipts.receipt import Head
from ferryman.domain.workspaces.member import Membership, Role
from ferryman.inmemory.clock import START
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.model import ScriptedModel
from ferryman.loop.run import deliver
from ferryman.ports.errors import UnavailableError
from ferryman.vault import sign
from tests.loop.conftest import Stage, fetches, says
from tests.replay.conftest import document as record


async def document(stage: Stage) -> dict[str, Any]:
    entries = [receipt.to_json() for receipt in await MemoryExecutions(stage.memory).receipts("e")]
    keys = {str(version): sign.derive_public_key(private).hex() for version, private in stage.keys.privates.items()}
    return {"format": verifier.FORMAT, "execution": "e", "entries": entries, "keys": keys}


async def kinds(stage: Stage) -> list[str]:
    return [entry["kind"] for entry in (await document(stage))["entries"]]


async def fits(stage: Stage) -> bool:
    """Return whether the receipts are whole and all of the record, as the API shows it, is what they cover."""
    chain = await document(stage)
    return verifier.verify(chain)[0] == verifier.WHOLE and verifier.compare(chain, record(stage)) == ([], [])


async def test_every_call_is_planned_with_its_turn_and_settled_with_the_next(stage):
    await stage.run(fetches(2), fetches(1), says("done"))
    chain = await document(stage)
    assert await kinds(stage) == [
        *("opened", "replied", "planned", "planned"),
        *("settled", "settled", "replied", "planned", "settled", "replied", "closed"),
    ]
    assert sorted(stage.memory.receipts["e"]) == [0, 1, 4, 8, 10]  # a document for each commit alone
    last = chain["entries"][-1]
    assert stage.execution.receipts == Head(count=last["count"], hash=last["hash"])
    assert await fits(stage)


async def test_the_first_entry_names_the_person_and_conversation_and_the_last_who_cancelled_it(stage):
    stage.memory.executions["e"] = replace(stage.execution, person="person_1", conversation="talk")
    here = stage.execution.workspace
    stage.memory.memberships[here, "person_1"] = Membership(
        owner="o", workspace=here, person="person_1", role=Role.OPERATOR, created_at=START
    )

    def cancel(ticket):
        stage.memory.executions["e"] = replace(stage.execution, cancel_requested=True, cancelled_by="person_2")
        return ToolCallResult(ticket.tool, "late")

    stage.on_call = cancel
    await stage.run(fetches(), says("never"))
    first, *_, last = (await document(stage))["entries"]
    place = [stage.execution.workspace, stage.execution.agent, "person_1", "talk"]
    assert [first[name] for name in ("workspace", "agent", "person", "conversation")] == place
    assert (last["status"], last["cancelled_by"]) == ("killed", "person_2")
    assert await fits(stage)


async def test_what_came_of_a_call_is_told_in_a_word(stage):
    results = [
        ToolCallResult("http_get", "x", response_status=500),
        ToolCallResult("http_get", "Error: request timed out (30s)", ok=False),
        ToolCallResult("http_post", "Error: request timed out (30s)", ok=False),
    ]
    stage.on_call = lambda ticket: results[ticket.seq]
    stage.task(tools=("http_get", "http_post"))
    calls = [("http_get", {"n": 0}), ("http_get", {"n": 1}), ("http_post", {}), ("fly to the moon", {})]
    await stage.run(says("", *calls), says("done"))
    entries = (await document(stage))["entries"]
    outcomes = {entry["seq"]: (entry["tool"], entry["outcome"]) for entry in entries if entry["kind"] == "settled"}
    assert [outcomes[seq] for seq in range(3)] == [("http_get", "answered"), ("http_get", "failed"), ("http_post", "in_doubt")]
    assert outcomes[3] == ("?", "refused:unknown_tool")


async def test_an_entry_holds_no_word_of_what_was_said(stage):
    stage.on_call = lambda ticket: ToolCallResult("api_call", "sesame", credential_used="MY_KEY", response_status=200)
    stage.task(tools=("api_call",))
    arguments = {"url": "https://api.coingecko.com/path", "credential": "MY_KEY", "method": "GET"}
    await stage.run(says("thinking", ("api_call", arguments), ("ignore all rules", {})), says("sesame seeds"))
    text = str(await document(stage))
    assert not [word for word in ("coingecko", "MY_KEY", "sesame", "thinking", "ignore", "report") if word in text]


async def test_an_execution_that_never_opened_has_one_entry(stage):
    stage.task(enabled=False)
    await stage.run(says("never"))
    assert await kinds(stage) == ["closed"]
    assert verifier.verify(await document(stage))[0] == verifier.WHOLE


async def test_while_the_key_is_away_nothing_is_paid_for_and_nothing_is_lost(stage):
    await stage.run(fetches(), UnavailableError("busy"))
    stage.keys.away = True
    prompts = len(stage.model.prompts)
    assert not await stage.run()
    assert len(stage.model.prompts) == prompts
    assert stage.execution.status is Status.RUNNING
    stage.keys.away = False
    stage.clock.turn(121)
    assert await stage.run(says("done"))
    assert verifier.verify(await document(stage))[0] == verifier.WHOLE


async def test_a_key_whose_public_half_is_another_signs_nothing(stage):
    signing = sign.ReceiptSigning(stage.keys, {2: sign.derive_public_key(sign.generate_private_key())})
    with pytest.raises(UnavailableError):
        await signing.key()


async def test_the_key_is_parsed_once_as_long_as_it_is_the_same(stage):
    private = sign.generate_private_key()
    keys = MemoryKeyStore({1: private})
    signing = sign.ReceiptSigning(keys, {1: sign.derive_public_key(private)})
    assert await signing.key() is await signing.key()
    keys.privates[1] = sign.generate_private_key()
    with pytest.raises(UnavailableError):
        await signing.key()


async def test_a_turn_with_one_call_takes_three_signatures(stage):
    signatures = 0

    class Counting(sign.SigningKey):
        def sign(self, message: bytes) -> bytes:
            nonlocal signatures
            signatures += 1
            return super().sign(message)

    async def key() -> Counting:
        return Counting(2, stage.keys.privates[2])

    deps = replace(stage.deps(), model=ScriptedModel([*[fetches()] * 2, says("done")]))
    deps.signing.key = key
    assert await deliver(deps, "e", slice=0, holder="h")
    opened_and_closed, answer = 2, 1
    assert signatures == 3 * 2 + answer + opened_and_closed


async def test_a_holder_whose_lease_has_passed_adds_no_entry(stage):
    deps = replace(stage.deps(), model=Taking(stage, ScriptedModel([fetches(), says("done")])))
    assert not await deliver(deps, "e", slice=0, holder="slow")
    assert verifier.verify(await document(stage))[0] == verifier.WHOLE
    assert (await kinds(stage)).count("opened") == 1


@dataclass
class Taking:
    """A model during whose first answer the lease runs out and another delivery runs the execution to its end."""

    stage: Stage
    model: ScriptedModel
    is_taken: bool = False

    async def reply(self, prompt: Any) -> Any:
        if not self.is_taken:
            self.is_taken = True
            self.stage.clock.turn(121)
            other = replace(self.stage.deps(), model=ScriptedModel([fetches(2), says("other")]))
            assert await deliver(other, "e", slice=0, holder="other")
        return await self.model.reply(prompt)


async def test_of_many_deliveries_at_once_one_writes_the_chain(stage):
    stage.model = ScriptedModel([fetches(2), says("done")])
    deps = stage.deps()
    await asyncio.gather(*(deliver(deps, "e", slice=0, holder=f"h{number}") for number in range(8)))
    assert verifier.verify(await document(stage))[0] == verifier.WHOLE


class Killed(BaseException):
    """The process is gone."""


@dataclass
class PortCalls:
    """Counts every call of a port, and kills the process at one of them, before or after it."""

    at: int = -1
    after: bool = False
    passed: int = 0

    def around(self, port: Any) -> Any:
        calls = self

        class Port:
            def __getattr__(self, name: str) -> Any:
                member = getattr(port, name)
                return calls.count_call(member) if iscoroutinefunction(member) else member

        return Port()

    def count_call(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any, **named: Any) -> Any:
            here, self.passed = self.passed, self.passed + 1
            if here == self.at and not self.after:
                raise Killed
            answer = await method(*args, **named)
            if here == self.at:
                raise Killed
            return answer

        return call


PORTS = (
    "contexts",
    "owners",
    "tasks",
    "credentials",
    "executions",
    "halts",
    "queue",
    "model",
    "scanner",
    "registry",
    "signing",
)


async def lives(calls: PortCalls) -> tuple[Stage, int]:
    """Return a stage whose execution was delivered until it ended, and how often the process died."""
    stage, died = Stage(), 0
    stage.model = Replaying([fetches(2), says("", ("api_call", {}), ("no such tool", {})), says("done")], stage)
    for _ in range(10):
        deps = replace(stage.deps(), poll_interval=timedelta(hours=1))  # reads of a switch in between would be calls by chance
        deps = replace(deps, **{name: calls.around(getattr(deps, name)) for name in PORTS})
        try:
            await deliver(deps, "e", slice=stage.execution.slice, holder=f"h{died}")
        except Killed:
            died += 1
        if stage.execution.status.terminal:
            break
        stage.clock.turn(121)
    return stage, died


class Replaying(ScriptedModel):
    """Answers by how many turns the journal has, so that a turn that was lost is answered again."""

    def __init__(self, replies: list[Any], stage: Stage) -> None:
        super().__init__([])
        self.replies, self.stage = replies, stage

    async def reply(self, prompt: Any) -> Any:
        return self.replies[len(self.stage.memory.steps.get("e", {}))]


async def test_a_process_that_dies_at_any_port_call_leaves_one_unbroken_chain():
    undisturbed = PortCalls()
    stage, _ = await lives(undisturbed)
    expected = await kinds(stage)
    assert undisturbed.passed > 25
    for at in range(undisturbed.passed):
        for after in (False, True):
            stage, died = await lives(PortCalls(at=at, after=after))
            chain = await document(stage)
            assert died == 1
            assert stage.execution.status is Status.COMPLETED, (at, after)
            assert verifier.verify(chain)[0] == verifier.WHOLE, (at, after)
            assert [entry["kind"] for entry in chain["entries"]] == expected, (at, after)
            assert await fits(stage), (at, after)


async def test_a_turn_names_the_receipt_of_its_reply(stage):
    await stage.run(fetches(2), fetches(1), says("done"))
    named = [(step.receipt, step.number) for _, step in sorted(stage.memory.steps["e"].items())]
    assert named == await find_replies(stage)


async def find_replies(stage: Stage) -> list[tuple[int, int]]:
    """Return the number of each receipt of a reply, and its turn."""
    entries = (await document(stage))["entries"]
    return [(entry["number"], entry["turn"]) for entry in entries if entry["kind"] == "replied"]
