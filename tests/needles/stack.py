"""The stack's places: what a running local stack holds and has said, gathered for the search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ferryman.wiring.local import holdings, provision
from ferryman.wiring.local.admin import Admin
from tests.needles.search import Place, needles, search
from tests.needles.sink import written
from tests.planted import Planted


async def gather(stack: Mapping[str, Any]) -> dict[str, list[Place]]:
    """The places of a stack by kind; `stack` is what it notes about itself. Its files are searched where they lie."""
    clients = provision.connect(stack["env"])
    try:
        async with Admin(stack["admin"]) as admin:
            return {
                "records": _places("document", await holdings.documents(clients)),
                "deliveries": _places("task", await holdings.tasks(clients, stack["project"]))
                + _places("delivery", await admin.delivered()),
                "prompts": _places("request to the model", await admin.model_requests()),
            }
    finally:
        await clients.close()


def files(folder: Path) -> list[Place]:
    """Every file of a stack: the logs of its functions and of its cloud, and the databases of its services."""
    return [Place(str(path.relative_to(folder)), path) for path in sorted(folder.rglob("*")) if path.is_file()]


async def travelled(stack: Mapping[str, Any], planted: list[Planted]) -> int:
    """How many requests carried a planted credential to the host it is for: the search must be able to find it there."""
    async with Admin(stack["admin"]) as admin:
        asked = await admin.requests()
    listed = needles(planted)
    return sum(bool(search([place], listed)) for place in _places("request", asked))


def _places(kind: str, things: list[Any]) -> list[Place]:
    return [Place(f"{kind} {number}", written(thing)) for number, thing in enumerate(things)]
