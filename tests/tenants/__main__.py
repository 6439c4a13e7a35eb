"""The soak: `python -m tests.tenants --minutes 5` lets owners work at once on one stack, and looks for what crossed.

The last line reads `N executions of M owners, 0 crossed`; the exit code is 0 then, and 1 otherwise.
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

from ferryman.wiring.local.admin import Admin
from tests import planted
from tests.needles.plugin import look_through
from tests.stack import client_of, up
from tests.tenants.play import Tenant, crossings, play, prepare, tenant
from tests.tenants.upstream import HOSTS, Upstream, serving

EXECUTIONS = 6
"""Of each owner, at once."""


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--minutes", type=float, default=5.0)
    asked.add_argument("--owners", type=int, default=3)
    given = asked.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ferryman-soak-"))
    for name in ("planted", "kept", "tmp"):
        (folder / name).mkdir()
    os.environ |= {planted.RUN: str(folder), "FERRYMAN_LOG_LEVEL": "DEBUG"}
    with up(folder / "tmp" / "data") as stack:
        executions, owners, wrong = asyncio.run(_soak(stack, given.owners, given.minutes * 60))
    done, *found = look_through(folder)
    print(done)
    for line in [*wrong, *found]:
        print(f"  {line}")
    if not wrong and not found:
        shutil.rmtree(folder)
    print(f"{executions} executions of {owners} owners, {len(wrong) + len(found)} crossed")
    return 1 if wrong or found or not executions else 0


async def _soak(stack: Mapping[str, Any], owners: int, seconds: float) -> tuple[int, int, list[str]]:
    """How many executions of how many owners there were, and what crossed."""
    ends, executions, known, wrong = time.monotonic() + seconds, 0, 0, list[str]()
    async with Admin(stack["admin"]) as admin, serving(Path(stack["data"])) as upstream:
        for host in HOSTS:
            await admin.map(host, upstream.port)
        while time.monotonic() < ends and not wrong:
            tenants = [tenant(await client_of(stack), known + number) for number in range(owners)]
            wrong += await _round(tenants, stack, admin, upstream)
            executions, known = executions + owners * EXECUTIONS, known + owners
            left = max(0.0, ends - time.monotonic())
            print(
                f"{executions} executions of {known} owners, {upstream.connections} connections, {left:.0f} s left", flush=True
            )
    return executions, known, wrong


async def _round(tenants: list[Tenant], stack: Mapping[str, Any], admin: Admin, upstream: Upstream) -> list[str]:
    upstream.seen.clear()
    for each in tenants:
        await prepare(each, admin, upstream)
    await play(tenants, EXECUTIONS)
    found = await crossings(tenants, stack, upstream)
    for each in tenants:
        await each.client.__aexit__()
    return found


if __name__ == "__main__":
    raise SystemExit(main())
