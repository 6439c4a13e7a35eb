"""A thin part of the campaign, so that the whole is known to run: `make approvals` runs it."""

from __future__ import annotations

from tests.campaigns.approvals.campaign import run


async def test_nothing_leaves_that_nobody_approved_and_nothing_is_asked_twice() -> None:
    outcome = await run(60, forgeries=28, renewals=5, sends=2, seed=1)
    assert outcome.wrong == []
    assert (outcome.total("mutation"), outcome.total("forgery"), outcome.total("renewal")) == (60, 28, 5)
