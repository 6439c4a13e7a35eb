"""The soak: `python -m tests.campaigns.tenants --minutes 5` lets owners work at once, and finds what crossed between them.

While their executions run, each attempts what is the next one's. Then they work with and without a greedy owner beside them, in
turns, and how long their executions take is compared. It ends by itself. The last line has the figures, and the exit code says
what was found: 0 nothing, 1 that something crossed, 2 that it broke off, as where the API does not answer in time, and 3 that
executions beside a greedy owner take longer than the bar allows.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ferryman.stack.admin import Admin
from tests.campaigns.tenants.attack import attack
from tests.campaigns.tenants.greed import BAR, compare
from tests.campaigns.tenants.soaked import BREAKS, Soaked
from tests.campaigns.tenants.tenants import create_tenant, find_crossed, prepare, run_executions
from tests.campaigns.tenants.upstream import HOSTS, Upstream, serve_upstream
from tests.canaries import canary
from tests.canaries.plugin import search_run
from tests.stack import create_client, start_stack

EXECUTIONS = 6
"""Of each owner, at once."""

ROUND_S = 300.0
"""Seconds that a round may take; on an idle machine it takes 6."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--owners", type=int, default=3)
    parser.add_argument("--windows", type=int, default=4, help="of each kind, with and without a greedy owner; 0 leaves it out")
    parser.add_argument("--window-s", type=float, default=20.0)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ferryman-soak-"))
    for name in ("canaries", "kept", "tmp"):
        (folder / name).mkdir()
    os.environ |= {canary.RUN: str(folder), "FERRYMAN_LOG_LEVEL": "DEBUG"}
    soaked = Soaked()
    with start_stack(folder / "tmp" / "data") as stack:
        asyncio.run(_soak(soaked, stack, options.owners, options.minutes * 60))
    if options.windows and not soaked.code:
        # one of its own, which says as much as one does that is measured
        with start_stack(folder / "tmp" / "greed", FERRYMAN_LOG_LEVEL="INFO") as stack:
            asyncio.run(_greed(soaked, stack, owners=options.owners, windows=options.windows, window_s=options.window_s))
    done, *leaks = search_run(folder)
    soaked.crossed += leaks
    print(done)
    for line in [*soaked.attempts.succeeded, *soaked.attempts.disclosures, *soaked.crossed, *soaked.broken, *soaked.slow]:
        print(f"  {line}")
    if soaked.code:
        print(f"what the stack kept and logged is in {folder}")
    else:
        shutil.rmtree(folder)
    print(soaked.describe())
    return soaked.code


async def _soak(soaked: Soaked, stack: Mapping[str, Any], owners: int, seconds: float) -> None:
    """Run rounds for so many seconds, or until one finds something or breaks off."""
    ends = time.monotonic() + seconds
    async with Admin.from_note(stack) as admin, serve_upstream(Path(stack["data"])) as upstream:
        for host in HOSTS:
            await admin.map_host(host, upstream.port)
        while time.monotonic() < ends and not soaked.has_ended:
            try:
                async with asyncio.timeout(ROUND_S):
                    await _round(soaked, owners, stack, admin, upstream)
            except* BREAKS as error:
                soaked.note_break("a round", error)
            remaining_s = max(0.0, ends - time.monotonic())
            print(f"{soaked.describe()}, {upstream.connections} connections, {remaining_s:.0f} s left", flush=True)


async def _greed(soaked: Soaked, stack: Mapping[str, Any], **options: Any) -> None:
    """Print how owners fare beside a greedy one, and note what is wrong with that, if anything is."""
    async with Admin.from_note(stack) as admin, serve_upstream(Path(stack["data"])) as upstream:
        for host in HOSTS:
            await admin.map_host(host, upstream.port)
        try:
            comparison = await compare(stack, admin, upstream, **options)
            *lines, last = comparison.lines()
            print("\n".join([*lines, last]), flush=True)
            soaked.slow += [last] if comparison.ratio > BAR else []
        except* BREAKS as error:
            soaked.note_break("the comparison", error)


async def _round(soaked: Soaked, owners: int, stack: Mapping[str, Any], admin: Admin, upstream: Upstream) -> None:
    """Run executions of new tenants, while each attempts what is another's, and note what is found."""
    tenants = [create_tenant(await create_client(stack), soaked.owners + number) for number in range(owners)]
    upstream.seen.clear()
    for tenant in tenants:
        await prepare(tenant, admin, upstream)
    async with asyncio.TaskGroup() as group:
        attacking = group.create_task(attack(tenants, stack, seed=soaked.owners))
        group.create_task(run_executions(tenants, EXECUTIONS))
    soaked.attempts.join(attacking.result())
    soaked.crossed += await find_crossed(tenants, stack, upstream)
    soaked.executions, soaked.owners = soaked.executions + owners * EXECUTIONS, soaked.owners + owners
    for tenant in tenants:
        await tenant.client.close()


if __name__ == "__main__":
    raise SystemExit(main())
