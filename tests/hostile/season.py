"""A season: plays on one stage, several at a time, and the judge's word on each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.evidence import gathered
from tests.hostile.judge import Verdict, verdict
from tests.hostile.perform import cast, perform
from tests.hostile.play import Play
from tests.hostile.stage import Stage, raised

AT_ONCE = 16

Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Season:
    """How many plays there were, and what became of them."""

    plays: int
    verdict: Verdict
    seconds: float


async def season(plays: Sequence[Play], *, source: Path | None = None, tell: Tell = lambda _, __: None) -> Season:
    """Play them on a stage of their own; `tell` hears how many have ended, of how many."""
    began = time.monotonic()
    async with raised(source) as stage:
        found = await played(stage, plays, tell)
    return Season(plays=len(plays), verdict=found, seconds=time.monotonic() - began)


async def played(stage: Stage, plays: Sequence[Play], tell: Tell = lambda _, __: None) -> Verdict:
    """What became of `plays` on `stage`."""
    gate, ended = asyncio.Semaphore(AT_ONCE), 0
    performed = [cast(play) for play in plays]

    async def one(number: int) -> None:
        nonlocal ended
        async with gate:
            await perform(stage, performed[number])
        ended += 1
        tell(ended, len(plays))

    # the longest first: the others fit in between
    await asyncio.gather(*(one(number) for number in sorted(range(len(plays)), key=lambda number: -_calls(plays[number]))))
    return verdict(await gathered(stage, performed), performed)


def _calls(play: Play) -> int:
    return sum(1 + len(turn.get("tool_calls", ())) for turn in play.turns) + 10 * play.victim
