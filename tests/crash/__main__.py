"""`make crash`: every story, killed at every point in every way, by processes that really die, on a real Firestore protocol."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.bars import Record, broken
from tests.crash.points import Point, targets
from tests.crash.scene import Scene, forkserver, scene
from tests.crash.stories import STORIES, Story

AT_ONCE = 4
"""Runs under way together."""


@dataclass
class Score:
    """How many points were met, and what was found there; each finding opens with the rule that was broken."""

    points: int = 0
    found: list[str] = field(default_factory=list)

    def of(self, *rules: str) -> int:
        return sum(each.partition(": ")[2].startswith(rules) for each in self.found)


async def run(place: Scene, stories: tuple[Story, ...], *, step: int, score: Score) -> None:
    """Play `stories` whole, and then killed at every `step`-th of their points."""
    begun = time.monotonic()
    together = asyncio.Semaphore(AT_ONCE)
    for story in stories:
        whole = await place.play(story)
        score.found += [f"{story.name} (uninterrupted): {each}" for each in broken(whole.record)]
        chosen = targets(whole.passed)[::step]

        async def one(number: int, point: Point, way: str, story: Story = story, whole: Record = whole.record) -> None:
            async with together:
                played = await place.play(story, point, way, together=2 if number % 5 == 0 else 1, impatient=number % 5 == 1)
            score.points += 1
            where = f"{story.name}, {point} ({way})"
            if not played.hit:
                score.found.append(f"{where}: lost: the point was not reached")
            score.found += [f"{where}: {each}" for each in broken(played.record, whole)]

        async with asyncio.TaskGroup() as group:
            for number, (point, way) in enumerate(chosen):
                group.create_task(one(number, point, way))
        seconds = time.monotonic() - begun
        print(f"{story.name:>10}  {len(chosen):>4} points  {len(score.found)} findings so far  {seconds:5.0f} s", flush=True)


async def main(folder: Path, stories: tuple[Story, ...], step: int) -> int:
    score = Score()
    context = forkserver()
    async with scene(folder, context) as place:
        await run(place, stories, step=step, score=score)
    for each in score.found:
        print(each)
    rules = Counter(each.partition(": ")[2].partition(":")[0] for each in score.found)
    if rules:
        print(", ".join(f"{count} {rule}" for rule, count in sorted(rules.items())))
    print(
        f"{score.points} points, {score.of('lost', 'audit')} lost, {score.of('doubled', 'charged', 'ledger', 'purse')} doubled"
    )
    return 1 if score.found or not score.points else 0


if __name__ == "__main__":
    asked = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    asked.add_argument("--story", action="append", help="only this story (again for more)")
    asked.add_argument("--step", type=int, default=1, help="meet every so many-th point only")
    chosen = asked.parse_args()
    told = tuple(story for story in STORIES if not chosen.story or story.name in chosen.story)
    with tempfile.TemporaryDirectory(prefix="crash-") as made:
        sys.exit(asyncio.run(main(Path(made), told, chosen.step)))
