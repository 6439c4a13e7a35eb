"""A sample of the campaign: no mutation and no replay is accepted, and every good request is."""

from __future__ import annotations

import pytest

from tests.campaigns.signed_requests.campaign import run_campaign


async def test_no_mutation_or_replay_is_accepted_and_no_good_request_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRYMAN_CALLERS", "[]")  # set back afterwards
    verdict = await run_campaign(400, seed=20)
    assert (verdict.accepted, verdict.refused) == ([], [])
    assert verdict.attempts.total() >= 400
    assert verdict.good == verdict.ran == 40


async def test_a_server_that_verifies_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from ferryman.domain.signed_request import RequestToken, SignedRequest
    from ferryman.inmemory.clock import START
    from ferryman.serving import platform

    def accept(_: object, __: str | None, ___: SignedRequest, **____: object) -> RequestToken:
        return RequestToken(user="ann", workspace="ws_a", at=START, nonce="0" * 32)

    monkeypatch.setenv("FERRYMAN_CALLERS", "[]")
    monkeypatch.setattr(platform, "verify_request", accept)
    verdict = await run_campaign(20, seed=20)
    assert verdict.accepted
