"""DeclaredTool tools in Firestore: a document per cluster, which lists its tools, and the parts that hold them whole.

A cluster is stored by writing its parts first and its document last, in a transaction: before it nothing refers to the new
parts, and after it nothing refers to the old ones. An import of a thousand operations is a dozen writes, a deletion is one.
"""

from __future__ import annotations

import bisect
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ferryman import offload
from ferryman.domain.owners.idempotency import AnsweredError, Completion
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.declared import Cluster, DeclaredTool, ToolPlace, check_cluster
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.domain.workspaces.workspace import WorkspaceGoneError
from ferryman.gcp import cluster_texts, documents, keyed
from ferryman.gcp.agents import read_agent
from ferryman.gcp.store import FirestoreStore, Reference, Transaction, in_transaction, read_together
from ferryman.gcp.workspace_documents import check_workspace
from ferryman.ports.clusters import SelectNames
from ferryman.ports.errors import UnavailableError

GENERATION = "cluster_generation"
"""The field of a task's document that holds the generation of the cluster that was stored last."""

DELETED = "the task was deleted"
FIELDS = ("name", "generation", "size_bytes")
"""The fields of a cluster that its document has as they are."""

Answer = TypeVar("Answer")

offload.preload(cluster_texts.read_tools)


class FirestoreClusters(FirestoreStore):
    """`ports.Clusters`."""

    async def list(self, task: str) -> Sequence[Cluster]:
        return sorted(map(_read_cluster, await self._documents(task)), key=lambda cluster: cluster.name)

    async def put(
        self, task: str, name: str, tools: Sequence[DeclaredTool], *, since: int, done: Completion | None = None
    ) -> Cluster:
        reference, batch = self._places.locate_cluster(task, name), secrets.token_hex(4)
        built, texts = await _run_in_worker(task, offload.DOCUMENT, cluster_texts.write_cluster, name, tools)
        parts = {tool: number for number, (_, names) in enumerate(texts) for tool in names}
        try:
            for number, (text, _) in enumerate(texts):
                await self._put_part(task, _locate_part(reference, batch, number), text)
            cluster, before = await self._put(task, built, {"batch": batch, "parts": json.dumps(parts)}, since, done)
        except (StaleError, InvalidInputError, AnsweredError):
            await _delete_parts(reference, batch, len(texts))
            raise  # after any other error it may be stored all the same, and then needs these parts
        if before is not None:
            await _delete_parts(reference, before["batch"], _count_parts(before))
        return cluster

    @in_transaction
    async def _put_part(self, transaction: Transaction, task: str, part: Reference, text: str) -> None:
        """Write a part, unless the task is going: after a deletion has looked for parts, nothing would find it any more.

        Raise `StaleError`.
        """
        document = (
            await self._places.locate_task(task).get(["owner", "workspace", "agent"], transaction=transaction)
        ).to_dict()
        if document is None:
            raise StaleError(DELETED)
        owner = str(document.get("owner"))
        workspace = str(document.get("workspace") or derive_default_workspace(owner))
        agent = str(document.get("agent") or derive_default_agent(workspace))
        workspace_at, agent_at = self._places.locate_workspace(workspace), self._places.locate_agent(agent)
        snapshots = await read_together(self._client, [workspace_at, agent_at], transaction)
        try:
            check_workspace(snapshots[workspace_at.path], owner=owner)
        except WorkspaceGoneError:
            raise StaleError(DELETED) from None
        if read_agent(snapshots[agent_at.path], owner=owner, workspace=workspace) is None:
            raise StaleError(DELETED)
        transaction.set(part, {"tools": text})

    @in_transaction
    async def _put(
        self, transaction: Transaction, task: str, built: Cluster, parts: dict[str, str], since: int, done: Completion | None
    ) -> tuple[Cluster, dict[str, Any] | None]:
        """Store the document of the cluster, with its `parts`. Return the cluster, and the document that was there before."""
        task_at, reference = self._places.locate_task(task), self._places.locate_cluster(task, built.name)
        answered = await keyed.read_completion(transaction, self._places, done)
        task_document = (await task_at.get(transaction=transaction)).to_dict()
        if task_document is None:
            raise StaleError(DELETED)
        listed = task_at.collection("clusters").stream(transaction=transaction)
        stored = {snapshot.id: snapshot.to_dict() or {} async for snapshot in listed}
        before = stored.pop(reference.id, None)
        if before is not None and before["batch"] == parts["batch"]:
            return _read_cluster(before), None  # an earlier attempt was committed, and its answer lost
        if (before or {}).get("generation", 0) != since:
            raise StaleError("the cluster was stored by somebody else meanwhile")
        # counted at the task, so that a cluster which was deleted and stored again is never taken for the one before
        cluster = replace(built, generation=task_document.get(GENERATION, 0) + 1)
        check_cluster([_read_cluster(document) for document in stored.values()], cluster)
        fields = {name: getattr(cluster, name) for name in FIELDS}
        rows = json.dumps([[row.name, row.fingerprint, row.enabled] for row in cluster.rows])
        transaction.update(task_at, {GENERATION: cluster.generation})
        transaction.set(reference, {**fields, "rows": rows, **parts})
        keyed.store_completion(transaction, self._places, answered)
        return cluster, before

    async def delete(self, task: str, name: str) -> bool:
        reference = self._places.locate_cluster(task, name)
        before = await self._remove(reference)  # the document first: from here on the tools do not exist
        if before is None:
            return False
        await _delete_parts(reference, before["batch"], _count_parts(before))
        return True

    @in_transaction
    async def _remove(self, transaction: Transaction, reference: Reference) -> dict[str, Any] | None:
        document: dict[str, Any] | None = (await reference.get(transaction=transaction)).to_dict()
        if document is not None:
            transaction.delete(reference)
        return document

    async def tools(self, task: str) -> Sequence[DeclaredTool]:
        stored = []
        for document in sorted(await self._documents(task), key=lambda document: str(document["name"])):
            parts = [await self._part(task, document, number) for number in range(_count_parts(document))]
            stored.append((document["rows"], parts))
        if not stored:
            return ()
        return await _run_in_worker(task, offload.DOCUMENT, cluster_texts.read_tools, stored)

    async def page(
        self, task: str, *, after: ToolPlace | None, most: int, enabled: bool = False, select: SelectNames | None = None
    ) -> tuple[Sequence[DeclaredTool], bool]:
        stored = {str(document["name"]): document for document in await self._documents(task)}
        rows = [(name, document["rows"]) for name, document in stored.items()]
        places = await _run_in_worker(task, offload.DOCUMENT, cluster_texts.list_places, rows, enabled)
        if select is not None:
            names = frozenset(select([tool for _, tool in places]))
            places = [place for place in places if place[1] in names]
        rest = places if after is None else places[bisect.bisect_right(places, after) :]
        here = rest[:most]
        if not here:
            return (), len(rest) > 0
        numbers = {name: json.loads(document["parts"]) for name, document in stored.items()}
        needed = sorted({(cluster, numbers[cluster][tool]) for cluster, tool in here})
        parts = [await self._part(task, stored[cluster], number) for cluster, number in needed]
        tools = await _run_in_worker(task, offload.DOCUMENT, cluster_texts.pick_tools, parts, here)
        return tools, len(rest) > most

    async def find(self, task: str, tool: str) -> DeclaredTool | None:
        for document in await self._documents(task):
            number = json.loads(document["parts"]).get(tool)
            if number is not None:
                part = await self._part(task, document, number)
                return await _run_in_worker(task, offload.TEXT, cluster_texts.find_tool, part, tool)
        return None

    async def _documents(self, task: str) -> Sequence[dict[str, Any]]:
        collection = self._places.locate_task(task).collection("clusters")
        return [snapshot.to_dict() or {} async for snapshot in collection.stream()]

    async def _part(self, task: str, document: dict[str, Any], number: int) -> str:
        reference = self._places.locate_cluster(task, document["name"])
        part = (await _locate_part(reference, document["batch"], number).get()).to_dict()
        if part is None:
            raise UnavailableError("the cluster was stored again while it was read")
        return str(part["tools"])


async def _run_in_worker(task: str, budget: offload.Budget, function: Callable[..., Answer], *arguments: Any) -> Answer:
    """Return `function(*arguments)`, run in a worker: the documents come from strangers, and may have some megabytes."""
    try:
        return await offload.run(task, budget, function, *arguments)
    except offload.OverBudgetError as error:
        raise UnavailableError(f"the declared tools of this task cannot be read: {error}") from None


async def delete_cluster(reference: Reference) -> None:
    """Delete the cluster at `reference`, and the parts that any attempt to store it has left."""
    await reference.delete()
    async for part in reference.collection("parts").list_documents():
        await part.delete()


async def _delete_parts(reference: Reference, batch: str, count: int) -> None:
    for number in range(count):
        await _locate_part(reference, batch, number).delete()


def _locate_part(reference: Reference, batch: str, number: int) -> Reference:
    part: Reference = reference.collection("parts").document(f"{batch}-{number:03d}")
    return part


def _count_parts(document: dict[str, Any]) -> int:
    return max(json.loads(document["parts"]).values(), default=-1) + 1


def _read_cluster(document: dict[str, Any]) -> Cluster:
    rows = [dict(zip(("name", "fingerprint", "enabled"), row, strict=True)) for row in json.loads(document["rows"])]
    fields = {name: document[name] for name in FIELDS}
    return documents.read(Cluster, {**fields, "rows": rows})
