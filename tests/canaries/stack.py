"""The stack's places: what a running local stack holds and has said, gathered for the search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ferryman.stack import inventory as sealed_inventory
from ferryman.stack import provision
from ferryman.stack.admin import Admin
from tests.canaries.canary import Canary
from tests.canaries.search import Place, build_patterns, search
from tests.canaries.sink import write


async def gather(stack: Mapping[str, Any]) -> dict[str, list[Place]]:
    """Return the places of a stack by kind; `stack` is what it notes about itself. Its files are searched where they lie."""
    clients = provision.connect(stack["env"])
    try:
        async with Admin.from_note(stack) as admin:
            return {
                "records": _places("document", await sealed_inventory.list_documents(clients)),
                "deliveries": _places("task", await sealed_inventory.list_tasks(clients, stack["project"]))
                + _places("delivery", await admin.list_deliveries()),
                "prompts": _places("request to the model", await admin.list_model_requests()),
            }
    finally:
        await clients.close()


def write_files(folder: Path) -> list[Place]:
    """Return every file of a stack: the logs of its functions and of its cloud, and the databases of its services."""
    return [Place(str(path.relative_to(folder)), path) for path in sorted(folder.rglob("*")) if path.is_file()]


async def count_sent(stack: Mapping[str, Any], canaries: list[Canary]) -> int:
    """Count the requests that sent a canary to its own host: the search must be able to find it there."""
    async with Admin.from_note(stack) as admin:
        requests = await admin.list_requests()
    listed = build_patterns(canaries)
    return sum(bool(search([place], listed)) for place in _places("request", requests))


def _places(kind: str, things: list[Any]) -> list[Place]:
    return [Place(f"{kind} {number}", write(thing)) for number, thing in enumerate(things)]
