"""No token, no secret and nothing of an answer is logged, shown, or kept as it is."""

from __future__ import annotations

import asyncio
import gc
import logging

import pytest

from ferryman.domain.refusal import Refused
from ferryman.local.gate import answered
from ferryman.tools.tokens import access
from ferryman.tools.tokens.asking import asking
from ferryman.tools.tokens.fetching import key_of
from ferryman.tools.tokens.flights import Flights
from ferryman.tools.tokens.house import Opened

from .world import REMIT, SECRET, Api, World, call, need, token


async def test_nothing_of_a_token_is_logged_or_shown(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    house, what = world.instance(), need()
    found = await access(house, what, within_s=30)
    await call(house, Api(token(2)))
    world.login.answer = lambda _: answered(f"{SECRET} {token(3)}", 500)
    with pytest.raises(Refused) as refused:
        await access(house, what, within_s=30, instead_of=await access(house, what, within_s=30))
    request = asking(what.auth, tool="t", remit=REMIT, credentials=what.credentials)
    shown = [
        *(repr(each) for each in (house, what, found, request, refused.value, world.login.asked, world.memory)),
        *(repr(Opened(found.credential.secret, "f")), caplog.text, repr(world.log.lines), refused.value.refusal.message),
    ]
    basic = request.credentials["basic"].secret.reveal()
    for secret in (token(1), token(2), token(3), SECRET, basic):
        assert secret not in "".join(shown)
    assert {event for event, _ in world.log.lines} == {"token.fetched", "token.refused"}


async def test_a_kept_token_is_sealed_and_its_key_tells_nothing(world: World) -> None:
    house, what = world.instance(), need()
    await access(house, what, within_s=30)
    ((key, slot),) = world.memory.tokens.items()
    request = asking(what.auth, tool="t", remit=REMIT, credentials=what.credentials)
    assert key == key_of(house, what, request)
    assert len(key) == 64
    assert slot.token is not None
    assert token(1).encode() not in slot.token.ciphertext
    assert (await house.vault.token(slot.token.ciphertext, owner="ann", key=key, fetch=slot.token.fetch)) is not None


@pytest.mark.parametrize("change", [{"owner": "ben"}, {"key": "0" * 64}, {"fetch": "another"}])
async def test_a_sealed_token_opens_only_for_its_owner_its_key_and_its_fetch(world: World, change: dict[str, str]) -> None:
    house = world.instance()
    await access(house, need(), within_s=30)
    ((key, slot),) = world.memory.tokens.items()
    assert slot.token is not None
    whose = {"owner": "ann", "key": key, "fetch": slot.token.fetch}
    assert await house.vault.token(slot.token.ciphertext, **{**whose, **change}) is None


async def test_a_failure_that_nobody_waits_for_any_more_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    flights: Flights[int] = Flights()
    begun = asyncio.Event()

    async def work() -> int:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError(SECRET)

    alone = asyncio.ensure_future(flights.share("k", work))
    await begun.wait()
    alone.cancel()
    await asyncio.gather(alone, return_exceptions=True)
    await asyncio.sleep(0)
    del alone
    gc.collect()  # where asyncio would tell of it
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
