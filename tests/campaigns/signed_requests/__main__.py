"""`python -m tests.campaigns.signed_requests`: mutated and replayed requests to the platform, and how many were accepted."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys

from tests.campaigns.signed_requests.campaign import run_campaign


def main() -> int:
    """Print what came of the campaign; return 1 where a bad request was accepted or a good one refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    options = parser.parse_args()
    verdict = asyncio.run(run_campaign(options.count, options.seed))
    for line in (*verdict.accepted[:20], *verdict.refused[:20]):
        print("WRONG", line)
    print(f"seed {options.seed}\n{verdict}")
    return 1 if verdict.accepted or verdict.refused else 0


if __name__ == "__main__":
    sys.exit(main())
