"""The soak: `python -m tests.campaigns.tenants --minutes 5` lets owners work at once, and finds what crossed between them.

Then it lets them work with and without a greedy owner beside them, in turns, and compares how long their executions take.
The last line reads `N executions of M owners, 0 crossed`; the exit code is 0 then, where the bar holds, and 1 otherwise.
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
from tests.campaigns.tenants.tenants import Tenant, create_tenant, find_crossed, prepare, run_executions
from tests.campaigns.tenants.upstream import HOSTS, Upstream, serve_upstream
from tests.canaries import canary
from tests.canaries.plugin import search_run
from tests.stack import create_client, start_stack

EXECUTIONS = 6
"""Of each owner, at once."""


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
    with start_stack(folder / "tmp" / "data") as stack:
        executions, owners, attempts, wrong = asyncio.run(_soak(stack, options.owners, options.minutes * 60))
    slow = 0
    if options.windows:
        # one of its own, which says as much as one does that is measured
        with start_stack(folder / "tmp" / "greed", FERRYMAN_LOG_LEVEL="INFO") as stack:
            late = asyncio.run(_greed(stack, owners=options.owners, windows=options.windows, window_s=options.window_s))
        slow, wrong = len(late), [*wrong, *late]
    done, *findings = search_run(folder)
    print(done)
    for line in [*wrong, *findings]:
        print(f"  {line}")
    if not wrong and not findings:
        shutil.rmtree(folder)
    crossed = len(wrong) - slow + len(findings)
    print(f"{executions} executions of {owners} owners, {attempts} attempts at what is another's, {crossed} crossed")
    return 1 if wrong or findings or not executions or not attempts else 0


async def _soak(stack: Mapping[str, Any], owners: int, seconds: float) -> tuple[int, int, int, list[str]]:
    """Return how many executions of how many owners there were, how many attempts at what is another's, and what crossed."""
    ends, executions, known, attempts, wrong = time.monotonic() + seconds, 0, 0, 0, list[str]()
    async with Admin.from_note(stack) as admin, serve_upstream(Path(stack["data"])) as upstream:
        for host in HOSTS:
            await admin.map_host(host, upstream.port)
        while time.monotonic() < ends and not wrong:
            tenants = [create_tenant(await create_client(stack), known + number) for number in range(owners)]
            judged, crossed = await _round(tenants, stack, admin, upstream, seed=known)
            attempts, wrong = attempts + judged, wrong + crossed
            executions, known = executions + owners * EXECUTIONS, known + owners
            remaining_s = max(0.0, ends - time.monotonic())
            print(
                f"{executions} executions of {known} owners, {attempts} attempts at what is another's, "
                f"{upstream.connections} connections, {remaining_s:.0f} s left",
                flush=True,
            )
    return executions, known, attempts, wrong


async def _greed(stack: Mapping[str, Any], **options: Any) -> list[str]:
    """Print how owners fare beside a greedy one; return what is wrong with that, if anything is."""
    async with Admin.from_note(stack) as admin, serve_upstream(Path(stack["data"])) as upstream:
        for host in HOSTS:
            await admin.map_host(host, upstream.port)
        comparison = await compare(stack, admin, upstream, **options)
    *lines, last = comparison.lines()
    print("\n".join([*lines, last]), flush=True)
    return [last] if comparison.ratio > BAR else []


async def _round(
    tenants: list[Tenant], stack: Mapping[str, Any], admin: Admin, upstream: Upstream, *, seed: int
) -> tuple[int, list[str]]:
    """Run executions of all tenants, while each attempts what is another's; return how many attempts, and what crossed."""
    upstream.seen.clear()
    for tenant in tenants:
        await prepare(tenant, admin, upstream)
    (judged, crossed), _ = await asyncio.gather(attack(tenants, stack, seed=seed), run_executions(tenants, EXECUTIONS))
    crossed += await find_crossed(tenants, stack, upstream)
    for tenant in tenants:
        await tenant.client.close()
    return judged, crossed


if __name__ == "__main__":
    raise SystemExit(main())
