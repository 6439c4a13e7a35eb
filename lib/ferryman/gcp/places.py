"""Places: where each document stands."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncDocumentReference


def owner(client: AsyncClient, owner: str) -> AsyncDocumentReference:
    return client.collection("owners").document(owner)


def key(client: AsyncClient, digest: str) -> AsyncDocumentReference:
    return client.collection("api_keys").document(digest)


def task(client: AsyncClient, task: str) -> AsyncDocumentReference:
    return client.collection("tasks").document(task)


def credential(client: AsyncClient, task_id: str, name: str) -> AsyncDocumentReference:
    reference: AsyncDocumentReference = task(client, task_id).collection("credentials").document(name)
    return reference


def connection(client: AsyncClient, task_id: str, digest: str) -> AsyncDocumentReference:
    reference: AsyncDocumentReference = task(client, task_id).collection("connections").document(digest)
    return reference


def cluster(client: AsyncClient, task_id: str, name: str) -> AsyncDocumentReference:
    # a cluster's name is any text
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:32]
    reference: AsyncDocumentReference = task(client, task_id).collection("clusters").document(digest)
    return reference


def execution(client: AsyncClient, execution: str) -> AsyncDocumentReference:
    return client.collection("executions").document(execution)


def purse(client: AsyncClient, purse: str) -> AsyncDocumentReference:
    return client.collection("purses").document(purse)


def entry(client: AsyncClient, entry: str) -> AsyncDocumentReference:
    return client.collection("ledger").document(entry)


def halt(client: AsyncClient, owner: str | None) -> AsyncDocumentReference:
    return client.collection("halts").document("house" if owner is None else f"owner:{owner}")


def step(client: AsyncClient, execution_id: str, number: int) -> AsyncDocumentReference:
    reference: AsyncDocumentReference = execution(client, execution_id).collection("steps").document(f"{number:05d}")
    return reference


def call(client: AsyncClient, execution_id: str, seq: int) -> AsyncDocumentReference:
    reference: AsyncDocumentReference = execution(client, execution_id).collection("calls").document(f"{seq:05d}")
    return reference


def receipts(client: AsyncClient, execution_id: str, first: int) -> AsyncDocumentReference:
    reference: AsyncDocumentReference = execution(client, execution_id).collection("receipts").document(f"{first:06d}")
    return reference


def token(client: AsyncClient, key: str) -> AsyncDocumentReference:
    return client.collection("tokens").document(key)
