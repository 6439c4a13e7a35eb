"""The MCP servers of agents in Firestore: a document each, and below it the texts of descriptors, some to a document.

A listing is stored by writing its texts first and the server's document last, in a transaction: before it nothing refers to
the new texts, and after it nothing refers to the old ones. The document has versions of credentials besides, which are not
read here, so that it is never written whole again.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.limit import check_limit
from ferryman.domain.remote_servers.server import LISTED_FIELDS, SERVERS_PER_AGENT_MAX, RemoteServer
from ferryman.domain.remote_servers.server_names import check_server_name
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.agent import AgentGoneError
from ferryman.gcp import documents, keyed
from ferryman.gcp.agents import read_agent
from ferryman.gcp.credentials import VERSIONS, read_versions
from ferryman.gcp.places import MCP_SERVERS
from ferryman.gcp.store import FirestoreStore, Reference, Transaction, filter_by, in_transaction, read_together
from ferryman.gcp.workspace_documents import check_workspace
from ferryman.ports.errors import UnavailableError

PART_CHARACTERS = 800_000
"""A document holds 1 MiB; descriptors are ASCII."""

TEXTS = "descriptors"
"""The collection of texts below a server."""

BELOW = (TEXTS, "credentials", "connections")
CHANGED = "the MCP server was changed by somebody else, or deleted"


class FirestoreRemoteServers(FirestoreStore):
    """`ports.RemoteServers`."""

    async def list(self, agent: str, *, owner: str, workspace: str) -> Sequence[RemoteServer]:
        servers = await documents.read_all(RemoteServer, self._query(agent, owner=owner, workspace=workspace))
        return sorted(servers, key=lambda server: server.name)

    async def get(self, server: str) -> RemoteServer | None:
        return documents.read_or_none(RemoteServer, await self._places.locate_server(server).get())

    async def find(self, agent: str, name: str, *, owner: str, workspace: str) -> RemoteServer | None:
        query = filter_by(self._query(agent, owner=owner, workspace=workspace), ("name", "==", name)).limit(1)
        return next(iter(await documents.read_all(RemoteServer, query)), None)

    async def create(self, server: RemoteServer, *, most: int = SERVERS_PER_AGENT_MAX, done: Completion | None = None) -> None:
        await documents.confirm_created(self._create(server, most, done), self._places.locate_server(server.id), server)

    @in_transaction
    async def _create(self, transaction: Transaction, server: RemoteServer, most: int, done: Completion | None) -> None:
        answered = await keyed.read_completion(transaction, self._places, done)
        reference, workspace_at, agent_at = (
            self._places.locate_server(server.id),
            self._places.locate_workspace(server.workspace),
            self._places.locate_agent(server.agent),
        )
        snapshots = await read_together(self._client, [reference, workspace_at, agent_at], transaction)
        stored = snapshots[reference.path].to_dict()
        if stored is not None:
            if (stored.get("owner"), stored.get("created_at")) == (server.owner, server.created_at):
                return  # an earlier attempt was committed, and its answer lost
            raise ValueError("the server exists already")
        check_workspace(snapshots[workspace_at.path], owner=server.owner)
        if read_agent(snapshots[agent_at.path], owner=server.owner, workspace=server.workspace) is None:
            raise AgentGoneError
        query = self._query(server.agent, owner=server.owner, workspace=server.workspace)
        others = [snapshot.get("name") async for snapshot in query.select(["name"]).stream(transaction=transaction)]
        check_server_name(server.name, others)
        check_limit(len(others), most, of="MCP servers", owner="an agent")
        transaction.create(reference, documents.write(server))
        keyed.store_completion(transaction, self._places, answered)

    async def update(self, server: RemoteServer, fields: Collection[str], *, since: int) -> RemoteServer:
        return (await self._update(server, fields, {}, since))[0]

    @in_transaction
    async def _update(
        self, transaction: Transaction, server: RemoteServer, fields: Collection[str], texts: Mapping[str, Any], since: int
    ) -> tuple[RemoteServer, dict[str, Any]]:
        """Store `fields`, and which documents have the texts. Return the server, and its document as it was before."""
        reference = self._places.locate_server(server.id)
        document = (await reference.get(transaction=transaction)).to_dict()
        if document is None:
            raise StaleError(CHANGED)
        stored = documents.read(RemoteServer, document)
        if texts and document.get("batch") == texts["batch"]:
            return stored, {}  # an earlier attempt was committed, and its answer lost
        if stored.generation != since:
            raise StaleError(CHANGED)
        change: dict[str, Any] = {name: getattr(server, name) for name in (*fields, "updated_at")}
        changed = replace(stored, **change, generation=since + 1)
        written = documents.write_fields(changed, *fields, "updated_at", "generation")
        transaction.update(reference, {**written, **texts})
        return changed, document

    async def put_listing(self, server: RemoteServer, descriptors: Mapping[str, str], *, since: int) -> RemoteServer:
        reference, batch = self._places.locate_server(server.id), secrets.token_hex(4)
        parts = [*_split(descriptors)]
        numbers = {digest: number for number, part in enumerate(parts) for digest in part}
        try:
            for number, part in enumerate(parts):
                await self._put_part(reference, f"{batch}-{number:03d}", part)
            texts = {"batch": batch, "parts": json.dumps(numbers)}
            changed, before = await self._update(server, LISTED_FIELDS, texts, since)
        except StaleError:
            await _delete_parts(reference, batch, len(parts))
            raise  # after any other error it may be stored all the same, and then needs these texts
        if "batch" in before:
            await _delete_parts(reference, before["batch"], _count_parts(before))
        return changed

    @in_transaction
    async def _put_part(self, transaction: Transaction, reference: Reference, name: str, part: Mapping[str, str]) -> None:
        """Write some texts, unless the server is gone: after a deletion nothing would find them any more."""
        if not (await reference.get(["id"], transaction=transaction)).exists:
            raise StaleError(CHANGED)
        transaction.set(reference.collection(TEXTS).document(name), {"texts": dict(part)})

    async def delete(self, server: str) -> bool:
        reference = self._places.locate_server(server)
        existed = await self._remove(reference)  # the document first: from here on nobody opens what is below it
        for collection in BELOW:
            async for document_at in reference.collection(collection).list_documents():
                await document_at.delete()
        return existed

    @in_transaction
    async def _remove(self, transaction: Transaction, reference: Reference) -> bool:
        if not (await reference.get(["id"], transaction=transaction)).exists:
            return False
        transaction.delete(reference)
        return True

    async def list_versions(self, agent: str, *, owner: str, workspace: str) -> Mapping[str, Mapping[str, int]]:
        query = self._query(agent, owner=owner, workspace=workspace).select([VERSIONS])
        return {snapshot.id: read_versions(snapshot.to_dict()) async for snapshot in query.stream()}

    async def descriptors(self, server: str, digests: Collection[str]) -> Mapping[str, str]:
        reference = self._places.locate_server(server)
        document = (await reference.get(["batch", "parts"])).to_dict() or {}
        if not digests or "batch" not in document:
            return {}
        numbers = json.loads(document["parts"])
        names = sorted({numbers[digest] for digest in digests if digest in numbers})
        places = [reference.collection(TEXTS).document(f"{document['batch']}-{number:03d}") for number in names]
        texts: dict[str, str] = {}
        for snapshot in (await read_together(self._client, places)).values() if places else ():
            if not snapshot.exists:
                raise UnavailableError("the MCP server was listed again while its tools were read")
            texts |= snapshot.get("texts")
        return {digest: texts[digest] for digest in digests if digest in texts}

    def _query(self, agent: str, *, owner: str, workspace: str) -> Any:
        place = (("owner", "==", owner), ("workspace", "==", workspace), ("agent", "==", agent))
        return filter_by(self._client.collection(MCP_SERVERS), *place)


def _split(descriptors: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield the texts in portions of one document each."""
    part: dict[str, str] = {}
    size = 0
    for digest, text in descriptors.items():
        if part and size + len(text) > PART_CHARACTERS:
            yield part
            part, size = {}, 0
        part[digest] = text
        size += len(text)
    if part:
        yield part


def _count_parts(document: Mapping[str, Any]) -> int:
    return max(json.loads(document["parts"]).values(), default=-1) + 1


async def _delete_parts(reference: Reference, batch: str, count: int) -> None:
    for number in range(count):
        await reference.collection(TEXTS).document(f"{batch}-{number:03d}").delete()
