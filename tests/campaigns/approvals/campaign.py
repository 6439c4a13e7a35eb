"""The campaign: mutations, renewals, forgeries and sends, and what came of each."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.campaigns.approvals.forgeries import FORGERIES, try_forgery
from tests.campaigns.approvals.mutations import try_mutation, try_renewal
from tests.campaigns.approvals.sends import try_sends, try_standing
from tests.campaigns.approvals.stored import close_stored


@dataclass
class Outcome:
    """How often each thing was tried, by kind and by what came of it; `wrong` is what must not be."""

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def count(self, part: str, kind: str, came: str, *, right: bool) -> None:
        self.counts[part, kind, came] += 1
        if not right:
            self.wrong.append(f"{part}, {kind}: {came}")

    def total(self, part: str, came: str | None = None) -> int:
        return sum(number for (of, _, as_), number in self.counts.items() if of == part and came in (None, as_))


async def run(
    mutations: int, *, forgeries: int, renewals: int, sends: int, seed: int, tell: Callable[[str], None] = lambda _: None
) -> Outcome:
    """Try so many of each."""
    rng, outcome = random.Random(seed), Outcome()
    for number in range(mutations):
        kind, came = await try_mutation(rng)
        await close_stored()
        outcome.count("mutation", kind, came, right=came == "asked")
        if (number + 1) % 1_000 == 0:
            tell(f"{number + 1:,} of {mutations:,} mutations, {len(outcome.wrong)} wrong")
    for _ in range(renewals):
        came = await try_renewal(rng)
        await close_stored()
        outcome.count("renewal", "a token was renewed", came, right=came == "sent")
    kinds = [*FORGERIES]
    for number in range(forgeries):
        kind = kinds[number % len(kinds)]
        came = await try_forgery(rng, kind)
        await close_stored()
        outcome.count("forgery", kind, came, right=came != "sent")
    for _ in range(sends):
        for kind, attempt in (("N sends, and one more", try_sends), ("standing, calls at once", try_standing)):
            wrong = await attempt(rng)
            outcome.count("sends", kind, "; ".join(wrong) or "exact", right=not wrong)
    return outcome
