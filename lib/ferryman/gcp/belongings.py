"""What is below a document, for those who delete it: the documents of a collection, with all below them."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ferryman.gcp.places import FORMER
from ferryman.gcp.store import Reference, Transaction

BESIDE_STEPS = ("receipts-", "imported-", "overflow-", "live")
"""How the names of documents begin that are beside the steps: receipts, what was imported, what is yet to be kept, and the turn
under way."""


async def list_below(parent: Reference, collection: str, transaction: Transaction, *, most: int) -> AsyncIterator[Reference]:
    """Yield at most `most` documents of a collection below `parent`, what is below one of them before itself.

    Parts of a cluster are found also where its document is gone.
    """
    below = parent.collection(collection)
    if collection != "clusters":
        async for snapshot in below.select(["__name__"]).limit(most).stream(transaction=transaction):
            yield snapshot.reference
        return
    yielded = 0
    async for cluster in below.list_documents():
        async for part in (
            cluster.collection("parts").select(["__name__"]).limit(most - yielded).stream(transaction=transaction)
        ):
            yield part.reference
            yielded += 1
        if yielded >= most:
            return
        if (await cluster.get(["name"], transaction=transaction)).exists:
            yield cluster
            yielded += 1


def count_as(reference: Reference) -> str:
    """Return what a document below a task or an execution is counted as; "" for one that is a part of another."""
    collection = reference.parent.id
    if collection == "parts" or reference.id.startswith(BESIDE_STEPS):
        return ""
    return "former_values" if collection == "credentials" and reference.id.endswith(FORMER) else str(collection)
