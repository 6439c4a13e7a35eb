"""What becomes of a call whose text takes too long to check; and that nothing waits for it but that call."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from ferryman.domain.calls.call import is_outcome_unknown
from ferryman.domain.tools.tool import Repeatable
from ferryman.egress import checks
from ferryman.halting import HaltWatch
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts
from ferryman.offload import TEXT, Budget
from ferryman.ports.errors import HaltedError
from ferryman.ports.gate import CallPolicy
from ferryman.ports.halts import Stoppable
from tests.egress.conftest import GateHarness, reply, wait_for_transports
from tests.egress.plants import VALUES, credential, outbound, policy
from tests.offload import jobs

CREDENTIALS = {"NEWS_KEY": credential(VALUES["prefixed"])}
SHORT = Budget(cpu_s=0.1, wall_s=30, memory_bytes=TEXT.memory_bytes)
LONG = Budget(cpu_s=600, wall_s=600, memory_bytes=TEXT.memory_bytes)


@pytest.fixture
def worst_request(monkeypatch):
    monkeypatch.setattr(checks, "prepare_request", jobs.worst)


@pytest.fixture
def worst_answer(monkeypatch):
    monkeypatch.setattr(checks, "build_result", jobs.worst)


async def test_a_request_that_takes_too_long_to_check_is_refused(harness: GateHarness, worst_request) -> None:
    result = await harness.gate(budget=SHORT).send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS))
    assert (result.blocked, result.block_reason, result.response_status) == (True, "over_budget", None)
    assert "0.1 s of processor time" in result.content
    assert (harness.names.lookups, harness.dialer.dialled) == ([], [])


async def test_an_answer_that_takes_too_long_is_omitted_and_the_call_is_not_in_doubt(
    harness: GateHarness, worst_answer
) -> None:
    async with harness.serve("api.news.test", reply(b"the answer")):
        result = await harness.gate(budget=SHORT).send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS))
    assert result.content.startswith("Error: HTTP 200. The answer is omitted")
    assert "0.1 s of processor time" in result.content
    assert "the answer" not in result.content
    assert (result.blocked, result.response_status, is_outcome_unknown(result, Repeatable.KEYED)) == (False, 200, False)


async def test_a_deadline_ends_a_call_whose_request_is_being_checked(harness: GateHarness, worst_request) -> None:
    result = await harness.gate(budget=LONG, within_s=0.2).send(
        outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS)
    )
    assert result.block_reason == "timed_out"


@pytest.mark.parametrize("fixture", ["worst_request", "worst_answer"])
async def test_a_halt_ends_a_call_whose_text_is_being_checked(harness: GateHarness, fixture: str, request) -> None:
    request.getfixturevalue(fixture)

    class Halts(MemoryHalts):
        looked = 0

        async def find_halt_reasons(self, executions: Collection[Stoppable]) -> Mapping[Stoppable, str]:
            self.looked += 1
            return dict.fromkeys(executions, "stopped") if self.looked > 3 else {}

    watch = HaltWatch(Halts(Memory()), RecordingLog(), every=timedelta(milliseconds=20))
    async with harness.serve("api.news.test", reply()):
        call = harness.gate(budget=LONG).send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS))
        with pytest.raises(HaltedError):
            await watch.run(call, "owner", created=datetime(2026, 3, 1, tzinfo=UTC))


async def test_a_neighbours_call_is_answered_while_the_worst_is_checked(
    harness: GateHarness, worst_request, monkeypatch
) -> None:
    async with harness.serve("api.news.test", reply()):
        gate = harness.gate(budget=LONG, within_s=600)
        worst = asyncio.ensure_future(gate.send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS)))
        await wait_for_transports()
        monkeypatch.undo()
        neighbours = policy(owner="neighbour")
        results = [await gate.send(outbound(), CallPolicy(execution=neighbours, credentials=CREDENTIALS)) for _ in range(3)]
        assert not worst.done()
        worst.cancel()
        await asyncio.gather(worst, return_exceptions=True)
    assert [result.response_status for result in results] == [200] * 3
