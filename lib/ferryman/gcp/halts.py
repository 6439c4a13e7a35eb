"""Kill switches in Firestore: a document that tells whether it is on, and since when it is or is not."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ferryman.domain.executions.halt import BY_OPERATOR, BY_OWNER
from ferryman.gcp import places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncDocumentReference, AsyncTransaction, DocumentSnapshot


@translate_errors
class FirestoreHalts:
    """`ports.Halts`."""

    def __init__(self, clients: FirestoreClient) -> None:
        self._clients = clients

    async def standing(self, owner: str, *, created: datetime | None = None) -> str | None:
        client = self._clients.firestore()
        return find_halt_reason(await get_together(client, list_switches(client, owner)), client, owner, created)

    async def put(self, owner: str | None, *, on: bool, now: datetime) -> None:
        reference = places.locate_halt(self._clients.firestore(), owner)
        if on or (await reference.get()).exists:
            await reference.set({"on": on, "at": now})


def list_switches(client: AsyncClient, owner: str) -> list[AsyncDocumentReference]:
    """The documents of the switches that stop `owner`'s executions."""
    return [places.locate_halt(client, None), places.locate_halt(client, owner)]


def find_halt_reason(
    found: Mapping[str, DocumentSnapshot[Any]], client: AsyncClient, owner: str, created: datetime | None = None
) -> str | None:
    """What stops `owner`'s executions, or one that was `created` then, in words; `found` holds the switches by path."""
    deps, own = (found[each.path].to_dict() for each in list_switches(client, owner))
    if _stops(deps, created):
        return BY_OPERATOR
    return BY_OWNER if _stops(own, created) else None


def _stops(switch: Mapping[str, Any] | None, created: datetime | None) -> bool:
    if switch is None:
        return False
    return bool(switch["on"]) or (created is not None and created <= switch["at"])


async def get_together(
    client: AsyncClient, references: list[AsyncDocumentReference], transaction: AsyncTransaction | None = None
) -> dict[str, DocumentSnapshot[Any]]:
    """Several documents in one read, by path; one that is not there is a snapshot that does not exist."""
    return {each.reference.path: each async for each in client.get_all(references, transaction=transaction)}
