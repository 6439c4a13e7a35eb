"""`make foreign`: 2,000 arbitrary documents in the place of executions, written by Google's own client and delivered."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter

from hypothesis import HealthCheck, given, settings

from tests.campaigns.foreign.arbitrary import Deployment, deploy, documents, is_sound

DOCUMENTS = 2_000


def try_documents(count: int) -> tuple[int, int]:
    """Deliver `count` documents to one deployment. Return how many there were, and how many had to be admitted and were."""
    tried: Counter[bool] = Counter()

    async def campaign() -> None:
        async with deploy() as deployment:
            await asyncio.to_thread(attempt, deployment, asyncio.get_running_loop())

    def attempt(deployment: Deployment, loop: asyncio.AbstractEventLoop) -> None:
        @settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(documents)
        def check(document: dict[str, object]) -> None:
            async def deliver() -> None:
                try:
                    assert await deployment.find_change(document) is None
                    is_started = await deployment.stores.executions.get("order-42") is not None
                    assert is_started or not is_sound(document), "a sound request was not admitted"
                    tried[is_started] += 1
                finally:
                    await deployment.clear()

            asyncio.run_coroutine_threadsafe(deliver(), loop).result()

        check()

    asyncio.run(campaign())
    return tried.total(), tried[True]


def main() -> int:
    """Run the campaign, and say how it ended."""
    tried, admitted = try_documents(DOCUMENTS)
    print(f"{tried} documents, {admitted} of them started a run, 0 changed anything else")
    return 0


if __name__ == "__main__":
    sys.exit(main())
