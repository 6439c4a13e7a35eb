"""Once more after a 401, and no more often than that."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from ferryman.domain.call import ToolCallResult
from ferryman.domain.credential import Credential
from ferryman.domain.http import Method, Outbound
from ferryman.domain.refusal import Refused, not_resolved
from ferryman.local.gate import answered
from ferryman.ports import Unavailable
from ferryman.tools.passage import Unsent
from ferryman.tools.tokens import TOKEN, access, sent
from ferryman.tools.tokens.calls import FORMER

from .world import OUTBOUND, Api, World, call, need, token


async def test_a_good_token_is_sent_once(world: World) -> None:
    api = Api(token(1))
    assert (await call(world.instance(), api)).response_status == 200
    assert api.got == [token(1)]


async def test_a_call_that_got_401_is_sent_once_more_with_a_new_token(world: World) -> None:
    api = Api(token(2))
    assert (await call(world.instance(), api)).response_status == 200
    assert api.got == [token(1), token(2)]


async def test_a_second_401_is_the_answer(world: World) -> None:
    api = Api()
    assert (await call(world.instance(), api)).response_status == 401
    assert api.got == [token(1), token(2)]
    assert len(world.login.asked) == 2


async def test_another_status_may_ask_for_it_and_then_401_does_not(world: World) -> None:
    auth = dataclasses.replace(need().auth, refresh_on=(419,))
    assert (await call(world.instance(), Api(status=401), need(auth))).response_status == 401
    assert len(world.login.asked) == 1
    again = Api(status=419)
    await call(world.instance(), again, need(auth))
    assert len(again.got) == 2


@pytest.mark.parametrize(("status", "times"), [(401, 2), (500, 1), (200, 1)])
async def test_a_post_is_not_repeated_where_it_may_have_been_carried_out(world: World, status: int, times: int) -> None:
    auth = dataclasses.replace(need().auth, refresh_on=(200, 401, 500))
    api, outbound = Api(status=status), dataclasses.replace(OUTBOUND, method=Method.POST)
    await call(world.instance(), api, need(auth, outbound=outbound))
    assert len(api.got) == times


async def test_a_post_with_a_key_for_repetitions_is_repeated(world: World) -> None:
    auth = dataclasses.replace(need().auth, refresh_on=(500,))
    outbound = dataclasses.replace(OUTBOUND, method=Method.POST, idempotency=("Idempotency-Key", "e-1"))
    api = Api(token(2), status=500)
    assert (await call(world.instance(), api, need(auth, outbound=outbound))).response_status == 200


async def test_the_first_answer_stands_where_no_new_token_is_to_be_had(world: World) -> None:
    house, api = world.instance(), Api()
    await access(house, need(), within_s=30)
    world.login.answer = lambda _: answered("gone", 500)
    assert (await call(house, api)).response_status == 401
    assert api.got == [token(1)]


async def test_the_first_answer_stands_where_the_store_is_away(world: World) -> None:
    class Away(Api):
        async def send(self, outbound, credentials):
            house.tokens.get = house.tokens.take = away  # type: ignore[method-assign] # a store that goes away meanwhile
            return await super().send(outbound, credentials)

    async def away(*_: object, **__: object) -> None:
        raise Unavailable("away")

    house = world.instance()
    assert (await call(house, Away())).response_status == 401


async def test_a_store_that_is_away_before_anything_was_sent_is_told(world: World) -> None:
    house, api = world.instance(), Api()

    async def away(*_: object, **__: object) -> None:
        raise Unavailable("away")

    house.tokens.get = away  # type: ignore[method-assign] # a store that is away
    with pytest.raises(Unsent):
        await call(house, api)
    assert not api.got


async def test_a_call_whose_time_is_over_is_not_sent_again(world: World) -> None:
    left, api = iter([30, 30, 0]), Api()
    result = await sent(world.instance(), need(), api.send, left_s=lambda: next(left))
    assert (result.response_status, len(api.got)) == (401, 1)


async def test_the_token_before_is_known_to_whoever_redacts_the_second_answer(world: World) -> None:
    api = Api(token(2))
    await call(world.instance(), api)
    first, second = api.known
    assert (first[TOKEN].secret.reveal(), FORMER in first) == (token(1), False)
    assert (second[TOKEN].secret.reveal(), second[FORMER].secret.reveal()) == (token(2), token(1))
    assert second[FORMER].label.hosts == ()


async def test_a_call_without_a_token_is_not_sent(world: World) -> None:
    world.login.answer, api = lambda _: answered("no", 400), Api()
    with pytest.raises(Refused):
        await call(world.instance(), api)
    assert not api.got


async def test_a_call_that_was_sent_once_is_not_told_as_blocked(world: World) -> None:
    first = Api(status=401)

    async def send(outbound: Outbound, credentials: Mapping[str, Credential]) -> ToolCallResult:
        if first.got:
            return ToolCallResult.refused(outbound.tool, not_resolved("api.service.test"))
        return await first.send(outbound, credentials)

    result = await sent(world.instance(), need(), send, left_s=lambda: 30)
    assert (result.blocked, result.response_status) == (False, 401)
