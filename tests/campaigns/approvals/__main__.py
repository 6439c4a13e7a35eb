"""`make approvals`: bytes that change after a person approved, and approvals that nobody gave: how many calls left."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from contextlib import nullcontext

from tests.campaigns.approvals.campaign import Outcome, run
from tests.campaigns.approvals.stored import on_firestore

SHOWN_MAX = 20


def main() -> int:
    """Run the campaign; return 0 only where nothing left that should not, and nothing was asked about twice for nothing."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.approvals", description=__doc__)
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--forgeries", type=int, default=500)
    parser.add_argument("--renewals", type=int, default=500)
    parser.add_argument("--sends", type=int, default=100)
    parser.add_argument("--stored", action="store_true", help="on Firestore's protocol, in a process of its own")
    parser.add_argument("--seed", type=int, default=19)
    options = parser.parse_args()
    begun = time.process_time()
    outcome = asyncio.run(_run(options))
    for (part, kind, came), number in sorted(outcome.counts.items()):
        print(f"{part:<9} {kind:<34} {came:<8} {number:>6,}")
    mutations, forgeries = outcome.total("mutation"), outcome.total("forgery")
    print(
        f"{mutations:,} mutations: {outcome.total('mutation', 'asked'):,} asked again, {outcome.total('mutation', 'sent')} sent"
    )
    print(f"{outcome.total('renewal'):,} renewed tokens: {outcome.total('renewal', 'sent'):,} sent without asking again")
    print(f"{forgeries:,} forgeries: {outcome.total('forgery', 'sent')} accepted")
    print(f"{outcome.total('sends'):,} runs of sends: {outcome.total('sends', 'exact'):,} exact")
    print(f"{len(outcome.wrong)} wrong, {time.process_time() - begun:.1f} s of processor time")
    for sentence in outcome.wrong[:SHOWN_MAX]:
        print(f"WRONG  {sentence}")
    return 1 if outcome.wrong or not outcome.counts else 0


async def _run(options: argparse.Namespace) -> Outcome:
    async with on_firestore() if options.stored else nullcontext():
        return await run(
            options.mutations,
            forgeries=options.forgeries,
            renewals=options.renewals,
            sends=options.sends,
            seed=options.seed,
            tell=lambda line: print(line, flush=True),
        )


if __name__ == "__main__":
    sys.exit(main())
