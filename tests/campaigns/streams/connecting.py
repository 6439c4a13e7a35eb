"""The protocols' own clients against a local stack: one answer on two devices at once, and two questions in one thread."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ferryman.client import AsyncClient
from ferryman.stack.admin import Admin
from tests.campaigns.streams.judging import FOLDER
from tests.stack import create_key, start_stack

SLOW = "In Harwich, where it has been since the war. " * 5
USE = {"text": "", "tool_calls": [{"name": "calculator", "input": {"expression": "6 * 7"}}]}
STEPS = [USE, {"text": SLOW, "stream": {"delay_ms": 20}}, {"text": "At nine."}]
"""Of each conversation: a call, a long answer, and the answer to a second question."""

CLIENTS_S = 120


async def prepare(stack: Mapping[str, Any]) -> tuple[str, str]:
    """Return a key of a new owner, and a task whose model says `STEPS`."""
    key = await create_key(stack)
    async with Admin.from_note(stack) as admin:
        await admin.set_script("streams", {"steps": STEPS})
    client = AsyncClient(stack["url"], key)
    task = {"name": "Ferries", "task_prompt": "Answer.", "model": "scripted/streams", "tools": ["calculator"]}
    try:
        return key, str((await client.create_task(task))["task_id"])
    finally:
        await client.close()


async def connect_clients(node: Path) -> list[str]:
    """Start a stack and have the clients talk with it. Return a sentence for everything that is not as it should be."""
    with tempfile.TemporaryDirectory() as folder, start_stack(Path(folder) / "data") as stack:
        key, task = await prepare(stack)
        command = [str(node), "connected.mjs", stack["url"], key, task]
        ran = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=CLIENTS_S, check=False)  # noqa: ASYNC221 - alone in its loop
    if ran.returncode:
        return [f"the clients have failed: {ran.stderr.strip().splitlines()[-1:]}"]
    return check_answers(json.loads(ran.stdout))


def check_answers(answers: Mapping[str, Any]) -> list[str]:
    """Return a sentence for everything that the clients have and should not, or have not."""
    first, second = answers["vercel"]["first"], answers["vercel"]["second"]
    facts = {
        "the AI SDK has the result of the call": [part["output"] for part in first["parts"] if "output" in part] == ["42"],
        "the AI SDK has the answer": [part["text"] for part in first["parts"] if part["type"] == "text"] == [SLOW],
        "a second device has the same parts": first == second,
        "who comes when nothing runs has no answer": answers["vercel"]["late"] == [],
        "AG-UI has both answers": [
            message["content"] for message in answers["agui"] if message["role"] == "assistant" and "content" in message
        ]
        == [SLOW, "At nine."],
        "AG-UI has the questions, the call and its result": [message["role"] for message in answers["agui"]]
        == ["user", "assistant", "tool", "assistant", "user", "assistant"],
    }
    return [*answers["errors"], *(f"not so: {fact}" for fact, holds in facts.items() if not holds)]
