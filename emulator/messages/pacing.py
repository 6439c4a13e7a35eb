"""Pacing: a reply streamed as a model writes it, slowly and word by word, with pings, and broken off where a script says so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass

from emulator.reading import InvalidRequestError, read_member, read_object, refuse_unknown

SECONDS_MAX = 60.0
DELTA = b"event: content_block_delta\n"


class BrokenOffError(Exception):
    """The stream ends here, without its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How a step is streamed: seconds before its first delta and between deltas, so many `characters` in each, or a word where
    it is None, and a ping after every `ping_every` deltas, 0 for none.

    The first `times` times that the step is asked for, the stream ends after `breaks_after` deltas, None for never: with an
    event of the error `fails_with`, or with a connection that closes.
    """

    first_s: float = 0.0
    delay_s: float = 0.0
    characters: int | None = None
    ping_every: int = 0
    breaks_after: int | None = None
    fails_with: str | None = None
    times: int = 1


def read_pace(value: object, where: str) -> Pace:
    """Return a pace from JSON, in milliseconds; raise InvalidRequestError."""
    source = read_object(value, where)
    refuse_unknown(source, ["first_ms", "delay_ms", "characters", "ping_every", "breaks_after", "error", "times"], where)
    return Pace(
        first_s=_read_seconds(source, "first_ms", where),
        delay_s=_read_seconds(source, "delay_ms", where),
        characters=_read_count(source, "characters", where, None) or None,
        ping_every=_read_count(source, "ping_every", where, 0) or 0,
        breaks_after=_read_count(source, "breaks_after", where, None),
        fails_with=read_member(source, "error", str, where, None),
        times=_read_count(source, "times", where, 1) or 1,
    )


async def pace_events(events: Iterable[bytes], pace: Pace, *, breaks: bool) -> AsyncIterator[bytes]:
    """Yield the events of a stream one by one, at this pace. Raise `BrokenOffError` where it `breaks` and the time has come."""
    count = 0
    for event in events:
        if event.startswith(DELTA):
            if breaks and count == pace.breaks_after:
                if pace.fails_with is None:
                    raise BrokenOffError
                yield _write_error(pace.fails_with)
                return
            await asyncio.sleep(pace.delay_s if count else pace.first_s)
            count += 1
            if pace.ping_every and count % pace.ping_every == 0:
                yield b'event: ping\ndata: {"type": "ping"}\n\n'
        yield event


def _write_error(kind: str) -> bytes:
    body = {"type": "error", "error": {"type": kind, "message": kind.removesuffix("_error").replace("_", " ").capitalize()}}
    return f"event: error\ndata: {json.dumps(body)}\n\n".encode()


def _read_seconds(source: Mapping[str, object], name: str, where: str) -> float:
    seconds = read_member(source, name, float, where, 0.0) / 1000
    if not 0 <= seconds <= SECONDS_MAX:
        raise InvalidRequestError(f"{where}.{name} must be 0 to {SECONDS_MAX * 1000:.0f}")
    return seconds


def _read_count(source: Mapping[str, object], name: str, where: str, default: int | None) -> int | None:
    count = read_member(source, name, int, where, default)
    if count is not None and count < 0:
        raise InvalidRequestError(f"{where}.{name} must be at least 0, not {count}")
    return count
