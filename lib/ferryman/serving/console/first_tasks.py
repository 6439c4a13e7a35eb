"""The templates of a first task: what each does, and the scripted model that runs it on a local stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SCRIPTED = "scripted"
"""The model that the API lists where `scripted/NAME` can be used: on a local stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstTask:
    """A template: `script` is the model that needs no provider, `body` what the API is sent beside the model.

    `is_scripted_only` says that what it asks for is there on a local stack alone.
    """

    id: str
    about: str
    script: str
    body: Mapping[str, Any]
    is_scripted_only: bool = False


FIRST_TASKS = (
    FirstTask(
        id="hello",
        about="Asks a public service whether it answers, twice: without a key, and with one that the task does not have yet. "
        "The second call is refused, and you see why.",
        script="scripted/hello",
        body={
            "name": "Say hello",
            "task_prompt": "Say hello to CoinGecko: ask https://api.coingecko.com/api/v3/ping, and tell me what it said.",
            "tools": ["http_get", "api_call"],
            "integrations": ["coingecko"],
        },
    ),
    FirstTask(
        id="report",
        about="Searches the web, reads some pages, and writes a report into the files of the workspace.",
        script="scripted/report",
        body={
            "name": "Write a report",
            "task_prompt": "Write a report on ferries to reports/ferries.md.",
            "tools": ["web_search_tool", "web_fetch", "file_write"],
        },
    ),
    FirstTask(
        id="alert",
        about="Would change something, and waits until you have seen exactly what it would send and approved it.",
        script="scripted/alert",
        body={
            "name": "Ask before it sends",
            "task_prompt": "Tell me when bitcoin is above 100,000.",
            "tools": ["http_post"],
            "integrations": ["coingecko"],
            "approvals": [{"mode": "always", "tools": ["http_post"]}],
        },
        is_scripted_only=True,
    ),
)


def list_first_tasks(models: Sequence[str]) -> list[FirstTask]:
    """Return the templates that can be finished with one of these models."""
    return [first for first in FIRST_TASKS if SCRIPTED in models or not first.is_scripted_only]
