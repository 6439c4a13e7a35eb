"""No token, no secret and nothing of an answer is logged, displayed, or stored in plain text."""

from __future__ import annotations

import asyncio
import gc
import logging

import pytest

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.tools.tokens.access import obtain_access
from ferryman.tools.tokens.cache import cache_key
from ferryman.tools.tokens.single_flight import SingleFlight
from ferryman.tools.tokens.token_request import build_token_request
from tests.plain_gate import build_response

from .harness import SECRET, Api, Harness, call, need, token


async def test_nothing_of_a_token_is_logged_or_shown(harness: Harness, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    deps, what = harness.instance(), need()
    access = await obtain_access(deps, what, within_s=30)
    await call(deps, Api(token(2)))
    harness.login.answer = lambda _: build_response(f"{SECRET} {token(3)}", 500)
    with pytest.raises(CallRefusedError) as refused:
        await obtain_access(deps, what, within_s=30, instead_of=await obtain_access(deps, what, within_s=30))
    request = build_token_request(what)
    texts = [
        *(repr(item) for item in (deps, what, access, request, refused.value, harness.login.requests, harness.memory)),
        *(caplog.text, repr(harness.log.lines), refused.value.refusal.message),
    ]
    basic = request.credentials["basic"].secret.reveal()
    for secret in (token(1), token(2), token(3), SECRET, basic):
        assert secret not in "".join(texts)
    assert {event for event, _ in harness.log.lines} == {"token.fetched", "token.refused"}


async def test_a_kept_token_is_sealed_and_its_key_tells_nothing(harness: Harness) -> None:
    deps, what = harness.instance(), need()
    await obtain_access(deps, what, within_s=30)
    ((key, slot),) = harness.memory.tokens.items()
    request = build_token_request(what)
    assert key == cache_key(deps, what, request)
    assert len(key) == 64
    assert slot.token is not None
    assert token(1).encode() not in slot.token.ciphertext
    assert (await deps.vault.open_token(slot.token.ciphertext, owner="ann", key=key, fetch=slot.token.fetch)) is not None


@pytest.mark.parametrize("change", [{"owner": "ben"}, {"key": "0" * 64}, {"fetch": "another"}])
async def test_a_sealed_token_opens_only_for_its_owner_its_key_and_its_fetch(harness: Harness, change: dict[str, str]) -> None:
    deps = harness.instance()
    await obtain_access(deps, need(), within_s=30)
    ((key, slot),) = harness.memory.tokens.items()
    assert slot.token is not None
    whose = {"owner": "ann", "key": key, "fetch": slot.token.fetch}
    assert await deps.vault.open_token(slot.token.ciphertext, **{**whose, **change}) is None


async def test_a_failure_that_nobody_waits_for_any_more_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    single_flight: SingleFlight[int] = SingleFlight()
    begun = asyncio.Event()

    async def work() -> int:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError(SECRET)

    alone = asyncio.ensure_future(single_flight.share("k", work))
    await begun.wait()
    alone.cancel()
    await asyncio.gather(alone, return_exceptions=True)
    await asyncio.sleep(0)
    del alone
    gc.collect()  # where asyncio would tell of it
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
