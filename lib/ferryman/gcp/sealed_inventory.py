"""Holdings: what in Firestore is sealed, and to which version of the key."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ferryman.domain.calls.call import TicketState
from ferryman.domain.credentials.keys import SealedCredentialRef
from ferryman.domain.executions.execution import Status
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient

UNDER_WAY = [each.value for each in Status if not each.terminal]


@translate_errors
class FirestoreSealedInventory:
    """Every credential and every call of the house. `version_of` reads the key's version off a ciphertext."""

    def __init__(self, clients: FirestoreClient, version_of: Callable[[bytes], int]) -> None:
        self._clients = clients
        self._version_of = version_of

    async def list_credentials(self) -> Sequence[SealedCredentialRef]:
        """Those that stand at a task, damaged ones left out: they are sealed to nothing."""
        found = []
        query = self._clients.firestore().collection_group("credentials").select(["label.name", "name", "key_version"])
        async for snapshot in query.stream():
            stored: dict[str, Any] = snapshot.to_dict() or {}
            # a document of former values has the name itself
            name, version = stored.get("label", stored).get("name"), stored.get("key_version")
            task = snapshot.reference.parent.parent
            if task is not None and isinstance(name, str) and isinstance(version, int):
                found.append(SealedCredentialRef(task=task.id, name=name, version=version))
        return found

    async def count_calls(self) -> Mapping[int, int]:
        """How many calls that are not over are sealed to each version."""
        found: Counter[int] = Counter()
        async for execution in self._under_way():
            async for call in execution.reference.collection("calls").select(["state", "arguments"]).stream():
                stored: dict[str, Any] = call.to_dict() or {}
                if stored.get("state") != TicketState.SETTLED.value and isinstance(stored.get("arguments"), bytes):
                    found[self._version_of(stored["arguments"])] += 1
        return found

    async def count_begun_before(self, moment: datetime) -> int:
        """How many executions under way had begun by then."""
        return sum([1 async for each in self._under_way() if (begun := each.get("started_at")) and begun < moment])

    async def _under_way(self) -> AsyncIterator[Any]:
        from google.cloud.firestore import FieldFilter

        executions = self._clients.firestore().collection("executions")
        query = executions.where(filter=FieldFilter("status", "in", UNDER_WAY)).select(["started_at"])
        async for snapshot in query.stream():
            yield snapshot
