"""The pages of workspaces, budgets and exports, typed as they are written beside a local stack: a part of `make operations`."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ferryman.client import AsyncClient
from tests.journeys.conftest import FERRYMAN, NewKey

DOCS = Path(__file__).parents[3] / "docs"
NAMED = {
    "AGENT": "$(ferryman agent list --json | grep -oE 'agent_[0-9a-f]{20,}' | head -1)",
    "TASK": "$(ferryman task list --json | grep -oE 'task_[0-9a-f]{20,}' | head -1)",
    "PERSON": "$(ferryman member list --json | grep -oE 'person_[0-9a-f]{20,}' | head -1)",
    "KEY": "$(ferryman key list --everybody --json | grep -oE 'key_[0-9a-f]{20,}' | head -1)",
}
"""What a reader puts in the place of a name, where a command before has shown it."""


def find_commands(name: str) -> str:
    """Return all that the blocks for a shell of a page have, in their order, as a reader types it."""
    blocks = re.findall(r"```sh\n(.*?)```", (DOCS / name).read_text(), re.DOTALL)
    assert blocks
    return re.sub(rf" ({'|'.join(NAMED)})\b", lambda match: f" {NAMED[match[1]]}", "".join(blocks))


def type_commands(text: str, stack: Mapping[str, Any], key: str, folder: Path, **names: str) -> str:
    """Type it in one shell, whose questions are answered with the name of a workspace; return what was printed.

    No command may fail.
    """
    mine = {name: value for name, value in os.environ.items() if not name.startswith(("FERRYMAN_", "CRAWBL_"))}
    variables = {"FERRYMAN_URL": stack["url"], "FERRYMAN_KEY": key, "PATH": f"{FERRYMAN.parent}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder,
        env={**mine, **variables, **names},
        input="Shop\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.parametrize(
    ("page", "printed"),
    [
        ("workspaces.md", ("is no member any longer", "deleted: ")),
        ("budgets.md", ("plan pro", "sum to 0")),
        ("export.md", ("The archive is whole: ", "Verified with the public keys you gave.", "\nws_")),
    ],
)
async def test_every_command_of_the_page_does_what_it_says(
    stack: Mapping[str, Any], new_key: NewKey, tmp_path: Path, page: str, printed: tuple[str, ...]
) -> None:
    key = await new_key("pro")
    async with AsyncClient(stack["url"], key, workspace="") as owner:
        kitchen = (await owner.create_workspace({"name": "Kitchen"}))["workspace_id"]
        await owner.create_task({"name": "hello", "task_prompt": "Say hello.", "model": "scripted/hello"})
        keys = await owner.list_receipt_keys()
    (tmp_path / "keys.txt").write_text("".join(f"{version}:{public}\n" for version, public in keys.items()))
    out = await asyncio.to_thread(type_commands, find_commands(page), stack, key, tmp_path, KITCHEN=kitchen)
    assert [text for text in printed if text not in out] == []
