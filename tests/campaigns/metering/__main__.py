"""`python -m tests.campaigns.metering`: 100,000 usage events in memory, and 4,000 on the Firestore protocol.

Turns are committed up to five times in any order, a week late; rounds are delivered up to five times to workers of which some
die, and the queue loses some. Every roll-up is then compared with the ledger, to the unit. `--events` and `--seed` change it.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time

from tests.campaigns.metering.counted import CountingInterceptor
from tests.campaigns.metering.dashboard import count_reads
from tests.campaigns.metering.deliveries import Delivery
from tests.campaigns.metering.judge import find_wrong
from tests.campaigns.metering.unwritten import write_words
from tests.contracts.conftest import in_memory, on_google_cloud

EVENTS = 100_000
ON_FIRESTORE = 25
"""One of so many events is on the Firestore protocol."""


async def run_in_memory(events: int, seed: int, **slices: int) -> tuple[Delivery, list[str]]:
    """Run the campaign in memory; return it with what it found."""
    async with in_memory() as stores:
        delivery = Delivery(stores=stores, events=events, random_=random.Random(seed), **slices)
        await delivery.perform()
        return delivery, await find_wrong(delivery)


async def run_on_firestore(events: int, seed: int, **slices: int) -> tuple[Delivery, CountingInterceptor, list[str]]:
    """Run the campaign on the Firestore protocol, where answers are lost as well; return what it found."""
    counted = CountingInterceptor()
    async with on_google_cloud(counted) as stores:
        delivery = Delivery(stores=stores, events=events, random_=random.Random(seed), **slices)
        counted.second = lambda: int(delivery.clock.now().timestamp())
        delivery.before_rounds = lambda: setattr(counted, "random_", random.Random(seed + delivery.rounds))
        delivery.after_rounds = lambda: setattr(counted, "random_", None)
        await delivery.perform()
        return delivery, counted, await find_wrong(delivery)


def describe(where: str, delivery: Delivery, findings: list[str], seconds: float) -> str:
    """Return what the campaign did, in a line."""
    did = f"{delivery.commits:,} deliveries of turns, {delivery.rounds:,} of rounds, {delivery.deaths:,} deaths"
    lost = f"{delivery.lost:,} rounds lost"
    return f"{where:>10}: {len(delivery.drawn):,} events, {did}, {lost}: {len(findings)} wrong, {seconds:.0f} s of CPU"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    begun = time.process_time()
    delivery, findings = asyncio.run(run_in_memory(options.events, options.seed))
    print(describe("memory", delivery, findings, time.process_time() - begun), flush=True)
    begun = time.process_time()
    on_firestore, counted, wrong = asyncio.run(run_on_firestore(options.events // ON_FIRESTORE, options.seed))
    print(describe("firestore", on_firestore, wrong, time.process_time() - begun), flush=True)
    print(f"           {counted.lost:,} answers lost; {counted.hottest[0]} writes a second of the document that has most")
    reads = asyncio.run(count_reads())
    print(f" dashboard: 90 days by tool, model, agent and day read {reads} documents")
    words, repeated = asyncio.run(write_words(options.events // 500, options.seed))
    print(f"     words: {words:,} written into prompts, arguments, results and names: {len(repeated)} in events and weeks")
    for item in [*findings, *wrong, *repeated]:
        print(item)
    return 1 if findings or wrong or repeated or reads > 40 or counted.hottest[0] > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
