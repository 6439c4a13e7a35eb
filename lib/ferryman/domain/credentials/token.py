"""Fetched tokens at rest: what is kept of a declared tool's auth, which instance fetches one, and how long one is used."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ferryman.domain.stale import StaleError

LIFETIME_S = 3_000
"""How long a token is used when neither its owner nor its endpoint says how long it lives (S1-30)."""

LIFETIME_S_MAX = 86_400
"""No token is kept longer than a day, whatever its endpoint says."""

KNOWN = timedelta(seconds=LIFETIME_S_MAX)
"""For how long after its time a token is still scanned for: it may be good at its service when it is no longer used."""

FORMER_MAX = 5
"""How many former tokens of one auth are kept, the newest: each takes time to open and to scan for in every call."""

MARGIN_S = 30
"""So much sooner than it expires a token is fetched again: it still has to travel, and clocks differ (S1-30)."""


def compute_use_s(cache_ttl: float | None, expires_in_s: float | None) -> int:
    """Return for how many seconds a token is used: `cache_ttl`, else what the endpoint said, less the margin (S1-30).

    0 is a token for those alone who wait for it now.
    """
    known = (seconds for seconds in (cache_ttl, expires_in_s) if seconds is not None and not math.isnan(seconds))
    return int(max(MARGIN_S, min(next(known, LIFETIME_S), LIFETIME_S_MAX))) - MARGIN_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token, sealed to the key holders. `fetch` names the fetch that brought it, so that it can be told from a newer one."""

    fetch: str
    ciphertext: bytes = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """A fetch that is under way; after `until` its instance is taken to be dead."""

    name: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSlot:
    """What is kept of an owner's token for one auth: the token, if there is one, and the fetch that is under way.

    `task` is the one whose credentials brought it, "" where none were used. `former` are tokens that are no longer used, the
    newest first; at their service they may still be good.
    """

    owner: str
    task: str = ""
    token: Token | None = None
    former: tuple[Token, ...] = ()
    fetch: Fetch | None = None

    def usable_token(self, *, stale: str | None, now: datetime) -> Token | None:
        """Return the token if it may be used: not expired, and not the one that the fetch `stale` brought."""
        token = self.token
        return token if token is not None and token.fetch != stale and now < token.expires_at else None

    def is_claimed(self, now: datetime) -> bool:
        """Tell whether a fetch is under way."""
        return self.fetch is not None and now < self.fetch.until


def claim_fetch(slot: TokenSlot | None, owner: str, task: str, fetch: Fetch, *, stale: str | None, now: datetime) -> TokenSlot:
    """Return the slot with `fetch` under way and without a token that is no longer usable.

    Where there is a usable token, or another fetch is under way, the very same object is returned.
    """
    if slot is not None and (slot.usable_token(stale=stale, now=now) is not None or slot.is_claimed(now)):
        return slot
    ended = () if slot is None else (*((slot.token,) if slot.token else ()), *slot.former)
    former = tuple(token for token in ended if now < token.expires_at + KNOWN)[:FORMER_MAX]
    return TokenSlot(owner=owner, task=task, former=former, fetch=fetch)


def finish_fetch(slot: TokenSlot | None, token: Token) -> TokenSlot:
    """Return the slot with what its fetch brought. Raise `StaleError` where another fetch has taken over."""
    if slot is None or slot.fetch is None or slot.fetch.name != token.fetch:
        raise StaleError("another fetch has taken over")
    return replace(slot, token=token, fetch=None)


def release_fetch(slot: TokenSlot | None, fetch: str) -> TokenSlot | None:
    """Return the slot after `fetch` brought nothing, or None where another fetch has taken over."""
    if slot is None or slot.fetch is None or slot.fetch.name != fetch:
        return None
    return replace(slot, fetch=None)
