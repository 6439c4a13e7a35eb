"""The campaign: every attempt goes through the function as it is served, and what it answers is counted."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from ferryman.catalog.tools import TOOLS
from tests.campaigns.signed_requests.mutations import Attempt, Mutator
from tests.tools.platform_tools.rig import CALLER, Rig

GOOD_EVERY = 10
"""After so many bad attempts comes a good one, and the same again, which is a replay."""

OK = 200


@dataclass
class Verdict:
    """What came of a campaign."""

    attempts: Counter[str] = field(default_factory=Counter)
    accepted: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    good: int = 0
    ran: int = 0
    """How many tools ran."""

    def __str__(self) -> str:
        lines = [f"{kind:<42} {count:>6,}" for kind, count in sorted(self.attempts.items())]
        last = (
            f"{self.attempts.total():,} mutations and replays, {len(self.accepted)} accepted; "
            f"{self.good:,} good requests, {len(self.refused)} refused"
        )
        return "\n".join([*lines, last])


async def run_campaign(count: int, seed: int) -> Verdict:
    """Return what came of `count` mutations and replays: every bit of one token and of one body, and others at random."""
    os.environ["FERRYMAN_CALLERS"] = f'["{CALLER}"]'
    rig, random, verdict = await Rig().fill(), Random(seed), Verdict()
    mutator = Mutator(rig=rig, random=random)
    bits = [*mutator.iterate_bits(), *mutator.iterate_body_bits()]
    if len(bits) > count // 2:
        bits = random.sample(bits, count // 2)
    remaining = iter([*bits, *(None for _ in range(count - len(bits)))])
    while batch := [*islice(remaining, GOOD_EVERY)]:
        for attempt in batch:
            await _try(rig, attempt or mutator.build_other(), verdict)
        good = mutator.build_good()
        await _try(rig, good, verdict)
        replay = Attempt(kind="a replay", request=good.request, headers=good.headers, authorization=good.authorization)
        await _try(rig, replay, verdict)
    assert all(name in TOOLS for name in ("cron_list",)), "the tools of the attempts are there"
    return verdict


async def _try(rig: Rig, attempt: Attempt, verdict: Verdict) -> None:
    """Send an attempt. A good one has to be answered with 200, any other with an error, and no tool may have run for it."""
    before = _count_runs(rig)
    answer = await rig.send(attempt.request, attempt.headers, attempt.authorization)
    ran = _count_runs(rig) - before
    verdict.ran += ran
    if attempt.is_good:
        verdict.good += 1
        if answer.status_code != OK or ran != 1:
            verdict.refused.append(f"{answer.status_code}: {answer.text[:200]}")
        return
    verdict.attempts[attempt.kind] += 1
    if answer.status_code == OK or ran:
        verdict.accepted.append(f"{attempt.kind}: {answer.status_code}, {ran} tools ran, {attempt.request.path}")


def _count_runs(rig: Rig) -> int:
    """Return how many tools ran so far: each has a span of its own."""
    return sum(span.name.startswith("execute ") for span in rig.tracer.spans)
