"""Checks: many who ask the same at the same time share one read, and nobody is told what is older than the interval."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from ferryman.checks import CheckOutcome, SharedChecks
from ferryman.inmemory.clock import START
from ferryman.ports.errors import UnavailableError

EVERY = timedelta(seconds=0.5)


class Reader:
    """Reads that are counted, and take until they are released."""

    def __init__(self) -> None:
        self.begun = 0
        self.released = asyncio.Event()
        self.answer: bool | Exception = True

    async def read(self) -> bool:
        self.begun += 1
        await self.released.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def reader() -> Reader:
    return Reader()


def ask(checks: SharedChecks, reader: Reader, question: str = "key", after_s: float = 0.0) -> Awaitable[CheckOutcome]:
    return checks.ask(question, reader.read, now=START + timedelta(seconds=after_s), every=EVERY)


async def test_all_who_ask_within_the_interval_share_one_read(reader: Reader) -> None:
    checks = SharedChecks()
    asking = [asyncio.ensure_future(ask(checks, reader, after_s=number / 10)) for number in range(5)]
    await asyncio.sleep(0)
    reader.released.set()
    assert await asyncio.gather(*asking) == [CheckOutcome(START, answer=True)] * 5
    assert reader.begun == 1


async def test_after_the_interval_it_is_read_again(reader: Reader) -> None:
    checks = SharedChecks()
    reader.released.set()
    await ask(checks, reader)
    reader.answer = False
    assert await ask(checks, reader, after_s=0.499) == CheckOutcome(START, answer=True)
    assert await ask(checks, reader, after_s=0.5) == CheckOutcome(START + EVERY, answer=False)


async def test_other_questions_are_read_by_themselves_and_old_ones_forgotten(reader: Reader) -> None:
    checks = SharedChecks()
    reader.released.set()
    for number in range(4):
        await ask(checks, reader, question=f"key {number}")
    assert (reader.begun, len(checks)) == (4, 4)
    await ask(checks, reader, after_s=1)
    assert len(checks) == 1


async def test_who_stops_waiting_takes_the_answer_from_nobody_else(reader: Reader) -> None:
    checks = SharedChecks()
    leaves, stays = (asyncio.ensure_future(ask(checks, reader)) for _ in range(2))
    await asyncio.sleep(0)
    leaves.cancel()
    await asyncio.wait({leaves})
    reader.released.set()
    assert (await stays).answer is True
    assert (reader.begun, leaves.cancelled()) == (1, True)


async def test_what_cannot_be_read_is_told_to_all_who_wait(reader: Reader) -> None:
    checks = SharedChecks()
    reader.answer = UnavailableError("the store is away")
    reader.released.set()
    outcomes = await asyncio.gather(ask(checks, reader), ask(checks, reader), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [UnavailableError] * 2


async def test_an_answer_that_nobody_waits_for_is_no_complaint(reader: Reader) -> None:
    complaints: list[dict[str, object]] = []
    note: Callable[..., None] = lambda _, context: complaints.append(context)  # noqa: E731 - as asyncio calls it
    asyncio.get_running_loop().set_exception_handler(note)
    checks = SharedChecks()
    reader.answer = UnavailableError("the store is away")
    asking = asyncio.ensure_future(ask(checks, reader))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    reader.released.set()
    for _ in range(3):
        await asyncio.sleep(0)
    del checks
    gc.collect()
    assert complaints == []
