"""Places: the path of each document."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncDocumentReference


FORMER = ".former"
"""How the name of a document with former values of a credential ends."""


def locate_owner(client: AsyncClient, owner: str) -> AsyncDocumentReference:
    return client.collection("owners").document(owner)


def locate_key(client: AsyncClient, digest: str) -> AsyncDocumentReference:
    return client.collection("api_keys").document(digest)


def locate_task(client: AsyncClient, task: str) -> AsyncDocumentReference:
    return client.collection("tasks").document(task)


def locate_credential(client: AsyncClient, task_id: str, name: str) -> AsyncDocumentReference:
    reference: AsyncDocumentReference = locate_task(client, task_id).collection("credentials").document(name)
    return reference


def locate_former(client: AsyncClient, task_id: str, name: str) -> AsyncDocumentReference:
    # beside the credentials, so that one query brings both; no credential's name has a full stop
    return locate_credential(client, task_id, name + FORMER)


def locate_connection(client: AsyncClient, task_id: str, digest: str) -> AsyncDocumentReference:
    reference: AsyncDocumentReference = locate_task(client, task_id).collection("connections").document(digest)
    return reference


def locate_cluster(client: AsyncClient, task_id: str, name: str) -> AsyncDocumentReference:
    # a cluster's name is any text
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:32]
    reference: AsyncDocumentReference = locate_task(client, task_id).collection("clusters").document(digest)
    return reference


def locate_execution(client: AsyncClient, execution: str) -> AsyncDocumentReference:
    return client.collection("executions").document(execution)


def locate_balance(client: AsyncClient, balance: str) -> AsyncDocumentReference:
    return client.collection("purses").document(balance)


def locate_occupancy(client: AsyncClient, owner: str) -> AsyncDocumentReference:
    return client.collection("occupancy").document(owner)


def locate_streams(client: AsyncClient, owner: str) -> AsyncDocumentReference:
    return client.collection("streams").document(owner)


def locate_entry(client: AsyncClient, entry: str) -> AsyncDocumentReference:
    return client.collection("ledger").document(entry)


def locate_halt(client: AsyncClient, owner: str | None) -> AsyncDocumentReference:
    return client.collection("halts").document("house" if owner is None else f"owner:{owner}")


def locate_step(client: AsyncClient, execution_id: str, number: int) -> AsyncDocumentReference:
    reference: AsyncDocumentReference = locate_execution(client, execution_id).collection("steps").document(f"{number:05d}")
    return reference


def locate_call(client: AsyncClient, execution_id: str, seq: int) -> AsyncDocumentReference:
    reference: AsyncDocumentReference = locate_execution(client, execution_id).collection("calls").document(f"{seq:05d}")
    return reference


def locate_receipts(client: AsyncClient, execution_id: str, first: int) -> AsyncDocumentReference:
    reference: AsyncDocumentReference = locate_execution(client, execution_id).collection("receipts").document(f"{first:06d}")
    return reference


def locate_keyed(client: AsyncClient, request: str) -> AsyncDocumentReference:
    return client.collection("keyed_requests").document(request)


def locate_token(client: AsyncClient, key: str) -> AsyncDocumentReference:
    return client.collection("tokens").document(key)
