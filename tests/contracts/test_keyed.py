"""Requests under an idempotency key: one attempt at a time, one answer, and that in the transaction of the effect."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.executions.occupancy import TooManyQueuedError
from ferryman.domain.owners import idempotency
from ferryman.domain.owners.idempotency import (
    ATTEMPT,
    KEY_LIFETIME,
    AnsweredError,
    Completion,
    InProgressError,
    KeyedRequest,
    KeyReusedError,
)
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.stale import StaleError

from .conftest import Doors
from .test_clusters import PET
from .test_connections import SECOND, begun
from .values import EXECUTION, NOW, TASK


def asked(seed: str = "seed_1", **changes: Any) -> KeyedRequest:
    """A request that comes for the first time."""
    of = idempotency.derive_id("ann", "key")
    first = KeyedRequest(id=of, owner="ann", fingerprint="f" * 64, seed=seed, claimed_at=NOW, until=NOW + ATTEMPT)
    return replace(first, **changes)


def later(by: Any, seed: str = "seed_2") -> KeyedRequest:
    return asked(seed, claimed_at=NOW + by, until=NOW + by + ATTEMPT)


async def test_a_key_is_claimed_by_the_first_who_comes(doors: Doors) -> None:
    assert await doors.keyed.claim(asked(), now=NOW) == asked()
    with pytest.raises(InProgressError):
        await doors.keyed.claim(later(SECOND), now=NOW + SECOND)


async def test_of_those_who_claim_a_key_at_once_one_has_it(doors: Doors) -> None:
    for round_ in range(3):
        of = idempotency.derive_id("ann", f"key {round_}")
        claims = (doors.keyed.claim(asked(f"seed_{n}", id=of), now=NOW) for n in range(8))
        came = await asyncio.gather(*claims, return_exceptions=True)
        assert sorted(type(each).__name__ for each in came) == [*["InProgressError"] * 7, "KeyedRequest"]


async def test_an_attempt_that_takes_too_long_is_joined_by_another_at_the_same_request(doors: Doors) -> None:
    await doors.keyed.claim(asked(), now=NOW)
    second = await doors.keyed.claim(later(ATTEMPT), now=NOW + ATTEMPT)
    assert second == replace(asked(), attempt=2, until=NOW + 2 * ATTEMPT)
    assert second.name("task") == asked().name("task") != asked("seed_2").name("task")


async def test_of_those_who_join_at_once_one_does(doors: Doors) -> None:
    await doors.keyed.claim(asked(), now=NOW)
    claims = (doors.keyed.claim(later(ATTEMPT, f"seed_{n}"), now=NOW + ATTEMPT) for n in range(8))
    came = await asyncio.gather(*claims, return_exceptions=True)
    assert sorted(type(each).__name__ for each in came) == [*["InProgressError"] * 7, "KeyedRequest"]


async def test_a_key_stands_for_one_request_for_a_day(doors: Doors) -> None:
    await doors.keyed.claim(asked(), now=NOW)
    other = replace(later(KEY_LIFETIME), fingerprint="0" * 64)
    with pytest.raises(KeyReusedError):
        await doors.keyed.claim(other, now=NOW + KEY_LIFETIME - SECOND)
    assert await doors.keyed.claim(other, now=NOW + KEY_LIFETIME) == other


async def test_an_attempt_that_came_to_nothing_is_followed_at_once(doors: Doors) -> None:
    held = await doors.keyed.claim(asked(), now=NOW)
    await doors.keyed.release(held)
    assert (await doors.keyed.claim(later(SECOND), now=NOW + SECOND)).attempt == 2


async def test_an_attempt_that_was_joined_ends_no_other(doors: Doors) -> None:
    first = await doors.keyed.claim(asked(), now=NOW)
    await doors.keyed.claim(later(ATTEMPT), now=NOW + ATTEMPT)
    await doors.keyed.release(first)
    with pytest.raises(InProgressError):
        await doors.keyed.claim(later(ATTEMPT), now=NOW + ATTEMPT)


async def test_an_answer_is_given_once_and_stays(doors: Doors) -> None:
    held = await doors.keyed.claim(asked(), now=NOW)
    await doors.keyed.complete(Completion(request=held, answer=b"first"))
    await doors.keyed.complete(Completion(request=held, answer=b"first"))  # of an attempt that did not hear of it
    with pytest.raises(AnsweredError):
        await doors.keyed.complete(Completion(request=held, answer=b"second"))
    await doors.keyed.release(held)
    assert (await doors.keyed.claim(later(SECOND), now=NOW + SECOND)).answer == b"first"


async def start(doors: Doors, number: int, done: Completion) -> object:
    return await doors.executions.start(replace(EXECUTION, id=f"exec_{number}"), most=20, done=done)


async def create(doors: Doors, number: int, done: Completion) -> object:
    return await doors.tasks.create(replace(TASK, id=f"new_{number}"), done=done)


async def connect(doors: Doors, number: int, done: Completion) -> object:
    return await doors.connections.put(begun(f"{number:064x}"), now=NOW, most=20, done=done)


async def declare(doors: Doors, number: int, done: Completion) -> object:
    return await doors.clusters.put(TASK.id, f"c{number}", [replace(PET, name=f"pet_{number}")], since=0, done=done)


async def made(doors: Doors) -> int:
    """How much has come of all effects."""
    connected = [await doors.connections.take(TASK.id, f"{number:064x}") for number in range(8)]
    tasks, executions = await doors.tasks.list("ann"), await doors.executions.list("ann")
    return len(tasks) - 1 + len(executions) + sum(map(bool, connected)) + len(await doors.clusters.list(TASK.id))


EFFECTS = pytest.mark.parametrize("effect", [start, create, connect, declare])
Effect = Callable[[Doors, int, Completion], Awaitable[object]]


@EFFECTS
async def test_of_attempts_that_end_at_once_one_has_its_effect_and_its_answer_is_the_one(doors: Doors, effect: Effect) -> None:
    await doors.tasks.create(TASK)
    held = await doors.keyed.claim(asked(), now=NOW)
    dones = [Completion(request=held, answer=f"answer {number}".encode()) for number in range(8)]
    came = await asyncio.gather(*(effect(doors, number, each) for number, each in enumerate(dones)), return_exceptions=True)
    ahead = [number for number, each in enumerate(came) if not isinstance(each, AnsweredError)]
    assert len(ahead) == 1
    assert await made(doors) == 1
    assert (await doors.keyed.claim(later(SECOND), now=NOW + SECOND)).answer == dones[ahead[0]].answer


@EFFECTS
async def test_an_effect_that_was_had_is_not_had_again(doors: Doors, effect: Effect) -> None:
    await doors.tasks.create(TASK)
    held = await doors.keyed.claim(asked(), now=NOW)
    await effect(doors, 1, Completion(request=held, answer=b"first"))
    with pytest.raises(AnsweredError) as error:
        await effect(doors, 2, Completion(request=replace(held, attempt=2), answer=b"second"))
    assert (error.value.request.answer, await made(doors)) == (b"first", 1)


async def test_what_is_refused_is_not_answered(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    held = await doors.keyed.claim(asked(), now=NOW)
    done = Completion(request=held, answer=b"done")
    with pytest.raises(LimitReachedError):
        await doors.tasks.create(replace(TASK, id="new"), most=1, done=done)
    with pytest.raises(TooManyQueuedError):
        await doors.executions.start(EXECUTION, most=0, done=done)
    with pytest.raises(StaleError):
        await doors.connections.put(begun(), now=NOW, most=0, done=done)
    with pytest.raises(StaleError):
        await doors.clusters.put(TASK.id, "c", [PET], since=7, done=done)
    with pytest.raises(InvalidInputError):
        await doors.clusters.put(TASK.id, "\n", [PET], since=0, done=done)
    await doors.keyed.release(held)
    again = await doors.keyed.claim(later(SECOND), now=NOW + SECOND)
    assert (again.answer, again.attempt, await made(doors)) == (None, 2, 0)
