"""Running the conformance suite about a server: its scenarios, and how many checks of each passed."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.campaigns.mcp.installing import FOLDER, SUITE

SUITE_S = 300
_SCENARIO = re.compile(r"[✓✗] (\S+): (\d+) passed, (\d+) failed")
_NOT_SCORED = re.compile(r"Not scored for .*", re.DOTALL)
_OPTIONAL = re.compile(r"[✓✗] (\S+) \((\S+)\)")


@dataclass
class SuiteRun:
    """What the suite says of a server in one revision: passed and failed checks by scenario, and warnings."""

    passed: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    optional: dict[str, str] = field(default_factory=dict)
    """Scenarios that the revision does not require, and why."""

    warnings: list[str] = field(default_factory=list)
    schema: tuple[int, int] = (0, 0)
    """Scenarios in which every message of the server is valid by the schema of the revision, and in how many it was checked."""

    seconds: float = 0.0

    @property
    def required(self) -> list[str]:
        """The scenarios that the revision requires."""
        return [name for name in self.passed if name not in self.optional]

    @property
    def tasks(self) -> list[str]:
        """The scenarios of the Tasks extension."""
        return [name for name in self.passed if name.startswith("tasks-")]

    def count(self, names: list[str]) -> tuple[int, int]:
        """Return how many of these scenarios passed, and how many there are."""
        return sum(not self.failed[name] for name in names), len(names)

    @property
    def checks(self) -> tuple[int, int]:
        """How many checks passed, and how many were made."""
        passed = sum(self.passed.values())
        return passed, passed + sum(self.failed.values())


async def run_command(
    command: Sequence[str], folder: Path, heading: str, *, within_s: float, env: Mapping[str, str] | None = None
) -> str:
    """Return what the suite prints below `heading`. Raise RuntimeError where it does not, and TimeoutError."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        async with asyncio.timeout(within_s):
            printed = (await process.communicate())[0].decode()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    _, _, summary = printed.partition(heading)
    if not summary:
        raise RuntimeError(f"the suite has no summary: {printed[-500:]}")
    return summary


async def run_suite(node: Path, url: str, revision: str) -> SuiteRun:
    """Run all that the suite has for `revision` against the server at `url`. Raise RuntimeError where it does not end well."""
    begun = asyncio.get_running_loop().time()
    with tempfile.TemporaryDirectory() as results:
        command = [str(node), str(SUITE), "server", "--url", url, "--requirements", revision, "-o", results]
        summary = await run_command(command, FOLDER, "=== SUMMARY ===", within_s=SUITE_S)
        run = read_summary(summary)
        run.warnings, run.schema = read_warnings(Path(results)), count_valid(Path(results))
    run.seconds = asyncio.get_running_loop().time() - begun
    return run


def read_summary(summary: str) -> SuiteRun:
    """Return what the summary says."""
    run = SuiteRun()
    rest = _NOT_SCORED.search(summary)
    if rest is not None:
        run.optional = dict(_OPTIONAL.findall(rest[0]))
        summary = summary[: rest.start()]
    for name, passed, failed in _SCENARIO.findall(summary):
        run.passed[name], run.failed[name] = int(passed), int(failed)
    return run


def read_warnings(folder: Path) -> list[str]:
    """Return the checks of all scenarios that warn, a line each."""
    lines = []
    for file in sorted(folder.rglob("checks.json")):
        checks = [check for check in json.loads(file.read_text()) if check["status"] == "WARNING"]
        lines += [f"{check['id']}: {check.get('errorMessage', '')}" for check in checks]
    return lines


def count_valid(folder: Path) -> tuple[int, int]:
    """Return in how many scenarios every message is valid by the schema, and in how many that was checked."""
    checks = [check for file in folder.rglob("checks.json") for check in json.loads(file.read_text())]
    statuses = [check["status"] for check in checks if check["id"] == "wire-schema-valid"]
    return statuses.count("SUCCESS"), len(statuses)
