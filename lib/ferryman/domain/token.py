"""Tokens: what was fetched for a declared tool's auth, at rest; who fetches one just now; how long one is used."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import datetime

from ferryman.domain.stale import Stale

LIFETIME_S = 3_000
"""How long a token is used when nobody says how long it lives (S1-30)."""

LIFETIME_S_MAX = 86_400
"""Nobody keeps one longer than a day, whatever the other end says."""

MARGIN_S = 30
"""So much sooner than it expires it is fetched anew: it still has to travel, and clocks differ (S1-30)."""

TOKEN_CHARACTERS_MIN = 16
"""Below this, a token that leaks cannot be told from chance."""

TOKEN_CHARACTERS_MAX = 8_192
ANSWER_BYTES_MAX = 65_536


def used_s(cache_ttl: float | None, told: float | None) -> int:
    """For how many seconds a token is used: `cache_ttl`, or what the endpoint `told`, or `LIFETIME_S`, less the margin (S1-30).

    0 is a token for those alone who wait for it now.
    """
    lives = next((each for each in (cache_ttl, told) if each is not None and not math.isnan(each)), LIFETIME_S)
    return int(max(MARGIN_S, min(lives, LIFETIME_S_MAX))) - MARGIN_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token, sealed to the key holders. `fetch` names the fetch that brought it, so that it can be told from a newer one."""

    fetch: str
    ciphertext: bytes = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """Somebody who fetches a token just now; after `until` he is taken to be dead."""

    name: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What is kept of an owner's token for one auth: the token, if there is one, and who fetches one.

    `task` is the one whose credentials brought it, "" where none were used. `former` was good no more for us; elsewhere it may
    still be.
    """

    owner: str
    task: str = ""
    token: Token | None = None
    former: Token | None = None
    fetch: Fetch | None = None

    def good(self, *, stale: str | None, now: datetime) -> Token | None:
        """The token, when it may be used: not expired, and not the one that the fetch `stale` brought."""
        token = self.token
        return token if token is not None and token.fetch != stale and now < token.expires_at else None

    def busy(self, now: datetime) -> bool:
        """Whether somebody fetches one."""
        return self.fetch is not None and now < self.fetch.until


def taken(slot: Slot | None, owner: str, task: str, fetch: Fetch, *, stale: str | None, now: datetime) -> Slot:
    """The slot with `fetch` at work and without the token that is good no more; as it stands where there is nothing to fetch.

    The very same object is answered then: there is a good token, or somebody else is at it.
    """
    if slot is not None and (slot.good(stale=stale, now=now) is not None or slot.busy(now)):
        return slot
    former = (slot.token or slot.former) if slot is not None else None
    return Slot(owner=owner, task=task, former=former, fetch=fetch)


def brought(slot: Slot | None, token: Token) -> Slot:
    """The slot with what its fetch brought; raises `Stale` when another has taken over."""
    if slot is None or slot.fetch is None or slot.fetch.name != token.fetch:
        raise Stale("another fetch has taken over")
    return replace(slot, token=token, fetch=None)


def left(slot: Slot | None, fetch: str) -> Slot | None:
    """The slot after `fetch` brought nothing, or None where it is not that one's any more."""
    if slot is None or slot.fetch is None or slot.fetch.name != fetch:
        return None
    return replace(slot, fetch=None)
