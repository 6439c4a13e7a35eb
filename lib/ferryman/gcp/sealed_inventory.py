"""The sealed inventory: what in Firestore is sealed, and to which version of the key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ferryman.domain.calls.call import TicketState
from ferryman.domain.credentials.keys import FETCHED, SealedCredentialRef
from ferryman.domain.executions.execution import Status
from ferryman.gcp.execution_documents import IS_EXECUTION
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.store import FirestoreStore, Snapshot, filter_by, list_readable

UNDER_WAY = [status.value for status in Status if not status.terminal]


class FirestoreSealedInventory(FirestoreStore):
    """Every credential and every call of the deployment. `version_of` returns the key version of a ciphertext."""

    def __init__(self, clients: FirestoreClient, version_of: Callable[[bytes], int]) -> None:
        super().__init__(clients)
        self._version_of = version_of

    async def list_credentials(self) -> Sequence[SealedCredentialRef]:
        """List the credentials of all tasks, without damaged ones, which are sealed to nothing."""
        credentials = []
        query = self._client.collection_group("credentials").select(["label.name", "name", "key_version"])
        async for snapshot in query.stream():
            stored: dict[str, Any] = snapshot.to_dict() or {}
            # a document of former values has the name itself
            name, version = stored.get("label", stored).get("name"), stored.get("key_version")
            task = snapshot.reference.parent.parent
            if task is not None and isinstance(name, str) and isinstance(version, int):
                credentials.append(SealedCredentialRef(task=task.id, name=name, version=version))
        return credentials

    async def list_tokens(self) -> Sequence[SealedCredentialRef]:
        """List the fetched tokens, those of one use together."""
        tokens = []
        async for snapshot in self._client.collection("tokens").select(["task", "token.ciphertext", "former"]).stream():
            slot: dict[str, Any] = snapshot.to_dict() or {}
            sealed = [token["ciphertext"] for token in (slot.get("token"), *slot.get("former", ())) if token]
            if sealed:
                version = min(self._version_of(ciphertext) for ciphertext in sealed)
                tokens.append(SealedCredentialRef(task=slot["task"], name=FETCHED, version=version))
        return tokens

    async def count_calls(self) -> Mapping[int, int]:
        """Count the calls that are not settled, by the version they are sealed to."""
        calls: Counter[int] = Counter()
        for execution in await self._list_under_way():
            async for call in execution.reference.collection("calls").select(["state", "arguments"]).stream():
                stored: dict[str, Any] = call.to_dict() or {}
                if stored.get("state") != TicketState.SETTLED.value and isinstance(stored.get("arguments"), bytes):
                    calls[self._version_of(stored["arguments"])] += 1
        return calls

    async def count_begun_before(self, moment: datetime) -> int:
        """Count the executions under way that had begun before `moment`."""
        begun = [(execution.to_dict() or {}).get("started_at") for execution in await self._list_under_way()]
        return sum(isinstance(started_at, datetime) and started_at < moment for started_at in begun)

    async def _list_under_way(self) -> Sequence[Snapshot]:
        executions = filter_by(self._client.collection("executions"), IS_EXECUTION, ("status", "in", UNDER_WAY))
        return await list_readable(executions.select(["started_at"]))
