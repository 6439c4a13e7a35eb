"""Declared tools in Firestore: a document per cluster, which lists its tools, and the parts that hold them whole.

A cluster is stored by writing its parts first and its document last, in one transaction: until then nobody knows the parts, and
from then on nobody knows the old ones. An import of a thousand operations is a dozen writes, and a deletion is one.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ferryman.domain.declared import Cluster, Declared, admit, clustered
from ferryman.domain.problem import Invalid
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translated
from ferryman.gcp.firestore import Firestore
from ferryman.ports import Stale, Unavailable

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncDocumentReference, AsyncTransaction

PART_CHARACTERS = 400_000
"""A document holds 1 MiB; a character may take three bytes of it where it is not ASCII."""


@translated
class FirestoreClusters:
    """`ports.Clusters`."""

    def __init__(self, clients: Firestore) -> None:
        self._clients = clients

    async def list(self, task: str) -> Sequence[Cluster]:
        return sorted((cluster for cluster, _ in await self._all(task)), key=lambda each: each.name)

    async def put(self, task: str, name: str, tools: Sequence[Declared], *, since: int) -> Cluster:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        reference, collection = places.cluster(client, task, name), places.task(client, task).collection("clusters")
        batch = secrets.token_hex(4)
        texts = [*_parts(tools)]
        cluster = clustered(name, since + 1, tools)

        @async_transactional
        async def store(transaction: AsyncTransaction) -> dict[str, Any] | None:
            if not (await places.task(client, task).get(transaction=transaction)).exists:
                raise Stale("the task was deleted")
            stored = {each.id: each.to_dict() or {} async for each in collection.stream(transaction=transaction)}
            before = stored.pop(reference.id, None)
            if before is not None and before["batch"] == batch:
                return None  # an attempt before this one was committed, unheard
            if (before or {}).get("generation", 0) != since:
                raise Stale("the cluster was stored by somebody else meanwhile")
            admit([_read(each) for each in stored.values()], cluster)
            rows = json.dumps([[row.name, row.fingerprint, row.enabled] for row in cluster.rows])
            where = {tool: number for number, (_, names) in enumerate(texts) for tool in names}
            transaction.set(
                reference,
                {
                    "name": name,
                    "generation": since + 1,
                    "rows": rows,
                    "size_bytes": cluster.size_bytes,
                    "batch": batch,
                    "parts": json.dumps(where),
                },
            )
            return before

        for number, (text, _) in enumerate(texts):
            await _part(reference, batch, number).set({"tools": text})
        try:
            before = await store(client.transaction())
        except (Stale, Invalid):
            await _forget(reference, batch, len(texts))
            raise  # after anything else it may be stored all the same: then these parts are its own
        if before is not None:
            await _forget(reference, before["batch"], _count(before))
        return cluster

    async def delete(self, task: str, name: str) -> bool:
        reference = places.cluster(self._clients.firestore(), task, name)
        before = (await reference.get()).to_dict()
        if before is None:
            return False
        # the document first: from here on there are no such tools
        await reference.delete()
        await _forget(reference, before["batch"], _count(before))
        return True

    async def tools(self, task: str) -> Sequence[Declared]:
        found = []
        for cluster, document in sorted(await self._all(task), key=lambda each: each[0].name):
            held: dict[str, Declared] = {}
            for number in range(_count(document)):
                held |= await self._held(task, cluster, document, number)
            found += [held[row.name] for row in cluster.rows]
        return found

    async def find(self, task: str, tool: str) -> Declared | None:
        for cluster, document in await self._all(task):
            number = json.loads(document["parts"]).get(tool)
            if number is not None:
                return (await self._held(task, cluster, document, number))[tool]
        return None

    async def _all(self, task: str) -> Iterable[tuple[Cluster, dict[str, Any]]]:
        collection = places.task(self._clients.firestore(), task).collection("clusters")
        found: dict[str, dict[str, Any]] = {each.id: each.to_dict() or {} async for each in collection.stream()}
        return [(_read(document), document) for document in found.values()]

    async def _held(self, task: str, cluster: Cluster, document: dict[str, Any], number: int) -> dict[str, Declared]:
        reference = places.cluster(self._clients.firestore(), task, cluster.name)
        part = (await _part(reference, document["batch"], number).get()).to_dict()
        if part is None:
            raise Unavailable("the cluster was stored anew while it was read")
        tools = (documents.read(Declared, each) for each in json.loads(part["tools"]))
        return {tool.name: tool for tool in tools}


async def cleared(reference: AsyncDocumentReference) -> None:
    """Delete the cluster at `reference`, and whatever parts any attempt to store it has left."""
    await reference.delete()
    async for each in reference.collection("parts").list_documents():
        await each.delete()


async def _forget(reference: AsyncDocumentReference, batch: str, count: int) -> None:
    for number in range(count):
        await _part(reference, batch, number).delete()


def _part(reference: AsyncDocumentReference, batch: str, number: int) -> AsyncDocumentReference:
    part: AsyncDocumentReference = reference.collection("parts").document(f"{batch}-{number:03d}")
    return part


def _count(document: dict[str, Any]) -> int:
    return max(json.loads(document["parts"]).values(), default=-1) + 1


def _read(document: dict[str, Any]) -> Cluster:
    rows = [dict(zip(("name", "fingerprint", "enabled"), row, strict=True)) for row in json.loads(document["rows"])]
    said = {name: document[name] for name in ("name", "generation", "size_bytes")}
    return documents.read(Cluster, {**said, "rows": rows})


def _parts(tools: Sequence[Declared]) -> Iterator[tuple[str, Sequence[str]]]:
    """The tools as texts that fit a document each, with the names in each."""
    texts: list[str] = []
    names: list[str] = []
    for tool in tools:
        text = json.dumps(documents.write(tool))
        if texts and sum(map(len, texts)) + len(text) > PART_CHARACTERS:
            yield f"[{','.join(texts)}]", names
            texts, names = [], []
        texts.append(text)
        names.append(tool.name)
    if texts:
        yield f"[{','.join(texts)}]", names
