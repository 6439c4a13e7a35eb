"""A deployment whose functions are the local stack's, tried by its smoke test; the rest: `tests/campaigns/operations`."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from tests.journeys.test_command_line import Shell
from tests.operations.deploying.doubles import cloud

ROOT = Path(__file__).parents[2]


async def test_status_finds_a_function_that_lets_anyone_in(stack: Any, tmp_path: Path) -> None:
    fake_cloud = cloud(tmp_path / "cloud", {**stack["functions"], "webhook": stack["functions"]["api"] + "/healthz?"})
    fake_cloud.change(applied={"project": "my-project"})
    options = ["--project", "my-project", "--root", str(ROOT), "--pause", "0.01", "--json"]
    async with asyncio.timeout(60):
        while True:  # another function may just be starting again, after a test that killed it
            tried = await Shell(stack)("deploy", "status", *options, PATH=f"{fake_cloud.path}:{os.environ['PATH']}")
            assert tried.code == 1
            wrong = [finding["of"] for finding in tried.json["findings"] if finding["grade"] == "wrong"]
            if wrong == ["webhook"]:
                break
            await asyncio.sleep(0.1)
