"""Checks on the event loop: of small texts, in a few milliseconds at the very most; any other text is read in a worker.

To hand a small text to a worker process costs more than to read it. What may be read here is bounded twice: by its characters,
and by the steps of the scanner, which are spent on every decoded form before it is read. A text that takes more is read by a
worker from its beginning, and for a second its owner has none read here: so an owner of hostile texts stops the event loop for
a few milliseconds a second.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.http.request import Template
from ferryman.egress import checks, leaks
from ferryman.egress.leaks import SecretScanner
from ferryman.egress.scanner_cache import get_task

CHARACTERS_MAX, VALUES_MAX, HEADERS_MAX = 2_048, 256, 100
TURN_CHARACTERS_MAX = 256
"""Of a model's turn, whose fields are read alone and together: an honest one of this length takes about as many steps."""

STEPS_MAX = 600_000
"""An honest text of 1 KB takes 100,000 to 200,000, and twice that where it is all numbers; a hostile one takes millions."""

PAUSE_S = 1.0
OWNERS_MAX = 1_024

UNREAD = object()
"""Returned in place of an answer: the text is for a worker to read."""

_paused: dict[str, float] = {}
_building: dict[tuple[str, str], asyncio.Future[None]] = {}
_drops: dict[asyncio.AbstractEventLoop, asyncio.TimerHandle] = {}


async def check(owner: str, credentials: Collection[Credential], function: Callable[..., Any], *arguments: Any) -> Any:
    """Return `function(*arguments)`, a function of `checks` for small texts, or `UNREAD`.

    Raise only its own `CallRefusedError`: of any other error a worker tells.
    """
    if _paused and _is_paused(owner):
        return UNREAD
    if checks.scanners.find(credentials) is None:
        await _build_once(credentials)
    try:
        return function(*arguments, steps=STEPS_MAX)
    except CallRefusedError:
        raise
    except Exception:  # noqa: BLE001 - a worker meets it again, and tells
        _pause(owner)
        return UNREAD


def is_small(*values: Any, most: int = CHARACTERS_MAX) -> bool:
    """Tell whether the texts in JSON values are few and at most `most` characters together; asking this is bounded too."""
    room, count = most, 0
    stack: list[Any] = [values]
    while stack:
        outer = stack.pop()
        count += len(outer)
        if count > VALUES_MAX:
            return False
        if isinstance(outer, Mapping):
            room -= sum(map(len, map(str, outer)))
            outer = tuple(outer.values())
        for inner in outer:
            if isinstance(inner, str | bytes):
                room -= len(inner)
            elif isinstance(inner, Mapping | list | tuple):
                stack.append(inner)
            elif isinstance(inner, Template):
                room -= len(str(inner))
            elif isinstance(inner, int) and inner.bit_length() > 64:
                return False
        if room < 0:
            return False
    return True


async def _build_once(credentials: Collection[Credential]) -> None:
    """Build the scanner of a task; its other calls that want one meanwhile wait for it."""
    task = get_task(credentials)
    building = _building.get(task)
    if building is None or building.get_loop() is not asyncio.get_running_loop():
        building = _building[task] = asyncio.ensure_future(_build(credentials))
        building.add_done_callback(lambda _: _building.pop(task, None))
    await asyncio.shield(building)


async def _build(credentials: Collection[Credential]) -> None:
    """Build a scanner and keep it, with a turn of the event loop for each credential."""
    prepared = []
    for credential in credentials:
        prepared.append(leaks.prepare(credential))
        await asyncio.sleep(0)
    scanner = SecretScanner(prepared=prepared)
    for _ in scanner.prepare_pieces():
        await asyncio.sleep(0)
    checks.scanners.keep(credentials, scanner)
    _drop_in_time()


def _drop_in_time() -> None:
    """Have the event loop drop scanners that are no longer used, also where no call comes any more."""
    loop = asyncio.get_running_loop()
    for ended in [other for other in _drops if other.is_closed()]:
        del _drops[ended]
    if loop not in _drops:
        _drop(loop)


def _drop(loop: asyncio.AbstractEventLoop) -> None:
    left_s = checks.scanners.drop_old()
    if left_s is None:
        _drops.pop(loop, None)
    else:
        _drops[loop] = loop.call_later(left_s + 0.1, _drop, loop)


def _is_paused(owner: str) -> bool:
    now = time.monotonic()
    for ended in [other for other, until in _paused.items() if until <= now]:
        del _paused[ended]
    return owner in _paused


def forget_pauses() -> None:
    """Let texts of all owners be read here again."""
    _paused.clear()


def _pause(owner: str) -> None:
    if len(_paused) < OWNERS_MAX:
        _paused[owner] = time.monotonic() + PAUSE_S
