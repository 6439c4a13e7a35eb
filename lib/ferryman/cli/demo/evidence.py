"""Evidence: every place the canary key could have reached, gathered after the run and searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ferryman.cli.demo.proof import SearchResult, drop_header, encode_forms, extract_header, flatten, search
from ferryman.cli.demo.story import PRIVATE
from ferryman.client import Client
from ferryman.stack import inventory as sealed_inventory
from ferryman.stack.local_stack import Stack

INJECTED = "authorization"


async def collect_answers(client: Client, execution: str, task: str) -> list[Any]:
    """Return what the API answers about everything there is."""
    return [
        await client.get_me(),
        await client.list_tasks(),
        await client.get_task(task),
        await client.list_credentials(task),
        await client.list_executions(),
        await client.get_execution(execution),
        await client.list_calls(execution),
    ]


async def gather_evidence(
    stack: Stack, client: Client, key: str, events: Sequence[Mapping[str, Any]]
) -> tuple[list[SearchResult], SearchResult]:
    """Search each place that must not hold the key, and the one that must: the header it was injected into."""
    forms = encode_forms(key)
    execution, task = str(events[0]["execution_id"]), str(events[0]["task_id"])
    session, delivered = await stack.admin.list_requests(), await stack.admin.list_deliveries()
    places = {
        "Firestore documents": [flatten(value) for value in await sealed_inventory.list_documents(stack.clients)],
        "Secret Manager versions": [
            flatten(value) for value in await sealed_inventory.list_secrets(stack.clients, stack.project)
        ],
        "Cloud Tasks payloads": [
            flatten(value) for value in [*delivered, *await sealed_inventory.list_tasks(stack.clients, stack.project)]
        ],
        "requests to the model": [flatten(value) for value in await stack.admin.list_model_requests()],
        "live events": [flatten(value) for value in events],
        "answers of the API": [flatten(value) for value in await collect_answers(client, execution, task)],
        "logs of the functions": _files(stack.data / "logs"),
        "files of the local cloud": _files(stack.data),
        "requests to hosts, but for that header": [drop_header(value, INJECTED) for value in session],
        f"that header at other hosts than {PRIVATE}": [
            extract_header(value, INJECTED) for value in session if value["host"] != PRIVATE
        ],
    }
    clean = [search(place, things, forms) for place, things in places.items()]
    travelled = [extract_header(value, INJECTED) for value in session if value["host"] == PRIVATE]
    return clean, search(f"header {INJECTED} at {PRIVATE}", travelled, [key.encode()])


def _files(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
