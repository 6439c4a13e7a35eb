"""The suite's client scenarios: about the product's own client, and about the SDK's. The suite runs each as a command.

Required are the scenarios that the revision names. The others are extensions: their figures are printed, and none has to pass.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path

from tests.campaigns.mcp.installing import PYTHON, ROOT, SUITE
from tests.campaigns.mcp.suite import SuiteRun, read_summary, run_command

REVISION = "2026-07-28"
REQUIRED = 32
"""How many scenarios the revision requires of a client."""

OURS = f"{sys.executable} -m tests.campaigns.mcp.conformant"
_REFUSED = re.compile(r"✗ (\S+): \d+ passed")
SUITE_S, SCENARIO_MS, PEER_MS = 900, 300_000, 120_000
"""For all scenarios, which the suite starts at once: seconds, and milliseconds for each, ours and the SDK's, of which one may
hang. Each of ours is a process that imports the product, and all of them share the machine."""


async def run_client_suite(node: Path, command: str, *, scenario_ms: int = SCENARIO_MS) -> SuiteRun:
    """Run all client scenarios of `REVISION` with `command`, each at most `scenario_ms`.

    Raise RuntimeError where the suite does not end well.
    """
    begun = asyncio.get_running_loop().time()
    with tempfile.TemporaryDirectory() as results:
        options = ["--requirements", REVISION, "--timeout", str(scenario_ms), "-o", results]
        command_line = [str(node), str(SUITE), "client", "--command", command, *options]
        env = {**os.environ, "NODE_NO_WARNINGS": "1"}
        summary = await run_command(command_line, ROOT, "=== SUITE SUMMARY ===", within_s=SUITE_S, env=env)
    run = read_client_summary(summary)
    run.seconds = asyncio.get_running_loop().time() - begun
    return run


def read_client_summary(summary: str) -> SuiteRun:
    """Return what the summary says. A scenario that it marks as failed has, though it only warns."""
    run = read_summary(summary)
    for name in _REFUSED.findall(summary.partition("Not scored")[0]):
        run.failed[name] = max(run.failed[name], 1)
    return run


def name_peer(client: Path) -> str:
    """Return the command of the SDK's own client."""
    return f"{PYTHON} {client}"


def describe_clients(ours: SuiteRun, theirs: SuiteRun | None) -> list[tuple[str, str, str]]:
    """Return the rows of the table: a name, and what of it passes, ours and theirs."""
    runs = (ours, theirs)
    rows = [
        (f"client {REVISION}, required scenarios", *("-" if run is None else _share(run, run.required) for run in runs)),
        (f"client {REVISION}, checks of those", *("-" if run is None else _share_checks(run) for run in runs)),
    ]
    return rows + [
        (f"  {name} (not required)", *("-" if run is None else _share(run, [name]) for run in runs)) for name in ours.optional
    ]


def is_conformant(run: SuiteRun) -> bool:
    """Tell whether every required scenario passed, and all of them were run."""
    return run.count(run.required) == (REQUIRED, REQUIRED)


def _share(run: SuiteRun, names: list[str]) -> str:
    passed, total = run.count([name for name in names if name in run.failed])
    return f"{passed}/{total}"


def _share_checks(run: SuiteRun) -> str:
    passed = sum(run.passed[name] for name in run.required)
    return f"{passed}/{passed + sum(run.failed[name] for name in run.required)}"
