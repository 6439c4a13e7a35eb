"""Rotation: a new version of the sealing key, all that is stored sealed to it, the old ones retired.

Nothing is noted about how far it came: every step looks at what is there. Killed anywhere, the next one goes on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from ferryman import ports
from ferryman.domain.keys import Held, KeyVersion
from ferryman.vault import seal, sign


class Idle(Exception):  # noqa: N818 - reads as the fact it states
    """There is nothing to rotate: the house has no key yet."""


class Ring(Protocol):
    """All versions of one key, as its operator has them. Raises `ports.Unavailable`."""

    async def versions(self) -> Sequence[KeyVersion]: ...
    async def private(self, version: int) -> bytes: ...
    async def add(self, private: bytes) -> int: ...
    async def enable(self, version: int) -> None: ...
    async def disable(self, version: int) -> None: ...


class Holdings(Protocol):
    """What is sealed. `calls` counts those that are not over, by version; `begun_before` the executions still under way."""

    async def credentials(self) -> Sequence[Held]: ...
    async def calls(self) -> Mapping[int, int]: ...
    async def begun_before(self, moment: datetime) -> int: ...


class Publication(Protocol):
    """The public halves as the functions have them. Each method is repeatable, and returns when new instances have it.

    An instance that was there before may go on with the old one for `drains`, in the executions it had begun.
    """

    drains: timedelta

    async def sealing(self, public: str) -> None: ...
    async def receipts(self, public: Mapping[int, str]) -> None: ...
    async def receipts_served(self) -> Mapping[int, str]: ...


class Resealer(Protocol):
    """Has a key holder seal a task's credentials anew; answers the names of those that do not open."""

    async def reseal(self, task: str, *, version: int) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What a rotation is given. `pause` is awaited between two looks at what is still under way; `tell` hears of each step."""

    ring: Ring
    holdings: Holdings
    publication: Publication
    resealer: Resealer
    clock: ports.Clock
    pause: Callable[[], Awaitable[None]]
    tell: Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """How it ended: the version that all is sealed to, those that were retired, and the credentials that open with none."""

    version: int
    retired: tuple[int, ...]
    unreadable: tuple[tuple[str, str], ...]


async def rotate(house: House) -> Rotated:
    """Rotate the sealing key, or go on with a rotation that was broken off: one that left two versions enabled.

    Executions run on meanwhile: an old version is disabled when no credential and no call that is not over is sealed to it.
    """
    enabled = _enabled(await house.ring.versions())
    if not enabled:
        raise Idle("there is no sealing key yet; it is made when the house is set up")
    if len(enabled) == 1:
        newest = await house.ring.add(seal.generate())
        house.tell(f"version {newest} is added; version {enabled[0]} stays readable until nothing is sealed to it")
    else:
        newest = enabled[-1]
        house.tell(f"going on with version {newest}")
    await house.publication.sealing(seal.text_of(newest, seal.public_of(await house.ring.private(newest))))
    published = house.clock.now()
    house.tell(f"new credentials and calls are sealed to version {newest}")
    retired: set[int] = set()
    unreadable: set[Held] = set()
    while True:
        await _emptied(house, newest, published, unreadable)
        old = [each for each in _enabled(await house.ring.versions()) if each != newest]
        for each in old:
            await house.ring.disable(each)
            retired.add(each)
            house.tell(f"version {each} is disabled")
        # something may have been sealed to it between the look and the turn of the key
        if not await _left(house, newest, unreadable):
            return Rotated(
                version=newest,
                retired=tuple(sorted(retired)),
                unreadable=tuple(sorted((each.task, each.name) for each in unreadable)),
            )


async def _emptied(house: House, newest: int, published: datetime, unreadable: set[Held]) -> None:
    """Return when nothing that matters is sealed to an older version than `newest`, nor can be any more."""
    said = ""
    while left := await _left(house, newest, unreadable):
        await _readable(house, left)
        for task in sorted({each.task for each in await _stale(house, newest, unreadable)}):
            names = await house.resealer.reseal(task, version=newest)
            unreadable |= {each for each in await house.holdings.credentials() if each.task == task and each.name in names}
        calls = sum(count for version, count in (await house.holdings.calls()).items() if version < newest)
        if calls:
            said = _once(house, said, f"waiting for {calls} calls under way that are sealed to an old version")
            await house.pause()
    while house.clock.now() < published + house.publication.drains and (begun := await house.holdings.begun_before(published)):
        said = _once(house, said, f"waiting for {begun} executions that began before")
        await house.pause()
    if await _left(house, newest, unreadable):
        await _emptied(house, newest, published, unreadable)


async def _left(house: House, newest: int, unreadable: set[Held]) -> set[int]:
    """The older versions that something is sealed to."""
    stale = {each.version for each in await _stale(house, newest, unreadable)}
    return stale | {version for version, count in (await house.holdings.calls()).items() if version < newest and count}


async def _stale(house: House, newest: int, unreadable: set[Held]) -> list[Held]:
    return [each for each in await house.holdings.credentials() if each.version < newest and each not in unreadable]


async def _readable(house: House, versions: Iterable[int]) -> None:
    """Enable those of `versions` that were disabled: after a backup was restored, or when something slipped in."""
    known = {each.number: each for each in await house.ring.versions()}
    for each in sorted(set(versions) & known.keys()):
        if not known[each].enabled:
            await house.ring.enable(each)
            house.tell(f"version {each} is enabled again, for what is still sealed to it")


def _once(house: House, said: str, text: str) -> str:
    if text != said:
        house.tell(text)
    return text


async def rotate_receipts(house: House) -> int:
    """Add a version to the receipt key and to the public keys that are handed out; the version receipts are now signed with.

    Old versions stay, so that their public halves go on being served. One that was added and never published is taken up.
    """
    enabled = _enabled(await house.ring.versions())
    if not enabled:
        raise Idle("there is no receipt key yet; it is made when the house is set up")
    served = await house.publication.receipts_served()
    if enabled[-1] in served:
        enabled.append(await house.ring.add(sign.generate()))
        house.tell(f"version {enabled[-1]} is added")
    halves = {each: sign.public_of(await house.ring.private(each)).hex() for each in enabled}
    await house.publication.receipts({**served, **halves})
    house.tell(f"receipts are signed with version {enabled[-1]}")
    return enabled[-1]


def _enabled(versions: Iterable[KeyVersion]) -> list[int]:
    return sorted(each.number for each in versions if each.enabled)
