"""`make protocols`: generated answers in the protocols' own clients, and how many streams any of them refused."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

from tests.campaigns.streams.connecting import connect_clients
from tests.campaigns.streams.judging import Judge, NoJudgeError, install
from tests.campaigns.streams.protocols import Verdicts, judge_run

REFUSED_MAX = 20
EVERY = 200


async def judge_runs(runs: int, first: int) -> tuple[Verdicts, str]:
    """Have `runs` answers judged, from seed `first` on. Return the verdicts, and why a judge was missing, "" for none."""
    verdicts = Verdicts()
    try:
        node = await asyncio.to_thread(install)
    except NoJudgeError as error:
        for seed in range(first, first + runs):
            await judge_run(seed, None, verdicts)
        return verdicts, str(error)
    async with Judge(node) as judge:
        for seed in range(first, first + runs):
            await judge_run(seed, judge, verdicts)
            if (seed - first + 1) % EVERY == 0:
                print(f"{seed - first + 1} of {runs} runs, {len(verdicts.violations)} violations", flush=True)
    verdicts.violations += [f"on a local stack: {sentence}" for sentence in await connect_clients(node)]
    verdicts.counts["on a local stack"] += 3
    return verdicts, ""


def main() -> int:
    """Have the runs judged; return 0 only where nothing was refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.streams", description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000, help="how many answers are generated")
    parser.add_argument("--seed", type=int, default=0, help="of the first of them")
    options = parser.parse_args()
    begun = time.process_time()
    verdicts, missing = asyncio.run(judge_runs(options.runs, options.seed))
    for sentence in verdicts.violations[:REFUSED_MAX]:
        print(f"REFUSED  {sentence}")
    for kind, count in sorted(verdicts.counts.items()):
        print(f"{kind:<24} {count:>9,}")
    if missing:
        print(f"SKIPPED the clients of @ag-ui/client and ai: {missing}")
    seconds = time.process_time() - begun
    print(f"{options.runs:,} runs, {verdicts.frames:,} frames, {seconds:.1f} s of processor time besides the judges'")
    print(f"{len(verdicts.violations)} violations")
    return 1 if verdicts.violations or not verdicts.counts else 0


if __name__ == "__main__":
    sys.exit(main())
