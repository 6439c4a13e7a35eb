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

from .conftest import Stores
from .test_clusters import PET
from .test_connections import SECOND, begun
from .values import EXECUTION, NOW, TASK


def build_request(seed: str = "seed_1", **changes: Any) -> KeyedRequest:
    """Return a request that comes for the first time."""
    of = idempotency.derive_id("ann", "key", workspace="w")
    first = KeyedRequest(id=of, owner="ann", fingerprint="f" * 64, seed=seed, claimed_at=NOW, until=NOW + ATTEMPT)
    return replace(first, **changes)


def later(by: Any, seed: str = "seed_2") -> KeyedRequest:
    return build_request(seed, claimed_at=NOW + by, until=NOW + by + ATTEMPT)


async def test_a_key_is_claimed_by_the_first_who_comes(stores: Stores) -> None:
    assert await stores.keyed.claim(build_request(), now=NOW) == build_request()
    with pytest.raises(InProgressError):
        await stores.keyed.claim(later(SECOND), now=NOW + SECOND)


async def test_of_those_who_claim_a_key_at_once_one_has_it(stores: Stores) -> None:
    for round_ in range(3):
        of = idempotency.derive_id("ann", f"key {round_}", workspace="w")
        claims = (stores.keyed.claim(build_request(f"seed_{n}", id=of), now=NOW) for n in range(8))
        outcomes = await asyncio.gather(*claims, return_exceptions=True)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == [*["InProgressError"] * 7, "KeyedRequest"]


async def test_an_attempt_that_takes_too_long_is_joined_by_another_at_the_same_request(stores: Stores) -> None:
    await stores.keyed.claim(build_request(), now=NOW)
    second = await stores.keyed.claim(later(ATTEMPT), now=NOW + ATTEMPT)
    assert second == replace(build_request(), attempt=2, until=NOW + 2 * ATTEMPT)
    assert second.name("task") == build_request().name("task") != build_request("seed_2").name("task")


async def test_of_those_who_join_at_once_one_does(stores: Stores) -> None:
    await stores.keyed.claim(build_request(), now=NOW)
    claims = (stores.keyed.claim(later(ATTEMPT, f"seed_{n}"), now=NOW + ATTEMPT) for n in range(8))
    outcomes = await asyncio.gather(*claims, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == [*["InProgressError"] * 7, "KeyedRequest"]


async def test_a_key_identifies_one_request_for_a_day(stores: Stores) -> None:
    await stores.keyed.claim(build_request(), now=NOW)
    other = replace(later(KEY_LIFETIME), fingerprint="0" * 64)
    with pytest.raises(KeyReusedError):
        await stores.keyed.claim(other, now=NOW + KEY_LIFETIME - SECOND)
    assert await stores.keyed.claim(other, now=NOW + KEY_LIFETIME) == other


async def test_an_attempt_that_came_to_nothing_is_followed_at_once(stores: Stores) -> None:
    claimed = await stores.keyed.claim(build_request(), now=NOW)
    await stores.keyed.release(claimed)
    assert (await stores.keyed.claim(later(SECOND), now=NOW + SECOND)).attempt == 2


async def test_an_attempt_that_was_joined_ends_no_other(stores: Stores) -> None:
    first = await stores.keyed.claim(build_request(), now=NOW)
    await stores.keyed.claim(later(ATTEMPT), now=NOW + ATTEMPT)
    await stores.keyed.release(first)
    with pytest.raises(InProgressError):
        await stores.keyed.claim(later(ATTEMPT), now=NOW + ATTEMPT)


async def test_an_answer_is_given_once_and_stays(stores: Stores) -> None:
    claimed = await stores.keyed.claim(build_request(), now=NOW)
    await stores.keyed.complete(Completion(request=claimed, answer=b"first"))
    await stores.keyed.complete(Completion(request=claimed, answer=b"first"))  # of an attempt that did not hear of it
    with pytest.raises(AnsweredError):
        await stores.keyed.complete(Completion(request=claimed, answer=b"second"))
    await stores.keyed.release(claimed)
    assert (await stores.keyed.claim(later(SECOND), now=NOW + SECOND)).answer == b"first"


async def start(stores: Stores, number: int, done: Completion) -> object:
    return await stores.executions.start(replace(EXECUTION, id=f"exec_{number}"), most=20, done=done)


async def create(stores: Stores, number: int, done: Completion) -> object:
    return await stores.tasks.create(replace(TASK, id=f"new_{number}"), done=done)


async def connect(stores: Stores, number: int, done: Completion) -> object:
    return await stores.connections.put(begun(f"{number:064x}"), now=NOW, most=20, done=done)


async def declare(stores: Stores, number: int, done: Completion) -> object:
    return await stores.clusters.put(TASK.id, f"c{number}", [replace(PET, name=f"pet_{number}")], since=0, done=done)


async def count_effects(stores: Stores) -> int:
    """Count the effects of all requests."""
    connected = [await stores.connections.take(TASK.id, f"{number:064x}") for number in range(8)]
    tasks, executions = (
        await stores.tasks.list(TASK.workspace),
        await stores.executions.list(TASK.workspace),
    )
    return len(tasks.items) - 1 + len(executions.items) + sum(map(bool, connected)) + len(await stores.clusters.list(TASK.id))


EFFECTS = pytest.mark.parametrize("effect", [start, create, connect, declare])
Effect = Callable[[Stores, int, Completion], Awaitable[object]]


@EFFECTS
async def test_of_attempts_that_end_at_once_one_has_its_effect_and_its_answer(stores: Stores, effect: Effect) -> None:
    await stores.tasks.create(TASK)
    claimed = await stores.keyed.claim(build_request(), now=NOW)
    dones = [Completion(request=claimed, answer=f"answer {number}".encode()) for number in range(8)]
    outcomes = await asyncio.gather(
        *(effect(stores, number, completion) for number, completion in enumerate(dones)), return_exceptions=True
    )
    ahead = [number for number, outcome in enumerate(outcomes) if not isinstance(outcome, AnsweredError)]
    assert len(ahead) == 1
    assert await count_effects(stores) == 1
    assert (await stores.keyed.claim(later(SECOND), now=NOW + SECOND)).answer == dones[ahead[0]].answer


@EFFECTS
async def test_an_effect_that_was_had_is_not_had_again(stores: Stores, effect: Effect) -> None:
    await stores.tasks.create(TASK)
    claimed = await stores.keyed.claim(build_request(), now=NOW)
    await effect(stores, 1, Completion(request=claimed, answer=b"first"))
    with pytest.raises(AnsweredError) as error:
        await effect(stores, 2, Completion(request=replace(claimed, attempt=2), answer=b"second"))
    assert (error.value.request.answer, await count_effects(stores)) == (b"first", 1)


async def test_what_is_refused_is_not_answered(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    claimed = await stores.keyed.claim(build_request(), now=NOW)
    done = Completion(request=claimed, answer=b"done")
    with pytest.raises(LimitReachedError):
        await stores.tasks.create(replace(TASK, id="new"), most=1, done=done)
    with pytest.raises(TooManyQueuedError):
        await stores.executions.start(EXECUTION, most=0, done=done)
    with pytest.raises(StaleError):
        await stores.connections.put(begun(), now=NOW, most=0, done=done)
    with pytest.raises(StaleError):
        await stores.clusters.put(TASK.id, "c", [PET], since=7, done=done)
    with pytest.raises(InvalidInputError):
        await stores.clusters.put(TASK.id, "\n", [PET], since=0, done=done)
    await stores.keyed.release(claimed)
    again = await stores.keyed.claim(later(SECOND), now=NOW + SECOND)
    assert (again.answer, again.attempt, await count_effects(stores)) == (None, 2, 0)
