"""One fetch for all that need it: tools, calls, instances; and another when the one who fetches dies."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest

from ferryman.domain import refusal
from ferryman.domain.declared import Exchange, Extract, TokenExchange
from ferryman.domain.http import Inbound
from ferryman.domain.refusal import Refused
from ferryman.local.gate import answered
from ferryman.tools.tokens import access
from ferryman.tools.tokens.fetching import UNDER_WAY
from ferryman.tools.tokens.flights import Flights

from .world import OUTBOUND, REMIT, Api, World, call, credential, need, token


async def fetched(house, what=None, **changes: Any) -> str:
    found = await access(house, what or need(**changes), within_s=30)
    return found.credential.secret.reveal()


async def test_fifty_tools_at_once_fetch_one_token(world: World) -> None:
    house = world.instance()
    tools = [need(outbound=dataclasses.replace(OUTBOUND, tool=f"tool_{number}")) for number in range(50)]
    tokens = await asyncio.gather(*(fetched(house, each) for each in tools))
    assert set(tokens) == {token(1)}
    assert len(world.login.asked) == 1


async def test_two_instances_fetch_one_token(world: World) -> None:
    world.login.held = asyncio.Event()

    async def pause(seconds: float) -> None:
        assert world.login.held is not None
        world.login.held.set()  # the other instance is still waiting for the endpoint when this one begins to wait for it
        await world.waits(seconds)

    one, other = world.instance(pause=pause), world.instance(pause=pause)
    tokens = await asyncio.gather(*(fetched(house) for house in (one, other, one, other)))
    assert set(tokens) == {token(1)}
    assert len(world.login.asked) == 1


async def test_a_token_is_kept_for_the_next_call_of_any_instance(world: World) -> None:
    assert await fetched(world.instance()) == await fetched(world.instance()) == token(1)
    assert len(world.login.asked) == 1


async def test_when_the_one_who_fetches_dies_another_takes_over(world: World) -> None:
    world.login.held = asyncio.Event()
    dying = await world.reached(fetched(world.instance()))
    slots = dict(world.memory.tokens)
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    world.memory.tokens.update(slots)  # a process that dies gives nothing back
    world.login.held = None
    began = world.clock.now()
    assert await fetched(world.instance()) == token(2)
    assert world.clock.now() - began >= UNDER_WAY


async def test_who_took_over_keeps_its_token_when_the_first_comes_back(world: World) -> None:
    world.login.held = asyncio.Event()
    slow = await world.reached(fetched(world.instance()))
    held, world.login.held = world.login.held, None
    world.clock.turn(UNDER_WAY)
    assert await fetched(world.instance()) == token(2)
    held.set()
    assert await slow == token(1)  # it has one, and uses it
    assert await fetched(world.instance()) == token(2)
    assert [event for event, _ in world.log.lines].count("token.not_kept") == 1


async def test_a_fetch_goes_on_when_one_of_those_who_wait_goes(world: World) -> None:
    world.login.held, house = asyncio.Event(), world.instance()
    first = await world.reached(fetched(house))
    second = asyncio.ensure_future(fetched(house))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    world.login.held.set()
    assert await second == token(1)


async def test_a_fetch_that_nobody_waits_for_ends_and_leaves_the_place_free(world: World) -> None:
    world.login.held = asyncio.Event()
    alone = await world.reached(fetched(world.instance()))
    alone.cancel()
    await asyncio.gather(alone, return_exceptions=True)
    world.login.held = None
    began = world.clock.now()
    assert await fetched(world.instance()) == token(2)
    assert world.clock.now() == began


async def test_who_waits_for_another_instance_does_not_wait_for_ever(world: World) -> None:
    world.login.held = asyncio.Event()
    forever = await world.reached(fetched(world.instance()))

    async def pause(seconds: float) -> None:
        await world.waits(seconds)
        (key, slot), *_ = world.memory.tokens.items()
        fetch = dataclasses.replace(slot.fetch, until=world.clock.now() + UNDER_WAY)
        world.memory.tokens[key] = dataclasses.replace(slot, fetch=fetch)

    with pytest.raises(Refused, match="no answer in time"):
        await fetched(world.instance(pause=pause))
    forever.cancel()
    await asyncio.gather(forever, return_exceptions=True)


async def test_a_call_without_time_left_gets_no_token(world: World) -> None:
    world.login.held = asyncio.Event()
    with pytest.raises(Refused, match="no answer in time"):
        await access(world.instance(), need(), within_s=0)


async def test_those_who_waited_together_are_refused_together(world: World) -> None:
    world.login.answer = lambda _: answered("no", 403)
    house = world.instance()
    found = await asyncio.gather(*(fetched(house) for _ in range(10)), return_exceptions=True)
    assert {str(each) for each in found} == {
        "Error: no token could be fetched for this tool -- the token endpoint answered 403"
    }
    assert len(world.login.asked) == 1


async def test_a_token_endpoint_that_never_ends_is_a_call_that_was_not_sent(world: World) -> None:
    def endless(_: object) -> Inbound:
        raise Refused(refusal.timed_out(10))

    world.login.answer = endless
    with pytest.raises(Refused, match=r"no token could be fetched for this tool -- request timed out \(10s\)") as refused:
        await fetched(world.instance())
    assert refused.value.refusal.blocked


async def test_after_a_fetch_that_failed_the_next_one_tries_at_once(world: World) -> None:
    world.login.answer = lambda _: answered("no", 503)
    with pytest.raises(Refused):
        await fetched(world.instance())
    world.login.answer, began = None, world.clock.now()
    assert await fetched(world.instance()) == token(2)
    assert world.clock.now() == began


async def test_owners_never_share_a_token(world: World) -> None:
    house = world.instance()
    ben = dataclasses.replace(REMIT, owner="ben")
    assert await asyncio.gather(fetched(house), fetched(house, remit=ben)) == [token(1), token(2)]


async def test_tasks_share_a_token_only_where_no_secret_of_a_task_is_in_it(world: World) -> None:
    house, other = world.instance(), dataclasses.replace(REMIT, task="task_2")
    assert await fetched(house) != await fetched(house, remit=other)
    open_to_all = dataclasses.replace(need().auth, client_secret="public-by-design")
    assert await fetched(house, need(open_to_all)) == await fetched(house, need(open_to_all, remit=other))


async def test_another_auth_block_is_another_token(world: World) -> None:
    house = world.instance()
    other = dataclasses.replace(need().auth, scope="read")
    assert await fetched(house) != await fetched(house, need(other))


async def test_another_place_for_the_token_in_the_same_answer_is_another_token(world: World) -> None:
    world.login.answer = lambda _: answered(f'{{"a": "{token(1)}", "b": "{token(2)}"}}')
    request = Exchange(url="https://login.service.test/")
    first, second = (need(TokenExchange(request=request, extract=Extract(token_path=f"$.{name}"))) for name in "ab")
    assert [await fetched(world.instance(), each) for each in (first, second)] == [token(1), token(2)]


async def test_a_secret_that_was_stored_anew_never_gets_the_old_token(world: World) -> None:
    house = world.instance()
    assert await fetched(house) == token(1)
    anew = {"CLIENT_SECRET": credential(version=2)}
    assert await fetched(house, credentials=anew) == token(2)


async def test_a_token_sealed_to_another_version_of_the_key_is_fetched_anew(world: World) -> None:
    await fetched(world.instance())
    world.key_version = 2
    assert await fetched(world.instance()) == token(2)


async def test_a_token_that_does_not_open_is_fetched_anew_and_replaced(world: World) -> None:
    await fetched(world.instance())
    ((key, slot),) = world.memory.tokens.items()
    ciphertext = slot.token.ciphertext
    spoilt = dataclasses.replace(slot.token, ciphertext=ciphertext[:-1] + bytes([ciphertext[-1] ^ 1]))
    world.memory.tokens[key] = dataclasses.replace(slot, token=spoilt)
    assert await fetched(world.instance()) == token(2)
    assert await fetched(world.instance()) == token(2)


async def test_a_token_moved_to_another_owners_place_does_not_open(world: World) -> None:
    ben = dataclasses.replace(REMIT, owner="ben")
    await fetched(world.instance())
    ((own, slot),) = world.memory.tokens.items()
    await fetched(world.instance(), remit=ben)
    (theirs,) = set(world.memory.tokens) - {own}
    world.memory.tokens[theirs] = slot
    assert await fetched(world.instance(), remit=ben) == token(3)


async def test_two_calls_refused_with_the_same_token_fetch_one_new_one(world: World) -> None:
    house, api = world.instance(), Api(token(2))
    await fetched(house)
    results = await asyncio.gather(*(call(house, api) for _ in range(2)))
    assert [each.response_status for each in results] == [200, 200]
    assert len(world.login.asked) == 2


async def test_two_instances_refused_with_the_same_token_fetch_one_new_one(world: World) -> None:
    one, other, api = world.instance(), world.instance(), Api(token(2))
    await fetched(one)
    results = await asyncio.gather(call(one, api), call(other, api))
    assert [each.response_status for each in results] == [200, 200]
    assert len(world.login.asked) == 2


async def test_only_the_token_that_was_refused_is_forgotten(world: World) -> None:
    house = world.instance()
    old = await access(house, need(), within_s=30)
    new = await access(house, need(), within_s=30, instead_of=old)
    late = await access(world.instance(), need(), within_s=30, instead_of=old)
    assert new.credential.secret.reveal() == late.credential.secret.reveal() == token(2)
    assert len(world.login.asked) == 2


async def test_a_flight_is_over_when_its_work_is() -> None:
    flights: Flights[int] = Flights()
    done: list[int] = []

    async def work() -> int:
        done.append(1)
        return len(done)

    assert [await flights.share("k", work), await flights.share("k", work)] == [1, 2]
