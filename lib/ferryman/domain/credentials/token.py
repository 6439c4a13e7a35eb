"""Fetched tokens of declared tools at rest: which instance fetches one (single-flight), and for how long it is used."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ferryman.domain.stale import StaleError

LIFETIME_S = 3_000  # how long a token is used where neither its owner nor its endpoint states a lifetime (S1-30)
LIFETIME_S_MAX = 86_400  # no token is kept longer than a day, whatever lifetime its endpoint states
KNOWN = timedelta(seconds=LIFETIME_S_MAX)
"""For how long after its expiry texts are scanned for a token: its service may still accept it."""

FORMER_MAX = 5
"""How many former tokens of one auth are kept, the newest: each takes time to open and to scan for in every call."""

MARGIN_S = 30  # a token is fetched again so many seconds before it expires: requests take time, and clocks differ (S1-30)


def compute_use_s(cache_ttl: float | None, expires_in_s: float | None) -> int:
    """Return for how many seconds a token is used: `cache_ttl`, else what the endpoint stated, less the margin (S1-30).

    A token of 0 seconds is used only by the calls that wait for it now.
    """
    known = (seconds for seconds in (cache_ttl, expires_in_s) if seconds is not None and not math.isnan(seconds))
    return int(max(MARGIN_S, min(next(known, LIFETIME_S), LIFETIME_S_MAX))) - MARGIN_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token, sealed to the key holders. `fetch` is the id of its fetch, which tells it from a newer token."""

    fetch: str
    ciphertext: bytes = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """A fetch that is under way; after `until` its instance counts as dead."""

    name: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSlot:
    """The stored state of an owner's token for one auth: the token, if any, and the fetch that is under way.

    `task` is the one whose credentials fetched it, "" where none were used. `former` are tokens that are no longer used, the
    newest first; their service may still accept them.
    """

    owner: str
    task: str = ""
    token: Token | None = None
    former: tuple[Token, ...] = ()
    fetch: Fetch | None = None

    @property
    def tokens(self) -> tuple[Token, ...]:
        """All tokens in the slot, the newest first."""
        return (*((self.token,) if self.token else ()), *self.former)

    def find_usable_token(self, *, stale: str | None, now: datetime) -> Token | None:
        """Return the token if it may be used: not expired, and not from the fetch `stale`."""
        token = self.token
        return token if token is not None and token.fetch != stale and now < token.expires_at else None

    def is_claimed(self, now: datetime) -> bool:
        """Tell whether a fetch is under way."""
        return self.fetch is not None and now < self.fetch.until


def claim_fetch(slot: TokenSlot | None, owner: str, task: str, fetch: Fetch, *, stale: str | None, now: datetime) -> TokenSlot:
    """Return the slot with `fetch` under way and without a token that is no longer usable.

    Where the token is usable, or another fetch is under way, return the same object.
    """
    if slot is not None and (slot.find_usable_token(stale=stale, now=now) is not None or slot.is_claimed(now)):
        return slot
    ended = () if slot is None else slot.tokens
    former = tuple(token for token in ended if now < token.expires_at + KNOWN)[:FORMER_MAX]
    return TokenSlot(owner=owner, task=task, former=former, fetch=fetch)


def finish_fetch(slot: TokenSlot | None, token: Token) -> TokenSlot:
    """Return the slot with the token of its fetch. Raise `StaleError` where another fetch has taken over."""
    if slot is None or slot.fetch is None or slot.fetch.name != token.fetch:
        raise StaleError("another fetch has taken over")
    return replace(slot, token=token, fetch=None)


def release_fetch(slot: TokenSlot | None, fetch: str) -> TokenSlot | None:
    """Return the slot after `fetch` failed, or None where another fetch has taken over."""
    if slot is None or slot.fetch is None or slot.fetch.name != fetch:
        return None
    return replace(slot, fetch=None)
