"""`make mcp-conformance`: the suite about our engine, our client, and the SDK's own of both, in two tables."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.campaigns.mcp.client_suite import (
    OURS,
    PEER_MS,
    REVISION,
    describe_clients,
    is_conformant,
    name_peer,
    run_client_suite,
)
from tests.campaigns.mcp.installing import (
    NoSuiteError,
    install,
    install_everything,
    install_inspector,
    install_peer,
    install_peer_client,
)
from tests.campaigns.mcp.product import LEGACY_SCENARIOS, MODERN_SCENARIOS, serve_product
from tests.campaigns.mcp.servers import serve_ours, serve_peer
from tests.campaigns.mcp.suite import SuiteRun, run_suite

MODERN, LEGACY = "2026-07-28", "2025-11-25"
BAR = {"2026-07-28, required scenarios": (37, 37), "2026-07-28, Tasks scenarios": (10, 10), "2025-11-25, checks": (84, 84)}
"""What ours must reach."""


def describe(modern: SuiteRun, legacy: SuiteRun) -> dict[str, tuple[int, int]]:
    """Return the rows of the table: how many passed, of how many."""
    return {
        "2026-07-28, required scenarios": modern.count(modern.required),
        "2026-07-28, Tasks scenarios": modern.count(modern.tasks),
        "2026-07-28, checks": modern.checks,
        "2025-11-25, required scenarios": legacy.count(legacy.required),
        "2025-11-25, checks": legacy.checks,
    }


async def measure() -> int:
    """Run the suite about both servers, print the table, and return 1 where ours does not reach the bar."""
    try:
        node = await asyncio.to_thread(install)
    except NoSuiteError as error:
        print(f"SKIPPED the conformance suite: {error}")
        return 0
    async with serve_ours() as instance:
        runs = [await run_suite(node, instance.url, MODERN), await run_suite(node, instance.url, LEGACY)]
    ours, theirs, missing = describe(*runs), {}, ""
    try:
        await asyncio.to_thread(install_peer)
        async with serve_peer() as instance:
            theirs = describe(await run_suite(node, instance.url, MODERN), await run_suite(node, instance.url, LEGACY))
    except NoSuiteError as error:
        missing = str(error)
    for name, install_judge in (("the Inspector", install_inspector), ("the everything-server", install_everything)):
        try:
            await asyncio.to_thread(install_judge)
        except NoSuiteError as error:
            print(f"SKIPPED {name}: {error}")
    conformant = await measure_client(node)
    async with serve_product() as url:
        product = describe_product(await run_suite(node, url, MODERN), await run_suite(node, url, LEGACY))
    print_failures([*runs, conformant])
    print_table(ours, theirs)
    for name, (passed, total) in product.items():
        print(f"{name:<60} {passed}/{total}")
    if missing:
        print(f"SKIPPED the SDK's own server: {missing}")
    short = [name for name, bar in BAR.items() if ours[name] != bar]
    short += [] if is_conformant(conformant) else [f"client {REVISION}, required scenarios"]
    short += [name for name, (passed, total) in product.items() if passed != total or not total]
    print(f"{len(short)} of {len(BAR) + len(product) + 1} bars missed{': ' + ', '.join(short) if short else ''}")
    return 1 if short else 0


async def measure_client(node: Path) -> SuiteRun:
    """Run the client scenarios about our client and about the SDK's, and print their table; return the run of ours."""
    ours, theirs = await run_client_suite(node, OURS), None
    try:
        client = await asyncio.to_thread(install_peer_client)
        theirs = await run_client_suite(node, name_peer(client), scenario_ms=PEER_MS)
    except (NoSuiteError, RuntimeError) as error:
        print(f"SKIPPED the SDK's own client: {error}")
    print(f"{'':<60} {'ours':>10} {'mcp 2.3.0':>10}")
    for name, mine, peer in describe_clients(ours, theirs):
        print(f"{name:<60} {mine:>10} {peer:>10}")
    return ours


def describe_product(modern: SuiteRun, legacy: SuiteRun) -> dict[str, tuple[int, int]]:
    """Return the same of /mcp of a local stack, which has no fixtures: scenarios that need none, and all of its messages."""
    free = [modern.count(list(MODERN_SCENARIOS)), legacy.count(list(LEGACY_SCENARIOS))]
    schema = [modern.schema, legacy.schema]
    return {
        "/mcp of a stack: scenarios that need no fixtures": (sum(row[0] for row in free), sum(row[1] for row in free)),
        "/mcp of a stack: scenarios with valid messages alone": (sum(row[0] for row in schema), sum(row[1] for row in schema)),
    }


def print_failures(runs: list[SuiteRun]) -> None:
    """Print the scenarios that ours failed, and what the suite warns of."""
    for run in runs:
        for name, count in run.failed.items():
            if count and name not in run.optional:
                print(f"FAILED   {name}: {count} checks")
        for line in run.warnings:
            print(f"warning  {line}")


def print_table(ours: dict[str, tuple[int, int]], theirs: dict[str, tuple[int, int]]) -> None:
    """Print both, row by row."""
    print(f"{'':<32} {'ours':>10} {'mcp 2.3.0':>10}")
    for name, (passed, total) in ours.items():
        peer = "/".join(map(str, theirs[name])) if name in theirs else "-"
        print(f"{name:<32} {f'{passed}/{total}':>10} {peer:>10}")


if __name__ == "__main__":
    sys.exit(asyncio.run(measure()))
