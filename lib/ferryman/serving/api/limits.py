"""Limits: how much of one instance an owner may use, at once and over time; beyond it the answer is 429, nothing done."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from ferryman.domain.owners.plan import Plan
from ferryman.limiter import OwnerLimiter
from ferryman.rates import Rate, Rates
from ferryman.serving.api.errors import TooManyRequestsError

REQUESTS_MAX = 24
"""Requests with one API key in one instance, those that wait for their turn among them."""

OWNER_REQUESTS_MAX = 48
"""The same, with all API keys of one owner and of the members of the owner's workspaces."""

REQUEST_S = 10.0
"""How long a request waits for its owner's other ones before it is answered with 429."""

IMPORTS_MAX = 2
"""Imports of one owner in one instance, those that wait for their turn among them."""

IMPORTS = Rate(at_once=3, every=timedelta(seconds=6))
"""Imports of one owner in one instance: reading one, if only to show what it would make, takes more than any other request."""

FILES = Rate(at_once=100, every=timedelta(seconds=0.1))
"""Files of archives that one owner sends to one instance: each but the last of its kind is half a megabyte or more, which takes
longer than this to read and to store, so that who sends one after the other never waits."""

START_PERIOD = timedelta(seconds=10)
"""In this time an owner may start as many executions as may run at once: that many at once, the others spread over it."""


def start_rate(plan: Plan) -> Rate:
    """Return how often an owner on `plan` may start an execution in one instance."""
    return Rate(at_once=plan.executions_running, every=START_PERIOD / plan.executions_running)


def take_token(rates: Rates, owner: str, rate: Rate, *, now: datetime, what: str) -> None:
    """Count one of `owner`'s `what`. Raise 429 where it came too soon after the ones before."""
    wait = rates.take(owner, rate, now=now)
    if wait:
        often = f"{rate.at_once} {what} at once and one more every {rate.every.total_seconds():g} seconds"
        raise TooManyRequestsError(f"you may ask for {often} here", after_s=math.ceil(wait.total_seconds()))


@asynccontextmanager
async def take_turn(turns: OwnerLimiter, owner: str, *, most: int, within_s: float, what: str) -> AsyncIterator[None]:
    """Hold a turn of `owner` for as long as the block takes.

    Raises 429 at once where `most` of `owner` are under way or waiting, and when the wait takes `within_s` seconds.
    """
    if turns.count(owner) >= most:
        raise TooManyRequestsError(
            f"you have {most} {what} under way or waiting here, which is the most one owner may have", after_s=1
        )
    try:
        async with asyncio.timeout(within_s):
            await turns.take(owner)
    except TimeoutError:
        raise TooManyRequestsError(f"your other {what} took longer than {within_s:g} seconds", after_s=5) from None
    try:
        yield
    finally:
        turns.give(owner)
