"""Evidence: every place the planted key could have reached, gathered after the run and searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ferryman.cli.demo.proof import Searched, flat, forms, in_header, outside_header, search
from ferryman.cli.demo.story import PRIVATE
from ferryman.client import Client
from ferryman.wiring.local import holdings
from ferryman.wiring.local.stack import Stack

INJECTED = "authorization"


async def said(client: Client, execution: str, task: str) -> list[Any]:
    """What the API says of all there is."""
    return [
        await client.me(),
        await client.tasks(),
        await client.task(task),
        await client.credentials(task),
        await client.executions(),
        await client.execution(execution),
        await client.calls(execution),
    ]


async def gather(
    stack: Stack, client: Client, key: str, events: Sequence[Mapping[str, Any]]
) -> tuple[list[Searched], Searched]:
    """Each place that must not hold the key; and the one that must: the header it was injected into."""
    needles = forms(key)
    execution, task = str(events[0]["execution_id"]), str(events[0]["task_id"])
    asked, delivered = await stack.admin.requests(), await stack.admin.delivered()
    places = {
        "Firestore documents": [flat(each) for each in await holdings.documents(stack.clients)],
        "Secret Manager versions": [flat(each) for each in await holdings.secrets(stack.clients, stack.project)],
        "Cloud Tasks payloads": [flat(each) for each in [*delivered, *await holdings.tasks(stack.clients, stack.project)]],
        "requests to the model": [flat(each) for each in await stack.admin.model_requests()],
        "live events": [flat(each) for each in events],
        "answers of the API": [flat(each) for each in await said(client, execution, task)],
        "logs of the functions": _files(stack.data / "logs"),
        "files of the local cloud": _files(stack.data),
        "requests to hosts, but for that header": [outside_header(each, INJECTED) for each in asked],
        f"that header at other hosts than {PRIVATE}": [in_header(each, INJECTED) for each in asked if each["host"] != PRIVATE],
    }
    clean = [search(place, things, needles) for place, things in places.items()]
    travelled = [in_header(each, INJECTED) for each in asked if each["host"] == PRIVATE]
    return clean, search(f"header {INJECTED} at {PRIVATE}", travelled, [key.encode()])


def _files(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
