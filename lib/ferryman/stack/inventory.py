"""The inventory: everything the local cloud keeps, read out through Google's own clients."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from ferryman.gcp.clients import GoogleClients
from ferryman.stack.environment import LOCATION, QUEUE, SCHEDULES_QUEUE

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncCollectionReference

FULL_VIEW = 2
"""Cloud Tasks' view of a task with its payload."""


async def list_documents(clients: GoogleClients) -> list[tuple[str, dict[str, Any]]]:
    """Return every document of every collection at any depth: its path and its fields."""
    documents = []
    async for collection in clients.firestore().collections():
        documents += [document async for document in _below(collection)]
    return documents


async def _below(collection: AsyncCollectionReference) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    # list_documents shows those too that hold nothing but collections
    async for reference in collection.list_documents():
        snapshot = await reference.get()
        yield reference.path, snapshot.to_dict() or {}
        async for inner in reference.collections():
            async for document in _below(inner):
                yield document


async def list_secrets(clients: GoogleClients, project: str) -> list[tuple[str, bytes]]:
    """Return every version of every secret that can be read: its name and its payload."""
    client, payloads = clients.secrets(), []
    async for secret in await client.list_secrets(request={"parent": f"projects/{project}"}):
        async for version in await client.list_secret_versions(request={"parent": secret.name}):
            if version.state.name != "ENABLED":
                continue
            answer = await client.access_secret_version(request={"name": version.name})
            payloads.append((version.name, answer.payload.data))
    return payloads


async def list_tasks(clients: GoogleClients, project: str) -> list[dict[str, Any]]:
    """Return every task still in the queues: its name and what it would send."""
    pending = []
    for queue in (QUEUE, SCHEDULES_QUEUE):
        parent = f"projects/{project}/locations/{LOCATION}/queues/{queue}"
        request = {"parent": parent, "response_view": FULL_VIEW}
        async for task in await clients.tasks().list_tasks(request=request):
            sent = task.http_request
            pending.append({"name": task.name, "url": sent.url, "headers": dict(sent.headers), "body": sent.body})
    return pending
