"""The journal that the calls are read from: one task with ten credentials, executions under a lease, ten tickets each."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ferryman.domain.calls.call import Ticket
from ferryman.domain.credentials.credential import AuthType, Label, SealedCredential
from ferryman.domain.executions.execution import Execution, Lease, Status
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.owners.plan import PRO
from ferryman.domain.tasks.task import Task
from ferryman.gcp import documents, execution_documents
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.credentials import FirestoreCredentials
from ferryman.gcp.places import Places
from ferryman.gcp.tasks import FirestoreTasks
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.inmemory.memory import Memory
from ferryman.vault import seal
from ferryman.vault.seal import PublicKey

HOST, SERVICE = "api.coingecko.com", "coingecko"
OWNERS = 30
"""Each with a task, as many as may have 300 executions running at once."""

RUNNING = 10  # executions of one owner at once

CREDENTIALS, CALLS = 10, 10
BATCH = 200
BODY = {"note": "x" * 900, "items": list(range(20))}
NAMES = tuple(f"KEY_{number}" for number in range(CREDENTIALS))


def build_names(prefix: str, count: int, at_once: int) -> list[str]:
    """Return names of executions, of as few owners as may have `at_once` of them running."""
    return [f"{prefix}-{number}_{number % (-(-at_once // RUNNING))}" for number in range(count)]


def find_owner(execution: str) -> dict[str, str]:
    """Return the owner and the task of an execution, whose name ends with its owner's number."""
    number = int(execution.rpartition("_")[2]) % OWNERS
    return {"owner": f"owner_{number}", "task": f"task_{number}"}


@dataclass(frozen=True, slots=True)
class Journal:
    """What is stored before the load begins; `public` is what arguments and credentials are sealed to."""

    public: PublicKey

    def build_task(self, number: int) -> Task:
        now = datetime.now(UTC)
        names = {"id": f"task_{number}", "owner": f"owner_{number}"}
        fields: dict[str, Any] = {**names, "name": "bench", "task_prompt": "p", "model": "scripted/bench"}
        return Task(**fields, tools=("api_call",), integrations=(SERVICE,), created_at=now, updated_at=now)

    def build_credentials(self, number: int) -> Iterator[SealedCredential]:
        for name in NAMES:
            where: dict[str, Any] = {**find_owner(f"_{number}"), "name": name, "version": 1}
            where |= {"service": SERVICE, "hosts": (HOST,)}
            label = Label(**where, auth_type=AuthType.HEADER, auth_header_name="x-cg-demo-api-key")
            ciphertext = self.public.seal(secrets.token_hex(20).encode(), seal.build_credential_info(label))
            now = datetime.now(UTC)
            yield SealedCredential(
                label=label, ciphertext=ciphertext, key_version=self.public.version, created_at=now, updated_at=now
            )

    def build_execution(self, name: str) -> Execution:
        now = datetime.now(UTC)
        what: dict[str, Any] = find_owner(name)
        policy = ExecutionPolicy(
            **what, plan=PRO, tools=("api_call",), integrations=(SERVICE,), domains=(HOST,), credentials=NAMES
        )
        lease = Lease(holder="bench", epoch=1, expires_at=now + timedelta(hours=2))
        return Execution(**what, id=name, created_at=now, status=Status.RUNNING, lease=lease, policy=policy, events=1)

    def build_tickets(self, execution: str) -> Iterator[Ticket]:
        for seq in range(CALLS):
            url = f"https://{HOST}/api/v3/coins/{execution}/{seq}"
            arguments = {"method": "POST", "url": url, "credential": NAMES[seq % CREDENTIALS], "body": BODY}
            sealed = self.public.seal(json.dumps(arguments).encode(), seal.build_call_info(execution, seq))
            now = datetime.now(UTC)
            what: dict[str, Any] = {"seq": seq, "step": 1, "call": f"toolu_{seq}", "tool": "api_call", "epoch": 1}
            yield Ticket(**what, arguments=sealed, display_arguments=arguments, created_at=now)

    async def store(self, clients: GoogleClients) -> None:
        """Store the task and its credentials in Firestore."""
        for number in range(OWNERS):
            await FirestoreTasks(clients).create(self.build_task(number))
            for credential in self.build_credentials(number):
                await FirestoreCredentials(clients).put(credential)

    async def store_executions(self, clients: GoogleClients, names: list[str]) -> None:
        """Store executions with their tickets in Firestore."""
        client = clients.firestore()
        places = Places(client)
        executions = [(places.locate_execution(name), self.build_execution(name)) for name in names]
        # what was never changed counts as a request of somebody else's
        new = [(at, execution_documents.write_execution(replace(execution, events=0))) for at, execution in executions]
        changed = [(at, execution_documents.write_execution(execution)) for at, execution in executions]
        tickets = [(name, ticket) for name in names for ticket in self.build_tickets(name)]
        calls = [(places.locate_call(name, ticket.seq), documents.write(ticket)) for name, ticket in tickets]
        for writes in (new, calls, changed):
            for start in range(0, len(writes), BATCH):
                batch = client.batch()
                for reference, document in writes[start : start + BATCH]:
                    batch.set(reference, document)
                await batch.commit()

    async def fill(self, memory: Memory, names: list[str]) -> None:
        """Store the same in memory."""
        for number in range(OWNERS):
            memory.tasks[f"task_{number}"] = self.build_task(number)
            for credential in self.build_credentials(number):
                await MemoryCredentials(memory).put(credential)
        for name in names:
            memory.executions[name] = self.build_execution(name)
            memory.tickets[name] = {ticket.seq: ticket for ticket in self.build_tickets(name)}
