"""`python -m tests.campaigns.hostile.laundering NAME…`: run the scenarios whose names contain one of these, all without any."""

from __future__ import annotations

import asyncio
import json
import sys

from tests.campaigns.hostile.laundering.campaign import SCENARIOS, run


async def main(only: list[str]) -> None:
    """Print a line of JSON for each scenario: its name, what it got, why it missed, and its seconds of processor time."""
    for scenario in SCENARIOS:
        if any(text in scenario.name for text in only or [""]):
            outcome = await run(scenario)
            print(json.dumps([scenario.name, outcome.got, outcome.missed, round(outcome.cpu_s, 3)]), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
